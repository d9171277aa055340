use rep_model::Skill;
use rep_model::yaml::YamlNode;

use crate::data_path::join_path;
use crate::draft::Findings;
use crate::tools::list_declared_tools;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "dependencies-declared",
    summary: "a skill for the Claude API declares package dependencies",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::ClaudeApi.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::universal("host profile Claude API"), RuleCitation::host_table("claude-api: runtime")],
    requirements: &["HOST-12", "HOST-15", "HOST-19"],
    page: include_str!("dependencies_declared.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for declared in list_declared_tools(skill) {
        let Some(dependencies) = declared.tool.dependencies() else { continue };
        for kind in ["pip", "npm", "system"] {
            let Some(first) = dependencies.get(kind).and_then(YamlNode::items).and_then(<[YamlNode]>::first) else {
                continue;
            };
            let path = join_path(&declared.path, &format!("implementation.dependencies.{kind}"));
            findings
                .add(
                    declared.file,
                    first.span,
                    format!("`{kind}` packages are required: `{}`", first.text().unwrap_or("?")),
                )
                .with_data_path(path)
                .help("bundle the dependencies with the skill; Claude API containers cannot install packages");
        }
    }
}
