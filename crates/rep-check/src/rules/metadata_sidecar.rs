use rep_model::{Skill, Span, TreeEntry};

use crate::draft::Findings;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "metadata-sidecar",
    summary: "a `metadata.yaml` file is next to SKILL.md",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::Pmcp.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::pmcp("metadata stays in the frontmatter")],
    requirements: &["PKG-27"],
    page: include_str!("metadata_sidecar.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    const SIDECAR_FILE: &str = "metadata.yaml";
    let is_file = matches!(skill.tree.entries.get(SIDECAR_FILE), Some(TreeEntry::File { .. } | TreeEntry::Link { .. }));
    if is_file && skill.manifest.is_some() {
        findings
            .add(SIDECAR_FILE, Span::default(), "`metadata.yaml` next to SKILL.md is never read")
            .help("move its contents into the `x-personal-mcp` block of SKILL.md and delete it");
    }
}
