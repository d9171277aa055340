//! Answers the common questions of UASP §6.5. Each is a sequence of queries that is returned with the answer.
//!
//! | question | queries, in order |
//! |---|---|
//! | can I do X? | `constraints.never`, `constraints.always`, `decisions` |
//! | how do I do X? | `commands.X`, `reference.X`, `workflows.X`, then the same sections by text |
//! | what should I do when X? | `decisions?when=*X*`, then `decisions` by text |
//! | what is the syntax of X? | `reference.X`, `reference` by the last part of its keys, `commands.X` |
//!
//! If X is not a path, entries are compared by words: most of the meaningful words of X must occur, in any word form.
//! No model is involved.

use std::collections::BTreeSet;

use rep_model::query::{QueryFilter, ValuePattern};
use rep_model::uasp::{ReferenceEntry, UaspCommand, UaspSections, UaspWorkflow};
use rep_model::{DocumentOrigin, QueryIndex};
use serde_json::Value;

use crate::answer::{QueryEngine, QueryError};
use crate::catalog::CatalogEntry;
use crate::search::words;

/// The kind of question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommonQuestion {
    /// Can I do X?
    Can,
    /// How do I do X?
    How,
    /// What should I do when X?
    When,
    /// What is the syntax of X?
    Syntax,
}

/// The conclusion of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuestionVerdict {
    /// A prohibition applies.
    No,
    /// An obligation or a decision applies.
    Guided,
    /// An entry answers the question.
    Found,
    /// The skill does not mention it.
    Silent,
}

impl QuestionVerdict {
    /// Returns the word used in answers.
    pub const fn name(self) -> &'static str {
        match self {
            QuestionVerdict::No => "no",
            QuestionVerdict::Guided => "guided",
            QuestionVerdict::Found => "found",
            QuestionVerdict::Silent => "silent",
        }
    }
}

/// A value that supports the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerEvidence {
    /// The path of the value.
    pub path: String,
    /// The value.
    pub value: Value,
    /// The line of SKILL.md that an extracted value comes from.
    pub line: Option<usize>,
}

/// The answer to a question, with its evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionAnswer {
    /// The conclusion.
    pub verdict: QuestionVerdict,
    /// The supporting values, best first.
    pub evidence: Vec<AnswerEvidence>,
    /// The queries that were made, in order.
    pub queries: Vec<String>,
    /// Whether the document was written by the author or extracted.
    pub origin: DocumentOrigin,
}

/// A section whose entries are found by key or by description.
#[derive(Clone, Copy)]
enum QueriedSection {
    Commands,
    Reference,
    Workflows,
}

impl QueriedSection {
    /// Returns the section's name in queries.
    const fn name(self) -> &'static str {
        match self {
            QueriedSection::Commands => "commands",
            QueriedSection::Reference => "reference",
            QueriedSection::Workflows => "workflows",
        }
    }

    /// Returns the description of each entry, in document order.
    fn describe_entries(self, sections: &UaspSections) -> Vec<String> {
        fn join<'a>(texts: impl Iterator<Item = &'a str>) -> String {
            texts.collect::<Vec<_>>().join(" ")
        }
        match self {
            QueriedSection::Commands => sections.commands.iter().map(UaspCommand::describing_texts).map(join).collect(),
            QueriedSection::Reference => {
                sections.reference.iter().map(ReferenceEntry::describing_texts).map(join).collect()
            }
            QueriedSection::Workflows => {
                sections.workflows.iter().map(UaspWorkflow::describing_texts).map(join).collect()
            }
        }
    }
}

/// The maximum number of supporting values.
const EVIDENCE_MAX: usize = 5;

/// Answers a common question about a skill.
pub fn answer_question(
    answers: &QueryEngine,
    entry: &CatalogEntry,
    question: CommonQuestion,
    about: &str,
) -> Result<QuestionAnswer, QueryError> {
    let (_, queryable) = answers.index_entry(entry)?;
    let index = &queryable.index;
    let mut asker = QuestionResolver { index, name: &entry.qualified_name, about, queries: Vec::new() };
    let (verdict, mut grounds) = match question {
        CommonQuestion::Can => asker.answer_can(),
        CommonQuestion::How => asker.answer_how(),
        CommonQuestion::When => asker.answer_when(),
        CommonQuestion::Syntax => asker.answer_syntax(),
    };
    grounds.truncate(EVIDENCE_MAX);
    let queries = asker.queries;
    Ok(QuestionAnswer { verdict, evidence: grounds, queries, origin: index.document.origin })
}

struct QuestionResolver<'a> {
    index: &'a QueryIndex,
    name: &'a str,
    about: &'a str,
    queries: Vec<String>,
}

impl QuestionResolver<'_> {
    fn answer_can(&mut self) -> (QuestionVerdict, Vec<AnswerEvidence>) {
        let forbidden = self.search_list("constraints.never");
        if !forbidden.is_empty() {
            return (QuestionVerdict::No, forbidden);
        }
        let mut guides = self.search_list("constraints.always");
        guides.extend(self.search_decisions());
        let verdict = if guides.is_empty() { QuestionVerdict::Silent } else { QuestionVerdict::Guided };
        (verdict, guides)
    }

    fn answer_how(&mut self) -> (QuestionVerdict, Vec<AnswerEvidence>) {
        let sections = [QueriedSection::Commands, QueriedSection::Reference, QueriedSection::Workflows];
        let mut grounds: Vec<AnswerEvidence> =
            sections.into_iter().filter_map(|section| self.find_exact(section)).collect();
        if grounds.is_empty() {
            grounds = sections.into_iter().flat_map(|section| self.search_section(section)).collect();
        }
        conclude_verdict(grounds)
    }

    fn answer_when(&mut self) -> (QuestionVerdict, Vec<AnswerEvidence>) {
        let filter = QueryFilter { key: "when".to_owned(), pattern: ValuePattern::match_anywhere(self.about) };
        self.queries.push(format!("{}:decisions?when=*{}*", self.name, escape_filter(self.about)));
        let mut grounds = Vec::new();
        if let Some(answer) = self.index.find_answer("decisions", &[filter])
            && let Value::Array(items) = answer.value.to_value()
        {
            grounds = items.into_iter().map(|value| self.make_evidence("decisions", value)).collect();
        }
        if grounds.is_empty() {
            grounds = self.search_decisions();
        }
        conclude_verdict(grounds)
    }

    fn answer_syntax(&mut self) -> (QuestionVerdict, Vec<AnswerEvidence>) {
        let mut grounds: Vec<AnswerEvidence> = self.find_exact(QueriedSection::Reference).into_iter().collect();
        if grounds.is_empty() {
            grounds = self.find_by_last_key();
        }
        grounds.extend(self.find_exact(QueriedSection::Commands));
        if grounds.is_empty() {
            let sections = [QueriedSection::Reference, QueriedSection::Commands];
            grounds = sections.into_iter().flat_map(|section| self.search_section(section)).collect();
        }
        conclude_verdict(grounds)
    }

    /// Finds the entry that X names, either as written or with its words joined as in names.
    fn find_exact(&mut self, section: QueriedSection) -> Option<AnswerEvidence> {
        let section = section.name();
        let words: Vec<&str> = self.about.split_whitespace().collect();
        let forms: BTreeSet<String> = [".", "-", "_", " "].iter().map(|between| words.join(between)).collect();
        for form in forms {
            for form in [form.clone(), form.to_lowercase()] {
                let path = format!("{section}.{form}");
                if let Some(answer) = self.index.find_answer(&path, &[]) {
                    let value = answer.value.to_value();
                    self.queries.push(format!("{}:{path}", self.name));
                    return Some(self.make_evidence(&path, value));
                }
            }
        }
        self.queries.push(format!("{}:{section}.{}", self.name, words.join(".")));
        None
    }

    /// Finds the reference entries, or features of entries, whose key ends in X, in any namespace.
    fn find_by_last_key(&mut self) -> Vec<AnswerEvidence> {
        let wanted: Vec<String> = words::split_words(self.about);
        let Some(Value::Object(entries)) = self.query_path(QueriedSection::Reference.name()) else { return Vec::new() };
        let mut grounds = Vec::new();
        for (key, entry) in entries {
            let last = key.rsplit('.').next().unwrap_or(&key);
            if words::split_words(last) == wanted {
                grounds.push(self.make_evidence(&format!("reference.{key}"), entry));
                continue;
            }
            let features = entry.as_object().into_iter().flatten();
            let named = features.filter(|(feature, _)| words::split_words(feature) == wanted);
            let named: Vec<(String, Value)> = named.map(|(name, value)| (name.clone(), value.clone())).collect();
            grounds.extend(
                named.into_iter().map(|(name, value)| self.make_evidence(&format!("reference.{key}.{name}"), value)),
            );
        }
        grounds
    }

    /// Returns the value that a query for a path finds.
    fn query_path(&mut self, path: &str) -> Option<Value> {
        self.queries.push(format!("{}:{path}", self.name));
        Some(self.index.find_answer(path, &[])?.value.to_value())
    }

    /// Finds the items of a list that mention X, best first.
    fn search_list(&mut self, path: &str) -> Vec<AnswerEvidence> {
        let Some(Value::Array(items)) = self.query_path(path) else { return Vec::new() };
        let one = |item: Value| (path.to_owned(), item.as_str().unwrap_or_default().to_owned(), item);
        self.rank_candidates(items.into_iter().map(one).collect())
    }

    /// Finds the decisions whose condition mentions X, best first.
    fn search_decisions(&mut self) -> Vec<AnswerEvidence> {
        let Some(Value::Array(items)) = self.query_path("decisions") else { return Vec::new() };
        let decisions = &self.index.document.sections.decisions;
        let about =
            decisions.iter().map(|one| [&one.when, &one.name].into_iter().flatten().map(|text| &**text).collect());
        let one = |(item, about): (Value, String)| ("decisions".to_owned(), about, item);
        self.rank_candidates(items.into_iter().zip(about).map(one).collect())
    }

    /// Finds the entries of a section that mention X, best first.
    fn search_section(&mut self, section: QueriedSection) -> Vec<AnswerEvidence> {
        let path = section.name();
        let Some(Value::Object(entries)) = self.query_path(path) else { return Vec::new() };
        let prose = section.describe_entries(&self.index.document.sections);
        let one = |((key, value), prose): ((String, Value), String)| {
            (format!("{path}.{key}"), format!("{key} {prose}"), value)
        };
        self.rank_candidates(entries.into_iter().zip(prose).map(one).collect())
    }

    /// Returns the candidates whose text contains most of the words of X.
    fn rank_candidates(&self, candidates: Vec<(String, String, Value)>) -> Vec<AnswerEvidence> {
        let wanted: BTreeSet<String> = words::split_words(self.about).into_iter().collect();
        if wanted.is_empty() {
            return Vec::new();
        }
        let mut scored = Vec::new();
        for (path, text, value) in candidates {
            let held: BTreeSet<String> = words::split_words(&text).into_iter().collect();
            let hits = wanted.intersection(&held).count();
            // At least two thirds of the words must match, so of one or two words all must.
            if hits * 3 >= wanted.len() * 2 {
                scored.push((hits * 1000 / held.len().max(1), hits, path, value));
            }
        }
        // Most words first, then the closest text. Ties stay in document order.
        scored.sort_by_key(|(closeness, hits, ..)| std::cmp::Reverse((*hits, *closeness)));
        scored.into_iter().map(|(_, _, path, value)| self.make_evidence(&path, value)).collect()
    }

    fn make_evidence(&self, path: &str, value: Value) -> AnswerEvidence {
        let line = self.find_line(path, &value);
        AnswerEvidence { path: path.to_owned(), value, line }
    }

    /// Returns the line that an extracted value comes from: that of the entry, or of the equal list item.
    fn find_line(&self, path: &str, value: &Value) -> Option<usize> {
        let answer = self.index.find_answer(path, &[])?;
        let number = match answer.value.to_value() {
            Value::Array(items) if !value.is_array() => items.iter().position(|item| item == value),
            _ => None,
        };
        let facts = answer.facts.into_iter();
        let mut own = facts.filter(|fact| match number {
            Some(number) => fact.path.contains(&rep_model::ValuePathStep::Item(number)),
            None => true,
        });
        own.next().map(|fact| fact.line)
    }
}

fn conclude_verdict(grounds: Vec<AnswerEvidence>) -> (QuestionVerdict, Vec<AnswerEvidence>) {
    (if grounds.is_empty() { QuestionVerdict::Silent } else { QuestionVerdict::Found }, grounds)
}

/// Escapes text for use in a filter.
fn escape_filter(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '%' | '&' | '=' | '?' | '*' => out.push_str(&format!("%{:02X}", u32::from(letter))),
            other => out.push(other),
        }
    }
    out
}
