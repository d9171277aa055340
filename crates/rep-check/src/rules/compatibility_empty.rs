use rep_model::Skill;

use crate::draft::Findings;
use crate::field_checks::{report_empty, suggest_removal};
use crate::profile::REFERENCE;
use crate::{LintRule, Profile, ProfileSet, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "compatibility-empty",
    summary: "`compatibility` is blank",
    since: "0.1.0",
    levels: RuleLevels {
        error: REFERENCE,
        warning: ProfileSet::new(&[Profile::Pmcp, Profile::ClaudeApi, Profile::OpenAi]),
        ..RuleLevels::NONE
    },
    citations: &[RuleCitation::agentskills("compatibility field")],
    requirements: &["VAL-27"],
    page: include_str!("compatibility_empty.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let help = "name the requirements, or remove the field";
    report_empty(skill, "compatibility", help, findings);
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    // A field without a value is present, and the reference tool reads it as empty text. An explicit null counts as
    // absent. Empty text in quotes is reported above.
    if let Some(entry) =
        front.find_field("compatibility").filter(|entry| entry.value.is_null() && entry.value.text() == Some(""))
    {
        findings
            .add(manifest.file, entry.key.span, "field `compatibility` has no value")
            .with_data_path("compatibility")
            .help(help)
            .with_optional_fix(suggest_removal(skill, "compatibility"));
    }
}
