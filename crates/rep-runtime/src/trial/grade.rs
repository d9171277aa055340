//! Grading answers to evals: what can be seen without a judge is graded, the rest waits for one.
//!
//! The shapes of `grading.json`, `timing.json` and `benchmark.json` are those of the agentskills guide to evaluating skills. A grade
//! that needs a judge has `passed: null`, and counts for nothing.

use std::collections::BTreeSet;

use serde_json::{Value, json};

/// One statement, graded or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grade {
    /// The statement.
    pub text: String,
    /// Whether it holds; `None` where a judge must say.
    pub passed: Option<bool>,
    /// What shows it.
    pub evidence: String,
}

/// What a statement is about, where that can be seen without a judge.
enum Claim<'a> {
    /// The answer holds a text, or does not.
    Says { text: &'a str, is_wanted: bool },
    /// A file is there.
    Makes(&'a str),
    /// The answer is JSON.
    IsJson,
}

/// Grades an answer. `files` are those the agent left, relative to where it started.
pub fn grade(statements: &[String], answer: &str, files: &BTreeSet<String>) -> Vec<Grade> {
    statements.iter().map(|text| one(text, answer, files)).collect()
}

fn one(statement: &str, answer: &str, files: &BTreeSet<String>) -> Grade {
    let (passed, evidence) = match claim(statement) {
        None => (None, "needs a judge".to_owned()),
        Some(Claim::Says { text, is_wanted }) => {
            let is_there = answer.to_lowercase().contains(&text.to_lowercase());
            let what = if is_there { "holds" } else { "does not hold" };
            (Some(is_there == is_wanted), format!("the answer {what} {}", Value::from(text)))
        }
        Some(Claim::Makes(file)) => {
            let is_there = files.contains(file);
            (Some(is_there), format!("`{file}` is {}", if is_there { "there" } else { "not there" }))
        }
        Some(Claim::IsJson) => match serde_json::from_str::<Value>(answer) {
            Ok(_) => (Some(true), "the answer is JSON".to_owned()),
            Err(error) => (Some(false), format!("the answer is no JSON: {error}")),
        },
    };
    Grade { text: statement.to_owned(), passed, evidence }
}

/// Reads a statement that leaves no room: one text in quotes and a plain verb, or the output as JSON.
fn claim(statement: &str) -> Option<Claim<'_>> {
    const SUBJECTS: [&str; 5] = ["the answer", "the output", "the response", "the reply", "it"];
    let lower = statement.to_lowercase();
    let plain = lower.trim().trim_end_matches('.');
    if SUBJECTS.iter().any(|subject| plain == format!("{subject} is valid json")) {
        return Some(Claim::IsJson);
    }
    let (before, text, after) = quoted(statement)?;
    let (before, after) = (before.trim().to_lowercase(), after.trim().trim_end_matches('.').to_lowercase());
    let starts =
        |verbs: &[&str]| SUBJECTS.iter().any(|subject| verbs.iter().any(|verb| before == format!("{subject} {verb}")));
    match after.as_str() {
        "" if starts(&["contains", "includes", "mentions", "holds"]) => Some(Claim::Says { text, is_wanted: true }),
        "" if starts(&["does not contain", "does not include", "does not mention", "does not hold"]) => {
            Some(Claim::Says { text, is_wanted: false })
        }
        "exists" | "is created" | "was created"
            if ["the file", "a file", "a file named"].contains(&before.as_str()) =>
        {
            Some(Claim::Makes(text))
        }
        _ => None,
    }
}

/// The only text in quotes of a statement, with what stands around it.
fn quoted(statement: &str) -> Option<(&str, &str, &str)> {
    let mark = statement.chars().find(|letter| "\"`".contains(*letter))?;
    let mut parts = statement.split(mark);
    let (before, text, after) = (parts.next()?, parts.next()?, parts.next()?);
    (parts.next().is_none() && !text.is_empty() && !after.contains(['"', '`'])).then_some((before, text, after))
}

/// The file `grading.json` of one run.
pub fn grading(grades: &[Grade]) -> Value {
    let count = |wanted: Option<bool>| grades.iter().filter(|grade| grade.passed == wanted).count();
    let results =
        grades.iter().map(|grade| json!({ "text": grade.text, "passed": grade.passed, "evidence": grade.evidence }));
    json!({
        "assertion_results": results.collect::<Vec<Value>>(),
        "summary": {
            "passed": count(Some(true)),
            "failed": count(Some(false)),
            "ungraded": count(None),
            "total": grades.len(),
            "pass_rate": pass_rate(grades),
        },
    })
}

/// How many of the graded statements hold; `None` where none is graded.
pub fn pass_rate(grades: &[Grade]) -> Option<f64> {
    let graded: Vec<bool> = grades.iter().filter_map(|grade| grade.passed).collect();
    mean(&graded.iter().map(|passed| if *passed { 1.0 } else { 0.0 }).collect::<Vec<f64>>())
}

/// What one run measured.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    /// How many of its graded statements hold.
    pub pass_rate: Option<f64>,
    /// How long it took.
    pub seconds: f64,
    /// What it cost, where the agent says so.
    pub tokens: Option<f64>,
}

/// What is compared of two sets of runs.
type Column = fn(&Measured) -> Option<f64>;

/// The file `benchmark.json`: runs with the skill, and without it.
pub fn benchmark(with: &[Measured], without: &[Measured]) -> Value {
    let columns: [(&str, Column); 3] =
        [("pass_rate", |run| run.pass_rate), ("time_seconds", |run| Some(run.seconds)), ("tokens", |run| run.tokens)];
    let mut summary = json!({ "with_skill": {}, "without_skill": {}, "delta": {} });
    for (name, column) in columns {
        let of = |runs: &[Measured]| runs.iter().filter_map(column).collect::<Vec<f64>>();
        let (with, without) = (of(with), of(without));
        summary["with_skill"][name] = json!({ "mean": mean(&with), "stddev": deviation(&with) });
        summary["without_skill"][name] = json!({ "mean": mean(&without), "stddev": deviation(&without) });
        summary["delta"][name] = json!(mean(&with).zip(mean(&without)).map(|(with, without)| with - without));
    }
    json!({ "run_summary": summary })
}

fn mean(values: &[f64]) -> Option<f64> {
    let count = f64::from(u32::try_from(values.len()).ok().filter(|count| *count > 0)?);
    Some(values.iter().sum::<f64>() / count)
}

fn deviation(values: &[f64]) -> Option<f64> {
    let middle = mean(values)?;
    mean(&values.iter().map(|value| (value - middle).powi(2)).collect::<Vec<f64>>()).map(f64::sqrt)
}
