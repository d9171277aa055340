//! The same tool, written in three languages, behaves identically (Universal 2.1 §9).

use crate::{RunReply, RunVerdict, ToolRuntime};
use serde_json::{Value, json};

use super::{Tool, code, message, result};

const ALL: [ToolRuntime; 3] = [ToolRuntime::Python, ToolRuntime::Node, ToolRuntime::Bash];

/// The same tool in the three languages.
struct Thrice {
    python: &'static str,
    node: &'static str,
    bash: &'static str,
}

impl Thrice {
    fn tool(&self, runtime: ToolRuntime) -> Tool {
        Tool::new(
            runtime,
            match runtime {
                ToolRuntime::Python => self.python,
                ToolRuntime::Node => self.node,
                ToolRuntime::Bash => self.bash,
            },
        )
    }

    /// Runs all three and returns their replies in comparable form.
    fn come_to(&self, expected: &str) {
        for runtime in ALL {
            let outcome = self.tool(runtime).run();
            let found = match &outcome.reply {
                RunReply::Result(value) => format!("ok {value}"),
                RunReply::Task(value) => format!("async {}", value["task"]["id"]),
                RunReply::Error(error) => format!("error {} retriable={}", error.code, error.is_retriable),
            };
            assert_eq!(found, expected, "{}: {:?} said {}", runtime.name(), outcome.reply, outcome.log_text);
            let verdict = if expected.starts_with("error") { RunVerdict::Failed } else { RunVerdict::Succeeded };
            assert_eq!(outcome.verdict, verdict, "{}", runtime.name());
        }
    }
}

#[test]
fn a_result_is_an_object() {
    if !super::has_runtimes() {
        return;
    }
    Thrice {
        python: "def run(args, ctx):\n    return {'a': 1, 'b': [True, None, 1.5], 'c': {}}\n",
        node: "exports.run = (args, ctx) => ({ a: 1, b: [true, null, 1.5], c: {} });\n",
        bash: "echo '{\"a\": 1, \"b\": [true, null, 1.5], \"c\": {}}'\n",
    }
    .come_to(r#"ok {"a":1,"b":[true,null,1.5],"c":{}}"#);
}

#[test]
fn arguments_arrive_as_they_were_given() {
    if !super::has_runtimes() {
        return;
    }
    let input =
        json!({"text": "na\u{ef}ve \u{1f980} \"quoted\" \\ \n\u{1}", "n": -1.5, "deep": {"list": [null, false]}});
    let echo = Thrice {
        python: "def run(args, ctx):\n    return args\n",
        node: "exports.run = async (args) => args;\n",
        bash: "IFS= read -r line; printf '%s' \"$line\"\n",
    };
    for runtime in ALL {
        let outcome = echo.tool(runtime).input(input.clone()).run();
        assert_eq!(*result(&outcome), input, "{}", runtime.name());
    }
}

#[test]
fn an_error_of_the_tools_own_keeps_its_code() {
    if !super::has_runtimes() {
        return;
    }
    Thrice {
        python: "class Busy(Exception):\n    code = 'BUSY'\n    retriable = True\ndef run(args, ctx):\n    raise Busy('later')\n",
        node: "exports.run = () => { throw Object.assign(new Error('later'), { code: 'BUSY', retriable: true }); };\n",
        bash: "echo '{\"status\":\"error\",\"error\":{\"code\":\"BUSY\",\"message\":\"later\",\"retriable\":true}}'; exit 1\n",
    }
    .come_to("error BUSY retriable=true");
    Thrice {
        python: "def run(args, ctx):\n    return {'status': 'error', 'error': {'code': 'NO_PAGES', 'message': 'none'}}\n",
        node: "exports.run = () => ({ status: 'error', error: { code: 'NO_PAGES', message: 'none' } });\n",
        bash: "echo '{\"status\":\"error\",\"error\":{\"code\":\"NO_PAGES\",\"message\":\"none\"}}'\n",
    }
    .come_to("error NO_PAGES retriable=false");
}

#[test]
fn what_goes_wrong_is_an_error() {
    if !super::has_runtimes() {
        return;
    }
    Thrice {
        python: "def run(args, ctx):\n    raise ValueError('bad value')\n",
        node: "exports.run = () => { throw new TypeError('bad value'); };\n",
        bash: "echo 'bad value' >&2\nexit 1\n",
    }
    .come_to("error TOOL_FAILED retriable=false");
    Thrice {
        python: "import sys\ndef run(args, ctx):\n    sys.exit(3)\n",
        node: "exports.run = () => process.exit(3);\n",
        bash: "exit 3\n",
    }
    .come_to("error TOOL_FAILED retriable=false");
    Thrice { python: "def run(args, ctx:\n", node: "exports.run = ( => {};\n", bash: "if then fi (\n" }
        .come_to("error TOOL_FAILED retriable=false");
    Thrice {
        python: "import os, signal\ndef run(args, ctx):\n    os.kill(os.getpid(), signal.SIGKILL)\n",
        node: "exports.run = () => { process.kill(process.pid, 'SIGKILL'); return new Promise(() => {}); };\n",
        bash: "kill -KILL $$\n",
    }
    .come_to("error TOOL_CRASHED retriable=false");
}

#[test]
fn what_is_no_object_is_no_result() {
    if !super::has_runtimes() {
        return;
    }
    for (python, node, bash) in [
        ("return [1]", "return [1];", "echo '[1]'"),
        ("return 'text'", "return 'text';", "echo '\"text\"'"),
        ("return None", "return;", "echo null"),
        ("import os; os._exit(0)", "process.exit(0);", "true"),
        ("return {'x': float('nan')}", "return { x: NaN };", "echo '{\"x\": NaN}'"),
        ("return {'x': float('inf')}", "return { x: Infinity };", "echo '{\"x\": Infinity}'"),
        ("return {'x': '\\udcff'}", "return { x: '\\udcff' };", "printf '{\"x\": \"\\xff\"}'"),
        ("return {'x': object()}", "return { x: 1n };", "echo '{\"x\": object}'"),
        ("a = {}; a['a'] = a; return a", "const a = {}; a.a = a; return a;", "echo '{\"a\":'"),
    ] {
        for (runtime, text) in [
            (ToolRuntime::Python, format!("def run(args, ctx):\n    {python}\n")),
            (ToolRuntime::Node, format!("exports.run = () => {{ {node} }};\n")),
            (ToolRuntime::Bash, format!("{bash}\n")),
        ] {
            let outcome = Tool::new(runtime, &text).run();
            assert_eq!(code(&outcome), "INVALID_RESULT", "{}: {text} said {}", runtime.name(), outcome.log_text);
        }
    }
}

#[test]
fn what_is_printed_is_not_the_result() {
    if !super::has_runtimes() {
        return;
    }
    for (runtime, text) in [
        (
            ToolRuntime::Python,
            "import os, sys, subprocess\nprint('import noise')\ndef run(args, ctx):\n    print('noise'); sys.stdout.write('noise'); os.write(1, b'raw noise')\n    subprocess.run(['echo', 'child noise'])\n    return {'ok': True}\n",
        ),
        (
            ToolRuntime::Node,
            "const cp = require('child_process');\nconsole.log('import noise');\nexports.run = () => { console.log('noise'); process.stdout.write('noise'); require('fs').writeSync(1, 'raw noise');\n  cp.spawnSync('echo', ['child noise'], { stdio: 'inherit' });\n  return { ok: true }; };\n",
        ),
    ] {
        let outcome = Tool::new(runtime, text).run();
        assert_eq!(*result(&outcome), json!({"ok": true}), "{}", runtime.name());
        for noise in ["import noise", "raw noise", "child noise"] {
            assert!(outcome.log_text.contains(noise), "{}: {noise} is missing in {}", runtime.name(), outcome.log_text);
        }
    }
    let outcome = Tool::new(ToolRuntime::Bash, "echo noise >&2; echo '{\"ok\": true}'\n").run();
    assert_eq!((result(&outcome), &outcome.log_text[..]), (&json!({"ok": true}), "noise\n"));
}

#[test]
fn handlers_may_wait() {
    if !super::has_runtimes() {
        return;
    }
    for (entrypoint, runtime, text) in [
        (
            "scripts/a.py",
            ToolRuntime::Python,
            "import asyncio\nasync def run(args, ctx):\n    await asyncio.sleep(0)\n    return {'ok': 1}\n",
        ),
        ("scripts/a.py", ToolRuntime::Python, "def run(args):\n    return {'ok': 1}\n"),
        (
            "scripts/a.py",
            ToolRuntime::Python,
            "class run:\n    def __new__(cls, args, ctx):\n        return {'ok': 1}\n",
        ),
        ("scripts/a.js", ToolRuntime::Node, "module.exports.run = async () => { await null; return { ok: 1 }; };\n"),
        ("scripts/a.cjs", ToolRuntime::Node, "module.exports = { run: () => Promise.resolve({ ok: 1 }) };\n"),
        (
            "scripts/a.mjs",
            ToolRuntime::Node,
            "import fs from 'node:fs';\nexport async function run() { return { ok: fs ? 1 : 0 }; }\n",
        ),
        (
            "scripts/a.mjs",
            ToolRuntime::Node,
            "export default { run() { return this.x(); }, x() { return { ok: 1 }; } };\n",
        ),
        ("scripts/a.js", ToolRuntime::Node, "export function run() { return { ok: 1 }; }\n"),
        ("scripts/a.js", ToolRuntime::Node, "setInterval(() => {}, 1000);\nexports.run = () => ({ ok: 1 });\n"),
    ] {
        assert_eq!(*result(&Tool::of(runtime, entrypoint, text).run()), json!({"ok": 1}), "{text}");
    }
}

#[test]
fn the_context_knows_the_paths_and_logs_to_stderr() {
    if !super::has_runtimes() {
        return;
    }
    for (runtime, text) in [
        (
            ToolRuntime::Python,
            "import os\ndef run(args, ctx):\n    ctx.log.info('step', n=1)\n    return {'skill': ctx.paths.skill.name, 'workspace': ctx.paths.workspace.name, 'here': os.getcwd() == str(ctx.paths.workspace), 'tmp': os.path.isdir(ctx.paths.tmp), 'tool': ctx.tool}\n",
        ),
        (
            ToolRuntime::Node,
            "const fs = require('fs'), path = require('path');\nexports.run = (args, ctx) => { ctx.log.info('step', { n: 1 });\n return { skill: path.basename(ctx.paths.skill), workspace: path.basename(ctx.paths.workspace), here: process.cwd() === ctx.paths.workspace, tmp: fs.statSync(ctx.paths.tmp).isDirectory(), tool: ctx.tool }; };\n",
        ),
        (
            ToolRuntime::Bash,
            "[[ $PWD == \"$REP_WORKSPACE\" ]] && here=true || here=false\n[[ -d $TMPDIR ]] && tmp=true || tmp=false\necho '{\"level\": \"info\", \"message\": \"step\", \"n\": 1}' >&2\nprintf '{\"skill\": \"%s\", \"workspace\": \"%s\", \"here\": %s, \"tmp\": %s, \"tool\": \"%s\"}' \"${REP_SKILL##*/}\" \"${REP_WORKSPACE##*/}\" $here $tmp \"$REP_TOOL\"\n",
        ),
    ] {
        let outcome = Tool::new(runtime, text).run();
        let expected =
            json!({"skill": "skill", "workspace": "work", "here": true, "tmp": true, "tool": "a-skill:a-tool"});
        assert_eq!(*result(&outcome), expected, "{}", runtime.name());
        let line: Value = serde_json::from_str(outcome.log_text.trim()).unwrap();
        assert_eq!(line, json!({"level": "info", "message": "step", "n": 1}), "{}", runtime.name());
    }
}

#[test]
fn an_exception_says_what_and_where_without_paths_of_this_machine() {
    if !super::has_runtimes() {
        return;
    }
    for (runtime, text, kind) in [
        (
            ToolRuntime::Python,
            "def run(args, ctx):\n    open(ctx.paths.workspace / 'missing.txt')\n",
            "FileNotFoundError",
        ),
        (
            ToolRuntime::Node,
            "exports.run = (args, ctx) => {\n  require('fs').readFileSync(ctx.paths.workspace + '/missing.txt'); };\n",
            "Error",
        ),
    ] {
        let tool = Tool::new(runtime, text);
        let outcome = tool.run();
        let RunReply::Error(error) = &outcome.reply else { panic!("{outcome:?}") };
        assert_eq!((&error.more["type"], &error.more["errno"]), (&kind.into(), &"ENOENT".into()), "{error:?}");
        let ending = if runtime == ToolRuntime::Python { "py" } else { "js" };
        assert_eq!(error.more["at"], format!("scripts/tool.{ending}:2"), "{error:?}");
        assert!(error.message.contains("'missing.txt'"), "{error:?}");
        let path = tool.path().display().to_string();
        assert!(!outcome.to_json().to_string().contains(&path) && !outcome.log_text.contains(&path), "{outcome:?}");
    }
}

#[test]
fn a_missing_handler_is_named() {
    if !super::has_runtimes() {
        return;
    }
    for (runtime, text) in
        [(ToolRuntime::Python, "import json\ndef other(a): pass\n"), (ToolRuntime::Node, "exports.other = () => {};\n")]
    {
        let outcome = Tool::new(runtime, text).run();
        assert_eq!(code(&outcome), "HANDLER_NOT_FOUND");
        assert!(message(&outcome).ends_with("its functions: other"), "{}", message(&outcome));
    }
}

#[test]
fn large_results_arrive_whole() {
    if !super::has_runtimes() {
        return;
    }
    Thrice {
        python: "def run(args, ctx):\n    return {'n': len('x' * 3000000)} if False else {'x': 'y' * 3000000}\n",
        node: "exports.run = () => ({ x: 'y'.repeat(3000000) });\n",
        bash: "printf '{\"x\":\"'; printf 'y%.0s' {1..3000000}; printf '\"}'\n",
    }
    .come_to(&format!("ok {{\"x\":\"{}\"}}", "y".repeat(3_000_000)));
}

#[test]
fn a_task_is_a_task() {
    if !super::has_runtimes() {
        return;
    }
    Thrice {
        python: "def run(args, ctx):\n    return {'status': 'async', 'task': {'id': 'task_1', 'status': 'running'}}\n",
        node: "exports.run = () => ({ status: 'async', task: { id: 'task_1', status: 'running' } });\n",
        bash: "echo '{\"status\":\"async\",\"task\":{\"id\":\"task_1\",\"status\":\"running\"}}'\n",
    }
    .come_to("async \"task_1\"");
}

#[test]
fn a_status_that_is_declared_is_no_envelope() {
    if !super::has_runtimes() {
        return;
    }
    let text = "echo '{\"status\":\"error\",\"error\":{\"code\":\"X\",\"message\":\"m\"}}'\n";
    let with = |schema: Option<Value>| {
        let mut tool = Tool::new(ToolRuntime::Bash, text);
        tool.plan.work.tool_mut().unwrap().output_schema = schema;
        tool.run()
    };
    let declared = json!({"type": "object", "properties": {"status": {"enum": ["ok", "error"]}}});
    assert_eq!(result(&with(Some(declared)))["status"], "error");
    assert_eq!(code(&with(Some(json!({"type": "object"})))), "X", "a schema that accepts anything says nothing");
    assert_eq!(code(&with(Some(json!({"properties": {"status": {"const": "ok"}}})))), "X", "this one is not accepted");
    assert_eq!(code(&with(None)), "X");
    // Output that only resembles an envelope is an ordinary result.
    for text in
        ["{\"status\":\"error\"}", "{\"status\":\"async\",\"task\":{}}", "{\"status\":\"error\",\"error\":\"x\"}"]
    {
        result(&Tool::new(ToolRuntime::Bash, &format!("echo '{text}'\n")).run());
    }
}

#[test]
fn results_are_held_against_their_schema() {
    if !super::has_runtimes() {
        return;
    }
    let mut tool = Tool::new(ToolRuntime::Bash, "echo '{\"n\": \"one\"}'\n");
    tool.plan.work.tool_mut().unwrap().output_schema =
        Some(json!({"type": "object", "properties": {"n": {"type": "integer"}}}));
    let outcome = tool.run();
    assert_eq!((code(&outcome), outcome.verdict, outcome.is_executed), ("INVALID_RESULT", RunVerdict::Failed, true));
    assert!(message(&outcome).contains("`/n`: value is not of type \"integer\""), "{}", message(&outcome));
}

#[test]
fn nothing_is_started_with_arguments_that_do_not_fit() {
    if !super::has_runtimes() {
        return;
    }
    for runtime in ALL {
        let tool = Thrice {
            python: "open('started', 'w')\ndef run(args, ctx):\n    return {}\n",
            node: "require('fs').writeFileSync('started', '');\nexports.run = () => ({});\n",
            bash: "echo > started\necho '{}'\n",
        }
        .tool(runtime);
        let mut tool = tool.input(json!({"pth": 1}));
        let started = tool.plan.workspace.join("started");
        tool.plan.work.tool_mut().unwrap().input_schema =
            json!({"type": "object", "additionalProperties": false, "required": ["path"], "properties": {"path": {}}});
        let outcome = tool.run();
        assert_eq!(
            (code(&outcome), outcome.verdict, outcome.is_executed),
            ("INVALID_ARGUMENT", RunVerdict::Refused, false)
        );
        assert!(!started.exists());
        let fitting = tool.input(json!({"path": 1}));
        result(&fitting.run());
        assert!(started.exists(), "the test would see a tool that starts");
    }
}

#[test]
fn entrypoints_stay_in_the_skill() {
    if !super::has_runtimes() {
        return;
    }
    let tool = Tool::new(ToolRuntime::Bash, "echo '{}'\n");
    std::fs::write(tool.path().join("outside.sh"), "echo '{}'\n").unwrap();
    std::os::unix::fs::symlink(tool.path().join("outside.sh"), tool.plan.folder.join("link.sh")).unwrap();
    for (entrypoint, reason) in [
        ("../outside.sh", "is outside"),
        ("link.sh", "is outside"),
        ("/etc/hostname", "is outside"),
        ("scripts/none.sh", "does not exist"),
        ("scripts", "is not a file"),
    ] {
        let mut plan = tool.plan.clone();
        entrypoint.clone_into(&mut plan.work.tool_mut().unwrap().entrypoint);
        let search = super::search();
        let options = crate::execute::ExecuteOptions {
            search: &search,
            environments: None,
            caller: None,
            redacted_values: &[],
            hidden_folders: &[],
            run_registry: None,
        };
        let outcome = crate::execute::execute_grant_with(
            &super::granted(&plan),
            &[],
            &options,
            &tool.cancel,
            rep_sandbox::unconfined::run_unconfined,
        );
        assert_eq!((code(&outcome), outcome.is_executed), ("INVALID_ENTRYPOINT", false), "{entrypoint}");
        assert!(message(&outcome).contains(reason), "{}", message(&outcome));
    }
    let typed = Tool::of(ToolRuntime::Node, "scripts/a.ts", "export const run = () => ({});\n").run();
    assert!(message(&typed).contains("must end in .js"), "{}", message(&typed));
}
