use rep_model::Skill;

use crate::engine::Findings;
use crate::field_checks::report_not_text;
use crate::profile::STANDARD;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "license-not-text",
    summary: "`license` is not text",
    since: "0.1.0",
    levels: Levels { error: STANDARD.union(Profile::Aam.as_set()), ..Levels::NONE },
    cites: &[Cite::agentskills("license field")],
    requirements: &["VAL-26"],
    page: include_str!("license_not_text.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    report_not_text(skill, "license", "name one license, or the file that holds its text", findings);
}
