//! The files of a skill that are text.

use std::borrow::Cow;

use rep_model::{Skill, SymlinkTarget, TreeEntry, uasp};

/// Returns the text files of a skill, with invalid UTF-8 replaced. A file with a NUL byte is binary, except for
/// the files that every host reads as text.
pub(crate) fn list_text_files(skill: &Skill) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
    skill.tree.entries.iter().filter_map(|(path, entry)| {
        // The target of a link is returned under its own path, if it was read there.
        if let TreeEntry::Link { destination: SymlinkTarget::Inside(real), .. } = entry
            && skill.tree.file_bytes(real).is_some()
        {
            return None;
        }
        let bytes = skill.tree.file_bytes(path)?;
        let is_main =
            matches!(path.as_str(), "SKILL.md" | "skill.md" | "tools.json") || path.ends_with(uasp::FILE_SUFFIX);
        if !is_main && bytes.contains(&0) {
            return None;
        }
        // Nearly every file is UTF-8, and validating is much cheaper than replacing.
        let text = std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
        Some((path.as_str(), text))
    })
}
