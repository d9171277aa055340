use rep_model::{ResolvedSkillPath, Skill, resolve_skill_path};

use crate::data_path::join_path;
use crate::draft::Findings;
use crate::tools::list_declared_tools;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "tool-entrypoint-outside",
    summary: "a tool's entrypoint is outside the skill",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::Universal.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::universal("§1, path rules")],
    requirements: &["PKG-13", "TOOL-25"],
    page: include_str!("tool_entrypoint_outside.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for declared in list_declared_tools(skill) {
        let Some(entrypoint) = declared.tool.entrypoint() else { continue };
        let message = match resolve_skill_path("", entrypoint.value) {
            ResolvedSkillPath::Outside => format!("entrypoint `{}` is outside the skill's directory", entrypoint.value),
            ResolvedSkillPath::Inside(path) if skill.tree.has_outside_link(&path) => {
                format!("entrypoint `{}` is a link that points outside the skill's directory", entrypoint.value)
            }
            ResolvedSkillPath::Inside(_) | ResolvedSkillPath::Absolute => continue,
        };
        findings
            .add(declared.file, entrypoint.span(), message)
            .with_data_path(join_path(&declared.path, "implementation.entrypoint"))
            .help("copy the file into the skill; hosts copy only its directory");
    }
}
