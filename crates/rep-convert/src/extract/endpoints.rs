//! Extracts the endpoints of an API as commands that send HTTP requests.

use serde_json::{Value, json};

use super::blocks::{MarkdownBlock, MarkdownBlockKind, ProseText};
use super::commands::{CodeSnippet, is_identifier, parse_return_text};
use super::draft::DocumentDraft;
use super::names::to_slug;
use super::roles::BlockContext;
use super::rules;
use super::syntax::{infer_value_type, remove_empty_fields};

/// Extracts endpoints written as code: `GET https://…`, `POST /v1/users`.
pub(super) fn extract_endpoints(
    blocks: &[MarkdownBlock],
    places: &[BlockContext],
    snippets: &[CodeSnippet<'_>],
    draft: &mut DocumentDraft,
) {
    for (block, _) in blocks.iter().zip(places).filter(|(_, place)| !place.is_wrong()) {
        if matches!(block.language(), Some("" | "http" | "text" | "txt" | "rest" | "plaintext")) {
            let lines = (block.line + 1..).zip(block.prose.text.lines());
            lines.for_each(|(number, line)| add_endpoint(line, number, None, draft));
        }
    }
    for row in blocks.iter().filter(|block| block.kind == MarkdownBlockKind::Table).flat_map(|block| &block.rows) {
        let is_method =
            |cell: &&[ProseText]| cell[0].text.chars().all(|letter| letter.is_ascii_uppercase() || letter == '`');
        if let Some([method, path]) = row.windows(2).find(is_method) {
            let text = format!("{} {}", method.text, path.text).replace('`', "");
            add_endpoint(&text, method.line_at(0), row.first().map(|cell| cell.text.as_str()), draft);
        }
    }
    for (code, call) in snippets {
        add_endpoint(code, call.line, call.comment.as_deref(), draft);
    }
}

fn add_endpoint(text: &str, line: usize, about: Option<&str>, draft: &mut DocumentDraft) {
    let mut words = text.split_whitespace();
    let (Some(method @ ("GET" | "POST" | "PUT" | "PATCH" | "DELETE")), Some(path)) = (words.next(), words.next())
    else {
        return;
    };
    let address = path.split_once("://").map(|(_, address)| address.split_once('/').map_or(address, |(_, rest)| rest));
    let Some(place) = address.or_else(|| path.strip_prefix('/').filter(|place| !place.is_empty())) else { return };
    let key = format!("{}.{}", method.to_lowercase(), to_slug(place.split('?').next().unwrap_or_default()));
    let key = key.trim_end_matches('.');
    let is_sentence = words.next().is_some_and(|next| !next.starts_with(['H', '#', '-', '—', '?']));
    let parts = place.split(['/', '?', '&', '=']).take(40).filter_map(|part| part.strip_prefix(['{', '<', ':']));
    let mut names: Vec<&str> = parts.map(|name| name.trim_end_matches(['}', '>'])).collect();
    names.dedup();
    let names = names.into_iter().filter(|name| is_identifier(&name.replace('-', "_")));
    let argument = |name| json!({ "name": name, "type": infer_value_type(&format!("<{name}>")), "required": true });
    if !is_sentence && !draft.commands.contains_key(key) {
        let (syntax, returns) = (format!("{method} {path}"), about.and_then(parse_return_text));
        let arguments: Vec<Value> = names.map(argument).collect();
        let value = json!({ "syntax": syntax, "returns": returns, "description": about, "args": arguments });
        draft.commands.add(&rules::COMMAND_ENDPOINT, key, line, None, remove_empty_fields(value));
    }
}
