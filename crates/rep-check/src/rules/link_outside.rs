use rep_model::markdown::MarkdownLink;
use rep_model::{ResolvedSkillPath, Skill, Span, resolve_skill_path};

use crate::draft::Findings;
use crate::grouping::add_group;
use crate::link_path::parse_local_path;
use crate::profile::MARKDOWN;
use crate::{Level, LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "link-outside",
    summary: "a link points outside the skill's directory",
    since: "0.1.0",
    levels: RuleLevels { warning: MARKDOWN, ..RuleLevels::NONE },
    citations: &[
        RuleCitation::agentskills("file references"),
        RuleCitation::public_survey("§6: a quarter of relative links leave the directory"),
    ],
    requirements: &["PKG-15"],
    page: include_str!("link_outside.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(manifest) = &skill.manifest else { return };
    let outside = |link: &MarkdownLink| {
        let path = parse_local_path(&link.target)?;
        (resolve_skill_path("", &path) == ResolvedSkillPath::Outside).then_some((link.span, path))
    };
    let links: Vec<(Span, String)> = manifest.outline().links.iter().filter_map(outside).collect();
    let one = |path: &str| format!("the link points to `{path}`, outside the skill's directory");
    let several = |count, list: &str| format!("links point to {count} files outside the skill's directory: {list}");
    // A skill that links to others is installed together with them, and often with files that they share.
    let siblings = links.iter().filter(|(_, path)| is_skill_target(path)).count();
    let is_alone = siblings == 0;
    let is_in_set = siblings == links.len();
    if let Some(draft) = add_group(findings, manifest.file, &links, one, several) {
        draft.help("copy the file into the skill, or refer to the other skill by name");
        match (is_in_set, is_alone) {
            (true, _) => draft.only_when_selected(),
            (false, true) => draft,
            (false, false) => draft.level_when_detected(Level::Info),
        };
    }
}

/// Whether a path names another skill: its SKILL.md, or a directory.
fn is_skill_target(path: &str) -> bool {
    let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or("");
    last.eq_ignore_ascii_case("SKILL.md") || !last.contains('.') || last == ".."
}
