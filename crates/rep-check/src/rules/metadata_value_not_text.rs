use rep_model::Skill;
use rep_model::yaml::{YamlNode, core, quote_double};

use crate::engine::Findings;
use crate::profile::STANDARD;
use crate::{Level, LintRule, Profile, ProfileSet, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "metadata-value-not-text",
    summary: "a value under `metadata` is not text",
    since: "0.1.0",
    levels: RuleLevels {
        error: STANDARD.union(ProfileSet::new(&[Profile::Aam, Profile::Pmcp])),
        automatic: Some(Level::Warning),
        ..RuleLevels::NONE
    },
    citations: &[
        RuleCitation::agentskills("metadata field"),
        RuleCitation::pmcp("frontmatter model"),
        RuleCitation::public_survey("§3: most metadata contains lists and mappings"),
    ],
    requirements: &["VAL-30", "VAL-31"],
    page: include_str!("metadata_value_not_text.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    let entries = front.get("metadata").and_then(YamlNode::entries).unwrap_or(&[]);
    for entry in entries {
        let (key, value) = (entry.key.text().unwrap_or("?"), &entry.value);
        let path = format!("metadata.{key}");
        let Some(text) = value.text() else {
            findings
                .add(manifest.file, value.span, format!("`{path}` is {}, not text", value.describe_kind()))
                .with_data_path(path)
                .help("write it as text, such as quoted JSON");
            continue;
        };
        if core::classify_scalar(value) == Some(core::CoreScalar::Text) {
            continue;
        }
        // Under other profiles, a plain value is text.
        let place = if value.is_null() { entry.key.span } else { value.span };
        let draft = findings
            .add(manifest.file, place, format!("`{path}` is {}, not text", value.describe_kind()))
            .with_data_path(path)
            .only_for_profiles(Profile::Pmcp.as_set());
        if value.is_null() {
            draft.help("give it a value, or remove it");
        } else {
            draft.help("put it in quotes");
            // Quotes would change the meaning of an alias or a tag.
            if value.tag.is_none() && manifest.source.slice(value.span) == text {
                draft.with_replacement(value.span, quote_double(text));
            }
        }
    }
}
