use rep_model::markdown::MarkdownLink;
use rep_model::{ResolvedSkillPath, Skill, Span, resolve_skill_path};

use crate::draft::Findings;
use crate::grouping::add_group;
use crate::link_path::parse_local_path;
use crate::profile::MARKDOWN;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "link-absolute",
    summary: "a link points to an absolute path",
    since: "0.1.0",
    levels: RuleLevels { warning: MARKDOWN, ..RuleLevels::NONE },
    citations: &[RuleCitation::agentskills("file references"), RuleCitation::universal("§1")],
    requirements: &["PKG-14", "PKG-15"],
    page: include_str!("link_absolute.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(manifest) = &skill.manifest else { return };
    let absolute = |link: &MarkdownLink| is_absolute_target(&link.target).then(|| (link.span, link.target.clone()));
    let links: Vec<(Span, String)> = manifest.outline().links.iter().filter_map(absolute).collect();
    let one = |target: &str| format!("the link points to the absolute path `{target}`");
    let several = |count, list: &str| format!("links point to {count} absolute paths: {list}");
    if let Some(draft) = add_group(findings, manifest.file, &links, one, several) {
        draft.help("add the file to the skill and link to it there");
    }
}

/// Whether a link points to a path on the author's machine. Examples and placeholders do not.
fn is_absolute_target(target: &str) -> bool {
    let is_placeholder = target.contains(['<', '>', '{', '}', '$', '*']) || target.contains("path/to");
    let is_file_link = target.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"));
    let is_path =
        || parse_local_path(target).is_some_and(|path| resolve_skill_path("", &path) == ResolvedSkillPath::Absolute);
    !is_placeholder && (is_file_link || is_path())
}
