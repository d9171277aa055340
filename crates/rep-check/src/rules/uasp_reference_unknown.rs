use std::collections::BTreeSet;
use std::ops::Bound;

use rep_model::uasp::{Command, Decision, Sections, SpannedText, StateEntity};
use rep_model::{Skill, Span};

use super::uasp_key_unknown::{cut, nearest};
use crate::engine::Findings;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "uasp-reference-unknown",
    summary: "a name that the file itself does not declare",
    since: "0.1.0",
    levels: Levels { warning: &[Profile::Uasp], ..Levels::NONE },
    cites: &[Cite::uasp("§7.1.5, consistency check")],
    requirements: &["UC-18"],
    page: include_str!("uasp_reference_unknown.md"),
    check: Check::Skill(check),
};

/// The most findings of one file, so that a hostile file costs no more than its length.
const REPORTED_MAX: usize = 500;

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for uasp in &skill.uasp {
        let Some(document) = uasp.document() else { continue };
        let sections = &document.sections;
        let known = Known::of(sections);
        let mut unknown = Vec::new();
        for command in &sections.commands {
            of_command(command, &known, &mut unknown);
        }
        for (index, entity) in sections.state.entities.iter().enumerate() {
            of_entity(entity, index, ("created_by", &entity.created_by), &known, &mut unknown);
        }
        for (index, decision) in sections.decisions.iter().enumerate() {
            of_decision(decision, index, skill, &known, &mut unknown);
        }
        report(&uasp.file, unknown, &known, findings);
    }
}

/// Reports each unknown name once per field.
pub(super) fn report(file: &str, mut unknown: Vec<Unknown<'_>>, known: &Known<'_>, findings: &mut Findings<'_>) {
    let mut seen = BTreeSet::new();
    unknown.retain(|found| seen.insert((found.at.clone(), found.name)));
    for found in unknown.into_iter().take(REPORTED_MAX) {
        let help = found.help(known);
        findings
            .add(file, found.span, format!("`{}` is no {} of this file", found.name, found.kind.word()))
            .path(found.at)
            .help(help);
    }
}

/// What a name ought to be.
#[derive(Clone, Copy)]
enum Kind {
    Entity,
    Command,
    Source,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Kind::Entity => "state entity",
            Kind::Command => "command",
            Kind::Source => "source",
        }
    }
}

/// A name that leads nowhere.
pub(super) struct Unknown<'a> {
    at: String,
    name: &'a str,
    span: Span,
    kind: Kind,
}

impl Unknown<'_> {
    fn help(&self, known: &Known<'_>) -> String {
        let (among, home) = match self.kind {
            Kind::Entity => (&known.entities, "declare it under `state.entities`"),
            Kind::Command => (&known.commands, "declare it under `commands`"),
            Kind::Source => (&known.sources, "declare it under `sources`"),
        };
        // Singular and plural are the usual slip.
        let plural = format!("{}s", self.name);
        let number = [self.name.strip_suffix('s').unwrap_or(""), &plural].into_iter().find(|word| among.contains(word));
        let near = number.map(str::to_owned).or_else(|| {
            let words: Vec<&str> = among.iter().copied().take(NEAREST_MAX).collect();
            nearest(self.name, &words).map(str::to_owned)
        });
        near.map_or_else(|| home.to_owned(), |near| format!("did you mean `{near}`?"))
    }
}

/// The most names that are looked through for a near one.
const NEAREST_MAX: usize = 200;

/// What a file declares.
pub(super) struct Known<'a> {
    entities: BTreeSet<&'a str>,
    /// Paths and aliases.
    commands: BTreeSet<&'a str>,
    sources: BTreeSet<&'a str>,
}

impl<'a> Known<'a> {
    pub(super) fn of(sections: &'a Sections) -> Self {
        let sources = sections.sources.iter().flat_map(|source| [&source.id, &source.url, &source.path]);
        Self {
            entities: sections.state.names().collect(),
            commands: sections.commands.iter().flat_map(Command::names).collect(),
            sources: sources.filter_map(|text| text.as_deref()).collect(),
        }
    }

    /// Whether a path is a command, an alias, or the beginning of one: `get` stands for `get.text` and its like.
    fn is_command(&self, path: &str) -> bool {
        let group = format!("{path}.");
        let mut from = self.commands.range::<str, _>((Bound::Included(group.as_str()), Bound::Unbounded));
        self.commands.contains(path) || from.next().is_some_and(|next| next.starts_with(&group))
    }
}

fn of_command<'a>(command: &'a Command, known: &Known<'_>, unknown: &mut Vec<Unknown<'a>>) {
    // A precondition may also be an earlier command, or plain words.
    let is_condition = |name: &str| known.is_command(name) || name.contains(char::is_whitespace);
    let requires = command.requires.iter().filter(|name| !is_condition(name)).map(|name| ("requires", name));
    let creates = command.creates.iter().map(|name| ("creates", name));
    let invalidates = command.invalidates.iter().map(|name| ("invalidates", name));
    for (field, name) in requires.chain(creates).chain(invalidates) {
        if !known.entities.contains(&**name) {
            let at = format!("commands.{}.{field}", cut(&command.path));
            unknown.push(Unknown { at, name, span: name.place(), kind: Kind::Entity });
        }
    }
}

/// Judges one list of commands of an entity. `invalidated_by` is written for people and never judged.
pub(super) fn of_entity<'a>(
    entity: &StateEntity,
    index: usize,
    (field, names): (&str, &'a [SpannedText]),
    known: &Known<'_>,
    unknown: &mut Vec<Unknown<'a>>,
) {
    for name in names.iter().filter(|name| is_command_path(name)) {
        if !known.is_command(name) {
            // The path a query would take: list items are looked up by name.
            let own = entity.name.as_deref().map(cut);
            let at = own.map_or_else(
                || format!("state.entities[{index}].{field}"),
                |own| format!("state.entities.{own}.{field}"),
            );
            unknown.push(Unknown { at, name, span: name.place(), kind: Kind::Command });
        }
    }
}

/// Whether text looks like the path of a command. A flag does not, and neither do several words.
fn is_command_path(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
}

fn of_decision<'a>(
    decision: &'a Decision,
    index: usize,
    skill: &Skill,
    known: &Known<'_>,
    unknown: &mut Vec<Unknown<'a>>,
) {
    let Some(name) = &decision.source else { return };
    // An address and a file of the skill need no source to be found, and several words are no id.
    let is_found = name.contains("://") || name.contains(char::is_whitespace) || skill.tree.has(name);
    if !is_found && !known.sources.contains(&**name) {
        unknown.push(Unknown { at: format!("decisions[{index}].ref"), name, span: name.place(), kind: Kind::Source });
    }
}
