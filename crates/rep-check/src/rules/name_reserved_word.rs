use rep_model::{Skill, names};

use crate::engine::Findings;
use crate::profile::CLAUDE_NAMING;
use crate::skill_name::find_name;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "name-reserved-word",
    summary: "`name` has a word in it that is reserved",
    since: "0.1.0",
    levels: Levels { error: CLAUDE_NAMING, ..Levels::NONE },
    cites: &[Cite::universal("§3, R2"), Cite::pmcp("frontmatter model"), Cite::host("Claude API: reserved words")],
    requirements: &["VAL-05", "VAL-16", "HOST-10"],
    page: include_str!("name_reserved_word.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(name) = find_name(skill) else { return };
    let Some(word) = names::reserved_word(&name.text.to_lowercase()) else { return };
    findings
        .add(name.file, name.span, format!("name contains the reserved word `{word}`"))
        .path("name")
        .help("choose a name without it, for the folder too");
}
