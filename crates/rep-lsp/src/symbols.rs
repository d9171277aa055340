//! The outline of a document, and the skills of the workspace by name.

use rep_model::Span;
use rep_model::markdown::MarkdownHeading;
use rep_model::truncate::truncate_chars;
use rep_model::yaml::{YamlEntry, YamlNode};
use serde_json::{Value, json};

use crate::diagnostics::range_from_excerpt;
use crate::session::Session;
use crate::view::{DocumentKind, DocumentView};

const KIND_MODULE: u8 = 2;
const KIND_NAMESPACE: u8 = 3;
const KIND_PROPERTY: u8 = 7;
const KIND_FUNCTION: u8 = 12;
const KIND_STRING: u8 = 15;
const KIND_STRUCT: u8 = 23;
const KIND_EVENT: u8 = 24;

/// The maximum number of symbols of a document or a workspace.
const SYMBOLS_MAX: usize = 1000;
/// The maximum length of the value that is shown beside a field.
const DETAIL_CHARS_MAX: usize = 60;

/// A symbol of a document.
struct DocumentSymbol {
    name: String,
    detail: String,
    kind: u8,
    /// The whole construct.
    span: Span,
    /// The name.
    selection: Span,
    children: Vec<DocumentSymbol>,
}

impl Session {
    /// Answers `textDocument/documentSymbol`.
    pub(crate) fn list_symbols(&mut self, params: &Value) -> Option<Value> {
        let view = self.view(params)?;
        let mut symbols = list_data_symbols(&view);
        symbols.extend(list_heading_symbols(&view));
        if self.features.nested_symbols {
            return Some(symbols.iter().map(|symbol| render_nested(symbol, &view)).collect());
        }
        let mut flat = Vec::new();
        for symbol in &symbols {
            render_flat(symbol, None, &view, &mut flat);
        }
        Some(Value::Array(flat))
    }

    /// Answers `workspace/symbol`: the skills whose names contain the letters of the query in order.
    pub(crate) fn find_skills(&self, params: &Value) -> Value {
        let query = params.get("query").and_then(Value::as_str).unwrap_or_default();
        let mut found = Vec::new();
        for (root, index) in &self.indexes {
            for skill in index.skills.values() {
                let Some(score) = score_name(&skill.name, query) else { continue };
                let container = skill.location.path.strip_prefix(root).unwrap_or(&skill.location.path);
                let symbol = json!({
                    "name": skill.name,
                    "kind": KIND_MODULE,
                    "containerName": container.to_string_lossy(),
                    "location": {
                        "uri": self.uri_of(&skill.main),
                        "range": range_from_excerpt(&skill.name_place, self.features.encoding),
                    },
                });
                found.push((score, skill.name.clone(), symbol));
            }
        }
        found.sort_by(|(one, name, _), (two, other, _)| one.cmp(two).then_with(|| name.cmp(other)));
        found.into_iter().take(SYMBOLS_MAX).map(|(_, _, symbol)| symbol).collect()
    }
}

/// Returns how well a name matches a query, lower is better, or `None` if it does not.
fn score_name(name: &str, query: &str) -> Option<usize> {
    let (name, query) = (name.to_lowercase(), query.to_lowercase());
    if let Some(at) = name.find(&query) {
        return Some(at);
    }
    let mut letters = name.char_indices();
    let mut gaps = 0;
    let mut last = None;
    for wanted in query.chars().filter(|letter| !letter.is_whitespace()) {
        let (at, _) = letters.find(|(_, letter)| *letter == wanted)?;
        gaps += usize::from(last.is_some_and(|last: usize| last + 1 != at));
        last = Some(at);
    }
    Some(100 + gaps * 10 + name.len())
}

/// Lists the fields of the frontmatter, or the sections of a UASP file with their entries, or the tools of `tools.json`.
fn list_data_symbols(view: &DocumentView) -> Vec<DocumentSymbol> {
    let Some(root) = view.data() else { return Vec::new() };
    match view.kind {
        DocumentKind::Uasp => entries(root).iter().map(section_symbol).collect(),
        DocumentKind::ToolsJson => named_items(root, KIND_FUNCTION),
        _ => entries(root).iter().map(field_symbol).collect(),
    }
}

fn entries(node: &YamlNode) -> &[YamlEntry] {
    let all = node.entries().unwrap_or_default();
    &all[..all.len().min(SYMBOLS_MAX)]
}

fn field_symbol(entry: &YamlEntry) -> DocumentSymbol {
    let key = entry.key.text().unwrap_or("?");
    let children = match key {
        "tools" => named_items(&entry.value, KIND_FUNCTION),
        _ => entries(&entry.value).iter().map(field_symbol).collect(),
    };
    DocumentSymbol { children, ..entry_symbol(entry, KIND_PROPERTY) }
}

fn section_symbol(entry: &YamlEntry) -> DocumentSymbol {
    let children = match entry.key.text().unwrap_or("?") {
        "commands" => entries(&entry.value).iter().map(|entry| entry_symbol(entry, KIND_FUNCTION)).collect(),
        "workflows" | "templates" => {
            entries(&entry.value).iter().map(|entry| entry_symbol(entry, KIND_EVENT)).collect()
        }
        "state" => entry.value.get("entities").map(|list| named_items(list, KIND_STRUCT)).unwrap_or_default(),
        "sources" | "environment" | "global_flags" => named_items(&entry.value, KIND_PROPERTY),
        _ => entries(&entry.value).iter().map(|entry| entry_symbol(entry, KIND_PROPERTY)).collect(),
    };
    DocumentSymbol { children, ..entry_symbol(entry, KIND_NAMESPACE) }
}

fn entry_symbol(entry: &YamlEntry, kind: u8) -> DocumentSymbol {
    let detail = entry.value.text().unwrap_or_default();
    DocumentSymbol {
        name: entry.key.text().filter(|key| !key.is_empty()).unwrap_or("?").to_owned(),
        detail: truncate_chars(detail.lines().next().unwrap_or_default(), DETAIL_CHARS_MAX).to_owned(),
        kind,
        span: Span::new(entry.key.span.start, entry.value.span.end.max(entry.key.span.end)),
        selection: entry.key.span,
        children: Vec::new(),
    }
}

/// Lists the items of a list by their `name` or `id`.
fn named_items(list: &YamlNode, kind: u8) -> Vec<DocumentSymbol> {
    let named = |item: &YamlNode| {
        let name = item.get("name").or_else(|| item.get("id")).unwrap_or(item);
        let text = name.text().filter(|text| !text.is_empty())?;
        let selection = name.span;
        let span = Span::new(item.span.start.min(selection.start), item.span.end.max(selection.end));
        let detail = item.get("description").and_then(YamlNode::text).unwrap_or_default();
        let detail = truncate_chars(detail.lines().next().unwrap_or_default(), DETAIL_CHARS_MAX).to_owned();
        Some(DocumentSymbol { name: text.to_owned(), detail, kind, span, selection, children: Vec::new() })
    };
    list.items().unwrap_or_default().iter().take(SYMBOLS_MAX).filter_map(named).collect()
}

/// Lists the headings. A heading contains the deeper headings that follow it.
fn list_heading_symbols(view: &DocumentView) -> Vec<DocumentSymbol> {
    let headings = &view.outline().headings;
    let end = view.body_span().map_or(0, |body| body.end);
    let mut open: Vec<(u8, DocumentSymbol)> = Vec::new();
    let mut done: Vec<DocumentSymbol> = Vec::new();
    for (number, heading) in headings.iter().take(SYMBOLS_MAX).enumerate() {
        while open.last().is_some_and(|(level, _)| *level >= heading.level) {
            close_heading(&mut open, &mut done);
        }
        let span = Span::new(heading.span.start, section_end(headings, number, end));
        let line = view.slice(heading.span).trim_end();
        let selection = Span::new(heading.span.start, heading.span.start + line.len());
        let name = if heading.text.trim().is_empty() { "(empty)".to_owned() } else { heading.text.trim().to_owned() };
        let detail = format!("h{}", heading.level);
        open.push((
            heading.level,
            DocumentSymbol { name, detail, kind: KIND_STRING, span, selection, children: Vec::new() },
        ));
    }
    while !open.is_empty() {
        close_heading(&mut open, &mut done);
    }
    done
}

fn close_heading(open: &mut Vec<(u8, DocumentSymbol)>, done: &mut Vec<DocumentSymbol>) {
    let Some((_, symbol)) = open.pop() else { return };
    match open.last_mut() {
        Some((_, parent)) => parent.children.push(symbol),
        None => done.push(symbol),
    }
}

/// Returns the end of a section: the next heading that is not deeper, or the end of the text.
pub(crate) fn section_end(headings: &[MarkdownHeading], number: usize, end: usize) -> usize {
    let level = headings[number].level;
    headings[number + 1..].iter().find(|next| next.level <= level).map_or(end, |next| next.span.start)
}

fn render_nested(symbol: &DocumentSymbol, view: &DocumentView) -> Value {
    let mut value = json!({
        "name": symbol.name,
        "kind": symbol.kind,
        "range": view.range(symbol.span),
        "selectionRange": view.range(symbol.selection),
    });
    if !symbol.detail.is_empty() {
        value["detail"] = json!(symbol.detail);
    }
    if !symbol.children.is_empty() {
        value["children"] = symbol.children.iter().map(|child| render_nested(child, view)).collect();
    }
    value
}

fn render_flat(symbol: &DocumentSymbol, container: Option<&str>, view: &DocumentView, flat: &mut Vec<Value>) {
    let location = json!({ "uri": view.uri, "range": view.range(symbol.span) });
    let mut value = json!({ "name": symbol.name, "kind": symbol.kind, "location": location });
    if let Some(container) = container {
        value["containerName"] = json!(container);
    }
    flat.push(value);
    symbol.children.iter().for_each(|child| render_flat(child, Some(&symbol.name), view, flat));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_by_their_letters_in_order() {
        assert!(score_name("pdf-tools", "").is_some());
        assert!(score_name("pdf-tools", "tools") < score_name("pdf-tools", "pt"));
        assert!(score_name("pdf-tools", "PDF").is_some() && score_name("pdf-tools", "p t").is_some());
        assert_eq!(score_name("pdf-tools", "tp"), None);
    }
}
