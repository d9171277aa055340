use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::ToolRuntime;
use crate::approval::compute_binding;
use crate::grant::GrantOrigin;
use crate::plan::{
    CommandProgram, Confinement, HostRule, PlannedCommand, PlannedTool, PlannedWork, Redaction, Risk, SecretNeed,
    StartFolder,
};
use proptest::prelude::*;
use rep_permissions::glob::Glob;

use super::*;

fn decided(plan: Plan, approvals: &Approvals) -> Option<GrantOrigin> {
    match crate::grant::decide_plan(&Policy::default(), plan, &context(approvals, GrantConsent::Ask)) {
        GrantDecision::Granted(granted) => Some(granted.origin()),
        GrantDecision::Ask(_) | GrantDecision::Refused(_) => None,
    }
}

fn tool(plan: &mut Plan) -> &mut PlannedTool {
    plan.work.tool_mut().expect("the plan is of a tool")
}

type Change = fn(&mut Plan, &str);

/// Every field that an approval is bound to, with a way to change it. Destructured, so that a new field
/// cannot be forgotten here.
fn changes() -> Vec<(&'static str, Change)> {
    let Plan {
        confinement: _,
        skill: _,
        digest: _,
        folder: _,
        tool: _,
        work: _,
        workspace: _,
        input: _,
        permissions: _,
        confirm: _,
        prompt: _,
        redaction: _,
        secrets: _,
        limits: _,
        ignored: _,
        provenance: _,
        // Calls of other tools are decided by themselves.
        callees: _,
    } = plan("");
    let PlannedTool {
        runtime: _,
        entrypoint: _,
        handler: _,
        input_schema: _,
        output_schema: _,
        typescript_runner: _,
        dependencies: _,
    } = tool(&mut plan("")).clone();
    vec![
        ("sandbox", |plan, _| plan.confinement = Confinement::Unconfined),
        ("skill", |plan, word| plan.skill.push_str(word)),
        ("digest", |plan, word| plan.digest.push_str(word)),
        ("tool", |plan, word| plan.tool.push_str(word)),
        ("runtime", |plan, _| tool(plan).runtime = ToolRuntime::Node),
        ("entrypoint", |plan, word| tool(plan).entrypoint.push_str(word)),
        ("handler", |plan, word| tool(plan).handler.push_str(word)),
        ("workspace", |plan, word| plan.workspace.push(word)),
        ("input_schema", |plan, word| tool(plan).input_schema["title"] = word.into()),
        ("output_schema", |plan, word| tool(plan).output_schema = Some(word.into())),
        ("read", |plan, word| plan.permissions.read.extend(Glob::parse(&format!("xx{word}")))),
        ("write", |plan, word| plan.permissions.write.extend(Glob::parse(&format!("xx{word}")))),
        ("outbound", |plan, word| plan.permissions.outbound.push(HostRule { host: word.to_owned(), port: None })),
        ("port", |plan, _| plan.permissions.outbound[0].port = Some(443)),
        ("allow_subprocess", |plan, _| plan.permissions.allow_subprocess ^= true),
        ("confirm", |plan, _| plan.confirm = BTreeSet::from([Risk::Always])),
        ("prompt", |plan, word| plan.prompt = Some(word.to_owned())),
        ("redaction of secrets", |plan, _| plan.redaction = Redaction { secrets: false, pii: true }),
        ("redaction of personal data", |plan, _| plan.redaction = Redaction { secrets: true, pii: false }),
        ("secrets", |plan, word| plan.secrets.push(SecretNeed { name: word.to_owned(), is_optional: true })),
        ("timeout", |plan, word| plan.limits.timeout_ms += word.len() as u64),
        ("grace", |plan, word| plan.limits.grace_ms += word.len() as u64),
        ("cpu", |plan, word| plan.limits.cpu_s += word.len() as u64),
        ("memory", |plan, word| plan.limits.memory_bytes += word.len() as u64),
        ("processes", |plan, word| plan.limits.processes += word.len() as u64),
        ("open files", |plan, word| plan.limits.open_files += word.len() as u64),
        ("file", |plan, word| plan.limits.file_bytes += word.len() as u64),
        ("temporary", |plan, word| plan.limits.temporary_bytes += word.len() as u64),
        ("output", |plan, word| plan.limits.output_bytes += word.len() as u64),
        ("typescript", |plan, word| tool(plan).typescript_runner = Some(word.to_owned())),
        ("dependencies", |plan, word| tool(plan).dependencies.push(word.to_owned())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]
    #[test]
    fn any_change_asks_again(word in "[a-z.,:\"{}]{1,12}") {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("approvals.json");
        Approvals::store_for_plan(&file, &plan(WRITES), at(1)).unwrap();
        let approvals = Approvals::load(&file).unwrap();
        prop_assert_eq!(decided(plan(WRITES), &approvals), Some(GrantOrigin::PriorApproval));
        let all = changes();
        prop_assert_eq!(all.len(), 31);
        for (name, change) in all {
            let mut changed = plan(WRITES);
            change(&mut changed, &word);
            prop_assert_ne!(decided(changed, &approvals), Some(GrantOrigin::PriorApproval), "{}", name);
        }
    }

    #[test]
    fn other_arguments_do_not(input in "\\PC{0,20}") {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("approvals.json");
        Approvals::store_for_plan(&file, &plan(WRITES), at(1)).unwrap();
        let mut other = plan(WRITES);
        other.input = json!({ "path": input });
        prop_assert_eq!(decided(other, &Approvals::load(&file).unwrap()), Some(GrantOrigin::PriorApproval));
    }
}

#[test]
fn approvals_are_the_users_own_and_can_be_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inner/approvals.json");
    Approvals::store_for_plan(&file, &plan(WRITES), at(1)).unwrap();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(folder.path().join("inner")).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(Approvals::load(&file).unwrap().count_for_skill("pdf"), 1);
    assert_eq!(Approvals::remove_for_skill(&file, "pdf").unwrap(), 1);
    assert_eq!(decided(plan(WRITES), &Approvals::load(&file).unwrap()), None);
    // A file that others can write to is not trusted.
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    assert!(Approvals::load(&file).is_err());
}

#[test]
fn many_writers_lose_no_approval() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("approvals.json");
    std::thread::scope(|scope| {
        for number in 0..8 {
            let file = &file;
            scope.spawn(move || {
                let mut plan = plan(WRITES);
                plan.tool = format!("t{number}");
                Approvals::store_for_plan(file, &plan, at(1)).unwrap();
            });
        }
    });
    assert_eq!(Approvals::load(&file).unwrap().count_for_skill("pdf"), 8);
}

#[test]
fn a_broken_file_is_told_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("approvals.json");
    for text in ["", "{", "{\"version\": 7}"] {
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(Approvals::load(&file).is_err(), "{text}");
        assert!(Approvals::store_for_plan(&file, &plan(WRITES), at(1)).is_err(), "{text}");
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
}

#[test]
fn a_skills_approvals_are_forgotten_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("approvals.json");
    for (skill, tool) in [("pdf", "fill"), ("pdf", "join"), ("csv", "sum")] {
        let plan = Plan { skill: skill.to_owned(), tool: tool.to_owned(), ..plan(WRITES) };
        Approvals::store_for_plan(&file, &plan, at(1)).unwrap();
    }
    assert_eq!(Approvals::load(&file).unwrap().count_for_skill("pdf"), 2);
    assert_eq!(Approvals::remove_for_skill(&file, "pdf").unwrap(), 2);
    let left = Approvals::load(&file).unwrap();
    assert_eq!((left.count_for_skill("pdf"), left.count_for_skill("csv")), (0, 1));
    assert_eq!(Approvals::remove_for_skill(&file, "pdf").unwrap(), 0);
}

#[test]
fn a_program_is_approved_for_all_commands_of_a_skill_and_for_no_other_program() {
    let starting = |program: CommandProgram, tool: &str| {
        let start = StartFolder::Workspace;
        let work = PlannedWork::Command(PlannedCommand {
            program,
            arguments: Vec::new(),
            stdin: Vec::new(),
            variables: Vec::new(),
            start,
            files: None,
        });
        Plan { work, tool: tool.to_owned(), ..plan(WRITES) }
    };
    let programs = || {
        [
            CommandProgram::Named("git".to_owned()),
            CommandProgram::Named("jj".to_owned()),
            CommandProgram::Inline("echo one".to_owned()),
            CommandProgram::Inline("echo two".to_owned()),
        ]
    };
    let bindings = BTreeSet::from(programs().map(|program| compute_binding(&starting(program, "x"))));
    assert_eq!(bindings.len(), 4);
    for program in programs() {
        assert_eq!(compute_binding(&starting(program.clone(), "x")), compute_binding(&starting(program, "y")));
    }
}
