use rep_model::Skill;

use crate::engine::Findings;
use crate::field_checks::report_empty;
use crate::profile::MARKDOWN;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "description-empty",
    summary: "`description` holds nothing but blanks",
    since: "0.1.0",
    levels: Levels { error: MARKDOWN, ..Levels::NONE },
    cites: &[
        Cite::agentskills("description field"),
        Cite::reference("validate: non-empty string"),
        Cite::universal("Appendix A, minLength"),
    ],
    requirements: &["VAL-14", "VAL-19", "VAL-21"],
    page: include_str!("description_empty.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    report_empty(skill, "description", "say what the skill does, and when to use it", findings);
}
