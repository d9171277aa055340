use rep_model::{Skill, SkillTree};
use serde_json::json;

use super::*;

fn planned(front: &str, tool: &Value) -> Result<Plan, PlanError> {
    let text = format!("---\nname: a\ndescription: b\n{front}---\n");
    let (skill, _) = Skill::parse(SkillTree::from_texts("a", &[("SKILL.md", &text)]));
    let call = ToolPlanInput {
        skill: "a",
        digest: "d",
        folder: Path::new("/skills/a"),
        front: skill.frontmatter().unwrap(),
        tool,
        workspace: Path::new("/work"),
        input: json!({}),
    };
    Plan::from_tool(call)
}

fn tool(implementation: &Value) -> Value {
    json!({ "name": "t", "description": "T.", "input_schema": { "type": "object" }, "implementation": implementation })
}

fn bash() -> Value {
    tool(&json!({ "runtime": "bash", "entrypoint": "scripts/a.sh" }))
}

#[test]
fn what_is_not_declared_is_denied_confirmed_and_redacted() {
    let plan = planned("", &bash()).unwrap();
    assert_eq!(plan.permissions, RunPermissions::default());
    assert_eq!(plan.confirm, BTreeSet::from([Risk::DestructiveWrites, Risk::ExternalNetwork]));
    assert_eq!(plan.redaction, Redaction { secrets: true, pii: true });
    assert_eq!((plan.work.tool().unwrap().handler.as_str(), plan.limits), ("handler", RunLimits::default()));
    // Nothing needs confirmation, because the tool may neither write nor connect.
    assert_eq!(plan.effective_risks(), BTreeSet::new());
}

#[test]
fn safety_that_cannot_be_read_is_read_safely() {
    for (front, confirm) in [
        ("safety: {}\n", vec![Risk::DestructiveWrites, Risk::ExternalNetwork]),
        ("safety: no\n", vec![Risk::DestructiveWrites, Risk::ExternalNetwork]),
        ("safety: {require_confirmation_for: false}\n", vec![Risk::DestructiveWrites, Risk::ExternalNetwork]),
        ("safety: {require_confirmation_for: []}\n", vec![]),
        ("safety: {require_confirmation_for: [external_network]}\n", vec![Risk::ExternalNetwork]),
        ("safety: {require_confirmation_for: [launching_rockets]}\n", vec![Risk::Always]),
    ] {
        let plan = planned(front, &bash()).unwrap();
        assert_eq!(plan.confirm, confirm.into_iter().collect(), "{front}");
        assert_eq!(plan.redaction, Redaction { secrets: true, pii: true }, "{front}");
    }
    let plan = planned("safety: {redact: {secrets: \"false\", pii: false}}\n", &bash()).unwrap();
    assert_eq!(plan.redaction, Redaction { secrets: true, pii: false });
}

#[test]
fn permissions_that_cannot_be_read_grant_nothing_and_are_told() {
    let front = "permissions:\n  filesystem: {read: ['!x', 'docs/**', '/etc/**', 5, {a: b}], write: output/**}\n  \
                 network: {outbound: [API.Example.org., 'a b', 'x:0', '*.foo.dev:443', '*x']}\n  \
                 processes: {allow_subprocess: 'yes'}\n";
    let plan = planned(front, &bash()).unwrap();
    let read: Vec<&str> = plan.permissions.read.iter().map(rep_permissions::Glob::as_str).collect();
    assert_eq!(read, ["5", "docs/**"]);
    assert!(plan.permissions.write.is_empty() && !plan.permissions.allow_subprocess);
    let outbound: Vec<String> = plan.permissions.outbound.iter().map(ToString::to_string).collect();
    assert_eq!(outbound, ["*.foo.dev:443", "api.example.org"]);
    let ignored: Vec<&str> = plan.ignored.iter().map(|ignored| ignored.value.as_str()).collect();
    assert_eq!(ignored, ["!x", "/etc/**", "{\"a\":\"b\"}", "output/**", "a b", "x:0", "*x", "yes"]);
}

#[test]
fn entrypoints_fit_their_runtime_and_stay_in_the_skill() {
    for (runtime, entrypoint, is_fine) in [
        ("python", "scripts/a.py", true),
        ("python", "scripts/a.js", false),
        ("node", "a.js", true),
        ("node", "a.mjs", true),
        ("node", "a.ts", false),
        ("bash", "a.sh", true),
        ("bash", "a.py", false),
        ("ruby", "a.rb", false),
        ("python", "../a.py", false),
        ("python", "scripts/../../a.py", false),
        ("python", "/usr/lib/a.py", false),
        ("python", "~/a.py", false),
        ("python", "a\0.py", false),
        ("python", "", false),
    ] {
        let tool = tool(&json!({ "runtime": runtime, "entrypoint": entrypoint }));
        assert_eq!(planned("", &tool).is_ok(), is_fine, "{runtime} {entrypoint:?}");
    }
    let typescript = tool(&json!({ "runtime": "node", "entrypoint": "a.ts" }));
    let front = |runner: &str| format!("host_overrides: [{{host: x, config: {{typescript_runner: {runner}}}}}]\n");
    assert_eq!(
        planned(&front("bun"), &typescript).unwrap().work.tool().unwrap().typescript_runner.as_deref(),
        Some("bun")
    );
    // A TypeScript runner runs only TypeScript, and only for its runtime.
    for (runtime, entrypoint) in [("node", "a.txt"), ("python", "a.ts"), ("bash", "a.ts")] {
        let other = tool(&json!({ "runtime": runtime, "entrypoint": entrypoint }));
        assert!(planned(&front("bun"), &other).is_err(), "{runtime} {entrypoint}");
    }
    let error = planned(&front("false"), &typescript).unwrap_err();
    assert_eq!(error.field, "implementation.entrypoint");
    assert!(error.remedy.contains("typescript_runner"), "{error:?}");
}

#[test]
fn a_fault_names_its_field() {
    for (change, field) in [
        (json!({ "name": 5 }), "name"),
        (json!({ "name": "" }), "name"),
        (json!({ "input_schema": null }), "input_schema"),
        (json!({ "input_schema": [] }), "input_schema"),
        (json!({ "output_schema": "x" }), "output_schema"),
        (json!({ "confirmation": { "level": "sometimes" } }), "confirmation.level"),
        (json!({ "implementation": 1 }), "implementation.runtime"),
        (json!({ "implementation": { "runtime": "bash" } }), "implementation.entrypoint"),
        (
            json!({ "implementation": { "runtime": "bash", "entrypoint": "a.sh", "timeout_seconds": 0 } }),
            "implementation.timeout_seconds",
        ),
        (
            json!({ "implementation": { "runtime": "bash", "entrypoint": "a.sh", "timeout_seconds": 1.5 } }),
            "implementation.timeout_seconds",
        ),
        (
            json!({ "implementation": { "runtime": "bash", "entrypoint": "a.sh", "timeout_seconds": 1e300 } }),
            "implementation.timeout_seconds",
        ),
        (
            json!({ "implementation": { "runtime": "python", "entrypoint": "a.py", "handler": "x; y" } }),
            "implementation.handler",
        ),
    ] {
        let mut broken = bash();
        for (key, value) in change.as_object().unwrap() {
            broken[key] = value.clone();
        }
        assert_eq!(planned("", &broken).unwrap_err().field, field, "{change}");
    }
    let slow = tool(&json!({ "runtime": "bash", "entrypoint": "a.sh", "timeout_seconds": 300.0 }));
    assert_eq!(planned("", &slow).unwrap().limits.timeout_ms, 300_000);
}

#[test]
fn secrets_are_variables_of_their_own() {
    let front = |items: &str| format!("secrets: {{required: [{items}]}}\n");
    let plan = planned(&front("{name: B, usage: env, optional: true}, {name: A, usage: env}, {name: B}"), &bash());
    let need = |name: &str, is_optional| SecretNeed { name: name.to_owned(), is_optional };
    assert_eq!(plan.unwrap().secrets, [need("A", false), need("B", false)]);
    for (items, field) in [
        ("{name: A, usage: file}", "secrets.required[0].usage"),
        ("{name: A}, {name: LD_PRELOAD}", "secrets.required[1].name"),
        ("{name: PATH}", "secrets.required[0].name"),
        ("{name: 'A=B'}", "secrets.required[0].name"),
        ("A", "secrets.required[0].name"),
    ] {
        assert_eq!(planned(&front(items), &bash()).unwrap_err().field, field, "{items}");
    }
}

#[test]
fn a_level_of_a_tool_adds_to_the_skills_demands() {
    let front =
        "permissions: {filesystem: {write: ['o/**']}}\nsafety: {require_confirmation_for: [destructive_writes]}\n";
    let with = |level: &str| {
        let mut tool = bash();
        tool["confirmation"] = json!({ "level": level, "prompt": "Sure?" });
        planned(front, &tool).unwrap().effective_risks()
    };
    assert_eq!(with("never"), BTreeSet::from([Risk::DestructiveWrites]));
    assert_eq!(with("external_network"), BTreeSet::from([Risk::DestructiveWrites]));
    assert_eq!(with("always"), BTreeSet::from([Risk::DestructiveWrites, Risk::Always]));
}

#[test]
fn a_handler_is_the_name_of_a_function() {
    let long = "a".repeat(128);
    let handler = |name: &Value| {
        let tool = tool(&json!({ "runtime": "node", "entrypoint": "a.js", "handler": name }));
        planned("", &tool).map(|plan| plan.work.tool().unwrap().handler.clone())
    };
    for name in ["run", "_run", "$run", "run_2$", "läuft", long.as_str()] {
        assert_eq!(handler(&json!(name)).unwrap(), name);
    }
    assert_eq!(handler(&Value::Null).unwrap(), "handler");
    for name in [json!(""), json!("2run"), json!("a.b"), json!("a b"), json!("-"), json!(long + "a"), json!(5)] {
        assert_eq!(handler(&name).unwrap_err().field, "implementation.handler", "{name}");
    }
}

#[test]
fn a_tool_may_run_for_a_day_at_most() {
    let limits = |seconds: &Value| {
        let tool = tool(&json!({ "runtime": "bash", "entrypoint": "a.sh", "timeout_seconds": seconds }));
        planned("", &tool).map(|plan| plan.limits.timeout_ms)
    };
    assert_eq!(limits(&json!(1)), Ok(1000));
    assert_eq!(limits(&json!(TIMEOUT_S_MAX)), Ok(TIMEOUT_S_MAX * 1000));
    assert_eq!(limits(&Value::Null), Ok(RunLimits::default().timeout_ms));
    for (seconds, message) in [
        (json!(TIMEOUT_S_MAX + 1), "is 86401, more than a day"),
        (json!(0), "is 0"),
        (json!(-1), "is -1"),
        (json!("5"), "is \"5\""),
    ] {
        assert_eq!(limits(&seconds).unwrap_err().message, message);
    }
}

#[test]
fn names_of_variables_are_plain() {
    let (long, longer) = ("A".repeat(256), "A".repeat(257));
    for name in ["A", "_A", "a9", "PATHS", long.as_str()] {
        assert_eq!(declarations::check_variable_name(name), Ok(()), "{name}");
    }
    for name in ["", "9A", "A-B", "A B", "Ä", "PATH", "LD_X", "REP_X", longer.as_str()] {
        assert!(declarations::check_variable_name(name).is_err(), "{name}");
    }
}

#[test]
fn packages_come_from_the_registry_of_the_runtime() {
    let wanted = |runtime: &str, entrypoint: &str| {
        let dependencies = json!({ "pip": ["b", "a", "b", 5], "npm": ["c"], "apt": ["d"] });
        let implementation = json!({ "runtime": runtime, "entrypoint": entrypoint, "dependencies": dependencies });
        planned("", &tool(&implementation)).unwrap().work.tool().unwrap().dependencies.clone()
    };
    assert_eq!(wanted("python", "a.py"), ["a", "b"]);
    assert_eq!(wanted("node", "a.js"), ["c"]);
    assert!(wanted("bash", "a.sh").is_empty());
}

#[test]
fn a_plan_is_shown_as_json_and_in_words() {
    let front = "permissions: {filesystem: {write: ['o/**']}, processes: {allow_subprocess: true}}\n\
                 secrets: {required: [{name: A}, {name: B, optional: true}]}\nsafety: {redact: {pii: false}}\n";
    let mut plan = planned(front, &bash()).unwrap();
    let shown = plan.to_json();
    assert_eq!(shown["tool"], "t");
    assert_eq!(shown["runtime"], "bash");
    assert_eq!(shown["entrypoint"], "scripts/a.sh");
    assert_eq!(shown["sandbox"], true);
    assert_eq!(shown["policy"]["confirm"], json!(["destructive_writes", "external_network"]));
    assert_eq!(shown["policy"]["permissions"]["processes"]["allow_subprocess"], true);
    let words = [
        "reads nothing but its own directory",
        "makes, changes and removes `o/**` in /work",
        "connects to nothing",
        "starts other programs",
        "uses the secrets A, B (optional)",
        "runs for 60 s at most, with 1024 MiB and 128 processes",
        "redacts secrets from its output, but not personal data",
    ];
    assert_eq!(plan.describe_lines(), words);
    plan.confinement = Confinement::Unconfined;
    let last = "runs WITHOUT a sandbox: none of this is enforced, and it can do whatever you can";
    assert_eq!(plan.describe_lines().last().map(String::as_str), Some(last));
    assert_eq!(plan.to_json()["sandbox"], false);
    // Secrets are not mentioned if there are none.
    assert_eq!(planned("", &bash()).unwrap().describe_lines().len(), 6);
}

#[test]
fn runtimes_have_the_words_of_the_specification() {
    for (runtime, entrypoint) in [("python", "a.py"), ("node", "a.js"), ("bash", "a.sh")] {
        let plan = planned("", &tool(&json!({ "runtime": runtime, "entrypoint": entrypoint }))).unwrap();
        assert_eq!(plan.to_json()["runtime"], runtime);
    }
}
