use rep_model::Skill;

use crate::draft::Findings;
use crate::profile::TOOLS;
use crate::tools::{TOOLS_JSON, find_first_difference};
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "tools-json-stale",
    summary: "`tools.json` differs from the frontmatter",
    since: "0.1.0",
    levels: RuleLevels { warning: TOOLS, ..RuleLevels::NONE },
    citations: &[RuleCitation::universal("§6, tool source priority")],
    requirements: &["TOOL-16", "TOOL-17", "TOOL-19"],
    page: include_str!("tools_json_stale.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    // `tools-json-invalid` reports invalid JSON, and `field-type` a value that is not a list.
    let Some((span, index)) = find_first_difference(skill) else { return };
    let draft = findings.add(TOOLS_JSON, span, "`tools.json` differs from `tools` in SKILL.md");
    draft.help("regenerate it with `rep tools --write`; the frontmatter takes precedence");
    if let Some(index) = index {
        draft.with_data_path(format!("[{index}]"));
    }
}
