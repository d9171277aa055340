use rep_model::Skill;

use crate::engine::Findings;
use crate::field_checks::report_not_text;
use crate::profile::MARKDOWN;
use crate::{Check, Cite, Levels, Profile, ProfileSet, Rule};

pub(super) static RULE: Rule = Rule {
    name: "description-not-text",
    summary: "`description` is not text",
    since: "0.1.0",
    levels: Levels { error: MARKDOWN.without(ProfileSet::new(&[Profile::Universal, Profile::Pmcp])), ..Levels::NONE },
    cites: &[
        Cite::agentskills("description field"),
        Cite::reference("validate: non-empty string"),
        Cite::evidence("§2: scaffolds in brackets"),
    ],
    requirements: &["VAL-19"],
    page: include_str!("description_not_text.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let help = "write one text; put it in quotes if it starts with a bracket";
    report_not_text(skill, "description", help, findings);
}
