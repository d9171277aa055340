use rep_model::{Skill, Span};

use crate::draft::Findings;
use crate::fix::FindingFix;
use crate::profile::TOOLS;
use crate::tools::{TOOLS_JSON, effective_tools, find_first_difference, render_tools_json};
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
    if let Some(tools) = &skill.tools_json {
        let whole = Span::new(0, tools.source.text().len());
        let text = render_tools_json(&effective_tools(skill).tools);
        draft.with_fix(FindingFix::safe("regenerate it from the frontmatter").replace(TOOLS_JSON, whole, text));
    }
    if let Some(index) = index {
        draft.with_data_path(format!("[{index}]"));
    }
}
