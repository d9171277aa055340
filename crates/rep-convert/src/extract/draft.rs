//! What has been found so far, section by section, and how it becomes a document.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use rep_model::{Fact, Step};

/// The most facts of one section; a skill that has more is not read by anybody.
const FACTS_MAX: usize = 1_000;

/// One value, and where it was read.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) value: Value,
    pub(super) line: usize,
    pub(super) doubt: Option<String>,
}

/// A section that is a list.
#[derive(Clone, Debug, Default)]
pub(super) struct List {
    pub(super) items: Vec<Found>,
    seen: BTreeSet<String>,
}

impl List {
    /// Adds a value, unless one like it is there.
    pub(super) fn add(&mut self, line: usize, doubt: Option<&str>, value: Value) {
        if self.items.len() < FACTS_MAX && self.seen.insert(likeness(&value)) {
            self.items.push(Found { value, line, doubt: doubt.map(str::to_owned) });
        }
    }

    /// Adds a value that is known to be a fact of its own.
    pub(super) fn put(&mut self, line: usize, value: Value) {
        if self.items.len() < FACTS_MAX {
            self.items.push(Found { value, line, doubt: None });
        }
    }
}

/// A value without case, blanks and most marks, for telling repetitions; C, C++ and C# are three.
fn likeness(value: &Value) -> String {
    let text = value.to_string();
    text.chars()
        .filter(|letter| letter.is_alphanumeric() || ":+#".contains(*letter))
        .flat_map(char::to_lowercase)
        .collect()
}

/// A section that is a mapping.
#[derive(Clone, Debug, Default)]
pub(super) struct Mapping {
    pub(super) entries: Vec<(String, Found)>,
    seen: BTreeSet<String>,
}

impl Mapping {
    /// Adds an entry under a key of its own: a second one of the name gets a number.
    pub(super) fn add(&mut self, key: &str, line: usize, doubt: Option<&str>, value: Value) {
        if self.entries.len() >= FACTS_MAX {
            return;
        }
        let mut own = key.to_owned();
        let mut number = 2;
        while !self.seen.insert(own.clone()) {
            own = format!("{key}-{number}");
            number += 1;
            if number > 50 {
                return;
            }
        }
        self.entries.push((own, Found { value, line, doubt: doubt.map(str::to_owned) }));
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.seen.contains(key)
    }
}

/// Everything found in a skill.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    pub(super) meta: Mapping,
    pub(super) keywords: List,
    pub(super) intents: List,
    pub(super) file_patterns: List,
    pub(super) never: List,
    pub(super) always: List,
    pub(super) prefer: List,
    pub(super) decisions: List,
    pub(super) entities: List,
    pub(super) commands: Mapping,
    pub(super) global_flags: List,
    pub(super) workflows: Mapping,
    pub(super) reference: Mapping,
    pub(super) templates: Mapping,
    pub(super) environment: List,
    pub(super) sources: List,
}

impl Draft {
    /// The sections in the specification's order, none of them empty, and where each value was read.
    pub(super) fn finish(self) -> (Map<String, Value>, Vec<Fact>) {
        let mut root = Map::new();
        let mut facts = Vec::new();
        mapping(&mut root, &mut facts, &["meta"], self.meta);
        list(&mut root, &mut facts, &["triggers", "keywords"], self.keywords);
        list(&mut root, &mut facts, &["triggers", "intents"], self.intents);
        list(&mut root, &mut facts, &["triggers", "file_patterns"], self.file_patterns);
        list(&mut root, &mut facts, &["constraints", "never"], self.never);
        list(&mut root, &mut facts, &["constraints", "always"], self.always);
        list(&mut root, &mut facts, &["constraints", "prefer"], self.prefer);
        list(&mut root, &mut facts, &["decisions"], self.decisions);
        list(&mut root, &mut facts, &["state", "entities"], self.entities);
        mapping(&mut root, &mut facts, &["commands"], self.commands);
        list(&mut root, &mut facts, &["global_flags"], self.global_flags);
        mapping(&mut root, &mut facts, &["workflows"], self.workflows);
        mapping(&mut root, &mut facts, &["reference"], self.reference);
        mapping(&mut root, &mut facts, &["templates"], self.templates);
        list(&mut root, &mut facts, &["environment"], self.environment);
        list(&mut root, &mut facts, &["sources"], self.sources);
        (root, facts)
    }
}

fn put(root: &mut Map<String, Value>, path: &[&str], value: Value) {
    match path {
        [section] => {
            root.insert((*section).to_owned(), value);
        }
        [section, key] => {
            if let Some(section) = root.entry(*section).or_insert_with(|| json!({})).as_object_mut() {
                section.insert((*key).to_owned(), value);
            }
        }
        _ => {}
    }
}

fn steps(path: &[&str], last: Step) -> Vec<Step> {
    path.iter().map(|key| Step::Key((*key).to_owned())).chain([last]).collect()
}

fn list(root: &mut Map<String, Value>, facts: &mut Vec<Fact>, path: &[&str], list: List) {
    if list.items.is_empty() {
        return;
    }
    let mut values = Vec::new();
    for (number, found) in list.items.into_iter().enumerate() {
        facts.push(Fact { path: steps(path, Step::Item(number)), line: found.line, doubt: found.doubt });
        values.push(found.value);
    }
    put(root, path, Value::Array(values));
}

fn mapping(root: &mut Map<String, Value>, facts: &mut Vec<Fact>, path: &[&str], mapping: Mapping) {
    if mapping.entries.is_empty() {
        return;
    }
    let mut values = Map::new();
    for (key, found) in mapping.entries {
        facts.push(Fact { path: steps(path, Step::Key(key.clone())), line: found.line, doubt: found.doubt });
        values.insert(key, found.value);
    }
    put(root, path, Value::Object(values));
}
