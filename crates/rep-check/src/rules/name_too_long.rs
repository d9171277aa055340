use rep_model::{Skill, names};

use crate::draft::Findings;
use crate::profile::MARKDOWN;
use crate::skill_name::{find_name, suggest_folder_name};
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "name-too-long",
    summary: "`name` is longer than 64 characters",
    since: "0.1.0",
    levels: RuleLevels { error: MARKDOWN, ..RuleLevels::NONE },
    citations: &[
        RuleCitation::agentskills("name field"),
        RuleCitation::universal("Appendix A, maxLength"),
        RuleCitation::aam("name field"),
        RuleCitation::pmcp("frontmatter model"),
    ],
    requirements: &["VAL-04", "VAL-06", "VAL-07", "VAL-11", "VAL-15", "HOST-10"],
    page: include_str!("name_too_long.md"),
    check: RuleCheck::Skill(check),
};

const NAME_CHARS_MAX: usize = 64;

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(name) = find_name(skill) else { return };
    let length = names::count_chars(&name.text);
    if length > NAME_CHARS_MAX {
        findings
            .add(name.file, name.span, format!("`name` has {length} characters; at most {NAME_CHARS_MAX} are allowed"))
            .with_data_path("name")
            .help("shorten it, and rename the directory")
            .with_optional_fix(suggest_folder_name(skill));
    }
}
