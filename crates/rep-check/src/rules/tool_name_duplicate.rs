use std::collections::BTreeSet;

use rep_model::Skill;

use crate::data_path::join_path;
use crate::draft::Findings;
use crate::profile::TOOLS;
use crate::tools::list_declared_tools;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "tool-name-duplicate",
    summary: "two tools have the same name",
    since: "0.1.0",
    levels: RuleLevels { error: TOOLS, ..RuleLevels::NONE },
    citations: &[RuleCitation::universal("§4: tools are known by name"), RuleCitation::host_table("mcp: tools/list")],
    requirements: &["TOOL-03"],
    page: include_str!("tool_name_duplicate.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let mut seen = BTreeSet::new();
    for declared in list_declared_tools(skill) {
        let Some(name) = declared.tool.name() else { continue };
        if !seen.insert(name.value) {
            findings
                .add(declared.file, name.span(), format!("duplicate tool name `{}`", name.value))
                .with_data_path(join_path(&declared.path, "name"))
                .help("rename one of the two");
        }
    }
}
