use rep_model::Skill;

use crate::engine::Findings;
use crate::profile::TOOLS;
use crate::tools::{TOOLS_JSON, first_difference};
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "tools-json-stale",
    summary: "`tools.json` and the frontmatter disagree",
    since: "0.1.0",
    levels: Levels { warning: TOOLS, ..Levels::NONE },
    cites: &[Cite::universal("§6, tool source priority")],
    requirements: &["TOOL-16", "TOOL-17", "TOOL-19"],
    page: include_str!("tools_json_stale.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    // What is no JSON is reported as `tools-json-invalid`, what is no list as `field-type`.
    let Some((span, index)) = first_difference(skill) else { return };
    let draft = findings.add(TOOLS_JSON, span, "`tools.json` differs from the `tools` of SKILL.md");
    draft.help("regenerate it with `rep tools --write`; the frontmatter is what counts");
    if let Some(index) = index {
        draft.path(format!("[{index}]"));
    }
}
