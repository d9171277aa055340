//! Numbers the facts that the rules found in a skill, so that a model can refer to them, correct them or skip them.
//!
//! A reference is the text `candidate:7` in place of a value. It is replaced by the fact that the rules found, which is
//! then validated like the rest of the answer. The numbers depend on the skill alone, so an answer may arrive later or
//! from another process.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use rep_model::truncate::truncate_with_ellipsis;
use rep_model::{ExtractedFact, Skill, SkillDocument, ValuePathStep};
use serde_json::Value;

use crate::extract::extract_sure_and_all;
use crate::extract::rules::{self, ExtractionRule};

/// The prefix of a reference.
const REFERENCE_PREFIX: &str = "candidate:";
/// The maximum number of candidates in the list; the most confident ones are retained.
const CANDIDATES_MAX: usize = 400;
/// The maximum length of the text of one candidate.
const TEXT_CHARS_MAX: usize = 240;
/// The maximum size of the list.
const LIST_BYTES_MAX: usize = 48 << 10;

/// All facts that the rules found in a skill, including the doubtful ones.
pub(super) struct Candidates {
    document: SkillDocument,
    /// The number of a candidate is its position in this list, counted from 1.
    facts: Vec<(ExtractedFact, &'static ExtractionRule)>,
}

/// Selects the candidates to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CandidateFilter {
    All,
    Doubtful,
}

impl Candidates {
    pub(super) fn from_skill(skill: &Skill) -> Self {
        let (_, document) = extract_sure_and_all(skill);
        let facts =
            document.facts.iter().filter(|fact| fact.path.first() != Some(&ValuePathStep::Key("meta".to_owned())));
        let facts = facts.filter_map(|fact| Some((fact.clone(), fact.rule.and_then(rules::find_rule)?))).collect();
        Self { document, facts }
    }

    /// Lists the candidates in document order, one per line: number, section, source line, rule, confidence, value.
    pub(super) fn render_list(&self, shown: CandidateFilter) -> String {
        let is_shown = |rule: &ExtractionRule| shown == CandidateFilter::All || !rule.is_confident();
        let mut shown: Vec<_> = (1..).zip(&self.facts).filter(|(_, (_, rule))| is_shown(rule)).collect();
        let count = shown.len();
        shown.sort_by_key(|(_, (_, rule))| Reverse(rule.confidence));
        let mut size = 0;
        let mut lines: Vec<(usize, String)> = Vec::new();
        for (number, (fact, rule)) in shown.into_iter().take(CANDIDATES_MAX) {
            let value = self.document.find_value(&fact.path).map(render_on_one_line).unwrap_or_default();
            let source = format!("line {}, {}, {} %", fact.line, rule.id, rule.confidence);
            let text = format!("{REFERENCE_PREFIX}{number} {} ({source}): {value}\n", join_path_keys(&fact.path));
            size += text.len();
            if size > LIST_BYTES_MAX {
                break;
            }
            lines.push((number, text));
        }
        lines.sort_unstable_by_key(|(number, _)| *number);
        let more = count - lines.len();
        let mut list: String = lines.into_iter().map(|(_, text)| text).collect();
        if more > 0 {
            list.push_str(&format!("({more} more are not shown)\n"));
        }
        list
    }

    /// Replaces the references in a document by the facts they refer to, or returns what is wrong with them.
    pub(super) fn resolve_references(&self, mut document: Value) -> Result<Value, Vec<String>> {
        let mut seen = BTreeSet::new();
        let mut wrong = Vec::new();
        for value in collect_fact_values(&mut document) {
            let Some(reference) = value.as_str().filter(|text| text.starts_with(REFERENCE_PREFIX)) else { continue };
            let number = reference[REFERENCE_PREFIX.len()..].parse::<usize>().ok();
            let fact = number.and_then(|number| self.facts.get(number.checked_sub(1)?));
            match fact.and_then(|(fact, _)| self.document.find_value(&fact.path)) {
                None => wrong.push(format!("unknown candidate `{}`", truncate_with_ellipsis(reference, 40))),
                // If repeats were allowed, a short answer could expand to a document of any size.
                Some(_) if !seen.insert(number) => wrong.push(format!("`{reference}` is used twice")),
                Some(found) => *value = found.clone(),
            }
        }
        if wrong.is_empty() { Ok(document) } else { Err(wrong) }
    }

    /// Adds to each fact of a document the rule that found the same fact.
    pub(super) fn annotate_rules(&self, document: &mut SkillDocument) {
        let key = |path: &[ValuePathStep], value: &Value| (join_path_keys(path), value.to_string());
        let found: BTreeMap<(String, String), &'static str> = self
            .facts
            .iter()
            .filter_map(|(fact, rule)| Some((key(&fact.path, self.document.find_value(&fact.path)?), rule.id)))
            .collect();
        let rule = |fact: &ExtractedFact| found.get(&key(&fact.path, document.find_value(&fact.path)?)).copied();
        let rules: Vec<Option<&'static str>> = document.facts.iter().map(rule).collect();
        for (fact, rule) in document.facts.iter_mut().zip(rules) {
            fact.rule = rule;
        }
    }
}

/// Returns the positions in a document that can contain a whole fact.
fn collect_fact_values(document: &mut Value) -> Vec<&mut Value> {
    let mut places = Vec::new();
    for (section, content) in document.as_object_mut().into_iter().flatten() {
        let is_lists = matches!(section.as_str(), "triggers" | "constraints" | "state");
        match content {
            _ if section == "meta" => {}
            Value::Array(items) => places.extend(items),
            Value::Object(entries) => {
                let entries = entries.iter_mut().map(|(_, entry)| entry);
                if is_lists {
                    places.extend(entries.filter_map(Value::as_array_mut).flatten());
                } else {
                    places.extend(entries);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    places
}

/// Joins the keys of a path: `constraints.never`, `commands.open`.
fn join_path_keys(path: &[ValuePathStep]) -> String {
    let keys = path.iter().filter_map(|step| match step {
        ValuePathStep::Key(key) => Some(key.as_str()),
        ValuePathStep::Item(_) => None,
    });
    keys.collect::<Vec<_>>().join(".")
}

/// Renders a value on one line.
fn render_on_one_line(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    truncate_with_ellipsis(&text.split_whitespace().collect::<Vec<_>>().join(" "), TEXT_CHARS_MAX).into_owned()
}

#[cfg(test)]
mod tests {
    use rep_model::SkillTree;
    use serde_json::json;

    use super::*;

    fn extract_candidates(body: &str) -> Candidates {
        let text = format!("---\nname: demo\ndescription: Shows things.\n---\n\n{body}\n");
        let (skill, _) = Skill::parse(SkillTree::from_texts("demo", &[("SKILL.md", &text)]));
        Candidates::from_skill(&skill)
    }

    /// Returns the number of the candidate whose line has this end.
    fn find_reference(list: &str, end: &str) -> String {
        let line = list.lines().find(|line| line.ends_with(end)).unwrap_or_else(|| panic!("no {end:?} in\n{list}"));
        line.split(' ').next().unwrap_or_default().to_owned()
    }

    #[test]
    fn candidates_are_listed_with_line_and_rule_and_a_reference_stands_for_one() {
        let found = extract_candidates("Never push to `main`. If the build is red, read the log.");
        let list = found.render_list(CandidateFilter::All);
        let never = find_reference(&list, "constraints.never (line 6, never.marker, 95 %): push to `main`");
        let decision = find_reference(&list, "{\"when\":\"the build is red\",\"then\":\"read the log\"}");
        let answer = json!({ "meta": { "name": never }, "constraints": { "never": [never] }, "decisions": [decision] });
        let expected = json!({
            "meta": { "name": never },
            "constraints": { "never": ["push to `main`"] },
            "decisions": [{ "when": "the build is red", "then": "read the log" }],
        });
        assert_eq!(found.resolve_references(answer), Ok(expected));
    }

    #[test]
    fn a_reference_to_nothing_and_a_second_one_are_told() {
        let found = extract_candidates("Never push to `main`.");
        let never = find_reference(&found.render_list(CandidateFilter::All), "push to `main`");
        for (answer, told) in [
            (json!([never, never]), format!("`{never}` is used twice")),
            (json!(["candidate:0"]), "unknown candidate `candidate:0`".to_owned()),
            (json!(["candidate:99"]), "unknown candidate `candidate:99`".to_owned()),
            (json!(["candidate:x"]), "unknown candidate `candidate:x`".to_owned()),
        ] {
            assert_eq!(found.resolve_references(json!({ "constraints": { "never": answer } })), Err(vec![told]));
        }
    }

    #[test]
    fn the_list_stays_small_and_the_surest_are_in_it() {
        let long = "word ".repeat(200);
        let rules: String = (0..2_000).map(|number| format!("- Never do number {number} {long}\n")).collect();
        let list = extract_candidates(&format!("## Rules\n\n{rules}")).render_list(CandidateFilter::All);
        assert!(list.len() <= LIST_BYTES_MAX + 100 && list.lines().count() <= CANDIDATES_MAX + 1, "{}", list.len());
        assert!(list.ends_with(" more are not shown)\n"), "{list}");
    }
}
