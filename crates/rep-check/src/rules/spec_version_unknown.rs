use rep_model::Skill;

use crate::draft::Findings;
use crate::spec_version::parse_minor;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "spec-version-unknown",
    summary: "`spec_version` is an unknown version of Universal 2",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::Universal.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::universal("§3, spec_version")],
    requirements: &["VER-12"],
    page: include_str!("spec_version_unknown.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    let Some(version) = front.get_text("spec_version").filter(|version| version.is_text()) else { return };
    if parse_minor(version.value).is_some_and(|minor| minor != "0" && minor != "1") {
        findings
            .add(
                manifest.file,
                version.span(),
                format!("`spec_version` is `{}`, which is not supported", version.value),
            )
            .with_data_path("spec_version")
            .help("use `\"2.1\"` unless you need a later version; the skill is checked as 2.1");
    }
}
