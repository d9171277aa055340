//! Holds a document against the text it was made from: where each of its facts stands there, and which have no ground in it.
//!
//! A model writes what sounds right. Names, flags, addresses and numbers must stand in the source to the letter; of other words most
//! must, and those of a rule in one place. What fails is not thrown away, but marked for a person.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use rep_model::{Fact, Step};

/// The most lines of one word that are looked at.
const LINES_MAX: usize = 200;
/// How many lines around the best one belong to a place.
const AROUND: usize = 2;
/// The most missing words that are named.
const NAMED_MAX: usize = 5;

/// Where each fact of a document stands in its source, with a doubt where it does not.
pub fn facts(document: &Value, source: &str) -> Vec<Fact> {
    let source = Source::new(source);
    let mut facts = Vec::new();
    for (path, value) in items(document) {
        let (line, doubt) = source.judge(&path, value);
        facts.push(Fact { path, line, doubt });
    }
    facts
}

/// The facts of a document, as a report lists them.
fn items(document: &Value) -> Vec<(Vec<Step>, &Value)> {
    let key = |name: &str| Step::Key(name.to_owned());
    let mut found = Vec::new();
    for (section, value) in document.as_object().into_iter().flatten() {
        let is_nested = matches!(section.as_str(), "triggers" | "constraints" | "state");
        match value {
            Value::Object(map) if is_nested => {
                for (name, list) in map {
                    let items = list.as_array().into_iter().flatten().enumerate();
                    found.extend(items.map(|(index, item)| (vec![key(section), key(name), Step::Item(index)], item)));
                }
            }
            Value::Object(map) => found.extend(map.iter().map(|(name, item)| (vec![key(section), key(name)], item))),
            Value::Array(items) => {
                let items = items.iter().enumerate();
                found.extend(items.map(|(index, item)| (vec![key(section), Step::Item(index)], item)));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                found.push((vec![key(section)], value));
            }
        }
    }
    found.retain(|(path, _)| !is_ours(path));
    found
}

/// What is worked out, and not taken from the text.
fn is_ours(path: &[Step]) -> bool {
    let is = |step: &Step, names: &[&str]| matches!(step, Step::Key(name) if names.contains(&name.as_str()));
    matches!(path, [meta, name] if is(meta, &["meta"]) && is(name, &["version", "type"]))
}

/// A text, ready to be asked for words.
struct Source<'a> {
    text: &'a str,
    lines: Vec<&'a str>,
    /// The lines each stem stands on.
    stems: BTreeMap<String, Vec<usize>>,
}

/// What a fact says.
#[derive(Default)]
struct Said {
    /// What must be there to the letter.
    exact: BTreeSet<String>,
    /// Stems, with a word for each.
    words: BTreeMap<String, String>,
}

impl<'a> Source<'a> {
    fn new(text: &'a str) -> Self {
        let lines: Vec<&str> = text.lines().collect();
        let mut stems: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (number, line) in lines.iter().enumerate() {
            for word in words(line) {
                let known = stems.entry(stem(&word)).or_default();
                if known.len() < LINES_MAX && known.last() != Some(&number) {
                    known.push(number);
                }
            }
        }
        Self { text, lines, stems }
    }

    /// The line a fact is likeliest from, from 1, and why a person should look at it.
    fn judge(&self, path: &[Step], value: &Value) -> (usize, Option<String>) {
        let mut said = Said::default();
        if let (Some(Step::Key(section)), Some(Step::Key(name))) = (path.first(), path.last())
            && section != "meta"
        {
            said.take(name);
        }
        collect(value, &mut said);
        let missing_exact: Vec<&str> =
            said.exact.iter().map(String::as_str).filter(|token| !self.text.contains(token)).collect();
        let missing: Vec<&str> = said
            .words
            .iter()
            .filter(|(stem, _)| !self.stems.contains_key(*stem))
            .map(|(_, word)| word.as_str())
            .collect();
        let (line, found) = self.place(&said);
        let doubt = if !missing_exact.is_empty() {
            Some(format!("not in the source: {}", named(&missing_exact)))
        } else if missing.len() * 4 > said.words.len() {
            Some(format!("words that are not in the source: {}", named(&missing)))
        } else if is_rule(path) && found * 2 < said.words.len() {
            Some("its words stand nowhere together in the source".to_owned())
        } else if is_in(path, "never") && !self.forbids(line) {
            Some("the source does not forbid it there".to_owned())
        } else if is_in(path, "never") && !self.has_mark(line) && self.commands(line) {
            Some("the source demands it there".to_owned())
        } else if is_in(path, "always") && self.has_mark(line) && !value.as_str().is_some_and(is_forbidding) {
            Some("the source forbids something there".to_owned())
        } else {
            None
        };
        (line + 1, doubt)
    }

    /// The line with most of the words, and how many stand there or near.
    fn place(&self, said: &Said) -> (usize, usize) {
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
        let is_near = |line: &usize| line.abs_diff(best) <= AROUND;
        let found = said.words.keys().filter(|stem| self.stems.get(*stem).is_some_and(|on| on.iter().any(is_near)));
        (best, found.count())
    }

    /// Whether a line, or the heading and the lines before it, has a word that forbids.
    fn forbids(&self, line: usize) -> bool {
        let near = self.lines.iter().skip(line.saturating_sub(AROUND)).take(2 * AROUND + 1);
        let above = self.lines[..line.min(self.lines.len())].iter().rev().find(|line| line.starts_with('#'));
        near.chain(above).any(|line| is_forbidding(line))
    }

    /// Whether a line itself has a word that forbids.
    fn has_mark(&self, line: usize) -> bool {
        self.lines.get(line).is_some_and(|line| is_forbidding(line))
    }

    /// Whether a line itself has a word that demands.
    fn commands(&self, line: usize) -> bool {
        let demands = ["always", "must", "ensure", "required", "mandatory"];
        let is_demand = |word: &str| demands.contains(&word.to_lowercase().as_str());
        self.lines.get(line).is_some_and(|line| line.split(|letter: char| !letter.is_alphanumeric()).any(is_demand))
    }
}

/// Whether a text has a word that forbids.
fn is_forbidding(text: &str) -> bool {
    let text = text.to_lowercase().replace('’', "'");
    let mut words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '\'');
    words.any(|word| word.ends_with("n't") || FORBIDDING.iter().any(|mark| word.starts_with(mark)) || is_no(word))
}

/// Words that forbid, by their beginnings.
const FORBIDDING: [&str; 9] = ["avoid", "ban", "cannot", "disallow", "dont", "forbid", "never", "prohibit", "without"];

fn is_no(word: &str) -> bool {
    matches!(word, "no" | "not" | "none")
}

/// Whether a fact is one sentence of the source.
fn is_rule(path: &[Step]) -> bool {
    is_in(path, "never")
        || is_in(path, "always")
        || matches!(path.first(), Some(Step::Key(name)) if name == "decisions")
}

fn is_in(path: &[Step], name: &str) -> bool {
    matches!(path, [Step::Key(section), Step::Key(list), _] if section == "constraints" && list == name)
}

impl Said {
    fn take(&mut self, text: &str) {
        let text = without_placeholders(text);
        for token in
            text.split(|letter: char| letter.is_whitespace() || matches!(letter, '`' | '"' | '\'' | ',' | '|' | '='))
        {
            let edges = ['.', ',', ';', ':', '!', '?', '(', ')', '[', ']', '{', '}', '*', '…', '/'];
            let token = token.trim_end_matches(edges).trim_start_matches(['(', '[', '{', '*', '…']);
            if is_exact(token) {
                self.exact.insert(token.to_owned());
                continue;
            }
            for word in words(token) {
                self.words.insert(stem(&word), word);
            }
        }
    }
}

/// All texts of a value, less what is chosen from a list and not taken from the source.
fn collect(value: &Value, said: &mut Said) {
    match value {
        Value::String(text) => said.take(text),
        Value::Array(items) => items.iter().for_each(|item| collect(item, said)),
        Value::Object(map) => {
            let is_taken = |key: &str| !matches!(key, "type" | "required" | "optional" | "id" | "ref");
            map.iter().filter(|(key, _)| is_taken(key)).for_each(|(_, value)| collect(value, said));
        }
        Value::Number(number) => said.take(&number.to_string()),
        Value::Null | Value::Bool(_) => {}
    }
}

/// A text without `<url>` and `{n}`, which stand for something.
fn without_placeholders(text: &str) -> String {
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

/// Flags, variables, references, addresses, paths and numbers: what is right to the letter or wrong.
fn is_exact(token: &str) -> bool {
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

fn named(words: &[&str]) -> String {
    let mut named: Vec<String> = words.iter().take(NAMED_MAX).map(|word| format!("`{word}`")).collect();
    if words.len() > NAMED_MAX {
        named.push(format!("and {} more", words.len() - NAMED_MAX));
    }
    named.join(", ")
}

/// The words of a text that mean something by themselves, in lower case.
fn words(text: &str) -> impl Iterator<Item = String> {
    let split = text.split(|letter: char| !letter.is_alphanumeric());
    let lower = split.filter(|word| word.chars().count() >= 3).map(str::to_lowercase);
    lower.filter(|word| STOP.binary_search(&word.as_str()).is_err())
}

/// A word without its ending, so that forms of it are found.
fn stem(word: &str) -> String {
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
    // `stopp` of `stopped` is `stop`.
    if letters.len() > 3 && letters[letters.len() - 1] == letters[letters.len() - 2] {
        letters.pop();
    }
    letters.into_iter().collect()
}

/// Words that are everywhere, in order.
const STOP: [&str; 52] = [
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

    fn doubts(document: &Value) -> Vec<(String, usize, Option<String>)> {
        let told = |step: &Step| match step {
            Step::Key(key) => key.clone(),
            Step::Item(index) => index.to_string(),
        };
        let facts = facts(document, SOURCE);
        facts
            .iter()
            .map(|fact| (fact.path.iter().map(told).collect::<Vec<_>>().join("."), fact.line, fact.doubt.clone()))
            .collect()
    }

    #[test]
    fn stop_words_are_in_order() {
        assert!(STOP.is_sorted());
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
        let found = doubts(&document);
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
        let found = doubts(&document);
        let doubt = |path: &str| {
            found.iter().find(|(known, ..)| known == path).and_then(|(.., doubt)| doubt.clone()).unwrap_or_default()
        };
        assert!(doubt("constraints.never.0").starts_with("words that are not in the source: "), "{found:#?}");
        assert_eq!(doubt("constraints.never.1"), "the source does not forbid it there");
        assert_eq!(doubt("constraints.always.0"), "its words stand nowhere together in the source");
        assert_eq!(doubt("commands.charge"), "not in the source: `--dry-run`");
        assert_eq!(doubt("environment.0"), "not in the source: `PAY_SECRET`");
        assert_eq!(doubt("sources.0"), "not in the source: `https://evil.example/docs`");
        assert!(doubt("triggers.keywords.0").contains("`cryptocurrency`"));
    }
}
