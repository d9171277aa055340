//! Checks that several rules apply to different fields of the frontmatter.

use rep_model::frontmatter::ScalarText;
use rep_model::yaml::YamlScalarStyle;
use rep_model::{Skill, Span, names};

use crate::draft::Findings;
use crate::profile::{ALL, MARKDOWN};
use crate::{Profile, ProfileSet};

/// Reports a required field that is absent, or that has no value.
pub(crate) fn report_missing(skill: &Skill, field: &str, help: &str, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    match front.find_field(field) {
        None => {
            let start = Span::empty_at(front.root.span.start);
            findings.add(manifest.file, start, format!("field `{field}` is missing")).help(help);
        }
        Some(entry) if entry.value.is_null() => {
            findings
                .add(manifest.file, entry.key.span, format!("field `{field}` has no value"))
                .with_data_path(field)
                .help(help);
        }
        Some(_) => {}
    }
}

/// Reports a field whose text is blank.
pub(crate) fn report_empty(skill: &Skill, field: &str, help: &str, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    let Some(text) = front.get_text(field) else { return };
    if names::strip_whitespace(text.value).is_empty() {
        findings.add(manifest.file, text.span(), format!("field `{field}` is empty")).with_data_path(field).help(help);
    }
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
            .help(help);
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
