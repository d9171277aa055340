use rep_model::Skill;
use rep_model::frontmatter::Text;
use rep_model::uasp::Uasp;
use rep_model::yaml::pyyaml;

use super::uasp_version_stale::{computed, is_replaceable};
use crate::engine::Findings;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "uasp-version-shape",
    summary: "a version that is not eight hexadecimal digits",
    since: "0.1.0",
    levels: Levels { error: &[Profile::Uasp], ..Levels::NONE },
    cites: &[Cite::uasp("§5.1, validation rules")],
    requirements: &["US-04"],
    page: include_str!("uasp_version_shape.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for uasp in &skill.uasp {
        let Some(version) = uasp.view().and_then(Uasp::version) else { continue };
        if !is_misshapen(version) {
            continue;
        }
        let message = format!("version `{}` is not 8 hexadecimal digits", version.value.trim());
        let draft = findings.add(&uasp.file, version.span(), message);
        draft.path("meta.version").help("the version is a hash of the content; `rep hash --write` writes it");
        if let Some(computed) = computed(uasp).filter(|_| is_replaceable(uasp)) {
            draft.replace(version.span(), format!("\"{computed}\""));
        }
    }
}

/// Whether a version is text to every reader, and not eight hexadecimal digits. Other types are `field-type`.
pub(super) fn is_misshapen(version: Text<'_>) -> bool {
    let is_text = version.is_text() && pyyaml::scalar(version.node) == Some(pyyaml::Scalar::Text);
    let is_hash = version.value.len() == 8 && version.value.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_text && !is_hash
}
