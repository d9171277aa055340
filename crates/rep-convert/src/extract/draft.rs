//! Collects the candidates of a skill by section, and turns them into a document: duplicates, conflicts, threshold.

use std::collections::BTreeSet;

use rep_model::{ExtractedFact, ValuePathStep};
use serde_json::{Value, json};

use super::ExtractionOptions;
use super::rules::{self, ExtractionRule};

/// The maximum number of facts in a section.
const FACTS_MAX: usize = 1_000;

/// A candidate: a value, the line that it was read from, and the rule that found it.
#[derive(Clone, Debug)]
pub(super) struct FactCandidate {
    pub(super) value: Value,
    pub(super) line: usize,
    pub(super) rule: &'static ExtractionRule,
    /// Why a person should review it, if that does not follow from the rule.
    pub(super) doubt: Option<String>,
    /// The link target, until the sources are known.
    pub(super) link: Option<String>,
}

impl FactCandidate {
    fn new(rule: &'static ExtractionRule, line: usize, doubt: Option<&str>, value: Value) -> Self {
        let points = matches!(rule.section, "never" | "always" | "prefer" | "decisions") && points_back(&value);
        let doubt = doubt.or(points.then_some("it refers to an earlier sentence"));
        Self { value, line, rule, doubt: doubt.map(str::to_owned), link: None }
    }

    fn to_fact(&self, path: Vec<ValuePathStep>) -> ExtractedFact {
        let unsure = (!self.rule.is_confident()).then(|| format!("the rule `{}` has low confidence", self.rule.id));
        ExtractedFact { path, line: self.line, doubt: self.doubt.clone().or(unsure), rule: Some(self.rule.id) }
    }
}

/// Returns whether a rule is meaningless without the sentence before it: `reopen it`, `this field must be set`.
fn points_back(value: &Value) -> bool {
    let text = value.as_str().or_else(|| value["use"].as_str()).or_else(|| value["then"].as_str()).unwrap_or_default();
    let is_pronoun = |word: &str| matches!(word, "it" | "this" | "that" | "them" | "these" | "those");
    let lower = text.to_lowercase();
    let mut words = lower.split(' ');
    let mut next = || words.next().unwrap_or_default();
    let (first, second, third) = (next(), next(), next());
    let is_said = second == "this" && value["when"].as_str().is_some_and(|when| when.to_lowercase().contains(third));
    is_pronoun(first) || is_pronoun(second) && !is_said
}

/// A section that is a list of candidates.
#[derive(Clone, Debug, Default)]
pub(crate) struct CandidateList {
    pub(super) items: Vec<FactCandidate>,
}

impl CandidateList {
    pub(crate) fn add(&mut self, rule: &'static ExtractionRule, line: usize, value: Value) {
        self.add_with_doubt(rule, line, None, value);
    }

    pub(super) fn add_with_doubt(
        &mut self,
        rule: &'static ExtractionRule,
        line: usize,
        doubt: Option<&str>,
        value: Value,
    ) {
        if self.items.len() < FACTS_MAX * 2 && value != json!("") {
            self.items.push(FactCandidate::new(rule, line, doubt, value));
        }
    }

    fn into_steps(self) -> Vec<(ValuePathStep, FactCandidate)> {
        self.items.into_iter().enumerate().map(|(number, found)| (ValuePathStep::Item(number), found)).collect()
    }

    /// Retains the most confident of equal candidates, and drops those below the threshold.
    fn resolve_duplicates(&mut self, extraction: &ExtractionOptions) {
        self.items.retain(|candidate| extraction.allows_rule(candidate.rule));
        let mut seen = BTreeSet::new();
        let mut order: Vec<usize> = (0..self.items.len()).collect();
        order.sort_by_key(|index| std::cmp::Reverse(self.items[*index].rule.confidence));
        order.retain(|index| {
            let candidate = &self.items[*index];
            // Repeated entries on a page of known layout are intended.
            candidate.rule == &rules::PAGE_FIELD || seen.insert(normalize_for_comparison(&candidate.value))
        });
        order.sort_unstable();
        order.truncate(FACTS_MAX);
        self.items = order.into_iter().map(|index| self.items[index].clone()).collect();
    }
}

/// Removes case, spaces and most punctuation from a value, to find duplicates. C, C++ and C# stay distinct.
fn normalize_for_comparison(value: &Value) -> String {
    let text = value.to_string();
    let letters = text.chars().filter(|letter| letter.is_alphanumeric() || ":+#".contains(*letter));
    letters.flat_map(char::to_lowercase).collect()
}

/// A section that is a mapping of names to candidates.
#[derive(Clone, Debug, Default)]
pub(crate) struct CandidateMap {
    pub(super) entries: Vec<(String, FactCandidate)>,
    seen: BTreeSet<String>,
}

impl CandidateMap {
    /// Adds an entry under a unique key: a number is appended to a name that is already used.
    pub(crate) fn add(
        &mut self,
        rule: &'static ExtractionRule,
        key: &str,
        line: usize,
        doubt: Option<&str>,
        value: Value,
    ) {
        let mut keys = (1..50).map(|number| if number == 1 { key.to_owned() } else { format!("{key}-{number}") });
        if let Some(own) = keys.find(|own| !self.contains_key(own)).filter(|_| self.entries.len() < FACTS_MAX) {
            self.seen.insert(own.clone());
            self.entries.push((own, FactCandidate::new(rule, line, doubt, value)));
        }
    }

    pub(super) fn contains_key(&self, key: &str) -> bool {
        self.seen.contains(key)
    }

    fn into_steps(self) -> Vec<(ValuePathStep, FactCandidate)> {
        self.entries.into_iter().map(|(key, found)| (ValuePathStep::Key(key), found)).collect()
    }
}

/// All candidates found in a skill.
#[derive(Clone, Debug, Default)]
pub(crate) struct DocumentDraft {
    pub(crate) meta: CandidateMap,
    pub(crate) keywords: CandidateList,
    pub(crate) intents: CandidateList,
    pub(crate) file_patterns: CandidateList,
    pub(crate) never: CandidateList,
    pub(crate) always: CandidateList,
    pub(crate) prefer: CandidateList,
    pub(crate) decisions: CandidateList,
    pub(crate) entities: CandidateList,
    pub(crate) commands: CandidateMap,
    pub(crate) global_flags: CandidateList,
    pub(crate) workflows: CandidateMap,
    pub(crate) reference: CandidateMap,
    pub(crate) templates: CandidateMap,
    pub(crate) environment: CandidateList,
    pub(crate) sources: CandidateList,
}

impl DocumentDraft {
    /// Drops candidates below the threshold, and retains the most confident of conflicting or equal ones.
    pub(super) fn resolve_conflicts(&mut self, extraction: &ExtractionOptions) {
        let triggers = [&mut self.keywords, &mut self.intents, &mut self.file_patterns];
        let rules = [&mut self.never, &mut self.always, &mut self.prefer, &mut self.decisions];
        let others = [&mut self.entities, &mut self.global_flags, &mut self.environment, &mut self.sources];
        triggers.into_iter().chain(rules).chain(others).for_each(|list| list.resolve_duplicates(extraction));
        let mappings = [&mut self.commands, &mut self.workflows, &mut self.reference, &mut self.templates];
        for mapping in mappings {
            mapping.entries.retain(|(_, candidate)| extraction.allows_rule(candidate.rule));
        }
        // A value that is both required and forbidden was misread once.
        let forbidden: BTreeSet<String> =
            self.never.items.iter().map(|one| normalize_for_comparison(&one.value)).collect();
        self.always
            .items
            .retain(|one| one.rule == &rules::PAGE_FIELD || !forbidden.contains(&normalize_for_comparison(&one.value)));
    }

    /// Returns the non-empty sections in the order of the specification, and where each value was read.
    pub(super) fn into_sections(self) -> (Value, Vec<ExtractedFact>) {
        let sections = [
            ("meta", self.meta.into_steps()),
            ("triggers.keywords", self.keywords.into_steps()),
            ("triggers.intents", self.intents.into_steps()),
            ("triggers.file_patterns", self.file_patterns.into_steps()),
            ("constraints.never", self.never.into_steps()),
            ("constraints.always", self.always.into_steps()),
            ("constraints.prefer", self.prefer.into_steps()),
            ("decisions", self.decisions.into_steps()),
            ("state.entities", self.entities.into_steps()),
            ("commands", self.commands.into_steps()),
            ("global_flags", self.global_flags.into_steps()),
            ("workflows", self.workflows.into_steps()),
            ("reference", self.reference.into_steps()),
            ("templates", self.templates.into_steps()),
            ("environment", self.environment.into_steps()),
            ("sources", self.sources.into_steps()),
        ];
        let mut root = json!({});
        let mut facts = Vec::new();
        for (path, found) in sections {
            for (last, found) in found {
                let section = path.split('.').map(|key| ValuePathStep::Key(key.to_owned()));
                facts.push(found.to_fact(section.chain([last.clone()]).collect()));
                match (last, path.split('.').fold(&mut root, |value, key| &mut value[key])) {
                    (ValuePathStep::Key(key), value) => value[key] = found.value,
                    (ValuePathStep::Item(_), Value::Array(items)) => items.push(found.value),
                    (ValuePathStep::Item(_), value) => *value = json!([found.value]),
                }
            }
        }
        (root, facts)
    }
}
