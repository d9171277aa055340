use std::collections::BTreeSet;

use rep_model::Skill;

use crate::data_path::join;
use crate::engine::Findings;
use crate::profile::TOOLS;
use crate::tools::declared;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "tool-name-duplicate",
    summary: "two tools of a skill have the same name",
    since: "0.1.0",
    levels: Levels { error: TOOLS, ..Levels::NONE },
    cites: &[Cite::universal("§4: tools are known by name"), Cite::host("mcp: tools/list")],
    requirements: &["TOOL-03"],
    page: include_str!("tool_name_duplicate.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let mut seen = BTreeSet::new();
    for declared in declared(skill) {
        let Some(name) = declared.tool.name() else { continue };
        if !seen.insert(name.value) {
            findings
                .add(declared.file, name.span(), format!("a tool named `{}` stands above already", name.value))
                .path(join(&declared.path, "name"))
                .help("rename one of the two");
        }
    }
}
