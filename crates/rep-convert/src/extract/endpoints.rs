//! The endpoints of an API: commands that are sent instead of started.

use serde_json::{Value, json};

use super::blocks::{Block, Kind};
use super::commands::{described, is_name, returned};
use super::contrasts;
use super::draft::Draft;
use super::sections::Place;
use super::syntax;

/// The endpoints of an API: `GET https://…`, `POST /v1/users`.
pub(super) fn read(blocks: &[Block], places: &[Place], draft: &mut Draft) {
    for (index, block) in blocks.iter().enumerate() {
        if places[index].is_forbidden || places[index].is_mistake {
            continue;
        }
        match &block.kind {
            Kind::Code(language)
                if matches!(language.as_str(), "" | "http" | "text" | "txt" | "rest" | "plaintext") =>
            {
                for (number, line) in block.prose.text.lines().enumerate() {
                    endpoint(line, block.line + 1 + number, None, draft);
                }
            }
            Kind::Paragraph | Kind::Item(_) => {
                let mut codes =
                    block.prose.codes_in(0..block.prose.text.len()).filter(|code| method_of(code).is_some());
                if let Some(first) = codes.next() {
                    let about = described(&block.prose, 0..block.prose.text.len());
                    endpoint(first, block.line, about.clone(), draft);
                    codes.for_each(|code| endpoint(code, block.line, about.clone(), draft));
                }
            }
            Kind::Table => {
                for row in block.rows.iter().skip(1) {
                    let bad = contrasts::columns(block).map(|against| against.bad);
                    let last = row.last().map(|cell| cell.text.clone()).filter(|_| row.len() > 1 && bad.is_none());
                    for (_, cell) in row.iter().enumerate().filter(|(column, _)| Some(*column) != bad) {
                        for code in cell.codes_in(0..cell.text.len()) {
                            endpoint(code, cell.line_at(0), last.clone(), draft);
                        }
                    }
                }
            }
            _ => {}
        }
    }
}

/// The method a line starts with, where a place follows it.
fn method_of(text: &str) -> Option<&str> {
    let (method, rest) = text.trim_start().split_once(' ')?;
    let is_method = matches!(method, "GET" | "POST" | "PUT" | "PATCH" | "DELETE");
    (is_method && rest.trim_start().starts_with(['/', 'h'])).then_some(method)
}

fn endpoint(text: &str, line: usize, description: Option<String>, draft: &mut Draft) {
    let mut words = text.split_whitespace();
    let (Some(method), Some(path)) = (words.next(), words.next()) else { return };
    let is_endpoint = matches!(method, "GET" | "POST" | "PUT" | "PATCH" | "DELETE")
        && (path.starts_with('/') && path.len() > 1 || path.starts_with("https://") || path.starts_with("http://"));
    if !is_endpoint || words.next().is_some_and(|next| !next.starts_with(['H', '#', '-', '—', '?'])) {
        return;
    }
    let place = path.split("://").last().unwrap_or(path).split('?').next().unwrap_or_default();
    let place = if path.contains("://") { place.split_once('/').map_or(place, |(_, rest)| rest) } else { place };
    let slugs: Vec<String> = place.split('/').map(super::names::slug).filter(|part| !part.is_empty()).collect();
    let key = format!("{}.{}", method.to_lowercase(), slugs.join("-"));
    let key = key.trim_end_matches('.').to_owned();
    if draft.commands.has(&key) {
        return;
    }
    let mut value = json!({ "syntax": format!("{method} {path}") });
    if let Some(description) = description.filter(|description| !description.trim().is_empty()) {
        if let Some(returns) = returned(&description) {
            value["returns"] = json!(returns);
        }
        value["description"] = json!(description);
    }
    let arguments = path_arguments(path);
    if !arguments.is_empty() {
        value["args"] = json!(arguments);
    }
    draft.commands.add(&key, line, None, value);
}

/// The arguments of an endpoint: `{id}`, `<id>` and `:id` in its path.
fn path_arguments(path: &str) -> Vec<Value> {
    let mut found: Vec<Value> = Vec::new();
    for part in path.split("://").last().unwrap_or(path).split(['/', '?', '&', '=']).take(40) {
        let braced = part.strip_prefix('{').and_then(|part| part.strip_suffix('}'));
        let name = braced
            .or(part.strip_prefix('<').and_then(|part| part.strip_suffix('>')))
            .or(part.strip_prefix(':'))
            .filter(|name| is_name(&name.replace('-', "_")));
        if let Some(name) = name.filter(|name| !found.iter().any(|known| known["name"] == **name)) {
            let kind = syntax::value_type(name, &format!("<{name}>"));
            found.push(json!({ "name": name, "type": kind, "required": true }));
        }
    }
    found
}
