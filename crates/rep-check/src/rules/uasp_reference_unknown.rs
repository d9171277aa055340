use rep_model::Skill;
use rep_model::uasp::{UaspCommand, UaspDecision};

use crate::data_path::shorten_key;
use crate::draft::Findings;
use crate::uasp_names::{DeclaredNames, NameKind, UnknownName, find_unknown_commands, report_unknown_names};
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "uasp-reference-unknown",
    summary: "a name is not declared in the file",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::Uasp.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::uasp("§7.1.5, consistency check")],
    requirements: &["UC-18"],
    page: include_str!("uasp_reference_unknown.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for uasp in &skill.uasp {
        let Some(document) = uasp.document() else { continue };
        let sections = &document.sections;
        let declared = DeclaredNames::from_sections(sections);
        let mut unknown = Vec::new();
        for command in &sections.commands {
            find_unknown_entities(command, &declared, &mut unknown);
        }
        for (index, entity) in sections.state.entities.iter().enumerate() {
            for list in [
                ("created_by", entity.created_by.as_slice()),
                ("persisted_by", entity.persisted_by.as_slice()),
                ("restored_by", entity.restored_by.as_slice()),
            ] {
                find_unknown_commands(entity, index, list, &declared, &mut unknown);
            }
        }
        for (index, decision) in sections.decisions.iter().enumerate() {
            find_unknown_source(decision, index, skill, &declared, &mut unknown);
        }
        report_unknown_names(skill, &uasp.file, unknown, &declared, findings);
    }
}

fn find_unknown_entities<'a>(
    command: &'a UaspCommand,
    declared: &DeclaredNames<'_>,
    unknown: &mut Vec<UnknownName<'a>>,
) {
    // A precondition may also be an earlier command, or free text.
    let is_condition = |name: &str| declared.is_command(name) || name.contains(char::is_whitespace);
    let requires = command.requires.iter().filter(|name| !is_condition(name)).map(|name| ("requires", name));
    let creates = command.creates.iter().map(|name| ("creates", name));
    let invalidates = command.invalidates.iter().map(|name| ("invalidates", name));
    for (field, name) in requires.chain(creates).chain(invalidates) {
        if !declared.entities.contains(&**name) {
            let at = format!("commands.{}.{field}", shorten_key(&command.path));
            unknown.push(UnknownName { data_path: at, name, span: name.span_or_start(), kind: NameKind::Entity });
        }
    }
}

fn find_unknown_source<'a>(
    decision: &'a UaspDecision,
    index: usize,
    skill: &Skill,
    declared: &DeclaredNames<'_>,
    unknown: &mut Vec<UnknownName<'a>>,
) {
    let Some(name) = &decision.source else { return };
    // An address or a file of the skill does not need a source, and multiple words are not an id.
    let is_found = name.contains("://") || name.contains(char::is_whitespace) || skill.tree.has_path(name);
    if !is_found && !declared.sources.contains(&**name) {
        let at = format!("decisions[{index}].ref");
        unknown.push(UnknownName { data_path: at, name, span: name.span_or_start(), kind: NameKind::Source });
    }
}
