//! Grades answers to evals: assertions that can be checked mechanically are graded, the rest needs a judge.
//!
//! The formats of `grading.json`, `timing.json` and `benchmark.json` are those of the agentskills guide to
//! evaluating skills. An assertion that needs a judge has `passed: null` and is not counted.

use std::collections::BTreeSet;

use serde_json::{Value, json};

/// One assertion, graded or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssertionGrade {
    /// The assertion.
    pub text: String,
    /// Whether it is met; `None` if it needs a judge.
    pub passed: Option<bool>,
    /// The evidence.
    pub evidence: String,
}

/// A claim that can be checked without a judge.
enum AssertionClaim<'a> {
    /// The answer contains a text, or does not.
    AnswerContains { text: &'a str, is_wanted: bool },
    /// A file exists.
    FileExists(&'a str),
    /// The answer is JSON.
    IsJson,
}

/// Grades an answer. `files` are the files that the agent left, relative to its working directory.
pub fn grade_answer(statements: &[String], answer: &str, files: &BTreeSet<String>) -> Vec<AssertionGrade> {
    statements.iter().map(|text| grade_statement(text, answer, files)).collect()
}

fn grade_statement(statement: &str, answer: &str, files: &BTreeSet<String>) -> AssertionGrade {
    let (passed, evidence) = match parse_claim(statement) {
        None => (None, "needs a judge".to_owned()),
        Some(AssertionClaim::AnswerContains { text, is_wanted }) => {
            let is_there = answer.to_lowercase().contains(&text.to_lowercase());
            let what = if is_there { "contains" } else { "does not contain" };
            (Some(is_there == is_wanted), format!("the answer {what} {}", Value::from(text)))
        }
        Some(AssertionClaim::FileExists(file)) => {
            let is_there = files.contains(file);
            (Some(is_there), format!("`{file}` {}", if is_there { "exists" } else { "does not exist" }))
        }
        Some(AssertionClaim::IsJson) => match serde_json::from_str::<Value>(answer) {
            Ok(_) => (Some(true), "the answer is JSON".to_owned()),
            Err(error) => (Some(false), format!("the answer is not valid JSON: {error}")),
        },
    };
    AssertionGrade { text: statement.to_owned(), passed, evidence }
}

/// Parses an unambiguous assertion: one quoted text with a simple verb, or the output as JSON.
fn parse_claim(statement: &str) -> Option<AssertionClaim<'_>> {
    const SUBJECTS: [&str; 5] = ["the answer", "the output", "the response", "the reply", "it"];
    let lower = statement.to_lowercase();
    let plain = lower.trim().trim_end_matches('.');
    if SUBJECTS.iter().any(|subject| plain == format!("{subject} is valid json")) {
        return Some(AssertionClaim::IsJson);
    }
    let (before, text, after) = split_quoted(statement)?;
    let (before, after) = (before.trim().to_lowercase(), after.trim().trim_end_matches('.').to_lowercase());
    let starts =
        |verbs: &[&str]| SUBJECTS.iter().any(|subject| verbs.iter().any(|verb| before == format!("{subject} {verb}")));
    match after.as_str() {
        "" if starts(&["contains", "includes", "mentions", "holds"]) => {
            Some(AssertionClaim::AnswerContains { text, is_wanted: true })
        }
        "" if starts(&["does not contain", "does not include", "does not mention", "does not hold"]) => {
            Some(AssertionClaim::AnswerContains { text, is_wanted: false })
        }
        "exists" | "is created" | "was created"
            if ["the file", "a file", "a file named"].contains(&before.as_str()) =>
        {
            Some(AssertionClaim::FileExists(text))
        }
        _ => None,
    }
}

/// Splits an assertion at its only quoted text.
fn split_quoted(statement: &str) -> Option<(&str, &str, &str)> {
    let mark = statement.chars().find(|letter| "\"`".contains(*letter))?;
    let mut parts = statement.split(mark);
    let (before, text, after) = (parts.next()?, parts.next()?, parts.next()?);
    (parts.next().is_none() && !text.is_empty() && !after.contains(['"', '`'])).then_some((before, text, after))
}

/// Renders the file `grading.json` of one run.
pub fn grading_json(grades: &[AssertionGrade]) -> Value {
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

/// Returns the share of graded assertions that hold; `None` if none is graded.
pub fn pass_rate(grades: &[AssertionGrade]) -> Option<f64> {
    let graded: Vec<bool> = grades.iter().filter_map(|grade| grade.passed).collect();
    compute_mean(&graded.iter().map(|passed| if *passed { 1.0 } else { 0.0 }).collect::<Vec<f64>>())
}

/// The measurements of one run.
#[derive(Clone, Copy, Debug, Default)]
pub struct EvalMeasurement {
    /// The share of graded assertions that hold.
    pub pass_rate: Option<f64>,
    /// The duration in seconds.
    pub seconds: f64,
    /// The token count, if the agent reports it.
    pub tokens: Option<f64>,
}

/// Selects a measurement to compare between two sets of runs.
type MetricColumn = fn(&EvalMeasurement) -> Option<f64>;

/// Renders the file `benchmark.json`: runs with the skill and without it.
pub fn benchmark_json(with: &[EvalMeasurement], without: &[EvalMeasurement]) -> Value {
    let columns: [(&str, MetricColumn); 3] =
        [("pass_rate", |run| run.pass_rate), ("time_seconds", |run| Some(run.seconds)), ("tokens", |run| run.tokens)];
    let mut summary = json!({ "with_skill": {}, "without_skill": {}, "delta": {} });
    for (name, column) in columns {
        let of = |runs: &[EvalMeasurement]| runs.iter().filter_map(column).collect::<Vec<f64>>();
        let (with, without) = (of(with), of(without));
        summary["with_skill"][name] = json!({ "mean": compute_mean(&with), "stddev": compute_deviation(&with) });
        summary["without_skill"][name] =
            json!({ "mean": compute_mean(&without), "stddev": compute_deviation(&without) });
        summary["delta"][name] =
            json!(compute_mean(&with).zip(compute_mean(&without)).map(|(with, without)| with - without));
    }
    json!({ "run_summary": summary })
}

fn compute_mean(values: &[f64]) -> Option<f64> {
    let count = f64::from(u32::try_from(values.len()).ok().filter(|count| *count > 0)?);
    Some(values.iter().sum::<f64>() / count)
}

fn compute_deviation(values: &[f64]) -> Option<f64> {
    let middle = compute_mean(values)?;
    compute_mean(&values.iter().map(|value| (value - middle).powi(2)).collect::<Vec<f64>>()).map(f64::sqrt)
}
