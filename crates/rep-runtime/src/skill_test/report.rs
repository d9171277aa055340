//! The report of a test run: as JSON, as lines, and as one verdict.

use rep_model::truncate::truncate_with_ellipsis;
use rep_sandbox::Denial;
use serde_json::{Value, json};

use super::expectation::AssertionFailure;
use super::run::{TestFault, TestResult, TestStatus, TestSubject};
use crate::error::ErrorCode;

/// How many of the last output lines are shown, and how much of each.
const LINES_MAX: usize = 12;
const LINE_CHARS_MAX: usize = 300;
/// How much of a case's output goes into JSON.
const OUTPUT_CHARS_MAX: usize = 4_000;

/// All tests of a call.
#[derive(Clone, Debug, Default)]
pub struct TestReport {
    /// The tests, in order.
    pub results: Vec<TestResult>,
    /// The skills: the name, and the number of evals, which do not run.
    pub skills: Vec<(String, usize)>,
    /// The duration in milliseconds.
    pub duration_ms: u64,
    /// Whether it was interrupted.
    pub is_interrupted: bool,
}

/// The verdict on all tests of a call: the first of these that applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestVerdict {
    /// It was interrupted.
    Interrupted,
    /// The runtime refused to run some tests.
    Refused,
    /// The settings of some tests cannot be used.
    Broken,
    /// Some tests did not pass.
    Failed,
    /// All tests passed, or there are none.
    Passed,
}

impl TestReport {
    /// Creates an empty report about these skills.
    pub fn new(subjects: &[TestSubject]) -> Self {
        let evals = |subject: &TestSubject| subject.tests.evals.as_ref().map_or(0, |evals| evals.evals.len());
        let skills = subjects.iter().map(|subject| (subject.name.clone(), evals(subject))).collect();
        Self { skills, ..Self::default() }
    }

    /// Counts the tests with a status.
    pub fn count_status(&self, status: TestStatus) -> usize {
        self.results.iter().filter(|result| result.status == status).count()
    }

    /// Returns the verdict on all tests.
    pub fn overall_verdict(&self) -> TestVerdict {
        if self.is_interrupted {
            TestVerdict::Interrupted
        } else if self.results.iter().flat_map(|result| &result.faults).any(TestFault::is_refusal) {
            TestVerdict::Refused
        } else if self.results.iter().any(|result| result.is_setup) {
            TestVerdict::Broken
        } else if self.count_status(TestStatus::Pass) < self.results.len() {
            TestVerdict::Failed
        } else {
            TestVerdict::Passed
        }
    }

    /// Renders the report as JSON.
    pub fn to_json(&self) -> Value {
        let calls: Vec<bool> = self.results.iter().filter_map(|result| result.call).collect();
        let evals: usize = self.skills.iter().map(|(_, evals)| evals).sum();
        json!({
            "cases": self.results.iter().map(TestResult::to_json).collect::<Vec<Value>>(),
            "skills": self.skills.iter().map(|(name, evals)| json!({
                "name": name,
                "cases": self.results.iter().filter(|result| result.skill == *name).count(),
                "evals": evals,
            })).collect::<Vec<Value>>(),
            "evals": evals,
            "summary": {
                "passed": self.count_status(TestStatus::Pass),
                "failed": self.count_status(TestStatus::Fail),
                "errors": self.count_status(TestStatus::Error),
                "skills": self.skills.len(),
                "duration_ms": self.duration_ms,
                "tool_calls": calls.len(),
                "tool_calls_conforming": calls.iter().filter(|is_conforming| **is_conforming).count(),
            },
        })
    }
}

impl TestResult {
    /// Returns lines that explain why it did not pass. They contain output of the skill.
    pub fn detail_lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.faults.iter().flat_map(TestFault::detail_lines).collect();
        if self.status == TestStatus::Pass {
            return lines;
        }
        lines.extend(self.help.iter().map(|help| format!("help: {help}")));
        for denial in &self.denials {
            let remedy = denial.suggestion.as_ref().map(|text| format!("; to allow it: {text}")).unwrap_or_default();
            lines.push(format!("it was denied: {} {}{remedy}", denial.action, denial.target));
        }
        for (name, stream) in [("stdout", &self.output.stdout), ("stderr", &self.output.stderr)] {
            let all: Vec<&str> = stream.lines().collect();
            let skipped = all.len().saturating_sub(LINES_MAX);
            match (all.is_empty(), skipped) {
                (true, _) => {}
                (false, 0) => lines.push(format!("{name}:")),
                (false, _) => lines.push(format!("{name}, last {LINES_MAX} of {} lines:", all.len())),
            }
            lines.extend(
                all.into_iter()
                    .skip(skipped)
                    .map(|line| format!("  | {}", truncate_with_ellipsis(line, LINE_CHARS_MAX))),
            );
        }
        lines
    }

    fn to_json(&self) -> Value {
        let mut value = json!({
            "skill": self.skill,
            "case": self.case,
            "name": self.name,
            "outcome": self.status.name(),
            "duration_ms": self.duration_ms,
            "failures": self.faults.iter().map(TestFault::to_json).collect::<Vec<Value>>(),
        });
        if self.status != TestStatus::Pass {
            let denied = |denial: &Denial| {
                json!({
                    "action": denial.action,
                    "target": denial.target,
                    "declaration": denial.declaration(),
                    "suggestion": denial.suggestion,
                })
            };
            value["help"] = json!(self.help);
            value["exit_code"] = json!(self.output.code);
            value["stdout"] = truncate_with_ellipsis(&self.output.stdout, OUTPUT_CHARS_MAX).into();
            value["stderr"] = truncate_with_ellipsis(&self.output.stderr, OUTPUT_CHARS_MAX).into();
            value["denials"] = self.denials.iter().map(denied).collect();
        }
        value
    }
}

impl TestFault {
    /// Returns the fault as one phrase.
    pub fn message(&self) -> String {
        match self {
            TestFault::Case(mistake) => mistake.to_string(),
            TestFault::Assertion(mismatch) => format!("{}: {}", mismatch.expectation, mismatch.message),
            TestFault::Tool(error) => format!("{}: {}", error.code, error.message),
        }
    }

    fn remedy(&self) -> Option<&str> {
        match self {
            TestFault::Case(mistake) => Some(&mistake.remedy),
            TestFault::Assertion(_) => None,
            TestFault::Tool(error) => error.more.get("remedy").and_then(Value::as_str),
        }
    }

    fn detail_lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.message().lines().map(str::to_owned).collect();
        match self {
            TestFault::Assertion(AssertionFailure {
                expectation, got: Some(Value::String(line)), at: None, ..
            }) if expectation.ends_with("contains") => {
                let what = if expectation == "not-contains" { "the line" } else { "the nearest line" };
                lines.push(format!("  {what}: {}", truncate_with_ellipsis(line, LINE_CHARS_MAX)));
            }
            TestFault::Case(_) | TestFault::Assertion(_) | TestFault::Tool(_) => {}
        }
        lines.extend(self.remedy().map(|remedy| format!("  help: {remedy}")));
        lines
    }

    fn to_json(&self) -> Value {
        match self {
            TestFault::Case(mistake) => json!({
                "message": mistake.message, "file": mistake.file, "line": mistake.line, "help": mistake.remedy,
            }),
            TestFault::Assertion(mismatch) => {
                let mut value = json!({ "expectation": mismatch.expectation, "message": mismatch.message });
                let fields = [
                    ("at", mismatch.at.clone().map(Value::from)),
                    ("expected", mismatch.expected.clone()),
                    ("got", mismatch.got.clone()),
                ];
                for (key, field) in fields {
                    if let Some(field) = field {
                        value[key] = field;
                    }
                }
                value
            }
            TestFault::Tool(error) => {
                json!({ "code": error.code.as_str(), "message": error.message, "help": self.remedy() })
            }
        }
    }

    /// Returns whether it is a refusal of the runtime, which says nothing about the test itself.
    fn is_refusal(&self) -> bool {
        let TestFault::Tool(error) = self else { return false };
        matches!(
            error.code,
            ErrorCode::Untrusted
                | ErrorCode::PolicyDenied
                | ErrorCode::SecretMissing
                | ErrorCode::SandboxUnavailable
                | ErrorCode::Disabled
                | ErrorCode::Unrecorded
        )
    }
}
