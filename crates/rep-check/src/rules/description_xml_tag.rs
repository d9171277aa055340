use rep_model::Skill;
use rep_model::truncate::truncate_with_ellipsis;

use crate::description::{find_description, find_tags, locate_part};
use crate::draft::Findings;
use crate::profile::CLAUDE_NAMING;
use crate::{LintRule, Profile, ProfileSet, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "description-xml-tag",
    summary: "`description` contains an XML tag",
    since: "0.1.0",
    levels: RuleLevels {
        error: CLAUDE_NAMING,
        warning: ProfileSet::new(&[Profile::AgentSkills, Profile::OpenAi, Profile::Mcp]),
        ..RuleLevels::NONE
    },
    citations: &[
        RuleCitation::universal("§3"),
        RuleCitation::pmcp("description field"),
        RuleCitation::host_table("Claude API: no XML tags"),
    ],
    requirements: &["VAL-22", "HOST-10"],
    page: include_str!("description_xml_tag.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some((manifest, description)) = find_description(skill) else { return };
    let Some(tag) = find_tags(description.value).next().map(|tag| &description.value[tag]) else { return };
    let span = locate_part(manifest.source.slice(description.span()), tag, description.span());
    findings
        .add(manifest.file, span, format!("`description` contains the tag `{}`", shorten_tag(tag)))
        .with_data_path("description")
        .help("remove the angle brackets");
}

/// Shortens a tag to one line for a message.
fn shorten_tag(tag: &str) -> String {
    truncate_with_ellipsis(tag, 40).replace(char::is_control, " ")
}
