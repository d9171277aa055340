//! What tests came to: rows for people, JSON for programs, and the exit code.

use anstyle::{AnsiColor, Style};
use rep_check::render::visible;
use rep_runtime::ErrorCode;
use rep_runtime::trial::expect::Mismatch;
use rep_runtime::trial::run::{TestFault, TestResult, TestStatus};
use rep_sandbox::Denial;
use serde_json::{Value, json};

use super::subject::Subject;
use crate::exit::Exit;
use crate::output::Output;

/// How many of the last lines of what a case said are shown.
const LINES_MAX: usize = 12;
/// How much of it goes into JSON.
const SAID_CHARS_MAX: usize = 4_000;

/// All tests of a call.
pub(super) struct Report {
    pub(super) rows: Vec<TestResult>,
    /// The skills: name, and how many evals it has, which are not run.
    skills: Vec<(String, usize)>,
    pub(super) duration_ms: u128,
    pub(super) is_interrupted: bool,
}

/// The row for people: one line, and below it why it did not pass.
pub(super) fn text(row: &TestResult, output: &Output) -> String {
    let (colour, word) = match row.status {
        TestStatus::Pass => (AnsiColor::Green, "pass "),
        TestStatus::Fail => (AnsiColor::Red, "FAIL "),
        TestStatus::Error => (AnsiColor::Red, "ERROR"),
    };
    let word = output.styled(colour.on_default().bold(), word);
    let name = if row.case.ends_with(&row.name) { "" } else { &row.name };
    let time = output.styled(Style::new().dimmed(), &format!("({} ms)", row.duration_ms));
    let mut text = format!("{word} {}  {}  ", visible(&row.skill), visible(&row.case));
    if !name.is_empty() {
        text.push_str(&format!("{}  ", visible(name)));
    }
    text.push_str(&format!("{time}\n"));
    for line in details(row) {
        text.push_str(&format!("      {}\n", visible(&line)));
    }
    text
}

/// Why it did not pass, in lines.
pub(super) fn details(row: &TestResult) -> Vec<String> {
    let mut lines: Vec<String> = row.faults.iter().flat_map(fault_lines).collect();
    if row.status == TestStatus::Pass {
        return lines;
    }
    lines.extend(row.help.iter().map(|help| format!("help: {help}")));
    for denial in &row.denials {
        let remedy = denial.suggestion.as_ref().map(|text| format!("; to allow it: {text}")).unwrap_or_default();
        lines.push(format!("it was denied: {} {}{remedy}", denial.action, denial.target));
    }
    for (name, stream) in [("stdout", &row.said.stdout), ("stderr", &row.said.stderr)] {
        let all: Vec<&str> = stream.lines().collect();
        let skipped = all.len().saturating_sub(LINES_MAX);
        match (all.is_empty(), skipped) {
            (true, _) => {}
            (false, 0) => lines.push(format!("{name}:")),
            (false, _) => lines.push(format!("{name}, its last {LINES_MAX} of {} lines:", all.len())),
        }
        lines.extend(all.into_iter().skip(skipped).map(|line| format!("  | {}", cut(line, 300))));
    }
    lines
}

fn row_json(row: &TestResult) -> Value {
    let mut value = json!({
        "skill": row.skill,
        "case": row.case,
        "name": row.name,
        "outcome": row.status.name(),
        "duration_ms": row.duration_ms,
        "failures": row.faults.iter().map(fault_json).collect::<Vec<Value>>(),
    });
    if row.status != TestStatus::Pass {
        let denied = |denial: &Denial| json!({ "action": denial.action, "target": denial.target, "suggestion": denial.suggestion });
        value["help"] = json!(row.help);
        value["exit_code"] = json!(row.said.code);
        value["stdout"] = cut(&row.said.stdout, SAID_CHARS_MAX).into();
        value["stderr"] = cut(&row.said.stderr, SAID_CHARS_MAX).into();
        value["denials"] = row.denials.iter().map(denied).collect();
    }
    value
}

/// The fault in one phrase.
pub(super) fn fault_message(fault: &TestFault) -> String {
    match fault {
        TestFault::Mistake(mistake) => mistake.to_string(),
        TestFault::Mismatch(mismatch) => format!("{}: {}", mismatch.expectation, mismatch.message),
        TestFault::Tool(error) => format!("{}: {}", error.code, error.message),
    }
}

fn fault_remedy(fault: &TestFault) -> Option<&str> {
    match fault {
        TestFault::Mistake(mistake) => Some(&mistake.remedy),
        TestFault::Mismatch(_) => None,
        TestFault::Tool(error) => error.more.get("remedy").and_then(Value::as_str),
    }
}

fn fault_lines(fault: &TestFault) -> Vec<String> {
    let mut lines: Vec<String> = fault_message(fault).lines().map(str::to_owned).collect();
    match fault {
        TestFault::Mismatch(Mismatch { expectation, got: Some(Value::String(line)), at: None, .. })
            if expectation.ends_with("contains") =>
        {
            let what = if expectation == "not-contains" { "the line" } else { "the nearest line" };
            lines.push(format!("  {what}: {}", cut(line, 300)));
        }
        _ => {}
    }
    lines.extend(fault_remedy(fault).map(|remedy| format!("  help: {remedy}")));
    lines
}

fn fault_json(fault: &TestFault) -> Value {
    match fault {
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
            json!({ "code": error.code.as_str(), "message": error.message, "help": fault_remedy(fault) })
        }
    }
}

/// Whether it is a refusal of the runtime, and says nothing about the test.
fn is_refusal(fault: &TestFault) -> bool {
    let TestFault::Tool(error) = fault else { return false };
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

impl Report {
    pub(super) fn of(subjects: &[Subject]) -> Self {
        let evals = |subject: &Subject| subject.test.trials.evals.as_ref().map_or(0, |evals| evals.evals.len());
        let skills = subjects.iter().map(|subject| (subject.test.name.clone(), evals(subject))).collect();
        Self { rows: Vec::new(), skills, duration_ms: 0, is_interrupted: false }
    }

    pub(super) fn count(&self, came: TestStatus) -> usize {
        self.rows.iter().filter(|row| row.status == came).count()
    }

    pub(super) fn json(&self) -> Value {
        let calls: Vec<bool> = self.rows.iter().filter_map(|row| row.call).collect();
        let evals: usize = self.skills.iter().map(|(_, evals)| evals).sum();
        json!({
            "cases": self.rows.iter().map(row_json).collect::<Vec<Value>>(),
            "skills": self.skills.iter().map(|(name, evals)| json!({
                "name": name,
                "cases": self.rows.iter().filter(|row| row.skill == *name).count(),
                "evals": evals,
            })).collect::<Vec<Value>>(),
            "evals": evals,
            "summary": {
                "passed": self.count(TestStatus::Pass),
                "failed": self.count(TestStatus::Fail),
                "errors": self.count(TestStatus::Error),
                "skills": self.skills.len(),
                "duration_ms": u64::try_from(self.duration_ms).unwrap_or(u64::MAX),
                "tool_calls": calls.len(),
                "tool_calls_conforming": calls.iter().filter(|is_conforming| **is_conforming).count(),
            },
        })
    }

    /// The last line for people.
    pub(super) fn sum_up(&self, output: &mut Output) {
        let skills = |count: usize| if count == 1 { "1 skill".to_owned() } else { format!("{count} skills") };
        for (name, evals) in self.skills.iter().filter(|(_, evals)| *evals > 0) {
            output.say(&format!("`{name}` has {evals} evals, which need a model and were not run"));
        }
        if self.rows.is_empty() && !self.is_interrupted {
            output.data(&format!("no tests in {}\n", skills(self.skills.len())));
            return;
        }
        let (passed, failed, errors) =
            (self.count(TestStatus::Pass), self.count(TestStatus::Fail), self.count(TestStatus::Error));
        let colour = if failed + errors == 0 { AnsiColor::Green } else { AnsiColor::Red };
        let counts = format!("{passed} passed, {failed} failed, {errors} errors");
        let counts = output.styled(colour.on_default().bold(), &counts);
        let end = if self.is_interrupted { ", interrupted" } else { "" };
        output.data(&format!("{counts} in {} ({} ms){end}\n", skills(self.skills.len()), self.duration_ms));
    }

    pub(super) fn exit(&self) -> Exit {
        let is_refused = self.rows.iter().flat_map(|row| &row.faults).any(is_refusal);
        let is_broken = self.rows.iter().any(|row| row.is_setup);
        match () {
            () if self.is_interrupted => Exit::Interrupted,
            () if is_refused => Exit::Refused,
            () if is_broken => Exit::Unable,
            () if self.count(TestStatus::Pass) < self.rows.len() => Exit::Findings,
            () => Exit::Fine,
        }
    }

    /// The names of the skills with tests, in order, each once.
    pub(super) fn tested(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.rows.iter().map(|row| row.skill.as_str()).collect();
        names.dedup();
        names
    }
}

/// The beginning of a text.
pub(super) fn cut(text: &str, most: usize) -> String {
    rep_model::truncate::ellipsize(text, most).into_owned()
}
