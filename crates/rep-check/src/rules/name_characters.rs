use rep_model::Skill;

use crate::draft::Findings;
use crate::profile::{ALL, ANY_SCRIPT, ASCII_ONLY, CODING_AGENTS, MARKDOWN};
use crate::skill_name::{
    SkillName, describe_character, find_name, is_name_character, suggest_folder_name, suggest_name,
};
use crate::yaml_edits::kebab_case;
use crate::{LintRule, ProfileSet, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "name-characters",
    summary: "`name` has characters other than letters, digits and hyphens",
    since: "0.1.0",
    levels: RuleLevels { error: MARKDOWN.without(CODING_AGENTS), warning: CODING_AGENTS, ..RuleLevels::NONE },
    citations: &[
        RuleCitation::agentskills("name field"),
        RuleCitation::reference_tool("validate: invalid characters"),
        RuleCitation::universal("Appendix A, pattern"),
    ],
    requirements: &["VAL-04", "VAL-05", "VAL-06", "VAL-07", "VAL-13", "VAL-15"],
    page: include_str!("name_characters.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(name) = find_name(skill) else { return };
    let all = collect_faulty_characters(&name.text, |_| true);
    let ascii = collect_faulty_characters(&name.text, |letter| letter.is_ascii());
    if all == ascii {
        report_characters(skill, &name, &all, ALL, findings);
    } else {
        // If only ASCII is allowed, `name-not-ascii` reports other characters.
        report_characters(skill, &name, &all, ANY_SCRIPT, findings);
        report_characters(skill, &name, &ascii, ASCII_ONLY, findings);
    }
}

fn report_characters(
    skill: &Skill,
    name: &SkillName<'_>,
    faulty: &[char],
    only: ProfileSet,
    findings: &mut Findings<'_>,
) {
    if faulty.is_empty() {
        return;
    }
    let listed: Vec<String> = faulty.iter().map(|letter| describe_character(*letter)).collect();
    let message = format!("`name` has characters other than letters, digits and hyphens: {}", listed.join(", "));
    let help =
        suggest_name(&kebab_case(&name.text), "use only letters, digits and single hyphens, in the directory name too");
    findings
        .add(name.file, name.span, message)
        .with_data_path("name")
        .help(help)
        .only_for_profiles(only)
        .with_optional_fix(suggest_folder_name(skill));
}

/// Returns the first few distinct characters that are not allowed in a name.
fn collect_faulty_characters(name: &str, is_of_interest: fn(char) -> bool) -> Vec<char> {
    let mut found = Vec::new();
    for letter in name.chars().filter(|letter| !is_name_character(*letter) && is_of_interest(*letter)) {
        if found.len() < 5 && !found.contains(&letter) {
            found.push(letter);
        }
    }
    found
}
