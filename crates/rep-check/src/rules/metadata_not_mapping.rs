use rep_model::Skill;

use crate::draft::Findings;
use crate::profile::STANDARD;
use crate::{LintRule, Profile, ProfileSet, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "metadata-not-mapping",
    summary: "`metadata` is not a mapping",
    since: "0.1.0",
    levels: RuleLevels { error: STANDARD.union(ProfileSet::new(&[Profile::Aam, Profile::Pmcp])), ..RuleLevels::NONE },
    citations: &[RuleCitation::agentskills("metadata field"), RuleCitation::pmcp("frontmatter model")],
    requirements: &["VAL-30"],
    page: include_str!("metadata_not_mapping.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    let Some(node) = front.get("metadata") else { return };
    // Text that starts with a bracket is broken flow style, which `yaml-value-unquoted` reports.
    let is_broken = node.text().is_some() && manifest.source.slice(node.span).starts_with(['{', '[']);
    if node.entries().is_none() && !is_broken {
        findings
            .add(manifest.file, node.span, format!("`metadata` is {}, not a mapping", node.describe_kind()))
            .with_data_path("metadata")
            .help("write `key: value` lines under it");
    }
}
