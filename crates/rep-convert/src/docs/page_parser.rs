//! Parses the pages that `docs.rs` writes, so that a conversion to Markdown and back loses no facts.
//!
//! The frontmatter marks such a page. Its layout is fixed, so it is parsed literally and not by the meaning of its
//! words. Additions in the same layout are parsed as well.

use std::ops::Range;

use rep_model::{Frontmatter, Manifest};
use serde_json::{Map, Value, json};

use super::page_blocks::{
    PageBlock, PageBlockKind, PageListItem, parse_code, parse_code_list, parse_page_blocks, split_cells,
    split_leading_code,
};
use crate::extract::draft::{CandidateList, CandidateMap, DocumentDraft};
use crate::extract::rules;
use crate::names;

/// The key in `metadata` that marks such a page; its value is the type of the skill.
pub(crate) const TYPE_KEY: &str = "uasp-type";

/// A parsed page.
pub(crate) struct ParsedPage {
    pub(crate) draft: DocumentDraft,
    /// Sections that the specification does not define, which are written as JSON: name, line and value.
    pub(crate) unknown_sections: Vec<(String, usize, Value)>,
    /// The lines of sections that are not part of the layout.
    pub(crate) unread_lines: Vec<Range<usize>>,
}

/// Parses a page that is marked as generated from a structured skill.
pub(crate) fn parse_page(manifest: &Manifest, first_line: usize) -> Option<ParsedPage> {
    let front = manifest.front.as_ref()?;
    let kind = front.get("metadata")?.get(TYPE_KEY)?.text()?;
    let pieces = parse_page_blocks(manifest.body(), first_line);
    let start = pieces.iter().position(|piece| piece.heading_level() == 1)?;
    let (title, body) = pieces[start..].split_first()?;
    let body: Vec<&PageBlock> = body.iter().collect();
    let first = body.iter().position(|piece| piece.heading_level() == 2).unwrap_or(body.len());
    let mut page =
        ParsedPage { draft: DocumentDraft::default(), unknown_sections: Vec::new(), unread_lines: Vec::new() };
    parse_head(front, title, &body[..first], kind, &mut page.draft);
    let sections = split_by_heading(&body[first..], 2);
    for (number, (heading, body)) in sections.iter().enumerate() {
        if parse_section(heading, body, &mut page.draft) {
            continue;
        }
        if let Some(value) = parse_unknown_section(body) {
            page.unknown_sections.push((heading.text.clone(), heading.line, value));
        } else {
            let end = sections.get(number + 1).map_or(usize::MAX, |(next, _)| next.line);
            page.unread_lines.push(heading.line..end);
        }
    }
    Some(page)
}

/// Parses a section that the specification does not define, which is written as JSON.
fn parse_unknown_section(body: &[&PageBlock]) -> Option<Value> {
    let [PageBlock { kind: PageBlockKind::Fence, text, .. }] = body else { return None };
    serde_json::from_str(text).ok()
}

/// Groups blocks by headings of a level: the heading, and the blocks below it.
fn split_by_heading<'a>(pieces: &[&'a PageBlock], level: u8) -> Vec<(&'a PageBlock, Vec<&'a PageBlock>)> {
    let mut parts: Vec<(&PageBlock, Vec<&PageBlock>)> = Vec::new();
    for piece in pieces {
        if piece.heading_level() == level {
            parts.push((piece, Vec::new()));
        } else if let Some((_, body)) = parts.last_mut() {
            body.push(piece);
        }
    }
    parts
}

fn parse_head(front: &Frontmatter, title: &PageBlock, body: &[&PageBlock], kind: &str, draft: &mut DocumentDraft) {
    let named = front.name().map(|name| name.value.to_owned()).unwrap_or_default();
    // A renamed skill has its new name.
    let is_kept = names::to_name_or(&title.text, "skill").starts_with(&named);
    draft.meta.add(&rules::PAGE_FIELD, "name", title.line, None, json!(if is_kept { &title.text } else { &named }));
    draft.meta.add(&rules::PAGE_FIELD, "type", title.line, None, json!(kind));
    let is_summary = |piece: &&&PageBlock| {
        piece.kind == PageBlockKind::Text && !piece.text.starts_with("*A `") && !piece.text.starts_with("*V")
    };
    let words: Vec<&PageBlock> = body.iter().filter(is_summary).copied().collect();
    if let Some(first) = words.first() {
        draft.meta.add(&rules::PAGE_FIELD, "description", first.line, None, json!(join_paragraphs(&words)));
    }
    for bullet in body.iter().flat_map(|piece| &piece.bullets) {
        if let Some((key, value)) = parse_own_field(bullet) {
            draft.meta.add(&rules::PAGE_FIELD, &key, bullet.line, None, value);
        }
    }
}

/// Parses a section of the layout; returns `false` if the heading is not part of it.
fn parse_section(heading: &PageBlock, body: &[&PageBlock], draft: &mut DocumentDraft) -> bool {
    match heading.text.as_str() {
        "When to use" => parse_triggers(body, draft),
        "Guidelines" => parse_guidelines(body, draft),
        "Decisions" => parse_decisions(body, draft),
        "State" => split_by_heading(body, 3).into_iter().for_each(|(name, body)| parse_entity(name, &body, draft)),
        "Commands" => parse_entries(body, &mut draft.commands, parse_command),
        "Global flags" => {
            for piece in body.iter().filter(|piece| piece.kind == PageBlockKind::Table) {
                for (row, line) in parse_rows(piece) {
                    draft.global_flags.add(&rules::PAGE_FIELD, line, parse_flag(&row));
                }
            }
        }
        "Workflows" => parse_entries(body, &mut draft.workflows, parse_workflow),
        "Reference" => parse_entries(body, &mut draft.reference, parse_reference),
        "Templates" => parse_entries(body, &mut draft.templates, parse_template),
        "Environment" => parse_environment(body, draft),
        "Sources" => parse_sources(body, &mut draft.sources),
        _ => return false,
    }
    true
}

/// Joins the paragraphs of one value.
fn join_paragraphs(pieces: &[&PageBlock]) -> String {
    pieces.iter().map(|piece| piece.text.as_str()).collect::<Vec<_>>().join("\n\n")
}

/// Parses the paragraphs before all other blocks.
fn parse_lead(body: &[&PageBlock]) -> Option<Value> {
    let end = body.iter().position(|piece| piece.kind != PageBlockKind::Text).unwrap_or(body.len());
    (end > 0).then(|| json!(join_paragraphs(&body[..end])))
}

/// Parses entries that each have a heading.
fn parse_entries(body: &[&PageBlock], mapping: &mut CandidateMap, read: fn(&[&PageBlock]) -> Value) {
    for (heading, body) in split_by_heading(body, 3) {
        let key = parse_code(&heading.text).unwrap_or_else(|| workflow_key(&heading.text));
        mapping.add(&rules::PAGE_FIELD, &key, heading.line, None, read(&body));
    }
}

/// Returns the key of a workflow with this title.
pub(crate) fn workflow_key(title: &str) -> String {
    title.to_lowercase().replace(' ', "_")
}

fn parse_triggers(body: &[&PageBlock], draft: &mut DocumentDraft) {
    for bullet in body.iter().flat_map(|piece| &piece.bullets) {
        match bullet.split_field() {
            Some(("Keywords", words)) => add_all(&mut draft.keywords, bullet.line, parse_code_texts(words)),
            Some(("Intents", _)) => add_all(&mut draft.intents, bullet.line, json!(bullet.split_texts("; "))),
            Some(("Files", words)) => add_all(&mut draft.file_patterns, bullet.line, parse_code_texts(words)),
            _ => {}
        }
    }
}

fn add_all(list: &mut CandidateList, line: usize, words: Value) {
    if let Value::Array(words) = words {
        for word in words {
            list.add(&rules::PAGE_FIELD, line, word);
        }
    }
}

fn parse_guidelines(body: &[&PageBlock], draft: &mut DocumentDraft) {
    for (heading, body) in split_by_heading(body, 3) {
        for bullet in body.iter().flat_map(|piece| &piece.bullets) {
            match heading.text.as_str() {
                "Never" => draft.never.add(&rules::PAGE_FIELD, bullet.line, json!(bullet.text)),
                "Always" => draft.always.add(&rules::PAGE_FIELD, bullet.line, json!(bullet.text)),
                "Prefer" if bullet.inner.is_empty() => {
                    draft.prefer.add(&rules::PAGE_FIELD, bullet.line, parse_preference(&bullet.text));
                }
                "Prefer" => {
                    let fields = bullet.inner.iter().filter_map(|line| line.split_once(": "));
                    let fields = fields.map(|(key, value)| (key.to_lowercase(), json!(value)));
                    draft.prefer.add(&rules::PAGE_FIELD, bullet.line, Value::Object(fields.collect()));
                }
                _ => {}
            }
        }
    }
}

/// Parses a preference on one line: `X over Y when Z`.
pub(crate) fn parse_preference(words: &str) -> Value {
    let Some((use_, rest)) = words.split_once(" over ") else { return json!(words) };
    match rest.split_once(" when ") {
        Some((over, when)) => json!({ "use": use_, "over": over, "when": when }),
        None => json!({ "use": use_, "over": rest }),
    }
}

fn parse_decisions(body: &[&PageBlock], draft: &mut DocumentDraft) {
    parse_table(
        body,
        &mut draft.decisions,
        &[("When", "when", to_text_value), ("Then", "then", to_text_value), ("See", "ref", parse_text_cell)],
    );
}

fn parse_environment(body: &[&PageBlock], draft: &mut DocumentDraft) {
    let columns: &[TableColumn] = &[
        ("Variable", "name", parse_text_cell),
        ("Purpose", "purpose", to_text_value),
        ("Default", "default", parse_cell),
    ];
    parse_table(body, &mut draft.environment, columns);
}

/// The title of a column, the key for its cells, and the function that parses them.
type TableColumn = (&'static str, &'static str, fn(&str) -> Value);

/// Returns the text unchanged.
fn to_text_value(text: &str) -> Value {
    json!(text)
}

/// Parses a table whose rows are items.
fn parse_table(body: &[&PageBlock], list: &mut CandidateList, columns: &[TableColumn]) {
    for piece in body.iter().filter(|piece| piece.kind == PageBlockKind::Table) {
        for (row, line) in parse_rows(piece) {
            list.add(&rules::PAGE_FIELD, line, Value::Object(row.select_fields(columns)));
        }
    }
}

/// Returns the rows of a table, with each non-empty cell under the title of its column.
fn parse_rows(piece: &PageBlock) -> Vec<(TableRow, usize)> {
    let mut lines = piece.text.lines();
    let titles = lines.next().map(split_cells).unwrap_or_default();
    let row = |(number, line): (usize, &str)| {
        let filled = titles.iter().cloned().zip(split_cells(line)).filter(|(_, cell)| !cell.is_empty());
        (TableRow(filled.collect()), piece.line + number)
    };
    (1..).zip(lines).skip(1).map(row).collect()
}

/// A row of a table.
struct TableRow(Vec<(String, String)>);

impl TableRow {
    fn get(&self, title: &str) -> Option<&str> {
        self.0.iter().find(|(column, _)| column == title).map(|(_, cell)| cell.as_str())
    }

    /// Returns the cells of some columns as fields.
    fn select_fields(&self, columns: &[TableColumn]) -> Map<String, Value> {
        let field = |(title, key, read): &TableColumn| Some(((*key).to_owned(), read(self.get(title)?)));
        columns.iter().filter_map(field).collect()
    }
}

/// Parses a cell or a field: code is a literal value, everything else is text.
fn parse_cell(text: &str) -> Value {
    parse_code(text).map_or_else(|| json!(text), |code| parse_code_value(&code))
}

/// Parses code as JSON if possible, otherwise as text.
fn parse_code_value(code: &str) -> Value {
    serde_json::from_str(code).unwrap_or_else(|_| json!(code))
}

/// Parses a field that is not in the schema: `key: value`.
fn parse_own_field(bullet: &PageListItem) -> Option<(String, Value)> {
    let (key, words) = bullet.text.split_once(": ")?;
    Some((key.to_owned(), parse_cell(words)))
}

fn parse_entity(heading: &PageBlock, body: &[&PageBlock], draft: &mut DocumentDraft) {
    let mut value = Map::new();
    value.insert("name".to_owned(), parse_text_cell(&heading.text));
    for bullet in body.iter().flat_map(|piece| &piece.bullets) {
        let key = match bullet.split_field() {
            Some(("Format", words)) => {
                value.insert("format".to_owned(), json!(words));
                continue;
            }
            Some(("Created by", _)) => "created_by",
            Some(("Used by", _)) => "consumed_by",
            Some(("Invalidated by", _)) => "invalidated_by",
            Some(("Saved by", _)) => "persisted_by",
            Some(("Restored by", _)) => "restored_by",
            Some(("Holds", _)) => "properties",
            _ => {
                value.extend(parse_own_field(bullet));
                continue;
            }
        };
        value.insert(key.to_owned(), json!(bullet.split_texts(", ")));
    }
    draft.entities.add(&rules::PAGE_FIELD, heading.line, Value::Object(value));
}

fn parse_command(body: &[&PageBlock]) -> Value {
    let mut value = Map::new();
    let mut rest = body;
    if let Some((first, after)) = body.split_first().filter(|(first, _)| first.kind == PageBlockKind::Fence) {
        value.insert("syntax".to_owned(), json!(first.text));
        rest = after;
    }
    value.extend(parse_lead(rest).map(|text| ("description".to_owned(), text)));
    for piece in rest {
        match piece.kind {
            PageBlockKind::Table => parse_command_table(piece, &mut value),
            PageBlockKind::Bullets => value.extend(piece.bullets.iter().filter_map(parse_command_field)),
            PageBlockKind::Quote => {
                value.insert("note".to_owned(), json!(piece.text));
            }
            PageBlockKind::Fence => {
                value.insert("example".to_owned(), json!(piece.text));
            }
            PageBlockKind::Heading(_) | PageBlockKind::Numbers | PageBlockKind::Text => {}
        }
    }
    Value::Object(value)
}

fn parse_command_field(bullet: &PageListItem) -> Option<(String, Value)> {
    let (title, words) = bullet.split_field()?;
    Some(match title {
        "Also called" => ("aliases".to_owned(), parse_code_texts(words)),
        "Returns" | "Purpose" => (title.to_lowercase(), json!(words)),
        "Needs" => ("requires".to_owned(), parse_code_texts(words)),
        "Creates" | "Invalidates" => (title.to_lowercase(), parse_code_texts(words)),
        _ => parse_own_field(bullet)?,
    })
}

/// Parses the tables of a command or a template: arguments, flags and variants, distinguished by their first column.
fn parse_command_table(piece: &PageBlock, value: &mut Map<String, Value>) {
    let rows = parse_rows(piece);
    let first = piece.text.lines().next().map(split_cells).and_then(|titles| titles.into_iter().next());
    let (key, items): (&str, Vec<Value>) = match first.as_deref() {
        Some("Argument") => ("args", rows.iter().map(|(row, _)| parse_argument(row)).collect()),
        Some("Flag") => ("flags", rows.iter().map(|(row, _)| parse_flag(row)).collect()),
        Some("Variant") => ("variants", rows.iter().map(|(row, _)| parse_variant(row)).collect()),
        _ => return,
    };
    value.insert(key.to_owned(), json!(items));
}

fn parse_argument(row: &TableRow) -> Value {
    let mut value = row.select_fields(&[("Argument", "name", parse_text_cell)]);
    parse_type(row, &mut value);
    let is_required = match row.get("Required") {
        Some("yes") => Some(true),
        Some("no") => Some(false),
        _ => None,
    };
    value.extend(is_required.map(|is_required| ("required".to_owned(), json!(is_required))));
    value.extend(row.select_fields(&[("Default", "default", parse_cell), ("Meaning", "description", to_text_value)]));
    Value::Object(value)
}

fn parse_flag(row: &TableRow) -> Value {
    let mut value = Map::new();
    for name in row.get("Flag").map(parse_code_list).unwrap_or_default() {
        let key = match value.len() {
            0 => "name",
            _ if name.starts_with("--") => "long",
            _ => "short",
        };
        value.insert(key.to_owned(), code_to_text(&name));
    }
    parse_type(row, &mut value);
    value.extend(row.select_fields(&[
        ("Default", "default", parse_cell),
        ("Variable", "env", parse_text_cell),
        ("Purpose", "purpose", to_text_value),
    ]));
    Value::Object(value)
}

fn parse_variant(row: &TableRow) -> Value {
    Value::Object(row.select_fields(&[("Variant", "syntax", parse_text_cell), ("Purpose", "purpose", to_text_value)]))
}

/// Parses code as text, even if it looks like another type of value.
fn parse_text_cell(words: &str) -> Value {
    parse_code(words).map_or_else(|| json!(words), |code| code_to_text(&code))
}

/// Parses a type and its allowed values.
fn parse_type(row: &TableRow, value: &mut Map<String, Value>) {
    let Some(cell) = row.get("Type") else { return };
    let (name, values) = cell.split_once(": ").unwrap_or((cell, ""));
    value.insert("type".to_owned(), json!(name));
    let values: Vec<Value> = parse_code_list(values).iter().map(|word| parse_code_value(word)).collect();
    if !values.is_empty() {
        value.insert("values".to_owned(), json!(values));
    }
}

fn parse_workflow(body: &[&PageBlock]) -> Value {
    let mut value = Map::new();
    let mut is_invariant = false;
    let mut words = Vec::new();
    for piece in body {
        match piece.kind {
            PageBlockKind::Text if piece.text == "Throughout:" => is_invariant = true,
            PageBlockKind::Text => words.push(*piece),
            PageBlockKind::Bullets if std::mem::take(&mut is_invariant) => {
                let rules: Vec<&str> = piece.bullets.iter().map(|bullet| bullet.text.as_str()).collect();
                value.insert("invariants".to_owned(), json!(rules));
            }
            PageBlockKind::Bullets => {
                value.extend(piece.bullets.iter().filter_map(parse_own_field));
            }
            PageBlockKind::Numbers => {
                let steps: Vec<Value> = piece.bullets.iter().map(parse_step).collect();
                value.insert("steps".to_owned(), json!(steps));
            }
            PageBlockKind::Fence => {
                value.insert("example".to_owned(), json!(piece.text));
            }
            PageBlockKind::Heading(_) | PageBlockKind::Table | PageBlockKind::Quote => {}
        }
    }
    if !words.is_empty() {
        value.insert("description".to_owned(), json!(join_paragraphs(&words)));
    }
    Value::Object(value)
}

fn parse_step(bullet: &PageListItem) -> Value {
    let Some((command, rest)) = split_leading_code(&bullet.text) else { return json!({ "cmd": bullet.text }) };
    let mut value = json!({ "cmd": code_to_text(&command) });
    let (is_optional, rest) = match rest.strip_prefix(" (optional)") {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    if let Some(note) = rest.strip_prefix(": ") {
        value["note"] = json!(note);
    }
    if is_optional {
        value["optional"] = json!(true);
    }
    value
}

/// Parses code spans as texts.
fn parse_code_texts(words: &str) -> Value {
    parse_code_list(words).iter().map(|word| code_to_text(word)).collect()
}

/// Parses code whose value is a text: it is quoted only if it would be read as another type.
fn code_to_text(code: &str) -> Value {
    match parse_code_value(code) {
        Value::String(text) => json!(text),
        _ => json!(code),
    }
}

fn parse_reference(body: &[&PageBlock]) -> Value {
    let mut value = Map::new();
    let mut words: Vec<&PageBlock> = Vec::new();
    for (number, piece) in body.iter().enumerate() {
        let is_label = |piece: &PageBlock| {
            piece.kind == PageBlockKind::Text && piece.text.ends_with(':') && !piece.text.contains('\n')
        };
        let before = number.checked_sub(1).map(|at| body[at]).filter(|before| is_label(before));
        match piece.kind {
            PageBlockKind::Fence => {
                let label = before.map_or("", |before| before.text.trim_end_matches(':'));
                let key = match label {
                    "Syntax" => "syntax",
                    "" | "Example" => "example",
                    own => own,
                };
                value.insert(key.to_owned(), json!(piece.text));
            }
            PageBlockKind::Table => {
                for (row, _) in parse_rows(piece) {
                    let (Some(key), Some(form)) = (row.get("Feature"), row.get("Form")) else { continue };
                    let forms = parse_code_list(form);
                    let own = if forms.len() > 1 { json!(forms) } else { parse_cell(form) };
                    value.insert(key.to_owned(), own);
                }
            }
            PageBlockKind::Text => {
                let is_used =
                    is_label(piece) && body.get(number + 1).is_some_and(|next| next.kind == PageBlockKind::Fence);
                match piece.text.strip_prefix("Values: ").filter(|words| words.starts_with('`')) {
                    Some(words) => {
                        let values: Vec<Value> =
                            parse_code_list(words).iter().map(|word| parse_code_value(word)).collect();
                        value.insert("values".to_owned(), json!(values));
                    }
                    None if !is_used => words.push(piece),
                    None => {}
                }
            }
            PageBlockKind::Heading(_) | PageBlockKind::Bullets | PageBlockKind::Numbers | PageBlockKind::Quote => {}
        }
    }
    if !words.is_empty() {
        value.insert("notes".to_owned(), json!(join_paragraphs(&words)));
    }
    Value::Object(value)
}

fn parse_template(body: &[&PageBlock]) -> Value {
    let mut value = Map::new();
    value.extend(parse_lead(body).map(|text| ("description".to_owned(), text)));
    for piece in body {
        match piece.kind {
            PageBlockKind::Bullets => {
                value.extend(piece.bullets.iter().filter_map(|bullet| match bullet.split_field() {
                    Some(("Usage", words)) => Some(("usage".to_owned(), parse_text_cell(words))),
                    Some(("File", words)) => Some(("path".to_owned(), parse_text_cell(words))),
                    _ => parse_own_field(bullet),
                }));
            }
            PageBlockKind::Table => parse_command_table(piece, &mut value),
            PageBlockKind::Fence => {
                value.insert("inline".to_owned(), json!(piece.text));
            }
            PageBlockKind::Heading(_) | PageBlockKind::Numbers | PageBlockKind::Quote | PageBlockKind::Text => {}
        }
    }
    Value::Object(value)
}

/// Parses sources: `id`, then a URL or a path, then the purpose.
fn parse_sources(body: &[&PageBlock], list: &mut CandidateList) {
    for bullet in body.iter().flat_map(|piece| &piece.bullets) {
        let Some((id, mut rest)) = split_leading_code(&bullet.text) else { continue };
        let mut value = json!({ "id": code_to_text(&id) });
        if let Some(place) = rest.strip_prefix(": ") {
            if let Some((url, after)) = place.strip_prefix('<').and_then(|place| place.split_once('>')) {
                value["url"] = json!(url);
                rest = after;
            } else if let Some((path, after)) = split_leading_code(place) {
                let key = if path.contains("://") { "url" } else { "path" };
                value[key] = code_to_text(&path);
                rest = after;
            }
        }
        if let Some(about) = rest.strip_prefix(" (").and_then(|rest| rest.strip_suffix(')')) {
            value["use_for"] = json!(about);
        }
        list.add(&rules::PAGE_FIELD, bullet.line, value);
    }
}
