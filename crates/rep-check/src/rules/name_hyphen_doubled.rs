use rep_model::Skill;

use crate::draft::Findings;
use crate::profile::{MARKDOWN, REFERENCE};
use crate::skill_name::{find_name, suggest_folder_name, suggest_name};
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "name-hyphen-doubled",
    summary: "`name` has two hyphens in a row",
    since: "0.1.0",
    levels: RuleLevels { error: REFERENCE, warning: MARKDOWN.without(REFERENCE), ..RuleLevels::NONE },
    citations: &[
        RuleCitation::agentskills("name field"),
        RuleCitation::reference_tool("validate: cannot contain consecutive hyphens"),
    ],
    requirements: &["VAL-09"],
    page: include_str!("name_hyphen_doubled.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(name) = find_name(skill) else { return };
    let words: Vec<&str> = name.text.split('-').filter(|word| !word.is_empty()).collect();
    // `name-hyphen-at-edge` reports a name that consists only of hyphens.
    if !name.text.contains("--") || words.is_empty() {
        return;
    }
    findings
        .add(name.file, name.span, "`name` has two hyphens in a row")
        .with_data_path("name")
        .help(suggest_name(&words.join("-"), "use single hyphens"))
        .with_optional_fix(suggest_folder_name(skill));
}
