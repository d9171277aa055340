use rep_model::Skill;

use crate::engine::Findings;
use crate::profile::{ALL, ANY_SCRIPT, ASCII_ONLY, CODING_AGENTS, MARKDOWN};
use crate::skill_name::{SkillName, describe_character, find_name, is_name_character, suggest_name};
use crate::{Check, Cite, Levels, ProfileSet, Rule};

pub(super) static RULE: Rule = Rule {
    name: "name-characters",
    summary: "`name` has characters that are no letters, digits, hyphens",
    since: "0.1.0",
    levels: Levels { error: MARKDOWN.without(CODING_AGENTS), warning: CODING_AGENTS, ..Levels::NONE },
    cites: &[
        Cite::agentskills("name field"),
        Cite::reference("validate: invalid characters"),
        Cite::universal("Appendix A, pattern"),
    ],
    requirements: &["VAL-04", "VAL-05", "VAL-06", "VAL-07", "VAL-13", "VAL-15"],
    page: include_str!("name_characters.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(name) = find_name(skill) else { return };
    let all = faulty(&name.text, |_| true);
    let ascii = faulty(&name.text, |letter| letter.is_ascii());
    if all == ascii {
        report(&name, &all, ALL, findings);
    } else {
        // What is not ASCII at all is `name-not-ascii` where only ASCII counts.
        report(&name, &all, ANY_SCRIPT, findings);
        report(&name, &ascii, ASCII_ONLY, findings);
    }
}

fn report(name: &SkillName<'_>, faulty: &[char], only: ProfileSet, findings: &mut Findings<'_>) {
    if faulty.is_empty() {
        return;
    }
    let listed: Vec<String> = faulty.iter().map(|letter| describe_character(*letter)).collect();
    let message = format!("name has characters other than letters, digits and hyphens: {}", listed.join(", "));
    let help = suggest_name(&plain(&name.text), "use letters, digits and single hyphens, in the folder's name too");
    findings.add(name.file, name.span, message).path("name").help(help).only(only);
}

/// The first few distinct characters that have no place in a name.
fn faulty(name: &str, is_of_interest: fn(char) -> bool) -> Vec<char> {
    let mut found = Vec::new();
    for letter in name.chars().filter(|letter| !is_name_character(*letter) && is_of_interest(*letter)) {
        if found.len() < 5 && !found.contains(&letter) {
            found.push(letter);
        }
    }
    found
}

/// The name in lower case, with one hyphen for each run of ASCII characters that have no place in it.
fn plain(name: &str) -> String {
    let lower = name.to_lowercase();
    let is_gap = |letter: char| letter.is_ascii() && !letter.is_ascii_alphanumeric();
    lower.split(is_gap).filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}
