use rep_model::Skill;
use rep_model::yaml::{Node, core, quote_double};

use crate::engine::Findings;
use crate::profile::STANDARD;
use crate::{Check, Cite, Level, Levels, Profile, ProfileSet, Rule};

pub(super) static RULE: Rule = Rule {
    name: "metadata-value-not-text",
    summary: "a value below `metadata` is not text",
    since: "0.1.0",
    levels: Levels {
        error: STANDARD.union(ProfileSet::new(&[Profile::Aam, Profile::Pmcp])),
        unasked: Some(Level::Warning),
        ..Levels::NONE
    },
    cites: &[
        Cite::agentskills("metadata field"),
        Cite::pmcp("frontmatter model"),
        Cite::evidence("§3: most metadata holds lists and mappings"),
    ],
    requirements: &["VAL-30", "VAL-31"],
    page: include_str!("metadata_value_not_text.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    let entries = front.get("metadata").and_then(Node::entries).unwrap_or(&[]);
    for entry in entries {
        let (key, value) = (entry.key.text().unwrap_or("?"), &entry.value);
        let path = format!("metadata.{key}");
        let Some(text) = value.text() else {
            findings
                .add(manifest.file, value.span, format!("`{path}` is {}, not text", value.kind()))
                .path(path)
                .help("write it as text, such as JSON in quotes");
            continue;
        };
        if core::scalar(value) == Some(core::Scalar::Text) {
            continue;
        }
        // Elsewhere a plain value is the text it is written as.
        let place = if value.is_null() { entry.key.span } else { value.span };
        let draft = findings
            .add(manifest.file, place, format!("`{path}` is {}, not text", value.kind()))
            .path(path)
            .only(Profile::Pmcp.as_set());
        if value.is_null() {
            draft.help("give it a text, or remove it");
        } else {
            draft.help("put it in quotes");
            // An alias or a tag stands for something that quotes would not keep.
            if value.tag.is_none() && manifest.source.slice(value.span) == text {
                draft.replace(value.span, quote_double(text));
            }
        }
    }
}
