use rep_model::Skill;

use crate::draft::Findings;
use crate::profile::{ALL, ANY_SCRIPT, ASCII_ONLY, CODING_AGENTS, MARKDOWN};
use crate::skill_name::{SkillName, describe_character, find_name, is_name_character, suggest_name};
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
        report_characters(&name, &all, ALL, findings);
    } else {
        // If only ASCII is allowed, `name-not-ascii` reports other characters.
        report_characters(&name, &all, ANY_SCRIPT, findings);
        report_characters(&name, &ascii, ASCII_ONLY, findings);
    }
}

fn report_characters(name: &SkillName<'_>, faulty: &[char], only: ProfileSet, findings: &mut Findings<'_>) {
    if faulty.is_empty() {
        return;
    }
    let listed: Vec<String> = faulty.iter().map(|letter| describe_character(*letter)).collect();
    let message = format!("`name` has characters other than letters, digits and hyphens: {}", listed.join(", "));
    let help = suggest_name(
        &simplify_name(&name.text),
        "use only letters, digits and single hyphens, in the directory name too",
    );
    findings.add(name.file, name.span, message).with_data_path("name").help(help).only_for_profiles(only);
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

/// Returns the name in lower case, with one hyphen for each run of ASCII characters that are not allowed.
fn simplify_name(name: &str) -> String {
    let lower = name.to_lowercase();
    let is_gap = |letter: char| letter.is_ascii() && !letter.is_ascii_alphanumeric();
    lower.split(is_gap).filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}
