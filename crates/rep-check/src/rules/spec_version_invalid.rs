use rep_model::Skill;

use crate::draft::Findings;
use crate::spec_version::parse_minor;
use crate::yaml_edits::suggest_literal;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "spec-version-invalid",
    summary: "`spec_version` is not a version of Universal 2",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::Universal.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::universal("§3 and Appendix A, spec_version")],
    requirements: &["VAL-03", "VER-12"],
    page: include_str!("spec_version_invalid.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    // `field-type` reports a number without quotes.
    let Some(version) = front.get_text("spec_version").filter(|version| version.is_text()) else { return };
    if parse_minor(version.value).is_none() {
        findings
            .add(manifest.file, version.span(), format!("`spec_version` is `{}`", version.value))
            .with_data_path("spec_version")
            .help("write `\"2.1\"`")
            .with_optional_fix(suggest_literal(skill, manifest.file, version.span(), "\"2.1\""));
    }
}
