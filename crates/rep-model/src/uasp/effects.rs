//! What the commands of a document do to its state: UASP §5.5, §5.6 and §9.3.
//!
//! A command names entities in `requires`, `creates` and `invalidates`. An entity names commands in `created_by`,
//! `consumed_by`, `invalidated_by`, `persisted_by` and `restored_by`. Both directions have the same effects, and the
//! effects of a command are the union. An entry of an entity counts if it names a command, see
//! [`UaspCommands::match_entry`]. Every other entry is documentation for people.
//!
//! Linting, simulation, execution and workflows ask this module, so that they agree.

use std::collections::{BTreeMap, BTreeSet};

use super::{StateEntity, UaspCommand, UaspCommands, UaspSections};

/// The maximum number of commands that the entries of entities name altogether. Further entries are documentation. A
/// prefix in the list of every entity would otherwise make the cost of a hostile file quadratic.
const LINKS_MAX: usize = 100_000;

/// What one command does to the state. Each list is in document order, without duplicates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandEffects<'a> {
    /// The path of the command.
    pub command: &'a str,
    /// The entities and commands that it requires.
    pub requires: Vec<&'a str>,
    /// The entities that it creates.
    pub creates: Vec<&'a str>,
    /// The entities that it restores.
    pub restores: Vec<&'a str>,
    /// The entities whose value it persists.
    pub persists: Vec<&'a str>,
    /// The entities that it invalidates.
    pub invalidates: Vec<&'a str>,
    /// The requirements of commands that name this command. They are met once it has succeeded.
    pub completes: Vec<&'a str>,
}

impl<'a> CommandEffects<'a> {
    /// Returns the names that the command changes, with duplicates.
    pub fn changed_names(&self) -> impl Iterator<Item = &'a str> {
        let lists = [&self.creates, &self.restores, &self.persists, &self.invalidates, &self.completes];
        lists.into_iter().flatten().copied()
    }

    /// Returns the entities that are valid after the command succeeded, unless it also invalidates them.
    pub fn made_names(&self) -> impl Iterator<Item = &'a str> {
        self.creates.iter().chain(&self.restores).copied()
    }

    fn lists_mut(&mut self) -> [&mut Vec<&'a str>; 6] {
        let Self { requires, creates, restores, persists, invalidates, completes, .. } = self;
        [requires, creates, restores, persists, invalidates, completes]
    }
}

/// The effects of all commands of a document.
#[derive(Clone, Debug, Default)]
pub struct StateEffects<'a> {
    by_path: BTreeMap<&'a str, CommandEffects<'a>>,
    /// The declared entities and all names in `requires`, `creates` and `invalidates`.
    names: BTreeSet<&'a str>,
}

impl<'a> StateEffects<'a> {
    /// Computes the effects of the commands of a document.
    pub fn from_sections(sections: &'a UaspSections) -> Self {
        let spellings = EntitySpellings::from_sections(sections);
        let by_path =
            sections.commands.iter().map(|command| (&*command.path, CommandEffects::from_command(command))).collect();
        let mut effects = EffectsBuilder { commands: &sections.commands, by_path, links_left: LINKS_MAX };
        for entity in &sections.state.entities {
            effects.link_entity(entity);
        }
        effects.link_completions(&spellings);
        let mut by_path = effects.by_path;
        for effects in by_path.values_mut() {
            spellings.complete_changes(effects);
            effects.lists_mut().into_iter().for_each(remove_duplicates);
        }
        let names = spellings.declared.union(&spellings.mentioned).copied().collect();
        Self { by_path, names }
    }

    /// Returns the effects of a command by its path; none if the document does not declare it.
    pub fn get(&self, path: &str) -> Option<&CommandEffects<'a>> {
        self.by_path.get(path)
    }

    /// Returns the effects of what runs under a name: a command, or a template, which has no effects of its own but
    /// meets the requirements with its name.
    pub fn get_or_named<'n>(&self, name: &'n str) -> CommandEffects<'n>
    where
        'a: 'n,
    {
        let own = || CommandEffects {
            command: name,
            completes: self.names.get(name).copied().into_iter().collect(),
            ..CommandEffects::default()
        };
        self.get(name).cloned().unwrap_or_else(own)
    }

    /// Returns the names of all entities: declared ones and those that commands mention, sorted.
    pub fn entity_names(&self) -> impl Iterator<Item = &'a str> {
        self.names.iter().copied()
    }
}

impl<'a> CommandEffects<'a> {
    fn from_command(command: &'a UaspCommand) -> Self {
        let list = |names: &'a [super::SpannedText]| names.iter().map(|name| &**name).collect();
        Self {
            command: &command.path,
            requires: list(&command.requires),
            creates: list(&command.creates),
            invalidates: list(&command.invalidates),
            ..Self::default()
        }
    }
}

struct EffectsBuilder<'a> {
    commands: &'a UaspCommands,
    by_path: BTreeMap<&'a str, CommandEffects<'a>>,
    links_left: usize,
}

impl<'a> EffectsBuilder<'a> {
    fn link_entity(&mut self, entity: &'a StateEntity) {
        let Some(name) = entity.name.as_deref() else { return };
        for entry in &entity.created_by {
            self.link_entry(entry, |effects| effects.creates.push(name));
        }
        for entry in &entity.restored_by {
            self.link_entry(entry, |effects| effects.restores.push(name));
        }
        for entry in &entity.persisted_by {
            self.link_entry(entry, |effects| effects.persists.push(name));
        }
        for entry in &entity.invalidated_by {
            self.link_entry(entry, |effects| effects.invalidates.push(name));
        }
        for entry in &entity.consumed_by {
            let consumers = select_consumers(self.match_entry(entry), name);
            self.link_commands(&consumers, |effects| effects.requires.push(name));
        }
    }

    /// Adds the requirements that name a command, such as `requires: [open]`.
    fn link_completions(&mut self, spellings: &EntitySpellings<'a>) {
        for name in spellings.mentioned.difference(&spellings.declared) {
            self.link_entry(name, |effects| effects.completes.push(name));
        }
        // If an entity has the name of a command, the success of the command makes it valid.
        for name in &spellings.declared {
            if let Some(effects) = self.by_path.get_mut(name) {
                effects.completes.push(name);
            }
        }
    }

    /// Finds the commands that an entry names, within the limit.
    fn match_entry(&mut self, entry: &str) -> Vec<&'a UaspCommand> {
        if self.links_left == 0 {
            return Vec::new();
        }
        let mut matched = self.commands.match_entry(entry);
        matched.truncate(self.links_left);
        self.links_left -= matched.len();
        matched
    }

    fn link_entry(&mut self, entry: &str, link: impl Fn(&mut CommandEffects<'a>)) {
        let matched = self.match_entry(entry);
        self.link_commands(&matched, link);
    }

    fn link_commands(&mut self, commands: &[&UaspCommand], link: impl Fn(&mut CommandEffects<'a>)) {
        for command in commands {
            if let Some(effects) = self.by_path.get_mut(&*command.path) {
                link(effects);
            }
        }
    }
}

/// Selects the commands that an entry of `consumed_by` names.
///
/// A prefix such as `get` names the commands of the group that take the entity: `get.text <ref>` but not `get.url`. If
/// no command of the group shows that it takes the entity, all of them do.
fn select_consumers<'a>(matched: Vec<&'a UaspCommand>, entity: &str) -> Vec<&'a UaspCommand> {
    if matched.len() < 2 {
        return matched;
    }
    let takers: Vec<&UaspCommand> = matched.iter().copied().filter(|command| takes_entity(command, entity)).collect();
    if takers.is_empty() { matched } else { takers }
}

/// Whether a command has an argument or a requirement with the name of an entity.
fn takes_entity(command: &UaspCommand, entity: &str) -> bool {
    let is_entity = |text: &str| text == entity || is_other_number(text, entity);
    let arguments = command.arguments.iter().flat_map(|argument| [&argument.name, &argument.kind]).flatten();
    let slots = command.syntax.as_deref().unwrap_or_default().split('<').skip(1);
    let mut slots = slots.filter_map(|slot| slot.split_once('>')).flat_map(|(slot, _)| slot.split('|'));
    arguments.chain(&command.requires).any(|text| is_entity(text))
        || slots.any(|slot| is_entity(slot.trim_end_matches('.').trim()))
}

/// The names of entities, and the undeclared names that differ from a declared one only in number.
///
/// The specification's own example declares `ref`, and its commands create and require `refs`. Both names mean the same
/// entity there, so that what happens to one happens to the other. `rep check` reports the difference.
struct EntitySpellings<'a> {
    declared: BTreeSet<&'a str>,
    mentioned: BTreeSet<&'a str>,
    others: BTreeMap<&'a str, Vec<&'a str>>,
}

impl<'a> EntitySpellings<'a> {
    fn from_sections(sections: &'a UaspSections) -> Self {
        let declared: BTreeSet<&str> = sections.state.entity_names().collect();
        let lists = sections.commands.iter().flat_map(|one| [&one.requires, &one.creates, &one.invalidates]);
        let mentioned: BTreeSet<&str> = lists.flatten().map(|name| &**name).collect();
        let mut others: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for name in mentioned.difference(&declared) {
            let plural = format!("{name}s");
            let near = [name.strip_suffix('s').unwrap_or_default(), &plural];
            if let Some(entity) = near.into_iter().find_map(|near| declared.get(near)) {
                others.entry(name).or_default().push(entity);
                others.entry(entity).or_default().push(name);
            }
        }
        Self { declared, mentioned, others }
    }

    fn other_spellings(&self, name: &str) -> &[&'a str] {
        self.others.get(name).map_or(&[], Vec::as_slice)
    }

    /// Extends all changes to the other spellings of each name, and removes requirements that only repeat another one
    /// in its other spelling.
    fn complete_changes(&self, effects: &mut CommandEffects<'a>) {
        let CommandEffects { requires, creates, restores, persists, invalidates, .. } = effects;
        let mut seen = BTreeSet::new();
        requires.retain(|name| {
            let others = self.other_spellings(name);
            seen.insert(*name) && !others.iter().any(|other| seen.contains(other))
        });
        for list in [creates, restores, persists, invalidates] {
            let others: Vec<&str> = list.iter().flat_map(|name| self.other_spellings(name)).copied().collect();
            list.extend(others);
        }
    }
}

fn is_other_number(one: &str, other: &str) -> bool {
    one.strip_suffix('s') == Some(other) || other.strip_suffix('s') == Some(one)
}

fn remove_duplicates(names: &mut Vec<&str>) {
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(*name));
}
