use rep_model::uasp::Uasp;
use rep_model::{Skill, UaspFile, hash};

use super::uasp_version_shape::is_misshapen;
use crate::engine::Findings;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "uasp-version-stale",
    summary: "a version that is not the hash of the content",
    since: "0.1.0",
    levels: Levels { warning: &[Profile::Uasp], ..Levels::NONE },
    cites: &[Cite::uasp("§3.3"), Cite::uasp("§9.2")],
    requirements: &["US-31", "VER-01", "VER-08"],
    page: include_str!("uasp_version_stale.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for uasp in &skill.uasp {
        let Some(version) = uasp.view().and_then(Uasp::version) else { continue };
        // What is no hash at all is `uasp-version-shape`.
        let Some(computed) = computed(uasp).filter(|_| !is_misshapen(version)) else { continue };
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

/// Whether the version can be rewritten without changing the content: one with an anchor may be content elsewhere.
pub(super) fn is_replaceable(uasp: &UaspFile) -> bool {
    let entry = uasp.view().and_then(Uasp::version_entry);
    entry.is_some_and(|entry| {
        let between = uasp.source.slice(rep_model::Span::new(entry.key.span.end, entry.value.span.start));
        !between.contains(['&', '!'])
    })
}

/// The version the content of a file has; `None` where it has none.
pub(super) fn computed(uasp: &UaspFile) -> Option<String> {
    let digest = hash::sha256(uasp.root.as_ref()?).ok()?;
    digest.get(..8).map(str::to_owned)
}
