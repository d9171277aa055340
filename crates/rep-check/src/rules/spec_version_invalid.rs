use rep_model::Skill;

use crate::engine::Findings;
use crate::spec_version::parse_minor;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "spec-version-invalid",
    summary: "`spec_version` names no version of Universal 2",
    since: "0.1.0",
    levels: Levels { error: Profile::Universal.as_set(), ..Levels::NONE },
    cites: &[Cite::universal("§3 and Appendix A, spec_version")],
    requirements: &["VAL-03", "VER-12"],
    page: include_str!("spec_version_invalid.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    // A number without quotes is the business of `field-type`.
    let Some(version) = front.text("spec_version").filter(|version| version.is_text()) else { return };
    if parse_minor(version.value).is_none() {
        findings
            .add(manifest.file, version.span(), format!("`spec_version` is `{}`", version.value))
            .path("spec_version")
            .help("write `\"2.1\"`");
    }
}
