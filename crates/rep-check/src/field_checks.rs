//! Checks that several rules apply to different fields of the frontmatter.

use rep_model::frontmatter::{ScalarText, read_text};
use rep_model::suggestion::is_misspelling;
use rep_model::yaml::{YamlEntry, YamlNode, YamlScalarStyle, quote_double, quote_if_needed};
use rep_model::{Skill, Span, names};

use crate::draft::Findings;
use crate::fix::FindingFix;
use crate::profile::{ALL, MARKDOWN};
use crate::skill_name::suggest_folder_name;
use crate::yaml_edits::{add_entry, add_item, add_short_entry, entry_lines, item_to_remove};
use crate::{Profile, ProfileSet};

/// Reports a required field that is absent, or that has no value.
pub(crate) fn report_missing(skill: &Skill, field: &str, help: &str, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    match front.find_field(field) {
        None => {
            let start = Span::empty_at(front.root.span.start);
            let draft = findings.add(manifest.file, start, format!("field `{field}` is missing"));
            draft.help(help);
            if field == "name" {
                draft.with_optional_fix(suggest_added_name(skill));
            }
        }
        Some(entry) if entry.value.is_null() => {
            findings
                .add(manifest.file, entry.key.span, format!("field `{field}` has no value"))
                .with_data_path(field)
                .help(help)
                .with_optional_fix(suggest_name_for(field, skill));
        }
        Some(_) => {}
    }
}

/// Reports a field whose text is blank.
pub(crate) fn report_empty(skill: &Skill, field: &str, help: &str, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    let Some(text) = front.get_text(field) else { return };
    if names::strip_whitespace(text.value).is_empty() {
        findings
            .add(manifest.file, text.span(), format!("field `{field}` is empty"))
            .with_data_path(field)
            .help(help)
            .with_optional_fix(suggest_name_for(field, skill));
    }
}

/// Returns the fix of an empty field: the name of the directory, or removal of a field that is not required.
fn suggest_name_for(field: &str, skill: &Skill) -> Option<FindingFix> {
    match field {
        "name" => suggest_folder_name(skill),
        "compatibility" => suggest_removal(skill, field),
        _ => None,
    }
}

/// Returns a fix that adds the name of the directory.
fn suggest_added_name(skill: &Skill) -> Option<FindingFix> {
    let (manifest, front, folder) = (skill.manifest.as_ref()?, skill.frontmatter()?, &skill.tree.folder);
    // `field-unknown` renames a field such as `Name`.
    let is_similar = |entry: &YamlEntry| entry.key.text().is_some_and(|key| is_misspelling(key, "name"));
    if front.fields().iter().any(is_similar) {
        return None;
    }
    let line = format!("name: {folder}");
    let is_name = names::is_lowercase_id(folder) && folder.split('-').all(|word| !word.is_empty());
    let (at, text) = add_entry(manifest.source.text(), &front.root, &[&line]).filter(|_| is_name)?;
    Some(FindingFix::suggestion(format!("add `{line}`")).replace(manifest.file, at, text))
}

/// Returns a fix that removes a field of the frontmatter.
pub(crate) fn suggest_removal(skill: &Skill, field: &str) -> Option<FindingFix> {
    let (manifest, front) = (skill.manifest.as_ref()?, skill.frontmatter()?);
    let lines = entry_lines(manifest.source.text(), &front.root, front.find_field(field)?)?;
    Some(FindingFix::suggestion(format!("remove `{field}`")).replace(manifest.file, lines, ""))
}

/// Returns a fix that adds an entry to a mapping of the frontmatter.
pub(crate) fn suggest_entry(skill: &Skill, mapping: &YamlNode, entry: &str) -> Option<FindingFix> {
    let manifest = skill.manifest.as_ref()?;
    let (at, text) = add_short_entry(manifest.source.text(), mapping, entry)?;
    Some(FindingFix::suggestion(format!("add `{entry}`")).replace(manifest.file, at, text))
}

/// Returns a fix that adds an item to a list of the frontmatter.
pub(crate) fn suggest_item(skill: &Skill, list: &YamlNode, item: &str) -> Option<FindingFix> {
    let manifest = skill.manifest.as_ref()?;
    let (at, text) = add_item(manifest.source.text(), list, item)?;
    Some(FindingFix::suggestion(format!("add `{item}`")).replace(manifest.file, at, text))
}

/// Returns a fix that removes the item at a span from a list of the frontmatter.
pub(crate) fn suggest_item_removal(skill: &Skill, list: Option<&YamlNode>, span: Span) -> Option<FindingFix> {
    let (manifest, list) = (skill.manifest.as_ref()?, list?);
    let index = list.items()?.iter().position(|item| item.span == span)?;
    let removed = item_to_remove(manifest.source.text(), list, index)?;
    Some(FindingFix::suggestion("remove it").replace(manifest.file, removed, ""))
}

/// Returns a fix for a list of texts where one text is expected: the texts, separated by commas. A name or a description
/// in brackets is a placeholder.
fn suggest_joined_text(skill: &Skill, field: &str, node: &YamlNode) -> Option<FindingFix> {
    let manifest = skill.manifest.as_ref()?;
    let items = node.items().filter(|items| !items.is_empty())?;
    let texts: Option<Vec<&str>> = items.iter().map(|item| read_text(item).map(|text| text.value)).collect();
    let joined = texts?.join(", ");
    let written = manifest.source.slice(node.span);
    let is_line = !matches!(field, "name" | "description")
        && written.starts_with('[')
        && !written.contains(['\n', '#'])
        && !joined.contains(char::is_control);
    is_line.then(|| {
        let text = if joined.contains(',') { quote_double(&joined) } else { quote_if_needed(&joined) };
        FindingFix::suggestion("write the list as text").replace(manifest.file, node.span, text)
    })
}

/// Reports a field that is a list or a mapping. The reference tool reads any scalar as text;
/// `field-type` covers the dialects that type scalars.
pub(crate) fn report_not_text(skill: &Skill, field: &str, help: &str, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    let Some(node) = front.get(field) else { return };
    if node.text().is_none() {
        findings
            .add(manifest.file, node.span, format!("field `{field}` is {}, not text", node.describe_kind()))
            .with_data_path(field)
            .help(help)
            .with_optional_fix(suggest_joined_text(skill, field, node));
    }
}

/// The profiles that count the characters of the YAML value as it is. x-personal-mcp strips it first.
const COUNTS_RAW_TEXT: ProfileSet = MARKDOWN.without(Profile::Pmcp.as_set());

/// Reports a text of more than `max` code points.
pub(crate) fn report_too_long(skill: &Skill, field: &str, max: usize, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    let Some(text) = front.get_text(field) else { return };
    let (raw, stripped) = (names::count_chars(text.value), names::count_chars(names::strip_whitespace(text.value)));
    // Another rule reports blank text.
    if raw <= max || stripped == 0 {
        return;
    }
    let shorten = "shorten it; details belong in the body".to_owned();
    let block = find_clipped_block(text, manifest.source.slice(text.span()));
    let faults: Vec<(usize, String, ProfileSet)> = match block {
        _ if raw == stripped => vec![(raw, shorten, ALL)],
        _ if stripped > max => {
            vec![(raw, shorten.clone(), COUNTS_RAW_TEXT), (stripped, shorten, Profile::Pmcp.as_set())]
        }
        Some(indicator) => {
            let help = format!("start the block with `{indicator}-`; the trailing line break counts");
            vec![(raw, help, COUNTS_RAW_TEXT)]
        }
        None => vec![(raw, "remove the surrounding whitespace, which counts".to_owned(), COUNTS_RAW_TEXT)],
    };
    for (count, help, only) in faults {
        let message = format!("`{field}` has {count} characters; at most {max} are allowed");
        let draft =
            findings.add(manifest.file, text.span(), message).with_data_path(field).help(help).only_for_profiles(only);
        if block.is_some() && stripped <= max && raw == max + 1 {
            draft.with_replacement(Span::empty_at(text.span().start + 1), "-");
        }
    }
}

/// Returns the `|` or `>` of a block scalar that keeps one trailing line break.
fn find_clipped_block(text: ScalarText<'_>, source: &str) -> Option<char> {
    let is_block = matches!(text.node.style(), Some(YamlScalarStyle::Literal | YamlScalarStyle::Folded));
    let mut header = source.lines().next()?.chars();
    let indicator = header.next().filter(|first| is_block && matches!(first, '|' | '>'))?;
    let settings: String = header.take_while(|letter| !letter.is_whitespace()).collect();
    (text.value.ends_with('\n') && !settings.contains(['+', '-'])).then_some(indicator)
}
