use rep_model::Skill;

use crate::engine::Findings;
use crate::profile::MARKDOWN;
use crate::{Check, Cite, Levels, Profile, ProfileSet, Rule};

pub(super) static RULE: Rule = Rule {
    name: "name-not-text",
    summary: "`name` is not text",
    since: "0.1.0",
    levels: Levels { error: MARKDOWN.without(ProfileSet::new(&[Profile::Universal, Profile::Pmcp])), ..Levels::NONE },
    cites: &[Cite::agentskills("name field"), Cite::reference("validate: non-empty string")],
    requirements: &["VAL-07"],
    page: include_str!("name_not_text.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    report(skill, "name", "write one text: the name of the folder", findings);
}

/// Reports a field that holds a list or a mapping. Any scalar is text to the reference tool;
/// the dialects that type scalars have `field-type`.
pub(super) fn report(skill: &Skill, field: &str, help: &str, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    let Some(node) = front.get(field) else { return };
    if node.text().is_none() {
        findings
            .add(manifest.file, node.span, format!("field `{field}` is {}, not text", node.kind()))
            .path(field)
            .help(help);
    }
}
