use rep_model::Skill;

use crate::engine::Findings;
use crate::field_checks::report_missing;
use crate::profile::MARKDOWN;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "name-missing",
    summary: "the frontmatter has no `name`",
    since: "0.1.0",
    levels: Levels {
        error: MARKDOWN.without(Profile::ClaudeCode.as_set()),
        warning: Profile::ClaudeCode.as_set(),
        ..Levels::NONE
    },
    cites: &[
        Cite::agentskills("name field"),
        Cite::universal("§3"),
        Cite::pmcp("frontmatter model"),
        Cite::host("Claude Code: the folder names the skill"),
    ],
    requirements: &["VAL-01", "VAL-02", "VAL-64"],
    page: include_str!("name_missing.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let folder = &skill.tree.folder;
    let help = if rep_model::names::is_plain(folder) {
        format!("add `name: {folder}`, as the folder is called")
    } else {
        "add `name`, with the name of the folder".to_owned()
    };
    report_missing(skill, "name", &help, findings);
}
