//! Requests of API skills, sent to real servers.

mod tls;

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::Path;

use crate::approval::{Approvals, compute_binding};
use crate::execute::{ExecuteOptions, execute_grant_with};
use crate::grant::{GrantConsent, GrantContext, GrantDecision};
use crate::interpreter::InterpreterSearch;
use crate::plan::command::{CommandError, CommandPlanInput};
use crate::plan::{HostRule, PlannedWork, Risk};
use crate::{ExecutionTrust, Outcome, Plan, Policy, RunReply, RunVerdict, ToolError};
use proptest::prelude::*;
use rep_model::{Skill, SkillDocument, SkillTree};
use rep_sandbox::{Cancel, KillReason, SandboxError};
use rep_test_support::{TestResponse, TestServer, build_response};
use serde_json::{Value, json};

fn document(base: &str, command: Value) -> Value {
    json!({
        "meta": { "name": "a-skill", "type": "api" },
        "api": { "base_url": base },
        "environment": [{ "name": "A_TOKEN", "purpose": "who asks" }],
        "commands": { "it": command },
    })
}

/// Plans a command of a skill whose service is at this address.
pub(crate) fn plan(base: &str, command: Value, arguments: Value) -> Plan {
    let document = document(base, command);
    planned(&document, &arguments).expect("it can be planned")
}

/// Plans the command of a document. JSON is YAML.
fn planned(document: &Value, arguments: &Value) -> Result<Plan, CommandError> {
    let (skill, _) = Skill::parse(SkillTree::from_texts("a-skill", &[("a-skill.uasp.yaml", &document.to_string())]));
    Plan::from_command(&CommandPlanInput {
        skill: "a-skill",
        digest: "0",
        folder: Path::new("/nowhere/skill"),
        front: None,
        file: skill.uasp.first().and_then(|file| file.root.as_ref()),
        document: &SkillDocument::from_skill(&skill).expect("the file is a mapping"),
        name: "it",
        workspace: Path::new("/nowhere/work"),
        arguments: &arguments.as_object().cloned().unwrap_or_default(),
        variable: &|_| None,
        is_file: &|_| false,
    })
}

fn decide(plan: Plan, consent: GrantConsent, approvals: &Approvals) -> GrantDecision {
    let secrets = ["A_TOKEN".to_owned()].into();
    let context = GrantContext { trust: ExecutionTrust::Trusted, secrets, consent, approvals };
    crate::grant::decide_plan(&Policy::default(), plan, &context)
}

const TOKEN: &str = "token-0123456789";

pub(crate) fn run_with(plan: Plan, cancel: &Cancel) -> Outcome {
    let GrantDecision::Granted(granted) = decide(plan, GrantConsent::Given, &Approvals::default()) else {
        panic!("it is not granted")
    };
    let search = InterpreterSearch { env: Vec::new(), cache: None };
    let options = ExecuteOptions {
        search: &search,
        environments: None,
        caller: None,
        redacted_values: &[],
        hidden_folders: &[],
        run_registry: None,
    };
    let secrets = [("A_TOKEN".to_owned(), TOKEN.to_owned())];
    let never = |_, _: &Cancel| -> Result<_, SandboxError> { panic!("a request starts no process") };
    execute_grant_with(&granted, &secrets, &options, cancel, never)
}

pub(crate) fn run(plan: Plan) -> Outcome {
    run_with(plan, &Cancel::default())
}

pub(crate) fn result(outcome: &Outcome) -> &Value {
    match &outcome.reply {
        RunReply::Result(value) => value,
        other => panic!("no result: {other:?}"),
    }
}

pub(crate) fn error(outcome: &Outcome) -> &ToolError {
    match &outcome.reply {
        RunReply::Error(error) => error,
        other => panic!("no error: {other:?}"),
    }
}

fn get(base: &str) -> Plan {
    plan(base, json!({ "syntax": "GET /it" }), json!({}))
}

/// Returns the error code of a command whose server responds like this.
fn code_of(answer: impl Fn() -> TestResponse + Send + Sync + 'static) -> String {
    let server = TestServer::start(move |_, _| answer());
    error(&run(get(&server.url()))).code.as_str().to_owned()
}

#[test]
fn every_method_is_sent_with_its_arguments_in_their_places() {
    let server = TestServer::start(|asked, _| {
        if asked.line.starts_with("HEAD") {
            return TestResponse::Bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n".to_vec());
        }
        build_response("200 OK", &["Content-Type: application/json"], r#"{"ok":1}"#)
    });
    let args = json!([{ "name": "id", "type": "string" }, { "name": "note", "type": "string" }]);
    for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
        let command = json!({ "syntax": format!("{method} /v1/<id>?x=1"), "args": args });
        let outcome = run(plan(&server.url(), command, json!({ "id": "a/../b", "note": "ö & \"y\"" })));
        assert_eq!((outcome.verdict, outcome.is_executed), (RunVerdict::Succeeded, true), "{outcome:?}");
        let asked = server.received_requests().pop().unwrap();
        if ["POST", "PUT", "PATCH"].contains(&method) {
            assert_eq!(asked.line, format!("{method} /v1/a%2F..%2Fb?x=1"));
            assert_eq!(serde_json::from_str::<Value>(&asked.body).unwrap(), json!({ "note": "ö & \"y\"" }));
            assert_eq!(asked.header("content-type"), Some("application/json"));
        } else {
            assert_eq!(asked.line, format!("{method} /v1/a%2F..%2Fb?x=1&note=%C3%B6%20%26%20%22y%22"));
            assert_eq!((asked.body.as_str(), asked.header("content-type")), ("", None));
        }
        assert_eq!(asked.header("host"), Some(format!("127.0.0.1:{}", server.port).as_str()));
        if method != "HEAD" {
            assert_eq!(result(&outcome)["response"]["body"], json!({ "ok": 1 }));
            assert_eq!(result(&outcome)["stdout"], r#"{"ok":1}"#);
            assert_eq!((&result(&outcome)["returncode"], &result(&outcome)["stderr"]), (&json!(0), &json!("")));
        }
    }
}

#[test]
fn a_request_without_a_body_says_so() {
    let server = TestServer::start(|_, _| build_response("204 No Content", &[], ""));
    for (method, length) in
        [("POST", Some("0")), ("PUT", Some("0")), ("PATCH", Some("0")), ("GET", None), ("DELETE", None)]
    {
        let outcome = run(plan(&server.url(), json!({ "syntax": format!("{method} /it") }), json!({})));
        assert_eq!(result(&outcome)["response"]["body"], Value::Null);
        let asked = server.received_requests().pop().unwrap();
        assert_eq!((asked.header("content-length"), asked.header("transfer-encoding")), (length, None), "{method}");
    }
    let outcome = run(plan(&server.url(), json!({ "syntax": "DELETE /it", "body": { "a": 1 } }), json!({})));
    assert_eq!(
        (outcome.verdict, server.received_requests().pop().unwrap().body.as_str()),
        (RunVerdict::Succeeded, r#"{"a":1}"#)
    );
}

#[test]
fn what_comes_back_is_read_by_its_kind() {
    let kinds: [(&str, &[u8], Value, bool); 5] = [
        ("application/problem+json; charset=utf-8", b"[1]", json!([1]), false),
        ("application/json", b"{oops", json!("{oops"), true),
        ("text/plain", b"hello", json!("hello"), false),
        ("image/png", b"\x89PNG\x00", json!("iVBORwA="), true),
        ("text/plain", b"", Value::Null, false),
    ];
    for (kind, body, shown, has_note) in kinds {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nSet-Cookie: a=b\r\nX-A: 1\r\nX-A: 2\r\n\r\n",
            body.len()
        );
        let bytes = [head.as_bytes(), body].concat();
        let server = TestServer::start(move |_, _| TestResponse::Bytes(bytes.clone()));
        let outcome = run(get(&server.url()));
        let response = &result(&outcome)["response"];
        assert_eq!((&response["body"], response.get("note").is_some()), (&shown, has_note), "{kind}");
        assert_eq!((&response["headers"]["x-a"], &response["status"]), (&json!("1, 2"), &json!(200)));
        assert!(response["headers"].get("set-cookie").is_none(), "a cookie is a credential");
    }
}

#[test]
fn a_status_from_400_on_is_a_failure_that_holds_the_answer() {
    for (status, is_retriable) in [("404 Not Found", false), ("500 Oh No", false), ("502 Bad Gateway", true)] {
        let server = TestServer::start(move |_, _| {
            build_response(status, &["Content-Type: application/json"], r#"{"title":"no"}"#)
        });
        let outcome = run(get(&server.url()));
        let error = error(&outcome);
        assert_eq!(
            (error.code.as_str(), outcome.verdict, error.is_retriable),
            ("COMMAND_FAILED", RunVerdict::Failed, is_retriable)
        );
        assert_eq!(error.more["response"]["body"]["title"], "no");
        assert_eq!((&error.more["returncode"], &error.more["stdout"]), (&json!(1), &json!(r#"{"title":"no"}"#)));
        assert_eq!(server.received_requests().len(), 1, "a failure is not tried again");
    }
}

#[test]
fn secrets_arrive_and_do_not_come_back() {
    let server = TestServer::start(|asked, _| {
        let seen = asked.header("authorization").unwrap_or_default();
        build_response(
            "200 OK",
            &["Content-Type: application/json", &format!("X-Seen: {seen}")],
            &json!({ "seen": seen, "line": asked.line }).to_string(),
        )
    });
    let command = json!({ "syntax": "GET /it?k=${A_TOKEN}", "headers": { "Authorization": "Bearer ${A_TOKEN}" } });
    let plan = plan(&server.url(), command, json!({}));
    assert!(!plan.to_json().to_string().contains(TOKEN) && plan.to_json().to_string().contains("${A_TOKEN}"));
    let outcome = run(plan);
    let asked = server.received_requests().pop().unwrap();
    assert_eq!(asked.header("authorization"), Some(format!("Bearer {TOKEN}").as_str()));
    assert_eq!(asked.line, format!("GET /it?k={TOKEN}"));
    let printed = format!("{outcome:?}");
    assert!(!printed.contains(TOKEN) && printed.contains("[redacted:A_TOKEN]"), "{printed}");
}

#[test]
fn a_secret_is_not_sent_in_the_clear() {
    let command = json!({ "syntax": "GET /it", "headers": { "Authorization": "Bearer ${A_TOKEN}" } });
    let outcome = run(plan("http://api.example.org", command, json!({})));
    assert_eq!((error(&outcome).code.as_str(), outcome.verdict), ("PERMISSION_DENIED", RunVerdict::Refused));
    assert!(!outcome.is_executed && error(&outcome).message.contains("A_TOKEN"));
}

#[test]
fn redirects_are_followed_to_where_the_skill_may_go() {
    let server = TestServer::start(|asked, number| match number {
        0 => build_response("302 Found", &["Location: /two?x=1"], ""),
        1 => build_response("307 Again", &["Location: three"], ""),
        _ => build_response("200 OK", &[], &format!("{} {}", asked.line, asked.body)),
    });
    let outcome = run(plan(&server.url(), json!({ "syntax": "PUT /a/one", "body": { "b": 1 } }), json!({})));
    assert_eq!(result(&outcome)["stdout"], r#"PUT /three {"b":1}"#, "the method and the body are preserved");
    for (status, line) in [
        ("301 Moved", "GET /two "),
        ("302 Found", "GET /two "),
        ("303 See", "GET /two "),
        ("308 Moved", r#"POST /two {"b":1}"#),
    ] {
        let server = TestServer::start(move |asked, number| match number {
            0 => build_response(status, &["Location: /two"], ""),
            _ => build_response("200 OK", &[], &format!("{} {}", asked.line, asked.body)),
        });
        let outcome = run(plan(&server.url(), json!({ "syntax": "POST /one", "body": { "b": 1 } }), json!({})));
        assert_eq!(result(&outcome)["stdout"], line, "{status}");
    }
}

#[test]
fn a_redirect_to_another_host_is_refused_unless_it_is_declared_and_takes_no_secret_along() {
    let other = TestServer::start(|asked, _| {
        build_response("200 OK", &[], &format!("{:?} {:?}", asked.header("authorization"), asked.header("x-b")))
    });
    let location = format!("Location: {}/two", other.url());
    let server = TestServer::start(move |_, _| build_response("302 Found", &[&location], ""));
    let command = json!({ "syntax": "GET /one", "headers": { "Authorization": "Bearer ${A_TOKEN}", "X-B": "b" } });
    let mut plan = plan(&server.url(), command, json!({}));
    let outcome = run(plan.clone());
    assert_eq!((error(&outcome).code.as_str(), outcome.verdict), ("PERMISSION_DENIED", RunVerdict::Failed));
    assert_eq!(outcome.denials[0].target, format!("127.0.0.1:{}", other.port));
    assert!(other.received_requests().is_empty());
    plan.permissions.outbound.push(HostRule { host: "127.0.0.1".to_owned(), port: Some(other.port) });
    let outcome = run(plan);
    assert_eq!(result(&outcome)["stdout"], r#"None Some("b")"#);
}

#[test]
fn a_secret_in_a_body_does_not_follow_to_another_host() {
    let other = TestServer::start(|_, _| build_response("200 OK", &[], ""));
    let location = format!("Location: {}/", other.url());
    let server = TestServer::start(move |_, _| build_response("307 Again", &[&location], ""));
    let mut plan = plan(&server.url(), json!({ "syntax": "POST /one", "body": { "t": "${A_TOKEN}" } }), json!({}));
    plan.permissions.outbound.push(HostRule { host: "127.0.0.1".to_owned(), port: Some(other.port) });
    assert_eq!(error(&run(plan)).code.as_str(), "PERMISSION_DENIED");
    assert!(other.received_requests().is_empty());
}

#[test]
fn a_circle_of_redirects_ends() {
    let server = TestServer::start(|_, _| build_response("302 Found", &["Location: /again"], ""));
    assert_eq!(error(&run(get(&server.url()))).code.as_str(), "TOO_MANY_REDIRECTS");
    assert_eq!(server.received_requests().len(), 6);
    assert_eq!(code_of(|| build_response("302 Found", &["Location: http://user@127.0.0.1/"], "")), "INVALID_RESPONSE");
    assert_eq!(code_of(|| build_response("302 Found", &["Location: file:///etc/passwd"], "")), "INVALID_RESPONSE");
}

#[test]
fn a_server_that_does_not_answer_is_waited_for_as_long_as_the_command_says() {
    let server = TestServer::start(|_, _| TestResponse::Never);
    let outcome = run(plan(&server.url(), json!({ "syntax": "GET /it", "timeout_seconds": 1 }), json!({})));
    assert_eq!((error(&outcome).code.as_str(), outcome.killed), ("TIMEOUT", Some(KillReason::Timeout)));
    assert!(error(&outcome).is_retriable && outcome.verdict == RunVerdict::Failed);
    let cancel = Cancel::default();
    let wanted = cancel.clone();
    let server = TestServer::start(move |_, _| {
        wanted.cancel();
        TestResponse::Never
    });
    let outcome = run_with(get(&server.url()), &cancel);
    assert_eq!((error(&outcome).code.as_str(), outcome.verdict), ("CANCELLED", RunVerdict::Interrupted));
}

#[test]
fn a_wait_for_another_try_can_be_cancelled() {
    let cancel = Cancel::default();
    let wanted = cancel.clone();
    let server = TestServer::start(move |_, _| {
        wanted.cancel();
        build_response("503 Busy", &["Retry-After: 20"], "")
    });
    let outcome = run_with(get(&server.url()), &cancel);
    assert_eq!(error(&outcome).code.as_str(), "CANCELLED");
}

#[test]
fn answers_are_bounded() {
    let head = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
    assert_eq!(code_of(move || TestResponse::Endless(head.clone())), "OUTPUT_TOO_LARGE");
    let head = b"HTTP/1.1 200 OK\r\nX-A: ".to_vec();
    assert_eq!(code_of(move || TestResponse::Endless(head.clone())), "INVALID_RESPONSE");
    let body = gzip(&vec![b'x'; 9 << 20]);
    let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", body.len());
    assert_eq!(code_of(move || TestResponse::Bytes([head.as_bytes(), &body].concat())), "OUTPUT_TOO_LARGE");
}

#[test]
fn compression_and_chunks_are_undone() {
    let body = gzip(br#"{"a":1}"#);
    let server = TestServer::start(move |asked, _| {
        assert_eq!(asked.header("accept-encoding"), Some("gzip"));
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        TestResponse::Bytes([head.as_bytes(), &body].concat())
    });
    assert_eq!(result(&run(get(&server.url())))["response"]["body"], json!({ "a": 1 }));
    let chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n";
    let server = TestServer::start(move |_, _| TestResponse::Bytes(chunks.as_bytes().to_vec()));
    assert_eq!(result(&run(get(&server.url())))["stdout"], "abcde");
}

#[test]
fn what_is_no_answer_is_an_error() {
    for bytes in [
        "",
        "hello",
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
        "HTTP/1.1 abc OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ] {
        let code = code_of(move || TestResponse::Bytes(bytes.as_bytes().to_vec()));
        assert!(["INVALID_RESPONSE", "CONNECTION_FAILED"].contains(&code.as_str()), "{bytes:?}: {code}");
    }
}

#[test]
fn a_busy_server_is_asked_again_where_that_does_no_harm() {
    let times = |command: Value, status: &'static str, head: &'static [&'static str]| {
        let server = TestServer::start(move |_, number| match number {
            0 | 1 => build_response(status, head, ""),
            _ => build_response("200 OK", &[], "fine"),
        });
        let outcome = run(plan(&server.url(), command, json!({})));
        (server.received_requests().len(), outcome.verdict)
    };
    let now: &[&str] = &["Retry-After: 0"];
    assert_eq!(times(json!({ "syntax": "GET /it" }), "503 Busy", now), (3, RunVerdict::Succeeded));
    assert_eq!(times(json!({ "syntax": "DELETE /it" }), "429 Slow", now), (3, RunVerdict::Succeeded));
    assert_eq!(times(json!({ "syntax": "POST /it" }), "503 Busy", now), (1, RunVerdict::Failed));
    assert_eq!(times(json!({ "syntax": "PATCH /it" }), "503 Busy", now), (1, RunVerdict::Failed));
    assert_eq!(times(json!({ "syntax": "POST /it", "idempotent": true }), "503 Busy", now), (3, RunVerdict::Succeeded));
    assert_eq!(
        times(json!({ "syntax": "GET /it" }), "503 Busy", &["Retry-After: 86400"]),
        (1, RunVerdict::Failed),
        "a long `Retry-After` is not awaited"
    );
    assert_eq!(times(json!({ "syntax": "GET /it" }), "500 Oh No", now), (1, RunVerdict::Failed));
    let server = TestServer::start(|_, _| build_response("503 Busy", &["Retry-After: 0"], ""));
    assert_eq!(error(&run(get(&server.url()))).code.as_str(), "COMMAND_FAILED");
    assert_eq!(server.received_requests().len(), 3, "twice more at most");
}

#[test]
fn nobody_there_is_told() {
    // Bound but not listening: no server answers, and no other test can get the port in the meantime.
    let socket = rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::STREAM, None).unwrap();
    rustix::net::bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = SocketAddrV4::try_from(rustix::net::getsockname(&socket).unwrap()).unwrap().port();
    let outcome = run(get(&format!("http://127.0.0.1:{port}")));
    assert_eq!(error(&outcome).code.as_str(), "CONNECTION_FAILED");
    assert!(error(&outcome).is_retriable && error(&outcome).message.contains("127.0.0.1"));
}

#[test]
fn this_machine_is_reached_by_its_name() {
    let server = TestServer::start(|_, _| build_response("200 OK", &[], "home"));
    assert_eq!(result(&run(get(&format!("http://localhost:{}", server.port))))["stdout"], "home");
}

#[test]
fn consent_is_asked_for_the_server_and_remembered_for_all_commands() {
    let base = "https://api.example.org";
    let one = get(base);
    assert_eq!(one.effective_risks(), BTreeSet::from([Risk::ExternalNetwork]));
    let GrantDecision::Ask(question) = decide(one.clone(), GrantConsent::Ask, &Approvals::default()) else {
        panic!("asks")
    };
    assert!(
        question.render_text().contains("GET https://api.example.org/it")
            && question.render_text().contains("connects to `api.example.org:443`")
    );
    assert!(matches!(decide(one.clone(), GrantConsent::Ask, &Approvals::default()), GrantDecision::Ask(_)));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("approvals.json");
    Approvals::store_for_plan(&file, &one, std::time::SystemTime::UNIX_EPOCH).unwrap();
    let approvals = Approvals::load(&file).unwrap();
    let two = plan(base, json!({ "syntax": "DELETE /other/<id>" }), json!({ "id": "7" }));
    assert!(
        matches!(decide(two, GrantConsent::Ask, &approvals), GrantDecision::Granted(_)),
        "another command of the same skill"
    );
    assert_ne!(
        compute_binding(&one),
        compute_binding(&get("https://other.example.org")),
        "another server is another question"
    );
    assert_ne!(compute_binding(&one), compute_binding(&get("http://api.example.org")));
}

#[test]
fn a_request_says_in_words_what_is_sent() {
    let mut plan = plan("https://api.example.org", json!({ "syntax": "GET /it/<id>" }), json!({ "id": "7" }));
    let words = [
        "sends `GET https://api.example.org/it/7`",
        "connects to `api.example.org:443`",
        "waits for at most 60 s",
        "redacts secrets from its output, but not personal data",
    ];
    assert_eq!(plan.describe_lines(), words);
    let PlannedWork::Request(request) = &mut plan.work else { panic!("it is a request") };
    request.variables = vec!["A_REGION".to_owned(), "A_TEAM".to_owned()];
    assert_eq!(plan.describe_lines()[2], "uses the variables A_REGION, A_TEAM");
}

#[test]
fn a_skill_that_declares_hosts_reaches_no_other() {
    let mut document = document("https://api.example.org", json!({ "syntax": "GET /it" }));
    let mut decided = |outbound: Value| {
        document["permissions"] = json!({ "network": { "outbound": outbound } });
        decide(planned(&document, &json!({})).unwrap(), GrantConsent::Given, &Approvals::default())
    };
    for other in [json!(["other.example.org"]), json!([]), json!(["api.example.org:8443"])] {
        let refused = decided(other.clone());
        assert!(
            matches!(refused, GrantDecision::Refused(refusal) if refusal.code.as_str() == "PERMISSION_DENIED"),
            "{other}"
        );
    }
    for own in [json!(["*.example.org"]), json!(["api.example.org"]), json!(["*"])] {
        assert!(matches!(decided(own.clone()), GrantDecision::Granted(_)), "{own}");
    }
}

#[test]
fn what_cannot_be_a_request_has_no_plan() {
    let code = |base: &str, command: Value| planned(&document(base, command), &json!({})).unwrap_err().code;
    assert_eq!(code("https://*.example.org", json!({ "syntax": "GET /it" })), "NO_BASE_URL");
    assert_eq!(code("https://127.1", json!({ "syntax": "GET /it" })), "INVALID_COMMAND", "an address in disguise");
    assert_eq!(code("https://0x7f000001", json!({ "syntax": "GET /it" })), "INVALID_COMMAND");
    assert_eq!(code("https://a.example", json!({ "syntax": "GET /it/<id>" })), "INVALID_ARGUMENT");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever a server sends, the run produces a reply.
    #[test]
    fn no_answer_is_too_odd(parts in proptest::collection::vec(prop_oneof![
        Just("HTTP/1.1 200 OK\r\n"), Just("HTTP/1.1 100 Continue\r\n\r\n"), Just("HTTP/1.0 301 X\r\n"), Just("HTTP/1.1 204 \r\n"),
        Just("HTTP/2 200\r\n"), Just("Content-Length: 3\r\n"), Just("Content-Length: -1\r\n"), Just("Content-Length: 99999999999999999999\r\n"),
        Just("Transfer-Encoding: chunked\r\n"), Just("Content-Encoding: gzip\r\n"), Just("Location: http://[::1\r\n"), Just("Location: /\r\n"),
        Just("Retry-After: 0\r\n"), Just("Content-Type: application/json\r\n"), Just(": x\r\n"), Just("\0\r\n"), Just("\r\n"), Just("\n"),
        Just("abc"), Just("3\r\nabc\r\n"), Just("0\r\n\r\n"), Just("ffffffffffffffff\r\n"), Just("\u{1f}\u{8b}"),
    ], 0..10)) {
        let bytes = parts.concat().into_bytes();
        let server = TestServer::start(move |_, _| TestResponse::Bytes(bytes.clone()));
        let outcome = run(get(&server.url()));
        if let RunReply::Error(error) = &outcome.reply {
            let known = ["COMMAND_FAILED", "INVALID_RESPONSE", "CONNECTION_FAILED", "TOO_MANY_REDIRECTS"];
            prop_assert!(known.contains(&error.code.as_str()), "{:?}", error);
            prop_assert!(error.message != "the answer could not be read", "the client panicked: {:?}", parts);
        }
    }
}

/// Uncompressed deflate: stored blocks.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let blocks: Vec<&[u8]> = bytes.chunks(0xffff).collect();
    for (index, block) in blocks.iter().enumerate() {
        let length = u16::try_from(block.len()).expect("blocks are small");
        out.push(u8::from(index + 1 == blocks.len()));
        out.extend(length.to_le_bytes());
        out.extend((!length).to_le_bytes());
        out.extend_from_slice(block);
    }
    let mut crc = !0_u32;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
        }
    }
    out.extend((!crc).to_le_bytes());
    out.extend(u32::try_from(bytes.len()).expect("it is small").to_le_bytes());
    out
}
