use rep_model::{Skill, names};

use super::name_empty::{Name, name};
use crate::engine::Findings;
use crate::profile::{ALL, ANY_SCRIPT, ASCII_ONLY, CODING_AGENTS, MARKDOWN};
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
    let Some(name) = name(skill) else { return };
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

fn report(name: &Name<'_>, faulty: &[char], only: ProfileSet, findings: &mut Findings<'_>) {
    if faulty.is_empty() {
        return;
    }
    let listed: Vec<String> = faulty.iter().map(|letter| shown(*letter)).collect();
    let message = format!("name has characters other than letters, digits and hyphens: {}", listed.join(", "));
    let help = rename(&plain(&name.text), "use letters, digits and single hyphens, in the folder's name too");
    findings.add(name.file, name.span, message).path("name").help(help).only(only);
}

/// The first few distinct characters that have no place in a name.
fn faulty(name: &str, is_of_interest: fn(char) -> bool) -> Vec<char> {
    let mut found = Vec::new();
    for letter in name.chars().filter(|letter| !is_allowed(*letter) && is_of_interest(*letter)) {
        if found.len() < 5 && !found.contains(&letter) {
            found.push(letter);
        }
    }
    found
}

/// Whether some specification allows the character in names.
pub(super) fn is_allowed(letter: char) -> bool {
    letter == '-' || names::is_letter_or_digit(letter)
}

/// A character for a message; by number where it might be invisible, or reorder the line.
pub(super) fn shown(letter: char) -> String {
    match letter {
        ' ' => "a blank".to_owned(),
        letter if letter.is_ascii_graphic() || names::is_letter_or_digit(letter) => format!("`{letter}`"),
        letter => format!("U+{:04X}", u32::from(letter)),
    }
}

/// The name in lower case, with one hyphen for each run of ASCII characters that have no place in it.
fn plain(name: &str) -> String {
    let lower = name.to_lowercase();
    let is_gap = |letter: char| letter.is_ascii() && !letter.is_ascii_alphanumeric();
    lower.split(is_gap).filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

/// Help that offers a better name, if it is a proper one; else other help.
pub(super) fn rename(better: &str, otherwise: &str) -> String {
    let is_proper = (1..=64).contains(&names::length(better))
        && better.chars().all(is_allowed)
        && names::is_lowercase(better)
        && better.split('-').all(|word| !word.is_empty());
    if is_proper { format!("write it as `{better}`, and call the folder the same") } else { otherwise.to_owned() }
}
