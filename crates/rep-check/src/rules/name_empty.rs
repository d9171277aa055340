use rep_model::Skill;

use crate::engine::Findings;
use crate::field_checks::report_empty;
use crate::profile::MARKDOWN;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "name-empty",
    summary: "`name` holds nothing but blanks",
    since: "0.1.0",
    levels: Levels {
        error: MARKDOWN.without(Profile::ClaudeCode.as_set()),
        warning: Profile::ClaudeCode.as_set(),
        ..Levels::NONE
    },
    cites: &[
        Cite::agentskills("name field"),
        Cite::reference("validate: non-empty string"),
        Cite::universal("Appendix A, minLength"),
    ],
    requirements: &["VAL-04", "VAL-07", "VAL-14"],
    page: include_str!("name_empty.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    report_empty(skill, "name", "give it the name of the folder", findings);
}
