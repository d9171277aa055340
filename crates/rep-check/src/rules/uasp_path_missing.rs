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
        let Some(document) = uasp.document() else { continue };
        let templates = document
            .sections
            .templates
            .iter()
            .filter_map(|template| Some((format!("templates.{}.path", template.name), template.path.as_ref()?)));
        let sources = document
            .sections
            .sources
            .iter()
            .enumerate()
            .filter_map(|(index, source)| Some((format!("sources[{index}].path"), source.path.as_ref()?)));
        for (field, path) in templates.chain(sources) {
            let Some(inside) = local_path(path).map(|path| resolve("", &path)) else { continue };
            let Resolved::Inside(inside) = inside else { continue };
            if !skill.tree.has(&inside) {
                findings
                    .add(&uasp.file, path.place(), format!("`{inside}` does not exist"))
                    .path(field)
                    .help("add the file, or mend the path; it is relative to the skill's folder");
            }
        }
    }
}
