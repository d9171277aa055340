//! The common questions of UASP §6.5, each a composition of queries that is told with the answer.
//!
//! | question | queries, in order |
//! |---|---|
//! | can I do X? | `constraints.never`, `constraints.always`, `decisions` |
//! | how do I do X? | `commands.X`, `reference.X`, `workflows.X`, then the same sections by what they say |
//! | what should I do when X? | `decisions?when=*X*`, then `decisions` by what they say |
//! | what is the syntax of X? | `reference.X`, `reference` by the last part of its keys, `commands.X` |
//!
//! Where X is no path, entries are compared by words: without regard to word forms, most of the
//! words that carry meaning must be there. No model is involved.

use std::collections::BTreeSet;

use rep_model::query::{Filter, Pattern};
use rep_model::uasp::{Command, ReferenceEntry, Sections, Workflow};
use rep_model::{Index, Origin};
use serde_json::Value;

use crate::answer::{Answers, Miss};
use crate::catalog::CatalogEntry;
use crate::search::words;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Can I do X?
    Can,
    /// How do I do X?
    How,
    /// What should I do when X?
    When,
    /// What is the syntax of X?
    Syntax,
}

/// What the skill says to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A prohibition is about it.
    No,
    /// A duty or a decision is about it.
    Guided,
    /// Something answers.
    Found,
    /// Nothing in the skill is about it.
    Silent,
}

impl Verdict {
    /// The word in answers.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::No => "no",
            Verdict::Guided => "guided",
            Verdict::Found => "found",
            Verdict::Silent => "silent",
        }
    }
}

/// A value that answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Ground {
    /// Where it stands.
    pub path: String,
    /// What stands there.
    pub value: Value,
    /// The line of SKILL.md it was read from, for extracted values.
    pub line: Option<usize>,
}

/// The answer to a question, and how it was come by.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// In one word.
    pub verdict: Verdict,
    /// What it rests on, the best first.
    pub grounds: Vec<Ground>,
    /// The queries that were asked, in order.
    pub queries: Vec<String>,
    /// Whether the author structured the skill or we did.
    pub origin: Origin,
}

/// A section whose entries are looked up by their key, and by what they say about themselves.
#[derive(Clone, Copy)]
enum Section {
    Commands,
    Reference,
    Workflows,
}

impl Section {
    /// The word in queries.
    const fn name(self) -> &'static str {
        match self {
            Section::Commands => "commands",
            Section::Reference => "reference",
            Section::Workflows => "workflows",
        }
    }

    /// What each entry says about itself, in the order of the document.
    fn prose(self, sections: &Sections) -> Vec<String> {
        fn join<'a>(texts: impl Iterator<Item = &'a str>) -> String {
            texts.collect::<Vec<_>>().join(" ")
        }
        match self {
            Section::Commands => sections.commands.iter().map(Command::prose).map(join).collect(),
            Section::Reference => sections.reference.iter().map(ReferenceEntry::prose).map(join).collect(),
            Section::Workflows => sections.workflows.iter().map(Workflow::prose).map(join).collect(),
        }
    }
}

/// The most grounds that are told.
const GROUNDS_MAX: usize = 5;

/// Asks a skill a common question.
pub fn ask(answers: &Answers, entry: &CatalogEntry, question: Question, about: &str) -> Result<Told, Miss> {
    let (_, index) = answers.index(entry)?;
    let mut asker = Asker { index: &index, name: &entry.qualified_name, about, queries: Vec::new() };
    let (verdict, mut grounds) = match question {
        Question::Can => asker.can(),
        Question::How => asker.how(),
        Question::When => asker.when(),
        Question::Syntax => asker.syntax(),
    };
    grounds.truncate(GROUNDS_MAX);
    let queries = asker.queries;
    Ok(Told { verdict, grounds, queries, origin: index.document.origin })
}

struct Asker<'a> {
    index: &'a Index,
    name: &'a str,
    about: &'a str,
    queries: Vec<String>,
}

impl Asker<'_> {
    fn can(&mut self) -> (Verdict, Vec<Ground>) {
        let forbidden = self.list("constraints.never");
        if !forbidden.is_empty() {
            return (Verdict::No, forbidden);
        }
        let mut guides = self.list("constraints.always");
        guides.extend(self.decisions());
        let verdict = if guides.is_empty() { Verdict::Silent } else { Verdict::Guided };
        (verdict, guides)
    }

    fn how(&mut self) -> (Verdict, Vec<Ground>) {
        let sections = [Section::Commands, Section::Reference, Section::Workflows];
        let mut grounds: Vec<Ground> = sections.into_iter().filter_map(|section| self.exact(section)).collect();
        if grounds.is_empty() {
            grounds = sections.into_iter().flat_map(|section| self.map(section)).collect();
        }
        found(grounds)
    }

    fn when(&mut self) -> (Verdict, Vec<Ground>) {
        let filter = Filter { key: "when".to_owned(), pattern: Pattern::containing(self.about) };
        self.queries.push(format!("{}:decisions?when=*{}*", self.name, escaped(self.about)));
        let mut grounds = Vec::new();
        if let Some(answer) = self.index.ask("decisions", &[filter])
            && let Value::Array(items) = answer.value.to_value()
        {
            grounds = items.into_iter().map(|value| self.ground("decisions", value)).collect();
        }
        if grounds.is_empty() {
            grounds = self.decisions();
        }
        found(grounds)
    }

    fn syntax(&mut self) -> (Verdict, Vec<Ground>) {
        let mut grounds: Vec<Ground> = self.exact(Section::Reference).into_iter().collect();
        if grounds.is_empty() {
            grounds = self.last_part();
        }
        grounds.extend(self.exact(Section::Commands));
        if grounds.is_empty() {
            let sections = [Section::Reference, Section::Commands];
            grounds = sections.into_iter().flat_map(|section| self.map(section)).collect();
        }
        found(grounds)
    }

    /// The entry of a section that X names: as it is, or its words joined as names join them.
    fn exact(&mut self, section: Section) -> Option<Ground> {
        let section = section.name();
        let words: Vec<&str> = self.about.split_whitespace().collect();
        let forms: BTreeSet<String> = [".", "-", "_", " "].iter().map(|between| words.join(between)).collect();
        for form in forms {
            for form in [form.clone(), form.to_lowercase()] {
                let path = format!("{section}.{form}");
                if let Some(answer) = self.index.ask(&path, &[]) {
                    let value = answer.value.to_value();
                    self.queries.push(format!("{}:{path}", self.name));
                    return Some(self.ground(&path, value));
                }
            }
        }
        self.queries.push(format!("{}:{section}.{}", self.name, words.join(".")));
        None
    }

    /// The reference entries whose key ends in X, whatever namespace they are in; features of entries too.
    fn last_part(&mut self) -> Vec<Ground> {
        let wanted: Vec<String> = words::list(self.about);
        let Some(Value::Object(entries)) = self.query(Section::Reference.name()) else { return Vec::new() };
        let mut grounds = Vec::new();
        for (key, entry) in entries {
            let last = key.rsplit('.').next().unwrap_or(&key);
            if words::list(last) == wanted {
                grounds.push(self.ground(&format!("reference.{key}"), entry));
                continue;
            }
            let features = entry.as_object().into_iter().flatten();
            let named = features.filter(|(feature, _)| words::list(feature) == wanted);
            let named: Vec<(String, Value)> = named.map(|(name, value)| (name.clone(), value.clone())).collect();
            grounds
                .extend(named.into_iter().map(|(name, value)| self.ground(&format!("reference.{key}.{name}"), value)));
        }
        grounds
    }

    /// What a query for a path finds.
    fn query(&mut self, path: &str) -> Option<Value> {
        self.queries.push(format!("{}:{path}", self.name));
        Some(self.index.ask(path, &[])?.value.to_value())
    }

    /// The texts of a list that are about X, the best first.
    fn list(&mut self, path: &str) -> Vec<Ground> {
        let Some(Value::Array(items)) = self.query(path) else { return Vec::new() };
        let one = |item: Value| (path.to_owned(), item.as_str().unwrap_or_default().to_owned(), item);
        self.best(items.into_iter().map(one).collect())
    }

    /// The decisions whose condition is about X, the best first.
    fn decisions(&mut self) -> Vec<Ground> {
        let Some(Value::Array(items)) = self.query("decisions") else { return Vec::new() };
        let decisions = &self.index.document.sections.decisions;
        let about =
            decisions.iter().map(|one| [&one.when, &one.name].into_iter().flatten().map(|text| &**text).collect());
        let one = |(item, about): (Value, String)| ("decisions".to_owned(), about, item);
        self.best(items.into_iter().zip(about).map(one).collect())
    }

    /// The entries of a section that are about X, the best first.
    fn map(&mut self, section: Section) -> Vec<Ground> {
        let path = section.name();
        let Some(Value::Object(entries)) = self.query(path) else { return Vec::new() };
        let prose = section.prose(&self.index.document.sections);
        let one = |((key, value), prose): ((String, Value), String)| {
            (format!("{path}.{key}"), format!("{key} {prose}"), value)
        };
        self.best(entries.into_iter().zip(prose).map(one).collect())
    }

    /// Those of some values whose text has most of the words of X.
    fn best(&self, candidates: Vec<(String, String, Value)>) -> Vec<Ground> {
        let wanted: BTreeSet<String> = words::list(self.about).into_iter().collect();
        if wanted.is_empty() {
            return Vec::new();
        }
        let mut scored = Vec::new();
        for (path, text, value) in candidates {
            let held: BTreeSet<String> = words::list(&text).into_iter().collect();
            let hits = wanted.intersection(&held).count();
            // Two words of three, and of two or one all.
            if hits * 3 >= wanted.len() * 2 {
                scored.push((hits * 1000 / held.len().max(1), hits, path, value));
            }
        }
        // The most words, then the closest text; equals stay in the skill's order.
        scored.sort_by_key(|(closeness, hits, ..)| std::cmp::Reverse((*hits, *closeness)));
        scored.into_iter().map(|(_, _, path, value)| self.ground(&path, value)).collect()
    }

    fn ground(&self, path: &str, value: Value) -> Ground {
        let line = self.line(path, &value);
        Ground { path: path.to_owned(), value, line }
    }

    /// The line an extracted value was read from: of the entry itself, or of the item of a list that equals it.
    fn line(&self, path: &str, value: &Value) -> Option<usize> {
        let answer = self.index.ask(path, &[])?;
        let number = match answer.value.to_value() {
            Value::Array(items) if !value.is_array() => items.iter().position(|item| item == value),
            _ => None,
        };
        let facts = answer.facts.into_iter();
        let mut own = facts.filter(|fact| match number {
            Some(number) => fact.path.contains(&rep_model::Step::Item(number)),
            None => true,
        });
        own.next().map(|fact| fact.line)
    }
}

fn found(grounds: Vec<Ground>) -> (Verdict, Vec<Ground>) {
    (if grounds.is_empty() { Verdict::Silent } else { Verdict::Found }, grounds)
}

/// Text as it must be written in a filter.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '%' | '&' | '=' | '?' | '*' => out.push_str(&format!("%{:02X}", u32::from(letter))),
            other => out.push(other),
        }
    }
    out
}
