use rep_model::Skill;
use rep_model::yaml::{YamlNode, core};

use crate::draft::Findings;
use crate::yaml_edits::suggest_literal;
use crate::{LintRule, Profile, ProfileSet, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "redaction-off",
    summary: "a skill disables redaction",
    since: "0.1.0",
    levels: RuleLevels { warning: ProfileSet::new(&[Profile::Universal, Profile::Security]), ..RuleLevels::NONE },
    citations: &[RuleCitation::universal("§8, safety.redact")],
    requirements: &["SEC-01", "SEC-05"],
    page: include_str!("redaction_off.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    let Some(redact) = front.get("safety").and_then(|safety| safety.get("redact")) else { return };
    let values = [
        ("safety.redact", Some(redact), "secrets and personal data"),
        ("safety.redact.secrets", redact.get("secrets"), "secrets"),
        ("safety.redact.pii", redact.get("pii"), "personal data"),
    ];
    for (path, value, what) in values {
        if let Some(value) = value.filter(|value| is_false_value(value)) {
            findings
                .add(manifest.file, value.span, format!("redaction of {what} is disabled"))
                .with_data_path(path)
                .help("set it to `true`; logs and tool output can leave the machine")
                .with_optional_fix(suggest_literal(skill, manifest.file, value.span, "true"));
        }
    }
}

fn is_false_value(value: &YamlNode) -> bool {
    core::classify_scalar(value) == Some(core::CoreScalar::Bool(false))
}
