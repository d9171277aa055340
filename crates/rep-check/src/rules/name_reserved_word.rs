use rep_model::{Skill, names};

use crate::draft::Findings;
use crate::profile::CLAUDE_NAMING;
use crate::skill_name::find_name;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "name-reserved-word",
    summary: "`name` contains a reserved word",
    since: "0.1.0",
    levels: RuleLevels { error: CLAUDE_NAMING, ..RuleLevels::NONE },
    citations: &[
        RuleCitation::universal("§3, R2"),
        RuleCitation::pmcp("frontmatter model"),
        RuleCitation::host_table("Claude API: reserved words"),
    ],
    requirements: &["VAL-05", "VAL-16", "HOST-10"],
    page: include_str!("name_reserved_word.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(name) = find_name(skill) else { return };
    let Some(word) = names::find_reserved_word(&name.text.to_lowercase()) else { return };
    findings
        .add(name.file, name.span, format!("`name` contains the reserved word `{word}`"))
        .with_data_path("name")
        .help("choose a name without it, also for the directory");
}
