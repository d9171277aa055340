use rep_model::Skill;
use rep_model::frontmatter::{CLAUDE_CODE_FIELDS, Frontmatter, STANDARD_FIELDS, UNIVERSAL_FIELDS};
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
        info: LENIENT.union(Profile::ClaudeCode.as_set()),
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

/// The profiles that accept any field. A misspelled one is still worth a remark.
const LENIENT: ProfileSet = ProfileSet::new(&[Profile::Pmcp, Profile::Codex, Profile::Mcp]);

/// The profiles whose hosts read the standard fields and those of Claude Code.
const CLAUDE_FIELDS: ProfileSet = ProfileSet::new(&[Profile::Aam, Profile::ClaudeCode]);

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    // `rep export` turns the fields of a Universal skill into what OpenAI accepts.
    let is_universal = front.find_field("spec_version").is_some();
    for entry in front.fields() {
        let key = entry.key.text().unwrap_or("?");
        let is_in_universal = UNIVERSAL_FIELDS.contains(&key);
        if STANDARD_FIELDS.contains(&key) {
            continue;
        }
        let mut add = |message: String, help: String, profiles: ProfileSet| {
            findings
                .add(manifest.file, entry.key.span, message)
                .with_data_path(key)
                .help(help)
                .only_for_profiles(profiles);
        };
        let exempt = if is_universal && is_in_universal { Profile::OpenAi.as_set() } else { ProfileSet::EMPTY };
        let strict = STANDARD.without(exempt);
        if CLAUDE_CODE_FIELDS.contains(&key) {
            let message = format!("field `{key}` is specific to Claude Code, not one of the six standard fields");
            add(message, "other hosts ignore it; strict uploads reject it".to_owned(), strict);
            continue;
        }
        let to_metadata = "move it under `metadata`, which is for client-specific fields";
        let near = suggest_field(key, front, &[&STANDARD_FIELDS, &CLAUDE_CODE_FIELDS]);
        let help = describe_remedy(near, to_metadata);
        add(format!("field `{key}` is not one of the six standard fields"), help.clone(), strict);
        // `field-not-universal` reports fields of other dialects as a warning.
        if !is_in_universal && !key.starts_with("x-") {
            let near = suggest_field(key, front, &[&UNIVERSAL_FIELDS, &STANDARD_FIELDS, &CLAUDE_CODE_FIELDS]);
            let help = describe_remedy(near, "move it under `extensions`, which is for custom data");
            add(format!("field `{key}` is not in the Universal 2.1 schema"), help, Profile::Universal.as_set());
        }
        add(format!("field `{key}` is not known to any host of this profile"), help.clone(), CLAUDE_FIELDS);
        if near.is_some() && !is_in_universal {
            add(format!("field `{key}` is not known to any host"), help, LENIENT);
        }
    }
}

/// Returns the field that a field name misspells, unless the skill has that field too. The first list has priority.
fn suggest_field(key: &str, front: &Frontmatter, known: &[&[&'static str]]) -> Option<&'static str> {
    let fields = known.iter().flat_map(|fields| fields.iter().copied());
    fields.into_iter().find(|field| is_misspelling(key, field) && front.find_field(field).is_none())
}

fn describe_remedy(near: Option<&str>, otherwise: &str) -> String {
    near.map_or_else(|| otherwise.to_owned(), |near| format!("did you mean `{near}`?"))
}
