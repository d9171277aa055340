use rep_model::Skill;
use rep_model::frontmatter::Text;

use crate::boolean_words::{BOOLEAN_FIELDS, parse_boolean_word};
use crate::engine::Findings;
use crate::{Check, Cite, Levels, Profile, ProfileSet, Rule};

pub(super) static RULE: Rule = Rule {
    name: "boolean-as-text",
    summary: "a field for `true` and `false` holds text",
    since: "0.1.0",
    levels: Levels {
        warning: ProfileSet::new(&[Profile::Aam, Profile::Pmcp]),
        info: Profile::ClaudeCode.as_set(),
        ..Levels::NONE
    },
    cites: &[
        Cite::pmcp("frontmatter model"),
        Cite::aam("disable-model-invocation field"),
        Cite::host("Claude Code: booleans"),
    ],
    requirements: &["VAL-42", "VAL-44"],
    page: include_str!("boolean_as_text.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    for field in BOOLEAN_FIELDS {
        let Some(text) = front.text(field) else { continue };
        if let Some(meant) = meant(text) {
            findings
                .add(manifest.file, text.span(), format!("field `{field}` is the text `{}`, not a boolean", text.value))
                .path(field)
                .help(format!("write `{meant}`, without quotes"));
        }
    }
}

/// The boolean a text stands for, where it stands for one.
fn meant(text: Text<'_>) -> Option<bool> {
    if text.is_text() { parse_boolean_word(text.value) } else { None }
}
