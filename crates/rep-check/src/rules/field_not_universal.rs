use rep_model::Skill;
use rep_model::frontmatter::{CLAUDE_CODE_FIELDS, STANDARD_FIELDS, UNIVERSAL_FIELDS};

use crate::engine::Findings;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "field-not-universal",
    summary: "a field of another dialect that Universal 2.1 lacks",
    since: "0.1.0",
    levels: Levels { warning: Profile::Universal.as_set(), ..Levels::NONE },
    cites: &[Cite::universal("Appendix A, additionalProperties")],
    requirements: &["VAL-36", "VAL-37", "VAL-43"],
    page: include_str!("field_not_universal.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    for entry in front.fields() {
        let Some(key) = entry.key.text() else { continue };
        let is_known = STANDARD_FIELDS.contains(&key) || CLAUDE_CODE_FIELDS.contains(&key) || key.starts_with("x-");
        if is_known && !UNIVERSAL_FIELDS.contains(&key) {
            findings
                .add(manifest.file, entry.key.span, format!("field `{key}` is not in the Universal 2.1 schema"))
                .path(key)
                .help("move it below `extensions`, unless a host needs it here");
        }
    }
}
