//! Smoke tests of Universal 2.1: `evaluation.smoke_tests`, a tool, its arguments and its expected result.
//!
//! The specification names the field but does not define its format. This module reads a list of `{name,
//! tool, input, expect}`. `expect` is compared with the output of `rep run`, so an error is expected as
//! `{status: error, error: {code: …}}`.

use std::collections::BTreeSet;

use rep_model::frontmatter::Frontmatter;
use rep_model::suggestion::nearest_name;
use rep_model::yaml::{YamlNode, core};
use serde_json::{Map, Value};

use super::expectation::{AssertionFailure, compare_json};
use super::{CaseError, SMOKE_PREFIX, SkillTest, TestAction};
use crate::outcome::{Outcome, RunReply};

/// The file that contains smoke tests.
const MANIFEST_FILE: &str = "SKILL.md";
/// The known fields.
const FIELDS: &[&str] = &["name", "description", "tool", "input", "expect"];
/// The maximum number of smoke tests of a skill.
const TESTS_MAX: usize = 1_000;

/// A tool call with its expected result.
#[derive(Clone, Debug, PartialEq)]
pub struct SmokeTest {
    /// The tool.
    pub tool: String,
    /// The arguments.
    pub input: Value,
    /// What the result contains at least; any result by default.
    pub expect: Option<Value>,
}

/// Parses the smoke tests of a skill.
pub(super) fn parse_smoke_tests(front: &Frontmatter) -> Vec<SkillTest> {
    let Some(node) = front.get("evaluation").and_then(|evaluation| evaluation.get("smoke_tests")) else {
        return Vec::new();
    };
    let whole = |message: String| {
        let mistakes = vec![CaseError::new(MANIFEST_FILE, message, "write a list of `{name, tool, input, expect}`")];
        vec![SkillTest { case: format!("{SMOKE_PREFIX}tests"), name: "smoke_tests".to_owned(), action: Err(mistakes) }]
    };
    let Some(items) = node.items() else {
        return whole(format!("`evaluation.smoke_tests` is {}, not a list", node.describe_kind()));
    };
    if items.len() > TESTS_MAX {
        return whole(format!("`evaluation.smoke_tests` has more than {TESTS_MAX} items"));
    }
    let mut taken = BTreeSet::new();
    let each = items.iter().enumerate().map(|(index, item)| {
        let number = (index + 1).to_string();
        let own = item.get("name").and_then(YamlNode::text).filter(|name| !name.is_empty());
        // A duplicate name is replaced with the number.
        let name = own.filter(|name| taken.insert((*name).to_owned())).unwrap_or(&number);
        let work = parse_smoke_test(item, &format!("evaluation.smoke_tests[{index}]")).map(TestAction::Smoke);
        SkillTest { case: format!("{SMOKE_PREFIX}{name}"), name: name.to_owned(), action: work }
    });
    each.collect()
}

fn parse_smoke_test(item: &YamlNode, at: &str) -> Result<SmokeTest, Vec<CaseError>> {
    let mut mistakes = Vec::new();
    let mut wrong = |message: String, remedy: String| mistakes.push(CaseError::new(MANIFEST_FILE, message, remedy));
    let Some(entries) = item.entries() else {
        wrong(
            format!("`{at}` is {}, not a mapping", item.describe_kind()),
            "write `{name, tool, input, expect}`".to_owned(),
        );
        return Err(mistakes);
    };
    for key in entries.iter().filter_map(|entry| entry.key.text()).filter(|key| !FIELDS.contains(key)) {
        let remedy = match nearest_name(key, FIELDS.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("its fields are {}", FIELDS.join(", ")),
        };
        wrong(format!("`{at}.{key}` is not a field of a smoke test"), remedy);
    }
    let tool = item.get("tool").and_then(YamlNode::text).unwrap_or_default().to_owned();
    if tool.is_empty() {
        wrong(format!("`{at}` names no `tool`"), "name a tool of the skill".to_owned());
    }
    let input = item.get("input").map_or_else(|| Value::Object(Map::new()), core::to_json);
    let expect = item.get("expect").map(core::to_json);
    if expect.as_ref().is_some_and(|expect| !expect.is_object()) {
        wrong(format!("`{at}.expect` is not a mapping"), "write what the result object contains".to_owned());
    }
    if mistakes.is_empty() { Ok(SmokeTest { tool, input, expect }) } else { Err(mistakes) }
}

impl SmokeTest {
    /// Returns every expectation that was not met.
    pub(super) fn find_failures(&self, outcome: &Outcome) -> Vec<AssertionFailure> {
        let is_error_expected = self.expect.as_ref().is_some_and(|expect| expect["status"] == "error");
        if let (RunReply::Error(error), false) = (&outcome.reply, is_error_expected) {
            let message = format!("the tool returned no result: {}: {}", error.code, error.message);
            return vec![AssertionFailure { got: Some(error.to_json()), ..AssertionFailure::new("expect", message) }];
        }
        self.expect.as_ref().map_or_else(Vec::new, |expect| compare_json("expect", expect, &outcome.to_json()))
    }
}
