//! Semantic tokens: the words of a document that refer to something.

use rep_model::Span;
use serde_json::{Value, json};

use crate::position::{LspPosition, PositionEncoding};
use crate::references::{ReferenceTarget, UaspNameKind};
use crate::session::Session;
use crate::view::DocumentView;

/// The types of tokens. A token names its type by the index in this list.
const TOKEN_TYPES: [&str; 6] = ["namespace", "function", "variable", "property", "event", "macro"];
/// The modifiers of tokens.
const TOKEN_MODIFIERS: [&str; 1] = ["declaration"];

/// Describes the types to a client.
pub(crate) fn describe_legend() -> Value {
    json!({ "tokenTypes": TOKEN_TYPES, "tokenModifiers": TOKEN_MODIFIERS })
}

impl Session {
    /// Answers `textDocument/semanticTokens/full` and `textDocument/semanticTokens/range`.
    pub(crate) fn list_tokens(&mut self, params: &Value) -> Option<Value> {
        let view = self.view(params)?;
        let wanted = params.get("range").and_then(|range| view.span_of(range));
        let mut tokens: Vec<(Span, u32, bool)> = Vec::new();
        for one in self.references_of(&view) {
            let Some(kind) = token_type(&one.target) else { continue };
            let is_wanted = wanted.is_none_or(|wanted| one.span.start <= wanted.end && wanted.start <= one.span.end);
            let is_free = tokens.last().is_none_or(|(last, ..)| last.end <= one.span.start);
            if is_wanted && is_free {
                tokens.push((one.span, kind, one.is_definition));
            }
        }
        Some(json!({ "data": encode(&view, &tokens) }))
    }
}

fn token_type(target: &ReferenceTarget) -> Option<u32> {
    match target {
        ReferenceTarget::Skill(_) => Some(0),
        ReferenceTarget::Name(UaspNameKind::Command, _) => Some(1),
        ReferenceTarget::Name(UaspNameKind::Entity, _) => Some(2),
        ReferenceTarget::Name(UaspNameKind::Source, _) => Some(3),
        ReferenceTarget::Name(UaspNameKind::Workflow, _) => Some(4),
        ReferenceTarget::Name(UaspNameKind::Template, _) => Some(5),
        ReferenceTarget::File { .. } | ReferenceTarget::Trigger(_) => None,
    }
}

/// Writes tokens as numbers, each relative to the one before.
fn encode(view: &DocumentView, tokens: &[(Span, u32, bool)]) -> Vec<u32> {
    let mut data = Vec::with_capacity(tokens.len() * 5);
    let mut last = LspPosition { line: 0, character: 0 };
    for (span, kind, is_definition) in tokens {
        let text = view.slice(*span);
        // A token of several lines cannot be written.
        if text.is_empty() || text.contains(['\n', '\r']) {
            continue;
        }
        let start = view.lines.position_at(&view.text, span.start, view.encoding);
        let line = start.line - last.line;
        let character = if line == 0 { start.character - last.character } else { start.character };
        data.extend([line, character, measure(text, view.encoding), *kind, u32::from(*is_definition)]);
        last = start;
    }
    data
}

fn measure(text: &str, encoding: PositionEncoding) -> u32 {
    u32::try_from(encoding.text_length(text)).unwrap_or(u32::MAX)
}
