use rep_model::{Skill, names};

use crate::draft::Findings;
use crate::field_checks::suggest_removal;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "compatibility-unneeded",
    summary: "`compatibility` states no requirement",
    since: "0.1.0",
    levels: RuleLevels { info: Profile::AgentSkills.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::agentskills("compatibility field")],
    requirements: &["VAL-29"],
    page: include_str!("compatibility_unneeded.md"),
    check: RuleCheck::Skill(check),
};

/// Complete values that state no requirement.
const EMPTY_REQUIREMENTS: [&str; 24] = [
    "-",
    "all",
    "all agents",
    "all environments",
    "all platforms",
    "any",
    "any agent",
    "any environment",
    "any platform",
    "anything",
    "anywhere",
    "cross-platform",
    "everything",
    "everywhere",
    "n/a",
    "na",
    "no requirements",
    "no special requirements",
    "none",
    "none required",
    "universal",
    "works anywhere",
    "works everywhere",
    "works on all platforms",
];

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    let Some(text) = front.get_text("compatibility") else { return };
    let value = names::strip_whitespace(text.value).trim_end_matches(['.', '!']).to_lowercase();
    if EMPTY_REQUIREMENTS.contains(&value.as_str()) {
        findings
            .add(manifest.file, text.span(), "`compatibility` states no requirement")
            .with_data_path("compatibility")
            .help("remove the field; most skills do not need it")
            .with_optional_fix(suggest_removal(skill, "compatibility"));
    }
}
