use rep_model::Skill;

use crate::engine::Findings;
use crate::profile::ALL;
use crate::skill_name::find_name;
use crate::{Check, Cite, Levels, Profile, ProfileSet, Rule};

pub(super) static RULE: Rule = Rule {
    name: "name-start-not-letter",
    summary: "`name` does not start with a letter",
    since: "0.1.0",
    levels: Levels { error: ProfileSet::new(&[Profile::Pmcp, Profile::Portable]), ..Levels::NONE },
    cites: &[Cite::pmcp("frontmatter model"), Cite::uasp("§3.1, meta.name")],
    requirements: &["VAL-15"],
    page: include_str!("name_start_not_letter.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(name) = find_name(skill) else { return };
    let only = match name.text.chars().next() {
        Some(first) if first.is_ascii_digit() => ALL,
        // Elsewhere this is `name-hyphen-at-edge`, an error too.
        Some('-') => Profile::Pmcp.as_set(),
        _ => return,
    };
    findings
        .add(name.file, name.span, "name does not start with a letter")
        .path("name")
        .help("put a letter first, in the folder's name too")
        .only(only);
}
