use rep_model::Skill;

use crate::description::{find_description, find_tags, locate_part};
use crate::engine::Findings;
use crate::profile::CLAUDE_NAMING;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "description-angle-bracket",
    summary: "`description` holds an angle bracket",
    since: "0.1.0",
    levels: Levels { warning: CLAUDE_NAMING, ..Levels::NONE },
    cites: &[
        Cite::universal("§3"),
        Cite::pmcp("description field"),
        Cite::host("Claude API: its validator refuses every angle bracket"),
    ],
    requirements: &["VAL-22"],
    page: include_str!("description_angle_bracket.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some((manifest, description)) = find_description(skill) else { return };
    let text = description.value;
    let mut from = 0;
    let mut bare = None;
    let end = text.len()..text.len();
    for tag in find_tags(text).chain(std::iter::once(end)) {
        bare = bare.or_else(|| text[from..tag.start].find(['<', '>']).map(|at| from + at));
        from = tag.end;
    }
    let Some(at) = bare else { return };
    let bracket = &text[at..=at];
    // A tag may hold the same bracket earlier on; the place is then the value as a whole.
    let span = if at == text.find(bracket).unwrap_or(at) {
        locate_part(manifest.source.slice(description.span()), bracket, description.span())
    } else {
        description.span()
    };
    findings
        .add(manifest.file, span, format!("description holds a bare `{bracket}`"))
        .path("description")
        .help("say it in words");
}
