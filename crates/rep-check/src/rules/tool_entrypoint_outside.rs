use rep_model::{Resolved, Skill, resolve};

use crate::data_path::join;
use crate::engine::Findings;
use crate::tools::declared;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "tool-entrypoint-outside",
    summary: "the entrypoint of a tool lies outside the skill",
    since: "0.1.0",
    levels: Levels { error: Profile::Universal.as_set(), ..Levels::NONE },
    cites: &[Cite::universal("§1, path rules")],
    requirements: &["PKG-13", "TOOL-25"],
    page: include_str!("tool_entrypoint_outside.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for declared in declared(skill) {
        let Some(entrypoint) = declared.tool.entrypoint() else { continue };
        let message = match resolve("", entrypoint.value) {
            Resolved::Outside => format!("entrypoint `{}` leads out of the skill's folder", entrypoint.value),
            Resolved::Inside(path) if skill.tree.escapes(&path) => {
                format!("entrypoint `{}` is a link that leads out of the skill's folder", entrypoint.value)
            }
            Resolved::Inside(_) | Resolved::Absolute => continue,
        };
        findings
            .add(declared.file, entrypoint.span(), message)
            .path(join(&declared.path, "implementation.entrypoint"))
            .help("copy the file into the skill; hosts copy the folder and nothing else");
    }
}
