use rep_model::Skill;

use crate::engine::Findings;
use crate::profile::ASCII_ONLY;
use crate::skill_name::{describe_character, find_name, is_name_character};
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "name-not-ascii",
    summary: "`name` has characters beyond ASCII",
    since: "0.1.0",
    levels: Levels { error: ASCII_ONLY, info: Profile::AgentSkills.as_set(), ..Levels::NONE },
    cites: &[
        Cite::universal("Appendix A, pattern"),
        Cite::aam("name field"),
        Cite::pmcp("frontmatter model"),
        Cite::host("Claude API: name pattern"),
    ],
    requirements: &["VAL-04", "VAL-06", "VAL-15", "HOST-10"],
    page: include_str!("name_not_ascii.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(name) = find_name(skill) else { return };
    // Hosts with an ASCII pattern apply it to what is written, not to the NFKC form.
    let beyond = |text: &str| text.chars().find(|letter| !letter.is_ascii());
    let Some(letter) = beyond(&name.text).or_else(|| beyond(name.written)) else { return };
    if name.written.is_ascii() {
        return;
    }
    let draft = findings
        .add(name.file, name.span, format!("name has {}, which is not ASCII", describe_character(letter)))
        .path("name")
        .help("use `a-z`, `0-9` and `-`; many hosts take nothing else");
    // Where letters of any script are fine, what is no letter is an error of `name-characters`.
    if name.text.chars().any(|letter| !letter.is_ascii() && !is_name_character(letter)) {
        draft.only(ASCII_ONLY);
    }
}
