//! What tests came to: rows for people, JSON for programs, and the exit code.

use anstyle::{AnsiColor, Style};
use rep_check::render::visible;
use rep_runtime::ToolError;
use rep_runtime::trial::Mistake;
use rep_runtime::trial::expect::{Mismatch, Said};
use rep_sandbox::Denial;
use serde_json::{Value, json};

use super::subject::Subject;
use crate::exit::Exit;
use crate::output::Output;

/// How many of the last lines of what a case said are shown.
const LINES_MAX: usize = 12;
/// How much of it goes into JSON.
const SAID_CHARS_MAX: usize = 4_000;

/// What a test came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Came {
    /// As expected.
    Pass,
    /// Not as expected.
    Fail,
    /// It could not be tried.
    Error,
}

impl Came {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Came::Pass => "pass",
            Came::Fail => "fail",
            Came::Error => "error",
        }
    }
}

/// Why a test did not pass.
pub(super) enum Fault {
    /// It is written wrongly.
    Mistake(Mistake),
    /// An expectation was not met.
    Mismatch(Mismatch),
    /// It could not be run.
    Tool(ToolError),
}

/// One test, and what it came to.
pub(super) struct Row {
    pub(super) skill: String,
    pub(super) case: String,
    pub(super) name: String,
    pub(super) came: Came,
    pub(super) duration_ms: u64,
    pub(super) faults: Vec<Fault>,
    pub(super) said: Said,
    pub(super) denials: Vec<Denial>,
    /// What may have gone wrong.
    pub(super) help: Vec<String>,
    /// Whether it is about the settings of tests, and no test itself.
    pub(super) is_setup: bool,
    /// For a call of a tool: whether arguments and result fit their schemas.
    pub(super) call: Option<bool>,
}

/// All tests of a call.
pub(super) struct Report {
    pub(super) rows: Vec<Row>,
    /// The skills: name, and how many evals it has, which are not run.
    skills: Vec<(String, usize)>,
    pub(super) duration_ms: u128,
    pub(super) is_interrupted: bool,
}

impl Row {
    pub(super) fn new(skill: &str, case: &str, name: &str) -> Self {
        Self {
            skill: skill.to_owned(),
            case: case.to_owned(),
            name: name.to_owned(),
            came: Came::Pass,
            duration_ms: 0,
            faults: Vec::new(),
            said: Said::default(),
            denials: Vec::new(),
            help: Vec::new(),
            is_setup: false,
            call: None,
        }
    }

    /// The row for people: one line, and below it why it did not pass.
    pub(super) fn text(&self, output: &Output) -> String {
        let (colour, word) = match self.came {
            Came::Pass => (AnsiColor::Green, "pass "),
            Came::Fail => (AnsiColor::Red, "FAIL "),
            Came::Error => (AnsiColor::Red, "ERROR"),
        };
        let word = output.styled(colour.on_default().bold(), word);
        let name = if self.case.ends_with(&self.name) { "" } else { &self.name };
        let time = output.styled(Style::new().dimmed(), &format!("({} ms)", self.duration_ms));
        let mut text = format!("{word} {}  {}  ", visible(&self.skill), visible(&self.case));
        if !name.is_empty() {
            text.push_str(&format!("{}  ", visible(name)));
        }
        text.push_str(&format!("{time}\n"));
        self.details().iter().for_each(|line| text.push_str(&format!("      {}\n", visible(line))));
        text
    }

    /// Why it did not pass, in lines.
    pub(super) fn details(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.faults.iter().flat_map(Fault::lines).collect();
        if self.came == Came::Pass {
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
            lines.extend(all.into_iter().skip(skipped).map(|line| format!("  | {}", cut(line, 300))));
        }
        lines
    }

    fn json(&self) -> Value {
        let mut row = json!({
            "skill": self.skill,
            "case": self.case,
            "name": self.name,
            "outcome": self.came.name(),
            "duration_ms": self.duration_ms,
            "failures": self.faults.iter().map(Fault::json).collect::<Vec<Value>>(),
        });
        if self.came != Came::Pass {
            let denied = |denial: &Denial| json!({ "action": denial.action, "target": denial.target, "suggestion": denial.suggestion });
            row["help"] = json!(self.help);
            row["exit_code"] = json!(self.said.code);
            row["stdout"] = cut(&self.said.stdout, SAID_CHARS_MAX).into();
            row["stderr"] = cut(&self.said.stderr, SAID_CHARS_MAX).into();
            row["denials"] = self.denials.iter().map(denied).collect();
        }
        row
    }
}

impl Fault {
    /// The fault in one phrase.
    pub(super) fn message(&self) -> String {
        match self {
            Fault::Mistake(mistake) => mistake.to_string(),
            Fault::Mismatch(mismatch) => format!("{}: {}", mismatch.expectation, mismatch.message),
            Fault::Tool(error) => format!("{}: {}", error.code, error.message),
        }
    }

    fn remedy(&self) -> Option<&str> {
        match self {
            Fault::Mistake(mistake) => Some(&mistake.remedy),
            Fault::Mismatch(_) => None,
            Fault::Tool(error) => error.more.get("remedy").and_then(Value::as_str),
        }
    }

    fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.message().lines().map(str::to_owned).collect();
        match self {
            Fault::Mismatch(Mismatch { expectation, got: Some(Value::String(line)), at: None, .. })
                if expectation.ends_with("contains") =>
            {
                let what = if expectation == "not-contains" { "the line" } else { "the nearest line" };
                lines.push(format!("  {what}: {}", cut(line, 300)));
            }
            _ => {}
        }
        lines.extend(self.remedy().map(|remedy| format!("  help: {remedy}")));
        lines
    }

    fn json(&self) -> Value {
        match self {
            Fault::Mistake(mistake) => json!({
                "message": mistake.message, "file": mistake.file, "line": mistake.line, "help": mistake.remedy,
            }),
            Fault::Mismatch(mismatch) => {
                let mut fault = json!({ "expectation": mismatch.expectation, "message": mismatch.message });
                let fields = [
                    ("at", mismatch.at.clone().map(Value::from)),
                    ("expected", mismatch.expected.clone()),
                    ("got", mismatch.got.clone()),
                ];
                for (key, value) in fields {
                    if let Some(value) = value {
                        fault[key] = value;
                    }
                }
                fault
            }
            Fault::Tool(error) => json!({ "code": error.code, "message": error.message, "help": self.remedy() }),
        }
    }

    /// Whether it is a refusal of the runtime, and says nothing about the test.
    fn is_refusal(&self) -> bool {
        const CODES: [&str; 6] =
            ["UNTRUSTED", "POLICY_DENIED", "SECRET_MISSING", "SANDBOX_UNAVAILABLE", "DISABLED", "UNRECORDED"];
        matches!(self, Fault::Tool(error) if CODES.contains(&error.code.as_str()))
    }
}

impl Report {
    pub(super) fn of(subjects: &[Subject]) -> Self {
        let evals = |subject: &Subject| subject.trials.evals.as_ref().map_or(0, |evals| evals.evals.len());
        let skills = subjects.iter().map(|subject| (subject.name.clone(), evals(subject))).collect();
        Self { rows: Vec::new(), skills, duration_ms: 0, is_interrupted: false }
    }

    pub(super) fn count(&self, came: Came) -> usize {
        self.rows.iter().filter(|row| row.came == came).count()
    }

    pub(super) fn json(&self) -> Value {
        let calls: Vec<bool> = self.rows.iter().filter_map(|row| row.call).collect();
        let evals: usize = self.skills.iter().map(|(_, evals)| evals).sum();
        json!({
            "cases": self.rows.iter().map(Row::json).collect::<Vec<Value>>(),
            "skills": self.skills.iter().map(|(name, evals)| json!({
                "name": name,
                "cases": self.rows.iter().filter(|row| row.skill == *name).count(),
                "evals": evals,
            })).collect::<Vec<Value>>(),
            "evals": evals,
            "summary": {
                "passed": self.count(Came::Pass),
                "failed": self.count(Came::Fail),
                "errors": self.count(Came::Error),
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
        let (passed, failed, errors) = (self.count(Came::Pass), self.count(Came::Fail), self.count(Came::Error));
        let colour = if failed + errors == 0 { AnsiColor::Green } else { AnsiColor::Red };
        let counts = format!("{passed} passed, {failed} failed, {errors} errors");
        let counts = output.styled(colour.on_default().bold(), &counts);
        let end = if self.is_interrupted { ", interrupted" } else { "" };
        output.data(&format!("{counts} in {} ({} ms){end}\n", skills(self.skills.len()), self.duration_ms));
    }

    pub(super) fn exit(&self) -> Exit {
        let is_refused = self.rows.iter().flat_map(|row| &row.faults).any(Fault::is_refusal);
        let is_broken = self.rows.iter().any(|row| row.is_setup);
        match () {
            () if self.is_interrupted => Exit::Interrupted,
            () if is_refused => Exit::Refused,
            () if is_broken => Exit::Unable,
            () if self.count(Came::Pass) < self.rows.len() => Exit::Findings,
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
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
