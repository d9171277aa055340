use rep_model::truncate::truncate_with_ellipsis;
use rep_model::{Manifest, Skill, Span};

use crate::description::{find_description, find_tags, locate_part};
use crate::draft::Findings;
use crate::fix::FindingFix;
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
        .help("remove the angle brackets")
        .with_optional_fix(remove_brackets(manifest, description.span()));
}

/// Shortens a tag to one line for a message.
fn shorten_tag(tag: &str) -> String {
    truncate_with_ellipsis(tag, 40).replace(char::is_control, " ")
}

/// Returns a fix that removes the markup of every tag: tags that are closed disappear, and placeholders such as
/// `<file name>` keep their words. The tags must be in the source as they are.
fn remove_brackets(manifest: &Manifest, span: Span) -> Option<FindingFix> {
    let written = manifest.source.slice(span);
    let mut fix = FindingFix::suggestion("remove the angle brackets");
    for tag in find_tags(written) {
        let words = written[tag.clone()].trim_start_matches('<').trim_end_matches('>').trim_matches(['/', ' ']);
        if words.is_empty() || !words.chars().all(|letter| letter.is_alphanumeric() || " _-".contains(letter)) {
            return None;
        }
        let is_closed = written.contains(&format!("</{words}>"));
        let place = Span::new(span.start + tag.start, span.start + tag.end);
        fix = fix.replace(manifest.file, place, if is_closed { "" } else { words });
    }
    (!fix.edits.is_empty()).then_some(fix)
}
