use rep_model::Skill;

use crate::draft::Findings;
use crate::personal_mcp::{ReferencePathFault, find_references};
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "pmcp-reference-outside",
    summary: "a reference path contains `..`",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::Pmcp.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::pmcp("ReferenceEntry.validate_reference_path")],
    requirements: &["VAL-60"],
    page: include_str!("pmcp_reference_outside.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for reference in find_references(skill)
        .iter()
        .filter(|reference| reference.normal_path == Err(ReferencePathFault::ParentSegment))
    {
        findings
            .add(
                reference.file,
                reference.path.span(),
                format!("reference path `{}` contains `..`", reference.path.value),
            )
            .with_data_path(&reference.field)
            .help("remove `..` from the path, and copy external files to `references/`");
    }
}
