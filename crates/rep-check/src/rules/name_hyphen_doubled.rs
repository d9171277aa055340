use rep_model::Skill;

use crate::engine::Findings;
use crate::profile::{MARKDOWN, REFERENCE};
use crate::skill_name::{find_name, suggest_name};
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "name-hyphen-doubled",
    summary: "`name` has two hyphens in a row",
    since: "0.1.0",
    levels: Levels { error: REFERENCE, warning: MARKDOWN.without(REFERENCE), ..Levels::NONE },
    cites: &[Cite::agentskills("name field"), Cite::reference("validate: cannot contain consecutive hyphens")],
    requirements: &["VAL-09"],
    page: include_str!("name_hyphen_doubled.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(name) = find_name(skill) else { return };
    let words: Vec<&str> = name.text.split('-').filter(|word| !word.is_empty()).collect();
    // A name of nothing but hyphens is one fault, which `name-hyphen-at-edge` reports.
    if !name.text.contains("--") || words.is_empty() {
        return;
    }
    findings
        .add(name.file, name.span, "name has two hyphens in a row")
        .path("name")
        .help(suggest_name(&words.join("-"), "use single hyphens"));
}
