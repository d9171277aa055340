use rep_model::Skill;
use rep_model::frontmatter::PermissionDeclaration;

use crate::draft::Findings;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "network-declared",
    summary: "a skill for the Claude API requests network access",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::ClaudeApi.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::universal("host profile Claude API"), RuleCitation::host_table("claude-api: runtime")],
    requirements: &["PERM-11", "HOST-12", "HOST-19"],
    page: include_str!("network_declared.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    let outbound = front.permissions().map(PermissionDeclaration::outbound_hosts).unwrap_or_default();
    if let Some(first) = outbound.first() {
        findings
            .add(manifest.file, first.span(), format!("network access is requested: `{}`", first.value))
            .with_data_path("permissions.network.outbound")
            .help("avoid it; Claude API containers have no network access");
    }
}
