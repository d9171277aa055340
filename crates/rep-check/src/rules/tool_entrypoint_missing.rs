use rep_model::{Entry, Resolved, Skill, resolve};

use crate::data_path::join;
use crate::engine::Findings;
use crate::tools::declared;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "tool-entrypoint-missing",
    summary: "the entrypoint of a tool is no file of the skill",
    since: "0.1.0",
    levels: Levels { error: Profile::Universal.as_set(), ..Levels::NONE },
    cites: &[Cite::universal("§1 and §5, entrypoints")],
    requirements: &["TOOL-25"],
    page: include_str!("tool_entrypoint_missing.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for declared in declared(skill) {
        let Some(entrypoint) = declared.tool.entrypoint() else { continue };
        let Resolved::Inside(path) = resolve("", entrypoint.value) else { continue };
        let is_missing = match skill.tree.entries.get(&path) {
            Some(Entry::Directory) => true,
            // Links that lead nowhere and odd files have rules of their own.
            Some(Entry::File { .. } | Entry::Link { .. } | Entry::Other(_)) => false,
            None => path.is_empty() || !(skill.tree.has(&path) || skill.tree.escapes(&path)),
        };
        if is_missing && skill.tree.left_out.is_empty() {
            findings
                .add(
                    declared.file,
                    entrypoint.span(),
                    format!("entrypoint `{}` is no file of the skill", entrypoint.value),
                )
                .path(join(&declared.path, "implementation.entrypoint"))
                .help("add the file, or mend the path; it is relative to the skill's folder");
        }
    }
}
