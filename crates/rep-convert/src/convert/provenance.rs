//! Compares a document with its source text: locates each fact, and marks the facts that the source does not support.
//!
//! A model writes what sounds plausible. Names, flags, URLs and numbers must occur in the source literally. Most of the
//! other words must occur as well, and those of a rule close together. Unsupported facts are not removed, but marked
//! for review.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use rep_model::{ExtractedFact, ValuePathStep};

/// The maximum number of lines examined per word.
const LINES_MAX: usize = 200;
/// The number of lines around the best one that belong to a place.
const LINES_AROUND: usize = 2;
/// The maximum number of missing words in a message.
const MISSING_WORDS_MAX: usize = 5;

/// Locates each fact of a document in its source, and adds a doubt to those that are not found.
pub fn locate_facts(document: &Value, source: &str) -> Vec<ExtractedFact> {
    let source = SourceWordIndex::new(source);
    let mut facts = Vec::new();
    for (path, value) in list_facts(document) {
        let (line, doubt) = source.check_fact(&path, value);
        facts.push(ExtractedFact { path, line, doubt, rule: None });
    }
    facts
}

/// Lists the facts of a document as a report does.
fn list_facts(document: &Value) -> Vec<(Vec<ValuePathStep>, &Value)> {
    let key = |name: &str| ValuePathStep::Key(name.to_owned());
    let mut found = Vec::new();
    for (section, value) in document.as_object().into_iter().flatten() {
        let is_nested = matches!(section.as_str(), "triggers" | "constraints" | "state");
        match value {
            Value::Object(map) if is_nested => {
                for (name, list) in map {
                    let items = list.as_array().into_iter().flatten().enumerate();
                    found.extend(
                        items.map(|(index, item)| (vec![key(section), key(name), ValuePathStep::Item(index)], item)),
                    );
                }
            }
            Value::Object(map) => found.extend(map.iter().map(|(name, item)| (vec![key(section), key(name)], item))),
            Value::Array(items) => {
                let items = items.iter().enumerate();
                found.extend(items.map(|(index, item)| (vec![key(section), ValuePathStep::Item(index)], item)));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                found.push((vec![key(section)], value));
            }
        }
    }
    found.retain(|(path, _)| !is_computed_field(path));
    found
}

/// Returns whether a value is computed, and not taken from the text.
fn is_computed_field(path: &[ValuePathStep]) -> bool {
    let is = |step: &ValuePathStep, names: &[&str]| matches!(step, ValuePathStep::Key(name) if names.contains(&name.as_str()));
    matches!(path, [meta, name] if is(meta, &["meta"]) && is(name, &["version", "type"]))
}

/// An index of the words of a text.
struct SourceWordIndex<'a> {
    text: &'a str,
    lines: Vec<&'a str>,
    /// The lines on which each stem occurs.
    stems: BTreeMap<String, Vec<usize>>,
}

/// The words of a fact.
#[derive(Default)]
struct FactTokens {
    /// Tokens that must occur literally.
    exact: BTreeSet<String>,
    /// Stems, with one word for each.
    words: BTreeMap<String, String>,
}

impl<'a> SourceWordIndex<'a> {
    fn new(text: &'a str) -> Self {
        let lines: Vec<&str> = text.lines().collect();
        let mut stems: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (number, line) in lines.iter().enumerate() {
            for word in split_words(line) {
                let known = stems.entry(stem_word(&word)).or_default();
                if known.len() < LINES_MAX && known.last() != Some(&number) {
                    known.push(number);
                }
            }
        }
        Self { text, lines, stems }
    }

    /// Returns the most likely line of a fact, counted from 1, and why it should be reviewed.
    fn check_fact(&self, path: &[ValuePathStep], value: &Value) -> (usize, Option<String>) {
        let mut said = FactTokens::default();
        if let (Some(ValuePathStep::Key(section)), Some(ValuePathStep::Key(name))) = (path.first(), path.last())
            && section != "meta"
        {
            said.add_text(name);
        }
        collect_tokens(value, &mut said);
        let missing_exact: Vec<&str> =
            said.exact.iter().map(String::as_str).filter(|token| !self.text.contains(token)).collect();
        let missing: Vec<&str> = said
            .words
            .iter()
            .filter(|(stem, _)| !self.stems.contains_key(*stem))
            .map(|(_, word)| word.as_str())
            .collect();
        let (line, found) = self.find_best_line(&said);
        let doubt = if !missing_exact.is_empty() {
            Some(format!("not in the source: {}", quote_words(&missing_exact)))
        } else if missing.len() * 4 > said.words.len() {
            Some(format!("words that are not in the source: {}", quote_words(&missing)))
        } else if is_single_sentence(path) && found * 2 < said.words.len() {
            Some("its words do not occur together in the source".to_owned())
        } else if is_in_constraint_list(path, "never") && !self.has_prohibition_near(line) {
            Some("the source does not forbid this".to_owned())
        } else if is_in_constraint_list(path, "never") && !self.has_prohibition(line) && self.has_demand(line) {
            Some("the source requires this".to_owned())
        } else if is_in_constraint_list(path, "always")
            && self.has_prohibition(line)
            && !value.as_str().is_some_and(has_forbidding_word)
        {
            Some("the source forbids something here".to_owned())
        } else {
            None
        };
        (line + 1, doubt)
    }

    /// Returns the line with most of the words, and how many of them occur there or nearby.
    fn find_best_line(&self, said: &FactTokens) -> (usize, usize) {
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        for stem in said.words.keys() {
            for line in self.stems.get(stem).into_iter().flatten() {
                *counts.entry(*line).or_default() += 1;
            }
        }
        for token in &said.exact {
            let lines = self.lines.iter().enumerate().filter(|(_, line)| line.contains(token.as_str()));
            for (line, _) in lines.take(LINES_MAX) {
                *counts.entry(line).or_default() += 1;
            }
        }
        let best = counts.iter().max_by_key(|(line, count)| (**count, std::cmp::Reverse(**line)));
        let best = best.map_or(0, |(line, _)| *line);
        let is_near = |line: &usize| line.abs_diff(best) <= LINES_AROUND;
        let found = said.words.keys().filter(|stem| self.stems.get(*stem).is_some_and(|on| on.iter().any(is_near)));
        (best, found.count())
    }

    /// Returns whether a line, the lines around it or the heading above it has a forbidding word.
    fn has_prohibition_near(&self, line: usize) -> bool {
        let near = self.lines.iter().skip(line.saturating_sub(LINES_AROUND)).take(2 * LINES_AROUND + 1);
        let above = self.lines[..line.min(self.lines.len())].iter().rev().find(|line| line.starts_with('#'));
        near.chain(above).any(|line| has_forbidding_word(line))
    }

    /// Returns whether the line itself has a forbidding word.
    fn has_prohibition(&self, line: usize) -> bool {
        self.lines.get(line).is_some_and(|line| has_forbidding_word(line))
    }

    /// Returns whether the line itself has a demanding word.
    fn has_demand(&self, line: usize) -> bool {
        let demands = ["always", "must", "ensure", "required", "mandatory"];
        let is_demand = |word: &str| demands.contains(&word.to_lowercase().as_str());
        self.lines.get(line).is_some_and(|line| line.split(|letter: char| !letter.is_alphanumeric()).any(is_demand))
    }
}

/// Returns whether a text has a forbidding word.
fn has_forbidding_word(text: &str) -> bool {
    let text = text.to_lowercase().replace('’', "'");
    let mut words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '\'');
    words.any(|word| {
        word.ends_with("n't") || FORBIDDING_PREFIXES.iter().any(|mark| word.starts_with(mark)) || is_negation(word)
    })
}

/// Prefixes of words that forbid something.
const FORBIDDING_PREFIXES: [&str; 9] =
    ["avoid", "ban", "cannot", "disallow", "dont", "forbid", "never", "prohibit", "without"];

fn is_negation(word: &str) -> bool {
    matches!(word, "no" | "not" | "none")
}

/// Returns whether a fact comes from a single sentence of the source.
fn is_single_sentence(path: &[ValuePathStep]) -> bool {
    is_in_constraint_list(path, "never")
        || is_in_constraint_list(path, "always")
        || matches!(path.first(), Some(ValuePathStep::Key(name)) if name == "decisions")
}

fn is_in_constraint_list(path: &[ValuePathStep], name: &str) -> bool {
    matches!(path, [ValuePathStep::Key(section), ValuePathStep::Key(list), _] if section == "constraints" && list == name)
}

impl FactTokens {
    fn add_text(&mut self, text: &str) {
        let text = remove_placeholders(text);
        for token in
            text.split(|letter: char| letter.is_whitespace() || matches!(letter, '`' | '"' | '\'' | ',' | '|' | '='))
        {
            let edges = ['.', ',', ';', ':', '!', '?', '(', ')', '[', ']', '{', '}', '*', '…', '/'];
            let token = token.trim_end_matches(edges).trim_start_matches(['(', '[', '{', '*', '…']);
            if is_exact_token(token) {
                self.exact.insert(token.to_owned());
                continue;
            }
            for word in split_words(token) {
                self.words.insert(stem_word(&word), word);
            }
        }
    }
}

/// Collects all texts of a value, except fields that are chosen from a list and not taken from the source.
fn collect_tokens(value: &Value, said: &mut FactTokens) {
    match value {
        Value::String(text) => said.add_text(text),
        Value::Array(items) => items.iter().for_each(|item| collect_tokens(item, said)),
        Value::Object(map) => {
            let is_taken = |key: &str| !matches!(key, "type" | "required" | "optional" | "id" | "ref");
            map.iter().filter(|(key, _)| is_taken(key)).for_each(|(_, value)| collect_tokens(value, said));
        }
        Value::Number(number) => said.add_text(&number.to_string()),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Removes placeholders such as `<url>` and `{n}`.
fn remove_placeholders(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['<', '{']) {
        let close = if rest[at..].starts_with('<') { '>' } else { '}' };
        let end = rest[at..].find(close).map(|end| at + end + 1);
        let end = end.filter(|end| !rest[at..*end].contains([' ', '\n']));
        let (shown, next) = end.map_or((at + 1, at + 1), |end| (at, end));
        out.push_str(&rest[..shown]);
        out.push(' ');
        rest = &rest[next..];
    }
    out.push_str(rest);
    out
}

/// Returns whether a token must match literally: flags, variables, references, URLs, paths and numbers.
fn is_exact_token(token: &str) -> bool {
    let has_letter = token.chars().any(char::is_alphanumeric);
    let is_number = token.len() > 1 && token.chars().all(|letter| letter.is_ascii_digit() || letter == '.');
    let is_variable = token.contains('_')
        && token.chars().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_');
    let is_joined = |mark: char| {
        let mut parts = token.split(mark);
        token.contains(mark) && parts.all(|part| part.chars().next().is_some_and(char::is_alphanumeric))
    };
    has_letter
        && (is_number
            || is_variable
            || token.contains("://")
            || token.starts_with(['-', '$', '@', '~'])
            || token.starts_with("./")
            || is_joined('/') && token.contains('.'))
}

fn quote_words(words: &[&str]) -> String {
    let mut named: Vec<String> = words.iter().take(MISSING_WORDS_MAX).map(|word| format!("`{word}`")).collect();
    if words.len() > MISSING_WORDS_MAX {
        named.push(format!("and {} more", words.len() - MISSING_WORDS_MAX));
    }
    named.join(", ")
}

/// Returns the significant words of a text in lower case.
fn split_words(text: &str) -> impl Iterator<Item = String> {
    let split = text.split(|letter: char| !letter.is_alphanumeric());
    let lower = split.filter(|word| word.chars().count() >= 3).map(str::to_lowercase);
    lower.filter(|word| STOP_WORDS.binary_search(&word.as_str()).is_err())
}

/// Removes the ending of a word, so that its other forms match.
fn stem_word(word: &str) -> String {
    let mut stem = word;
    for ending in ["ations", "ation", "ings", "ing", "ies", "ed", "es", "er", "ly", "s", "e", "y"] {
        if let Some(rest) = stem.strip_suffix(ending)
            && rest.chars().count() >= 3
        {
            stem = rest;
            break;
        }
    }
    let mut letters: Vec<char> = stem.chars().collect();
    // `stopp` from `stopped` becomes `stop`.
    if letters.len() > 3 && letters[letters.len() - 1] == letters[letters.len() - 2] {
        letters.pop();
    }
    letters.into_iter().collect()
}

/// Frequent words without significance, sorted.
const STOP_WORDS: [&str; 52] = [
    "about", "all", "and", "any", "are", "been", "but", "can", "could", "does", "each", "for", "from", "has", "have",
    "how", "into", "its", "may", "more", "must", "not", "off", "one", "only", "other", "our", "out", "over", "own",
    "shall", "should", "some", "such", "than", "that", "the", "their", "them", "then", "there", "these", "they",
    "this", "was", "what", "when", "where", "which", "will", "with", "your",
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SOURCE: &str = "---\nname: pay\n---\n\n# Payments\n\nNever use the Charges API; it is deprecated.\nAlways validate input before it is submitted.\n\n```bash\npay charge <amount> --currency eur\n```\n\nSet `PAY_TOKEN` first. See https://pay.example/docs.\n\nKeep the logs for thirty days.\n";

    fn find_doubts(document: &Value) -> Vec<(String, usize, Option<String>)> {
        let told = |step: &ValuePathStep| match step {
            ValuePathStep::Key(key) => key.clone(),
            ValuePathStep::Item(index) => index.to_string(),
        };
        let facts = locate_facts(document, SOURCE);
        facts
            .iter()
            .map(|fact| (fact.path.iter().map(told).collect::<Vec<_>>().join("."), fact.line, fact.doubt.clone()))
            .collect()
    }

    #[test]
    fn stop_words_are_in_order() {
        assert!(STOP_WORDS.is_sorted());
    }

    #[test]
    fn what_stands_in_the_source_is_found_with_its_line() {
        let document = json!({
            "meta": { "name": "pay", "version": "00000000", "type": "cli", "description": "Payments" },
            "constraints": { "never": ["Use the Charges API"], "always": ["validating inputs before they are submitted"] },
            "commands": { "charge": { "syntax": "pay charge <amount> [--currency <code>]", "args": [{ "name": "amount", "type": "int" }] } },
            "environment": [{ "name": "PAY_TOKEN", "purpose": "Set first" }],
            "sources": [{ "id": "pay:docs", "url": "https://pay.example/docs" }],
        });
        let found = find_doubts(&document);
        assert!(found.iter().all(|(_, _, doubt)| doubt.is_none()), "{found:#?}");
        let line = |path: &str| found.iter().find(|(known, ..)| known == path).map(|(_, line, _)| *line);
        assert_eq!(line("constraints.never.0"), Some(7));
        assert_eq!(line("constraints.always.0"), Some(8));
        assert_eq!(line("commands.charge"), Some(11));
        assert_eq!(line("environment.0"), Some(14));
        assert_eq!(line("meta.type"), None);
    }

    #[test]
    fn what_the_model_made_up_is_doubted() {
        let document = json!({
            "constraints": {
                "never": ["Refund without a manager", "Keep the logs for thirty days"],
                "always": ["validate the token, the currency and the logs of deprecated payments"],
            },
            "commands": { "charge": { "syntax": "pay charge <amount> --dry-run" } },
            "environment": [{ "name": "PAY_SECRET", "purpose": "token" }],
            "sources": [{ "id": "a", "url": "https://evil.example/docs" }],
            "triggers": { "keywords": ["cryptocurrency"] },
        });
        let found = find_doubts(&document);
        let doubt = |path: &str| {
            found.iter().find(|(known, ..)| known == path).and_then(|(.., doubt)| doubt.clone()).unwrap_or_default()
        };
        assert!(doubt("constraints.never.0").starts_with("words that are not in the source: "), "{found:#?}");
        assert_eq!(doubt("constraints.never.1"), "the source does not forbid this");
        assert_eq!(doubt("constraints.always.0"), "its words do not occur together in the source");
        assert_eq!(doubt("commands.charge"), "not in the source: `--dry-run`");
        assert_eq!(doubt("environment.0"), "not in the source: `PAY_SECRET`");
        assert_eq!(doubt("sources.0"), "not in the source: `https://evil.example/docs`");
        assert!(doubt("triggers.keywords.0").contains("`cryptocurrency`"));
    }
}
