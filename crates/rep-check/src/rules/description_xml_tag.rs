use rep_model::Skill;
use rep_model::truncate::ellipsize;

use crate::description::{find_description, find_tags, locate_part};
use crate::engine::Findings;
use crate::profile::CLAUDE_NAMING;
use crate::{Check, Cite, Levels, Profile, ProfileSet, Rule};

pub(super) static RULE: Rule = Rule {
    name: "description-xml-tag",
    summary: "`description` holds an XML tag",
    since: "0.1.0",
    levels: Levels {
        error: CLAUDE_NAMING,
        warning: ProfileSet::new(&[Profile::AgentSkills, Profile::OpenAi, Profile::Mcp]),
        ..Levels::NONE
    },
    cites: &[Cite::universal("§3"), Cite::pmcp("description field"), Cite::host("Claude API: no XML tags")],
    requirements: &["VAL-22", "HOST-10"],
    page: include_str!("description_xml_tag.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some((manifest, description)) = find_description(skill) else { return };
    let Some(tag) = find_tags(description.value).next().map(|tag| &description.value[tag]) else { return };
    let span = locate_part(manifest.source.slice(description.span()), tag, description.span());
    findings
        .add(manifest.file, span, format!("description holds the tag `{}`", brief(tag)))
        .path("description")
        .help("say it without angle brackets");
}

/// A tag on one line and not too long, for a message.
fn brief(tag: &str) -> String {
    ellipsize(tag, 40).replace(char::is_control, " ")
}
