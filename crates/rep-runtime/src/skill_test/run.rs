//! Runs the tests that a skill ships: each in a fresh copy, planned, granted, recorded and confined like any
//! other run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;

use rep_check::tools::effective_tools;
use rep_library::decisions::PrivateCopy;
use rep_library::validation::{ValidationMode, validate_skill};
use rep_library::{CatalogEntry, LibraryOptions, SkillStatus, skill_reader};
use rep_model::Skill;
use rep_model::test_config::TEST_CONFIG_PATH;
use rep_permissions::HostRule;
use rep_sandbox::{Cancel, Denial};
use serde_json::Value;

use super::case::TestCase;
use super::expectation::{AssertionFailure, TestOutput};
use super::smoke_test::SmokeTest;
use super::{CaseContext, CaseError, SkillTests, TestAction, TestOutcome, check_case, check_smoke_test, plan_case};
use crate::error::{CallError, ErrorCode};
use crate::executable_skill::tool_name;
use crate::grant::ExecutionTrust;
use crate::interpreter;
use crate::outcome::{Outcome, RunReply, ToolError};
use crate::plan::{Plan, PlanError, ToolPlanInput, ToolRuntime};
use crate::runtime::Runtime;
use crate::secret::SecretValue;

/// The exit code of a shell that did not find the program.
const PROGRAM_NOT_FOUND: i32 = 127;

/// The status of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestStatus {
    /// All expectations were met.
    Pass,
    /// Some expectations were not met.
    Fail,
    /// The test could not run.
    Error,
}

impl TestStatus {
    /// Returns the word used in results.
    pub const fn name(self) -> &'static str {
        match self {
            TestStatus::Pass => "pass",
            TestStatus::Fail => "fail",
            TestStatus::Error => "error",
        }
    }
}

/// Why a test did not pass.
#[derive(Clone, Debug)]
pub enum TestFault {
    /// The test file has a mistake.
    Case(CaseError),
    /// An expectation was not met.
    Assertion(AssertionFailure),
    /// The test could not run.
    Tool(ToolError),
}

/// The result of one test.
#[derive(Clone, Debug)]
pub struct TestResult {
    /// The skill's qualified name.
    pub skill: String,
    /// The stem of the test's file, or `smoke:` and a name or number.
    pub case: String,
    /// The display name of the test.
    pub name: String,
    /// The status.
    pub status: TestStatus,
    /// The duration in milliseconds.
    pub duration_ms: u64,
    /// Why it did not pass.
    pub faults: Vec<TestFault>,
    /// Its output.
    pub output: TestOutput,
    /// What it was denied.
    pub denials: Vec<Denial>,
    /// Possible causes.
    pub help: Vec<String>,
    /// Whether the result is about the test settings rather than a test.
    pub is_setup: bool,
    /// For a tool call: whether arguments and result match their schemas.
    pub call: Option<bool>,
}

impl TestResult {
    /// Creates the result of a passed test, to be completed.
    pub fn new(skill: &str, case: &str, name: &str) -> Self {
        Self {
            skill: skill.to_owned(),
            case: case.to_owned(),
            name: name.to_owned(),
            status: TestStatus::Pass,
            duration_ms: 0,
            faults: Vec::new(),
            output: TestOutput::default(),
            denials: Vec::new(),
            help: Vec::new(),
            is_setup: false,
            call: None,
        }
    }

    /// Creates the result for a skill whose tests could not be loaded.
    pub fn skill_error(skill: &str, error: ToolError) -> Self {
        let faults = vec![TestFault::Tool(error)];
        Self { status: TestStatus::Error, faults, ..Self::new(skill, "skill", "skill") }
    }
}

/// A skill to test, read from a fresh copy. The copy is removed with this value.
pub struct TestSubject {
    /// Its qualified name.
    pub name: String,
    /// Its original directory.
    pub folder: PathBuf,
    /// Whether the user named it: only then do its tests get secrets and hosts in private networks.
    pub is_named: bool,
    /// The tests it ships.
    pub tests: SkillTests,
    /// The parsed skill.
    pub skill: Skill,
    tools: Vec<Value>,
    copy: PrivateCopy,
    /// Where further copies are made.
    copies: PathBuf,
    /// The indexes of the selected tests; all if `None`.
    pub(super) selected: Option<Vec<usize>>,
}

impl TestSubject {
    /// Loads a skill to test it. A path that the user names is trusted; a skill found by its name must be
    /// trusted.
    pub fn load(
        entry: &CatalogEntry,
        options: &LibraryOptions,
        copies: &Path,
        is_named: bool,
    ) -> Result<Self, CallError> {
        let name = &entry.qualified_name;
        if entry.status == SkillStatus::Disabled {
            let error = CallError::refused(ErrorCode::Disabled, format!("the skill `{name}` is disabled"));
            return Err(error.with_remedy(format!("enable it with `rep enable {name}`")));
        }
        let copy = PrivateCopy::from_folder(&entry.folder, copies).map_err(|reason| {
            CallError::refused(ErrorCode::SkillUnreadable, format!("could not load `{name}`: {reason}"))
        })?;
        let tree = skill_reader::read_folder(
            copy.folder(),
            &entry.folder.to_string_lossy(),
            skill_reader::ReadExtent::Folder,
        )?;
        let (skill, faults) = Skill::parse(tree);
        let violations = validate_skill(&skill, faults).violations;
        if !violations.is_empty() && entry.validation == ValidationMode::Enforced {
            return Err(CallError::validation_failed(name, violations));
        }
        let untrusted = match entry.status {
            SkillStatus::Untrusted => Some(entry.reason.clone()),
            _ if !entry.is_trusted_with_digest(options, copy.digest())? => {
                Some("it was added or changed after this project was trusted".to_owned())
            }
            _ => None,
        };
        if let Some(reason) = untrusted {
            let message = format!("the skill `{name}` is not trusted: {reason}");
            let remedy =
                format!("review it, then run `rep trust`, or pass its path: `rep test {}`", entry.folder.display());
            return Err(CallError::refused(ErrorCode::Untrusted, message).with_remedy(remedy));
        }
        Ok(Self {
            name: name.clone(),
            folder: entry.folder.clone(),
            is_named,
            tools: effective_tools(&skill).tools,
            tests: SkillTests::from_tree(&skill.tree, skill.frontmatter()),
            skill,
            copy,
            copies: copies.to_owned(),
            selected: None,
        })
    }

    /// Returns the copy that the tests are read from.
    pub fn copy_folder(&self) -> &Path {
        self.copy.folder()
    }

    fn make_fresh_copy(&self) -> Result<PrivateCopy, ToolError> {
        let copy = PrivateCopy::from_folder(self.copy.folder(), &self.copies);
        copy.map_err(|reason| ToolError::new(ErrorCode::SkillUnreadable, format!("could not copy the skill: {reason}")))
    }
}

/// A test that ran.
struct TestRun {
    test_outcome: TestOutcome,
    output: TestOutput,
    outcome: Outcome,
    help: Vec<String>,
}

/// An event of a test run.
#[derive(Clone, Copy)]
pub enum TestEvent<'a> {
    /// Another test finished, in any order.
    Finished,
    /// The next result in order.
    NextInOrder(&'a TestResult),
}

impl Runtime {
    /// Runs the selected tests in parallel. Each result is reported as soon as all earlier ones are
    /// available, so that the order does not depend on the number of threads.
    pub fn run_tests(
        &self,
        subjects: &[TestSubject],
        workers: usize,
        cancel: &Cancel,
        told: &mut dyn FnMut(TestEvent<'_>),
    ) -> Vec<TestResult> {
        let due: Vec<(&TestSubject, Option<usize>)> = subjects
            .iter()
            .flat_map(|subject| subject.due_tests().into_iter().map(move |trial| (subject, trial)))
            .collect();
        let next = AtomicUsize::new(0);
        let (sender, receiver) = channel::<(usize, TestResult)>();
        let mut results: Vec<TestResult> = Vec::new();
        thread::scope(|scope| {
            for _ in 0..workers.min(due.len()) {
                let sender = sender.clone();
                scope.spawn(|| {
                    let sender = sender;
                    while !cancel.is_cancelled() {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let Some((subject, trial)) = due.get(number) else { return };
                        // The receiver continues until every sender is dropped.
                        let _ = sender.send((number, self.run_test(subject, *trial, cancel)));
                    }
                });
            }
            drop(sender);
            let mut waiting = BTreeMap::new();
            for (number, result) in receiver {
                told(TestEvent::Finished);
                waiting.insert(number, result);
                while let Some(result) = waiting.remove(&results.len()) {
                    told(TestEvent::NextInOrder(&result));
                    results.push(result);
                }
            }
            // After an interruption, some tests were never started.
            results.extend(waiting.into_values());
        });
        results
    }

    /// Runs one test of a skill by its index. `None` reports why its cases cannot run.
    pub fn run_test(&self, subject: &TestSubject, trial: Option<usize>, cancel: &Cancel) -> TestResult {
        let Some(trial) = trial.map(|index| &subject.tests.tests[index]) else {
            let faults = subject.tests.config_errors.iter().map(|mistake| TestFault::Case(mistake.clone())).collect();
            let name = TEST_CONFIG_PATH.rsplit('/').next().unwrap_or(TEST_CONFIG_PATH);
            let result = TestResult::new(&subject.name, name, name);
            return TestResult { status: TestStatus::Error, faults, is_setup: true, ..result };
        };
        let result = TestResult::new(&subject.name, &trial.case, &trial.name);
        let run = match &trial.action {
            Err(mistakes) => {
                let faults = mistakes.iter().cloned().map(TestFault::Case).collect();
                return TestResult { status: TestStatus::Error, faults, ..result };
            }
            Ok(TestAction::Case(case)) => self.run_case(subject, case, &trial.case, cancel),
            Ok(TestAction::Smoke(smoke)) => self.run_smoke_test(subject, smoke, cancel),
        };
        let is_call = matches!(trial.action, Ok(TestAction::Smoke(_)));
        match run {
            Ok(run) => run.into_result(result, is_call),
            Err(error) => TestResult { status: TestStatus::Error, faults: vec![TestFault::Tool(error)], ..result },
        }
    }

    /// Runs a command in a copy of the skill.
    fn run_case(
        &self,
        subject: &TestSubject,
        case: &TestCase,
        stem: &str,
        cancel: &Cancel,
    ) -> Result<TestRun, ToolError> {
        let copy = subject.make_fresh_copy()?;
        let ground = CaseContext {
            skill: &subject.name,
            digest: copy.digest(),
            folder: copy.folder(),
            front: subject.skill.frontmatter(),
        };
        let plan = plan_case(&ground, case, stem, &subject.tests.config).map_err(tool_error_from_plan)?;
        let outcome = self.run_test_plan(subject, plan, cancel)?;
        let (judged, said) = check_case(case, &outcome);
        let help = match (&judged, said.code) {
            (TestOutcome::Fail(_), Some(PROGRAM_NOT_FOUND)) => self.explain_missing_programs(&said, copy.folder()),
            _ => Vec::new(),
        };
        Ok(TestRun { test_outcome: judged, output: said, outcome, help })
    }

    /// Explains which programs a shell finds besides the system's, for a case that misses one.
    fn explain_missing_programs(&self, said: &TestOutput, workspace: &Path) -> Vec<String> {
        let mut help = Vec::new();
        for (runtime, name) in [(ToolRuntime::Python, "python3"), (ToolRuntime::Node, "node")] {
            if let Err(error) = interpreter::find_interpreter(runtime, workspace, self.interpreter_search()) {
                help.push(format!("`{name}` is not available: {error}"));
            } else if runtime == ToolRuntime::Python && said.stderr.contains("python: ") {
                help.push("this machine has no `python`, only `python3`; call `python3` instead".to_owned());
            }
        }
        help
    }

    /// Calls a tool with a copy of the skill as its workspace.
    fn run_smoke_test(&self, subject: &TestSubject, smoke: &SmokeTest, cancel: &Cancel) -> Result<TestRun, ToolError> {
        let tool = subject.tools.iter().find(|tool| tool_name(tool) == smoke.tool).ok_or_else(|| {
            let all: Vec<&str> = subject.tools.iter().map(tool_name).collect();
            let message = format!("`{}` has no tool `{}`", subject.name, smoke.tool);
            ToolError::new(ErrorCode::ToolNotFound, message)
                .with_detail("remedy", format!("its tools: {}", all.join(", ")))
        })?;
        let front = subject
            .skill
            .frontmatter()
            .ok_or_else(|| ToolError::new(ErrorCode::SkillUnreadable, "the skill has no frontmatter"))?;
        let (copy, workspace) = (subject.make_fresh_copy()?, subject.make_fresh_copy()?);
        let plan = Plan::from_tool(ToolPlanInput {
            skill: &subject.name,
            digest: copy.digest(),
            folder: copy.folder(),
            front,
            tool,
            workspace: workspace.folder(),
            input: smoke.input.clone(),
        });
        let outcome = self.run_test_plan(subject, plan.map_err(tool_error_from_plan)?, cancel)?;
        let (judged, said) = check_smoke_test(smoke, &outcome);
        Ok(TestRun { test_outcome: judged, output: said, outcome, help: Vec::new() })
    }

    /// Runs the plan of a test. Calling `rep test` is consent to what the tests do.
    fn run_test_plan(&self, subject: &TestSubject, mut plan: Plan, cancel: &Cancel) -> Result<Outcome, ToolError> {
        plan.confinement = self.options().confinement;
        // A user who tests all skills here has not reviewed what each one needs.
        if !subject.is_named {
            plan.permissions.outbound.retain(HostRule::is_public);
        }
        let secrets = self.gather_test_secrets(subject, &plan)?;
        Ok(self.run_with_consent(&plan, &ExecutionTrust::Trusted, &secrets, cancel)?)
    }

    /// Returns the secrets for the tests of a skill.
    fn gather_test_secrets(
        &self,
        subject: &TestSubject,
        plan: &Plan,
    ) -> Result<BTreeMap<String, SecretValue>, ToolError> {
        if subject.is_named {
            return Ok(self.gather_plan_secrets(plan)?);
        }
        match plan.secrets.iter().find(|need| !need.is_optional) {
            None => Ok(BTreeMap::new()),
            Some(need) => {
                let message = format!("it needs the secret `{}`, which only a skill named in the call gets", need.name);
                let remedy = format!("`rep test {}`", subject.folder.display());
                Err(ToolError::new(ErrorCode::SecretMissing, message).with_detail("remedy", remedy))
            }
        }
    }
}

impl TestRun {
    fn into_result(self, result: TestResult, is_call: bool) -> TestResult {
        let (status, faults) = match self.test_outcome {
            TestOutcome::Pass => (TestStatus::Pass, Vec::new()),
            TestOutcome::Fail(mismatches) => {
                (TestStatus::Fail, mismatches.into_iter().map(TestFault::Assertion).collect())
            }
            TestOutcome::Error(error) => (TestStatus::Error, vec![TestFault::Tool(error)]),
            TestOutcome::Interrupted => {
                let error = ToolError::new(ErrorCode::Cancelled, "it was interrupted");
                (TestStatus::Error, vec![TestFault::Tool(error)])
            }
        };
        let is_conforming = match &self.outcome.reply {
            RunReply::Error(error) => !error.more.contains_key("misfits") && error.code != ErrorCode::InvalidResult,
            RunReply::Result(_) | RunReply::Task(_) => true,
        };
        TestResult {
            status,
            faults,
            output: self.output,
            help: self.help,
            denials: self.outcome.denials,
            duration_ms: self.outcome.duration_ms,
            call: is_call.then_some(is_conforming),
            ..result
        }
    }
}

fn tool_error_from_plan(error: PlanError) -> ToolError {
    ToolError::new(ErrorCode::InvalidTool, error.to_string()).with_detail("remedy", error.remedy)
}
