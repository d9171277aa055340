//! A tool that calls another one through its host.

use crate::channel::NestedToolCaller;
use crate::execute::{ExecuteOptions, execute_grant_with};
use crate::{Outcome, ToolError, ToolRuntime};
use rep_sandbox::{Cancel, unconfined};
use rep_test_support::{DEADLINE, wait_until, with_growing_timeout};
use serde_json::{Value, json};

use super::{Tool, code, message, result, search};

fn run_with(tool: &Tool, caller: &NestedToolCaller<'_>) -> Outcome {
    let search = search();
    let options = ExecuteOptions {
        search: &search,
        environments: None,
        caller: Some(caller),
        redacted_values: &[],
        hidden_folders: &[],
        run_registry: None,
    };
    execute_grant_with(&super::granted(&tool.plan), &tool.secrets, &options, &tool.cancel, unconfined::run_unconfined)
}

fn double(tool: &str, mut args: Value, _: &Cancel) -> Result<Value, ToolError> {
    match tool {
        "math:double" => Ok(json!({"n": args["n"].take().as_i64().unwrap_or(0) * 2})),
        _ => Err(ToolError::new(crate::error::ErrorCode::ToolNotFound, format!("tool `{tool}` does not exist"))),
    }
}

const CALLS: [(ToolRuntime, &str); 3] = [
    (
        ToolRuntime::Python,
        "def run(args, ctx):\n    n = 1\n    for _ in range(3):\n        n = ctx.call_tool('math:double', {'n': n})['n']\n    if args.get('miss'):\n        ctx.call_tool('math:none', {})\n    return {'n': n}\n",
    ),
    (
        ToolRuntime::Node,
        "exports.run = async (args, ctx) => { let n = 1; for (let i = 0; i < 3; i++) n = (await ctx.callTool('math:double', { n })).n;\n if (args.miss) await ctx.call_tool('math:none', {});\n return { n }; };\n",
    ),
    (
        ToolRuntime::Bash,
        "read -r input\nn=1\nfor i in 1 2 3; do\n  printf '{\"tool\":\"math:double\",\"args\":{\"n\":%d}}\\n' $n >&$REP_CHANNEL\n  read -r answer <&$REP_CHANNEL\n  n=${answer//[^0-9]/}\ndone\nif [[ $input == *miss* ]]; then\n  echo '{\"tool\":\"math:none\"}' >&$REP_CHANNEL; read -r answer <&$REP_CHANNEL\n  printf '{\"status\":\"error\",%s\\n' \"${answer#?}\"; exit 1\nfi\nprintf '{\"n\":%d}' $n\n",
    ),
];

#[test]
fn another_tool_answers() {
    if !super::has_runtimes() {
        return;
    }
    for (runtime, text) in CALLS {
        assert_eq!(*result(&run_with(&Tool::new(runtime, text), &double)), json!({"n": 8}), "{}", runtime.name());
        let missed = run_with(&Tool::new(runtime, text).input(json!({"miss": true})), &double);
        assert_eq!(code(&missed), "TOOL_NOT_FOUND", "{}", runtime.name());
        assert_eq!(message(&missed), "tool `math:none` does not exist", "{}", runtime.name());
    }
}

#[test]
fn without_anybody_to_ask_the_call_fails_clearly() {
    if !super::has_runtimes() {
        return;
    }
    for (runtime, text) in &CALLS[..2] {
        let outcome = Tool::new(*runtime, text).run();
        assert_eq!(code(&outcome), "UNAVAILABLE", "{}", runtime.name());
    }
}

#[test]
fn a_run_that_is_ended_does_not_wait_for_its_channel() {
    if !super::has_runtimes() {
        return;
    }
    // It sends requests without end, never reads a response, and leaves a process behind that keeps the
    // channel open.
    let text = "setsid timeout 600 bash -c 'echo > up; read x < go' &\nread x < up\necho > begun\nwhile true; do echo '{\"tool\":\"math:double\",\"args\":{}}' >&3; done\n";
    let (tool, outcome) = with_growing_timeout("the tool asks before its time ends", 1000, |timeout_ms| {
        let mut tool = Tool::new(ToolRuntime::Bash, text);
        super::make_pipe(&tool.plan.workspace.join("go"));
        super::make_pipe(&tool.plan.workspace.join("up"));
        tool.plan.limits.timeout_ms = timeout_ms;
        tool.plan.limits.grace_ms = 100;
        let outcome = run_with(&tool, &double);
        tool.plan.workspace.join("begun").exists().then_some((tool, outcome))
    });
    assert_eq!(code(&outcome), "TIMEOUT");
    std::fs::write(tool.plan.workspace.join("go"), "\n").unwrap();
}

#[test]
fn a_call_nobody_waits_for_is_cancelled() {
    if !super::has_runtimes() {
        return;
    }
    let mut tool = Tool::new(ToolRuntime::Bash, "echo '{\"tool\":\"slow\"}' >&3\nread -r answer <&3\n");
    tool.plan.limits.timeout_ms = 500;
    let outcome = run_with(&tool, &|_, _, cancel| {
        wait_until("the call is cancelled", DEADLINE, || cancel.is_cancelled());
        Ok(json!({}))
    });
    assert_eq!(code(&outcome), "TIMEOUT");
}
