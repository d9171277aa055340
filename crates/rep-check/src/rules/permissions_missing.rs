use rep_model::{Skill, Span};

use crate::draft::Findings;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "permissions-missing",
    summary: "a Universal skill does not declare `permissions`",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::Universal.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::universal("§8 and the MUST checklist")],
    requirements: &["VAL-71", "PERM-01"],
    page: include_str!("permissions_missing.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    if front.find_field("permissions").is_none() {
        findings
            .add(manifest.file, Span::empty_at(front.root.span.start), "field `permissions` is missing")
            .with_data_path("permissions")
            .help("add `permissions` with what the skill needs; without it, hosts grant nothing");
    }
}
