use rep_model::Skill;
use rep_model::uasp::Uasp;

use crate::engine::Findings;
use crate::uasp_version::{compute_version, is_malformed, is_replaceable};
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "uasp-version-stale",
    summary: "a version that is not the hash of the content",
    since: "0.1.0",
    levels: Levels { warning: Profile::Uasp.as_set(), ..Levels::NONE },
    cites: &[Cite::uasp("§3.3"), Cite::uasp("§9.2")],
    requirements: &["US-31", "VER-01", "VER-08"],
    page: include_str!("uasp_version_stale.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for uasp in &skill.uasp {
        let Some(version) = uasp.view().and_then(Uasp::version) else { continue };
        // What is no hash at all is `uasp-version-shape`.
        let Some(computed) = compute_version(uasp).filter(|_| !is_malformed(version)) else { continue };
        if version.value != computed {
            let message = format!("version is `{}` but the content is `{computed}`", version.value.trim());
            let draft = findings.add(&uasp.file, version.span(), message);
            draft.path("meta.version").help("write the hash of the content, in quotes");
            if is_replaceable(uasp) {
                draft.replace(version.span(), format!("\"{computed}\""));
            }
        }
    }
}
