use rep_model::Skill;

use crate::engine::Findings;
use crate::field_checks::report_empty;
use crate::profile::REFERENCE;
use crate::{Check, Cite, Levels, Profile, ProfileSet, Rule};

pub(super) static RULE: Rule = Rule {
    name: "compatibility-empty",
    summary: "`compatibility` holds nothing but blanks",
    since: "0.1.0",
    levels: Levels {
        error: REFERENCE,
        warning: ProfileSet::new(&[Profile::Pmcp, Profile::ClaudeApi, Profile::OpenAi]),
        ..Levels::NONE
    },
    cites: &[Cite::agentskills("compatibility field")],
    requirements: &["VAL-27"],
    page: include_str!("compatibility_empty.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let help = "name the requirements, or remove the field";
    report_empty(skill, "compatibility", help, findings);
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    // Without a value the field is there, and its text is empty to the reference tool. A null spelled out is no value
    // at all. A text that is empty in quotes is said above.
    if let Some(entry) =
        front.field("compatibility").filter(|entry| entry.value.is_null() && entry.value.text() == Some(""))
    {
        findings
            .add(manifest.file, entry.key.span, "field `compatibility` has no value")
            .path("compatibility")
            .help(help);
    }
}
