use rep_model::{ResolvedSkillPath, Skill, resolve_skill_path};

use crate::engine::Findings;
use crate::link_path::parse_local_path;
use crate::profile::MARKDOWN;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

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
    for link in &manifest.outline().links {
        let Some(path) = parse_local_path(&link.target) else { continue };
        if resolve_skill_path("", &path) == ResolvedSkillPath::Outside {
            findings
                .add(manifest.file, link.span, format!("the link points to `{path}`, outside the skill's directory"))
                .help("copy the file into the skill, or refer to the other skill by name");
        }
    }
}
