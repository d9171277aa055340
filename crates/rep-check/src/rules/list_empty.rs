use rep_model::Skill;

use crate::draft::Findings;
use crate::value_schema::ViolationKind;
use crate::yaml_edits::suggest_entry_removal;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "list-empty",
    summary: "an empty list where at least one item is required",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::Pmcp.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::pmcp("SkillBlock.capabilities")],
    requirements: &["VAL-56"],
    page: include_str!("list_empty.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for misfit in findings.find_value_violations(skill) {
        let ViolationKind::Empty = misfit.kind else { continue };
        // The lists of x-personal-mcp are required.
        let is_required = misfit.path.starts_with("x-personal-mcp.");
        let fix = if is_required { None } else { suggest_entry_removal(skill, &misfit.file, misfit.span) };
        findings
            .add(&misfit.file, misfit.span, format!("`{}` is an empty list", misfit.path))
            .with_data_path(misfit.path)
            .help("add at least one item")
            .only_for_profiles(misfit.profiles)
            .with_optional_fix(fix);
    }
}
