use rep_model::{Skill, names};

use crate::engine::Findings;
use crate::profile::MARKDOWN;
use crate::skill_name::find_name;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "name-too-long",
    summary: "`name` is longer than 64 characters",
    since: "0.1.0",
    levels: Levels { error: MARKDOWN, ..Levels::NONE },
    cites: &[
        Cite::agentskills("name field"),
        Cite::universal("Appendix A, maxLength"),
        Cite::aam("name field"),
        Cite::pmcp("frontmatter model"),
    ],
    requirements: &["VAL-04", "VAL-06", "VAL-07", "VAL-11", "VAL-15", "HOST-10"],
    page: include_str!("name_too_long.md"),
    check: Check::Skill(check),
};

const MAX: usize = 64;

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(name) = find_name(skill) else { return };
    let length = names::length(&name.text);
    if length > MAX {
        findings
            .add(name.file, name.span, format!("name has {length} characters, and {MAX} are allowed"))
            .path("name")
            .help("shorten it, and the folder with it");
    }
}
