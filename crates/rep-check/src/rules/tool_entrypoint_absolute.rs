use rep_model::{ResolvedSkillPath, Skill, resolve_skill_path};

use crate::data_path::join_path;
use crate::draft::Findings;
use crate::tools::list_declared_tools;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "tool-entrypoint-absolute",
    summary: "a tool's entrypoint is an absolute path",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::Universal.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::universal("§1, path rules")],
    requirements: &["PKG-13", "PKG-14", "TOOL-25"],
    page: include_str!("tool_entrypoint_absolute.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for declared in list_declared_tools(skill) {
        let Some(entrypoint) = declared.tool.entrypoint() else { continue };
        if resolve_skill_path("", entrypoint.value) == ResolvedSkillPath::Absolute {
            findings
                .add(declared.file, entrypoint.span(), format!("entrypoint `{}` is absolute", entrypoint.value))
                .with_data_path(join_path(&declared.path, "implementation.entrypoint"))
                .help("use a path relative to the skill's directory");
        }
    }
}
