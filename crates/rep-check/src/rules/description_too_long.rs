use rep_model::Skill;

use crate::engine::Findings;
use crate::field_checks::report_too_long;
use crate::profile::MARKDOWN;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "description-too-long",
    summary: "`description` is longer than 1024 characters",
    since: "0.1.0",
    levels: Levels {
        error: MARKDOWN.without(Profile::ClaudeCode.as_set()),
        warning: Profile::ClaudeCode.as_set(),
        ..Levels::NONE
    },
    cites: &[
        Cite::agentskills("description field"),
        Cite::reference("validate: exceeds 1024 character limit"),
        Cite::universal("Appendix A, maxLength"),
        Cite::aam("description field"),
        Cite::pmcp("frontmatter model, stripped strings"),
    ],
    requirements: &["VAL-19", "VAL-20", "VAL-21", "HOST-10"],
    page: include_str!("description_too_long.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    report_too_long(skill, "description", 1024, findings);
}
