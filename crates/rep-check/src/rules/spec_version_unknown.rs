use rep_model::Skill;

use crate::engine::Findings;
use crate::spec_version::parse_minor;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "spec-version-unknown",
    summary: "`spec_version` names a version of Universal 2 that is not known here",
    since: "0.1.0",
    levels: Levels { warning: Profile::Universal.as_set(), ..Levels::NONE },
    cites: &[Cite::universal("§3, spec_version")],
    requirements: &["VER-12"],
    page: include_str!("spec_version_unknown.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    let Some(version) = front.text("spec_version").filter(|version| version.is_text()) else { return };
    if parse_minor(version.value).is_some_and(|minor| minor != "0" && minor != "1") {
        findings
            .add(
                manifest.file,
                version.span(),
                format!("`spec_version` is `{}`, which is not known here", version.value),
            )
            .path("spec_version")
            .help("use `\"2.1\"` unless you need what a later version has; the skill is checked as 2.1");
    }
}
