//! The `name` field of SKILL.md as the rules about names test it, and how their messages describe it.

use rep_model::{Skill, Span, names};

use crate::fix::FindingFix;
use crate::yaml_edits::rewrite_scalar;

/// A name that is not blank.
pub(crate) struct SkillName<'a> {
    pub(crate) file: &'static str,
    pub(crate) span: Span,
    /// As written, without surrounding whitespace.
    pub(crate) written: &'a str,
    /// In NFKC form, which is what the reference tool tests.
    pub(crate) text: String,
}

/// Returns the skill's name, unless it is missing, blank or not text.
pub(crate) fn find_name(skill: &Skill) -> Option<SkillName<'_>> {
    let manifest = skill.manifest.as_ref()?;
    let name = manifest.front.as_ref()?.name()?;
    let written = names::strip_whitespace(name.value);
    let text = names::normalise_nfkc(written);
    (!written.is_empty()).then_some(SkillName { file: manifest.file, span: name.span(), written, text })
}

/// Returns a fix that names the skill as its directory is named, if every host accepts that name. The directory itself
/// cannot be renamed here.
pub(crate) fn suggest_folder_name(skill: &Skill) -> Option<FindingFix> {
    let (manifest, folder) = (skill.manifest.as_ref()?, &skill.tree.folder);
    let name = manifest.front.as_ref()?.find_field("name")?;
    is_portable_name(folder).then_some(())?;
    let title = format!("name it `{folder}`, as the directory");
    if name.value.is_null() && name.value.text().is_none_or(str::is_empty) {
        let at = Span::empty_at(name.key.span.end + 1);
        let is_colon = manifest.source.slice(Span::new(name.key.span.end, at.start)) == ":";
        return is_colon.then(|| FindingFix::suggestion(title).replace(manifest.file, at, format!(" {folder}")));
    }
    let replacement = rewrite_scalar(manifest.source.text(), name.value.span, folder)?;
    Some(FindingFix::suggestion(title).replace(manifest.file, name.value.span, replacement))
}

/// Whether every host accepts a name.
fn is_portable_name(name: &str) -> bool {
    names::is_lowercase_id(name)
        && name.len() <= 64
        && name.split('-').all(|word| !word.is_empty())
        && names::find_reserved_word(name).is_none()
}

/// Whether some specification allows the character in names.
pub(crate) fn is_name_character(letter: char) -> bool {
    letter == '-' || names::is_letter_or_digit(letter)
}

/// Describes a character for a message, as a number if it might be invisible or reorder the line.
pub(crate) fn describe_character(letter: char) -> String {
    match letter {
        ' ' => "a space".to_owned(),
        letter if letter.is_ascii_graphic() || names::is_letter_or_digit(letter) => format!("`{letter}`"),
        letter => format!("U+{:04X}", u32::from(letter)),
    }
}

/// Returns help that suggests a better name if it is valid, or the given help otherwise.
pub(crate) fn suggest_name(better: &str, otherwise: &str) -> String {
    let is_proper = (1..=64).contains(&names::count_chars(better))
        && better.chars().all(is_name_character)
        && names::is_lowercase_text(better)
        && better.split('-').all(|word| !word.is_empty());
    if is_proper { format!("rename it and the directory to `{better}`") } else { otherwise.to_owned() }
}
