//! Compares the expectations of a case with its output. A failure states the place, the expected value and
//! the actual value.

use rep_model::truncate::truncate_chars;
use serde_json::{Map, Number, Value};

use crate::outcome::{Outcome, RunReply};
use rep_sandbox::ProcessExit;

/// The maximum number of failures reported per expectation.
const FAILURES_MAX: usize = 20;
/// The maximum length of a text or value that is shown.
const VALUE_CHARS_MAX: usize = 400;
/// How many lines are compared to find the nearest one, and how much of each.
const LINES_MAX: usize = 5_000;
const LINE_CHARS_MAX: usize = 300;
/// The minimum similarity of the nearest line.
const SIMILARITY_MIN: f64 = 0.4;

/// The expectations of a case.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CaseExpectations {
    /// The exit code.
    pub exit_code: i32,
    /// Texts that stdout contains.
    pub stdout_contains: Vec<String>,
    /// Texts that stderr contains.
    pub stderr_contains: Vec<String>,
    /// Texts that neither stream contains.
    pub not_contains: Vec<String>,
    /// JSON that stdout contains at least.
    pub stdout_json: Option<Value>,
}

/// An expectation that was not met.
#[derive(Clone, Debug, PartialEq)]
pub struct AssertionFailure {
    /// The name of the expectation: `stdout-json`.
    pub expectation: String,
    /// A self-contained phrase.
    pub message: String,
    /// The place in a JSON value: `$.a.b[0]`.
    pub at: Option<String>,
    /// The expected value.
    pub expected: Option<Value>,
    /// The actual value; for a missing text, the nearest line.
    pub got: Option<Value>,
}

impl AssertionFailure {
    /// Creates a failure that is fully described by its message.
    pub fn new(expectation: &str, message: impl Into<String>) -> Self {
        let expectation = expectation.to_owned();
        Self { expectation, message: message.into(), at: None, expected: None, got: None }
    }
}

/// The output of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestOutput {
    /// The text on stdout.
    pub stdout: String,
    /// The text on stderr.
    pub stderr: String,
    /// The exit code; for a process killed by a signal, the same number as in shells.
    pub code: Option<i32>,
}

impl TestOutput {
    /// Reads the output of a program.
    pub fn from_outcome(outcome: &Outcome) -> Self {
        let empty = Map::new();
        let fields = match &outcome.reply {
            RunReply::Result(Value::Object(fields)) => fields,
            RunReply::Error(error) => &error.more,
            RunReply::Result(_) | RunReply::Task(_) => &empty,
        };
        let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let code = outcome.exit.map(|exit| match exit {
            ProcessExit::Code(code) => code,
            ProcessExit::Signal(signal) => 128 + signal,
        });
        Self { stdout: text("stdout"), stderr: text("stderr"), code }
    }
}

impl CaseExpectations {
    /// Returns every expectation that was not met.
    pub fn find_failures(&self, said: &TestOutput) -> Vec<AssertionFailure> {
        let mut wrong = Vec::new();
        if said.code != Some(self.exit_code) {
            wrong.push(self.exit_code_failure(said.code.unwrap_or(-1)));
        }
        for (name, stream, wanted) in [
            ("stdout-contains", &said.stdout, &self.stdout_contains),
            ("stderr-contains", &said.stderr, &self.stderr_contains),
        ] {
            let missing = wanted.iter().filter(|text| !stream.contains(text.as_str()));
            wrong.extend(missing.map(|text| missing_text_failure(name, stream, text)));
        }
        for text in &self.not_contains {
            for (name, stream) in [("stdout", &said.stdout), ("stderr", &said.stderr)] {
                if let Some(at) = stream.find(text.as_str()) {
                    wrong.push(forbidden_text_failure(name, stream, text, at));
                }
            }
        }
        if let Some(expected) = &self.stdout_json {
            wrong.extend(check_json(expected, &said.stdout));
        }
        wrong
    }

    fn exit_code_failure(&self, code: i32) -> AssertionFailure {
        let why = match code {
            126 => "; the shell found the program but could not run it",
            127 => "; the shell did not find the program",
            129.. => "; a signal terminated it",
            _ => "",
        };
        AssertionFailure {
            expected: Some(self.exit_code.into()),
            got: Some(code.into()),
            ..AssertionFailure::new("exit-code", format!("the exit code is {code}, expected {}{why}", self.exit_code))
        }
    }
}

fn missing_text_failure(expectation: &str, stream: &str, text: &str) -> AssertionFailure {
    let name = expectation.strip_suffix("-contains").unwrap_or(expectation);
    let what =
        if stream.is_empty() { format!("{name} is empty, expected") } else { format!("{name} does not contain") };
    let message = format!("{what}: {}", render_value(&text.into()));
    AssertionFailure {
        expected: Some(text.into()),
        got: find_nearest_line(stream, text).map(Value::from),
        ..AssertionFailure::new(expectation, message)
    }
}

fn forbidden_text_failure(name: &str, stream: &str, text: &str, at: usize) -> AssertionFailure {
    let start = stream[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = truncate_chars(stream[start..].lines().next().unwrap_or_default(), LINE_CHARS_MAX);
    let number = stream[..at].matches('\n').count() + 1;
    let message = format!("line {number} of {name} contains {}, which must not appear", render_value(&text.into()));
    AssertionFailure { got: Some(line.into()), ..AssertionFailure::new("not-contains", message) }
}

/// Finds the line most similar to a text, if any is similar.
fn find_nearest_line(stream: &str, text: &str) -> Option<String> {
    let cut = |line: &str| truncate_chars(line, LINE_CHARS_MAX).to_owned();
    let text = cut(text.trim().lines().next().unwrap_or_default());
    let lines = stream.lines().take(LINES_MAX).map(cut).filter(|line| !line.trim().is_empty());
    let scored = lines.map(|line| (strsim::sorensen_dice(&line, &text), line));
    // The first of equally similar lines wins.
    let best = scored.fold(None::<(f64, String)>, |best, next| match best {
        Some(best) if best.0 >= next.0 => Some(best),
        _ => Some(next),
    });
    best.filter(|(score, _)| *score >= SIMILARITY_MIN).map(|(_, line)| line)
}

fn check_json(expected: &Value, stdout: &str) -> Vec<AssertionFailure> {
    match serde_json::from_str::<Value>(stdout) {
        Ok(value) => compare_json("stdout-json", expected, &value),
        Err(error) => {
            let is_empty = stdout.trim().is_empty();
            let message =
                if is_empty { "stdout is empty".to_owned() } else { format!("stdout is not valid JSON: {error}") };
            let got = (!stdout.is_empty()).then(|| render_value(&stdout.into()).into());
            vec![AssertionFailure {
                expected: Some(expected.clone()),
                got,
                ..AssertionFailure::new("stdout-json", message)
            }]
        }
    }
}

/// Compares JSON values: an object must contain the expected fields, a list the expected items in order.
pub(super) fn compare_json(expectation: &str, expected: &Value, value: &Value) -> Vec<AssertionFailure> {
    let mut found = Vec::new();
    visit_differences(expected, value, "$", &mut |at, expected, got| {
        if found.len() < FAILURES_MAX {
            let message = match (expected, got) {
                (None, Some(got)) => format!("`{at}` is {}, which is not expected", render_value(got)),
                (Some(expected), None) => format!("`{at}` is missing, expected {}", render_value(expected)),
                (Some(expected), Some(got)) => {
                    format!("`{at}` is {}, expected {}", render_value(got), render_value(expected))
                }
                (None, None) => return,
            };
            found.push(AssertionFailure {
                at: Some(at.to_owned()),
                expected: expected.cloned(),
                got: got.map(truncate_value),
                ..AssertionFailure::new(expectation, message)
            });
        }
    });
    found
}

type DifferenceCallback<'a> = dyn FnMut(&str, Option<&Value>, Option<&Value>) + 'a;

fn visit_differences(expected: &Value, got: &Value, at: &str, differs: &mut DifferenceCallback<'_>) {
    match (expected, got) {
        (Value::Object(expected), Value::Object(got)) => {
            for (key, expected) in expected {
                let at = child_path(at, key);
                match got.get(key) {
                    Some(got) => visit_differences(expected, got, &at, differs),
                    None => differs(&at, Some(expected), None),
                }
            }
        }
        (Value::Array(expected), Value::Array(got)) => {
            for index in 0..expected.len().max(got.len()) {
                let at = format!("{at}[{index}]");
                match (expected.get(index), got.get(index)) {
                    (Some(expected), Some(got)) => visit_differences(expected, got, &at, differs),
                    (expected, got) => differs(&at, expected, got),
                }
            }
        }
        (Value::Number(expected_number), Value::Number(got_number)) if is_equal_number(expected_number, got_number) => {
        }
        _ if expected == got => {}
        _ => differs(at, Some(expected), Some(got)),
    }
}

/// `1` equals `1.0`.
fn is_equal_number(one: &Number, two: &Number) -> bool {
    if let (Some(one), Some(two)) = (one.as_i128(), two.as_i128()) {
        return one == two;
    }
    one.as_f64().is_some() && one.as_f64() == two.as_f64()
}

fn child_path(at: &str, key: &str) -> String {
    let is_plain = !key.is_empty() && key.chars().all(|letter| letter.is_alphanumeric() || "_-".contains(letter));
    if is_plain { format!("{at}.{key}") } else { format!("{at}[{}]", Value::from(key)) }
}

/// Renders a value on one line, truncated.
fn render_value(value: &Value) -> String {
    rep_model::truncate::truncate_with_ellipsis(&value.to_string(), VALUE_CHARS_MAX).into_owned()
}

/// Returns an actual value, truncated to text if it is long.
fn truncate_value(value: &Value) -> Value {
    let text = render_value(value);
    if text.ends_with('…') { text.into() } else { value.clone() }
}
