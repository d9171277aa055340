use rep_model::Skill;

use crate::draft::Findings;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "compatibility-not-mapping",
    summary: "`compatibility` is not a mapping",
    since: "0.1.0",
    levels: RuleLevels { info: Profile::Aam.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::aam("compatibility field")],
    requirements: &["VAL-28"],
    page: include_str!("compatibility_not_mapping.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    let Some(node) = front.get("compatibility") else { return };
    if node.entries().is_none() {
        findings
            .add(
                manifest.file,
                node.span,
                format!("`compatibility` is {}, but UAAPS requires a mapping", node.describe_kind()),
            )
            .with_data_path("compatibility")
            .help("for UAAPS, list the requirements under `requires`; other hosts expect text");
    }
}
