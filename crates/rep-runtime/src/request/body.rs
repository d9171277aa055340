//! The body of a request: JSON with arguments and secrets put in.

use serde_json::{Map, Value};

use super::arguments::Arguments;
use super::environment::Environment;
use super::template::{self, Flat, Part, Style};
use super::{Piece, RequestError};

/// The body as pieces of JSON: what the author wrote, with places filled, and the arguments that go into it under their own
/// names. None where there is neither.
pub(super) fn pieces(
    written: Option<&Value>,
    more: &Map<String, Value>,
    given: &Arguments,
    environment: &Environment<'_>,
) -> Result<Option<Vec<Piece>>, RequestError> {
    let mut writer = Writer { given, environment, pieces: Vec::new() };
    match written {
        None if more.is_empty() => return Ok(None),
        None => writer.fields(&Map::new(), more)?,
        Some(Value::Object(fields)) => writer.fields(fields, more)?,
        Some(_) if !more.is_empty() => {
            let message = "`body` is no mapping, and there are arguments that have no place in it";
            let remedy = "write a place for each argument, or say where it goes with `in`";
            return Err(RequestError::command(message, remedy));
        }
        Some(value) => match writer.content(value)? {
            Content::Nothing => return Ok(None),
            content => writer.write(content)?,
        },
    }
    Ok(Some(writer.pieces))
}

/// The slots of a body.
pub(super) fn slots(body: &Value, given: &Arguments) -> Result<Vec<String>, RequestError> {
    let mut found = Vec::new();
    let mut left = vec![body];
    while let Some(value) = left.pop() {
        match value {
            Value::String(text) => {
                let parts = template::parse(text, Style::Body, &|name| given.has(name))?;
                found.extend(template::slots(&parts).map(str::to_owned));
            }
            Value::Array(items) => left.extend(items),
            Value::Object(fields) => left.extend(fields.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    Ok(found)
}

/// What a written value comes to.
enum Content<'a> {
    /// Nothing: it stands for an argument that was not given.
    Nothing,
    /// An argument, in which nothing is a place for anything.
    Given(Value),
    /// A text with values put in.
    Text(Vec<Flat>),
    /// Itself.
    Written(&'a Value),
}

struct Writer<'a> {
    given: &'a Arguments,
    environment: &'a Environment<'a>,
    pieces: Vec<Piece>,
}

impl Writer<'_> {
    fn push(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Text(last)) => last.push_str(text),
            _ => self.pieces.push(Piece::Text(text.to_owned())),
        }
    }

    fn content<'v>(&self, value: &'v Value) -> Result<Content<'v>, RequestError> {
        let Value::String(text) = value else { return Ok(Content::Written(value)) };
        let parts = template::parse(text, Style::Body, &|name| self.given.has(name))?;
        if let [Part::Slot(name)] = parts.as_slice() {
            return Ok(self.given.value(name).cloned().map_or(Content::Nothing, Content::Given));
        }
        let flat = template::flat(&parts, self.given, self.environment)?;
        let has_gap = flat.iter().any(|flat| matches!(flat, Flat::Gap(_)));
        Ok(if has_gap { Content::Nothing } else { Content::Text(flat) })
    }

    fn write(&mut self, content: Content<'_>) -> Result<(), RequestError> {
        match content {
            Content::Nothing => {}
            Content::Given(value) => self.push(&value.to_string()),
            Content::Text(flat) => self.text(flat),
            Content::Written(Value::Object(fields)) => self.fields(fields, &Map::new())?,
            Content::Written(Value::Array(items)) => {
                let mut mark = "[";
                for item in items {
                    let content = self.content(item)?;
                    if !matches!(content, Content::Nothing) {
                        self.push(std::mem::replace(&mut mark, ","));
                        self.write(content)?;
                    }
                }
                self.push(if mark == "[" { "[]" } else { "]" });
            }
            Content::Written(value) => self.push(&value.to_string()),
        }
        Ok(())
    }

    /// An object: written fields, then arguments as they are.
    fn fields(&mut self, written: &Map<String, Value>, more: &Map<String, Value>) -> Result<(), RequestError> {
        let mut mark = "{";
        for (key, value) in written.iter().filter(|(key, _)| !more.contains_key(*key)) {
            let content = self.content(value)?;
            if !matches!(content, Content::Nothing) {
                self.push(&format!("{}{}:", std::mem::replace(&mut mark, ","), Value::from(key.as_str())));
                self.write(content)?;
            }
        }
        for (key, value) in more {
            self.push(&format!("{}{}:{value}", std::mem::replace(&mut mark, ","), Value::from(key.as_str())));
        }
        self.push(if mark == "{" { "{}" } else { "}" });
        Ok(())
    }

    fn text(&mut self, flat: Vec<Flat>) {
        self.push("\"");
        for flat in flat {
            match flat {
                Flat::Text(text) | Flat::Value(text) => {
                    let quoted = Value::from(text).to_string();
                    self.push(&quoted[1..quoted.len() - 1]);
                }
                Flat::Secret(name) => self.pieces.push(Piece::Secret(name)),
                Flat::Gap(_) => {}
            }
        }
        self.push("\"");
    }
}
