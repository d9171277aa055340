//! Reports a conversion value by value: where each was read, and whether a person should review it.

use std::collections::BTreeMap;

use rep_model::content_hash;
use serde_json::{Value, json};

use super::FinishedUaspFile;
use super::checklist::{self, ChecklistPoint};
use crate::extract::language;
use crate::extract::rules::{self, ExtractionRule};
use rep_model::{ExtractedFact, SkillDocument, ValuePathStep};

/// The maximum length of an excerpt of a source line.
const EXCERPT_CHARS_MAX: usize = 300;

/// One extracted value.
#[derive(Clone, Debug, PartialEq)]
pub struct ConversionItem {
    /// The path in the document: `constraints.never[2]`.
    pub path: String,
    /// The value.
    pub value: Value,
    /// The line of the Markdown that the value was read from, if the engine reports it.
    pub line: Option<usize>,
    /// The text of that line.
    pub text: String,
    /// Why a person should review the value, if necessary.
    pub doubt: Option<String>,
    /// The extraction rule that found the value, if any.
    pub rule: Option<&'static ExtractionRule>,
}

/// A message of the linter about the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversionNotice {
    /// The data path that the message is about.
    pub at: Option<String>,
    /// The message.
    pub message: String,
    /// How to fix it.
    pub help: String,
}

/// The full report of a conversion.
#[derive(Clone, Debug)]
pub struct ConversionReport {
    /// The path of the Markdown file, as the user knows it.
    pub file: String,
    /// The text of the Markdown file.
    pub source: String,
    /// The engine that read it.
    pub engine: String,
    /// The result.
    pub finished_file: FinishedUaspFile,
    /// The errors that make the result invalid; empty if it is valid.
    pub errors: Vec<ConversionNotice>,
    /// The warnings about the result.
    pub warnings: Vec<ConversionNotice>,
    /// Every value, in the document's order.
    pub items: Vec<ConversionItem>,
    /// The checklist of the specification.
    pub checklist: Vec<ChecklistPoint>,
    /// The number of doubtful candidates that are not in the document, by section.
    pub left_out: BTreeMap<String, usize>,
}

/// The input of a conversion, and its engine.
pub(super) struct ConversionSubject<'a> {
    /// The path of the Markdown file, as the user knows it.
    pub(super) file: &'a str,
    /// The text of the Markdown file.
    pub(super) source: &'a str,
    /// The engine that read it.
    pub(super) engine: &'a str,
}

/// How to see the candidates that were left out.
const LEFT_OUT_HELP: &str =
    "`--include-doubtful` adds them to the document, marked for review; `--explain` names the rules";

impl ConversionReport {
    /// Creates the report of a conversion.
    pub(super) fn new(
        subject: &ConversionSubject<'_>,
        document: &SkillDocument,
        finished: FinishedUaspFile,
        (errors, warnings): (Vec<ConversionNotice>, Vec<ConversionNotice>),
    ) -> Self {
        let lines: Vec<&str> = subject.source.lines().collect();
        let items: Vec<ConversionItem> =
            document.facts.iter().filter_map(|fact| build_item(fact, document.raw_value(), &lines)).collect();
        let mut report = Self {
            file: subject.file.to_owned(),
            source: subject.source.to_owned(),
            engine: subject.engine.to_owned(),
            finished_file: finished,
            errors,
            warnings,
            items,
            checklist: Vec::new(),
            left_out: BTreeMap::new(),
        };
        report.fill_checklist();
        report
    }

    /// Counts the doubtful facts that the rules found and that are not in the document.
    pub(super) fn count_left_out(&mut self, all: &SkillDocument) {
        let rule = |fact: &ExtractedFact| fact.rule.and_then(rules::find_rule);
        for fact in all.facts.iter().filter(|fact| rule(fact).is_some_and(|rule| !rule.is_confident())) {
            if let Some(ValuePathStep::Key(section)) = fact.path.first() {
                *self.left_out.entry(section.clone()).or_default() += 1;
            }
        }
        self.fill_checklist();
    }

    fn fill_checklist(&mut self) {
        let foreign = language::detect_foreign_file(&self.source);
        let facts =
            checklist::ChecklistFacts { items: &self.items, left_out: &self.left_out, foreign_language: foreign };
        self.checklist = checklist::fill_points(&self.finished_file.document, &facts, self.errors.len());
    }

    /// Returns the number of doubtful candidates that were left out and how to see them, or `None` if there are none.
    pub fn left_out_notice(&self) -> Option<String> {
        let count: usize = self.left_out.values().sum();
        let words = if count == 1 { "candidate was" } else { "candidates were" };
        (count > 0).then(|| format!("{count} doubtful {words} left out: {LEFT_OUT_HELP}"))
    }

    /// Returns whether the result is a valid file.
    pub fn is_valid(&self) -> bool {
        self.errors.is_empty()
    }

    /// Returns the number of values that a person should review.
    pub fn doubt_count(&self) -> usize {
        self.items.iter().filter(|item| item.doubt.is_some()).count()
    }

    /// Returns the result object of UASP §7.1.5, with the source of the values.
    pub fn to_json(&self) -> Value {
        let mut object = if self.is_valid() {
            json!({ "valid": true, "skill": self.finished_file.document.raw_value() })
        } else {
            let lines = self.errors.iter().map(ConversionNotice::to_line).collect::<Vec<_>>();
            json!({ "valid": false, "error": lines.join("\n"), "errors": notices_json(&self.errors) })
        };
        object["warnings"] = json!(notices_json(&self.warnings));
        object["engine"] = json!(self.engine);
        object["source"] = json!({ "file": self.file, "sha256": content_hash::sha256_hex(self.source.as_bytes()) });
        object["items"] = self.items.iter().map(ConversionItem::to_json).collect();
        object["checklist"] = self.checklist.iter().map(ChecklistPoint::to_json).collect();
        let left_out: usize = self.left_out.values().sum();
        let doubtful = self.items.iter().filter(|item| item.is_doubtful()).count();
        object["summary"] = json!({
            "items": self.items.len(),
            "needs_review": self.doubt_count(),
            "doubtful": doubtful,
            "doubtful_left_out": left_out,
        });
        if let Some(notice) = self.left_out_notice() {
            object["left_out"] = json!({ "sections": self.left_out, "help": notice });
        }
        object
    }

    /// Returns the rules that found the values, by id.
    pub fn rules_by_id(&self) -> BTreeMap<&'static str, &'static ExtractionRule> {
        self.items.iter().filter_map(|item| item.rule).map(|rule| (rule.id, rule)).collect()
    }

    /// Returns the result object with a description of each rule that found a value.
    pub fn to_explained_json(&self) -> Value {
        let mut object = self.to_json();
        object["rules"] = self.rules_json();
        object
    }

    fn rules_json(&self) -> Value {
        let rule = |(id, rule): (&str, &ExtractionRule)| {
            let known = json!({ "section": rule.section, "confidence": rule.confidence, "summary": rule.summary });
            (id.to_owned(), known)
        };
        Value::Object(self.rules_by_id().into_iter().map(rule).collect())
    }
}

impl ConversionItem {
    /// Returns the value as it appears in results, with its source.
    pub fn to_json(&self) -> Value {
        let mut object = json!({
            "path": self.path,
            "value": self.value,
            "line": self.line,
            "text": self.text,
            "needs_review": self.doubt.is_some(),
        });
        if let Some(doubt) = &self.doubt {
            object["why"] = json!(doubt);
        }
        if let Some(rule) = self.rule {
            object["rule"] = json!(rule.id);
            object["confidence"] = json!(rule.confidence);
        }
        object
    }

    /// Returns whether the rule that found the value has low confidence, and nothing else supports the value.
    pub fn is_doubtful(&self) -> bool {
        self.doubt.is_some() && self.rule.is_some_and(|rule| !rule.is_confident())
    }

    /// Returns the section that contains the value.
    pub fn section(&self) -> &str {
        self.path.split(['.', '[']).next().unwrap_or_default()
    }
}

impl ConversionNotice {
    /// Renders the notice on one line.
    pub fn to_line(&self) -> String {
        match &self.at {
            Some(at) => format!("{at}: {}", self.message),
            None => self.message.clone(),
        }
    }
}

fn notices_json(notices: &[ConversionNotice]) -> Vec<Value> {
    notices.iter().map(|one| json!({ "at": one.at, "message": one.message, "help": one.help })).collect()
}

fn build_item(fact: &ExtractedFact, document: &Value, lines: &[&str]) -> Option<ConversionItem> {
    let mut value = document;
    let mut path = String::new();
    for step in &fact.path {
        match step {
            ValuePathStep::Key(key) => {
                value = value.get(key)?;
                path.push_str(if path.is_empty() { "" } else { "." });
                path.push_str(key);
            }
            ValuePathStep::Item(number) => {
                value = value.get(number)?;
                path.push_str(&format!("[{number}]"));
            }
        }
    }
    let line = (fact.line > 0).then_some(fact.line);
    let text =
        line.and_then(|line| lines.get(line - 1)).map(|text| text.trim().chars().take(EXCERPT_CHARS_MAX).collect());
    let rule = fact.rule.and_then(rules::find_rule);
    Some(ConversionItem {
        path,
        value: value.clone(),
        line,
        text: text.unwrap_or_default(),
        doubt: fact.doubt.clone(),
        rule,
    })
}
