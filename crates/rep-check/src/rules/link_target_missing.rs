use rep_model::{Resolved, Skill, resolve};

use crate::engine::Findings;
use crate::link_path::local_path;
use crate::profile::MARKDOWN;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "link-target-missing",
    summary: "a link in the body leads to a file the skill does not have",
    since: "0.1.0",
    levels: Levels { warning: MARKDOWN, ..Levels::NONE },
    cites: &[Cite::agentskills("file references"), Cite::evidence("§6: 20 of 22 such links were real faults")],
    requirements: &["PKG-15"],
    page: include_str!("link_target_missing.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(manifest) = &skill.manifest else { return };
    if !skill.tree.left_out.is_empty() {
        return;
    }
    for link in &manifest.outline().links {
        let Some(path) = local_path(&link.target) else { continue };
        let Resolved::Inside(inside) = resolve("", &path) else { continue };
        if !skill.tree.has(&inside) && names_a_file(&path, skill) {
            findings
                .add(manifest.file, link.span, format!("the link leads to `{path}`, which does not exist"))
                .help("add the file, or mend the link; paths are relative to the skill's folder");
        }
    }
}

/// Whether a target is surely meant as a file: it has an ending, ends as a folder, lies in a folder the skill has, or
/// is written in capitals like `LICENSE`. `[0,2,4](MON/WED/FRI)` and `[text](url)` are none of these.
fn names_a_file(path: &str, skill: &Skill) -> bool {
    let last = path.rsplit('/').next().unwrap_or("");
    let first = path.trim_start_matches("./").split('/').next().unwrap_or("");
    let is_in_known_folder = path.contains('/') && !first.is_empty() && skill.tree.has(first);
    let is_capitals = !path.contains('/') && last.len() > 3 && last.bytes().all(|byte| byte.is_ascii_uppercase());
    last.contains('.') || path.ends_with('/') || is_in_known_folder || is_capitals
}
