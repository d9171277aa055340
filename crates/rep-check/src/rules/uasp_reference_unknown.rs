use rep_model::Skill;
use rep_model::yaml::{Entry, Node};

use crate::data_path::short_key;
use crate::engine::Findings;
use crate::uasp_names::{DeclaredNames, NameKind, UnknownName, find_unknown_commands, list, report_unknown_names};
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

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for uasp in &skill.uasp {
        let Some(view) = uasp.view() else { continue };
        let declared = DeclaredNames::collect(view);
        let mut unknown = Vec::new();
        for command in view.commands() {
            find_unknown_entities(command, &declared, &mut unknown);
        }
        for (index, entity) in view.entities().iter().enumerate() {
            find_unknown_commands(entity, index, "created_by", &declared, &mut unknown);
        }
        for (index, decision) in view.decisions().iter().enumerate() {
            find_unknown_source(decision, index, skill, &declared, &mut unknown);
        }
        report_unknown_names(&uasp.file, unknown, &declared, findings);
    }
}

fn find_unknown_entities<'a>(command: &'a Entry, declared: &DeclaredNames<'_>, unknown: &mut Vec<UnknownName<'a>>) {
    let Some(path) = command.key.text().map(short_key) else { return };
    for field in ["requires", "creates", "invalidates"] {
        for item in list(&command.value, field) {
            let Some(name) = item.text().filter(|name| !declared.entities.contains(name)) else { continue };
            // A precondition may also be an earlier command, or plain words.
            let is_condition = field == "requires" && (declared.is_command(name) || name.contains(char::is_whitespace));
            if !is_condition {
                let at = format!("commands.{path}.{field}");
                unknown.push(UnknownName { at, name, span: item.span, kind: NameKind::Entity });
            }
        }
    }
}

fn find_unknown_source<'a>(
    node: &'a Node,
    index: usize,
    skill: &Skill,
    declared: &DeclaredNames<'_>,
    unknown: &mut Vec<UnknownName<'a>>,
) {
    let Some((item, name)) = node.get("ref").and_then(|item| Some((item, item.text()?))) else { return };
    // An address and a file of the skill need no source to be found, and several words are no id.
    let is_found = name.contains("://") || name.contains(char::is_whitespace) || skill.tree.has(name);
    if !is_found && !declared.sources.contains(name) {
        unknown.push(UnknownName {
            at: format!("decisions[{index}].ref"),
            name,
            span: item.span,
            kind: NameKind::Source,
        });
    }
}
