use rep_model::Skill;
use rep_model::uasp::Uasp;

use crate::engine::Findings;
use crate::uasp_version::{compute_version, is_malformed, is_replaceable};
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "uasp-version-shape",
    summary: "a version that is not eight hexadecimal digits",
    since: "0.1.0",
    levels: Levels { error: Profile::Uasp.as_set(), ..Levels::NONE },
    cites: &[Cite::uasp("§5.1, validation rules")],
    requirements: &["US-04"],
    page: include_str!("uasp_version_shape.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for uasp in &skill.uasp {
        let Some(version) = uasp.view().and_then(Uasp::version) else { continue };
        if !is_malformed(version) {
            continue;
        }
        let message = format!("version `{}` is not 8 hexadecimal digits", version.value.trim());
        let draft = findings.add(&uasp.file, version.span(), message);
        draft.path("meta.version").help("the version is a hash of the content; `rep hash --write` writes it");
        if let Some(computed) = compute_version(uasp).filter(|_| is_replaceable(uasp)) {
            draft.replace(version.span(), format!("\"{computed}\""));
        }
    }
}
