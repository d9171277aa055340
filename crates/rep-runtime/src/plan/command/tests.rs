use rep_model::SkillDocument;
use rep_model::{Skill, SkillTree};
use serde_json::json;

use super::*;
use crate::plan::RunPermissions;

/// Plans a command of a skill with this UASP file, and optionally a SKILL.md next to it.
fn planned(uasp: &str, front: Option<&str>, name: &str, arguments: &Value) -> Result<Plan, CommandError> {
    let variable = |name: &str| (name != "UNSET").then(|| format!("value of {name}"));
    planned_where(&variable, uasp, front, name, arguments)
}

/// Plans a command with the caller's variables.
fn planned_where(
    variable: &VariableLookup<'_>,
    uasp: &str,
    front: Option<&str>,
    name: &str,
    arguments: &Value,
) -> Result<Plan, CommandError> {
    let uasp = format!("meta: {{name: a, version: '00000000', type: cli}}\n{uasp}");
    let manifest = front.map(|front| format!("---\nname: a\ndescription: b\n{front}---\n"));
    let mut files = vec![("a.uasp.yaml", uasp.as_str()), ("scripts/x.py", "")];
    files.extend(manifest.as_ref().map(|text| ("SKILL.md", text.as_str())));
    let (skill, _) = Skill::parse(SkillTree::from_texts("a", &files));
    let document = SkillDocument::from_skill(&skill).unwrap();
    Plan::from_command(&CommandPlanInput {
        skill: "a",
        digest: "d",
        folder: Path::new("/skills/a"),
        front: skill.frontmatter().map(|front| &front.root),
        file: skill.uasp.first().and_then(|file| file.root.as_ref()),
        document: &document,
        name,
        workspace: Path::new("/work"),
        arguments: arguments.as_object().unwrap(),
        variable,
        is_file: &|path| path == "scripts/x.py" || path == "list",
    })
}

fn command(plan: &Plan) -> &PlannedCommand {
    match &plan.work {
        PlannedWork::Command(command) => command,
        PlannedWork::Tool(_) | PlannedWork::Script(_) | PlannedWork::Request(_) | PlannedWork::Server(_) => {
            panic!("it is a command")
        }
    }
}

const GO: &str = "commands: {go: {syntax: 'b go <x>'}}\n";

#[test]
fn a_program_is_confirmed_and_may_do_nothing_that_is_not_declared() {
    let plan = planned(GO, None, "go", &json!({ "x": "1" })).unwrap();
    assert_eq!(plan.permissions, RunPermissions::default());
    assert_eq!(plan.effective_risks(), BTreeSet::from([Risk::Program]));
    assert_eq!(plan.redaction, Redaction { secrets: true, pii: false });
    assert_eq!(command(&plan).argv(), ["b", "go", "1"]);
    // No declaration of the skill removes the confirmation.
    let quiet = format!("{GO}safety: {{require_confirmation_for: [], redact: {{pii: true}}}}\n");
    let plan = planned(&quiet, None, "go", &json!({ "x": "1" })).unwrap();
    assert_eq!(plan.effective_risks(), BTreeSet::from([Risk::Program]));
    assert_eq!(plan.redaction, Redaction { secrets: true, pii: true });
}

#[test]
fn permissions_stand_in_the_file_or_beside_it() {
    let own = format!("{GO}permissions: {{filesystem: {{read: ['a/**']}}}}\n");
    let front = "permissions: {filesystem: {read: ['b/**']}}\n";
    let read = |uasp: &str, front| {
        let plan = planned(uasp, front, "go", &json!({ "x": "1" })).unwrap();
        plan.permissions.read.iter().map(|glob| glob.as_str().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(read(&own, None), ["a/**"]);
    assert_eq!(read(GO, Some(front)), ["b/**"]);
    assert_eq!(read(&own, Some(front)), ["a/**"]);
}

#[test]
fn what_is_lent_is_part_of_the_plan() {
    let mut plan = planned(GO, None, "go", &json!({ "x": "1" })).unwrap();
    let overrides = PermissionOverride {
        read: vec!["in/**".into()],
        write: vec!["out/*".into()],
        connect: vec!["a.org".into()],
        may_spawn: true,
    };
    plan.apply_overrides(&overrides).unwrap();
    assert!(plan.permissions.allow_subprocess && plan.permissions.outbound.len() == 1);
    assert!(plan.policy_json().to_string().contains("out/*"));
    for overrides in [
        PermissionOverride { read: vec!["/etc/**".into()], ..PermissionOverride::default() },
        PermissionOverride { connect: vec!["a b".into()], ..PermissionOverride::default() },
    ] {
        assert_eq!(plan.apply_overrides(&overrides).unwrap_err().code, "USAGE");
    }
}

#[test]
fn files_of_the_skill_are_found_and_nothing_outside() {
    let uasp = "commands:\n  one: {syntax: 'python3 scripts/x.py <a>'}\n  two: {syntax: './scripts/x.py'}\n  three: {syntax: '../x.py'}\n  four: {syntax: '/bin/sh'}\n  five: {syntax: 'git list'}\n";
    let plan = planned(uasp, None, "one", &json!({ "a": "scripts/x.py" })).unwrap();
    assert_eq!(command(&plan).argv(), ["python3", "/skills/a/scripts/x.py", "scripts/x.py"]);
    let plan = planned(uasp, None, "two", &json!({})).unwrap();
    assert_eq!(command(&plan).program, CommandProgram::File("scripts/x.py".to_owned()));
    assert_eq!(command(&planned(uasp, None, "five", &json!({})).unwrap()).argv(), ["git", "list"]);
    for name in ["three", "four"] {
        assert_eq!(planned(uasp, None, name, &json!({})).unwrap_err().code, "INVALID_COMMAND", "{name}");
    }
}

#[test]
fn templates_run_and_unknown_paths_are_told_in_the_specifications_words() {
    let uasp = "templates:\n  t: {path: scripts/x.py, args: [{name: u, required: true}]}\n  i: {inline: 'echo hi'}\n  none: {usage: x}\n  out: {path: ../x}\n";
    let plan = planned(uasp, None, "templates.t", &json!({ "u": "1" })).unwrap();
    assert_eq!((command(&plan).argv(), plan.tool.as_str()), (vec!["scripts/x.py", "1"], "templates.t"));
    let plan = planned(uasp, None, "templates.i", &json!({})).unwrap();
    assert_eq!(command(&plan).program, CommandProgram::Inline("echo hi".to_owned()));
    for (name, code) in [
        ("templates.none", "INVALID_COMMAND"),
        ("templates.out", "INVALID_COMMAND"),
        ("templates.x", "PATH_NOT_FOUND"),
        ("x", "PATH_NOT_FOUND"),
    ] {
        assert_eq!(planned(uasp, None, name, &json!({})).unwrap_err().code, code, "{name}");
    }
    let error = planned(uasp, None, "fly", &json!({})).unwrap_err();
    assert_eq!(error.message, "Path 'commands.fly' not found in skill 'a'");
    for syntax in ["GET /v1/x", "DELETE https://a.example/x"] {
        let error =
            planned(&format!("commands: {{get: {{syntax: '{syntax}'}}}}\n"), None, "get", &json!({})).unwrap_err();
        assert_eq!(error.code, "UNSUPPORTED", "{syntax}");
    }
    // A program may have the name of an HTTP method and take a path or an address.
    for syntax in ["GET it", "b /v1/x", "b https://a.example"] {
        let plan = planned(&format!("commands: {{get: {{syntax: '{syntax}'}}}}\n"), None, "get", &json!({})).unwrap();
        assert_eq!(command(&plan).argv().join(" "), syntax);
    }
}

#[test]
fn a_path_to_nothing_comes_with_the_way_on() {
    let remedy = |uasp: &str, name: &str| planned(uasp, None, name, &json!({})).unwrap_err().remedy;
    assert_eq!(remedy(GO, "goo"), "did you mean `go`?");
    assert_eq!(remedy(GO, "something-else"), "`rep query a:commands` lists its commands");
    assert_eq!(remedy("", "go"), "it has no commands to run");
}

#[test]
fn a_script_is_a_file_and_its_path_is_plain() {
    for path in [".", "scripts/..", "./", "/bin/sh", "scripts/\\u0007.sh"] {
        let uasp = format!("templates: {{t: {{path: \"{path}\"}}}}\n");
        assert_eq!(planned(&uasp, None, "templates.t", &json!({})).unwrap_err().code, "INVALID_COMMAND", "{path}");
    }
}

#[test]
fn a_command_says_in_words_what_it_starts() {
    let uasp = format!(
        "{GO}environment: [{{name: A_MODE}}, {{name: B_MODE}}]\ntemplates: {{i: {{inline: 'echo hi'}}, t: {{path: scripts/x.py}}}}\n"
    );
    let words = |name: &str, arguments: Value| planned(&uasp, None, name, &arguments).unwrap().describe_lines();
    let go = words("go", json!({ "x": "a b" }));
    assert_eq!(go[0], "starts the program `b` of this machine, with the arguments \"go\" \"a b\"");
    assert_eq!(go[1], "gets the variables A_MODE, B_MODE");
    assert_eq!(go[2], "reads nothing but its own directory");
    assert_eq!(words("templates.i", json!({}))[0], "starts a script embedded in the skill, with no arguments");
    assert_eq!(words("templates.t", json!({}))[0], "starts its own file `scripts/x.py`, with no arguments");
    let bare = planned(GO, None, "go", &json!({ "x": "1" })).unwrap().describe_lines();
    assert!(!bare.iter().any(|line| line.contains("variables")), "{bare:?}");
}

#[test]
fn a_command_says_in_words_which_files_come_along() {
    let mut plan = planned(GO, None, "go", &json!({ "x": "1" })).unwrap();
    let mut own = |files: &[&str]| {
        let PlannedWork::Command(command) = &mut plan.work else { panic!("it is a command") };
        command.files = Some(files.iter().map(|&file| file.to_owned()).collect());
        plan.describe_lines()[1].clone()
    };
    assert_eq!(own(&[]), "reads nothing but its own file");
    assert_eq!(own(&["a.sh", "b.txt"]), "reads nothing but its own file `a.sh` and `b.txt` beside it");
}

#[test]
fn variables_are_handed_on_with_care() {
    let uasp = format!(
        "{GO}environment: [{{name: A_MODE}}, {{name: UNSET, default: 5}}, {{name: A_TOKEN}}, {{name: LD_PRELOAD}}, {{name: HTTP_PROXY}}, {{name: PATH}}]\n"
    );
    let plan = planned(&uasp, None, "go", &json!({ "x": "1" })).unwrap();
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(command(&plan).variables, [pair("A_MODE", "value of A_MODE"), pair("UNSET", "5")]);
    assert_eq!(plan.secrets, [SecretNeed { name: "A_TOKEN".to_owned(), is_optional: true }]);
    let ignored: Vec<&str> = plan.ignored.iter().map(|one| one.value.as_str()).collect();
    assert_eq!(ignored, ["LD_PRELOAD", "HTTP_PROXY", "PATH"]);
    assert!(!plan.to_json().to_string().contains("value of A_TOKEN"));
    let needed = format!("{GO}environment: [{{name: UNSET, required: true}}]\n");
    assert_eq!(planned(&needed, None, "go", &json!({ "x": "1" })).unwrap_err().code, "VARIABLE_MISSING");
}

#[test]
fn a_variable_that_holds_a_secret_is_one() {
    let uasp = format!("{GO}environment: [{{name: DB, required: true}}, {{name: CACHE}}, {{name: MODE}}]\n");
    let variable = |name: &str| match name {
        "DB" => Some("postgres://me:word@db.example/x".to_owned()),
        "CACHE" => Some("redis://:word@cache.example".to_owned()),
        _ => Some(String::new()),
    };
    let plan = planned_where(&variable, &uasp, None, "go", &json!({ "x": "1" })).unwrap();
    let need = |name: &str, is_optional| SecretNeed { name: name.to_owned(), is_optional };
    assert_eq!(plan.secrets, [need("CACHE", true), need("DB", false)]);
    assert!(command(&plan).variables.is_empty());
}

#[test]
fn a_variable_that_cannot_be_handed_on_is_not_set() {
    let uasp = format!("{GO}environment: [{{name: FITS}}, {{name: LONG}}, {{name: NUL}}, {{name: UNSET}}]\n");
    let variable = |name: &str| match name {
        "FITS" => Some("a".repeat(VARIABLE_BYTES_MAX)),
        "LONG" => Some("a".repeat(VARIABLE_BYTES_MAX + 1)),
        "NUL" => Some("a\0b".to_owned()),
        _ => None,
    };
    let plan = planned_where(&variable, &uasp, None, "go", &json!({ "x": "1" })).unwrap();
    let names: Vec<&str> = command(&plan).variables.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["FITS"]);
}

#[test]
fn a_secret_is_needed_where_either_declaration_says_so() {
    let front =
        "secrets: {required: [{name: A_TOKEN}, {name: B_TOKEN, optional: true}, {name: C_TOKEN, optional: true}]}\n";
    let uasp = format!("{GO}environment: [{{name: A_TOKEN}}, {{name: B_TOKEN, required: true}}, {{name: C_TOKEN}}]\n");
    let plan = planned(&uasp, Some(front), "go", &json!({ "x": "1" })).unwrap();
    let optional: Vec<bool> = plan.secrets.iter().map(|need| need.is_optional).collect();
    assert_eq!(optional, [false, false, true]);
}
