use rep_model::Skill;

use crate::draft::Findings;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "compatibility-list",
    summary: "`compatibility` is a list where a mapping is required",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::Aam.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::aam("frontmatter field reference")],
    requirements: &["VAL-28"],
    page: include_str!("compatibility_list.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    let Some(entry) = front.find_field("compatibility").filter(|entry| entry.value.items().is_some()) else { return };
    findings
        .add(manifest.file, entry.key.span, "field `compatibility` is a list, not a mapping")
        .with_data_path("compatibility")
        .help("put the list under `requires`");
}
