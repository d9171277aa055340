//! The names that a UASP file declares, and references to names that it does not declare.

use std::collections::BTreeSet;
use std::ops::Bound;

use rep_model::suggestion::nearest_name;
use rep_model::uasp::{SpannedText, StateEntity, UaspCommand, UaspSections};
use rep_model::{Skill, Span};

use crate::data_path::shorten_key;
use crate::draft::Findings;
use crate::yaml_edits::suggest_value;

/// The maximum number of findings per file, so that the cost of a hostile file is proportional to its length.
const REPORTED_MAX: usize = 500;

/// The maximum number of declared names that are searched for a similar one.
const NEAREST_MAX: usize = 200;

/// The names a file declares.
pub(crate) struct DeclaredNames<'a> {
    pub(crate) entities: BTreeSet<&'a str>,
    /// Paths and aliases.
    commands: BTreeSet<&'a str>,
    pub(crate) sources: BTreeSet<&'a str>,
}

impl<'a> DeclaredNames<'a> {
    /// Collects the names of a file.
    pub(crate) fn from_sections(sections: &'a UaspSections) -> Self {
        let sources = sections.sources.iter().flat_map(|source| [&source.id, &source.url, &source.path]);
        Self {
            entities: sections.state.entity_names().collect(),
            commands: sections.commands.iter().flat_map(UaspCommand::names).collect(),
            sources: sources.filter_map(|text| text.as_deref()).collect(),
        }
    }

    /// Whether a path is a command, an alias, or the beginning of one: `get` refers to `get.text` and its siblings.
    pub(crate) fn is_command(&self, path: &str) -> bool {
        let group = format!("{path}.");
        let mut from = self.commands.range::<str, _>((Bound::Included(group.as_str()), Bound::Unbounded));
        self.commands.contains(path) || from.next().is_some_and(|next| next.starts_with(&group))
    }
}

/// What a name should refer to.
#[derive(Clone, Copy)]
pub(crate) enum NameKind {
    Entity,
    Command,
    Source,
}

impl NameKind {
    fn display_name(self) -> &'static str {
        match self {
            NameKind::Entity => "state entity",
            NameKind::Command => "command",
            NameKind::Source => "source",
        }
    }
}

/// A reference to a name that the file does not declare.
pub(crate) struct UnknownName<'a> {
    /// The data path of the field.
    pub(crate) data_path: String,
    pub(crate) name: &'a str,
    pub(crate) span: Span,
    pub(crate) kind: NameKind,
}

impl UnknownName<'_> {
    /// Returns the help, and the declared name that is probably meant.
    fn suggest_fix<'d>(&self, declared: &DeclaredNames<'d>) -> (String, Option<&'d str>) {
        let (among, home) = match self.kind {
            NameKind::Entity => (&declared.entities, "declare it under `state.entities`"),
            NameKind::Command => (&declared.commands, "declare it under `commands`"),
            NameKind::Source => (&declared.sources, "declare it under `sources`"),
        };
        // Singular instead of plural, or the reverse, is the usual mistake.
        let plural = format!("{}s", self.name);
        let singular = self.name.strip_suffix('s').unwrap_or("");
        let number = among.iter().copied().find(|word| *word == singular || *word == plural);
        let near = number.or_else(|| nearest_name(self.name, among.iter().copied().take(NEAREST_MAX)));
        (near.map_or_else(|| home.to_owned(), |near| format!("did you mean `{near}`?")), near)
    }
}

/// Reports each unknown name once per field.
pub(crate) fn report_unknown_names(
    skill: &Skill,
    file: &str,
    mut unknown: Vec<UnknownName<'_>>,
    declared: &DeclaredNames<'_>,
    findings: &mut Findings<'_>,
) {
    let mut seen = BTreeSet::new();
    unknown.retain(|found| seen.insert((found.data_path.clone(), found.name)));
    for found in unknown.into_iter().take(REPORTED_MAX) {
        let (help, near) = found.suggest_fix(declared);
        findings
            .add(file, found.span, format!("`{}` is not a declared {}", found.name, found.kind.display_name()))
            .with_data_path(found.data_path)
            .help(help)
            .with_optional_fix(near.and_then(|near| suggest_value(skill, file, found.span, near)));
    }
}

/// Finds the unknown commands in one list of an entity. A word in `invalidated_by` may be an event that no command
/// causes, so that list is not checked.
pub(crate) fn find_unknown_commands<'a>(
    entity: &StateEntity,
    index: usize,
    (field, names): (&str, &'a [SpannedText]),
    declared: &DeclaredNames<'_>,
    unknown: &mut Vec<UnknownName<'a>>,
) {
    for name in names.iter().filter(|name| is_command_path(name)) {
        if !declared.is_command(name) {
            // The path a query would take: list items are looked up by name.
            let own = entity.name.as_deref().map(shorten_key);
            let at = own.map_or_else(
                || format!("state.entities[{index}].{field}"),
                |own| format!("state.entities.{own}.{field}"),
            );
            unknown.push(UnknownName { data_path: at, name, span: name.span_or_start(), kind: NameKind::Command });
        }
    }
}

/// Whether a text looks like the path of a command. Flags and multiple words do not.
fn is_command_path(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
}
