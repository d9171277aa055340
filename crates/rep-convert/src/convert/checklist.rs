//! The twelve points of UASP §9.7, filled in for one conversion.

use rep_model::uasp::Constraints;
use rep_model::yaml::parse;
use rep_model::{Document, Index, hash};
use serde_json::{Value, json};

use super::report::Item;
use super::write;

/// How far a point has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Done, with nothing left for a person.
    Done,
    /// The Markdown has nothing of the kind.
    Absent,
    /// Something is left for a person, which the note names.
    Review,
}

impl State {
    /// The word in reports.
    pub const fn name(self) -> &'static str {
        match self {
            State::Done => "done",
            State::Absent => "absent",
            State::Review => "review",
        }
    }

    /// The mark in lists.
    pub const fn mark(self) -> &'static str {
        match self {
            State::Done => "[x]",
            State::Absent => "[-]",
            State::Review => "[ ]",
        }
    }
}

/// One point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// What was to be done.
    pub title: &'static str,
    /// How far it has come.
    pub state: State,
    /// What there is, and what is left.
    pub note: String,
}

impl Point {
    pub(super) fn json(&self) -> Value {
        json!({ "point": self.title, "state": self.state.name(), "note": self.note })
    }
}

/// Fills in the list; `foreign` says why the Markdown is taken to be in a language the rules do not know.
pub(super) fn fill(document: &Document, items: &[Item], errors: usize, foreign: Option<&str>) -> Vec<Point> {
    let sections = &document.sections;
    let section = |title, (name, count): (&str, usize), left: &str| section(title, (items, foreign), name, count, left);
    let Constraints { never, always, prefer } = &sections.constraints;
    let entities = &sections.state.entities;
    let without_creator = entities.iter().filter(|entity| entity.created_by.is_empty()).count();
    let without_returns = sections.commands.iter().filter(|command| command.returns.is_none()).count();
    let without_invariants = sections.workflows.iter().filter(|workflow| workflow.invariants.is_empty()).count();
    vec![
        kind(document, items),
        section("constraints: never, always, prefer", ("constraints", never.len() + always.len() + prefer.len()), ""),
        section("decisions: when and then", ("decisions", sections.decisions.len()), ""),
        section(
            "state: entities and their lifecycles",
            ("state", entities.len()),
            &lacking(without_creator, "a command that makes it"),
        ),
        section(
            "commands: arguments, flags, returns",
            ("commands", sections.commands.iter().count()),
            &lacking(without_returns, "what it returns"),
        ),
        section("global flags", ("global_flags", sections.global_flags.len()), ""),
        section(
            "workflows and what holds throughout",
            ("workflows", sections.workflows.len()),
            &lacking(without_invariants, "invariants"),
        ),
        section("reference: syntax patterns", ("reference", sections.reference.len()), ""),
        section("sources", ("sources", sections.sources.len()), ""),
        valid(errors),
        version(document),
        queries(document),
    ]
}

fn point(title: &'static str, state: State, note: impl Into<String>) -> Point {
    Point { title, state, note: note.into() }
}

fn kind(document: &Document, items: &[Item]) -> Point {
    let title = "the skill's type";
    let Some(kind) = document.sections.meta.kind.as_deref() else {
        return point(title, State::Review, "no type was found");
    };
    let doubt = items.iter().find(|item| item.path == "meta.type").and_then(|item| item.doubt.as_ref());
    match doubt {
        Some(doubt) => point(title, State::Review, format!("{kind}, but {doubt}")),
        None => point(title, State::Done, kind),
    }
}

/// A section's count, its doubts, and what else is left to look at.
fn section(
    title: &'static str,
    (items, foreign): (&[Item], Option<&str>),
    name: &str,
    count: usize,
    left: &str,
) -> Point {
    let own: Vec<&Item> = items.iter().filter(|item| item.section() == name).collect();
    let count = if own.is_empty() { count } else { own.len() };
    if count == 0 {
        // What was not understood may be there all the same.
        return match foreign {
            Some(reason) => point(title, State::Review, format!("none was read, but {reason}")),
            None => point(title, State::Absent, "none in the Markdown"),
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
    let state = if notes.len() > 1 { State::Review } else { State::Done };
    point(title, state, notes.join(", "))
}

fn lacking(count: usize, what: &str) -> String {
    if count == 0 { String::new() } else { format!("{count} without {what}") }
}

fn valid(errors: usize) -> Point {
    let title = "valid against the schema";
    match errors {
        0 => point(title, State::Done, "no errors"),
        count => point(title, State::Review, format!("{count} errors")),
    }
}

fn version(document: &Document) -> Point {
    let title = "the version is that of the content";
    let computed = parse(&write(document.raw()), 0).root.and_then(|root| hash::sha256(&root).ok());
    let declared = document.sections.meta.version.as_deref();
    match computed {
        Some(computed) if declared == Some(&computed[..8]) => point(title, State::Done, &computed[..8]),
        Some(computed) => point(title, State::Review, format!("the content's is {}", &computed[..8])),
        None => point(title, State::Review, "the content has none"),
    }
}

/// Asks for every section, and for every entry of it by name.
fn queries(document: &Document) -> Point {
    let title = "queries find what is there";
    let index = Index::new(document.clone());
    let (mut asked, mut missed) = (0, Vec::new());
    let mut ask = |path: &str, expected: &Value| {
        asked += 1;
        if index.ask(path, &[]).is_none_or(|found| found.value.to_value() != *expected) {
            missed.push(path.to_owned());
        }
    };
    for (section, content) in document.raw().as_object().into_iter().flatten() {
        ask(section, content);
        for (key, entry) in content.as_object().into_iter().flatten() {
            ask(&format!("{section}.{key}"), entry);
        }
    }
    match missed.as_slice() {
        [] => point(title, State::Done, format!("{asked} asked")),
        [first, ..] => point(title, State::Review, format!("{} of {asked} not found, `{first}` first", missed.len())),
    }
}

#[cfg(test)]
mod tests {
    use rep_model::Origin;

    use super::*;

    /// UC-20: what was not understood is not said to be absent.
    #[test]
    fn nothing_read_from_another_language_is_for_a_person() {
        let value = json!({ "meta": { "name": "a", "type": "knowledge" } });
        let document = Document::from_value(value, Origin::Authored, Vec::new());
        let states =
            |foreign| fill(&document, &[], 0, foreign)[1..9].iter().map(|point| point.state).collect::<Vec<_>>();
        assert_eq!(states(None), [State::Absent; 8]);
        assert_eq!(states(Some("it is Latin")), [State::Review; 8]);
        assert_eq!(fill(&document, &[], 0, Some("it is Latin"))[2].note, "none was read, but it is Latin");
    }
}
