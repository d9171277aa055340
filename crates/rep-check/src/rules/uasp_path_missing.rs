use rep_model::{Resolved, Skill, resolve};

use crate::engine::Findings;
use crate::link_path::local_path;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "uasp-path-missing",
    summary: "a path to a file the skill does not have",
    since: "0.1.0",
    levels: Levels { warning: Profile::Uasp.as_set(), ..Levels::NONE },
    cites: &[Cite::uasp("§5.10"), Cite::uasp("§5.12")],
    requirements: &["US-20", "US-22", "PKG-13"],
    page: include_str!("uasp_path_missing.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    if skill.tree.is_lone_file || !skill.tree.left_out.is_empty() {
        return;
    }
    for uasp in &skill.uasp {
        let Some(view) = uasp.view() else { continue };
        let templates = view.templates().iter().filter_map(|template| {
            let name = template.key.text()?;
            Some((format!("templates.{name}.path"), template.value.get("path")?))
        });
        let sources = view.sources().iter().enumerate().filter_map(|(index, source)| {
            let path = source.get("path")?;
            Some((format!("sources[{index}].path"), path))
        });
        for (field, path) in templates.chain(sources) {
            let Some(inside) = path.text().and_then(local_path).map(|path| resolve("", &path)) else { continue };
            let Resolved::Inside(inside) = inside else { continue };
            if !skill.tree.has(&inside) {
                findings
                    .add(&uasp.file, path.span, format!("`{inside}` does not exist"))
                    .path(field)
                    .help("add the file, or mend the path; it is relative to the skill's folder");
            }
        }
    }
}
