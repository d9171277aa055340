use rep_model::Skill;
use rep_model::frontmatter::{CLAUDE_CODE_FIELDS, STANDARD_FIELDS, UNIVERSAL_FIELDS};
use rep_model::suggestion::is_misspelling;

use crate::engine::Findings;
use crate::profile::STANDARD;
use crate::{Check, Cite, Level, Levels, Profile, ProfileSet, Rule};

pub(super) static RULE: Rule = Rule {
    name: "field-unknown",
    summary: "a top-level field that the profile does not know",
    since: "0.1.0",
    levels: Levels {
        error: STANDARD.union(Profile::Universal.as_set()),
        warning: Profile::Aam.as_set(),
        info: Profile::ClaudeCode.as_set(),
        unasked: Some(Level::Warning),
    },
    cites: &[
        Cite::agentskills("field reference"),
        Cite::universal("Appendix A, additionalProperties"),
        Cite::evidence("§4: half of public skills carry such fields"),
    ],
    requirements: &["VAL-35", "VAL-36", "VAL-43"],
    page: include_str!("field_unknown.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    for entry in front.fields() {
        let key = entry.key.text().unwrap_or("?");
        let is_standard = STANDARD_FIELDS.contains(&key);
        let is_claude_code = CLAUDE_CODE_FIELDS.contains(&key);
        if !is_standard {
            let near =
                STANDARD_FIELDS.into_iter().find(|field| is_misspelling(key, field) && front.field(field).is_none());
            let (message, help) = if is_claude_code {
                let message = format!("field `{key}` is Claude Code's own, not one of the six standard fields");
                (message, "other hosts ignore it; strict uploads refuse it".to_owned())
            } else {
                let help = near.map_or_else(
                    || "move it below `metadata`, where clients keep their own fields".to_owned(),
                    |near| format!("did you mean `{near}`?"),
                );
                (format!("field `{key}` is not one of the six standard fields"), help)
            };
            findings.add(manifest.file, entry.key.span, message).path(key).help(help).only(STANDARD);
        }
        // What other dialects know is `field-not-universal`, a warning.
        if !is_standard && !is_claude_code && !UNIVERSAL_FIELDS.contains(&key) && !key.starts_with("x-") {
            findings
                .add(manifest.file, entry.key.span, format!("field `{key}` is not in the Universal 2.1 schema"))
                .path(key)
                .help("move it below `extensions`, the place for custom data")
                .only(Profile::Universal.as_set());
        }
        if !is_standard && !is_claude_code {
            findings
                .add(manifest.file, entry.key.span, format!("field `{key}` is known to no host of this profile"))
                .path(key)
                .help("move it below `metadata`, where clients keep their own fields")
                .only(ProfileSet::new(&[Profile::Aam, Profile::ClaudeCode]));
        }
    }
}
