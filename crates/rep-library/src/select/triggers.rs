//! The triggers a skill declares, in either dialect, as one list.

use std::collections::BTreeMap;

use rep_model::yaml::{Node, core};
use rep_model::{Skill, UaspFile};

use super::{MatchKind, files, glob, words};

/// The longest trigger that is compared. Nobody says a longer one, and what a hostile skill can cost is bounded.
const TRIGGER_BYTES_MAX: usize = 1024;

/// One trigger of one entry.
pub(super) struct Trigger {
    /// The entry's place in the catalogue.
    pub(super) entry: usize,
    /// What kind it is.
    pub(super) kind: MatchKind,
    /// As its author wrote it.
    pub(super) text: String,
    /// As it is compared.
    pub(super) key: String,
}

/// The fields of `when_to_use` in SKILL.md. Where that is text it is for the model to read and nothing is scored.
const WHEN_TO_USE: [(&str, MatchKind); 3] =
    [("mentions", MatchKind::Mention), ("file_types", MatchKind::FileType), ("intents", MatchKind::Intent)];

/// The triggers of a skill, each once, in an order that does not depend on the file's; and how many were left out.
pub(super) fn of(entry: usize, skill: &Skill) -> (Vec<Trigger>, usize) {
    let mut too_long = 0;
    let mut found: BTreeMap<(MatchKind, String), String> = BTreeMap::new();
    let mut take = |kind: MatchKind, text: &str| {
        let text = text.trim();
        if text.len() > TRIGGER_BYTES_MAX {
            too_long += 1;
            return;
        }
        let Some(key) = key(kind, text) else { return };
        // Of two spellings of one trigger the lesser is told, so that their order does not matter.
        let spelling = found.entry((kind, key)).or_insert_with(|| text.to_owned());
        if text < spelling.as_str() {
            text.clone_into(spelling);
        }
    };
    let when_to_use = skill.front().and_then(|front| front.get("when_to_use"));
    for (field, kind) in WHEN_TO_USE {
        let items = when_to_use.and_then(|section| section.get(field)).and_then(Node::items).unwrap_or(&[]);
        let texts = items.iter().filter(|item| !item.is_null()).filter_map(Node::text);
        texts.for_each(|text| take(kind, text));
    }
    for view in skill.uasp.iter().filter_map(UaspFile::view) {
        view.keywords().iter().for_each(|text| take(MatchKind::Keyword, text.value));
        view.file_patterns().iter().for_each(|text| take(MatchKind::FilePattern, text.value));
        view.intents().iter().for_each(|text| take(MatchKind::Intent, text.value));
    }
    let trigger = |((kind, key), text)| Trigger { entry, kind, text, key };
    (found.into_iter().map(trigger).collect(), too_long)
}

/// A trigger as it is compared; `None` where nothing of it is left.
fn key(kind: MatchKind, text: &str) -> Option<String> {
    let key = match kind {
        MatchKind::Mention | MatchKind::Keyword => words::fold(text),
        MatchKind::FileType => files::file_type(text),
        MatchKind::FilePattern => glob::normal(text),
        MatchKind::Intent | MatchKind::Explicit => text.to_owned(),
    };
    (!key.is_empty()).then_some(key)
}

/// `when_to_use.priority`, which decides between equal scores; 0 where there is none.
pub(super) fn priority(skill: &Skill) -> i64 {
    let node = skill.front().and_then(|front| front.get("when_to_use")?.get("priority"));
    match node.and_then(core::scalar) {
        // What does not fit is beyond any other priority anyway.
        Some(core::Scalar::Int(number)) => number.clamp(i64::MIN.into(), i64::MAX.into()).try_into().unwrap_or(0),
        _ => 0,
    }
}
