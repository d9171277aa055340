use rep_model::Skill;

use crate::description::{find_description, find_tags, locate_part};
use crate::draft::Findings;
use crate::profile::CLAUDE_NAMING;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "description-angle-bracket",
    summary: "`description` contains an angle bracket",
    since: "0.1.0",
    levels: RuleLevels { warning: CLAUDE_NAMING, ..RuleLevels::NONE },
    citations: &[
        RuleCitation::universal("§3"),
        RuleCitation::pmcp("description field"),
        RuleCitation::host_table("Claude API: its validator rejects every angle bracket"),
    ],
    requirements: &["VAL-22"],
    page: include_str!("description_angle_bracket.md"),
    check: RuleCheck::Skill(check),
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
    // A tag may contain the same bracket earlier; the location is then the whole value.
    let span = if at == text.find(bracket).unwrap_or(at) {
        locate_part(manifest.source.slice(description.span()), bracket, description.span())
    } else {
        description.span()
    };
    findings
        .add(manifest.file, span, format!("`description` contains a bare `{bracket}`"))
        .with_data_path("description")
        .help("replace it with words");
}
