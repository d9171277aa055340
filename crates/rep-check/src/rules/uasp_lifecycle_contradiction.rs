use std::collections::BTreeSet;

use rep_model::Skill;
use rep_model::uasp::{SpannedText, StateEffects, StateEntity, UaspCommand, UaspSections};

use crate::data_path::shorten_key;
use crate::draft::Findings;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "uasp-lifecycle-contradiction",
    summary: "an entity's lifecycle contradicts the effects of a command",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::Uasp.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::uasp("§5.5, state lifecycle"), RuleCitation::uasp("§9.3, state management")],
    requirements: &["US-11", "US-12"],
    page: include_str!("uasp_lifecycle_contradiction.md"),
    check: RuleCheck::Skill(check),
};

/// The maximum number of findings per file, so that the cost of a hostile file is proportional to its length.
const REPORTED_MAX: usize = 100;

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for uasp in &skill.uasp {
        let Some(document) = uasp.document() else { continue };
        for (entity, command) in find_contradictions(&document.sections).into_iter().take(REPORTED_MAX) {
            let name = entity.name.as_deref().map(shorten_key).unwrap_or_default();
            let path = shorten_key(&command.path);
            let lists = [
                ("created_by", "created by", "invalidates", &entity.created_by),
                ("restored_by", "restored by", "invalidates", &entity.restored_by),
                ("invalidated_by", "invalidated by", "creates", &entity.invalidated_by),
            ];
            let mut entries = lists.into_iter().filter_map(|(field, verb, other, entries)| {
                let entry = entries.iter().find(|entry| is_named_by(command, entry))?;
                Some((field, verb, other, entry))
            });
            let Some((field, verb, other, entry)) = entries.next() else { continue };
            findings
                .add(&uasp.file, entry.span_or_start(), format!("`{name}` is {verb} `{path}`, which also {other} it"))
                .with_data_path(format!("state.entities.{name}.{field}"))
                .help("keep the one that applies after the command; invalidation is applied last");
        }
    }
}

/// Returns the entities that a command both makes valid and invalidates, without those that the command itself lists
/// under `creates` and `invalidates`.
fn find_contradictions(sections: &UaspSections) -> Vec<(&StateEntity, &UaspCommand)> {
    let all_effects = StateEffects::from_sections(sections);
    let mut found = BTreeSet::new();
    for command in &sections.commands {
        let Some(effects) = all_effects.get(&command.path) else { continue };
        let made: BTreeSet<&str> = effects.made_names().collect();
        found
            .extend(effects.invalidates.iter().filter(|name| made.contains(*name)).map(|name| (*name, &*command.path)));
    }
    let contains = |names: &[SpannedText], name: &str| names.iter().any(|own| **own == *name);
    let entities = sections.state.entities.iter().filter_map(|entity| Some((entity.name.as_deref()?, entity)));
    let pairs = entities.flat_map(|(name, entity)| {
        let commands = found.range((name, "")..).take_while(move |(own, _)| *own == name);
        commands.filter_map(move |(_, path)| Some((entity, sections.commands.get(path)?)))
    });
    let is_own = |entity: &StateEntity, command: &UaspCommand| {
        let name = entity.name.as_deref().unwrap_or_default();
        contains(&command.creates, name) && contains(&command.invalidates, name)
    };
    pairs.filter(|(entity, command)| !is_own(entity, command)).collect()
}

/// Whether an entry of an entity names a command: by its path, by an alias, or by a prefix.
fn is_named_by(command: &UaspCommand, entry: &str) -> bool {
    let entry = entry.split_whitespace().collect::<Vec<_>>().join(".");
    let below = |name: &str| name.strip_prefix(&*entry).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    !entry.is_empty() && command.names().any(below)
}
