use rep_model::{Resolved, Skill, resolve};

use crate::engine::Findings;
use crate::link_path::local_path;
use crate::profile::MARKDOWN;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "link-outside",
    summary: "a link that leaves the folder of the skill",
    since: "0.1.0",
    levels: Levels { warning: MARKDOWN, ..Levels::NONE },
    cites: &[Cite::agentskills("file references"), Cite::evidence("§6: a quarter of relative links leave the folder")],
    requirements: &["PKG-15"],
    page: include_str!("link_outside.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(manifest) = &skill.manifest else { return };
    for link in &manifest.outline().links {
        let Some(path) = local_path(&link.target) else { continue };
        if resolve("", &path) == Resolved::Outside {
            findings
                .add(manifest.file, link.span, format!("the link leads to `{path}`, outside the skill's folder"))
                .help("copy the file into the skill, or name the other skill in words");
        }
    }
}
