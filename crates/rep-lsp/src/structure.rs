//! Folding ranges and selection ranges.

use rep_model::Span;
use rep_model::yaml::{YamlNode, YamlValue};
use serde_json::{Value, json};

use crate::position::LspPosition;
use crate::session::Session;
use crate::symbols::section_end;
use crate::view::DocumentView;

/// The maximum number of folding ranges.
const FOLDS_MAX: usize = 5000;

impl Session {
    /// Answers `textDocument/foldingRange`: the frontmatter, sections, fences and nested values.
    pub(crate) fn list_folds(&mut self, params: &Value) -> Option<Value> {
        let view = self.view(params)?;
        let mut folds: Vec<(usize, usize, &str)> = Vec::new();
        let mut add = |span: Span, kind: &'static str| {
            let end = span.start + view.slice(span).trim_end().len();
            let (first, last) = (view.line_of(span.start), view.line_of(end));
            if first < last {
                folds.push((first, last, kind));
            }
        };
        if let Some(parts) = view.manifest().and_then(|manifest| manifest.parts) {
            add(Span::new(parts.mark_bytes, parts.body.start), "region");
        }
        if let Some(root) = view.data() {
            list_entry_spans(root, &mut |span| add(span, ""));
        }
        let outline = view.outline();
        let end = view.body_span().map_or(0, |body| body.end);
        for (number, heading) in outline.headings.iter().enumerate() {
            add(Span::new(heading.span.start, section_end(&outline.headings, number, end)), "");
        }
        outline.fences.iter().for_each(|fence| add(fence.span, ""));
        folds.sort_unstable();
        folds.dedup();
        let render = |(first, last, kind): (usize, usize, &str)| match kind {
            "" => json!({ "startLine": first, "endLine": last }),
            kind => json!({ "startLine": first, "endLine": last, "kind": kind }),
        };
        Some(folds.into_iter().take(FOLDS_MAX).map(render).collect())
    }

    /// Answers `textDocument/selectionRange`: from the word to the whole document.
    pub(crate) fn list_selections(&mut self, params: &Value) -> Option<Value> {
        let view = self.view(params)?;
        let positions = params.get("positions").and_then(Value::as_array)?;
        let select = |position: &Value| {
            let offset = LspPosition::from_json(position).map_or(0, |position| view.offset(position));
            let mut selection = Value::Null;
            for span in list_enclosing(&view, offset) {
                let mut inner = json!({ "range": view.range(span) });
                if !selection.is_null() {
                    inner["parent"] = selection;
                }
                selection = inner;
            }
            selection
        };
        Some(positions.iter().map(select).collect())
    }
}

/// Calls `take` with the span of each entry of nested mappings and each item of lists.
fn list_entry_spans(node: &YamlNode, take: &mut impl FnMut(Span)) {
    match &node.value {
        YamlValue::Mapping { entries, .. } => {
            for entry in entries {
                take(Span::new(entry.key.span.start, entry.value.span.end.max(entry.key.span.end)));
                list_entry_spans(&entry.value, take);
            }
        }
        YamlValue::Sequence { items, .. } => {
            for item in items {
                take(item.span);
                list_entry_spans(item, take);
            }
        }
        YamlValue::Scalar { .. } => {}
    }
}

/// Lists the spans around an offset, from the whole document to the word. Each contains the next.
fn list_enclosing(view: &DocumentView, offset: usize) -> Vec<Span> {
    let mut spans = vec![Span::new(0, view.text.len())];
    if let Some(parts) = view.manifest().and_then(|manifest| manifest.parts) {
        spans.push(Span::new(parts.mark_bytes, parts.body.start));
        spans.push(parts.front);
        spans.push(parts.body);
    }
    if let Some(root) = view.data() {
        list_node_spans(root, offset, &mut spans);
    }
    let outline = view.outline();
    let end = view.body_span().map_or(0, |body| body.end);
    for (number, heading) in outline.headings.iter().enumerate() {
        spans.push(Span::new(heading.span.start, section_end(&outline.headings, number, end)));
        spans.push(heading.span);
    }
    spans.extend(outline.fences.iter().map(|fence| fence.span));
    spans.extend(outline.links.iter().map(|link| link.span));
    spans.extend(outline.codes.iter().map(|code| code.span));
    let (start, end) = view.lines.line_range(&view.text, view.line_of(offset));
    spans.push(Span::new(start, end));
    spans.push(find_word(&view.text, offset));
    spans.retain(|span| span.start <= offset && offset <= span.end && view.text.get(span.range()).is_some());
    spans.sort_by_key(|span| (std::cmp::Reverse(span.end - span.start), span.start));
    // Constructs that overlap without nesting, such as a line and a value of several lines, cannot both be selected.
    let mut nested: Vec<Span> = Vec::new();
    for span in spans {
        let is_inside = nested.last().is_none_or(|outer| outer.start <= span.start && span.end <= outer.end);
        if is_inside && nested.last() != Some(&span) {
            nested.push(span);
        }
    }
    nested
}

fn list_node_spans(node: &YamlNode, offset: usize, spans: &mut Vec<Span>) {
    let contains = |span: Span| span.start <= offset && offset <= span.end;
    spans.push(node.span);
    for entry in node.entries().unwrap_or_default() {
        let whole = Span::new(entry.key.span.start, entry.value.span.end.max(entry.key.span.end));
        if contains(whole) {
            spans.push(whole);
            spans.push(entry.key.span);
            list_node_spans(&entry.value, offset, spans);
        }
    }
    for item in node.items().unwrap_or_default().iter().filter(|item| contains(item.span)) {
        list_node_spans(item, offset, spans);
    }
}

/// Returns the word around an offset. It is empty between two other characters.
fn find_word(text: &str, offset: usize) -> Span {
    let is_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_');
    let start = text[..offset].char_indices().rev().take_while(|(_, letter)| is_word(*letter)).last();
    let end = text[offset..].find(|letter| !is_word(letter)).map_or(text.len(), |at| offset + at);
    Span::new(start.map_or(offset, |(at, _)| at), end)
}
