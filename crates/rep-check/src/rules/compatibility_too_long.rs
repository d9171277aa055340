use rep_model::Skill;

use crate::engine::Findings;
use crate::field_checks::report_too_long;
use crate::profile::STANDARD;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "compatibility-too-long",
    summary: "`compatibility` is longer than 500 characters",
    since: "0.1.0",
    levels: Levels { error: STANDARD.union(Profile::Pmcp.as_set()), ..Levels::NONE },
    cites: &[
        Cite::agentskills("compatibility field"),
        Cite::reference("validate: exceeds 500 character limit"),
        Cite::pmcp("frontmatter model"),
    ],
    requirements: &["VAL-21", "VAL-27"],
    page: include_str!("compatibility_too_long.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    report_too_long(skill, "compatibility", 500, findings);
}
