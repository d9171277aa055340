use rep_model::Skill;
use rep_model::frontmatter::Text;

use crate::engine::Findings;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "version-not-semver",
    summary: "a version that is not of the form SemVer 2.0 gives",
    since: "0.1.0",
    levels: Levels { error: &[Profile::Universal, Profile::Pmcp], ..Levels::NONE },
    cites: &[Cite::universal("§3 and Appendix A, version"), Cite::pmcp("SkillBlock.version")],
    requirements: &["VAL-24", "VAL-25", "VER-09", "VER-10"],
    page: include_str!("version_not_semver.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    if let Some(version) = front.text("version") {
        judge(manifest.file, version, "version", &[Profile::Universal], findings);
    }
    if let Some(version) = front.personal_mcp().and_then(rep_model::frontmatter::PersonalMcp::version) {
        judge(manifest.file, version, "x-personal-mcp.version", &[Profile::Pmcp], findings);
    }
}

fn judge(file: &str, version: Text<'_>, path: &str, profiles: &'static [Profile], findings: &mut Findings<'_>) {
    // A number without quotes is the business of `field-type`.
    if !version.is_text() || semver::Version::parse(version.value).is_ok() {
        return;
    }
    let help = match likely(version.value) {
        Some(likely) => format!("write `{likely}`"),
        None => "write three numbers, such as `1.0.0`, and a label such as `-rc.1` if need be".to_owned(),
    };
    findings
        .add(file, version.span(), format!("`{path}` is `{}`, which is not semantic versioning", version.value))
        .path(path)
        .help(help)
        .only(profiles);
}

/// What is probably meant: without a `v`, with the numbers that are missing.
fn likely(version: &str) -> Option<String> {
    let bare = version.strip_prefix(['v', 'V']).unwrap_or(version);
    let ends = ["", ".0", ".0.0"];
    ends.into_iter().map(|end| format!("{bare}{end}")).find(|text| semver::Version::parse(text).is_ok())
}
