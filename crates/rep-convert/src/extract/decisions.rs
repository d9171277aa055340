//! Adds a decision to the draft, unless its text shows that it is none.

use serde_json::json;

use super::clauses::clean_text;
use super::draft::DocumentDraft;
use super::rules::ExtractionRule;

/// The maximum length of a fact, in bytes.
pub(super) const FACT_BYTES_MAX: usize = 600;

/// Adds a decision, unless its words rule that out.
pub(super) fn add_decision(
    rule: &'static ExtractionRule,
    line: usize,
    when: &str,
    then: &str,
    draft: &mut DocumentDraft,
) {
    add_linked_decision(rule, line, [when, then], None, draft);
}

/// Adds a decision with a link target.
pub(super) fn add_linked_decision(
    rule: &'static ExtractionRule,
    line: usize,
    said: [&str; 2],
    link: Option<&str>,
    draft: &mut DocumentDraft,
) {
    let [when, then] = said.map(clean_text);
    let lower = when.to_lowercase();
    let fits = [&when, &then].iter().all(|text| (1..=FACT_BYTES_MAX).contains(&text.len()));
    let is_answer = when.chars().count() < 2
        || lower.starts_with("to choose")
        || ["use no", "use yes", "use -"].contains(&then.to_lowercase().as_str())
        || ["yes", "no", "otherwise", "else", "none", "-", "n/a"].contains(&lower.as_str());
    let is_torn = when.matches('(').count() != when.matches(')').count();
    let before = draft.decisions.items.len();
    if fits && !is_answer && !is_torn && !then.ends_with('?') {
        draft.decisions.add(rule, line, json!({ "when": when, "then": then }));
    }
    if let Some(added) = draft.decisions.items.get_mut(before) {
        added.link = link.map(str::to_owned);
    }
}
