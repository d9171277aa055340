//! Fixes of faults that the parser reports. They guess what the author meant, so the author must agree to them.

use rep_model::{FaultKind, Skill, Span};

use crate::fix::FindingFix;
use crate::tools::{TOOLS_JSON, ToolSource, effective_tools, render_tools_json};
use crate::yaml_edits::line_end;

/// Returns a fix for a fault that has no safe edit.
pub(crate) fn suggest_fix(skill: &Skill, kind: FaultKind, file: &str, span: Span) -> Option<FindingFix> {
    let source = skill.find_source(file)?.text();
    match kind {
        FaultKind::FrontmatterMissing => remove_leading_blanks(source, file),
        FaultKind::FrontmatterUnclosed => close_frontmatter(source, file),
        FaultKind::NulByte => remove_nul_bytes(source, file),
        FaultKind::YamlTab => {
            let is_tab = source.get(span.start..)?.starts_with('\t');
            let tab = Span::new(span.start, span.start + 1);
            is_tab.then(|| FindingFix::suggestion("replace the tab with a space").replace(file, tab, " "))
        }
        FaultKind::YamlTag => remove_tag(source, file, span),
        FaultKind::ToolsJsonInvalid => {
            let tools = effective_tools(skill);
            let whole = Span::new(0, source.len());
            (tools.source == ToolSource::Frontmatter && file == TOOLS_JSON).then(|| {
                FindingFix::suggestion("regenerate it from the frontmatter").replace(
                    file,
                    whole,
                    render_tools_json(&tools.tools),
                )
            })
        }
        _ => None,
    }
}

/// Removes blank lines before the opening `---`.
fn remove_leading_blanks(source: &str, file: &str) -> Option<FindingFix> {
    let start = source.len() - source.trim_start().len();
    let is_fence = source[start..].lines().next()?.trim_end() == "---";
    let is_closed = source[start..].lines().skip(1).any(|line| line.trim_end() == "---");
    (start > 0 && is_fence && is_closed)
        .then(|| FindingFix::suggestion("remove the blank lines before `---`").replace(file, Span::new(0, start), ""))
}

/// Closes the frontmatter after the last line that looks like a field, if a blank line follows it.
fn close_frontmatter(source: &str, file: &str) -> Option<FindingFix> {
    let mut end = source.find('\n')? + 1;
    let mut fields = 0;
    for line in source[end..].split_inclusive('\n') {
        let text = line.trim_end();
        let is_nested = fields > 0 && text.starts_with([' ', '-']);
        let key = text.split_once(':').map_or("", |(key, _)| key);
        let is_field = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        if text.is_empty() && fields > 0 {
            let separator = line_end(source, end);
            let title = "put `---` after the last field";
            return Some(FindingFix::suggestion(title).replace(file, Span::empty_at(end), format!("---{separator}")));
        }
        if !is_field && !is_nested {
            return None;
        }
        fields += usize::from(is_field);
        end += line.len();
    }
    None
}

/// The maximum number of NUL bytes that one fix removes. A file with more is not text.
const NUL_BYTES_MAX: usize = 100;

fn remove_nul_bytes(source: &str, file: &str) -> Option<FindingFix> {
    let places: Vec<usize> = source.match_indices('\0').map(|(at, _)| at).take(NUL_BYTES_MAX + 1).collect();
    let fix = FindingFix::suggestion("remove the NUL bytes");
    let add = |fix: FindingFix, at: &usize| fix.replace(file, Span::new(*at, at + 1), "");
    (places.len() <= NUL_BYTES_MAX).then(|| places.iter().fold(fix, add))
}

/// Removes a tag and the space after it. A value that the tag makes text is put in quotes.
fn remove_tag(source: &str, file: &str, span: Span) -> Option<FindingFix> {
    let rest = source.get(span.start..)?;
    let line = rest.split(['\n', '\r']).next()?;
    let (tag, value) = line.split_once(' ')?;
    let value = value.trim_end();
    let is_plain =
        value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._ -".contains(&byte)) && !value.is_empty();
    let whole = Span::new(span.start, span.start + tag.len() + 1 + value.len());
    let replacement = match tag {
        "!!str" if is_plain => format!("\"{value}\""),
        "!!str" if value.starts_with(['"', '\'']) => value.to_owned(),
        "!!int" | "!!float" | "!!bool" if is_plain => value.to_owned(),
        _ => return None,
    };
    Some(FindingFix::suggestion("remove the tag").replace(file, whole, replacement))
}
