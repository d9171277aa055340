use rep_model::{ResolvedSkillPath, Skill, TreeEntry, resolve_skill_path};

use crate::data_path::join_path;
use crate::draft::Findings;
use crate::tools::list_declared_tools;
use crate::yaml_edits::suggest_path;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "tool-entrypoint-missing",
    summary: "a tool's entrypoint does not exist",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::Universal.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::universal("§1 and §5, entrypoints")],
    requirements: &["TOOL-25"],
    page: include_str!("tool_entrypoint_missing.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for declared in list_declared_tools(skill) {
        let Some(entrypoint) = declared.tool.entrypoint() else { continue };
        let ResolvedSkillPath::Inside(path) = resolve_skill_path("", entrypoint.value) else { continue };
        let is_missing = match skill.tree.entries.get(&path) {
            Some(TreeEntry::Directory) => true,
            // Other rules report broken links and irregular files.
            Some(TreeEntry::File { .. } | TreeEntry::Link { .. } | TreeEntry::Other(_)) => false,
            None => path.is_empty() || !(skill.tree.has_path(&path) || skill.tree.has_outside_link(&path)),
        };
        if is_missing && skill.tree.omissions.is_empty() {
            findings
                .add(declared.file, entrypoint.span(), format!("entrypoint `{}` does not exist", entrypoint.value))
                .with_data_path(join_path(&declared.path, "implementation.entrypoint"))
                .help("add the file, or fix the path; it is relative to the skill's directory")
                .with_optional_fix(suggest_path(skill, declared.file, entrypoint.span(), entrypoint.value));
        }
    }
}
