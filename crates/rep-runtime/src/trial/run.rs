//! Runs the tests a skill ships: each in a fresh copy, planned, granted, recorded and confined like any other run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;

use rep_check::tools::effective_tools;
use rep_library::store::Copy;
use rep_library::{CatalogEntry, Options, Status, read};
use rep_model::Skill;
use rep_permissions::HostRule;
use rep_sandbox::{Cancel, Denial};
use serde_json::Value;

use super::case::Case;
use super::expect::{Mismatch, Said};
use super::smoke::Smoke;
use super::{Attempt, CONFIG, Ground, Judged, Mistake, Trials, judge, judge_smoke, plan};
use crate::error::{CallError, ErrorCode};
use crate::executable_skill::tool_name;
use crate::grant::Trust;
use crate::interpreter;
use crate::outcome::{Outcome, Reply, ToolError};
use crate::plan::{Call, Plan, PlanError, ToolRuntime};
use crate::runtime::Runtime;
use crate::secret::Secret;

/// The exit code of a shell that did not find the program.
const PROGRAM_NOT_FOUND: i32 = 127;

/// What a test came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestStatus {
    /// As expected.
    Pass,
    /// Not as expected.
    Fail,
    /// It could not be run.
    Error,
}

impl TestStatus {
    /// The word in results.
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
    /// It is written wrongly.
    Mistake(Mistake),
    /// An expectation was not met.
    Mismatch(Mismatch),
    /// It could not be run.
    Tool(ToolError),
}

/// One test, and what it came to.
#[derive(Clone, Debug)]
pub struct TestResult {
    /// The skill's qualified name.
    pub skill: String,
    /// The stem of the test's file, or `smoke:` and a name or number.
    pub case: String,
    /// What the test calls itself.
    pub name: String,
    /// What it came to.
    pub status: TestStatus,
    /// How long it took.
    pub duration_ms: u64,
    /// Why it did not pass.
    pub faults: Vec<TestFault>,
    /// What it wrote.
    pub said: Said,
    /// What it was denied.
    pub denials: Vec<Denial>,
    /// What may have gone wrong.
    pub help: Vec<String>,
    /// Whether it is about the settings of tests, and not a test itself.
    pub is_setup: bool,
    /// For a call of a tool: whether arguments and result fit their schemas.
    pub call: Option<bool>,
}

impl TestResult {
    /// A test that passed, to be filled in.
    pub fn new(skill: &str, case: &str, name: &str) -> Self {
        Self {
            skill: skill.to_owned(),
            case: case.to_owned(),
            name: name.to_owned(),
            status: TestStatus::Pass,
            duration_ms: 0,
            faults: Vec::new(),
            said: Said::default(),
            denials: Vec::new(),
            help: Vec::new(),
            is_setup: false,
            call: None,
        }
    }

    /// A skill whose tests could not be loaded.
    pub fn skill_error(skill: &str, error: ToolError) -> Self {
        let faults = vec![TestFault::Tool(error)];
        Self { status: TestStatus::Error, faults, ..Self::new(skill, "skill", "skill") }
    }
}

/// A skill that is tested, read from a copy made now. The copy is removed with it.
pub struct TestSubject {
    /// Its qualified name.
    pub name: String,
    /// Its own directory.
    pub folder: PathBuf,
    /// Whether the user named it: only then do its tests get secrets and hosts in private networks.
    pub is_named: bool,
    /// The tests it ships.
    pub trials: Trials,
    /// The parsed skill.
    pub skill: Skill,
    tools: Vec<Value>,
    copy: Copy,
    /// Where further copies are made.
    copies: PathBuf,
    /// The numbers of the tests that were asked for; all if none was named.
    pub(super) wanted: Option<Vec<usize>>,
}

impl TestSubject {
    /// Loads a skill to test it. A path that was named is trusted; a skill found by its name needs the user's trust.
    pub fn load(entry: &CatalogEntry, options: &Options, copies: &Path, is_named: bool) -> Result<Self, CallError> {
        let name = &entry.qualified_name;
        if entry.status == Status::Disabled {
            let error = CallError::refused(ErrorCode::Disabled, format!("the skill `{name}` is switched off"));
            return Err(error.with_remedy(format!("`rep enable {name}` switches it on")));
        }
        let copy = Copy::of(&entry.folder, copies).map_err(|reason| {
            CallError::refused(ErrorCode::SkillUnreadable, format!("`{name}` cannot be taken in: {reason}"))
        })?;
        let tree = read::folder(copy.folder(), &entry.folder.to_string_lossy(), read::Extent::Folder)?;
        let (skill, _) = Skill::parse(tree);
        let untrusted = match entry.status {
            Status::Untrusted => Some(entry.reason.clone()),
            _ if !entry.is_trusted_as(options, copy.digest())? => {
                Some("it changed, or came, since this project was trusted".to_owned())
            }
            _ => None,
        };
        if let Some(reason) = untrusted {
            let message = format!("the skill `{name}` is not trusted: {reason}");
            let remedy =
                format!("look at it, then `rep trust`, or name its path: `rep test {}`", entry.folder.display());
            return Err(CallError::refused(ErrorCode::Untrusted, message).with_remedy(remedy));
        }
        Ok(Self {
            name: name.clone(),
            folder: entry.folder.clone(),
            is_named,
            tools: effective_tools(&skill).tools,
            trials: Trials::of(&skill.tree, skill.front()),
            skill,
            copy,
            copies: copies.to_owned(),
            wanted: None,
        })
    }

    /// The copy that the tests are read from.
    pub fn copy_folder(&self) -> &Path {
        self.copy.folder()
    }

    fn fresh_copy(&self) -> Result<Copy, ToolError> {
        let copy = Copy::of(self.copy.folder(), &self.copies);
        copy.map_err(|reason| {
            ToolError::new(ErrorCode::SkillUnreadable, format!("no copy of the skill could be made: {reason}"))
        })
    }
}

/// A test that ran.
struct TestRun {
    judged: Judged,
    said: Said,
    outcome: Outcome,
    help: Vec<String>,
}

/// What happens while tests run.
#[derive(Clone, Copy)]
pub enum TestEvent<'a> {
    /// One more is over, in whatever order.
    Over,
    /// This one is next in order.
    Next(&'a TestResult),
}

impl Runtime {
    /// Runs the tests that are due, several at once. Each is told as soon as all before it are there, so that the order
    /// is the same however many run at once.
    pub fn run_tests(
        &self,
        subjects: &[TestSubject],
        workers: usize,
        cancel: &Cancel,
        told: &mut dyn FnMut(TestEvent<'_>),
    ) -> Vec<TestResult> {
        let due: Vec<(&TestSubject, Option<usize>)> =
            subjects.iter().flat_map(|subject| subject.due().into_iter().map(move |trial| (subject, trial))).collect();
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
                        // The receiver goes on until every sender is gone.
                        let _ = sender.send((number, self.run_test(subject, *trial, cancel)));
                    }
                });
            }
            drop(sender);
            let mut waiting = BTreeMap::new();
            for (number, result) in receiver {
                told(TestEvent::Over);
                waiting.insert(number, result);
                while let Some(result) = waiting.remove(&results.len()) {
                    told(TestEvent::Next(&result));
                    results.push(result);
                }
            }
            // Where somebody asked for the end, some were never begun.
            results.extend(waiting.into_values());
        });
        results
    }

    /// Runs one test of a skill by its number. Without a number, reports why its cases cannot be run.
    pub fn run_test(&self, subject: &TestSubject, trial: Option<usize>, cancel: &Cancel) -> TestResult {
        let Some(trial) = trial.map(|index| &subject.trials.trials[index]) else {
            let faults = subject.trials.broken.iter().map(|mistake| TestFault::Mistake(mistake.clone())).collect();
            let name = CONFIG.rsplit('/').next().unwrap_or(CONFIG);
            let result = TestResult::new(&subject.name, name, name);
            return TestResult { status: TestStatus::Error, faults, is_setup: true, ..result };
        };
        let result = TestResult::new(&subject.name, &trial.case, &trial.name);
        let run = match &trial.work {
            Err(mistakes) => {
                let faults = mistakes.iter().cloned().map(TestFault::Mistake).collect();
                return TestResult { status: TestStatus::Error, faults, ..result };
            }
            Ok(Attempt::Case(case)) => self.run_case(subject, case, &trial.case, cancel),
            Ok(Attempt::Smoke(smoke)) => self.run_smoke_test(subject, smoke, cancel),
        };
        let is_call = matches!(trial.work, Ok(Attempt::Smoke(_)));
        match run {
            Ok(run) => run.into_result(result, is_call),
            Err(error) => TestResult { status: TestStatus::Error, faults: vec![TestFault::Tool(error)], ..result },
        }
    }

    /// Runs a command in a copy of the skill.
    fn run_case(&self, subject: &TestSubject, case: &Case, stem: &str, cancel: &Cancel) -> Result<TestRun, ToolError> {
        let copy = subject.fresh_copy()?;
        let ground =
            Ground { skill: &subject.name, digest: copy.digest(), folder: copy.folder(), front: subject.skill.front() };
        let plan = plan(&ground, case, stem, &subject.trials.config).map_err(plan_error)?;
        let outcome = self.run_test_plan(subject, plan, cancel)?;
        let (judged, said) = judge(case, &outcome);
        let help = match (&judged, said.code) {
            (Judged::Fail(_), Some(PROGRAM_NOT_FOUND)) => self.missing_programs(&said, copy.folder()),
            _ => Vec::new(),
        };
        Ok(TestRun { judged, said, outcome, help })
    }

    /// What a shell finds besides the system's programs, for a case that misses one.
    fn missing_programs(&self, said: &Said, workspace: &Path) -> Vec<String> {
        let mut help = Vec::new();
        for (runtime, name) in [(ToolRuntime::Python, "python3"), (ToolRuntime::Node, "node")] {
            if let Err(error) = interpreter::find(runtime, workspace, self.search()) {
                help.push(format!("`{name}` is not there: {error}"));
            } else if runtime == ToolRuntime::Python && said.stderr.contains("python: ") {
                help.push(
                    "this machine has no `python`, only `python3`: name that, which every machine has".to_owned(),
                );
            }
        }
        help
    }

    /// Calls a tool with a copy of the skill as its workspace.
    fn run_smoke_test(&self, subject: &TestSubject, smoke: &Smoke, cancel: &Cancel) -> Result<TestRun, ToolError> {
        let tool = subject.tools.iter().find(|tool| tool_name(tool) == smoke.tool).ok_or_else(|| {
            let all: Vec<&str> = subject.tools.iter().map(tool_name).collect();
            let message = format!("`{}` has no tool `{}`", subject.name, smoke.tool);
            ToolError::new(ErrorCode::ToolNotFound, message).with("remedy", format!("its tools: {}", all.join(", ")))
        })?;
        let front = subject
            .skill
            .front()
            .ok_or_else(|| ToolError::new(ErrorCode::SkillUnreadable, "the skill has no frontmatter"))?;
        let (copy, workspace) = (subject.fresh_copy()?, subject.fresh_copy()?);
        let plan = Plan::of(Call {
            skill: &subject.name,
            digest: copy.digest(),
            folder: copy.folder(),
            front,
            tool,
            workspace: workspace.folder(),
            input: smoke.input.clone(),
        });
        let outcome = self.run_test_plan(subject, plan.map_err(plan_error)?, cancel)?;
        let (judged, said) = judge_smoke(smoke, &outcome);
        Ok(TestRun { judged, said, outcome, help: Vec::new() })
    }

    /// Runs the plan of a test. Calling `rep test` is consent to what the tests do.
    fn run_test_plan(&self, subject: &TestSubject, mut plan: Plan, cancel: &Cancel) -> Result<Outcome, ToolError> {
        plan.confinement = self.options().confinement;
        // Who tests everything here has not read what each skill wants of this machine.
        if !subject.is_named {
            plan.permissions.outbound.retain(HostRule::is_public);
        }
        let secrets = self.test_secrets(subject, &plan)?;
        Ok(self.run_with_consent(&plan, &Trust::Trusted, &secrets, cancel)?)
    }

    /// The secrets the tests of a skill get.
    fn test_secrets(&self, subject: &TestSubject, plan: &Plan) -> Result<BTreeMap<String, Secret>, ToolError> {
        if subject.is_named {
            return Ok(self.plan_secrets(plan)?);
        }
        match plan.secrets.iter().find(|need| !need.is_optional) {
            None => Ok(BTreeMap::new()),
            Some(need) => {
                let message = format!("it needs the secret `{}`, which only a skill that is named gets", need.name);
                let remedy = format!("`rep test {}`", subject.folder.display());
                Err(ToolError::new(ErrorCode::SecretMissing, message).with("remedy", remedy))
            }
        }
    }
}

impl TestRun {
    fn into_result(self, result: TestResult, is_call: bool) -> TestResult {
        let (status, faults) = match self.judged {
            Judged::Pass => (TestStatus::Pass, Vec::new()),
            Judged::Fail(mismatches) => (TestStatus::Fail, mismatches.into_iter().map(TestFault::Mismatch).collect()),
            Judged::Error(error) => (TestStatus::Error, vec![TestFault::Tool(error)]),
            Judged::Interrupted => {
                let error = ToolError::new(ErrorCode::Cancelled, "it was interrupted");
                (TestStatus::Error, vec![TestFault::Tool(error)])
            }
        };
        let is_conforming = match &self.outcome.reply {
            Reply::Error(error) => !error.more.contains_key("misfits") && error.code != ErrorCode::InvalidResult,
            Reply::Result(_) | Reply::Task(_) => true,
        };
        TestResult {
            status,
            faults,
            said: self.said,
            help: self.help,
            denials: self.outcome.denials,
            duration_ms: self.outcome.duration_ms,
            call: is_call.then_some(is_conforming),
            ..result
        }
    }
}

fn plan_error(error: PlanError) -> ToolError {
    ToolError::new(ErrorCode::InvalidTool, error.to_string()).with("remedy", error.remedy)
}
