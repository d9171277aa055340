use rep_model::{Skill, Span};

use crate::draft::Findings;
use crate::field_checks::suggest_entry;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "redaction-undeclared",
    summary: "`safety` does not declare what is redacted",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::Universal.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::universal("§8, safety structure")],
    requirements: &["VAL-48", "SEC-05"],
    page: include_str!("redaction_undeclared.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    // `safety-missing` reports an absent block.
    let Some(safety) = front.get("safety").filter(|safety| safety.entries().is_some()) else { return };
    if safety.get("redact").is_none() {
        findings
            .add(manifest.file, Span::empty_at(safety.span.start), "`safety` has no `redact`")
            .with_data_path("safety.redact")
            .help("add `redact: {secrets: true, pii: true}`")
            .with_optional_fix(suggest_entry(skill, safety, "redact: {secrets: true, pii: true}"));
    }
}
