use rep_model::Skill;

use crate::engine::Findings;
use crate::field_checks::report_missing;
use crate::profile::MARKDOWN;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "description-missing",
    summary: "the frontmatter has no `description`",
    since: "0.1.0",
    levels: Levels { error: MARKDOWN, ..Levels::NONE },
    cites: &[
        Cite::agentskills("description field"),
        Cite::universal("§3"),
        Cite::pmcp("frontmatter model"),
        Cite::client_guide("lenient validation"),
    ],
    requirements: &["VAL-01", "VAL-02", "VAL-64"],
    page: include_str!("description_missing.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    report_missing(skill, "description", "add `description`: what the skill does, and when to use it", findings);
}
