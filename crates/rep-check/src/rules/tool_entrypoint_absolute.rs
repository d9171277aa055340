use rep_model::{Resolved, Skill, resolve};

use crate::data_path::join;
use crate::engine::Findings;
use crate::tools::declared;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "tool-entrypoint-absolute",
    summary: "the entrypoint of a tool is an absolute path",
    since: "0.1.0",
    levels: Levels { error: Profile::Universal.as_set(), ..Levels::NONE },
    cites: &[Cite::universal("§1, path rules")],
    requirements: &["PKG-13", "PKG-14", "TOOL-25"],
    page: include_str!("tool_entrypoint_absolute.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for declared in declared(skill) {
        let Some(entrypoint) = declared.tool.entrypoint() else { continue };
        if resolve("", entrypoint.value) == Resolved::Absolute {
            findings
                .add(declared.file, entrypoint.span(), format!("entrypoint `{}` is absolute", entrypoint.value))
                .path(join(&declared.path, "implementation.entrypoint"))
                .help("write it relative to the skill's folder");
        }
    }
}
