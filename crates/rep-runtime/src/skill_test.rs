//! The tests that a skill ships and that need no model: their formats, how they run, and how results are
//! checked.
//!
//! Three formats are supported: `tests/cases/*.yaml` (UAAPS), `evaluation.smoke_tests` (Universal 2.1), and
//! `evals/evals.json` (agentskills), which an agent of the user answers. The functions in this file are pure:
//! a [`SkillTree`] becomes [`SkillTests`], a test becomes a [`Plan`], an [`Outcome`] becomes a
//! [`TestOutcome`]. The module [`selection`] finds the skills, [`run`] runs their tests and [`eval_run`]
//! their evals.

use std::collections::BTreeSet;
use std::path::Path;

use rep_model::provenance::DeclaredProvenance;
use rep_model::test_config::{TEST_CASES_PREFIX, TEST_CONFIG_PATH, TestConfig, TestConfigError, parse_test_config};
use rep_model::{FileContent, Frontmatter, SkillTree, SourceText, SymlinkTarget, TreeEntry};
use serde_json::Value;

use crate::outcome::{Outcome, RunReply, RunVerdict, ToolError};
use crate::plan::{
    CommandProgram, Plan, PlanError, PlannedCommand, PlannedWork, Redaction, Risk, RunLimits, RunPermissions,
    StartFolder, declarations,
};
use rep_sandbox::KillReason;

pub mod agent;
pub mod case;
pub mod eval_run;
pub mod evals;
pub mod expectation;
pub mod grade;
pub mod junit;
pub mod report;
pub mod run;
pub mod selection;
pub mod smoke_test;

use case::{CaseFile, TestCase};
use evals::EvalSet;
use expectation::{AssertionFailure, TestOutput};
use smoke_test::SmokeTest;

/// The path of the evals.
pub const EVALS_PATH: &str = "evals/evals.json";
/// The prefix of smoke test names.
pub const SMOKE_PREFIX: &str = "smoke:";

/// A mistake in a test file: the location, the problem and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseError {
    /// The file, relative to the skill.
    pub file: String,
    /// The line, counted from 1; `None` for the whole file.
    pub line: Option<usize>,
    /// The problem, as a lower-case phrase.
    pub message: String,
    /// The remedy.
    pub remedy: String,
}

impl CaseError {
    /// Creates a mistake about a whole file.
    pub fn new(file: &str, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line: None, message: message.into(), remedy: remedy.into() }
    }
}

/// All tests of a skill.
#[derive(Debug, Default)]
pub struct SkillTests {
    /// The tests: cases in the order of their files, then smoke tests in the order they are listed.
    pub tests: Vec<SkillTest>,
    /// The settings of the cases.
    pub config: TestConfig,
    /// Why the settings cannot be used. If there are any, no case runs.
    pub config_errors: Vec<CaseError>,
    /// The evals, which need a model and do not run here.
    pub evals: Option<EvalSet>,
    /// Notes about skipped or unusual files.
    pub notes: Vec<String>,
}

/// One test.
#[derive(Debug)]
pub struct SkillTest {
    /// The stem of its file, or `smoke:` and a name or number.
    pub case: String,
    /// Its display name; the same as `case` by default.
    pub name: String,
    /// The action, or the mistakes in the test file.
    pub action: Result<TestAction, Vec<CaseError>>,
}

/// The action of a test.
#[derive(Debug)]
pub enum TestAction {
    /// Runs a shell command.
    Case(TestCase),
    /// Calls a tool.
    Smoke(SmokeTest),
}

impl SkillTests {
    /// Reads the tests of a skill. Never fails: mistakes are part of the result.
    pub fn from_tree(tree: &SkillTree, front: Option<&Frontmatter>) -> Self {
        let mut trials = Self::default();
        trials.parse_cases(tree);
        match (tree.entries.contains_key(TEST_CONFIG_PATH), trials.tests.is_empty()) {
            (true, _) => match find_file_text(tree, TEST_CONFIG_PATH).and_then(|text| read_config(&text)) {
                Ok((config, notes)) => {
                    trials.config = config;
                    trials.notes.extend(notes);
                }
                Err(mistakes) => trials.config_errors = mistakes,
            },
            (false, false) => {
                let remedy = "create it with `{\"version\": 1}`";
                trials.config_errors =
                    vec![CaseError::new(TEST_CONFIG_PATH, "is missing, but there are cases", remedy)];
            }
            (false, true) => {}
        }
        trials.tests.extend(front.map(smoke_test::parse_smoke_tests).unwrap_or_default());
        if tree.entries.contains_key(EVALS_PATH) {
            match find_file_text(tree, EVALS_PATH).and_then(|text| evals::parse_evals(&text, tree)) {
                Ok(evals) => trials.evals = Some(evals),
                Err(mistakes) => trials.notes.extend(mistakes.iter().map(ToString::to_string)),
            }
        }
        trials
    }

    fn parse_cases(&mut self, tree: &SkillTree) {
        for (path, entry) in tree.entries.range(TEST_CASES_PREFIX.to_owned()..) {
            let Some(name) = path.strip_prefix(TEST_CASES_PREFIX) else { break };
            let is_here = !name.contains('/') && !name.starts_with('.') && *entry != TreeEntry::Directory;
            match name.strip_suffix(".yaml").filter(|_| is_here) {
                Some(stem) => {
                    let read = find_file_text(tree, path).map(|text| case::parse_case(&text, path, tree));
                    let read = read.unwrap_or_else(|mistakes| CaseFile { errors: mistakes, ..CaseFile::default() });
                    let name = read.name.unwrap_or_else(|| stem.to_owned());
                    let work = read.case.map(TestAction::Case).ok_or(read.errors);
                    self.tests.push(SkillTest { case: stem.to_owned(), name, action: work });
                    self.notes.extend(read.notes);
                }
                None if is_here && Path::new(name).extension().is_some_and(|ending| ending == "yml") => {
                    self.notes.push(format!("`{path}` is not run: case files must end in `.yaml`"));
                }
                None => {}
            }
        }
        // Sorted by stem: as paths, `a-b.yaml` would come before `a.yaml`.
        self.tests.sort_by(|one, two| one.case.cmp(&two.case));
    }
}

impl std::fmt::Display for CaseError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(formatter, "{}:{line}: {}", self.file, self.message),
            None => write!(formatter, "{}: {}", self.file, self.message),
        }
    }
}

/// Returns the text of a skill file, or why it cannot be read.
/// Parses the test settings. A mistake has the line of its value.
fn read_config(text: &str) -> Result<(TestConfig, Vec<String>), Vec<CaseError>> {
    parse_test_config(text).map_err(|errors| {
        let source = SourceText::new(text.to_owned());
        let to_case_error = |error: TestConfigError| CaseError {
            line: error.span.map(|span| source.position_at(span.start).line),
            ..CaseError::new(TEST_CONFIG_PATH, error.message, error.remedy)
        };
        errors.into_iter().map(to_case_error).collect()
    })
}

fn find_file_text(tree: &SkillTree, path: &str) -> Result<String, Vec<CaseError>> {
    let fail = |message: String, remedy: &str| Err(vec![CaseError::new(path, message, remedy)]);
    let content = match tree.entries.get(path) {
        Some(TreeEntry::File { content, .. }) => content,
        Some(TreeEntry::Link { destination: SymlinkTarget::Inside(real), .. }) if !tree.has_outside_link(real) => {
            match tree.entries.get(real) {
                Some(TreeEntry::File { content, .. }) => content,
                _ => return fail(format!("is a link to `{real}`, which is not a file"), "link to a file of the skill"),
            }
        }
        Some(TreeEntry::Link { .. }) => {
            return fail("is a link that points outside the skill or nowhere".to_owned(), "put the file itself there");
        }
        Some(TreeEntry::Directory) => return fail("is a directory".to_owned(), "put a file there"),
        Some(TreeEntry::Other(kind)) => return fail(format!("is a {kind}"), "put a file there"),
        None => return fail("is missing".to_owned(), "create it"),
    };
    match content {
        FileContent::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text.strip_prefix('\u{feff}').unwrap_or(text).to_owned()),
            Err(_) => fail("is not UTF-8".to_owned(), "save it as UTF-8"),
        },
        FileContent::Unreadable(reason) => fail(format!("cannot be read: {reason}"), "make it readable"),
        FileContent::NotRead | FileContent::TooLarge(_) => {
            fail("is too large to read".to_owned(), "keep it below 1 MiB and move large input to a fixture")
        }
    }
}

/// The skill that a test runs for.
pub struct CaseContext<'a> {
    /// Its qualified name.
    pub skill: &'a str,
    /// The digest of its directory.
    pub digest: &'a str,
    /// A copy of its directory, made for this test. Absolute.
    pub folder: &'a Path,
    /// Its frontmatter.
    pub front: Option<&'a Frontmatter>,
}

/// Plans a case: its command runs in a shell, in a copy of the skill that it may change. Only the hosts and
/// secrets that the skill declares apply; it sees all files of the skill and no others.
pub fn plan_case(
    ground: &CaseContext<'_>,
    case: &TestCase,
    stem: &str,
    config: &TestConfig,
) -> Result<Plan, PlanError> {
    let (declared, ignored) = ground.front.map(declarations::parse_permissions).unwrap_or_default();
    let mut confirm = ground.front.map_or_else(BTreeSet::new, |front| declarations::parse_safety(front).confirm);
    confirm.insert(Risk::Program);
    let mut limits = RunLimits { timeout_ms: config.timeout_ms, ..RunLimits::default() };
    limits.cpu_s = limits.cpu_s.max(config.timeout_ms.div_ceil(1000));
    Ok(Plan {
        confinement: crate::plan::Confinement::Sandboxed,
        skill: ground.skill.to_owned(),
        digest: ground.digest.to_owned(),
        folder: ground.folder.to_owned(),
        tool: format!("test:{stem}"),
        work: PlannedWork::Command(PlannedCommand {
            program: CommandProgram::Named("sh".to_owned()),
            arguments: vec!["-c".to_owned(), case.command.clone()],
            stdin: case.stdin.clone().into_bytes(),
            variables: config.variables.clone(),
            start: StartFolder::OwnCopy,
            files: None,
        }),
        workspace: ground.folder.to_owned(),
        input: Value::Object(serde_json::Map::new()),
        permissions: RunPermissions {
            outbound: declared.outbound,
            allow_subprocess: true,
            ..RunPermissions::default()
        },
        confirm,
        prompt: None,
        // Expectations are compared with the output, so personal data is not redacted; it is the skill's own
        // test data.
        redaction: Redaction { secrets: true, pii: false },
        secrets: ground.front.map_or_else(|| Ok(Vec::new()), declarations::parse_secrets)?,
        limits,
        ignored,
        provenance: ground.front.and_then(DeclaredProvenance::from_frontmatter),
        callees: Vec::new(),
    })
}

/// The outcome of a test.
#[derive(Debug)]
pub enum TestOutcome {
    /// All expectations were met.
    Pass,
    /// Some expectations were not met.
    Fail(Vec<AssertionFailure>),
    /// The test could not run.
    Error(ToolError),
    /// The test was interrupted.
    Interrupted,
}

/// Checks the outcome of a case and returns its output.
pub fn check_case(case: &TestCase, outcome: &Outcome) -> (TestOutcome, TestOutput) {
    let said = TestOutput::from_outcome(outcome);
    if outcome.verdict == RunVerdict::Interrupted {
        return (TestOutcome::Interrupted, said);
    }
    if let Some(mismatch) = find_limit_failure(outcome) {
        return (TestOutcome::Fail(vec![mismatch]), said);
    }
    match &outcome.reply {
        RunReply::Error(error) if error.code != crate::error::ErrorCode::CommandFailed => {
            return (TestOutcome::Error(error.clone()), said);
        }
        RunReply::Error(_) | RunReply::Result(_) | RunReply::Task(_) => {}
    }
    let mismatches = case.expected.find_failures(&said);
    (if mismatches.is_empty() { TestOutcome::Pass } else { TestOutcome::Fail(mismatches) }, said)
}

/// Checks the outcome of a smoke test.
pub fn check_smoke_test(smoke: &SmokeTest, outcome: &Outcome) -> (TestOutcome, TestOutput) {
    let said = TestOutput { stderr: outcome.log_text.clone(), ..TestOutput::default() };
    if outcome.verdict == RunVerdict::Interrupted {
        return (TestOutcome::Interrupted, said);
    }
    let is_expected = |error: &ToolError| {
        let wanted = smoke.expect.as_ref().and_then(|expect| expect.pointer("/error/code")).and_then(Value::as_str);
        wanted == Some(error.code.as_str())
    };
    match &outcome.reply {
        // A refused call counts only if the refusal was expected, for example because of invalid arguments.
        RunReply::Error(error) if !outcome.is_executed && !is_expected(error) => {
            (TestOutcome::Error(error.clone()), said)
        }
        _ => {
            let mismatches = smoke.find_failures(outcome);
            (if mismatches.is_empty() { TestOutcome::Pass } else { TestOutcome::Fail(mismatches) }, said)
        }
    }
}

/// Returns the failure of a run that the runtime stopped; no expectation can cover it.
fn find_limit_failure(outcome: &Outcome) -> Option<AssertionFailure> {
    let RunReply::Error(error) = &outcome.reply else { return None };
    let message = match outcome.killed? {
        KillReason::Timeout => "it was stopped because it timed out",
        KillReason::Output => "it was stopped because it wrote too much output",
        KillReason::Memory => "it was stopped because it used too much memory",
        KillReason::Cancelled => return None,
    };
    let what = match outcome.killed {
        Some(KillReason::Timeout) => "timeout",
        _ => "limit",
    };
    Some(AssertionFailure::new(what, format!("{message}: {}", error.message)))
}

#[cfg(test)]
mod tests;
