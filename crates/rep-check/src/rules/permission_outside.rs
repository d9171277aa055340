use rep_model::{ResolvedSkillPath, Skill, resolve_skill_path};

use crate::draft::Findings;
use crate::permission_globs::find_permission_globs;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "permission-outside",
    summary: "a file permission reaches outside the root directory",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::Universal.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::universal("§1 path rules and §8 glob semantics")],
    requirements: &["PERM-03", "PKG-14"],
    page: include_str!("permission_outside.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(manifest) = &skill.manifest else { return };
    for (path, glob) in find_permission_globs(skill) {
        let what = match resolve_skill_path("", glob.value) {
            ResolvedSkillPath::Inside(_) => continue,
            ResolvedSkillPath::Outside => "points outside the root",
            ResolvedSkillPath::Absolute => "is absolute",
        };
        findings
            .add(manifest.file, glob.span(), format!("the glob `{}` {what}", glob.value))
            .with_data_path(path)
            .help("write it relative to the root, without `..`");
    }
}
