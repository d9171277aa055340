use std::collections::BTreeSet;

use rep_model::Skill;
use rep_model::uasp::Uasp;
use rep_model::yaml::Node;

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
        for command in uasp.view().map(Uasp::commands).unwrap_or_default() {
            let names = |field| command.value.get(field).and_then(Node::items).unwrap_or(&[]);
            let created: BTreeSet<&str> = names("creates").iter().filter_map(Node::text).collect();
            let path = short_key(command.key.text().unwrap_or("?"));
            for item in names("invalidates") {
                let Some(entity) = item.text().filter(|name| created.contains(name)) else { continue };
                findings
                    .add(&uasp.file, item.span, format!("`{path}` both creates and invalidates `{entity}`"))
                    .path(format!("commands.{path}.invalidates"))
                    .help("keep the one that holds after the command; invalidation is applied last");
            }
        }
    }
}
