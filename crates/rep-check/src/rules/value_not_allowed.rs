use rep_model::Skill;
use rep_model::suggestion::nearest_name;
use rep_model::truncate::truncate_with_ellipsis;

use crate::draft::Findings;
use crate::value_schema::ViolationKind;
use crate::yaml_edits::suggest_value;
use crate::{LintRule, Profile, ProfileSet, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "value-not-allowed",
    summary: "a value is not one of those its field allows",
    since: "0.1.0",
    levels: RuleLevels {
        error: ProfileSet::new(&[Profile::Universal, Profile::Uasp]),
        warning: ProfileSet::new(&[Profile::AgentSkills, Profile::Aam, Profile::ClaudeCode]),
        ..RuleLevels::NONE
    },
    citations: &[
        RuleCitation::universal("Appendix A, enum"),
        RuleCitation::uasp("§3.1, enum"),
        RuleCitation::aam("context field"),
        RuleCitation::host_table("Claude Code: frontmatter fields"),
    ],
    requirements: &["TOOL-05", "CONF-02", "SEC-04", "VAL-49", "US-05"],
    page: include_str!("value_not_allowed.md"),
    check: RuleCheck::Skill(check),
};

/// The maximum number of characters of a value in a message.
const TEXT_CHARS_MAX: usize = 60;

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for misfit in findings.find_value_violations(skill) {
        let ViolationKind::Choice(words) = misfit.kind else { continue };
        let text = misfit.text.unwrap_or_default();
        let text = truncate_with_ellipsis(text.lines().next().unwrap_or(""), TEXT_CHARS_MAX);
        let lower = text.to_lowercase().replace(['_', ' '], "-");
        let near = nearest_name(&lower, words.iter().copied());
        let fix = near.and_then(|near| suggest_value(skill, &misfit.file, misfit.span, near));
        let listed: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        let help = match listed.as_slice() {
            [only] => format!("use {only}"),
            listed => format!("use one of {}", listed.join(", ")),
        };
        findings
            .add(&misfit.file, misfit.span, format!("`{}` is `{text}`", misfit.path))
            .with_data_path(misfit.path)
            .help(help)
            .only_for_profiles(misfit.profiles)
            .with_optional_fix(fix);
    }
}
