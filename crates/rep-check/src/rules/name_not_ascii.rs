use rep_model::Skill;

use crate::draft::Findings;
use crate::profile::ASCII_ONLY;
use crate::skill_name::{describe_character, find_name, is_name_character, suggest_folder_name};
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "name-not-ascii",
    summary: "`name` has non-ASCII characters",
    since: "0.1.0",
    levels: RuleLevels { error: ASCII_ONLY, info: Profile::AgentSkills.as_set(), ..RuleLevels::NONE },
    citations: &[
        RuleCitation::universal("Appendix A, pattern"),
        RuleCitation::aam("name field"),
        RuleCitation::pmcp("frontmatter model"),
        RuleCitation::host_table("Claude API: name pattern"),
    ],
    requirements: &["VAL-04", "VAL-06", "VAL-15", "HOST-10"],
    page: include_str!("name_not_ascii.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(name) = find_name(skill) else { return };
    // Hosts with an ASCII pattern apply it to the name as written, not to the NFKC form.
    let beyond = |text: &str| text.chars().find(|letter| !letter.is_ascii());
    let Some(letter) = beyond(&name.text).or_else(|| beyond(name.written)) else { return };
    if name.written.is_ascii() {
        return;
    }
    let draft = findings
        .add(name.file, name.span, format!("`name` contains {}, which is not ASCII", describe_character(letter)))
        .with_data_path("name")
        .help("use `a-z`, `0-9` and `-`; many hosts accept nothing else")
        .with_optional_fix(suggest_folder_name(skill));
    // If letters of any script are allowed, `name-characters` reports characters that are not letters.
    if name.text.chars().any(|letter| !letter.is_ascii() && !is_name_character(letter)) {
        draft.only_for_profiles(ASCII_ONLY);
    }
}
