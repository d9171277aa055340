//! Tools of MCP servers, through real servers: one of another SDK, `rep serve` itself, and some that misbehave.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use rep_test_support::{ProgramRun, ScratchFolder, skip_unless_ci};
use serde_json::{Value, json};

use super::policy::typed;
use super::serve::{Client, ERAS, Era};
use super::{Watching, json, rep, run};

/// The version of the Python SDK that the servers of these tests use.
const SDK: &str = "mcp==2.3.0";

/// A server of the Python SDK.
const SDK_SERVER: &str = r#"
import os, socket, sys
from mcp.server import MCPServer
from mcp_types import ToolAnnotations

server = MCPServer("demo")

@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b

@server.tool(annotations=ToolAnnotations(readOnlyHint=True))
def peek(path: str) -> dict[str, str]:
    """Reads a file."""
    try:
        with open(path) as file:
            return {"text": file.read()}
    except OSError as error:
        return {"error": type(error).__name__}

@server.tool()
def connect(port: int) -> str:
    """Connects to a port of this machine."""
    try:
        socket.create_connection(("127.0.0.1", port), 2).close()
        return "connected"
    except OSError as error:
        return type(error).__name__

@server.tool()
def token() -> str:
    """Returns its token."""
    return "the token is " + os.environ.get("DEMO_TOKEN", "missing")

@server.tool()
def fail() -> str:
    """Fails."""
    raise ValueError("out of luck")

@server.tool()
def crash() -> str:
    """Ends the server."""
    print("about to crash", file=sys.stderr, flush=True)
    os._exit(7)

if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
    else:
        server.run("stdio")
"#;

/// A server without an SDK. Its argument says what it does.
const SMALL_SERVER: &str = r#"
import json, sys, time
mode = sys.argv[1]
def send(value):
    sys.stdout.write(json.dumps(value) + "\n"); sys.stdout.flush()
def endless():
    while True: time.sleep(60)
if mode == "silent": endless()
if mode == "garbage":
    for number in range(100): print("hello", number, flush=True)
if mode == "greeting": print("welcome to this server", flush=True)
tools = [{"name": "echo", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True},
          "outputSchema": {"type": "object", "required": ["said"]}}]
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message: continue
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    method, params = message["method"], message.get("params", {})
    if method == "server/discover" and mode != "legacy":
        assert params["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
        reply["result"] = {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {}}
    elif method == "initialize" and mode == "legacy":
        reply["result"] = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "x", "version": "1"}}
    elif method == "tools/list":
        if mode == "many": tools = [dict(tools[0], name="t%d" % at) for at in range(100000)]
        if mode == "pages":
            page = int(params.get("cursor", "0"))
            reply["result"] = {"tools": [dict(tools[0], name="t%d" % page)]}
            if page < 2: reply["result"]["nextCursor"] = str(page + 1)
        elif mode == "loop": reply["result"] = {"tools": [], "nextCursor": "again"}
        else: reply["result"] = {"tools": tools}
    elif method == "tools/call":
        if mode == "hang": endless()
        if mode == "large": sys.stdout.write("x" * (9 << 20)); sys.stdout.flush(); endless()
        if mode == "asks": send({"jsonrpc": "2.0", "id": "q", "method": "sampling/createMessage"})
        if mode == "input": reply["result"] = {"resultType": "input_required", "inputRequests": {}}
        elif mode == "misfit": reply["result"] = {"content": [], "structuredContent": {"other": 1}}
        else: reply["result"] = {"content": [], "structuredContent": {"said": params["arguments"]}}
    else: reply["error"] = {"code": -32601, "message": "not known"}
    send(reply)
if mode == "stays": endless()
"#;

/// Returns the Python with the SDK, which is installed once. Without it, the test is skipped, but not in CI.
fn sdk_python() -> Option<&'static Path> {
    static PYTHON: OnceLock<Option<PathBuf>> = OnceLock::new();
    let install = || {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/mcp-sdk");
        let python = folder.join("bin/python");
        let is_there = || {
            let check = Command::new(&python).args(["-c", "import mcp.server"]).stderr(Stdio::null()).status();
            check.is_ok_and(|status| status.success())
        };
        let run = |program: &Path, arguments: &[&str]| {
            Command::new(program).args(arguments).stdout(Stdio::null()).status().is_ok_and(|status| status.success())
        };
        let venv = folder.to_str().expect("the path of the workspace is text");
        let is_installed = is_there()
            || (run(Path::new("python3"), &["-m", "venv", venv])
                && run(&python, &["-m", "pip", "install", "--quiet", "--disable-pip-version-check", SDK])
                && is_there());
        is_installed.then(|| std::fs::canonicalize(&folder).expect("it was made").join("bin/python"))
    };
    let python = PYTHON.get_or_init(install);
    if python.is_none() {
        skip_unless_ci("the Python SDK of MCP cannot be installed");
    }
    python.as_deref()
}

/// Writes the user's settings.
fn declare(scratch: &ScratchFolder, servers: &str) {
    scratch.write_file("../home/.config/repertoire/rep.yaml", format!("mcp_servers:\n{servers}"));
}

/// Declares the server of the SDK, with further keys.
fn declare_sdk_server(scratch: &ScratchFolder, python: &Path, more: &str) {
    scratch.write_file("server.py", SDK_SERVER);
    let python = python.display();
    let entry = format!("  demo:\n    command: {python}\n    args: [server.py]\n");
    declare(scratch, &format!("{entry}    permissions: {{filesystem: {{read: [server.py, 'docs/**']}}}}\n{more}"));
}

/// Declares the small server in a mode.
fn declare_small_server(scratch: &ScratchFolder, mode: &str, more: &str) {
    scratch.write_file("small.py", SMALL_SERVER);
    let entry = format!("  small:\n    command: python3\n    args: [small.py, {mode}]\n");
    declare(scratch, &format!("{entry}    permissions: {{filesystem: {{read: [small.py]}}}}\n{more}"));
}

fn call(scratch: &ScratchFolder, target: &str, input: &Value, more: &[&str]) -> ProgramRun {
    let input = input.to_string();
    run(scratch, &[&["run", target, "--input", &input], more].concat())
}

/// The code of an error that a run printed.
fn error_code(found: &ProgramRun) -> String {
    json(found)["error"]["code"].as_str().unwrap_or_else(|| panic!("{found:?}")).to_owned()
}

#[test]
fn tools_of_a_server_of_another_sdk_are_listed_called_and_recorded() {
    let Some(python) = sdk_python() else { return };
    let scratch = ScratchFolder::new();
    declare_sdk_server(&scratch, python, "");
    let listed = json(&run(&scratch, &["tools", "--mcp", "demo", "--json"]));
    let tools = listed["servers"][0]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["add", "peek", "connect", "token", "fail", "crash"]);
    assert_eq!((&tools[0]["read_only"], &tools[1]["read_only"]), (&json!(false), &json!(true)));
    let input = json!({ "a": 2, "b": 3 });
    let refused = call(&scratch, "mcp:demo:add", &input, &[]);
    assert_eq!((refused.code, error_code(&refused).as_str()), (3, "CONFIRMATION_REQUIRED"));
    let called = call(&scratch, "mcp:demo:add", &input, &["--yes"]);
    assert_eq!((called.code, json(&called)), (0, json!({ "result": 5 })), "{called:?}");
    let records = json(&run(&scratch, &["audit", "--skill", "mcp:demo", "--json"]));
    let runs: Vec<(&str, &str)> = records["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| (run["tool"].as_str().unwrap(), run["outcome"].as_str().unwrap_or_default()))
        .collect();
    for expected in [("tools/list", "ok"), ("add", "CONFIRMATION_REQUIRED"), ("add", "ok")] {
        assert!(runs.contains(&expected), "{records:#}");
    }
    let digest = rep_audit_digest(&input);
    assert!(records["runs"].as_array().unwrap().iter().any(|run| run["input_digest"] == digest.as_str()));
    let misfit = call(&scratch, "mcp:demo:add", &json!({ "a": "x" }), &["--yes"]);
    assert_eq!((misfit.code, error_code(&misfit).as_str()), (3, "INVALID_ARGUMENT"));
    let failed = call(&scratch, "mcp:demo:fail", &json!({}), &["--yes"]);
    assert_eq!((failed.code, error_code(&failed).as_str()), (4, "TOOL_FAILED"));
    assert!(failed.stdout.contains("fail"), "{failed:?}");
    let crashed = call(&scratch, "mcp:demo:crash", &json!({}), &["--yes"]);
    assert_eq!((crashed.code, error_code(&crashed).as_str()), (4, "SERVER_FAILED"));
    assert!(crashed.stdout.contains("exit code 7") && crashed.stdout.contains("about to crash"), "{crashed:?}");
    let missing = call(&scratch, "mcp:demo:ad", &json!({}), &["--yes"]);
    assert_eq!(json(&missing)["error"]["remedy"], "did you mean `add`?");
    let unknown = call(&scratch, "mcp:dmo:add", &json!({}), &["--yes"]);
    assert_eq!((unknown.code, error_code(&unknown).as_str()), (2, "SERVER_NOT_FOUND"));
}

/// The digest of arguments, as records have it.
fn rep_audit_digest(input: &Value) -> String {
    let hashed = Command::new("sh").args(["-c", "printf %s \"$1\" | sha256sum", "sh", &input.to_string()]).output();
    String::from_utf8(hashed.expect("sha256sum can be started").stdout).expect("a digest is text")[..64].to_owned()
}

#[test]
fn a_server_sees_what_its_entry_grants_and_nothing_else() {
    let Some(python) = sdk_python() else { return };
    let scratch = ScratchFolder::new();
    scratch.write_file("docs/a.txt", "granted");
    scratch.write_file("b.txt", "not granted");
    let home = scratch.write_file("../home/private.txt", "private");
    let home = home.canonicalize().unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    declare_sdk_server(&scratch, python, "    env: {DEMO_TOKEN: 'x-${DEMO_SECRET}'}\n");
    let secret = [("DEMO_SECRET", "correct-horse-battery")];
    let ask = |tool: &str, input: Value| {
        let input = input.to_string();
        let arguments = ["run", &format!("mcp:demo:{tool}"), "--yes", "--input", &input];
        json(&scratch.run_with_environment(rep(), &arguments, &secret))
    };
    assert_eq!(ask("peek", json!({ "path": "docs/a.txt" })), json!({ "text": "granted" }));
    assert_ne!(ask("peek", json!({ "path": "b.txt" })).get("error"), None);
    assert_ne!(ask("peek", json!({ "path": home })).get("error"), None);
    assert_ne!(ask("connect", json!({ "port": port })), json!({ "result": "connected" }));
    let token = ask("token", json!({}));
    assert!(!token.to_string().contains("horse") && !token.to_string().contains("missing"), "{token}");
    let unset = call(&scratch, "mcp:demo:token", &json!({}), &["--yes"]);
    assert_eq!((unset.code, error_code(&unset).as_str()), (3, "SECRET_MISSING"));
    // Only the user's own settings lift the sandbox, and the record says so.
    declare_sdk_server(&scratch, python, "    sandbox: false\n");
    assert_eq!(ask("peek", json!({ "path": home })), json!({ "text": "private" }));
    assert_eq!(ask("connect", json!({ "port": port })), json!({ "result": "connected" }));
    let records = json(&run(&scratch, &["audit", "--skill", "mcp:demo", "--json"]));
    assert!(records["runs"].as_array().unwrap().iter().any(|run| run["sandbox"] == false), "{records:#}");
    for key in ["sandbox: false", "trust: true", "readable: [/opt]"] {
        scratch.write_file("rep.yaml", format!("mcp_servers: {{other: {{command: python3, {key}}}}}\n"));
        let refused = run(&scratch, &["tools", "--mcp", "other"]);
        assert!(refused.code == 2 && refused.stderr.contains("only you can set"), "{refused:?}");
    }
}

#[test]
fn a_server_over_http_is_asked_in_the_same_way() {
    let Some(python) = sdk_python() else { return };
    let scratch = ScratchFolder::new();
    let file = scratch.write_file("server.py", SDK_SERVER);
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let mut server = Command::new(python)
        .arg(&file)
        .arg(port.to_string())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it can be started");
    let lines = BufReader::new(server.stderr.take().unwrap()).lines();
    let mut lines = lines.map_while(Result::ok);
    let _server = Watching(server);
    assert!(lines.any(|line| line.contains("running on")), "the server says when it listens");
    declare(&scratch, &format!("  demo: {{type: http, url: 'http://127.0.0.1:{port}/mcp'}}\n"));
    let called = call(&scratch, "mcp:demo:add", &json!({ "a": 2, "b": 3 }), &["--yes"]);
    assert_eq!((called.code, json(&called)), (0, json!({ "result": 5 })), "{called:?}");
    let denied = format!("policy: {{deny: {{hosts: ['127.0.0.1:{port}']}}}}\nmcp_servers:\n");
    let entry = format!("  demo: {{type: http, url: 'http://127.0.0.1:{port}/mcp'}}\n");
    scratch.write_file("../home/.config/repertoire/rep.yaml", denied + &entry);
    let refused = call(&scratch, "mcp:demo:add", &json!({ "a": 2, "b": 3 }), &["--yes"]);
    assert_eq!((refused.code, error_code(&refused).as_str()), (3, "POLICY_DENIED"));
    declare(&scratch, &format!("  demo: {{url: 'http://127.0.0.1:{port}/nothing'}}\n"));
    let elsewhere = call(&scratch, "mcp:demo:add", &json!({ "a": 2, "b": 3 }), &["--yes"]);
    assert!(elsewhere.code == 4 && elsewhere.stdout.contains("404"), "{elsewhere:?}");
    declare(&scratch, "  demo: {url: 'http://127.0.0.1:1/mcp'}\n");
    let unreachable = call(&scratch, "mcp:demo:add", &json!({}), &["--yes"]);
    assert_eq!((unreachable.code, error_code(&unreachable).as_str()), (4, "CONNECTION_FAILED"));
}

#[test]
fn both_generations_of_the_protocol_are_spoken() {
    for mode in ["modern", "legacy", "greeting", "asks"] {
        let scratch = ScratchFolder::new();
        declare_small_server(&scratch, mode, "");
        let called = call(&scratch, "mcp:small:echo", &json!({ "x": 1 }), &["--yes"]);
        assert_eq!((called.code, json(&called)), (0, json!({ "said": { "x": 1 } })), "{mode}: {called:?}");
    }
    let scratch = ScratchFolder::new();
    declare_small_server(&scratch, "pages", "");
    let listed = run(&scratch, &["tools", "--mcp"]);
    assert_eq!(listed.stdout, "mcp:small:t0  (mcp)  \nmcp:small:t1  (mcp)  \nmcp:small:t2  (mcp)  \n", "{listed:?}");
}

#[test]
fn a_server_that_misbehaves_is_an_error_and_never_a_hang() {
    for (mode, more, code, expected) in [
        ("silent", "    timeout: 2\n", 4, "TIMEOUT"),
        ("hang", "    timeout: 3\n", 4, "TIMEOUT"),
        ("garbage", "", 4, "INVALID_RESPONSE"),
        ("many", "", 4, "OUTPUT_TOO_LARGE"),
        ("loop", "", 4, "INVALID_RESPONSE"),
        ("large", "", 4, "OUTPUT_TOO_LARGE"),
        ("input", "", 4, "UNSUPPORTED"),
        ("misfit", "", 4, "INVALID_RESULT"),
    ] {
        let scratch = ScratchFolder::new();
        declare_small_server(&scratch, mode, more);
        let found = call(&scratch, "mcp:small:echo", &json!({}), &["--yes"]);
        assert_eq!((found.code, error_code(&found).as_str()), (code, expected), "{mode}: {found:?}");
    }
    let scratch = ScratchFolder::new();
    declare(&scratch, "  gone: {command: no-such-program}\n");
    let found = call(&scratch, "mcp:gone:echo", &json!({}), &["--yes"]);
    assert_eq!((found.code, error_code(&found).as_str()), (3, "RUNTIME_UNAVAILABLE"), "{found:?}");
    // One that stays is stopped. Files that it wrote would be discarded, so its answer is then an error.
    declare_small_server(&scratch, "stays", "");
    let stayed = call(&scratch, "mcp:small:echo", &json!({}), &["--yes"]);
    assert_eq!((stayed.code, json(&stayed)), (0, json!({ "said": {} })), "{stayed:?}");
    let entry = "  small:\n    command: python3\n    args: [small.py, stays]\n";
    declare(&scratch, &format!("{entry}    permissions: {{filesystem: {{read: [small.py], write: ['*.out']}}}}\n"));
    let stayed = call(&scratch, "mcp:small:echo", &json!({}), &["--yes"]);
    assert_eq!((stayed.code, error_code(&stayed).as_str()), (4, "SERVER_FAILED"), "{stayed:?}");
}

#[test]
fn a_read_only_tool_of_a_trusted_server_needs_no_confirmation() {
    let scratch = ScratchFolder::new();
    declare_small_server(&scratch, "modern", "    trust: true\n");
    let called = call(&scratch, "mcp:small:echo", &json!({}), &[]);
    assert_eq!((called.code, json(&called)), (0, json!({ "said": {} })), "{called:?}");
    declare_small_server(&scratch, "modern", "");
    assert_eq!(error_code(&call(&scratch, "mcp:small:echo", &json!({}), &[])), "CONFIRMATION_REQUIRED");
    let settings = scratch.read_file("../home/.config/repertoire/rep.yaml");
    let denied = format!("{settings}policy: {{deny: {{skills: ['mcp:small']}}}}\n");
    scratch.write_file("../home/.config/repertoire/rep.yaml", denied);
    assert_eq!(error_code(&call(&scratch, "mcp:small:echo", &json!({}), &["--yes"])), "POLICY_DENIED");
}

#[test]
fn an_approval_ends_when_the_server_changes_the_tool() {
    let scratch = ScratchFolder::new();
    declare_small_server(&scratch, "modern", "");
    let approve = ["policy", "mcp:small:echo", "--approve"];
    assert_eq!(run(&scratch, &approve).code, 3);
    let (code, seen) = typed(&scratch, &approve, "[N]o:", b"yes\n");
    assert_eq!(code, 0, "{seen}");
    let called = call(&scratch, "mcp:small:echo", &json!({}), &[]);
    assert_eq!((called.code, json(&called)), (0, json!({ "said": {} })), "{called:?}");
    for (before, after) in [
        ("\"inputSchema\": {", "\"inputSchema\": {\"title\": \"All files\", "),
        ("\"annotations\": {", "\"description\": \"Sends all files.\", \"annotations\": {"),
        ("\"readOnlyHint\": True", "\"readOnlyHint\": True, \"destructiveHint\": True"),
        ("[\"said\"]}", "[]}"),
    ] {
        assert!(SMALL_SERVER.contains(before), "{before}");
        scratch.write_file("small.py", SMALL_SERVER.replace(before, after));
        let refused = call(&scratch, "mcp:small:echo", &json!({}), &[]);
        assert_eq!((refused.code, error_code(&refused).as_str()), (3, "CONFIRMATION_REQUIRED"), "{after}: {refused:?}");
        assert!(refused.stdout.contains("changed `echo` after you approved it"), "{refused:?}");
    }
    // Consent to one call covers the tool as it is now. A lasting approval of it needs an answer again.
    assert_eq!(call(&scratch, "mcp:small:echo", &json!({}), &["--yes"]).code, 0);
    assert_eq!(run(&scratch, &approve).code, 0);
    assert_eq!(error_code(&call(&scratch, "mcp:small:echo", &json!({}), &[])), "CONFIRMATION_REQUIRED");
    assert_eq!(run(&scratch, &["policy", "mcp:small", "--forget"]).code, 0);
    let (code, seen) = typed(&scratch, &approve, "[N]o:", b"yes\n");
    assert_eq!((code, call(&scratch, "mcp:small:echo", &json!({}), &[]).code), (0, 0), "{seen}");
    let (code, seen) = typed(&scratch, &["policy", "mcp:small:eco", "--approve"], "[N]o:", b"yes\n");
    assert!(code == 2 && seen.contains("has no tool `eco`"), "{seen}");
}

#[test]
fn a_server_of_a_project_needs_trust_and_confirmation() {
    let scratch = ScratchFolder::new();
    scratch.write_file("small.py", SMALL_SERVER);
    let entry = "mcp_servers:\n  small:\n    command: python3\n    args: [small.py, modern]\n";
    scratch.write_file("rep.yaml", format!("{entry}    permissions: {{filesystem: {{read: [small.py]}}}}\n"));
    assert_eq!(error_code(&call(&scratch, "mcp:small:echo", &json!({}), &["--yes"])), "UNTRUSTED");
    assert_eq!(run(&scratch, &["trust"]).code, 0);
    let listed = run(&scratch, &["tools", "--mcp", "small", "--json"]);
    assert_eq!(json(&listed)["servers"][0]["error"]["code"], "CONFIRMATION_REQUIRED");
    let listed = json(&run(&scratch, &["tools", "--mcp", "small", "--json", "--yes"]));
    assert_eq!(listed["servers"][0]["tools"][0]["name"], "echo");
    assert_eq!(call(&scratch, "mcp:small:echo", &json!({}), &["--yes"]).code, 0);
}

/// A skill with a tool `echo` of its own and one that calls `target`.
fn write_skill(scratch: &ScratchFolder, extensions: &str, target: &str) {
    let tool = |name: &str| {
        format!(
            "  - name: {name}\n    description: Does {name}.\n    input_schema: {{type: object}}\n    \
             implementation: {{runtime: python, entrypoint: scripts/{name}.py}}\n"
        )
    };
    let tools = format!("tools:\n{}{}", tool("echo"), tool("ask"));
    let head = "name: caller\ndescription: Calls servers. Use in tests.\nspec_version: \"2.1\"\nversion: 1.0.0\n";
    scratch.write_file("caller/SKILL.md", format!("---\n{head}{tools}{extensions}---\n\n# Caller\n"));
    scratch.write_file("caller/scripts/echo.py", "def handler(args, ctx):\n    return {'own': True}\n");
    let ask = format!("def handler(args, ctx):\n    return ctx.call_tool('{target}', {{'x': 1}})\n");
    scratch.write_file("caller/scripts/ask.py", ask);
}

/// A skill that requires a server, for the schemas of outputs.
pub(super) fn write_caller_of_server(scratch: &ScratchFolder) {
    declare_small_server(scratch, "modern", "    readable: [/usr/share]\n");
    write_skill(scratch, "extensions: {requires_mcp: [small]}\n", "mcp:small:echo");
}

#[test]
fn tools_of_a_skill_come_before_those_of_a_server_it_requires() {
    let scratch = ScratchFolder::new();
    declare_small_server(&scratch, "modern", "    trust: true\n");
    write_skill(&scratch, "extensions: {requires_mcp: [small]}\n", "mcp:small:echo");
    let own = run(&scratch, &["run", "./caller:echo"]);
    assert_eq!(json(&own), json!({ "own": true }), "{own:?}");
    let listed = json(&run(&scratch, &["tools", "./caller", "--mcp", "--json"]));
    assert_eq!(
        (&listed["source"], &listed["servers"][0]["tools"][0]["shadowed"]),
        (&json!("frontmatter"), &json!(true))
    );
    let asked = run(&scratch, &["run", "./caller:ask"]);
    assert_eq!(json(&asked), json!({ "said": { "x": 1 } }), "{asked:?}");
    write_skill(&scratch, "", "mcp:small:echo");
    let refused = run(&scratch, &["run", "./caller:ask"]);
    assert!(refused.code == 4 && refused.stdout.contains("requires_mcp"), "{refused:?}");
    let missing = run(&scratch, &["run", "./caller:nothing"]);
    assert_eq!((missing.code, error_code(&missing).as_str()), (2, "TOOL_NOT_FOUND"));
    write_skill(&scratch, "extensions: {requires_mcp: [absent]}\n", "echo");
    let missing = run(&scratch, &["run", "./caller:nothing"]);
    assert_eq!((missing.code, error_code(&missing).as_str()), (2, "SERVER_NOT_FOUND"));
}

#[test]
fn a_server_of_a_skill_is_used_by_it_after_consent() {
    let scratch = ScratchFolder::new();
    let entry = "extensions:\n  mcp_servers: {own: {command: scripts/small.py, args: [modern]}}\n";
    write_skill(&scratch, entry, "mcp:own:repeat");
    scratch.write_file("caller/scripts/small.py", SMALL_SERVER.replace("\"echo\"", "\"repeat\""));
    let refused = run(&scratch, &["run", "./caller:repeat"]);
    assert_eq!((refused.code, error_code(&refused).as_str()), (3, "CONFIRMATION_REQUIRED"), "{refused:?}");
    let called = run(&scratch, &["run", "./caller:repeat", "--yes"]);
    assert_eq!((called.code, json(&called)), (0, json!({ "said": {} })), "{called:?}");
    let outside = run(&scratch, &["run", "mcp:own:repeat", "--yes"]);
    assert_eq!(error_code(&outside), "SERVER_NOT_FOUND");
    let nested = run(&scratch, &["run", "./caller:ask", "--yes"]);
    // Consent to a tool does not cover the server that it calls.
    let error = &json(&nested)["error"];
    assert_eq!((nested.code, &error["tool_code"]), (4, &json!("CONFIRMATION_REQUIRED")), "{nested:?}");
    assert_eq!(
        error["message"],
        "`caller:mcp:own:repeat` needs confirmation (foreign_tool), and no prompt is available"
    );
    assert_eq!(error["details"]["remedy"], "run `rep run caller:repeat` in a terminal, and answer `always`");
    let records = json(&run(&scratch, &["audit", "--skill", "caller", "--json"]));
    let is_refusal = |run: &&Value| run["tool"] == "mcp:own:repeat" && run["outcome"] == "CONFIRMATION_REQUIRED";
    assert_eq!(records["runs"].as_array().unwrap().iter().filter(is_refusal).count(), 2, "{records:#}");
    // A lasting answer covers nested calls, until the skill changes.
    let (code, seen) = typed(&scratch, &["run", "./caller:repeat"], "[N]o:", b"always\n");
    assert_eq!(code, 0, "{seen}");
    let nested = run(&scratch, &["run", "./caller:ask"]);
    assert_eq!((nested.code, json(&nested)), (0, json!({ "said": { "x": 1 } })), "{nested:?}");
    scratch.write_file("caller/notes.md", "changed");
    assert_eq!(json(&run(&scratch, &["run", "./caller:ask"]))["error"]["tool_code"], "CONFIRMATION_REQUIRED");
}

#[test]
fn our_own_server_is_a_server_like_any_other() {
    let scratch = ScratchFolder::new();
    scratch.write_file("skills/pdf/SKILL.md", super::GOOD);
    let (program, skills) = (rep().display().to_string(), scratch.work_folder().join("skills"));
    let entry = format!("  own:\n    command: {program}\n    args: [serve, --stdio, --path, {}]\n", skills.display());
    declare(&scratch, &format!("{entry}    sandbox: false\n    env: {{HOME: '${{HOME}}'}}\n"));
    let listed = call(&scratch, "mcp:own:list_skills", &json!({}), &["--yes"]);
    assert!(listed.code == 0 && listed.stdout.contains("Fills PDF forms"), "{listed:?}");
}

#[test]
fn a_dry_run_starts_nothing() {
    let scratch = ScratchFolder::new();
    declare(&scratch, "  gone: {command: no-such-program, args: ['${GONE_KEY}']}\n");
    let plan = json(&run(&scratch, &["run", "mcp:gone:echo", "--dry-run"]));
    assert_eq!((&plan["skill"], &plan["tool"]), (&json!("mcp:gone"), &json!("echo")));
    assert_eq!(plan["server"]["address"]["args"], json!(["${GONE_KEY}"]));
    assert_eq!(plan["policy"]["confirm"], json!(["foreign_tool"]));
}

#[test]
fn a_server_passes_on_the_tools_of_declared_servers_to_its_clients() {
    let scratch = ScratchFolder::new();
    declare_small_server(&scratch, "modern", "    trust: true\n");
    scratch.write_file("skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Fills forms. Use for forms.\n---\n# Pdf\n");
    let listed = |arguments: &[&str]| {
        let mut client = Client::new(&scratch, arguments, Era::Old);
        let tools = client.ask("tools/list", json!({}))["result"]["tools"].clone();
        tools.as_array().unwrap().iter().find(|tool| tool["name"] == "mcp.small__echo").cloned()
    };
    assert_eq!(listed(&["--path", "skills"]), None);
    assert_eq!(listed(&["--path", "skills", "--allow-run=pdf"]), None);
    let tool = listed(&["--path", "skills", "--allow-run"]).expect("it is listed");
    assert_eq!((&tool["annotations"]["readOnlyHint"], &tool["inputSchema"]["type"]), (&json!(true), &json!("object")));
    assert!(listed(&["--path", "skills", "--allow-run=mcp:small"]).is_some());

    // The user trusts the server, and the server marks the tool as read-only.
    for era in ERAS {
        let mut client = Client::new(&scratch, &["--path", "skills", "--allow-run"], era);
        let result = client.call("mcp.small__echo", json!({ "word": "hello" }));
        assert_eq!(result["structuredContent"], json!({ "said": { "word": "hello" } }), "{result}");
    }
    let records = json(&run(&scratch, &["audit", "--skill", "mcp:small", "--json"]));
    let runs = records["runs"].as_array().unwrap();
    let called = runs.iter().filter(|run| run["tool"] == "echo" && run["outcome"] == "ok");
    assert_eq!(called.filter(|run| run["who"].as_str().unwrap().contains("test")).count(), ERAS.len(), "{records:#}");

    // Without trust, the client's user is asked; a client that cannot ask is refused.
    declare_small_server(&scratch, "modern", "");
    let mut client = Client::new(&scratch, &["--path", "skills", "--allow-run"], Era::New);
    let refused = client.call("mcp.small__echo", json!({}));
    assert_eq!((&refused["isError"], refused.to_string().contains("CONFIRMATION_REQUIRED")), (&json!(true), true));
    let can = json!({ "elicitation": { "form": {} } });
    let mut client = Client::that_can(&scratch, &["--path", "skills", "--allow-run"], Era::New, can);
    let asked = client.call("mcp.small__echo", json!({}));
    assert!(asked.to_string().contains("mcp:small"), "{asked}");

    // A project's servers are asked by nobody but the user.
    scratch.write_file("../home/.config/repertoire/rep.yaml", "");
    scratch.write_file("rep.yaml", "mcp_servers: {small: {command: python3, args: [small.py, modern]}}\n");
    assert_eq!(listed(&["--path", "skills", "--allow-run"]), None);
}
