use rep_model::Skill;
use rep_model::frontmatter::{CLAUDE_CODE_FIELDS, STANDARD_FIELDS, UNIVERSAL_FIELDS};
use rep_model::suggestion::is_misspelling;

use crate::engine::Findings;
use crate::profile::STANDARD;
use crate::{Level, LintRule, Profile, ProfileSet, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "field-unknown",
    summary: "a top-level field is not known to the profile",
    since: "0.1.0",
    levels: RuleLevels {
        error: STANDARD.union(Profile::Universal.as_set()),
        warning: Profile::Aam.as_set(),
        info: Profile::ClaudeCode.as_set(),
        automatic: Some(Level::Warning),
    },
    citations: &[
        RuleCitation::agentskills("field reference"),
        RuleCitation::universal("Appendix A, additionalProperties"),
        RuleCitation::public_survey("§4: half of public skills carry such fields"),
    ],
    requirements: &["VAL-35", "VAL-36", "VAL-43"],
    page: include_str!("field_unknown.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    for entry in front.fields() {
        let key = entry.key.text().unwrap_or("?");
        let is_standard = STANDARD_FIELDS.contains(&key);
        let is_claude_code = CLAUDE_CODE_FIELDS.contains(&key);
        if !is_standard {
            let near = STANDARD_FIELDS
                .into_iter()
                .find(|field| is_misspelling(key, field) && front.find_field(field).is_none());
            let (message, help) = if is_claude_code {
                let message = format!("field `{key}` is specific to Claude Code, not one of the six standard fields");
                (message, "other hosts ignore it; strict uploads reject it".to_owned())
            } else {
                let help = near.map_or_else(
                    || "move it under `metadata`, which is for client-specific fields".to_owned(),
                    |near| format!("did you mean `{near}`?"),
                );
                (format!("field `{key}` is not one of the six standard fields"), help)
            };
            findings
                .add(manifest.file, entry.key.span, message)
                .with_data_path(key)
                .help(help)
                .only_for_profiles(STANDARD);
        }
        // `field-not-universal` reports fields of other dialects as a warning.
        if !is_standard && !is_claude_code && !UNIVERSAL_FIELDS.contains(&key) && !key.starts_with("x-") {
            findings
                .add(manifest.file, entry.key.span, format!("field `{key}` is not in the Universal 2.1 schema"))
                .with_data_path(key)
                .help("move it under `extensions`, which is for custom data")
                .only_for_profiles(Profile::Universal.as_set());
        }
        if !is_standard && !is_claude_code {
            findings
                .add(manifest.file, entry.key.span, format!("field `{key}` is not known to any host of this profile"))
                .with_data_path(key)
                .help("move it under `metadata`, which is for client-specific fields")
                .only_for_profiles(ProfileSet::new(&[Profile::Aam, Profile::ClaudeCode]));
        }
    }
}
