//! What the tests of a call came to: as JSON, in lines, and as one verdict.

use rep_model::truncate::ellipsize;
use rep_sandbox::Denial;
use serde_json::{Value, json};

use super::expect::Mismatch;
use super::run::{TestFault, TestResult, TestStatus, TestSubject};
use crate::error::ErrorCode;

/// How many of the last lines of what a case said are shown, and how much of each.
const LINES_MAX: usize = 12;
const LINE_CHARS_MAX: usize = 300;
/// How much of what a case said goes into JSON.
const SAID_CHARS_MAX: usize = 4_000;

/// All tests of a call.
#[derive(Clone, Debug, Default)]
pub struct TestReport {
    /// The tests, in order.
    pub results: Vec<TestResult>,
    /// The skills: name, and how many evals it has, which are not run.
    pub skills: Vec<(String, usize)>,
    /// How long it took.
    pub duration_ms: u64,
    /// Whether it was interrupted.
    pub is_interrupted: bool,
}

/// What all tests of a call came to. The first of these that is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestVerdict {
    /// It was interrupted.
    Interrupted,
    /// The runtime refused to run some.
    Refused,
    /// The settings of some cannot be used.
    Broken,
    /// Some did not pass.
    Failed,
    /// All passed, or there are none.
    Passed,
}

impl TestReport {
    /// A report about these skills, to be filled in.
    pub fn new(subjects: &[TestSubject]) -> Self {
        let evals = |subject: &TestSubject| subject.trials.evals.as_ref().map_or(0, |evals| evals.evals.len());
        let skills = subjects.iter().map(|subject| (subject.name.clone(), evals(subject))).collect();
        Self { skills, ..Self::default() }
    }

    /// How many tests came to a status.
    pub fn count(&self, status: TestStatus) -> usize {
        self.results.iter().filter(|result| result.status == status).count()
    }

    /// What all of them came to.
    pub fn verdict(&self) -> TestVerdict {
        if self.is_interrupted {
            TestVerdict::Interrupted
        } else if self.results.iter().flat_map(|result| &result.faults).any(TestFault::is_refusal) {
            TestVerdict::Refused
        } else if self.results.iter().any(|result| result.is_setup) {
            TestVerdict::Broken
        } else if self.count(TestStatus::Pass) < self.results.len() {
            TestVerdict::Failed
        } else {
            TestVerdict::Passed
        }
    }

    /// The report as JSON.
    pub fn value(&self) -> Value {
        let calls: Vec<bool> = self.results.iter().filter_map(|result| result.call).collect();
        let evals: usize = self.skills.iter().map(|(_, evals)| evals).sum();
        json!({
            "cases": self.results.iter().map(TestResult::value).collect::<Vec<Value>>(),
            "skills": self.skills.iter().map(|(name, evals)| json!({
                "name": name,
                "cases": self.results.iter().filter(|result| result.skill == *name).count(),
                "evals": evals,
            })).collect::<Vec<Value>>(),
            "evals": evals,
            "summary": {
                "passed": self.count(TestStatus::Pass),
                "failed": self.count(TestStatus::Fail),
                "errors": self.count(TestStatus::Error),
                "skills": self.skills.len(),
                "duration_ms": self.duration_ms,
                "tool_calls": calls.len(),
                "tool_calls_conforming": calls.iter().filter(|is_conforming| **is_conforming).count(),
            },
        })
    }
}

impl TestResult {
    /// Why it did not pass, in lines. They hold what the skill wrote.
    pub fn details(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.faults.iter().flat_map(TestFault::lines).collect();
        if self.status == TestStatus::Pass {
            return lines;
        }
        lines.extend(self.help.iter().map(|help| format!("help: {help}")));
        for denial in &self.denials {
            let remedy = denial.suggestion.as_ref().map(|text| format!("; to allow it: {text}")).unwrap_or_default();
            lines.push(format!("it was denied: {} {}{remedy}", denial.action, denial.target));
        }
        for (name, stream) in [("stdout", &self.said.stdout), ("stderr", &self.said.stderr)] {
            let all: Vec<&str> = stream.lines().collect();
            let skipped = all.len().saturating_sub(LINES_MAX);
            match (all.is_empty(), skipped) {
                (true, _) => {}
                (false, 0) => lines.push(format!("{name}:")),
                (false, _) => lines.push(format!("{name}, its last {LINES_MAX} of {} lines:", all.len())),
            }
            lines.extend(all.into_iter().skip(skipped).map(|line| format!("  | {}", ellipsize(line, LINE_CHARS_MAX))));
        }
        lines
    }

    fn value(&self) -> Value {
        let mut value = json!({
            "skill": self.skill,
            "case": self.case,
            "name": self.name,
            "outcome": self.status.name(),
            "duration_ms": self.duration_ms,
            "failures": self.faults.iter().map(TestFault::value).collect::<Vec<Value>>(),
        });
        if self.status != TestStatus::Pass {
            let denied = |denial: &Denial| {
                json!({
                    "action": denial.action,
                    "target": denial.target,
                    "suggestion": denial.suggestion,
                })
            };
            value["help"] = json!(self.help);
            value["exit_code"] = json!(self.said.code);
            value["stdout"] = ellipsize(&self.said.stdout, SAID_CHARS_MAX).into();
            value["stderr"] = ellipsize(&self.said.stderr, SAID_CHARS_MAX).into();
            value["denials"] = self.denials.iter().map(denied).collect();
        }
        value
    }
}

impl TestFault {
    /// The fault in one phrase.
    pub fn message(&self) -> String {
        match self {
            TestFault::Mistake(mistake) => mistake.to_string(),
            TestFault::Mismatch(mismatch) => format!("{}: {}", mismatch.expectation, mismatch.message),
            TestFault::Tool(error) => format!("{}: {}", error.code, error.message),
        }
    }

    fn remedy(&self) -> Option<&str> {
        match self {
            TestFault::Mistake(mistake) => Some(&mistake.remedy),
            TestFault::Mismatch(_) => None,
            TestFault::Tool(error) => error.more.get("remedy").and_then(Value::as_str),
        }
    }

    fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.message().lines().map(str::to_owned).collect();
        match self {
            TestFault::Mismatch(Mismatch { expectation, got: Some(Value::String(line)), at: None, .. })
                if expectation.ends_with("contains") =>
            {
                let what = if expectation == "not-contains" { "the line" } else { "the nearest line" };
                lines.push(format!("  {what}: {}", ellipsize(line, LINE_CHARS_MAX)));
            }
            TestFault::Mistake(_) | TestFault::Mismatch(_) | TestFault::Tool(_) => {}
        }
        lines.extend(self.remedy().map(|remedy| format!("  help: {remedy}")));
        lines
    }

    fn value(&self) -> Value {
        match self {
            TestFault::Mistake(mistake) => json!({
                "message": mistake.message, "file": mistake.file, "line": mistake.line, "help": mistake.remedy,
            }),
            TestFault::Mismatch(mismatch) => {
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

    /// Whether it is a refusal of the runtime, and says nothing about the test.
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
