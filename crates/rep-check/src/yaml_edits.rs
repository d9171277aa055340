//! Edits of YAML that change nothing else: quotes, comments, indentation and line ends stay as they are.
//!
//! Each function returns `None` if the edit would not be certain, for example because a value has several lines.

use rep_model::yaml::{YamlEntry, YamlNode, YamlValue, quote_double, quote_if_needed};
use rep_model::{Skill, Span, names};

use crate::fix::FindingFix;

/// Returns a value in the form in which it replaces the one at a span: in the same quotes.
pub(crate) fn rewrite_scalar(source: &str, span: Span, value: &str) -> Option<String> {
    let written = source.get(span.range()).filter(|written| !written.contains(['\n', '\r']))?;
    let is_simple = !value.contains(char::is_control);
    match written.chars().next() {
        Some('\'') if written.len() > 1 && written.ends_with('\'') && is_simple => {
            Some(format!("'{}'", value.replace('\'', "''")))
        }
        Some('"') if written.len() > 1 && written.ends_with('"') => Some(quote_double(value)),
        None | Some('\'' | '"' | '|' | '>' | '!' | '&' | '*' | '[' | '{') => None,
        // Brackets around the value would end at a comma or a bracket.
        Some(_) if value.contains([',', '[', ']', '{', '}']) => Some(quote_double(value)),
        Some(_) => Some(quote_if_needed(value)),
    }
}

/// Returns a suggestion that replaces the value at a span of a file.
pub(crate) fn suggest_value(skill: &Skill, file: &str, span: Span, value: &str) -> Option<FindingFix> {
    let replacement = rewrite_scalar(skill.find_source(file)?.text(), span, value)?;
    Some(FindingFix::suggestion(format!("write `{value}`")).replace(file, span, replacement))
}

/// Returns a suggestion that replaces the value at a span with text as it is, such as `true`.
pub(crate) fn suggest_literal(skill: &Skill, file: &str, span: Span, literal: &str) -> Option<FindingFix> {
    let source = skill.find_source(file)?;
    let written = source.text().get(span.range()).filter(|written| !written.contains(['\n', '\r']))?;
    if written.is_empty() || written.starts_with(['|', '>', '!', '&', '*', '[', '{']) {
        return None;
    }
    Some(FindingFix::suggestion(format!("write `{literal}`")).replace(file, span, literal))
}

/// Returns the span of a whole entry of a block mapping, with its line break. Entries on a line with something else, with
/// a comment, or alone in their mapping are not removed.
pub(crate) fn entry_lines(source: &str, mapping: &YamlNode, entry: &YamlEntry) -> Option<Span> {
    let YamlValue::Mapping { entries, is_flow: false } = &mapping.value else { return None };
    let start = source[..entry.key.span.start].rfind('\n').map_or(0, |at| at + 1);
    let end = source[entry.value.span.end.max(entry.key.span.end)..].find('\n')?;
    let end = entry.value.span.end.max(entry.key.span.end) + end + 1;
    let is_alone_on_line = source[start..entry.key.span.start].bytes().all(|byte| byte == b' ');
    let next = entries.iter().map(|other| other.key.span.start).filter(|at| *at > entry.key.span.start).min();
    let is_clear = next.is_none_or(|next| next >= end) && !source[start..end].contains('#');
    (entries.len() > 1 && is_alone_on_line && is_clear).then_some(Span::new(start, end))
}

/// Returns the edit that adds lines before the first entry of a block mapping: where, and what. Each line is indented as
/// the mapping is.
pub(crate) fn add_entry(source: &str, mapping: &YamlNode, lines: &[&str]) -> Option<(Span, String)> {
    let YamlValue::Mapping { entries, is_flow: false } = &mapping.value else { return None };
    add_before(source, entries.first()?.key.span.start, lines)
}

/// Returns the edit that adds an entry to a mapping in either style.
pub(crate) fn add_short_entry(source: &str, mapping: &YamlNode, entry: &str) -> Option<(Span, String)> {
    match &mapping.value {
        YamlValue::Mapping { entries, is_flow: true } => {
            let at = Span::empty_at(mapping.span.start + 1);
            let separator = if entries.is_empty() { "" } else { ", " };
            source[mapping.span.range()].starts_with('{').then(|| (at, format!("{entry}{separator}")))
        }
        _ => add_entry(source, mapping, &[entry]),
    }
}

/// Returns the edit that adds an item to a list in either style.
pub(crate) fn add_item(source: &str, list: &YamlNode, item: &str) -> Option<(Span, String)> {
    let YamlValue::Sequence { items, is_flow } = &list.value else { return None };
    if *is_flow {
        let at = Span::empty_at(list.span.start + 1);
        let separator = if items.is_empty() { "" } else { ", " };
        return source[list.span.range()].starts_with('[').then(|| (at, format!("{item}{separator}")));
    }
    let start = items.first()?.span.start;
    let line = source[..start].rfind('\n').map_or(0, |at| at + 1);
    let prefix = &source[line..start];
    let is_plain = prefix.trim_end().trim_start_matches(' ') == "-";
    is_plain.then(|| (Span::empty_at(start), format!("{item}{}{prefix}", line_end(source, start))))
}

/// Returns the span of an item that can be removed from its list: with its line in a block, with its comma in brackets.
pub(crate) fn item_to_remove(source: &str, list: &YamlNode, index: usize) -> Option<Span> {
    let YamlValue::Sequence { items, is_flow } = &list.value else { return None };
    let item = items.get(index).filter(|_| items.len() > 1)?;
    if *is_flow {
        let next = items.get(index + 1);
        let span = match next {
            Some(next) => Span::new(item.span.start, next.span.start),
            None => Span::new(items[index - 1].span.end, item.span.end),
        };
        return (!source[span.range()].contains(['#', '\n'])).then_some(span);
    }
    let start = source[..item.span.start].rfind('\n').map_or(0, |at| at + 1);
    let end = item.span.end + source[item.span.end..].find('\n')? + 1;
    let is_alone = source[start..item.span.start].trim() == "-" && source[item.span.end..end].trim().is_empty();
    is_alone.then_some(Span::new(start, end))
}

/// Returns the edit that adds lines before the start of a key.
fn add_before(source: &str, start: usize, lines: &[&str]) -> Option<(Span, String)> {
    let line = source[..start].rfind('\n').map_or(0, |at| at + 1);
    let prefix = &source[line..start];
    // In a list, the first key follows a hyphen.
    if !prefix.bytes().all(|byte| byte == b' ' || byte == b'-') {
        return None;
    }
    let separator = format!("{}{}", line_end(source, start), " ".repeat(prefix.len()));
    Some((Span::empty_at(start), lines.iter().map(|line| format!("{line}{separator}")).collect()))
}

/// Returns the line break that a file uses at a place.
pub(crate) fn line_end(source: &str, at: usize) -> &'static str {
    let end = source[at..].find('\n').map(|end| at + end).or_else(|| source[..at].rfind('\n'));
    match end {
        Some(end) if source[..end].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Returns a text in lower case, with one hyphen for each run of ASCII characters that are neither letters nor digits.
pub(crate) fn kebab_case(text: &str) -> String {
    let lower = text.to_lowercase();
    let is_gap = |letter: char| letter.is_ascii() && !letter.is_ascii_alphanumeric();
    lower.split(is_gap).filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

/// Returns a suggestion that writes an id in lower case with hyphens, if that makes it valid.
pub(crate) fn suggest_id(skill: &Skill, file: &str, span: Span, id: &str) -> Option<FindingFix> {
    let better = kebab_case(id);
    names::is_lowercase_id(&better).then(|| suggest_value(skill, file, span, &better))?
}

/// Returns the only file of a skill that a path that does not exist could mean: the same name in another directory or in
/// another case.
pub(crate) fn find_intended_file(skill: &Skill, path: &str) -> Option<String> {
    let name = path.rsplit('/').next().filter(|name| name.contains('.'))?;
    let is_file = |entry: &rep_model::TreeEntry| matches!(entry, rep_model::TreeEntry::File { .. });
    let has_name = |file: &str| file.rsplit('/').next().is_some_and(|other| other.eq_ignore_ascii_case(name));
    let mut found = skill.tree.entries.iter().filter(|(file, entry)| is_file(entry) && has_name(file));
    match (found.next(), found.next()) {
        (Some((file, _)), None) => Some(file.clone()),
        _ => None,
    }
}

/// Returns a suggestion that corrects all of these paths in the main file. Each span contains its path once.
pub(crate) fn suggest_paths(skill: &Skill, places: &[(Span, String)]) -> Option<FindingFix> {
    let manifest = skill.manifest.as_ref()?;
    let mut fix = FindingFix::suggestion("correct the path");
    for (span, path) in places {
        let (written, better) = (manifest.source.slice(*span), find_intended_file(skill, path)?);
        let mut found = written.match_indices(path.as_str()).map(|(at, _)| at);
        let (Some(at), None) = (found.next(), found.next()) else { return None };
        let start = span.start + at;
        fix = fix.replace(manifest.file, Span::new(start, start + path.len()), better);
    }
    Some(fix)
}

/// Returns a suggestion that corrects a path in a value.
pub(crate) fn suggest_path(skill: &Skill, file: &str, span: Span, path: &str) -> Option<FindingFix> {
    suggest_value(skill, file, span, &find_intended_file(skill, path)?)
}

/// Returns a suggestion that removes the entry whose value or key is at a span.
pub(crate) fn suggest_entry_removal(skill: &Skill, file: &str, span: Span) -> Option<FindingFix> {
    let front = skill.manifest.as_ref().filter(|manifest| manifest.file == file).and(skill.frontmatter());
    let of_uasp = || skill.uasp.iter().find(|uasp| uasp.file == file).and_then(|uasp| uasp.root.as_ref());
    let root = front.map(|front| &front.root).or_else(of_uasp)?;
    let (mapping, entry) = find_entry_at(root, span)?;
    let lines = entry_lines(skill.find_source(file)?.text(), mapping, entry)?;
    let key = entry.key.text().unwrap_or("it");
    Some(FindingFix::suggestion(format!("remove `{key}`")).replace(file, lines, ""))
}

/// Finds the entry whose value or key is at a span, and its mapping.
fn find_entry_at(node: &YamlNode, span: Span) -> Option<(&YamlNode, &YamlEntry)> {
    match &node.value {
        YamlValue::Scalar { .. } => None,
        YamlValue::Sequence { items, .. } => items.iter().find_map(|item| find_entry_at(item, span)),
        YamlValue::Mapping { entries, .. } => {
            let own = entries.iter().find(|entry| entry.value.span == span || entry.key.span == span);
            own.map(|entry| (node, entry))
                .or_else(|| entries.iter().find_map(|entry| find_entry_at(&entry.value, span)))
        }
    }
}
