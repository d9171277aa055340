use rep_model::Skill;

use crate::draft::Findings;
use crate::field_checks::report_missing;
use crate::profile::MARKDOWN;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "name-missing",
    summary: "the frontmatter has no `name`",
    since: "0.1.0",
    levels: RuleLevels {
        error: MARKDOWN.without(Profile::ClaudeCode.as_set()),
        warning: Profile::ClaudeCode.as_set(),
        ..RuleLevels::NONE
    },
    citations: &[
        RuleCitation::agentskills("name field"),
        RuleCitation::universal("§3"),
        RuleCitation::pmcp("frontmatter model"),
        RuleCitation::host_table("Claude Code: the directory names the skill"),
    ],
    requirements: &["VAL-01", "VAL-02", "VAL-64"],
    page: include_str!("name_missing.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let folder = &skill.tree.folder;
    let help = if rep_model::names::is_plain_name(folder) {
        format!("add `name: {folder}`, the directory name")
    } else {
        "add `name` with the directory name".to_owned()
    };
    report_missing(skill, "name", &help, findings);
}
