use rep_model::{Skill, Span};

use crate::draft::Findings;
use crate::field_checks::suggest_entry;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "confirmation-undeclared",
    summary: "`safety` does not declare what needs confirmation",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::Universal.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::universal("§8, safety structure")],
    requirements: &["VAL-48", "CONF-01"],
    page: include_str!("confirmation_undeclared.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    // `safety-missing` reports an absent block.
    let Some(safety) = front.get("safety").filter(|safety| safety.entries().is_some()) else { return };
    if safety.get("require_confirmation_for").is_none() {
        findings
            .add(manifest.file, Span::empty_at(safety.span.start), "`safety` has no `require_confirmation_for`")
            .with_data_path("safety.require_confirmation_for")
            .help("add `require_confirmation_for` with `destructive_writes`, `external_network`, or an empty list")
            .with_optional_fix(suggest_entry(
                skill,
                safety,
                "require_confirmation_for: [destructive_writes, external_network]",
            ));
    }
}
