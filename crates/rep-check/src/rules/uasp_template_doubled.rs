use rep_model::Skill;
use rep_model::uasp::Uasp;

use crate::engine::Findings;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "uasp-template-doubled",
    summary: "a template with both a path and inline text",
    since: "0.1.0",
    levels: Levels { info: Profile::Uasp.as_set(), ..Levels::NONE },
    cites: &[Cite::uasp("§5.10")],
    requirements: &["US-33"],
    page: include_str!("uasp_template_doubled.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for uasp in &skill.uasp {
        for template in uasp.view().map(Uasp::templates).unwrap_or_default() {
            let name = template.key.text().unwrap_or("?");
            let has = |field: &str| template.value.get(field).is_some();
            if template.value.entries().is_some() && has("path") && has("inline") {
                findings
                    .add(&uasp.file, template.key.span, format!("template `{name}` has both `path` and `inline`"))
                    .path(format!("templates.{name}"))
                    .help("keep one of the two");
            }
        }
    }
}
