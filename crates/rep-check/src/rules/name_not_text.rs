use rep_model::Skill;

use crate::engine::Findings;
use crate::field_checks::report_not_text;
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
    report_not_text(skill, "name", "write one text: the name of the folder", findings);
}
