//! Smoke tests of Universal 2.1: `evaluation.smoke_tests`, a tool, its arguments, and what its result holds.
//!
//! The specification names the field and leaves its shape open. Read is a list of `{name, tool, input, expect}`; an `expect`
//! is held against what `rep run` would print, so that an error is expected as `{status: error, error: {code: …}}`.

use std::collections::BTreeSet;

use rep_model::frontmatter::Frontmatter;
use rep_model::suggestion::nearest_name;
use rep_model::yaml::{Node, core};
use serde_json::{Map, Value};

use super::expect::{Mismatch, differences};
use super::{Attempt, Mistake, SMOKE, Trial};
use crate::outcome::{Outcome, Reply};

/// The file smoke tests stand in.
const FILE: &str = "SKILL.md";
/// Their fields.
const FIELDS: &[&str] = &["name", "description", "tool", "input", "expect"];
/// The most smoke tests of a skill.
const TESTS_MAX: usize = 1_000;

/// A call of a tool, and what is expected of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Smoke {
    /// The tool.
    pub tool: String,
    /// The arguments.
    pub input: Value,
    /// What its result holds at least; any result where nothing is said.
    pub expect: Option<Value>,
}

/// Reads the smoke tests of a skill.
pub(super) fn read(front: &Frontmatter) -> Vec<Trial> {
    let Some(node) = front.get("evaluation").and_then(|evaluation| evaluation.get("smoke_tests")) else {
        return Vec::new();
    };
    let whole = |message: String| {
        let mistakes = vec![Mistake::new(FILE, message, "write a list of `{name, tool, input, expect}`")];
        vec![Trial { case: format!("{SMOKE}tests"), name: "smoke_tests".to_owned(), work: Err(mistakes) }]
    };
    let Some(items) = node.items() else {
        return whole(format!("`evaluation.smoke_tests` is {}, and no list", node.kind()));
    };
    if items.len() > TESTS_MAX {
        return whole(format!("`evaluation.smoke_tests` has more than {TESTS_MAX} items"));
    }
    let mut taken = BTreeSet::new();
    let each = items.iter().enumerate().map(|(index, item)| {
        let number = (index + 1).to_string();
        let own = item.get("name").and_then(Node::text).filter(|name| !name.is_empty());
        // A name that another one has is no name.
        let name = own.filter(|name| taken.insert((*name).to_owned())).unwrap_or(&number);
        let work = one(item, &format!("evaluation.smoke_tests[{index}]")).map(Attempt::Smoke);
        Trial { case: format!("{SMOKE}{name}"), name: name.to_owned(), work }
    });
    each.collect()
}

fn one(item: &Node, at: &str) -> Result<Smoke, Vec<Mistake>> {
    let mut mistakes = Vec::new();
    let mut wrong = |message: String, remedy: String| mistakes.push(Mistake::new(FILE, message, remedy));
    let Some(entries) = item.entries() else {
        wrong(format!("`{at}` is {}, and no mapping", item.kind()), "write `{name, tool, input, expect}`".to_owned());
        return Err(mistakes);
    };
    for key in entries.iter().filter_map(|entry| entry.key.text()).filter(|key| !FIELDS.contains(key)) {
        let remedy = match nearest_name(key, FIELDS.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("its fields are {}", FIELDS.join(", ")),
        };
        wrong(format!("`{at}.{key}` is no field of a smoke test"), remedy);
    }
    let tool = item.get("tool").and_then(Node::text).unwrap_or_default().to_owned();
    if tool.is_empty() {
        wrong(format!("`{at}` names no `tool`"), "name a tool of the skill".to_owned());
    }
    let input = item.get("input").map_or_else(|| Value::Object(Map::new()), core::json);
    let expect = item.get("expect").map(core::json);
    if expect.as_ref().is_some_and(|expect| !expect.is_object()) {
        wrong(format!("`{at}.expect` is no mapping"), "write what the result object holds".to_owned());
    }
    if mistakes.is_empty() { Ok(Smoke { tool, input, expect }) } else { Err(mistakes) }
}

impl Smoke {
    /// Every expectation that was not met.
    pub(super) fn judge(&self, outcome: &Outcome) -> Vec<Mismatch> {
        let is_error_expected = self.expect.as_ref().is_some_and(|expect| expect["status"] == "error");
        if let (Reply::Error(error), false) = (&outcome.reply, is_error_expected) {
            let message = format!("the tool gave no result: {}: {}", error.code, error.message);
            return vec![Mismatch { got: Some(error.value()), ..Mismatch::new("expect", message) }];
        }
        self.expect.as_ref().map_or_else(Vec::new, |expect| differences("expect", expect, &outcome.value()))
    }
}
