use std::collections::BTreeSet;

use rep_model::{Entry, Resolved, Skill, resolve};

use crate::engine::Findings;
use crate::profile::MARKDOWN;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "path-mentioned-missing",
    summary: "a path in backticks to a file the skill does not have",
    since: "0.1.0",
    levels: Levels { info: MARKDOWN, ..Levels::NONE },
    cites: &[Cite::agentskills("file references"), Cite::evidence("§6: half of such paths were real faults")],
    requirements: &["PKG-15"],
    page: include_str!("path_mentioned_missing.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(manifest) = &skill.manifest else { return };
    if !skill.tree.left_out.is_empty() {
        return;
    }
    let mut seen = BTreeSet::new();
    for code in &manifest.outline().codes {
        let Some(path) = file_path(&code.text).filter(|path| seen.insert(path.clone())) else { continue };
        let folder = path.split('/').next().unwrap_or("");
        let (_, line) = manifest.source.line_at(code.span.start);
        // A path into a folder that the skill does not have is likely one of the user's project.
        if skill.tree.entries.get(folder) == Some(&Entry::Directory) && !skill.tree.has(&path) && !is_hedged(line) {
            findings
                .add(manifest.file, code.span, format!("`{path}` does not exist"))
                .help("add the file, or mend the path; it is relative to the skill's folder");
        }
    }
}

/// Whether a line says that the file need not be there: it is an example, is yet to be made, or is gone.
fn is_hedged(line: &str) -> bool {
    let lower = line.to_lowercase();
    ["e.g.", "example", "such as", "create", "exist", "no longer"].iter().any(|word| lower.contains(word))
}

/// The path that a piece of code is, where it is one and no pattern or stand-in for one.
fn file_path(code: &str) -> Option<String> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
    let (_, last) = code.rsplit_once('/')?;
    let (stem, ending) = last.rsplit_once('.')?;
    let is_ending = (1..=5).contains(&ending.len()) && ending.chars().all(|letter| letter.is_ascii_alphanumeric());
    if stem.is_empty() || !is_ending || !code.chars().all(is_plain) || is_stand_in(code) {
        return None;
    }
    match resolve("", code) {
        Resolved::Inside(path) if path.contains('/') => Some(path),
        Resolved::Inside(_) | Resolved::Outside | Resolved::Absolute => None,
    }
}

/// Whether a path holds a word that stands for another: `example`, `foo`, `XX`, `...`.
fn is_stand_in(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let mut words = lower.split(|letter: char| !letter.is_ascii_alphanumeric());
    let is_word = |word: &str| matches!(word, "example" | "my" | "your" | "foo" | "bar" | "name" | "new" | "output");
    let is_letters = |word: &str| word.len() > 1 && word.chars().all(|letter| matches!(letter, 'x' | 'n' | 'y'));
    path.contains("..") || words.any(|word| is_word(word) || is_letters(word))
}
