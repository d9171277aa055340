use rep_model::Skill;

use crate::draft::Findings;
use crate::profile::ALL;
use crate::skill_name::{find_name, suggest_folder_name};
use crate::{LintRule, Profile, ProfileSet, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "name-start-not-letter",
    summary: "`name` does not start with a letter",
    since: "0.1.0",
    levels: RuleLevels { error: ProfileSet::new(&[Profile::Pmcp, Profile::Portable]), ..RuleLevels::NONE },
    citations: &[RuleCitation::pmcp("frontmatter model"), RuleCitation::uasp("§3.1, meta.name")],
    requirements: &["VAL-15"],
    page: include_str!("name_start_not_letter.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(name) = find_name(skill) else { return };
    let only = match name.text.chars().next() {
        Some(first) if first.is_ascii_digit() => ALL,
        // Under other profiles, `name-hyphen-at-edge` reports this as an error.
        Some('-') => Profile::Pmcp.as_set(),
        _ => return,
    };
    findings
        .add(name.file, name.span, "`name` does not start with a letter")
        .with_data_path("name")
        .help("start with a letter, in the directory name too")
        .only_for_profiles(only)
        .with_optional_fix(suggest_folder_name(skill));
}
