//! `rep exec` and `rep state`: commands of structured skills, run as argument vectors, with state that lasts.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};

use rep_test_support::{ProgramRun, ScratchFolder, is_program_installed};
use serde_json::{Value, json};

use super::policy::typed;
use super::{json, rep, run};

/// A browser as the specification's example has one, in the sections that matter here.
pub(super) const BROWSER: &str = r#"
meta: {name: web-browser, version: "00000000", type: cli, description: Drives a browser for a test.}
state:
  entities:
    - {name: ref, format: "@e{n}", created_by: [snapshot]}
global_flags:
  - {name: --session, type: string, env: WEB_SESSION}
  - {name: --json, type: bool}
permissions: {filesystem: {read: [browser.log], write: [browser.log]}}
safety: {require_confirmation_for: []}
commands:
  open:
    syntax: "web-browser open <url>"
    aliases: [goto]
    args: [{name: url, type: string, required: true}]
    invalidates: [refs]
  snapshot:
    syntax: "web-browser snapshot [-i] [-d depth]"
    flags: [{name: -i, long: --interactive, type: bool}, {name: -d, long: --depth, type: int}]
    creates: [refs]
  click:
    syntax: "web-browser click <ref>"
    args: [{name: ref, type: ref, required: true}]
    requires: [refs]
    invalidates: [refs]
  fill:
    syntax: "web-browser fill <ref> <text>"
    args: [{name: ref, type: ref, required: true}, {name: text, type: string, required: true}]
    requires: [refs]
  get.url: {syntax: "web-browser get url"}
  get.text: {syntax: "web-browser get text <ref>", requires: [refs]}
  crash: {syntax: "web-browser crash", creates: [made], invalidates: [refs]}
  close: {syntax: "web-browser close"}
workflows:
  basic:
    description: Look and click.
    invariants: [Always snapshot before using refs]
    steps:
      - {cmd: "state load auth.json", note: no command of this skill, optional: true}
      - {cmd: "open <url>", note: go}
      - {cmd: "snapshot -i"}
      - {cmd: "<action> @ref"}
      - {cmd: "crash", optional: true}
      - {cmd: "get url"}
  by_hand:
    description: Saves a page.
    steps:
      - {cmd: "get url"}
      - {cmd: "get text body > out.txt"}
      - {cmd: "close"}
"#;

/// A stand-in for the browser: it writes down what it was called with, and answers.
const STAND_IN: &str = r#"#!/bin/sh
for word in "$@"; do printf '[%s]' "$word" >> browser.log; done
echo >> browser.log
case "$1" in
  snapshot) echo '- button "Go" @e1' ;;
  crash) echo 'it broke' >&2; exit 7 ;;
  get) echo "https://example.org" ;;
esac
"#;

/// A scratch with programs on a path of their own.
pub(super) struct Bench {
    pub(super) scratch: ScratchFolder,
    path: String,
}

impl Bench {
    pub(super) fn new() -> Self {
        let scratch = ScratchFolder::new();
        let bin = scratch.work_folder().parent().expect("a scratch has a root").join("bin");
        fs::create_dir_all(&bin).expect("a folder can be made");
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
        let bench = Self { scratch, path };
        bench.program("web-browser", STAND_IN);
        bench.scratch.write_file("web-browser/web-browser.uasp.yaml", BROWSER);
        bench
    }

    /// Puts a program on the path.
    fn program(&self, name: &str, text: &str) {
        let file = self.scratch.write_file(&format!("../bin/{name}"), text);
        fs::set_permissions(file, fs::Permissions::from_mode(0o755)).expect("a mode can be set");
    }

    fn skill(&self, name: &str, sections: &str) {
        let text =
            format!("meta: {{name: {name}, version: \"00000000\", type: cli, description: For a test.}}\n{sections}");
        self.scratch.write_file(&format!("{name}/{name}.uasp.yaml"), text);
    }

    pub(super) fn rep(&self, arguments: &[&str]) -> ProgramRun {
        self.with(arguments, &[])
    }

    fn with(&self, arguments: &[&str], environment: &[(&str, &str)]) -> ProgramRun {
        let environment = [&[("PATH", self.path.as_str())], environment].concat();
        self.scratch.run_with_environment(rep(), arguments, &environment)
    }

    /// Runs a command with consent and an answer in JSON.
    fn exec(&self, skill: &str, command: &str, args: &Value, more: &[&str]) -> ProgramRun {
        let args = args.to_string();
        self.rep(&[&["exec", skill, command, "--args", &args, "--yes", "--json"], more].concat())
    }

    fn browse(&self, command: &str, args: &Value) -> ProgramRun {
        self.exec("./web-browser", command, args, &[])
    }

    /// The argument vector of a command that is not run.
    fn argv(&self, command: &str, args: &Value) -> Value {
        let args = args.to_string();
        json(&self.rep(&["exec", "./web-browser", command, "--args", &args, "--dry-run"]))["argv"].clone()
    }
}

fn code(run: &ProgramRun) -> Value {
    json(run)["error"]["code"].clone()
}

#[test]
fn the_browser_of_the_specification_runs_from_end_to_end() {
    let bench = Bench::new();
    let early = bench.browse("click", &json!({ "ref": "@e1" }));
    assert_eq!((early.code, code(&early)), (3, "INVALID_STATE".into()), "{early:?}");
    assert_eq!(json(&early)["error"]["message"], "Required state 'refs' is invalid or missing");
    assert_eq!(json(&early)["error"]["missing"], json!(["refs"]));
    let opened = bench.browse("goto", &json!({ "url": "https://example.org/?a=b c&d" }));
    assert_eq!(opened.code, 0, "{opened:?}");
    let seen = bench.browse("snapshot", &json!({ "-i": true }));
    let answer = json(&seen);
    assert_eq!((&answer["stdout"], &answer["returncode"]), (&"- button \"Go\" @e1\n".into(), &0.into()), "{seen:?}");
    assert_eq!(answer["state"]["entities"]["refs"]["valid"], true);
    let kept = json(&bench.rep(&["state", "./web-browser", "--json"]));
    assert_eq!(kept["entities"]["refs"]["value"], "- button \"Go\" @e1\n");
    assert_eq!(
        (&kept["entities"]["refs"]["made_by"], kept["entities"]["refs"]["made_at"].is_string()),
        (&"snapshot".into(), true)
    );
    assert!(kept["runnable"].as_array().unwrap().contains(&"click".into()));
    assert_eq!(bench.browse("fill", &json!({ "ref": "@e1", "text": "$(id); <ref>\n'x'" })).code, 0);
    assert_eq!(bench.browse("click", &json!({ "ref": "@e1" })).code, 0);
    let late = bench.browse("click", &json!({ "ref": "@e1" }));
    assert_eq!(code(&late), "INVALID_STATE", "{late:?}");
    let kept = json(&bench.rep(&["state", "./web-browser", "--json"]));
    assert_eq!(
        (&kept["entities"]["refs"]["valid"], &kept["entities"]["refs"]["ended_by"]),
        (&false.into(), &"click".into())
    );
    assert_eq!(bench.exec("./web-browser", "click", &json!({ "ref": "@e9" }), &["--ignore-state"]).code, 0);
    let log = bench.scratch.read_file("browser.log");
    let lines = "[open][https://example.org/?a=b c&d]\n[snapshot][-i]\n[fill][@e1][$(id); <ref>\n'x']\n[click][@e1]\n[click][@e9]\n";
    assert_eq!(log, lines);
}

#[test]
fn a_failed_command_makes_nothing_and_ends_what_it_ends() {
    let bench = Bench::new();
    assert_eq!(bench.browse("snapshot", &json!({})).code, 0);
    let failed = bench.browse("crash", &json!({}));
    let error = &json(&failed)["error"];
    assert_eq!((failed.code, &error["code"]), (4, &"COMMAND_FAILED".into()), "{failed:?}");
    assert_eq!(
        (&error["returncode"], &error["stderr"], &error["message"]),
        (&7.into(), &"it broke\n".into(), &"Command execution failed".into())
    );
    let entities = &error["state"]["entities"];
    assert_eq!((&entities["made"]["valid"], &entities["refs"]["valid"]), (&false.into(), &false.into()), "{entities}");
}

#[test]
fn without_json_the_program_speaks_for_itself() {
    let bench = Bench::new();
    let found = bench.rep(&["exec", "./web-browser", "snapshot", "--yes"]);
    assert_eq!((found.code, found.stdout.as_str()), (0, "- button \"Go\" @e1\n"), "{found:?}");
    assert!(found.stderr.contains("refs is valid"), "{found:?}");
    let failed = bench.rep(&["exec", "./web-browser", "crash", "--yes"]);
    assert!(failed.code == 4 && failed.stdout.is_empty() && failed.stderr.contains("it broke"), "{failed:?}");
    assert!(failed.stderr.contains("COMMAND_FAILED"), "{failed:?}");
}

#[test]
fn commands_are_found_by_path_words_and_alias_and_told_apart() {
    let bench = Bench::new();
    let argv = |words: &[&str]| {
        json(&bench.rep(&[&["exec", "./web-browser"], words, &["--dry-run", "--ignore-state"]].concat()))["argv"]
            .clone()
    };
    assert_eq!(argv(&["get.url"]), json!(["web-browser", "get", "url"]));
    assert_eq!(argv(&["get", "url"]), json!(["web-browser", "get", "url"]));
    assert_eq!(argv(&["get url"]), json!(["web-browser", "get", "url"]));
    assert_eq!(
        bench.argv("goto", &json!({ "url": "x", "--json": true })),
        json!(["web-browser", "open", "x", "--json"])
    );
    let unknown = bench.browse("snapshoot", &json!({}));
    assert_eq!((unknown.code, code(&unknown)), (1, "PATH_NOT_FOUND".into()), "{unknown:?}");
    assert_eq!(json(&unknown)["error"]["message"], "Path 'commands.snapshoot' not found in skill 'web-browser'");
    assert!(unknown.stderr.contains("did you mean `snapshot`"), "{unknown:?}");
    for (args, wanted) in [
        ("{", 2),
        ("[]", 2),
        ("{\"url\": 5}", 3),
        ("{}", 3),
        ("{\"url\": \"-x\"}", 3),
        ("{\"url\": \"x\", \"no\": 1}", 3),
        ("{\"url\": \"a\\u0000b\"}", 3),
    ] {
        let found = bench.rep(&["exec", "./web-browser", "open", "--args", args, "--yes", "--json"]);
        assert_eq!((found.code, code(&found)), (wanted, "INVALID_ARGUMENT".into()), "{args}: {found:?}");
    }
    // Nothing of all that was started.
    assert!(!bench.scratch.work_folder().join("browser.log").exists());
    bench.scratch.write_file(
        "prose/SKILL.md",
        "---\nname: prose\ndescription: Runs things. Use when testing.\n---\n\n# Prose\n\n```bash\nrm -rf /\n```\n",
    );
    let prose = bench.exec("./prose", "rm", &json!({}), &[]);
    assert_eq!((prose.code, code(&prose)), (2, "NO_COMMANDS".into()), "{prose:?}");
    bench.skill("lore", "constraints: {always: [think]}\n");
    let lore = bench.exec("./lore", "x", &json!({}), &[]);
    assert!(lore.code == 1 && lore.stderr.contains("it has no commands"), "{lore:?}");
}

#[test]
fn a_dry_run_shows_words_policy_and_missing_state_and_leaves_nothing() {
    let bench = Bench::new();
    let found = bench.with(
        &["exec", "./web-browser", "click", "--args", "{\"ref\": \"@e1\"}", "--dry-run"],
        &[("WEB_SESSION", "mine")],
    );
    let plan = json(&found);
    assert_eq!(plan["argv"], json!(["web-browser", "click", "@e1", "--session", "mine"]), "{found:?}");
    assert_eq!((&plan["missing"], &plan["program"]), (&json!(["refs"]), &"web-browser".into()));
    assert_eq!(plan["policy"]["confirm"], json!(["program"]));
    assert!(!bench.scratch.work_folder().parent().unwrap().join("home/.local/share/repertoire/state.db").exists());
}

#[test]
fn a_program_is_agreed_to_once_and_never_in_silence() {
    let bench = Bench::new();
    bench.skill("pair", "commands:\n  one: {syntax: 'printf %s <x>', args: [{name: x, type: string}]}\n  two: {syntax: 'printf two'}\n  three: {syntax: 'echo three'}\n");
    let call = |command: &str| {
        bench.rep(&[
            "exec",
            "./pair",
            command,
            "--args",
            if command == "one" { "{\"x\": \"a\"}" } else { "{}" },
            "--json",
        ])
    };
    let unasked = call("one");
    assert_eq!((unasked.code, code(&unasked)), (3, "CONFIRMATION_REQUIRED".into()), "{unasked:?}");
    let words = ["exec", "./pair", "one", "--args", "{\"x\": \"a b\"}"];
    let (refused, seen) = typed(&bench.scratch, &words, "[N]o:", b"n\n");
    assert_eq!(refused, 3, "{seen}");
    assert!(seen.contains("starts the program `printf` of this machine, with the arguments \"%s\" \"a b\""), "{seen}");
    assert!(seen.contains("connects to nothing"), "{seen}");
    let (agreed, seen) = typed(&bench.scratch, &words, "[N]o:", b"a\n");
    assert_eq!(agreed, 0, "{seen}");
    // The program is approved for the skill, whichever command starts it; another program is not.
    assert_eq!(
        (json(&call("one"))["stdout"].clone(), json(&call("two"))["stdout"].clone()),
        ("a".into(), "two".into())
    );
    assert_eq!(code(&call("three")), "CONFIRMATION_REQUIRED");
    // More than was agreed to is asked about again.
    let more = bench.rep(&["exec", "./pair", "two", "--allow-read", "*", "--json"]);
    assert_eq!(code(&more), "CONFIRMATION_REQUIRED", "{more:?}");
    let (approved, seen) = typed(&bench.scratch, &["exec", "./pair", "three", "--approve"], "[N]o:", b"y\n");
    assert_eq!((approved, call("three").code), (0, 0), "{seen}");
    assert_eq!(bench.rep(&["policy", "./pair", "--forget"]).code, 0);
    assert_eq!(code(&call("two")), "CONFIRMATION_REQUIRED");
    let records = bench.rep(&["audit", "--skill", "pair", "--json"]);
    assert!(records.stdout.contains("\"two\"") && records.stdout.contains("CONFIRMATION_REQUIRED"), "{records:?}");
}

#[test]
fn a_program_does_what_is_declared_or_lent_and_nothing_else() {
    let bench = Bench::new();
    bench.program("writer", "#!/bin/sh\necho hi > out.txt\n");
    bench.program("reader", "#!/bin/sh\nread -r x < private.txt && echo \"$x\"\n");
    bench.program("starter", "#!/bin/sh\n/bin/cat /dev/null && echo started\n");
    bench.scratch.write_file("private.txt", "mine\n");
    bench
        .skill("walls", "commands:\n  write: {syntax: writer}\n  read: {syntax: reader}\n  start: {syntax: starter}\n");
    let wrote = bench.exec("./walls", "write", &json!({}), &[]);
    assert!(!bench.scratch.work_folder().join("out.txt").exists(), "{wrote:?}");
    assert_eq!(bench.exec("./walls", "write", &json!({}), &["--allow-write", "out.txt"]).code, 0);
    assert_eq!(bench.scratch.read_file("out.txt"), "hi\n");
    assert_eq!(bench.exec("./walls", "read", &json!({}), &[]).code, 4);
    let read = bench.exec("./walls", "read", &json!({}), &["--allow-read", "private.txt"]);
    assert_eq!(json(&read)["stdout"], "mine\n", "{read:?}");
    assert_eq!(bench.exec("./walls", "start", &json!({}), &[]).code, 4);
    let started = bench.exec("./walls", "start", &json!({}), &["--allow-spawn"]);
    assert_eq!(json(&started)["stdout"], "started\n", "{started:?}");
    let free = bench.exec("./walls", "read", &json!({}), &["--no-sandbox"]);
    assert!(free.code == 0 && free.stderr.contains("WITHOUT a sandbox"), "{free:?}");
    let bad = bench.exec("./walls", "read", &json!({}), &["--allow-read", "/etc/**"]);
    assert_eq!((bad.code, code(&bad)), (2, "USAGE".into()), "{bad:?}");
    let slow = bench.exec("./walls", "read", &json!({}), &["--timeout", "0"]);
    assert_eq!(slow.code, 2, "{slow:?}");
}

#[test]
fn every_kind_of_program_starts_or_is_refused_with_the_reason() {
    let bench = Bench::new();
    // As package managers link programs: a name on the path, a script elsewhere that reads what lies beside it.
    bench.scratch.write_file("../lib/pkg/package.json", "{}");
    bench.scratch.write_file("../lib/pkg/data/word.txt", "linked\n");
    let script = bench.scratch.write_file(
        "../lib/pkg/bin/cli.sh",
        "#!/bin/sh\nread -r word < \"${0%/bin/*}/data/word.txt\"; echo \"$word $1\"\n",
    );
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    symlink("../lib/pkg/bin/cli.sh", bench.scratch.work_folder().join("../bin/linked")).unwrap();
    bench.program("odd", "#!/opt/no-such-interpreter\n");
    let inside = bench.scratch.write_file("tools/local-program", "#!/bin/sh\necho bad\n");
    fs::set_permissions(inside, fs::Permissions::from_mode(0o755)).unwrap();
    bench.scratch.write_file("kinds/scripts/own.sh", "read -r word < \"$REP_SKILL/word.txt\"; echo \"own $word $1\"\n");
    bench.scratch.write_file("kinds/word.txt", "w\n");
    bench.skill(
        "kinds",
        "commands:\n  elf: {syntax: 'printf %s-%s <a> <b>'}\n  linked: {syntax: 'linked <x>'}\n  own: {syntax: './scripts/own.sh <x>'}\n  via: {syntax: 'bash scripts/own.sh <x>'}\n  odd: {syntax: odd}\n  none: {syntax: no-such-program}\n  local: {syntax: local-program}\n  away: {syntax: ../bin/odd}\n  gone: {syntax: ./scripts/gone.sh}\n  piped: {syntax: 'a | b'}\n  web: {syntax: 'GET /v1/x'}\ntemplates:\n  inline: {description: Echoes., inline: \"#!/bin/sh\\necho \\\"inline $1\\\"\\n\", args: [{name: x, type: string, required: true}]}\n  file: {description: Runs., path: scripts/own.sh, args: [{name: x, type: string}]}\n",
    );
    let said = |command: &str, args: Value| {
        let found = bench.exec("./kinds", command, &args, &[]);
        assert_eq!(found.code, 0, "{command}: {found:?}");
        json(&found)["stdout"].as_str().unwrap().to_owned()
    };
    assert_eq!(said("elf", json!({ "a": "1 2", "b": "" })), "1 2-");
    assert_eq!(said("linked", json!({ "x": "y" })), "linked y\n");
    assert_eq!(said("own", json!({ "x": "y" })), "own w y\n");
    assert_eq!(said("via", json!({ "x": "scripts/own.sh" })), "own w scripts/own.sh\n");
    assert_eq!(said("templates.inline", json!({ "x": "a b" })), "inline a b\n");
    assert_eq!(said("templates.file", json!({ "x": "y" })), "own w y\n");
    let path = format!("{}:{}", bench.scratch.work_folder().join("tools").display(), bench.path);
    for (command, wanted) in [
        ("odd", "RUNTIME_UNAVAILABLE"),
        ("none", "RUNTIME_UNAVAILABLE"),
        ("local", "RUNTIME_UNAVAILABLE"),
        ("away", "INVALID_COMMAND"),
        ("gone", "INVALID_ENTRYPOINT"),
        ("piped", "INVALID_COMMAND"),
        ("web", "UNSUPPORTED"),
    ] {
        let found = bench.with(&["exec", "./kinds", command, "--yes", "--json"], &[("PATH", &path)]);
        assert_eq!((found.code, code(&found)), (3, wanted.into()), "{command}: {found:?}");
    }
}

#[test]
fn a_program_with_an_environment_of_its_own_finds_it() {
    if !is_program_installed("python3") {
        return;
    }
    let bench = Bench::new();
    let venv = bench.scratch.work_folder().parent().unwrap().join("venv");
    let made = Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(&venv).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let library = Command::new(venv.join("bin/python3"))
        .args(["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"])
        .output();
    let library = String::from_utf8(library.unwrap().stdout).unwrap();
    fs::write(std::path::Path::new(library.trim()).join("greeting.py"), "WORD = 'hello'\n").unwrap();
    let script = venv.join("bin/greet");
    fs::write(
        &script,
        format!("#!{}\nimport sys, greeting\nprint(greeting.WORD, sys.argv[1])\n", venv.join("bin/python3").display()),
    )
    .unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    symlink(&script, bench.scratch.work_folder().join("../bin/greet")).unwrap();
    bench.skill(
        "greets",
        "commands:\n  greet: {syntax: 'greet <who>'}\n  own: {syntax: 'python3 scripts/x.py <who>'}\n",
    );
    bench.scratch.write_file("greets/scripts/x.py", "import sys\nprint('own', sys.argv[1])\n");
    // Shims on the path need the real home.
    let real_home = std::env::var("HOME").unwrap_or_default();
    let data = bench.scratch.work_folder().join("data").display().to_string();
    let environment = [("HOME", real_home.as_str()), ("XDG_DATA_HOME", data.as_str())];
    for (command, wanted) in [("greet", "hello you\n"), ("own", "own you\n")] {
        let found =
            bench.with(&["exec", "./greets", command, "--args", "{\"who\": \"you\"}", "--yes", "--json"], &environment);
        assert_eq!((found.code, &json(&found)["stdout"]), (0, &wanted.into()), "{found:?}");
    }
}

#[test]
fn a_skill_in_one_file_brings_along_what_it_names_and_no_more() {
    let bench = Bench::new();
    bench.scratch.write_file("pile/private.txt", "mine\n");
    bench.scratch.write_file("pile/scripts/show.sh", "cd \"$REP_SKILL\" && echo * scripts/*\n");
    bench.scratch.write_file("pile/lone.uasp.yaml", "meta: {name: lone, version: \"00000000\", type: cli, description: For a test.}\ntemplates: {show: {description: Shows., path: scripts/show.sh}}\n");
    let found = bench.exec("./pile/lone.uasp.yaml", "templates.show", &json!({}), &[]);
    assert_eq!(json(&found)["stdout"], "lone.uasp.yaml scripts scripts/show.sh\n", "{found:?}");
}

#[test]
fn a_skill_in_one_file_does_not_reach_what_lies_beside_it() {
    let bench = Bench::new();
    for (path, text) in [(".env", "WORD=tops3cret"), (".ssh/id_rsa", "tops3cret"), ("taxes.txt", "tops3cret")] {
        bench.scratch.write_file(&format!("pile/{path}"), text);
    }
    bench.scratch.write_file("pile/scripts/all.sh", "cd \"$REP_SKILL\" && for one in * .[a-z]* scripts/* .ssh/*; do while read -r line; do echo \"$line\"; done < \"$one\"; done 2>/dev/null; true\n");
    bench.scratch.write_file(
        "pile/lone.uasp.yaml",
        "meta: {name: lone, version: \"00000000\", type: cli, description: For a test.}\nsources: [{id: a, path: .env}, {id: b, path: .ssh/id_rsa}, {id: c, path: taxes.txt}]\ntemplates: {all: {description: All., path: scripts/all.sh}, env: {description: Env., path: .env}}\ncommands: {x: {syntax: 'sh ./.ssh/id_rsa'}}\n",
    );
    let found = bench.exec("./pile/lone.uasp.yaml", "templates.all", &json!({}), &[]);
    assert_eq!(found.code, 0, "{found:?}");
    assert!(!found.stdout.contains("tops3cret"), "{found:?}");
    // What it does bring along is told before it runs.
    let plan = bench.rep(&["exec", "./pile/lone.uasp.yaml", "templates.all", "--dry-run"]);
    assert_eq!(json(&plan)["files"], json!(["lone.uasp.yaml", "scripts/all.sh"]), "{plan:?}");
    let question = typed(
        &bench.scratch,
        &["exec", "./pile/lone.uasp.yaml", "templates.all"],
        "lone.uasp.yaml` and `scripts/all.sh` beside it",
        b"n\n",
    );
    assert_eq!(question.0, 3, "{question:?}");
    for words in [["read", "./pile/lone.uasp.yaml", "taxes.txt"], ["read", "./pile/lone.uasp.yaml", ".env"]] {
        let read = bench.rep(&words);
        assert_eq!((read.code, read.stdout.as_str()), (2, ""), "{read:?}");
    }
}

#[test]
fn variables_are_passed_and_secrets_are_not_seen() {
    let bench = Bench::new();
    bench.program("tell", "#!/bin/sh\necho \"$A_MODE $A_KIND $A_TOKEN ${LD_DEBUG-none} ${HOME_MADE-none}\"\n");
    bench.skill("vars", "commands: {tell: {syntax: tell}}\nenvironment:\n  - {name: A_MODE, purpose: mode}\n  - {name: A_KIND, purpose: kind, default: plain}\n  - {name: A_TOKEN, purpose: token, required: true}\n  - {name: LD_DEBUG, purpose: debug}\n");
    let words = ["exec", "./vars", "tell", "--yes", "--json", "-v"];
    let missing = bench.with(&words, &[]);
    assert_eq!((missing.code, code(&missing)), (3, "SECRET_MISSING".into()), "{missing:?}");
    let found = bench
        .with(&words, &[("A_MODE", "fast"), ("A_TOKEN", "tok-very-secret"), ("LD_DEBUG", "libs"), ("HOME_MADE", "x")]);
    let said = json(&found)["stdout"].as_str().unwrap().to_owned();
    assert!(said.starts_with("fast plain ") && said.ends_with(" none none\n"), "{found:?}");
    assert!(!found.stdout.contains("tok-very-secret"), "{found:?}");
    assert!(found.stderr.contains("LD_DEBUG"), "{found:?}");
    let plan =
        bench.with(&["exec", "./vars", "tell", "--dry-run"], &[("A_MODE", "fast"), ("A_TOKEN", "tok-very-secret")]);
    assert_eq!(json(&plan)["variables"], json!({ "A_KIND": "plain", "A_MODE": "fast" }), "{plan:?}");
    assert!(!plan.stdout.contains("tok-very-secret"), "{plan:?}");
    // What its author does not call a secret is one by its value, and by more names than one.
    bench.program("tell", "#!/bin/sh\necho \"$STORE $PGPASSWORD\"\n");
    bench.skill(
        "other",
        "commands: {tell: {syntax: tell}}\nenvironment: [{name: STORE, purpose: store}, {name: PGPASSWORD, purpose: sign in}, {name: A_MODE, purpose: mode}]\n",
    );
    let found = bench.with(
        &["exec", "./other", "tell", "--yes", "--json"],
        &[("STORE", "postgres://me:hidden-word@db/x"), ("PGPASSWORD", "hidden-too"), ("A_MODE", "fast")],
    );
    assert!(found.code == 0 && !found.stdout.contains("hidden"), "{found:?}");
    assert!(
        found.stderr.contains("received the secrets: PGPASSWORD, STORE")
            && found.stderr.contains("the variables: A_MODE"),
        "{found:?}"
    );
    // Nor is one kept as the value of an entity.
    bench.skill(
        "keeps",
        "commands: {tell: {syntax: tell, creates: [said]}}\nenvironment: [{name: A_TOKEN, purpose: token}]\n",
    );
    bench.with(&["exec", "./keeps", "tell", "--yes"], &[("A_TOKEN", "tok-very-secret")]);
    let kept = bench.rep(&["state", "./keeps", "--json"]);
    assert!(json(&kept)["entities"]["said"]["valid"] == true && !kept.stdout.contains("tok-very-secret"), "{kept:?}");
}

#[test]
fn two_hundred_commands_at_once_lose_no_state() {
    const COUNT: usize = 200;
    let bench = Bench::new();
    let commands: String = (0..COUNT).map(|at| format!("  c{at}: {{syntax: 'true', creates: [e{at}]}}\n")).collect();
    bench.skill("many", &format!("commands:\n{commands}"));
    let home = bench.scratch.work_folder().parent().unwrap().join("home");
    let start = |at: usize| {
        Command::new(rep())
            .args(["exec", "./many", &format!("c{at}"), "--session", "s", "--yes", "--json", "--no-sandbox"])
            .current_dir(bench.scratch.work_folder())
            .env("HOME", &home)
            .env_remove("XDG_DATA_HOME")
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_CACHE_HOME")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let running: Vec<_> = (0..COUNT).map(start).collect();
    for child in running {
        let ended = child.wait_with_output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    }
    let state = json(&bench.rep(&["state", "./many", "--session", "s", "--json"]));
    let valid = state["entities"].as_object().unwrap().values().filter(|entity| entity["valid"] == true).count();
    assert_eq!(valid, COUNT);
}

#[test]
fn sessions_are_apart_and_can_be_listed_moved_and_forgotten() {
    let bench = Bench::new();
    bench.exec("./web-browser", "snapshot", &json!({}), &["--session", "one"]);
    let valid = |session: &str| {
        json(&bench.rep(&["state", "./web-browser", "--session", session, "--json"]))["entities"]["refs"]["valid"]
            .clone()
    };
    assert_eq!((valid("one"), valid("default"), valid("two")), (true.into(), false.into(), false.into()));
    // From nothing without a session, from what is kept with one.
    assert_eq!(code(&bench.rep(&["state", "./web-browser", "--after", "click", "--json"])), "INVALID_STATE");
    let after = json(&bench.rep(&["state", "./web-browser", "--session", "one", "--after", "click", "--json"]));
    assert_eq!((&after["entities"]["refs"]["valid"], valid("one")), (&false.into(), true.into()));
    let listed = json(&bench.rep(&["state", "./web-browser", "--sessions", "--json"]));
    assert_eq!((&listed["sessions"][0]["session"], listed["sessions"].as_array().unwrap().len()), (&"one".into(), 1));
    assert_eq!(bench.rep(&["state", "./web-browser", "--session", "one", "--export", "one.json"]).code, 0);
    assert_eq!(bench.rep(&["state", "./web-browser", "--session", "two", "--import", "one.json"]).code, 0);
    assert_eq!(valid("two"), true);
    bench.scratch.write_file("bad.json", "{\"version\": 1, \"entities\": {\"refs\": {\"valid\": 5}}}");
    let bad = bench.rep(&["state", "./web-browser", "--session", "two", "--import", "bad.json", "--json"]);
    assert!(
        bad.code == 2 && json(&bad)["error"]["message"].as_str().unwrap().contains("entities.refs.valid"),
        "{bad:?}"
    );
    assert_eq!(bench.rep(&["state", "./web-browser", "--session", "two", "--clear"]).code, 0);
    assert_eq!((valid("two"), valid("one")), (false.into(), true.into()));
    assert_eq!(bench.rep(&["state", "./web-browser", "--session", ""]).code, 2);
    let shown = bench.rep(&["state", "./web-browser", "--session", "one"]);
    assert!(shown.stdout.contains("refs  valid  created by snapshot at 20"), "{shown:?}");
}

#[test]
fn a_skill_that_is_not_trusted_starts_nothing() {
    let bench = Bench::new();
    bench.scratch.write_file(".agents/skills/web-browser/web-browser.uasp.yaml", BROWSER);
    bench.scratch.write_file(
        ".agents/skills/web-browser/SKILL.md",
        "---\nname: web-browser\ndescription: Drives a browser. Use when testing.\n---\n\n# Browser\n",
    );
    fs::create_dir_all(bench.scratch.work_folder().join(".git")).unwrap();
    let call = || bench.rep(&["exec", "web-browser", "snapshot", "--yes", "--json"]);
    let refused = call();
    assert_eq!((refused.code, code(&refused)), (3, "UNTRUSTED".into()), "{refused:?}");
    assert!(!bench.scratch.work_folder().join("browser.log").exists());
    assert_eq!(run(&bench.scratch, &["trust"]).code, 0);
    let found = call();
    assert_eq!(found.code, 0, "{found:?}");
}

#[test]
fn permissions_in_a_uasp_file_are_no_fault() {
    let bench = Bench::new();
    let found = bench.rep(&["check", "web-browser", "--profile", "uasp", "--format", "json"]);
    let findings = json(&found)["findings"].to_string();
    assert!(!findings.contains("`permissions`") && !findings.contains("`safety`"), "{findings}");
}

/// A small generator of numbers, so that the lifecycles below are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits fit") % most
    }

    /// Some of the words, as a list in YAML.
    fn some(&mut self, words: &[&str]) -> String {
        let some: Vec<&str> = words.iter().copied().filter(|_| self.below(4) == 0).collect();
        format!("[{}]", some.join(", "))
    }
}

/// The commands of the generated skills. The last one fails.
const LIFECYCLE_COMMANDS: [&str; 6] = ["one", "two", "set.a", "set.b", "three", "fail"];

/// A skill whose entities and commands name each other at random, together with free text.
fn generate_lifecycle(numbers: &mut Numbers) -> String {
    let entries = ["one", "two", "set a", "set", "three", "fail", "uno", "after an hour", "--flag"];
    let mut text = "state:\n  entities:\n".to_owned();
    for entity in ["x", "y"] {
        text.push_str(&format!("    - name: {entity}\n"));
        for field in ["created_by", "consumed_by", "invalidated_by", "persisted_by", "restored_by"] {
            text.push_str(&format!("      {field}: {}\n", numbers.some(&entries)));
        }
    }
    text.push_str("commands:\n");
    for command in LIFECYCLE_COMMANDS {
        let program = if command == "fail" { "false" } else { "echo" };
        let alias = if command == "one" { "uno" } else { command };
        text.push_str(&format!("  {command}:\n    syntax: {program} {command}\n    aliases: [{alias}]\n"));
        for field in ["requires", "creates", "invalidates"] {
            text.push_str(&format!("    {field}: {}\n", numbers.some(&["x", "y", "xs", "two"])));
        }
    }
    text
}

/// What of a state does not depend on whether it was simulated.
fn outline(state: &Value) -> Value {
    let entities = state["entities"].as_object().expect("a state has entities");
    let fields = ["valid", "made_by", "ended_by", "persisted_by"];
    let outline = |entity: &Value| fields.map(|field| entity[field].clone());
    let entities: Vec<Value> = entities.iter().map(|(name, entity)| json!([name, outline(entity)])).collect();
    json!({ "entities": entities, "runnable": state["runnable"] })
}

#[test]
fn what_is_simulated_is_what_happens() {
    let bench = Bench::new();
    let mut numbers = Numbers(7);
    let mut counts = (0, 0);
    for skill in 0..8 {
        let name = format!("cycle-{skill}");
        let sections = generate_lifecycle(&mut numbers);
        bench.skill(&name, &sections);
        let path = format!("./{name}");
        let mut done: Vec<&str> = Vec::new();
        for _ in 0..5 {
            let command = LIFECYCLE_COMMANDS[numbers.below(LIFECYCLE_COMMANDS.len() - 1)];
            let sequence = [&done[..], &[command]].concat().join(",");
            let simulated = bench.rep(&["state", &path, "--after", &sequence, "--json"]);
            let ran = bench.exec(&path, command, &json!({}), &[]);
            let case = format!("{sections}\n{sequence}\n{simulated:?}\n{ran:?}");
            if ran.code == 0 {
                done.push(command);
                counts.0 += 1;
                assert_eq!(outline(&json(&simulated)), outline(&json(&ran)["state"]), "{case}");
                let stored = json(&bench.rep(&["state", &path, "--json"]));
                assert_eq!(outline(&stored), outline(&json(&ran)["state"]), "{case}");
            } else {
                counts.1 += 1;
                assert_eq!((code(&ran), code(&simulated)), ("INVALID_STATE".into(), "INVALID_STATE".into()), "{case}");
                assert_eq!(json(&ran)["error"]["missing"], json(&simulated)["error"]["missing"], "{case}");
            }
        }
    }
    assert!(counts.0 > 10 && counts.1 > 5, "{counts:?}");
}

#[test]
fn lifecycles_of_entities_take_effect_when_commands_say_nothing() {
    let bench = Bench::new();
    bench.skill(
        "login",
        "state:\n  entities:\n    - name: session\n      created_by: [login, --session flag]\n      consumed_by: [get]\n      \
         invalidated_by: [logout, an hour of silence]\n      persisted_by: [state save]\n      restored_by: [state load]\n\
         commands:\n  login: {syntax: echo token}\n  logout: {syntax: 'false'}\n  get.list: {syntax: echo list}\n  \
         state.save: {syntax: echo saved}\n  state.load: {syntax: echo loaded}\n\
         workflows:\n  wrong:\n    description: Lists after leaving.\n    steps: [{cmd: login}, {cmd: logout}, {cmd: get list}]\n  \
         right:\n    description: Lists after loading.\n    steps: [{cmd: state load}, {cmd: get list}]\n",
    );
    let exec = |command: &str| bench.exec("./login", command, &json!({}), &[]);
    let session = |run: &ProgramRun| {
        let answer = json(run);
        let state = if run.code == 0 { &answer["state"] } else { &answer["error"]["state"] };
        (state["entities"]["session"]["valid"].clone(), state["entities"]["session"]["value"].clone())
    };
    assert_eq!(code(&exec("get list")), "INVALID_STATE");
    assert_eq!(session(&exec("login")), (true.into(), "token\n".into()));
    assert_eq!(exec("get.list").code, 0);
    assert_eq!(session(&exec("state save")), (true.into(), "token\n".into()));
    // A command that fails still invalidates.
    assert_eq!(session(&exec("logout")), (false.into(), "token\n".into()));
    assert_eq!(code(&exec("get list")), "INVALID_STATE");
    assert_eq!(session(&exec("state load")), (true.into(), "token\n".into()));
    assert_eq!(exec("get list").code, 0);
    assert_eq!(bench.rep(&["state", "./login", "--clear"]).code, 0);
    let steps = |workflow: &str| json(&bench.rep(&["workflow", "./login", workflow, "--json"]))["steps"].clone();
    assert_eq!((&steps("wrong")[2]["missing"], &steps("right")[1]["missing"]), (&json!(["session"]), &json!([])));
    let ran = bench.rep(&["workflow", "./login", "right", "--run", "--yes", "--json"]);
    assert_eq!((ran.code, &json(&ran)["done"]), (0, &true.into()), "{ran:?}");
    let found = bench.rep(&["check", "login", "--format", "json", "--select", "uasp-workflow-illegal"]);
    let findings = json(&found)["findings"].clone();
    let message = "this step requires `session`, which step 2 invalidated";
    assert_eq!((findings.as_array().map(Vec::len), &findings[0]["message"]), (Some(1), &message.into()), "{found:?}");
}

#[test]
fn the_browser_of_the_specification_has_one_entity_under_two_names() {
    let bench = Bench::new();
    let after = |commands: &str| {
        let state = json(&bench.rep(&["state", "./web-browser", "--after", commands, "--json"]));
        (state["entities"]["ref"]["valid"].clone(), state["entities"]["refs"]["valid"].clone())
    };
    assert_eq!(after("snapshot"), (true.into(), true.into()));
    assert_eq!(after("snapshot,open"), (false.into(), false.into()));
}
