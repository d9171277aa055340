use std::collections::BTreeSet;

use rep_model::Skill;

use crate::data_path::short_key;
use crate::engine::Findings;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "uasp-entity-created-and-invalidated",
    summary: "a command that creates and invalidates the same entity",
    since: "0.1.0",
    levels: Levels { warning: Profile::Uasp.as_set(), ..Levels::NONE },
    cites: &[Cite::uasp("§9.3"), Cite::uasp("§9.4")],
    requirements: &["US-13"],
    page: include_str!("uasp_entity_created_and_invalidated.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for uasp in &skill.uasp {
        for command in uasp.document().into_iter().flat_map(|document| &document.sections.commands) {
            let created: BTreeSet<&str> = command.creates.iter().map(|entity| &**entity).collect();
            let path = short_key(&command.path);
            for entity in command.invalidates.iter().filter(|entity| created.contains(&***entity)) {
                findings
                    .add(&uasp.file, entity.place(), format!("`{path}` both creates and invalidates `{entity}`"))
                    .path(format!("commands.{path}.invalidates"))
                    .help("keep the one that holds after the command; invalidation is applied last");
            }
        }
    }
}
