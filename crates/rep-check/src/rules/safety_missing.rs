use rep_model::{Skill, Span};

use crate::draft::Findings;
use crate::field_checks::suggest_entry;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "safety-missing",
    summary: "a Universal skill does not declare `safety`",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::Universal.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::universal("§8 and the MUST checklist")],
    requirements: &["VAL-48", "VAL-71"],
    page: include_str!("safety_missing.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    if front.find_field("safety").is_none() {
        findings.add(manifest.file, Span::empty_at(front.root.span.start), "field `safety` is missing").with_data_path("safety").help(
            "add `safety` with `redact` and `require_confirmation_for`; otherwise hosts redact and confirm everything",
        )
        .with_optional_fix(suggest_entry(
            skill,
            &front.root,
            "safety: {redact: {secrets: true, pii: true}, require_confirmation_for: [destructive_writes, external_network]}",
        ));
    }
}
