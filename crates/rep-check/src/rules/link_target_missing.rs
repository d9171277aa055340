use rep_model::markdown::MarkdownLink;
use rep_model::{ResolvedSkillPath, Skill, Span, resolve_skill_path};

use crate::draft::Findings;
use crate::grouping::add_group;
use crate::link_path::parse_local_path;
use crate::profile::MARKDOWN;
use crate::yaml_edits::suggest_paths;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "link-target-missing",
    summary: "a linked file does not exist",
    since: "0.1.0",
    levels: RuleLevels { warning: MARKDOWN, ..RuleLevels::NONE },
    citations: &[
        RuleCitation::agentskills("file references"),
        RuleCitation::public_survey("§6: 20 of 22 such links were real errors"),
    ],
    requirements: &["PKG-15"],
    page: include_str!("link_target_missing.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(manifest) = &skill.manifest else { return };
    if !skill.tree.omissions.is_empty() {
        return;
    }
    let missing = |link: &MarkdownLink| {
        let path = parse_local_path(&link.target)?;
        let ResolvedSkillPath::Inside(inside) = resolve_skill_path("", &path) else { return None };
        (!skill.tree.has_path(&inside) && is_file_target(&path, skill)).then_some((link.span, path))
    };
    let links: Vec<(Span, String)> = manifest.outline().links.iter().filter_map(missing).collect();
    let one = |path: &str| format!("linked file `{path}` does not exist");
    let several = |count, list: &str| format!("{count} linked files do not exist: {list}");
    if let Some(draft) = add_group(findings, manifest.file, &links, one, several) {
        draft.help("add the file, or fix the link; paths are relative to the skill's directory");
        draft.with_optional_fix(suggest_paths(skill, &links));
    }
}

/// Whether a target is certainly a file: it has an extension, ends with a slash, is in a directory of the skill, or
/// is written in capitals like `LICENSE`. `[0,2,4](MON/WED/FRI)` and `[text](url)` are not.
fn is_file_target(path: &str, skill: &Skill) -> bool {
    let last = path.rsplit('/').next().unwrap_or("");
    let first = path.trim_start_matches("./").split('/').next().unwrap_or("");
    let is_in_known_folder = path.contains('/') && !first.is_empty() && skill.tree.has_path(first);
    let is_capitals = !path.contains('/') && last.len() > 3 && last.bytes().all(|byte| byte.is_ascii_uppercase());
    last.contains('.') || path.ends_with('/') || is_in_known_folder || is_capitals
}
