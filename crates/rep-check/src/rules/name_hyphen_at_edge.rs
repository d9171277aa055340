use rep_model::Skill;

use crate::draft::Findings;
use crate::profile::{ALL, MARKDOWN, REFERENCE};
use crate::skill_name::{find_name, suggest_folder_name, suggest_name};
use crate::{LintRule, Profile, ProfileSet, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "name-hyphen-at-edge",
    summary: "`name` has a hyphen at one end",
    since: "0.1.0",
    levels: RuleLevels { error: REFERENCE, warning: MARKDOWN.without(REFERENCE), ..RuleLevels::NONE },
    citations: &[
        RuleCitation::agentskills("name field"),
        RuleCitation::reference_tool("validate: cannot start or end with a hyphen"),
    ],
    requirements: &["VAL-08"],
    page: include_str!("name_hyphen_at_edge.md"),
    check: RuleCheck::Skill(check),
};

/// Every profile of the rule except x-personal-mcp, where `name-start-not-letter` applies.
const NOT_PMCP: ProfileSet = MARKDOWN.without(Profile::Pmcp.as_set());

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(name) = find_name(skill) else { return };
    let (starts, ends) = (name.text.starts_with('-'), name.text.ends_with('-'));
    let bare = name.text.trim_matches('-');
    let message = match (starts, ends) {
        (false, false) => return,
        (true, false) => "`name` starts with a hyphen",
        (false, true) => "`name` ends with a hyphen",
        (true, true) => "`name` starts and ends with a hyphen",
    };
    let only = if starts && (!ends || bare.is_empty()) { NOT_PMCP } else { ALL };
    let help = suggest_name(bare, "use hyphens only between letters and digits");
    findings
        .add(name.file, name.span, message)
        .with_data_path("name")
        .help(help)
        .only_for_profiles(only)
        .with_optional_fix(suggest_folder_name(skill));
}
