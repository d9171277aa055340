#![expect(clippy::needless_pass_by_value, reason = "values are written where they are used")]

use crate::error::ErrorCode;
use rep_model::DocumentOrigin;
use serde_json::{Value, json};

use super::*;

fn document(value: Value) -> SkillDocument {
    SkillDocument::from_value(value, DocumentOrigin::Authored, Vec::new())
}

/// A document with one command, `x`.
fn one(syntax: &str, more: &Value) -> SkillDocument {
    let mut command = json!({ "syntax": syntax });
    for (key, value) in more.as_object().into_iter().flatten() {
        command[key] = value.clone();
    }
    document(json!({
        "state": { "entities": [{ "name": "ref", "format": "@e{n}" }] },
        "global_flags": [
            { "name": "--json", "type": "bool" },
            { "name": "--proxy", "type": "string", "env": "X_PROXY" },
            { "name": "--key", "type": "string", "env": "X_API_KEY" },
        ],
        "commands": { "x": command },
    }))
}

fn bound(document: &SkillDocument, arguments: &Value) -> Result<Vec<String>, BindError> {
    let lookup = |name: &str| (name == "X_SET" || name == "X_API_KEY").then(|| "from-env".to_owned());
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    bind_command(document, "x", &arguments, &lookup).map(|bound| bound.argv().into_iter().map(str::to_owned).collect())
}

fn argv(syntax: &str, more: Value, arguments: Value) -> Vec<String> {
    bound(&one(syntax, &more), &arguments).unwrap_or_else(|error| panic!("{syntax}: {error:?}"))
}

fn code(syntax: &str, more: Value, arguments: Value) -> ErrorCode {
    bound(&one(syntax, &more), &arguments).expect_err(syntax).code
}

#[test]
fn slots_groups_and_flags_are_filled_or_vanish() {
    let flags = json!({ "flags": [{ "name": "-i", "long": "--interactive", "type": "bool" }, { "name": "-d", "long": "--depth", "type": "int" }] });
    let syntax = "b snapshot [-i] [-c] [-d depth] [-s selector]";
    assert_eq!(argv(syntax, flags.clone(), json!({})), ["b", "snapshot"]);
    assert_eq!(argv(syntax, flags.clone(), json!({ "-i": true, "-d": 3 })), ["b", "snapshot", "-i", "-d", "3"]);
    assert_eq!(
        argv(syntax, flags.clone(), json!({ "interactive": true, "depth": 3 })),
        ["b", "snapshot", "-i", "-d", "3"]
    );
    assert_eq!(argv(syntax, flags.clone(), json!({ "-i": false, "s": "a b" })), ["b", "snapshot", "-s", "a b"]);
    assert_eq!(argv(syntax, flags, json!({ "c": true, "--json": true })), ["b", "snapshot", "-c", "--json"]);
    assert_eq!(argv("b go [--to=<place>] [<why>]", json!({}), json!({ "place": "-x" })), ["b", "go", "--to=-x"]);
    assert_eq!(argv("b go --to <place>", json!({}), json!({ "--to": "x" })), ["b", "go", "--to", "x"]);
    // The syntax does not say that `-f` takes a value: the next word may be separate.
    assert_eq!(code("rm -f <file>", json!({}), json!({ "file": "-r" })), "INVALID_ARGUMENT");
    let untyped = json!({ "flags": [{ "name": "--all" }] });
    assert_eq!(argv("b go", untyped.clone(), json!({ "all": true })), ["b", "go", "--all"]);
    assert_eq!(code("b go", untyped, json!({ "all": "-r" })), "INVALID_ARGUMENT");
    let to = json!({ "flags": [{ "name": "--to", "type": "string" }] });
    assert_eq!(argv("b go --to <place>", to, json!({ "--to": "-x" })), ["b", "go", "--to", "-x"]);
    assert_eq!(argv("b go [-i|--all]", json!({}), json!({ "all": true })), ["b", "go", "--all"]);
    assert_eq!(code("b go [--a|--b]", json!({}), json!({ "a": true, "b": true })), "INVALID_ARGUMENT");
}

#[test]
fn a_variadic_belongs_to_the_list() {
    let args = json!({ "args": [{ "name": "ref", "type": "ref", "required": true }, { "name": "values", "type": "string[]", "required": true }] });
    for syntax in [
        "b select <ref> <value...>",
        "b select <ref> <value>...",
        "b select <ref> <things...>",
        "b select <ref> [values...]",
    ] {
        let found = argv(syntax, args.clone(), json!({ "ref": "@e1", "values": ["a", "b c"] }));
        assert_eq!(found, ["b", "select", "@e1", "a", "b c"], "{syntax}");
    }
    assert_eq!(code("b s <ref> <value...>", args.clone(), json!({ "ref": "@e1", "values": "a" })), "INVALID_ARGUMENT");
    assert_eq!(code("b s <ref> <value...>", args, json!({ "ref": "@e1", "values": [] })), "INVALID_ARGUMENT");
    let flag = json!({ "flags": [{ "name": "--header", "type": "string[]" }] });
    assert_eq!(argv("b get", flag, json!({ "header": ["a", "b"] })), ["b", "get", "--header", "a", "--header", "b"]);
}

#[test]
fn types_and_values_are_checked() {
    let scroll = json!({ "args": [{ "name": "direction", "type": "enum", "values": ["up", "down"], "required": true }, { "name": "pixels", "type": "int", "default": 300 }] });
    let syntax = "b scroll <direction> [pixels]";
    assert_eq!(argv(syntax, scroll.clone(), json!({ "direction": "down" })), ["b", "scroll", "down", "300"]);
    assert_eq!(argv(syntax, scroll.clone(), json!({ "direction": "up", "pixels": -5.0 })), ["b", "scroll", "up", "-5"]);
    for wrong in [
        json!({ "direction": "sideways" }),
        json!({}),
        json!({ "direction": "up", "pixels": "5" }),
        json!({ "direction": "up", "pixels": 1.5 }),
        json!({ "direction": null }),
        json!({ "direction": "up", "pixel_s": 1, "pixels": 2 }),
    ] {
        assert_eq!(code(syntax, scroll.clone(), wrong.clone()), "INVALID_ARGUMENT", "{wrong}");
    }
    let reference = json!({ "args": [{ "name": "ref", "type": "ref" }] });
    assert_eq!(argv("b click <ref>", reference.clone(), json!({ "ref": "@e12" })), ["b", "click", "@e12"]);
    for wrong in ["@e", "@e1x", "e1", "<text>", ""] {
        assert_eq!(code("b click <ref>", reference.clone(), json!({ "ref": wrong })), "INVALID_ARGUMENT", "{wrong}");
    }
    assert_eq!(argv("b {up|down}", json!({}), json!({ "up|down": "up" })), ["b", "up"]);
    assert_eq!(code("b (up|down)", json!({}), json!({ "up|down": "left" })), "INVALID_ARGUMENT");
    let way = json!({ "args": [{ "name": "way", "type": "enum", "values": ["up", "down"] }] });
    assert_eq!(argv("b {up|down}", way, json!({ "way": "up" })), ["b", "up"]);
}

#[test]
fn forms_are_told_apart_whatever_they_hold() {
    for (format, word, is_fit) in [
        ("@e{n}", "@e12", true),
        ("@e{n}", "@e", false),
        ("{a}-{b}", "x-y-z", true),
        ("{a}-{b}", "x", false),
        ("t{n}.{x}", "t1.a", true),
        ("plain", "plain", true),
        ("{open", "{open", true),
    ] {
        assert_eq!(matches_format(format, word), is_fit, "{format} {word}");
    }
    // Both take time linear in their length.
    assert!(!matches_format(&"{a}".repeat(60), &format!("{} ", "a".repeat(10_000))));
}

#[test]
fn what_is_unknown_is_refused_with_the_nearest_name() {
    let error = bound(&one("b open <url>", &json!({})), &json!({ "urll": "x" })).unwrap_err();
    assert_eq!((error.code, error.remedy.as_str()), (ErrorCode::InvalidArgument, "did you mean `url`?"));
    let error = bound(&one("b open <url>", &json!({})), &json!({})).unwrap_err();
    assert!(error.message.contains("`url` is missing"), "{error:?}");
}

#[test]
fn values_stay_what_they_are() {
    for value in ["<text>", "$(id)", "a b", "'", "\"", "a\nb", "[x]", "", "`id`", "{a|b}", "é"] {
        let found = argv("b fill <ref> <text>", json!({}), json!({ "ref": value, "text": "<ref>" }));
        assert_eq!(found, ["b", "fill", value, "<ref>"]);
    }
    for value in ["-x", "--", "--json", "-1"] {
        assert_eq!(code("b fill <text>", json!({}), json!({ "text": value })), "INVALID_ARGUMENT", "{value}");
        assert_eq!(
            argv("b fill -- <text>", json!({}), json!({ "text": value, "--json": true })),
            ["b", "fill", "--json", "--", value]
        );
    }
    assert_eq!(argv("b cat <file>", json!({}), json!({ "file": "-" })), ["b", "cat", "-"]);
    assert_eq!(code("b fill <text>", json!({}), json!({ "text": "a\0b" })), "INVALID_ARGUMENT");
    assert_eq!(
        argv("b set \"<device name>\" 'a b'", json!({}), json!({ "device name": "i 14" })),
        ["b", "set", "i 14", "a b"]
    );
}

#[test]
fn an_optional_word_cannot_slip_into_the_place_of_another() {
    let args = json!({ "args": [{ "name": "one" }, { "name": "two", "default": "2" }] });
    let syntax = "b go [one] [two]";
    assert_eq!(argv(syntax, args.clone(), json!({})), ["b", "go"]);
    assert_eq!(argv(syntax, args.clone(), json!({ "one": "1" })), ["b", "go", "1", "2"]);
    assert_eq!(code(syntax, args.clone(), json!({ "two": "x" })), "INVALID_ARGUMENT");
    // Parameters that the syntax does not show follow its words.
    assert_eq!(argv("b go", args, json!({ "one": "1", "two": "x", "--json": true })), ["b", "go", "1", "x", "--json"]);
}

#[test]
fn flags_may_come_from_a_variable_and_credentials_may_not() {
    let flags = json!({ "flags": [{ "name": "--home", "type": "string", "env": "X_SET" }, { "name": "--none", "env": "X_UNSET" }] });
    assert_eq!(argv("b go", flags.clone(), json!({})), ["b", "go", "--home", "from-env"]);
    assert_eq!(
        argv("b [options] go", flags, json!({ "home": "h", "proxy": "p" })),
        ["b", "--home", "h", "--proxy", "p", "go"]
    );
}

#[test]
fn variants_and_lines_are_ways_to_write_a_command() {
    let wait = json!({ "variants": [{ "syntax": "wait --text <text>" }, { "syntax": "wait --load networkidle" }] });
    let syntax = "b wait <ref|ms|--flag>";
    assert_eq!(argv(syntax, wait.clone(), json!({ "ms": 5 })), ["b", "wait", "5"]);
    assert_eq!(argv(syntax, wait.clone(), json!({ "text": "hi" })), ["b", "wait", "--text", "hi"]);
    assert_eq!(
        argv(syntax, wait.clone(), json!({ "--load": "networkidle", "json": true })),
        ["b", "wait", "--load", "networkidle", "--json"]
    );
    assert_eq!(code(syntax, wait, json!({ "--load": "x" })), "INVALID_ARGUMENT");
    assert_eq!(argv("b get <a>\nb put <b>", json!({}), json!({ "b": "1" })), ["b", "put", "1"]);
}

#[test]
fn a_syntax_that_wants_a_shell_is_the_authors_to_mend() {
    for syntax in [
        "",
        "b | c",
        "b > f",
        "b && c",
        "b; c",
        "b $HOME",
        "b `id`",
        "<program> x",
        "A=1 b",
        "b <x",
        "b [x",
        "b \"x",
        "b <>",
        "b $(id)",
        "-x",
    ] {
        assert_eq!(code(syntax, json!({}), json!({})), "INVALID_COMMAND", "{syntax}");
    }
}

#[test]
fn a_template_takes_its_arguments_in_order() {
    let document = document(json!({ "templates": {
        "auth": { "path": "a.sh", "args": [{ "name": "login-url", "required": true }, { "name": "state-file", "default": "./s.json" }] },
        "inline": { "inline": "x", "usage": "./x.sh <url> [out]" },
    } }));
    let words =
        |name: &str, arguments: Value| bind_template(&document, name, arguments.as_object().unwrap(), &|_| None);
    assert_eq!(words("auth", json!({ "login_url": "u" })).unwrap(), ["u", "./s.json"]);
    assert_eq!(words("auth", json!({})).unwrap_err().code, ErrorCode::InvalidArgument);
    assert_eq!(words("inline", json!({ "url": "u" })).unwrap(), ["u"]);
    assert_eq!(words("inline", json!({ "x": "u" })).unwrap_err().code, ErrorCode::InvalidArgument);
}

#[test]
fn the_words_of_a_step_become_arguments() {
    let document = one(
        "b scroll <direction> [pixels] [-i] [-d depth]",
        &json!({ "aliases": ["go"], "args": [{ "name": "direction" }, { "name": "pixels", "type": "int" }] }),
    );
    let read = |text: &str| {
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        parse_step_arguments(&document, "x", &words).map(Value::Object)
    };
    assert_eq!(read("x up 5 -i -d 3").unwrap(), json!({ "direction": "up", "pixels": 5, "-i": true, "-d": "3" }));
    assert_eq!(read("b go up --json").unwrap(), json!({ "direction": "up", "--json": true }));
    assert_eq!(read("x up 5 6").unwrap_err().code, ErrorCode::InvalidArgument);
    assert_eq!(read("x up --no").unwrap_err().code, ErrorCode::InvalidArgument);
}

#[test]
fn variables_are_read_with_their_care() {
    let document = document(
        json!({ "environment": [{ "name": "A_MODE", "default": 3 }, { "name": "A_API_KEY" }, { "name": "B", "secret": true, "required": true }, "C", { "name": "C" }, {}] }),
    );
    let found = collect_variables(&document);
    let names: Vec<(&str, bool)> = found.iter().map(|one| (one.name.as_str(), one.is_secret)).collect();
    assert_eq!(names, [("A_MODE", false), ("A_API_KEY", true), ("B", true), ("C", false)]);
    assert_eq!((found[0].default.as_deref(), found[2].is_required), (Some("3"), true));
    for plain in ["MONKEY", "KEYBOARD_LAYOUT", "PWD", "OLDPWD", "AUTHOR", "PATH", "PATTERN", "COMPASS"] {
        assert!(!is_secret_name(plain), "{plain}");
    }
    for secret in [
        "PGPASSWORD",
        "GITHUB_PAT",
        "REDISCLI_AUTH",
        "NPM_CONFIG__AUTH",
        "SLACK_WEBHOOK_URL",
        "MYSQL_PWD",
        "SENTRY_DSN",
    ] {
        assert!(is_secret_name(secret), "{secret}");
    }
    for secret in ["postgres://u:p@h/db", "https://x:y@h", "ghp_0123456789abcdefghij", "-----BEGIN PRIVATE KEY-----\nx"]
    {
        assert!(is_secret_value(secret), "{secret}");
    }
    for plain in ["postgres://h/db", "https://user@h/a:b@c", "mailto:a@b", "sk-short", "", "://@", "a://b@"] {
        assert!(!is_secret_value(plain), "{plain}");
    }
}

#[test]
fn what_a_command_takes_is_told_as_far_as_its_author_says() {
    let more = json!({
        "args": ["where", { "name": "count", "type": "int", "required": true, "default": 3 }],
        "flags": [
            { "name": "--style", "values": ["a", "b"], "required": true, "description": "How it looks" },
            { "name": "--tags", "type": "string[]" },
            { "name": "--token", "type": "string", "required": true, "env": "GO_TOKEN" },
            { "type": "string" },
        ],
    });
    let document = one("go <where> [--speed N]", &more);
    let command = document.get_command("x").unwrap();
    let described = describe_parameters(&document, &command.arguments, &command.flags);
    let told: Vec<Value> = described.into_iter().map(|one| json!([one.name, one.schema, one.is_needed])).collect();
    let expected = json!([
        ["where", {}, false],
        ["count", { "type": "integer", "default": 3 }, false],
        ["--style", { "description": "How it looks", "enum": ["a", "b"] }, true],
        ["--tags", { "type": "array", "items": { "type": "string" } }, false],
        ["--token", { "type": "string" }, false],
    ]);
    assert_eq!(Value::from(told), expected);
}
