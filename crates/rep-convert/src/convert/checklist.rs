//! Fills in the twelve-point checklist of UASP §9.7 for a conversion.

use std::collections::BTreeMap;

use rep_model::uasp::UaspConstraints;
use rep_model::yaml::parse;
use rep_model::{QueryIndex, SkillDocument, content_hash};
use serde_json::{Value, json};

use super::report::ConversionItem;
use super::write_yaml;

/// The state of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChecklistPointState {
    /// Complete; nothing is left to review.
    Done,
    /// The Markdown contains nothing for this point.
    Absent,
    /// A person has to review the part that the note names.
    Review,
}

impl ChecklistPointState {
    /// Returns the name used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            ChecklistPointState::Done => "done",
            ChecklistPointState::Absent => "absent",
            ChecklistPointState::Review => "review",
        }
    }

    /// Returns the mark used in lists.
    pub const fn mark(self) -> &'static str {
        match self {
            ChecklistPointState::Done => "[x]",
            ChecklistPointState::Absent => "[-]",
            ChecklistPointState::Review => "[ ]",
        }
    }
}

/// A point of the checklist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChecklistPoint {
    /// The task.
    pub title: &'static str,
    /// The state.
    pub state: ChecklistPointState,
    /// What was found, and what is left to review.
    pub note: String,
}

impl ChecklistPoint {
    pub(super) fn to_json(&self) -> Value {
        json!({ "point": self.title, "state": self.state.name(), "note": self.note })
    }
}

/// The facts that the checklist is computed from.
pub(super) struct ChecklistFacts<'a> {
    pub(super) items: &'a [ConversionItem],
    /// The number of doubtful candidates that are not in the document, by section.
    pub(super) left_out: &'a BTreeMap<String, usize>,
    /// Why the Markdown is assumed to be in a language that the rules do not support.
    pub(super) foreign_language: Option<&'a str>,
}

/// Computes all points.
pub(super) fn fill_points(document: &SkillDocument, facts: &ChecklistFacts<'_>, errors: usize) -> Vec<ChecklistPoint> {
    let sections = &document.sections;
    let section = |title, (name, count): (&str, usize), left: &str| check_section(title, facts, name, count, left);
    let UaspConstraints { never, always, prefer } = &sections.constraints;
    let entities = &sections.state.entities;
    let without_creator = entities.iter().filter(|entity| entity.created_by.is_empty()).count();
    let without_returns = sections.commands.iter().filter(|command| command.returns.is_none()).count();
    let without_invariants = sections.workflows.iter().filter(|workflow| workflow.invariants.is_empty()).count();
    vec![
        check_type(document, facts.items),
        section("constraints: never, always, prefer", ("constraints", never.len() + always.len() + prefer.len()), ""),
        section("decisions: when and then", ("decisions", sections.decisions.len()), ""),
        section(
            "state: entities and their lifecycles",
            ("state", entities.len()),
            &describe_lacking(without_creator, "a command that creates it"),
        ),
        section(
            "commands: arguments, flags, returns",
            ("commands", sections.commands.iter().count()),
            &describe_lacking(without_returns, "a return value"),
        ),
        section("global flags", ("global_flags", sections.global_flags.len()), ""),
        section(
            "workflows and their invariants",
            ("workflows", sections.workflows.len()),
            &describe_lacking(without_invariants, "invariants"),
        ),
        section("reference: syntax patterns", ("reference", sections.reference.len()), ""),
        section("sources", ("sources", sections.sources.len()), ""),
        check_validity(errors),
        check_version(document),
        check_queries(document),
    ]
}

fn make_point(title: &'static str, state: ChecklistPointState, note: impl Into<String>) -> ChecklistPoint {
    ChecklistPoint { title, state, note: note.into() }
}

fn check_type(document: &SkillDocument, items: &[ConversionItem]) -> ChecklistPoint {
    let title = "the skill's type";
    let Some(kind) = document.sections.meta.kind.as_deref() else {
        return make_point(title, ChecklistPointState::Review, "no type was found");
    };
    let doubt = items.iter().find(|item| item.path == "meta.type").and_then(|item| item.doubt.as_ref());
    match doubt {
        Some(doubt) => make_point(title, ChecklistPointState::Review, format!("{kind}, but {doubt}")),
        None => make_point(title, ChecklistPointState::Done, kind),
    }
}

/// Counts the items of a section, its doubtful items, and other points to review.
fn check_section(
    title: &'static str,
    facts: &ChecklistFacts<'_>,
    name: &str,
    count: usize,
    left: &str,
) -> ChecklistPoint {
    let own: Vec<&ConversionItem> = facts.items.iter().filter(|item| item.section() == name).collect();
    let count = if own.is_empty() { count } else { own.len() };
    if count == 0 {
        // Without language support, an empty section does not mean that the Markdown has nothing for it.
        return match (facts.foreign_language, facts.left_out.get(name)) {
            (Some(reason), _) => make_point(title, ChecklistPointState::Review, format!("none found, but {reason}")),
            (None, Some(count)) => {
                make_point(title, ChecklistPointState::Review, format!("none is confident, {count} doubtful left out"))
            }
            (None, None) => make_point(title, ChecklistPointState::Absent, "none in the Markdown"),
        };
    }
    let doubts = own.iter().filter(|item| item.doubt.is_some()).count();
    let mut notes = vec![count.to_string()];
    if doubts > 0 {
        notes.push(format!("{doubts} to review"));
    }
    if !left.is_empty() {
        notes.push(left.to_owned());
    }
    let state = if notes.len() > 1 { ChecklistPointState::Review } else { ChecklistPointState::Done };
    make_point(title, state, notes.join(", "))
}

fn describe_lacking(count: usize, what: &str) -> String {
    if count == 0 { String::new() } else { format!("{count} without {what}") }
}

fn check_validity(errors: usize) -> ChecklistPoint {
    let title = "valid against the schema";
    match errors {
        0 => make_point(title, ChecklistPointState::Done, "no errors"),
        count => make_point(title, ChecklistPointState::Review, format!("{count} errors")),
    }
}

fn check_version(document: &SkillDocument) -> ChecklistPoint {
    let title = "the version matches the content";
    let computed =
        parse(&write_yaml(document.raw_value()), 0).root.and_then(|root| content_hash::hash_content(&root).ok());
    let declared = document.sections.meta.version.as_deref();
    match computed {
        Some(computed) if declared == Some(&computed[..8]) => {
            make_point(title, ChecklistPointState::Done, &computed[..8])
        }
        Some(computed) => {
            make_point(title, ChecklistPointState::Review, format!("the version of the content is {}", &computed[..8]))
        }
        None => make_point(title, ChecklistPointState::Review, "the content has no version"),
    }
}

/// Queries every section, and every entry of it by name.
fn check_queries(document: &SkillDocument) -> ChecklistPoint {
    let title = "queries find every entry";
    let index = QueryIndex::new(document.clone());
    let (mut asked, mut missed) = (0, Vec::new());
    let mut ask = |path: &str, expected: &Value| {
        asked += 1;
        if index.find_answer(path, &[]).is_none_or(|found| found.value.to_value() != *expected) {
            missed.push(path.to_owned());
        }
    };
    for (section, content) in document.raw_value().as_object().into_iter().flatten() {
        ask(section, content);
        for (key, entry) in content.as_object().into_iter().flatten() {
            ask(&format!("{section}.{key}"), entry);
        }
    }
    match missed.as_slice() {
        [] => make_point(title, ChecklistPointState::Done, format!("{asked} asked")),
        [first, ..] => make_point(
            title,
            ChecklistPointState::Review,
            format!("{} of {asked} not found, `{first}` first", missed.len()),
        ),
    }
}

#[cfg(test)]
mod tests {
    use rep_model::DocumentOrigin;

    use super::*;

    /// UC-20: sections in an unsupported language are not reported as absent.
    #[test]
    fn nothing_read_from_another_language_is_for_a_person() {
        let value = json!({ "meta": { "name": "a", "type": "knowledge" } });
        let document = SkillDocument::from_value(value, DocumentOrigin::Authored, Vec::new());
        let left_out = BTreeMap::new();
        let fill = |foreign| {
            fill_points(&document, &ChecklistFacts { items: &[], left_out: &left_out, foreign_language: foreign }, 0)
        };
        let states = |foreign| fill(foreign)[1..9].iter().map(|point| point.state).collect::<Vec<_>>();
        assert_eq!(states(None), [ChecklistPointState::Absent; 8]);
        assert_eq!(states(Some("it is Latin")), [ChecklistPointState::Review; 8]);
        assert_eq!(fill(Some("it is Latin"))[2].note, "none found, but it is Latin");
    }
}
