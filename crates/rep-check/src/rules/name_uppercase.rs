use rep_model::{Skill, names};

use crate::draft::Findings;
use crate::profile::{CODING_AGENTS, MARKDOWN};
use crate::skill_name::{find_name, suggest_folder_name, suggest_name};
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "name-uppercase",
    summary: "`name` has upper-case letters",
    since: "0.1.0",
    levels: RuleLevels { error: MARKDOWN.without(CODING_AGENTS), info: CODING_AGENTS, ..RuleLevels::NONE },
    citations: &[
        RuleCitation::agentskills("name field"),
        RuleCitation::reference_tool("validate: must be lowercase"),
        RuleCitation::universal("Appendix A, pattern"),
    ],
    requirements: &["VAL-04", "VAL-06", "VAL-07", "VAL-12", "VAL-15"],
    page: include_str!("name_uppercase.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(name) = find_name(skill) else { return };
    if names::is_lowercase_text(&name.text) {
        return;
    }
    let help = suggest_name(&name.text.to_lowercase(), "use lower-case letters, in the directory name too");
    findings
        .add(name.file, name.span, "`name` has upper-case letters")
        .with_data_path("name")
        .help(help)
        .with_optional_fix(suggest_folder_name(skill));
}
