//! Checks that several rules apply to different fields of the frontmatter.

use rep_model::frontmatter::Text;
use rep_model::yaml::Style;
use rep_model::{Skill, Span, names};

use crate::engine::Findings;
use crate::profile::{ALL, MARKDOWN};
use crate::{Profile, ProfileSet};

/// Reports a required field that is absent, or that has no value.
pub(crate) fn report_missing(skill: &Skill, field: &str, help: &str, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    match front.field(field) {
        None => {
            let start = Span::at(front.root.span.start);
            findings.add(manifest.file, start, format!("field `{field}` is missing")).help(help);
        }
        Some(entry) if entry.value.is_null() => {
            findings.add(manifest.file, entry.key.span, format!("field `{field}` has no value")).path(field).help(help);
        }
        Some(_) => {}
    }
}

/// Reports a field whose text is blank.
pub(crate) fn report_empty(skill: &Skill, field: &str, help: &str, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    let Some(text) = front.text(field) else { return };
    if names::strip(text.value).is_empty() {
        findings.add(manifest.file, text.span(), format!("field `{field}` is empty")).path(field).help(help);
    }
}

/// Reports a field that holds a list or a mapping. Any scalar is text to the reference tool;
/// the dialects that type scalars have `field-type`.
pub(crate) fn report_not_text(skill: &Skill, field: &str, help: &str, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    let Some(node) = front.get(field) else { return };
    if node.text().is_none() {
        findings
            .add(manifest.file, node.span, format!("field `{field}` is {}, not text", node.kind()))
            .path(field)
            .help(help);
    }
}

/// The profiles that count the value as YAML gives it. x-personal-mcp strips it first.
const COUNTED_RAW: ProfileSet = MARKDOWN.without(Profile::Pmcp.as_set());

/// Reports a text of more than `max` code points.
pub(crate) fn report_too_long(skill: &Skill, field: &str, max: usize, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    let Some(text) = front.text(field) else { return };
    let (raw, stripped) = (names::length(text.value), names::length(names::strip(text.value)));
    // A blank text is another rule's fault.
    if raw <= max || stripped == 0 {
        return;
    }
    let shorten = "shorten it; detail belongs in the body".to_owned();
    let block = clipped_block(text, manifest.source.slice(text.span()));
    let faults: Vec<(usize, String, ProfileSet)> = match block {
        _ if raw == stripped => vec![(raw, shorten, ALL)],
        _ if stripped > max => vec![(raw, shorten.clone(), COUNTED_RAW), (stripped, shorten, Profile::Pmcp.as_set())],
        Some(indicator) => {
            let help = format!("start the block with `{indicator}-`, because the line break at its end counts");
            vec![(raw, help, COUNTED_RAW)]
        }
        None => vec![(raw, "drop the blanks around it; they count".to_owned(), COUNTED_RAW)],
    };
    for (count, help, only) in faults {
        let message = format!("{field} has {count} characters, and {max} are allowed");
        let draft = findings.add(manifest.file, text.span(), message).path(field).help(help).only(only);
        if block.is_some() && stripped <= max && raw == max + 1 {
            draft.replace(Span::at(text.span().start + 1), "-");
        }
    }
}

/// The `|` or `>` of a block scalar that keeps one line break at its end and could drop it.
fn clipped_block(text: Text<'_>, source: &str) -> Option<char> {
    let is_block = matches!(text.node.style(), Some(Style::Literal | Style::Folded));
    let mut header = source.lines().next()?.chars();
    let indicator = header.next().filter(|first| is_block && matches!(first, '|' | '>'))?;
    let settings: String = header.take_while(|letter| !letter.is_whitespace()).collect();
    (text.value.ends_with('\n') && !settings.contains(['+', '-'])).then_some(indicator)
}
