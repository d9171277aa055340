use rep_model::uasp::Uasp;
use rep_model::{Skill, names};

use crate::engine::Findings;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "uasp-name-hyphens",
    summary: "a name with a hyphen that no word follows",
    since: "0.1.0",
    levels: Levels { warning: Profile::Uasp.as_set(), ..Levels::NONE },
    cites: &[Cite::uasp("§5.1"), Cite::agentskills("name field")],
    requirements: &["US-03"],
    page: include_str!("uasp_name_hyphens.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for uasp in &skill.uasp {
        let Some(name) = uasp.view().and_then(Uasp::name) else { continue };
        // What breaks the pattern of UASP is reported by itself.
        if !names::is_id(name.value) || name.value.split('-').all(|part| !part.is_empty()) {
            continue;
        }
        findings
            .add(&uasp.file, name.span(), format!("name `{}` has a hyphen with no word behind it", name.value))
            .path("meta.name")
            .help("put single hyphens between words; the other formats refuse anything else");
    }
}
