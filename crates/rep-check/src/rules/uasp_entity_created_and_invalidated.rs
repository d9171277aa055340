use std::collections::BTreeSet;

use rep_model::Skill;

use crate::data_path::shorten_key;
use crate::draft::Findings;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "uasp-entity-created-and-invalidated",
    summary: "a command creates and invalidates the same entity",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::Uasp.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::uasp("§9.3"), RuleCitation::uasp("§9.4")],
    requirements: &["US-13"],
    page: include_str!("uasp_entity_created_and_invalidated.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for uasp in &skill.uasp {
        for command in uasp.document().into_iter().flat_map(|document| &document.sections.commands) {
            let created: BTreeSet<&str> = command.creates.iter().map(|entity| &**entity).collect();
            let path = shorten_key(&command.path);
            for entity in command.invalidates.iter().filter(|entity| created.contains(&***entity)) {
                findings
                    .add(
                        &uasp.file,
                        entity.span_or_start(),
                        format!("`{path}` both creates and invalidates `{entity}`"),
                    )
                    .with_data_path(format!("commands.{path}.invalidates"))
                    .help("keep the one that applies after the command; invalidation is applied last");
            }
        }
    }
}
