use rep_model::Skill;
use rep_model::frontmatter::ScalarText;

use crate::boolean_words::{BOOLEAN_FIELDS, parse_boolean_word};
use crate::draft::Findings;
use crate::yaml_edits::suggest_literal;
use crate::{LintRule, Profile, ProfileSet, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "boolean-as-text",
    summary: "a boolean field contains text",
    since: "0.1.0",
    levels: RuleLevels {
        warning: ProfileSet::new(&[Profile::Aam, Profile::Pmcp]),
        info: ProfileSet::new(&[Profile::AgentSkills, Profile::ClaudeCode]),
        ..RuleLevels::NONE
    },
    citations: &[
        RuleCitation::pmcp("frontmatter model"),
        RuleCitation::aam("disable-model-invocation field"),
        RuleCitation::host_table("Claude Code: booleans"),
    ],
    requirements: &["VAL-42", "VAL-44"],
    page: include_str!("boolean_as_text.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    for field in BOOLEAN_FIELDS {
        let Some(text) = front.get_text(field) else { continue };
        if let Some(meant) = parse_intended_boolean(text) {
            findings
                .add(manifest.file, text.span(), format!("field `{field}` is the text `{}`, not a boolean", text.value))
                .with_data_path(field)
                .help(format!("write `{meant}`, without quotes"))
                .with_optional_fix(suggest_literal(skill, manifest.file, text.span(), &meant.to_string()));
        }
    }
}

/// Returns the boolean that a text means, if any.
fn parse_intended_boolean(text: ScalarText<'_>) -> Option<bool> {
    if text.is_text() { parse_boolean_word(text.value) } else { None }
}
