//! The files of a skill that are text.

use std::borrow::Cow;

use rep_model::{Entry, Leads, Skill, uasp};

/// The text files of a skill that were read, with invalid UTF-8 replaced. A file with a NUL byte is binary, except for
/// the files that every host reads as text.
pub(crate) fn text_files(skill: &Skill) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
    skill.tree.entries.iter().filter_map(|(path, entry)| {
        // The target of a link is returned under its own path, if it was read there.
        if let Entry::Link { leads: Leads::Inside(real), .. } = entry
            && skill.tree.bytes(real).is_some()
        {
            return None;
        }
        let bytes = skill.tree.bytes(path)?;
        let is_main = matches!(path.as_str(), "SKILL.md" | "skill.md" | "tools.json") || path.ends_with(uasp::SUFFIX);
        if !is_main && bytes.contains(&0) {
            return None;
        }
        // Nearly every file is UTF-8, and looking is much cheaper than replacing.
        let text = std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
        Some((path.as_str(), text))
    })
}
