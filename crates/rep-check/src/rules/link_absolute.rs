use rep_model::{Resolved, Skill, resolve};

use crate::engine::Findings;
use crate::link_path::local_path;
use crate::profile::MARKDOWN;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "link-absolute",
    summary: "a link to an absolute path",
    since: "0.1.0",
    levels: Levels { warning: MARKDOWN, ..Levels::NONE },
    cites: &[Cite::agentskills("file references"), Cite::universal("§1")],
    requirements: &["PKG-14", "PKG-15"],
    page: include_str!("link_absolute.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(manifest) = &skill.manifest else { return };
    for link in &manifest.outline().links {
        if is_absolute(&link.target) {
            findings
                .add(manifest.file, link.span, format!("the link leads to the absolute path `{}`", link.target))
                .help("put the file into the skill, and link to it from there");
        }
    }
}

/// Whether a link names a place on the author's machine. Examples and placeholders do not.
fn is_absolute(target: &str) -> bool {
    let is_placeholder = target.contains(['<', '>', '{', '}', '$', '*']) || target.contains("path/to");
    let is_file_link = target.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"));
    let is_path = || local_path(target).is_some_and(|path| resolve("", &path) == Resolved::Absolute);
    !is_placeholder && (is_file_link || is_path())
}
