//! Tests where a workflow run starts, stops and resumes, with manual steps: no process is started.
#![expect(clippy::disallowed_methods, reason = "a skill is written to the disk and changed there")]

use rep_library::LibraryOptions;

use super::*;
use crate::{NobodyToAsk, RuntimeOptions, RuntimePaths};

const SKILL: &str = "meta: {name: chores, version: \"00000000\", type: cli, description: For a test.}\n\
    commands: {say: {syntax: 'printf %s <what>'}}\n\
    workflows: {day: {description: A day., steps: [{cmd: get up}, {cmd: sing, optional: true}, {cmd: go to bed}, {cmd: 'say <what>'}]}}\n";

struct Home {
    folder: tempfile::TempDir,
    runtime: Runtime,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("chores")).unwrap();
        let data = Some(folder.path().join("data"));
        let options = RuntimeOptions { library: library(&folder), ..RuntimeOptions::default() };
        let home = Self { folder, runtime: Runtime::open(RuntimePaths { data, ..RuntimePaths::default() }, options) };
        home.write(SKILL);
        home
    }

    fn write(&self, skill: &str) {
        std::fs::write(self.folder.path().join("chores/chores.uasp.yaml"), skill).unwrap();
    }

    /// Runs the workflow for a user who does these steps manually, and returns the outcome of each step, or
    /// the error.
    fn run(&self, start: WorkflowStart, steps_done: &[&str]) -> Result<Vec<(usize, &'static str)>, WorkflowError> {
        self.run_with(start, steps_done, Map::new())
    }

    fn run_with(
        &self,
        start: WorkflowStart,
        steps_done: &[&str],
        values: Map<String, Value>,
    ) -> Result<Vec<(usize, &'static str)>, WorkflowError> {
        let catalog = Catalog::discover(&library(&self.folder)).unwrap();
        let call = WorkflowCall {
            skill: "chores".to_owned(),
            workflow: "day".to_owned(),
            session: None,
            start,
            values,
            skip_optional: false,
            consent: CallerConsent::Ask,
            permissions: PermissionOverride::default(),
            timeout_s: None,
        };
        let attendant = WorkflowCallbacks {
            prompter: &NobodyToAsk::default(),
            report: &|_| {},
            slot_value: &|_| None,
            is_skipped: &|_| false,
            is_done_by_hand: &|step, _| steps_done.contains(&step.text.as_str()),
        };
        let report = self.runtime.run_workflow(&catalog, &call, &attendant, &Cancel::default())?;
        assert_eq!(report.to_json()["done"], report.verdict == RunVerdict::Succeeded);
        Ok(report.steps.iter().map(|step| (step.number, step.outcome.name())).collect())
    }
}

fn library(folder: &tempfile::TempDir) -> LibraryOptions {
    LibraryOptions { paths: vec![folder.path().join("chores")], ..LibraryOptions::default() }
}

#[test]
fn a_workflow_stops_and_goes_on_where_it_stopped() {
    let home = Home::new();
    // The optional step is skipped, the next one is not.
    let stopped = home.run(WorkflowStart::Fresh, &["get up"]).unwrap();
    assert_eq!(stopped, [(1, "done"), (2, "by_hand"), (3, "by_hand")]);
    let again = home.run(WorkflowStart::Fresh, &[]).unwrap_err();
    assert_eq!(again.to_string(), "`day` stopped after step 2 in the session `default`");
    // A step with an unfilled slot fails before its command is planned.
    let resumed = home.run(WorkflowStart::Resume, &["go to bed"]).unwrap();
    assert_eq!(resumed, [(3, "done"), (4, "failed")]);
    assert_eq!(home.run(WorkflowStart::Restart, &[]).unwrap(), [(1, "by_hand")]);
    assert_eq!(home.run(WorkflowStart::From(4), &[]).unwrap(), [(4, "failed")]);
    // After the last step the workflow is finished, and no progress is stored.
    assert_eq!(home.run(WorkflowStart::From(5), &[]).unwrap(), []);
    assert_eq!(home.run(WorkflowStart::Fresh, &[]).unwrap(), [(1, "by_hand")]);
}

#[test]
fn a_call_that_does_not_fit_the_workflow_is_an_error() {
    let home = Home::new();
    let beyond = home.run(WorkflowStart::From(6), &[]).unwrap_err();
    assert_eq!(beyond, WorkflowError::NoSuchStep { workflow: "day".to_owned(), count: 4 });
    let values = json!({ "who": "x" }).as_object().unwrap().clone();
    let slot = home.run_with(WorkflowStart::Fresh, &[], values).unwrap_err();
    assert_eq!(slot, WorkflowError::UnknownSlot { workflow: "day".to_owned(), slot: "who".to_owned() });
    home.run(WorkflowStart::Fresh, &["get up"]).unwrap();
    home.write(&SKILL.replace("sing", "dance"));
    let changed = home.run(WorkflowStart::Resume, &[]).unwrap_err();
    assert_eq!(changed, WorkflowError::SkillChanged { skill: "chores".to_owned() });
}
