//! Reads back the pages `docs.rs` writes, so that a skill survives the way to Markdown and back with every fact.
//!
//! Such a page says in its frontmatter what it is. Its layout is known line by line, so that it is read as it stands and
//! not by the sense of its words; what a person adds in the same layout is read with the rest.

mod pieces;

use std::ops::Range;

use rep_model::{Frontmatter, Manifest};
use serde_json::{Map, Value, json};

use super::draft::{Draft, List, Mapping};
use super::names;
use pieces::{Bullet, Kind, Piece, cells, code, codes, pieces};

/// The key in `metadata` that marks such a page, and holds the skill's type.
pub(crate) const MARK: &str = "uasp-type";

/// A page as read.
pub(super) struct Page {
    pub(super) draft: Draft,
    /// Sections the specification does not know, which stand as JSON: name, line and value.
    pub(super) own: Vec<(String, usize, Value)>,
    /// The lines of sections that are none of the layout's.
    pub(super) rest: Vec<Range<usize>>,
}

/// The facts of a page that says it was made from a structured skill.
pub(super) fn read(manifest: &Manifest, first_line: usize) -> Option<Page> {
    let front = manifest.front.as_ref()?;
    let kind = front.get("metadata")?.get(MARK)?.text()?;
    let pieces = pieces(manifest.body(), first_line);
    let start = pieces.iter().position(|piece| piece.level() == 1)?;
    let (title, body) = pieces[start..].split_first()?;
    let body: Vec<&Piece> = body.iter().collect();
    let first = body.iter().position(|piece| piece.level() == 2).unwrap_or(body.len());
    let mut page = Page { draft: Draft::default(), own: Vec::new(), rest: Vec::new() };
    head(front, title, &body[..first], kind, &mut page.draft);
    let sections = split(&body[first..], 2);
    for (number, (heading, body)) in sections.iter().enumerate() {
        if section(heading, body, &mut page.draft) {
            continue;
        }
        if let Some(value) = own_section(body) {
            page.own.push((heading.text.clone(), heading.line, value));
        } else {
            let end = sections.get(number + 1).map_or(usize::MAX, |(next, _)| next.line);
            page.rest.push(heading.line..end);
        }
    }
    Some(page)
}

/// A section the specification does not know, which stands as JSON.
fn own_section(body: &[&Piece]) -> Option<Value> {
    let [Piece { kind: Kind::Fence, text, .. }] = body else { return None };
    serde_json::from_str(text).ok()
}

/// Pieces by headings of a level: the heading, and what stands below it.
fn split<'a>(pieces: &[&'a Piece], level: u8) -> Vec<(&'a Piece, Vec<&'a Piece>)> {
    let mut parts: Vec<(&Piece, Vec<&Piece>)> = Vec::new();
    for piece in pieces {
        if piece.level() == level {
            parts.push((piece, Vec::new()));
        } else if let Some((_, body)) = parts.last_mut() {
            body.push(piece);
        }
    }
    parts
}

fn head(front: &Frontmatter, title: &Piece, body: &[&Piece], kind: &str, draft: &mut Draft) {
    let named = front.name().map(|name| name.value.to_owned()).unwrap_or_default();
    // A skill that was renamed since bears its new name.
    let is_kept = names::name(&title.text, "skill").starts_with(&named);
    draft.meta.add("name", title.line, None, json!(if is_kept { &title.text } else { &named }));
    draft.meta.add("type", title.line, None, json!(kind));
    let is_summary =
        |piece: &&&Piece| piece.kind == Kind::Text && !piece.text.starts_with("*A `") && !piece.text.starts_with("*V");
    let words: Vec<&Piece> = body.iter().filter(is_summary).copied().collect();
    if let Some(first) = words.first() {
        draft.meta.add("description", first.line, None, json!(joined(&words)));
    }
    for piece in body {
        for bullet in &piece.bullets {
            if let Some((key, value)) = own_field(bullet) {
                draft.meta.add(key, bullet.line, None, value);
            }
        }
    }
}

/// Reads a section of the layout; `false` where it is none.
fn section(heading: &Piece, body: &[&Piece], draft: &mut Draft) -> bool {
    match heading.text.as_str() {
        "When to use" => triggers(body, draft),
        "Guidelines" => guidelines(body, draft),
        "Decisions" => decisions(body, draft),
        "State" => split(body, 3).into_iter().for_each(|(name, body)| entity(name, &body, draft)),
        "Commands" => entries(body, &mut draft.commands, command),
        "Global flags" => {
            for piece in body.iter().filter(|piece| piece.kind == Kind::Table) {
                for (row, line) in rows(piece) {
                    draft.global_flags.put(line, flag(&row));
                }
            }
        }
        "Workflows" => entries(body, &mut draft.workflows, workflow),
        "Reference" => entries(body, &mut draft.reference, reference),
        "Templates" => entries(body, &mut draft.templates, template),
        "Environment" => environment(body, draft),
        "Sources" => sources(body, &mut draft.sources),
        _ => return false,
    }
    true
}

/// Texts of one value that stand in paragraphs of their own.
fn joined(pieces: &[&Piece]) -> String {
    pieces.iter().map(|piece| piece.text.as_str()).collect::<Vec<_>>().join("\n\n")
}

/// The texts in front of everything else.
fn lead(body: &[&Piece]) -> Option<Value> {
    let end = body.iter().position(|piece| piece.kind != Kind::Text).unwrap_or(body.len());
    (end > 0).then(|| json!(joined(&body[..end])))
}

/// Entries that have a heading each.
fn entries(body: &[&Piece], mapping: &mut Mapping, read: fn(&[&Piece]) -> Value) {
    for (heading, body) in split(body, 3) {
        let key = code(&heading.text).unwrap_or_else(|| workflow_key(&heading.text));
        mapping.add(&key, heading.line, None, read(&body));
    }
}

/// The key of a workflow whose title is this.
pub(crate) fn workflow_key(title: &str) -> String {
    title.to_lowercase().replace(' ', "_")
}

fn triggers(body: &[&Piece], draft: &mut Draft) {
    for bullet in body.iter().flat_map(|piece| &piece.bullets) {
        match bullet.field() {
            Some(("Keywords", words)) => put_all(&mut draft.keywords, bullet.line, texts(words)),
            Some(("Intents", _)) => put_all(&mut draft.intents, bullet.line, json!(bullet.several("; "))),
            Some(("Files", words)) => put_all(&mut draft.file_patterns, bullet.line, texts(words)),
            _ => {}
        }
    }
}

fn put_all(list: &mut List, line: usize, words: Value) {
    if let Value::Array(words) = words {
        for word in words {
            list.put(line, word);
        }
    }
}

fn guidelines(body: &[&Piece], draft: &mut Draft) {
    for (heading, body) in split(body, 3) {
        for bullet in body.iter().flat_map(|piece| &piece.bullets) {
            match heading.text.as_str() {
                "Never" => draft.never.put(bullet.line, json!(bullet.text)),
                "Always" => draft.always.put(bullet.line, json!(bullet.text)),
                "Prefer" if bullet.inner.is_empty() => {
                    draft.prefer.put(bullet.line, preference(&bullet.text));
                }
                "Prefer" => {
                    let fields = bullet.inner.iter().filter_map(|line| line.split_once(": "));
                    let fields = fields.map(|(key, value)| (key.to_lowercase(), json!(value)));
                    draft.prefer.put(bullet.line, Value::Object(fields.collect()));
                }
                _ => {}
            }
        }
    }
}

/// A preference on one line: `X over Y when Z`.
pub(crate) fn preference(words: &str) -> Value {
    let Some((use_, rest)) = words.split_once(" over ") else { return json!(words) };
    match rest.split_once(" when ") {
        Some((over, when)) => json!({ "use": use_, "over": over, "when": when }),
        None => json!({ "use": use_, "over": rest }),
    }
}

fn decisions(body: &[&Piece], draft: &mut Draft) {
    table(body, &mut draft.decisions, &[("When", "when", as_is), ("Then", "then", as_is), ("See", "ref", text_of)]);
}

fn environment(body: &[&Piece], draft: &mut Draft) {
    let columns: &[Column] =
        &[("Variable", "name", text_of), ("Purpose", "purpose", as_is), ("Default", "default", shown)];
    table(body, &mut draft.environment, columns);
}

/// A column's title, the key its cells stand for, and how they are read.
type Column = (&'static str, &'static str, fn(&str) -> Value);

/// Text as it stands.
fn as_is(text: &str) -> Value {
    json!(text)
}

/// A table whose rows are items.
fn table(body: &[&Piece], list: &mut List, columns: &[Column]) {
    for piece in body.iter().filter(|piece| piece.kind == Kind::Table) {
        for (row, line) in rows(piece) {
            let field = |(title, key, read): &Column| Some(((*key).to_owned(), read(row.get(title)?)));
            list.put(line, Value::Object(columns.iter().filter_map(field).collect()));
        }
    }
}

/// The rows of a table, each cell under its column's title; empty ones are left out.
fn rows(piece: &Piece) -> Vec<(Row, usize)> {
    let mut lines = piece.text.lines();
    let titles = lines.next().map(cells).unwrap_or_default();
    let row = |(number, line): (usize, &str)| {
        let filled = titles.iter().cloned().zip(cells(line)).filter(|(_, cell)| !cell.is_empty());
        (Row(filled.collect()), piece.line + number)
    };
    (1..).zip(lines).skip(1).map(row).collect()
}

/// One row of a table.
struct Row(Vec<(String, String)>);

impl Row {
    fn get(&self, title: &str) -> Option<&str> {
        self.0.iter().find(|(column, _)| column == title).map(|(_, cell)| cell.as_str())
    }
}

/// What a cell or a field holds: code is a value as it was written, the rest is text.
fn shown(text: &str) -> Value {
    code(text).map_or_else(|| json!(text), |code| typed(&code))
}

/// Code as a value: what reads as JSON is that, the rest is text.
fn typed(code: &str) -> Value {
    serde_json::from_str(code).unwrap_or_else(|_| json!(code))
}

/// A field in the author's own words: `key: value`.
fn own_field(bullet: &Bullet) -> Option<(&str, Value)> {
    let (key, words) = bullet.text.split_once(": ")?;
    Some((key, shown(words)))
}

fn entity(heading: &Piece, body: &[&Piece], draft: &mut Draft) {
    let mut value = Map::new();
    value.insert("name".to_owned(), text_of(&heading.text));
    for bullet in body.iter().flat_map(|piece| &piece.bullets) {
        let key = match bullet.field().map(|(title, _)| title) {
            Some("Format") => {
                value.insert("format".to_owned(), json!(bullet.field().map(|(_, words)| words)));
                continue;
            }
            Some("Created by") => "created_by",
            Some("Used by") => "consumed_by",
            Some("Invalidated by") => "invalidated_by",
            Some("Saved by") => "persisted_by",
            Some("Restored by") => "restored_by",
            Some("Holds") => "properties",
            _ => {
                value.extend(own_field(bullet).map(|(key, own)| (key.to_owned(), own)));
                continue;
            }
        };
        value.insert(key.to_owned(), json!(bullet.several(", ")));
    }
    draft.entities.put(heading.line, Value::Object(value));
}

fn command(body: &[&Piece]) -> Value {
    let mut value = Map::new();
    let mut rest = body;
    if let Some((first, after)) = body.split_first().filter(|(first, _)| first.kind == Kind::Fence) {
        value.insert("syntax".to_owned(), json!(first.text));
        rest = after;
    }
    value.extend(lead(rest).map(|text| ("description".to_owned(), text)));
    for piece in rest {
        match piece.kind {
            Kind::Table => tabled(piece, &mut value),
            Kind::Bullets => {
                for bullet in &piece.bullets {
                    value.extend(command_field(bullet));
                }
            }
            Kind::Quote => {
                value.insert("note".to_owned(), json!(piece.text));
            }
            Kind::Fence => {
                value.insert("example".to_owned(), json!(piece.text));
            }
            Kind::Heading(_) | Kind::Numbers | Kind::Text => {}
        }
    }
    Value::Object(value)
}

fn command_field(bullet: &Bullet) -> Option<(String, Value)> {
    let (title, words) = bullet.field()?;
    Some(match title {
        "Also called" => ("aliases".to_owned(), texts(words)),
        "Returns" => ("returns".to_owned(), json!(words)),
        "Purpose" => ("purpose".to_owned(), json!(words)),
        "Needs" => ("requires".to_owned(), texts(words)),
        "Creates" => ("creates".to_owned(), texts(words)),
        "Invalidates" => ("invalidates".to_owned(), texts(words)),
        _ => own_field(bullet).map(|(key, own)| (key.to_owned(), own))?,
    })
}

/// The tables of a command or a template: its arguments, flags and variants, told apart by their first column.
fn tabled(piece: &Piece, value: &mut Map<String, Value>) {
    let rows = rows(piece);
    let first = piece.text.lines().next().map(cells).and_then(|titles| titles.into_iter().next());
    let (key, items): (&str, Vec<Value>) = match first.as_deref() {
        Some("Argument") => ("args", rows.iter().map(|(row, _)| argument(row)).collect()),
        Some("Flag") => ("flags", rows.iter().map(|(row, _)| flag(row)).collect()),
        Some("Variant") => ("variants", rows.iter().map(|(row, _)| variant(row)).collect()),
        _ => return,
    };
    value.insert(key.to_owned(), json!(items));
}

fn argument(row: &Row) -> Value {
    let mut value = Map::new();
    value.extend(row.get("Argument").map(|name| ("name".to_owned(), text_of(name))));
    kind(row, &mut value);
    value.insert("required".to_owned(), json!(row.get("Required") == Some("yes")));
    value.extend(row.get("Default").map(|default| ("default".to_owned(), shown(default))));
    value.extend(row.get("Meaning").map(|words| ("description".to_owned(), json!(words))));
    Value::Object(value)
}

fn flag(row: &Row) -> Value {
    let mut value = Map::new();
    for name in row.get("Flag").map(codes).unwrap_or_default() {
        let key = match value.len() {
            0 => "name",
            _ if name.starts_with("--") => "long",
            _ => "short",
        };
        value.insert(key.to_owned(), as_text(&name));
    }
    kind(row, &mut value);
    value.extend(row.get("Default").map(|default| ("default".to_owned(), shown(default))));
    value.extend(row.get("Variable").map(|name| ("env".to_owned(), text_of(name))));
    value.extend(row.get("Purpose").map(|words| ("purpose".to_owned(), json!(words))));
    Value::Object(value)
}

fn variant(row: &Row) -> Value {
    let mut value = Map::new();
    value.extend(row.get("Variant").map(|syntax| ("syntax".to_owned(), text_of(syntax))));
    value.extend(row.get("Purpose").map(|words| ("purpose".to_owned(), json!(words))));
    Value::Object(value)
}

/// Code that is a text, whatever it looks like.
fn text_of(words: &str) -> Value {
    code(words).map_or_else(|| json!(words), |code| as_text(&code))
}

/// A type, and the values it takes.
fn kind(row: &Row, value: &mut Map<String, Value>) {
    let Some(cell) = row.get("Type") else { return };
    let (name, values) = cell.split_once(": ").unwrap_or((cell, ""));
    value.insert("type".to_owned(), json!(name));
    let values: Vec<Value> = codes(values).iter().map(|word| typed(word)).collect();
    if !values.is_empty() {
        value.insert("values".to_owned(), json!(values));
    }
}

fn workflow(body: &[&Piece]) -> Value {
    let mut value = Map::new();
    let mut is_invariant = false;
    let mut words = Vec::new();
    for piece in body {
        match piece.kind {
            Kind::Text if piece.text == "Throughout:" => is_invariant = true,
            Kind::Text => words.push(*piece),
            Kind::Bullets if std::mem::take(&mut is_invariant) => {
                let rules: Vec<&str> = piece.bullets.iter().map(|bullet| bullet.text.as_str()).collect();
                value.insert("invariants".to_owned(), json!(rules));
            }
            Kind::Bullets => {
                let own = piece.bullets.iter().filter_map(own_field);
                value.extend(own.map(|(key, own)| (key.to_owned(), own)));
            }
            Kind::Numbers => {
                let steps: Vec<Value> = piece.bullets.iter().map(step).collect();
                value.insert("steps".to_owned(), json!(steps));
            }
            Kind::Fence => {
                value.insert("example".to_owned(), json!(piece.text));
            }
            Kind::Heading(_) | Kind::Table | Kind::Quote => {}
        }
    }
    if !words.is_empty() {
        value.insert("description".to_owned(), json!(joined(&words)));
    }
    Value::Object(value)
}

fn step(bullet: &Bullet) -> Value {
    let Some((command, rest)) = pieces::code_and_rest(&bullet.text) else { return json!({ "cmd": bullet.text }) };
    let mut value = json!({ "cmd": as_text(&command) });
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

/// Pieces of code that are texts.
fn texts(words: &str) -> Value {
    codes(words).iter().map(|word| as_text(word)).collect()
}

/// Code whose value is a text: quoted only where it would be another value.
fn as_text(code: &str) -> Value {
    match typed(code) {
        Value::String(text) => json!(text),
        _ => json!(code),
    }
}

fn reference(body: &[&Piece]) -> Value {
    let mut value = Map::new();
    let mut words: Vec<&Piece> = Vec::new();
    for (number, piece) in body.iter().enumerate() {
        let is_label =
            |piece: &Piece| piece.kind == Kind::Text && piece.text.ends_with(':') && !piece.text.contains('\n');
        let before = number.checked_sub(1).map(|at| body[at]).filter(|before| is_label(before));
        match piece.kind {
            Kind::Fence => {
                let label = before.map_or("", |before| before.text.trim_end_matches(':'));
                let key = match label {
                    "Syntax" => "syntax",
                    "" | "Example" => "example",
                    own => own,
                };
                value.insert(key.to_owned(), json!(piece.text));
            }
            Kind::Table => {
                for (row, _) in rows(piece) {
                    let (Some(key), Some(form)) = (row.get("Feature"), row.get("Form")) else { continue };
                    let forms = codes(form);
                    let own = if forms.len() > 1 { json!(forms) } else { shown(form) };
                    value.insert(key.to_owned(), own);
                }
            }
            Kind::Text => {
                let is_used = is_label(piece) && body.get(number + 1).is_some_and(|next| next.kind == Kind::Fence);
                match piece.text.strip_prefix("Values: ").filter(|words| words.starts_with('`')) {
                    Some(words) => {
                        let values: Vec<Value> = codes(words).iter().map(|word| typed(word)).collect();
                        value.insert("values".to_owned(), json!(values));
                    }
                    None if !is_used => words.push(piece),
                    None => {}
                }
            }
            Kind::Heading(_) | Kind::Bullets | Kind::Numbers | Kind::Quote => {}
        }
    }
    if !words.is_empty() {
        value.insert("notes".to_owned(), json!(joined(&words)));
    }
    Value::Object(value)
}

fn template(body: &[&Piece]) -> Value {
    let mut value = Map::new();
    value.extend(lead(body).map(|text| ("description".to_owned(), text)));
    for piece in body {
        match piece.kind {
            Kind::Bullets => {
                for bullet in &piece.bullets {
                    let field = match bullet.field() {
                        Some(("Usage", words)) => Some(("usage".to_owned(), text_of(words))),
                        Some(("File", words)) => Some(("path".to_owned(), text_of(words))),
                        _ => own_field(bullet).map(|(key, own)| (key.to_owned(), own)),
                    };
                    value.extend(field);
                }
            }
            Kind::Table => tabled(piece, &mut value),
            Kind::Fence => {
                value.insert("inline".to_owned(), json!(piece.text));
            }
            Kind::Heading(_) | Kind::Numbers | Kind::Quote | Kind::Text => {}
        }
    }
    Value::Object(value)
}

/// Sources: `id`, then an address or a path, then what it is for.
fn sources(body: &[&Piece], list: &mut List) {
    for bullet in body.iter().flat_map(|piece| &piece.bullets) {
        let Some((id, mut rest)) = pieces::code_and_rest(&bullet.text) else { continue };
        let mut value = json!({ "id": as_text(&id) });
        if let Some(place) = rest.strip_prefix(": ") {
            if let Some((url, after)) = place.strip_prefix('<').and_then(|place| place.split_once('>')) {
                value["url"] = json!(url);
                rest = after;
            } else if let Some((path, after)) = pieces::code_and_rest(place) {
                let key = if path.contains("://") { "url" } else { "path" };
                value[key] = as_text(&path);
                rest = after;
            }
        }
        if let Some(about) = rest.strip_prefix(" (").and_then(|rest| rest.strip_suffix(')')) {
            value["use_for"] = json!(about);
        }
        list.put(bullet.line, value);
    }
}
