use rep_model::Skill;

use crate::draft::Findings;
use crate::personal_mcp::{ReferencePathFault, find_references};
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "pmcp-reference-not-markdown",
    summary: "a reference is not a Markdown file",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::Pmcp.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::pmcp("ReferenceEntry.validate_reference_path")],
    requirements: &["VAL-60"],
    page: include_str!("pmcp_reference_not_markdown.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for reference in
        find_references(skill).iter().filter(|reference| reference.normal_path == Err(ReferencePathFault::NotMarkdown))
    {
        let message = format!("reference path `{}` is not a Markdown file", reference.path.value);
        findings
            .add(reference.file, reference.path.span(), message)
            .with_data_path(&reference.field)
            .help("refer to a Markdown file");
    }
}
