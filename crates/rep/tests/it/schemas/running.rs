//! Runs of the commands that run skills, and what they keep.

use rep_test_support::{DEADLINE, ScratchFolder, TestServer, build_response, is_program_installed, wait_for};

use super::{copy_example, examples, holds, home, printed, prints};
use crate::exec::Bench;
use crate::policy::typed;
use crate::records::piped;
use crate::{api, deps, policy, rep, run};

pub(super) const SCENARIOS: &[fn()] = &[
    runs, failures, nested, conflicts, tasks, commands, requests, workflows, policies, secrets, tokens, records,
    packages,
];

/// Where the runtime keeps things for its user.
const KEPT: &str = ".local/share/repertoire";

fn runs() {
    let scratch = ScratchFolder::new();
    copy_example(&scratch, "disk-tidy");
    let plan = prints(&scratch, "run-plan", 0, &["run", &format!("{}/csv-profile:profile", examples()), "--dry-run"]);
    assert_eq!(plan["runtime"], "python");
    let found = scratch.run_program(rep(), &["tools", "./disk-tidy", "--json"]);
    let tools = printed("tools", 0, &found);
    let tool = format!("./disk-tidy:{}", tools["tools"][0]["name"].as_str().expect("a tool has a name"));
    prints(&scratch, "run-plan", 0, &["run", &tool, "--dry-run"]);
    scratch.write_file("disk-tidy/scripts/deny.sh", "for name in {1..120}; do : > /etc/made-$name; done\n");
    let script = ["run", "./disk-tidy", "--script", "scripts/deny.sh"];
    run::skill(&scratch, "ignored", "permissions: {filesystem: {read: ['../up/**']}}\n", &[("one", "echo 1\n")]);
    prints(&scratch, "run-script-plan", 0, &["run", "./ignored", "--script", "scripts/one.sh", "--dry-run"]);
    prints(&scratch, "run-script", 4, &[&script[..], &["--yes"]].concat());
    prints(&scratch, "scan", 0, &["scan", "disk-tidy", "--json"]);
    prints(&scratch, "error", 2, &["run", "./disk-tidy:none"]);
    prints(&scratch, "error", 2, &["run", "nothing"]);
    prints(&scratch, "error", 2, &["run", "./disk-tidy:find", "--input", "{"]);
}

/// Runs that fail in every way that has fields of its own.
fn failures() {
    let scratch = ScratchFolder::new();
    let tools = [
        ("fail", "exit 7\n"),
        ("crash", "kill -SEGV $$\n"),
        ("own", "echo '{\"status\":\"error\",\"error\":{\"code\":\"UNTRUSTED\",\"message\":\"m\"}}'; exit 1\n"),
        ("denied", "for name in {1..120}; do : > /etc/made-$name; done; cat ../secret.txt; exit 1\n"),
        // So many files that their names do not fit into a record.
        (
            "many",
            &format!("i=0; while test $i -lt 5000; do : > $i-{}.txt; i=$((i+1)); done; echo '{{}}'\n", "x".repeat(230)),
        ),
        ("write", "echo x > out/b.txt; echo '{}'\n"),
    ];
    let declared = "permissions: {filesystem: {write: ['out/**', '*.txt']}}\nprovenance: {source_repo: r, source_commit: c, reviewed_by: [Ada], signature: s}\n";
    run::skill(&scratch, "ends", declared, &tools);
    prints(&scratch, "list", 0, &["list", "--path", "ends", "--json"]);
    prints(&scratch, "show", 0, &["show", "./ends", "--json"]);
    scratch.write_file("secret.txt", "x");
    for tool in ["fail", "crash", "own", "denied"] {
        let target = format!("./ends:{tool}");
        prints(&scratch, "error", 4, &["run", &target, "--yes", "--json-meta", "meta.json"]);
        holds("run-meta", &scratch.work_folder().join("meta.json"));
    }
    prints(&scratch, "run", 0, &["run", "./ends:many", "--yes"]);
    let written = run::sandboxed(&scratch, "./ends:write", &[]);
    printed("run", 0, &written);
    holds("run-meta", &scratch.work_folder().join("meta.json"));
    prints(&scratch, "error", 3, &["run", "./ends:write"]);
    let text = scratch
        .read_file("ends/SKILL.md")
        .replace("input_schema: {type: object}", "input_schema: {type: object, required: [x]}");
    scratch.write_file("ends/SKILL.md", text);
    prints(&scratch, "error", 3, &["run", "./ends:fail", "--yes", "--input", "{}"]);
    prints(&scratch, "audit", 0, &["audit", "--json"]);
    prints(&scratch, "audit-verify", 0, &["audit", "verify", "--json"]);
    holds("audit-record", &home(&scratch, &format!("{KEPT}/audit.jsonl")));
    holds("audit-head", &home(&scratch, &format!("{KEPT}/audit.head")));
}

fn nested() {
    let scratch = ScratchFolder::new();
    let ask = "echo '{\"tool\":\"leaf\",\"args\":{}}' >&$REP_CHANNEL; read -r answer <&$REP_CHANNEL\nprintf '%s' \"$answer\"\n";
    run::skill(&scratch, "first", "", &[("ask", ask), ("leaf", "echo '{\"leaf\": 1}'\n")]);
    let arguments = ["run", "first:ask", "--path", "first", "--no-sandbox", "--json-meta", "meta.json"];
    prints(&scratch, "run", 0, &arguments);
    holds("run-meta", &scratch.work_folder().join("meta.json"));
}

/// A tool that writes a file which the tool it calls has written already.
fn conflicts() {
    let scratch = ScratchFolder::new();
    scratch.write_file("notes.txt", "1\n");
    let both = "echo '{\"tool\":\"leaf\",\"args\":{}}' >&$REP_CHANNEL; read -r answer <&$REP_CHANNEL\necho 3 > notes.txt\nprintf '%s' \"$answer\"\n";
    let leaf = "echo 2 > notes.txt; echo '{\"leaf\": 1}'\n";
    let permissions = "permissions: {filesystem: {read: ['*.txt'], write: ['*.txt']}}\n";
    run::skill(&scratch, "nest", permissions, &[("both", both), ("leaf", leaf)]);
    let text = scratch.read_file("nest/SKILL.md").replace("[destructive_writes]", "[]");
    scratch.write_file("nest/SKILL.md", text);
    prints(&scratch, "error", 4, &["run", "./nest:both", "--yes", "--json-meta", "meta.json"]);
    holds("run-meta", &scratch.work_folder().join("meta.json"));
}

fn tasks() {
    let scratch = ScratchFolder::new();
    run::skill(&scratch, "slow", "", &[("quick", "echo '{\"done\": true}'\n")]);
    let started = prints(&scratch, "run", 0, &["run", "./slow:quick", "--yes", "--detach", "--input", "{}"]);
    let id = started["task"]["id"].as_str().expect("a task has an id").to_owned();
    wait_for("the task has ended", DEADLINE, || {
        (prints(&scratch, "tasks", 0, &["tasks", "get", &id, "--json"])["status"] != "running").then_some(())
    });
    prints(&scratch, "tasks", 0, &["tasks", "list", "--json"]);
    prints(&scratch, "tasks", 1, &["tasks", "cancel", &id, "--json"]);
    prints(&scratch, "error", 2, &["tasks", "get", "none", "--json"]);
}

fn commands() {
    let bench = Bench::new();
    let rep = |name: &str, code: i32, arguments: &[&str]| printed(name, code, &bench.rep(arguments));
    let exec = |name: &str, code: i32, command: &str, args: &str| {
        rep(name, code, &["exec", "./web-browser", command, "--args", args, "--yes", "--json"])
    };
    exec("error", 3, "click", "{\"ref\": \"@e1\"}");
    bench.scratch.write_file("stale.uasp.yaml", crate::validation::STALE_UASP);
    let word = "{\"word\": \"x\"}";
    rep("exec", 0, &["exec", "./stale.uasp.yaml", "say", "--args", word, "--yes", "--json"]);
    exec("exec", 0, "open", "{\"url\": \"https://a\"}");
    exec("exec", 0, "snapshot", "{\"-i\": true}");
    exec("error", 4, "crash", "{}");
    exec("error", 1, "dance", "{}");
    let dry = ["exec", "./web-browser", "click", "--args", "{\"ref\": \"@e1\"}", "--dry-run"];
    rep("exec-plan", 0, &dry);
    let text =
        bench.scratch.read_file("web-browser/web-browser.uasp.yaml").replace("read: [browser.log]", "read: ['!x']");
    bench.scratch.write_file("odd/odd.uasp.yaml", text);
    rep("exec-plan", 0, &["exec", "./odd", "close", "--dry-run"]);
    rep("state", 0, &["state", "./web-browser", "--json"]);
    rep("state", 0, &["state", "./web-browser", "--json", "--after", "open,snapshot"]);
    rep("error", 1, &["state", "./web-browser", "--json", "--after", "click"]);
    rep("error", 1, &["state", "./web-browser", "--json", "--after", "dance"]);
    rep("state", 0, &["state", "./web-browser", "--json", "--sessions"]);
    rep("state-export", 0, &["state", "./web-browser", "--export", "-"]);
    assert_eq!(bench.rep(&["state", "./web-browser", "--export", "s.json"]).code, 0);
    holds("state-export", &bench.scratch.work_folder().join("s.json"));
    rep("state", 0, &["state", "./web-browser", "--json", "--session", "x", "--import", "s.json"]);
    rep("state", 0, &["state", "./web-browser", "--json", "--clear"]);
}

fn requests() {
    let scratch = api::notes();
    let server = TestServer::start(|asked, _| {
        let (status, body) =
            if asked.line.contains("bad") { ("404 Not Found", "{") } else { ("200 OK", "{\"id\": 1}") };
        build_response(status, &["Content-Type: application/json"], body)
    });
    let exec = |arguments: &[&str]| api::exec(&scratch, &server.url(), arguments);
    printed("exec", 0, &exec(&["get", "--args", "{\"id\": \"a\"}", "--yes", "--json"]));
    printed("error", 4, &exec(&["get", "--args", "{\"id\": \"bad\"}", "--yes", "--json"]));
    printed("exec-plan", 0, &exec(&["login", "--dry-run"]));
    let text =
        scratch.read_file("notes.uasp.yaml") + "workflows: {w: {description: Gets one., steps: [{cmd: get a}]}}\n";
    scratch.write_file("notes.uasp.yaml", text);
    let words = ["workflow", "./notes.uasp.yaml", "w", "--run", "--yes", "--json"];
    let url = server.url();
    let environment = [("NOTES_API_URL", url.as_str()), ("NOTES_TOKEN", "token-0123456789")];
    printed("workflow", 0, &scratch.run_with_environment(rep(), &words, &environment));
}

fn workflows() {
    let bench = Bench::new();
    let rep = |name: &str, code: i32, arguments: &[&str]| printed(name, code, &bench.rep(arguments));
    rep("workflow", 0, &["workflow", "./web-browser", "--json"]);
    rep("workflow", 0, &["workflow", "./web-browser", "basic", "--json"]);
    let words = ["workflow", "./web-browser", "basic", "--run", "--yes", "--json"];
    let steps = ["--set", "url=x", "--set", "action=click"];
    rep("workflow", 3, &[&words[..], &steps].concat());
    rep("error", 2, &words);
    rep("workflow", 0, &[&words[..], &["--resume", "--set", "action=click", "--set", "ref=@e1"]].concat());
    rep("error", 1, &["workflow", "./web-browser", "none", "--json"]);
}

fn policies() {
    let scratch = policy::scratch();
    prints(&scratch, "policy", 0, &["policy", "skills/forms", "--json"]);
    prints(&scratch, "policy", 0, &["policy", "skills/forms", "--read", "docs/a.pdf", "--json"]);
    prints(&scratch, "policy", 3, &["policy", "skills/forms", "--read", "/etc/passwd", "--json"]);
    let (code, seen) = typed(&scratch, &["policy", "skills/forms:fill", "--approve"], "[N]o:", b"yes\n");
    assert_eq!(code, 0, "{seen}");
    holds("approvals-file", &home(&scratch, &format!("{KEPT}/approvals.json")));
    prints(&scratch, "policy", 0, &["policy", "skills/forms", "--forget", "--json"]);
    prints(&scratch, "error", 2, &["policy", "skills/forms:none", "--json"]);
    prints(&scratch, "run-plan", 0, &["run", "skills/forms:fill", "--dry-run"]);
    prints(&scratch, "deps", 0, &["deps", "skills/forms", "--json"]);
}

fn secrets() {
    let scratch = ScratchFolder::new();
    prints(&scratch, "secrets", 0, &["secrets", "key", "--json"]);
    for arguments in [&["secrets", "set", "A", "--json"][..], &["secrets", "set", "B", "--for", "one", "--json"]] {
        printed("secrets", 0, &piped(&scratch, arguments, b"tops3cret\n"));
    }
    prints(&scratch, "secrets", 0, &["secrets", "list", "--json"]);
    prints(&scratch, "secrets", 0, &["secrets", "key", "file", "--json"]);
    holds("secrets-file", &home(&scratch, &format!("{KEPT}/secrets.json")));
    prints(&scratch, "secrets", 0, &["secrets", "rm", "A", "--json"]);
    prints(&scratch, "secrets", 1, &["secrets", "rm", "A", "--json"]);
    printed("error", 2, &piped(&scratch, &["secrets", "set", "A", "--json"], b""));
}

fn tokens() {
    let scratch = ScratchFolder::new();
    let new = ["token", "new", "one", "--scope", "run", "--skill", "a*", "--expires", "1d", "--json"];
    prints(&scratch, "token", 0, &new);
    prints(&scratch, "token", 0, &["token", "list", "--json"]);
    holds("tokens-file", &home(&scratch, &format!("{KEPT}/tokens.json")));
    prints(&scratch, "token", 0, &["token", "revoke", "one", "--json"]);
    prints(&scratch, "token", 1, &["token", "revoke", "one", "--json"]);
    prints(&scratch, "error", 2, &["token", "new", "a b", "--json"]);
}

/// A log that was cut in the middle of a record.
fn records() {
    let scratch = ScratchFolder::new();
    run::skill(&scratch, "one", "", &[("ok", "echo '{}'\n")]);
    let call = || scratch.run_program(rep(), &["run", "./one:ok", "--yes"]).code;
    assert_eq!(call(), 0);
    let file = home(&scratch, &format!("{KEPT}/audit.jsonl"));
    let mut log = std::fs::read_to_string(&file).expect("a run is recorded");
    log.push_str("{\"v\":1,\"seq\":");
    std::fs::write(&file, log).expect("the log can be written");
    assert_eq!(call(), 0);
    prints(&scratch, "audit", 0, &["audit", "--json"]);
    let text = std::fs::read_to_string(&file).expect("the log can be read");
    for line in text.lines() {
        // What was torn is not a record; the record after it says so.
        if let Ok(value) = serde_json::from_str(line) {
            super::check("audit-record", &value);
        }
    }
    let verdict = scratch.run_program(rep(), &["audit", "verify", "--json"]);
    printed("audit-verify", verdict.code, &verdict);
    prints(&scratch, "error", 2, &["audit", "--json", "--since", "whenever"]);
}

/// Packages that are really installed, from a folder of the test.
fn packages() {
    let scratch = ScratchFolder::new();
    deps::skill(&scratch, "rep-sample==1.0");
    if !is_program_installed("python3") || !deps::wheel(&scratch.work_folder().join("packages")) {
        return;
    }
    let found = deps::run(&scratch, &["deps", "./wants", "--install", "--yes", "--json"]);
    printed("deps", 0, &found);
    printed("audit", 0, &deps::run(&scratch, &["audit", "--json"]));
    holds("audit-record", &scratch.work_folder().join("data/repertoire/audit.jsonl"));
}
