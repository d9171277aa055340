use rep_model::Skill;

use crate::draft::Findings;
use crate::personal_mcp::{ReferencePathFault, find_references};
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "pmcp-reference-absolute",
    summary: "a reference path is absolute",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::Pmcp.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::pmcp("ReferenceEntry.validate_reference_path")],
    requirements: &["VAL-60"],
    page: include_str!("pmcp_reference_absolute.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for reference in
        find_references(skill).iter().filter(|reference| reference.normal_path == Err(ReferencePathFault::Absolute))
    {
        let message = format!("reference path `{}` is absolute", reference.path.value);
        findings
            .add(reference.file, reference.path.span(), message)
            .with_data_path(&reference.field)
            .help("use a path relative to the skill's directory, such as `references/guide.md`");
    }
}
