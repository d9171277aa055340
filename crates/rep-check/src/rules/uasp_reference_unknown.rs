use std::collections::BTreeSet;
use std::ops::Bound;

use rep_model::suggestion::nearest_name;
use rep_model::uasp::Uasp;
use rep_model::yaml::{Entry, Node};
use rep_model::{Skill, Span};

use super::uasp_key_unknown::cut;
use crate::engine::Findings;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "uasp-reference-unknown",
    summary: "a name that the file itself does not declare",
    since: "0.1.0",
    levels: Levels { warning: Profile::Uasp.as_set(), ..Levels::NONE },
    cites: &[Cite::uasp("§7.1.5, consistency check")],
    requirements: &["UC-18"],
    page: include_str!("uasp_reference_unknown.md"),
    check: Check::Skill(check),
};

/// The most findings of one file, so that a hostile file costs no more than its length.
const REPORTED_MAX: usize = 500;

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for uasp in &skill.uasp {
        let Some(view) = uasp.view() else { continue };
        let known = Known::of(view);
        let mut unknown = Vec::new();
        for command in view.commands() {
            of_command(command, &known, &mut unknown);
        }
        for (index, entity) in view.entities().iter().enumerate() {
            of_entity(entity, index, "created_by", &known, &mut unknown);
        }
        for (index, decision) in view.decisions().iter().enumerate() {
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
        let near = number.or_else(|| nearest_name(self.name, among.iter().copied().take(NEAREST_MAX)));
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
    pub(super) fn of(view: Uasp<'a>) -> Self {
        let paths = view.commands().iter().filter_map(|command| command.key.text());
        let aliases = view.commands().iter().flat_map(|command| list(&command.value, "aliases")).filter_map(Node::text);
        let of_source = |field: &'static str| view.sources().iter().filter_map(move |source| source.get(field)?.text());
        Self {
            entities: view.entity_names().into_iter().collect(),
            commands: paths.chain(aliases).collect(),
            sources: of_source("id").chain(of_source("url")).chain(of_source("path")).collect(),
        }
    }

    /// Whether a path is a command, an alias, or the beginning of one: `get` stands for `get.text` and its like.
    fn is_command(&self, path: &str) -> bool {
        let group = format!("{path}.");
        let mut from = self.commands.range::<str, _>((Bound::Included(group.as_str()), Bound::Unbounded));
        self.commands.contains(path) || from.next().is_some_and(|next| next.starts_with(&group))
    }
}

fn list<'a>(node: &'a Node, field: &str) -> &'a [Node] {
    node.get(field).and_then(Node::items).unwrap_or(&[])
}

fn of_command<'a>(command: &'a Entry, known: &Known<'_>, unknown: &mut Vec<Unknown<'a>>) {
    let Some(path) = command.key.text().map(cut) else { return };
    for field in ["requires", "creates", "invalidates"] {
        for item in list(&command.value, field) {
            let Some(name) = item.text().filter(|name| !known.entities.contains(name)) else { continue };
            // A precondition may also be an earlier command, or plain words.
            let is_condition = field == "requires" && (known.is_command(name) || name.contains(char::is_whitespace));
            if !is_condition {
                let at = format!("commands.{path}.{field}");
                unknown.push(Unknown { at, name, span: item.span, kind: Kind::Entity });
            }
        }
    }
}

/// Judges one list of commands of an entity. `invalidated_by` is written for people and never judged.
pub(super) fn of_entity<'a>(
    entity: &'a Node,
    index: usize,
    field: &str,
    known: &Known<'_>,
    unknown: &mut Vec<Unknown<'a>>,
) {
    for item in list(entity, field) {
        let Some(name) = item.text().filter(|name| is_command_path(name)) else { continue };
        if !known.is_command(name) {
            // The path a query would take: list items are looked up by name.
            let own = entity.get("name").and_then(Node::text).map(cut);
            let at = own.map_or_else(
                || format!("state.entities[{index}].{field}"),
                |own| format!("state.entities.{own}.{field}"),
            );
            unknown.push(Unknown { at, name, span: item.span, kind: Kind::Command });
        }
    }
}

/// Whether text looks like the path of a command. A flag does not, and neither do several words.
fn is_command_path(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
}

fn of_decision<'a>(node: &'a Node, index: usize, skill: &Skill, known: &Known<'_>, unknown: &mut Vec<Unknown<'a>>) {
    let Some((item, name)) = node.get("ref").and_then(|item| Some((item, item.text()?))) else { return };
    // An address and a file of the skill need no source to be found, and several words are no id.
    let is_found = name.contains("://") || name.contains(char::is_whitespace) || skill.tree.has(name);
    if !is_found && !known.sources.contains(name) {
        unknown.push(Unknown { at: format!("decisions[{index}].ref"), name, span: item.span, kind: Kind::Source });
    }
}
