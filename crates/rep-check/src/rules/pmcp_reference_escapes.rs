use rep_model::Skill;

use crate::draft::Findings;
use crate::personal_mcp::find_references;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "pmcp-reference-escapes",
    summary: "a reference leaves the skill through a symbolic link",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::Pmcp.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::pmcp("repository metadata, references")],
    requirements: &["VAL-61"],
    page: include_str!("pmcp_reference_escapes.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for reference in find_references(skill) {
        let Ok(path) = &reference.normal_path else { continue };
        if skill.tree.has_outside_link(path) {
            findings
                .add(reference.file, reference.path.span(), format!("reference `{path}` points outside the skill"))
                .with_data_path(&reference.field)
                .help("replace the symbolic link with the file itself");
        }
    }
}
