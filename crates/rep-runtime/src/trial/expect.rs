//! What is expected of a case, held against what it said. A mismatch says where, what was expected, and what came.

use rep_model::truncate::truncate_chars;
use serde_json::{Map, Number, Value};

use crate::outcome::{Outcome, Reply};
use rep_sandbox::Exit;

/// The most mismatches that are told of one expectation.
const TOLD_MAX: usize = 20;
/// The longest text or value that is shown.
const SHOWN_CHARS_MAX: usize = 400;
/// How many lines are looked at for the nearest one, and how much of each.
const LINES_MAX: usize = 5_000;
const LINE_CHARS_MAX: usize = 300;
/// How alike the nearest line must be to be shown.
const NEAR: f64 = 0.4;

/// What is expected of a case.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expected {
    /// Its exit code.
    pub exit_code: i32,
    /// Each stands in stdout.
    pub stdout_contains: Vec<String>,
    /// Each stands in stderr.
    pub stderr_contains: Vec<String>,
    /// None stands in either.
    pub not_contains: Vec<String>,
    /// Stdout is JSON that holds at least this.
    pub stdout_json: Option<Value>,
}

/// An expectation that was not met.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// The expectation: `stdout-json`.
    pub expectation: String,
    /// One phrase that can be read alone.
    pub message: String,
    /// The place in a JSON value: `$.a.b[0]`.
    pub at: Option<String>,
    /// What was expected.
    pub expected: Option<Value>,
    /// What came; for a text that is missing, the line that is nearest to it.
    pub got: Option<Value>,
}

impl Mismatch {
    /// A mismatch that a phrase says all about.
    pub fn new(expectation: &str, message: impl Into<String>) -> Self {
        let expectation = expectation.to_owned();
        Self { expectation, message: message.into(), at: None, expected: None, got: None }
    }
}

/// What a run said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// On stdout.
    pub stdout: String,
    /// On stderr.
    pub stderr: String,
    /// Its exit code; of one that a signal ended, as shells count.
    pub code: Option<i32>,
}

impl Said {
    /// What a program said.
    pub fn of(outcome: &Outcome) -> Self {
        let empty = Map::new();
        let fields = match &outcome.reply {
            Reply::Result(Value::Object(fields)) => fields,
            Reply::Error(error) => &error.more,
            Reply::Result(_) | Reply::Task(_) => &empty,
        };
        let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let code = outcome.exit.map(|exit| match exit {
            Exit::Code(code) => code,
            Exit::Signal(signal) => 128 + signal,
        });
        Self { stdout: text("stdout"), stderr: text("stderr"), code }
    }
}

impl Expected {
    /// Every expectation that was not met.
    pub fn judge(&self, said: &Said) -> Vec<Mismatch> {
        let mut wrong = Vec::new();
        if said.code != Some(self.exit_code) {
            wrong.push(self.code_differs(said.code.unwrap_or(-1)));
        }
        for (name, stream, wanted) in [
            ("stdout-contains", &said.stdout, &self.stdout_contains),
            ("stderr-contains", &said.stderr, &self.stderr_contains),
        ] {
            let missing = wanted.iter().filter(|text| !stream.contains(text.as_str()));
            wrong.extend(missing.map(|text| lacks(name, stream, text)));
        }
        for text in &self.not_contains {
            for (name, stream) in [("stdout", &said.stdout), ("stderr", &said.stderr)] {
                if let Some(at) = stream.find(text.as_str()) {
                    wrong.push(holds(name, stream, text, at));
                }
            }
        }
        if let Some(expected) = &self.stdout_json {
            wrong.extend(json(expected, &said.stdout));
        }
        wrong
    }

    fn code_differs(&self, code: i32) -> Mismatch {
        let why = match code {
            126 => "; the shell found the program and could not run it",
            127 => "; the shell found no such program",
            129.. => "; a signal ended it",
            _ => "",
        };
        Mismatch {
            expected: Some(self.exit_code.into()),
            got: Some(code.into()),
            ..Mismatch::new("exit-code", format!("the exit code is {code}, expected {}{why}", self.exit_code))
        }
    }
}

fn lacks(expectation: &str, stream: &str, text: &str) -> Mismatch {
    let name = expectation.strip_suffix("-contains").unwrap_or(expectation);
    let what = if stream.is_empty() { format!("{name} is empty, expected in it") } else { format!("not in {name}") };
    let message = format!("{what}: {}", shown(&text.into()));
    Mismatch {
        expected: Some(text.into()),
        got: nearest(stream, text).map(Value::from),
        ..Mismatch::new(expectation, message)
    }
}

fn holds(name: &str, stream: &str, text: &str, at: usize) -> Mismatch {
    let start = stream[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = truncate_chars(stream[start..].lines().next().unwrap_or_default(), LINE_CHARS_MAX);
    let number = stream[..at].matches('\n').count() + 1;
    let message = format!("line {number} of {name} holds {}, which must not be there", shown(&text.into()));
    Mismatch { got: Some(line.into()), ..Mismatch::new("not-contains", message) }
}

/// The line that is most like a text, where one is at all.
fn nearest(stream: &str, text: &str) -> Option<String> {
    let cut = |line: &str| truncate_chars(line, LINE_CHARS_MAX).to_owned();
    let text = cut(text.trim().lines().next().unwrap_or_default());
    let lines = stream.lines().take(LINES_MAX).map(cut).filter(|line| !line.trim().is_empty());
    let scored = lines.map(|line| (strsim::sorensen_dice(&line, &text), line));
    // Of lines that are equally near, the first.
    let best = scored.fold(None::<(f64, String)>, |best, next| match best {
        Some(best) if best.0 >= next.0 => Some(best),
        _ => Some(next),
    });
    best.filter(|(score, _)| *score >= NEAR).map(|(_, line)| line)
}

fn json(expected: &Value, stdout: &str) -> Vec<Mismatch> {
    match serde_json::from_str::<Value>(stdout) {
        Ok(value) => differences("stdout-json", expected, &value),
        Err(error) => {
            let is_empty = stdout.trim().is_empty();
            let message = if is_empty { "stdout is empty".to_owned() } else { format!("stdout is no JSON: {error}") };
            let got = (!stdout.is_empty()).then(|| shown(&stdout.into()).into());
            vec![Mismatch { expected: Some(expected.clone()), got, ..Mismatch::new("stdout-json", message) }]
        }
    }
}

/// Where a value does not hold what is expected: of objects, what is named; of lists, every item in order.
pub(super) fn differences(expectation: &str, expected: &Value, value: &Value) -> Vec<Mismatch> {
    let mut found = Vec::new();
    compare(expected, value, "$", &mut |at, expected, got| {
        if found.len() < TOLD_MAX {
            let message = match (expected, got) {
                (None, Some(got)) => format!("`{at}` is {}, which is not expected", shown(got)),
                (Some(expected), None) => format!("`{at}` is missing, expected {}", shown(expected)),
                (Some(expected), Some(got)) => format!("`{at}` is {}, expected {}", shown(got), shown(expected)),
                (None, None) => return,
            };
            found.push(Mismatch {
                at: Some(at.to_owned()),
                expected: expected.cloned(),
                got: got.map(bounded),
                ..Mismatch::new(expectation, message)
            });
        }
    });
    found
}

type Differs<'a> = dyn FnMut(&str, Option<&Value>, Option<&Value>) + 'a;

fn compare(expected: &Value, got: &Value, at: &str, differs: &mut Differs<'_>) {
    match (expected, got) {
        (Value::Object(expected), Value::Object(got)) => {
            for (key, expected) in expected {
                let at = below(at, key);
                match got.get(key) {
                    Some(got) => compare(expected, got, &at, differs),
                    None => differs(&at, Some(expected), None),
                }
            }
        }
        (Value::Array(expected), Value::Array(got)) => {
            for index in 0..expected.len().max(got.len()) {
                let at = format!("{at}[{index}]");
                match (expected.get(index), got.get(index)) {
                    (Some(expected), Some(got)) => compare(expected, got, &at, differs),
                    (expected, got) => differs(&at, expected, got),
                }
            }
        }
        (Value::Number(expected_number), Value::Number(got_number)) if is_equal(expected_number, got_number) => {}
        _ if expected == got => {}
        _ => differs(at, Some(expected), Some(got)),
    }
}

/// `1` is `1.0`.
fn is_equal(one: &Number, two: &Number) -> bool {
    if let (Some(one), Some(two)) = (one.as_i128(), two.as_i128()) {
        return one == two;
    }
    one.as_f64().is_some() && one.as_f64() == two.as_f64()
}

fn below(at: &str, key: &str) -> String {
    let is_plain = !key.is_empty() && key.chars().all(|letter| letter.is_alphanumeric() || "_-".contains(letter));
    if is_plain { format!("{at}.{key}") } else { format!("{at}[{}]", Value::from(key)) }
}

/// A value on one line, as far as it is shown.
fn shown(value: &Value) -> String {
    rep_model::truncate::ellipsize(&value.to_string(), SHOWN_CHARS_MAX).into_owned()
}

/// A value that came, or the beginning of it as text.
fn bounded(value: &Value) -> Value {
    let text = shown(value);
    if text.ends_with('…') { text.into() } else { value.clone() }
}
