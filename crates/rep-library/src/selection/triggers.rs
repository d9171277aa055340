//! Collects the triggers that a skill declares, in either dialect, into one list.

use std::collections::BTreeMap;

use rep_model::yaml::{YamlNode, core};
use rep_model::{Skill, UaspFile};

use super::{MatchKind, files, glob, words};

/// The maximum length of a trigger. It bounds the cost that a hostile skill can cause.
const TRIGGER_BYTES_MAX: usize = 1024;

/// A trigger of an entry.
pub(super) struct SkillTrigger {
    /// The index of the catalog entry.
    pub(super) entry: usize,
    /// The kind.
    pub(super) kind: MatchKind,
    /// The text as written.
    pub(super) text: String,
    /// The normalized text.
    pub(super) key: String,
}

/// The fields of `when_to_use` in SKILL.md. A textual `when_to_use` is for the model and is not scored.
const WHEN_TO_USE: [(&str, MatchKind); 3] =
    [("mentions", MatchKind::Mention), ("file_types", MatchKind::FileType), ("intents", MatchKind::Intent)];

/// Returns the distinct triggers of a skill, in an order independent of the file, and the number of skipped ones.
pub(super) fn collect_triggers(entry: usize, skill: &Skill) -> (Vec<SkillTrigger>, usize) {
    let mut too_long = 0;
    let mut found: BTreeMap<(MatchKind, String), String> = BTreeMap::new();
    let mut take = |kind: MatchKind, text: &str| {
        let text = text.trim();
        if text.len() > TRIGGER_BYTES_MAX {
            too_long += 1;
            return;
        }
        let Some(key) = normalize_trigger(kind, text) else { return };
        // Of two spellings of a trigger, the lesser is shown, so that their order does not matter.
        let spelling = found.entry((kind, key)).or_insert_with(|| text.to_owned());
        if text < spelling.as_str() {
            text.clone_into(spelling);
        }
    };
    let when_to_use = skill.frontmatter().and_then(|front| front.get("when_to_use"));
    for (field, kind) in WHEN_TO_USE {
        let items = when_to_use.and_then(|section| section.get(field)).and_then(YamlNode::items).unwrap_or(&[]);
        let texts = items.iter().filter(|item| !item.is_null()).filter_map(YamlNode::text);
        texts.for_each(|text| take(kind, text));
    }
    for view in skill.uasp.iter().filter_map(UaspFile::view) {
        view.keywords().iter().for_each(|text| take(MatchKind::Keyword, text.value));
        view.file_patterns().iter().for_each(|text| take(MatchKind::FilePattern, text.value));
        view.intents().iter().for_each(|text| take(MatchKind::Intent, text.value));
    }
    let trigger = |((kind, key), text)| SkillTrigger { entry, kind, text, key };
    (found.into_iter().map(trigger).collect(), too_long)
}

/// Normalizes a trigger. Returns `None` if nothing is left.
fn normalize_trigger(kind: MatchKind, text: &str) -> Option<String> {
    let key = match kind {
        MatchKind::Mention | MatchKind::Keyword => words::fold_case(text),
        MatchKind::FileType => files::normalize_file_type(text),
        MatchKind::FilePattern => glob::normalize_pattern(text),
        MatchKind::Intent | MatchKind::Explicit => text.to_owned(),
    };
    (!key.is_empty()).then_some(key)
}

/// Reads `when_to_use.priority`, which breaks ties between scores. The default is 0.
pub(super) fn read_priority(skill: &Skill) -> i64 {
    let node = skill.frontmatter().and_then(|front| front.get("when_to_use")?.get("priority"));
    match node.and_then(core::classify_scalar) {
        // A number out of range is clamped, because it is beyond any other priority anyway.
        Some(core::CoreScalar::Int(number)) => number.clamp(i64::MIN.into(), i64::MAX.into()).try_into().unwrap_or(0),
        _ => 0,
    }
}
