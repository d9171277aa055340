use rep_model::Skill;
use rep_model::frontmatter::{CLAUDE_CODE_FIELDS, STANDARD_FIELDS, UNIVERSAL_FIELDS};

use crate::draft::Findings;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "field-not-universal",
    summary: "a field of another dialect is not in Universal 2.1",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::Universal.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::universal("Appendix A, additionalProperties")],
    requirements: &["VAL-36", "VAL-37", "VAL-43"],
    page: include_str!("field_not_universal.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    for entry in front.fields() {
        let Some(key) = entry.key.text() else { continue };
        let is_known = STANDARD_FIELDS.contains(&key) || CLAUDE_CODE_FIELDS.contains(&key) || key.starts_with("x-");
        if is_known && !UNIVERSAL_FIELDS.contains(&key) {
            findings
                .add(manifest.file, entry.key.span, format!("field `{key}` is not in the Universal 2.1 schema"))
                .with_data_path(key)
                .help("move it under `extensions`, unless a host needs it here");
        }
    }
}
