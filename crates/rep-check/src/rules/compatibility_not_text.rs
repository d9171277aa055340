use rep_model::Skill;

use crate::engine::Findings;
use crate::field_checks::report_not_text;
use crate::profile::STANDARD;
use crate::{Check, Cite, Level, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "compatibility-not-text",
    summary: "`compatibility` is not text",
    since: "0.1.0",
    levels: Levels { error: STANDARD, unasked: Some(Level::Warning), ..Levels::NONE },
    cites: &[
        Cite::agentskills("compatibility field"),
        Cite::reference("validate: must be a string"),
        Cite::aam("compatibility is a map there"),
    ],
    requirements: &["VAL-27", "VAL-28"],
    page: include_str!("compatibility_not_text.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    report_not_text(skill, "compatibility", "write it as one sentence of up to 500 characters", findings);
}
