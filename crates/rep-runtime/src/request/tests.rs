#![expect(clippy::needless_pass_by_value, reason = "tests write values where they use them")]

use crate::error::ErrorCode;
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn skill(command: Value) -> Value {
    json!({
        "meta": { "name": "todo", "type": "api" },
        "environment": [
            { "name": "NOTES_API_URL", "purpose": "where", "default": "https://api.example.org/base/" },
            { "name": "NOTES_TOKEN", "purpose": "who" },
            { "name": "NOTES_REGION", "purpose": "which", "default": "eu 1" },
        ],
        "commands": { "it": command },
    })
}

fn document(value: &Value) -> SkillDocument {
    SkillDocument::from_value(value.clone(), rep_model::DocumentOrigin::Authored, Vec::new())
}

/// Binds the command `it` of a skill.
fn bind_with(
    skill: &Value,
    arguments: &Map<String, Value>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<BoundRequest, RequestError> {
    let document = &document(skill);
    let command = document.get_command("it").unwrap();
    BoundRequest::from_inputs(RequestInputs { document, command, arguments, variable })
}

fn bind_in(skill: &Value, arguments: Value) -> Result<BoundRequest, RequestError> {
    let document = document(skill);
    let command = document.get_command("it").unwrap();
    assert!(is_request_command(&document, command), "{command:?}");
    bind_with(skill, &arguments.as_object().cloned().unwrap_or_default(), &|_| None)
}

fn bind(command: Value, arguments: Value) -> Result<BoundRequest, RequestError> {
    bind_in(&skill(command), arguments)
}

fn url(syntax: &str, arguments: Value) -> String {
    match bind(json!({ "syntax": syntax }), arguments) {
        Ok(request) => request.masked_url(),
        Err(error) => error.code.as_str().to_owned(),
    }
}

fn body(command: Value, arguments: Value) -> Value {
    bind(command, arguments).unwrap().to_masked_json()["body"].clone()
}

#[test]
fn a_syntax_is_enough() {
    let request =
        bind(json!({ "syntax": "GET /v1/todos/<id>?limit=<limit>" }), json!({ "id": "t 1", "limit": 5 })).unwrap();
    assert_eq!(request.method, HttpMethod::Get);
    assert_eq!(request.masked_url(), "https://api.example.org/base/v1/todos/t%201?limit=5");
    assert!(request.body.is_none() && request.headers.is_empty());
    assert_eq!(
        url("DELETE /todos/{id}", json!({ "id": "a/b?c#d" })),
        "https://api.example.org/base/todos/a%2Fb%3Fc%23d"
    );
    assert_eq!(url("GET https://other.example:8443/x", json!({})), "https://other.example:8443/x");
    assert_eq!(url("GET http://[::1]:80/x[?a=<a>]", json!({})), "http://[::1]/x");
    assert_eq!(url("GET ${NOTES_API_URL}/x/${NOTES_REGION}", json!({})), "https://api.example.org/base/x/eu%201");
}

#[test]
fn what_is_not_given_vanishes_where_it_is_optional() {
    let base = "https://api.example.org/base/x";
    assert_eq!(url("GET /x?a=1[&limit=<n>]", json!({})), format!("{base}?a=1"));
    assert_eq!(url("GET /x?a=1[&limit=<n>]", json!({ "n": 3 })), format!("{base}?a=1&limit=3"));
    assert_eq!(url("GET /x?limit=[n]", json!({})), base);
    assert_eq!(url("GET /x?limit=[n]&b", json!({ "n": 3 })), format!("{base}?limit=3&b"));
    assert_eq!(url("GET /x[?limit=<n>]", json!({ "n": "&y=1" })), format!("{base}?limit=%26y%3D1"));
    assert_eq!(url("GET /x[/<part>] [?n=<n>]", json!({ "n": 1 })), format!("{base}?n=1"));
    assert_eq!(url("GET /x[/<part>]", json!({})), base);
    assert_eq!(url("GET /x[/<part>]", json!({ "part": "p" })), format!("{base}/p"));
    assert_eq!(url("GET /x?limit=<n>", json!({})), "INVALID_ARGUMENT");
    assert_eq!(url("GET /x?filter[state]=open&ids[]=1", json!({})), format!("{base}?filter[state]=open&ids[]=1"));
    let declared = json!({ "syntax": "GET /x?limit=<n>&s=<s>", "args": [{ "name": "n", "type": "int" }, { "name": "s", "type": "string", "default": "all" }] });
    assert_eq!(bind(declared, json!({})).unwrap().masked_url(), format!("{base}?s=all"));
}

#[test]
fn arguments_without_a_place_go_where_the_method_wants_them() {
    let args = json!([{ "name": "q", "type": "string" }, { "name": "tags", "type": "string[]" }, { "name": "n", "type": "int", "default": 9 }]);
    let given = json!({ "q": "a b", "tags": ["x", "y"] });
    let request = bind(json!({ "syntax": "GET /x", "args": args }), given.clone()).unwrap();
    assert_eq!(request.masked_url(), "https://api.example.org/base/x?q=a%20b&tags=x&tags=y");
    let request = bind(json!({ "syntax": "POST /x", "args": args }), given).unwrap();
    assert_eq!(request.to_masked_json()["body"], json!({ "q": "a b", "tags": ["x", "y"] }));
    assert_eq!(request.to_masked_json()["headers"]["Content-Type"], "application/json");
    let placed = json!({ "syntax": "POST /x", "args": [
        { "name": "a", "type": "string", "in": "query" },
        { "name": "X-Trace", "type": "string", "in": "header" },
        { "name": "c", "type": "bool", "in": "body" },
    ] });
    let shown = bind(placed, json!({ "a": "1", "X-Trace": "t", "c": true })).unwrap().to_masked_json();
    assert_eq!(shown["url"], "https://api.example.org/base/x?a=1");
    assert_eq!((&shown["headers"]["X-Trace"], &shown["body"]), (&json!("t"), &json!({ "c": true })));
    let twice =
        json!({ "syntax": "GET /x", "headers": { "x-trace": "own" }, "args": [{ "name": "X-Trace", "in": "header" }] });
    assert_eq!(bind(twice.clone(), json!({})).unwrap().to_masked_json()["headers"], json!({ "x-trace": "own" }));
    assert_eq!(bind(twice, json!({ "X-Trace": "t" })).unwrap().to_masked_json()["headers"], json!({ "X-Trace": "t" }));
}

#[test]
fn a_body_is_a_template_of_typed_values() {
    let args = json!([{ "name": "n", "type": "int" }, { "name": "who", "type": "string" }, { "name": "list", "type": "array" }, { "name": "more", "type": "string" }]);
    let template =
        json!({ "n": "<n>", "greeting": "Hello <who>", "all": ["<list>", "<n>"], "fixed": true, "html": "<b>" });
    let command = json!({ "syntax": "POST /x", "args": args, "body": template });
    let given = json!({ "n": 3, "who": "\"<n>\"", "list": ["<who>"] });
    let wanted = json!({ "n": 3, "greeting": "Hello \"<n>\"", "all": [["<who>"], 3], "fixed": true, "html": "<b>" });
    assert_eq!(body(command.clone(), given), wanted);
    let wanted = json!({ "all": [], "fixed": true, "html": "<b>", "more": "<n>" });
    assert_eq!(body(command, json!({ "more": "<n>" })), wanted);
}

#[test]
fn secrets_stay_names_until_the_request_is_sent() {
    let command = json!({
        "method": "POST",
        "path": "/x",
        "query": { "key": "${NOTES_TOKEN}" },
        "headers": { "Authorization": "Bearer ${NOTES_TOKEN}", "X-Region": "${NOTES_REGION}" },
        "body": { "token": "t=${NOTES_TOKEN}" },
        "args": [],
    });
    let mut document = skill(command.clone());
    let request = bind_in(&document, json!({})).unwrap();
    assert_eq!(
        request.to_masked_json(),
        json!({
            "method": "POST",
            "url": "https://api.example.org/base/x?key=${NOTES_TOKEN}",
            "headers": { "Authorization": "Bearer ${NOTES_TOKEN}", "X-Region": "eu 1", "Content-Type": "application/json" },
            "body": { "token": "t=${NOTES_TOKEN}" },
        })
    );
    assert_eq!(request.secrets, [("NOTES_TOKEN".to_owned(), false)], "the body needs it");
    let filled = request.fill_secrets(|_| Some("a\"&b".to_owned())).unwrap();
    assert_eq!(filled.url, "https://api.example.org/base/x?key=a%22%26b");
    assert_eq!(filled.body.as_deref(), Some(r#"{"token":"t=a\"&b"}"#));
    assert_eq!(filled.headers[0].1, "Bearer a\"&b");
    assert!(request.fill_secrets(|_| None).is_none());
    assert!(request.fill_secrets(|_| Some("a\r\nX: y".to_owned())).is_none(), "a secret cannot inject headers");
    document["commands"]["it"].as_object_mut().unwrap().remove("body");
    let request = bind_in(&document, json!({})).unwrap();
    assert_eq!(request.secrets, [("NOTES_TOKEN".to_owned(), true)]);
    let filled = request.fill_secrets(|_| None).unwrap();
    assert_eq!((filled.url.as_str(), filled.headers.len()), ("https://api.example.org/base/x", 1));
    document["environment"][1]["required"] = true.into();
    assert_eq!(bind_in(&document, json!({})).unwrap().secrets, [("NOTES_TOKEN".to_owned(), false)]);
    for path in ["/x/${NOTES_TOKEN}", "/x?a=${UNKNOWN}"] {
        assert_eq!(
            bind(json!({ "method": "GET", "path": path }), json!({})).unwrap_err().code,
            ErrorCode::InvalidCommand
        );
    }
}

#[test]
fn the_base_is_found_in_one_order() {
    let bound = |skill: &Value, variable: &dyn Fn(&str) -> Option<String>| {
        bind_with(skill, &Map::new(), variable).map(|request| request.masked_url())
    };
    let mut document = skill(json!({ "syntax": "GET /x" }));
    document["api"] = json!({ "base_url": "https://third.example", "headers": { "Accept": "text/plain" } });
    let asked = |name: &str| (name == "NOTES_API_URL").then(|| "http://127.0.0.1:8787/".to_owned());
    assert_eq!(bound(&document, &asked).unwrap(), "http://127.0.0.1:8787/x");
    let request = bind_with(&document, &Map::new(), &asked).unwrap();
    assert_eq!(request.variables, ["NOTES_API_URL"], "the confirmation lists the used variables");
    assert_eq!(bound(&document, &|_| None).unwrap(), "https://api.example.org/base/x");
    document["environment"] = json!([]);
    assert_eq!(bound(&document, &|_| None).unwrap(), "https://third.example/x");
    assert_eq!(bind_in(&document, json!({})).unwrap().to_masked_json()["headers"]["Accept"], "text/plain");
    document.as_object_mut().unwrap().remove("api");
    assert_eq!(bound(&document, &|_| None).unwrap_err().code, ErrorCode::NoBaseUrl);
    for base in ["ftp://x", "https://user@x/", "https://x/?q", "https://", "https://x:0", "https://a b/", "x"] {
        document["api"] = json!({ "base_url": base });
        assert_eq!(bound(&document, &|_| None).unwrap_err().code, "NO_BASE_URL", "{base}");
    }
}

#[test]
fn what_could_lead_elsewhere_is_refused() {
    for (syntax, id) in [
        ("GET /x/<id>", ".."),
        ("GET /x/<id>/y", "."),
        ("GET /x/.<id>", "."),
        ("DELETE /x/<id>", ""),
        ("DELETE /x/<id>/y", ""),
        ("GET /x/%2e%2E/y?a=<id>", "1"),
    ] {
        assert_eq!(url(syntax, json!({ "id": id })), "INVALID_ARGUMENT", "{syntax} {id}");
    }
    for syntax in [
        "GET /x HTTP/1.1",
        "POST /x {\"a\": 1}",
        "GET /x\nGET /y",
        "GET https://<id>.example.org/",
        "GET https://a.org:<id>/",
        "GET https://u@a.org/",
        "GET /x?<id>=1",
    ] {
        assert_eq!(url(syntax, json!({ "id": "1" })), "INVALID_COMMAND", "{syntax}");
    }
    let header = |name: &str, value: &str| {
        let command =
            json!({ "syntax": "GET /x", "headers": { name: "v=<id>" }, "args": [{ "name": "id", "type": "string" }] });
        bind(command, json!({ "id": value })).map_err(|error| error.code).map(|request| request.headers.len())
    };
    assert_eq!(header("X-A", "b"), Ok(1));
    for value in ["a\r\nX: y", "a\nb", "\u{0}", "\u{7f}"] {
        assert_eq!(header("X-A", value), Err(ErrorCode::InvalidArgument));
    }
    for name in ["Host", "content-length", "Transfer-Encoding", "Proxy-Authorization", "X A", "X:", ""] {
        assert_eq!(header(name, "b"), Err(ErrorCode::InvalidCommand), "{name}");
    }
}

#[test]
fn arguments_are_held_against_their_declarations() {
    let command = json!({ "syntax": "GET /x/:id", "args": [
        { "name": "id", "type": "string", "required": true },
        { "name": "limit", "type": "int" },
        { "name": "state", "type": "enum", "values": ["open", "done"] },
    ] });
    assert!(
        bind(command.clone(), json!({ "id": "7", "limit": 3, "state": "open" }))
            .unwrap()
            .masked_url()
            .ends_with("/x/7?limit=3&state=open")
    );
    for (bad, told) in [
        (json!({}), "`id` is missing"),
        (json!({ "id": 7 }), "`id` is 7, not text"),
        (json!({ "id": "7", "limit": "3" }), "not a whole number"),
        (json!({ "id": "7", "limit": 3.5 }), "not a whole number"),
        (json!({ "id": "7", "state": "shut" }), "not one of its values"),
        (json!({ "id": "7", "limits": 3 }), "unknown argument `limits`"),
    ] {
        let error = bind(command.clone(), bad).unwrap_err();
        assert!(error.code == "INVALID_ARGUMENT" && error.message.contains(told), "{error}");
    }
}

#[test]
fn only_api_and_hybrid_skills_have_requests() {
    let is_one = |kind: &str, command: Value| {
        let mut skill = skill(command);
        skill["meta"]["type"] = kind.into();
        let document = document(&skill);
        is_request_command(&document, document.get_command("it").unwrap())
    };
    for (kind, expected) in [("api", true), ("hybrid", true), ("cli", false), ("knowledge", false)] {
        assert_eq!(is_one(kind, json!({ "syntax": "GET /x" })), expected, "{kind}");
    }
    for syntax in ["git log", "GET", "get /x", "GET x", "FETCH /x"] {
        assert!(!is_one("hybrid", json!({ "syntax": syntax, "path": "bin/x" })), "{syntax}");
        assert!(is_one("hybrid", json!({ "syntax": syntax, "method": "GET", "path": "/x" })), "{syntax}");
    }
}

/// A request that contains a value in every possible place.
fn everywhere() -> Value {
    json!({
        "syntax": "PUT /a/<v>/b/x-{v}.json?one=<v>[&two=<v>]&three=a<v>b",
        "query": { "four": "<v>" },
        "headers": { "X-One": "<v>" },
        "body": { "one": "<v>", "two": "a <v> b", "three": ["<v>"] },
        "args": [{ "name": "v", "type": "string", "required": true }],
    })
}

proptest! {
    /// Whatever an argument contains, the request has the same shape or is refused.
    #[test]
    fn no_value_changes_the_shape_of_a_request(value in ".*|[./%\\\\&=#?<>{}$\\[\\]\r\n@: ]{0,12}|(\\.\\.?|%2e|/|<v>|\\$\\{NOTES_TOKEN\\}){1,4}") {
        if let Ok(request) = bind(everywhere(), json!({ "v": value })) {
            prop_assert_eq!(request.origin.to_string(), "https://api.example.org");
            let url = request.masked_url();
            prop_assert!(url.bytes().all(|byte| byte.is_ascii_graphic()));
            let (before, query) = url.split_once('?').unwrap();
            prop_assert!(!url.contains('#'));
            let path = before.strip_prefix("https://api.example.org").unwrap();
            prop_assert_eq!(path.split('/').count(), 6, "{}", path);
            prop_assert!(path.split('/').skip(1).all(|part| !part.is_empty() && part != ".." && part != "."));
            let keys: Vec<&str> = query.split('&').map(|pair| pair.split_once('=').unwrap().0).collect();
            prop_assert_eq!(keys, ["one", "two", "three", "four"]);
            let names: Vec<&str> = request.headers.iter().map(|(name, _)| name.as_str()).collect();
            prop_assert_eq!(names, ["X-One", "Content-Type"]);
            prop_assert!(request.secrets.is_empty(), "a value cannot name a secret");
            let filled = request.fill_secrets(|_| None).unwrap();
            prop_assert!(!filled.headers.iter().any(|(_, text)| text.contains(['\r', '\n', '\0'])));
            let body: Value = serde_json::from_str(&filled.body.unwrap()).unwrap();
            prop_assert_eq!(body, json!({ "one": value, "two": format!("a {value} b"), "three": [value] }));
        }
    }

    /// Whatever an author writes, parsing finishes.
    #[test]
    fn any_template_is_read(syntax in "GET [/h].{0,40}", header in ".{0,20}", body in ".{0,20}") {
        let command = json!({ "syntax": syntax, "headers": { "X-A": header }, "body": { "a": body }, "args": [{ "name": "a" }] });
        let _ = bind_with(&skill(command), &Map::new(), &|_| None);
    }
}
