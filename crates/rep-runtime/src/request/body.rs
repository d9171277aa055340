//! The body of a request: JSON with arguments and secrets inserted.

use serde_json::{Map, Value};

use super::arguments::RequestArguments;
use super::environment::RequestEnvironment;
use super::template::{self, ResolvedPart, TemplatePart, TemplateStyle};
use super::{RequestError, RequestFragment};

/// Builds the body as fragments of JSON: the author's text with placeholders filled, and the arguments that
/// go into the body under their own names. `None` if there is neither.
pub(super) fn build_body(
    written: Option<&Value>,
    more: &Map<String, Value>,
    given: &RequestArguments,
    environment: &RequestEnvironment<'_>,
) -> Result<Option<Vec<RequestFragment>>, RequestError> {
    let mut writer = BodyWriter { given, environment, pieces: Vec::new() };
    match written {
        None if more.is_empty() => return Ok(None),
        None => writer.write_object(&Map::new(), more)?,
        Some(Value::Object(fields)) => writer.write_object(fields, more)?,
        Some(_) if !more.is_empty() => {
            let message = "`body` is not a mapping, but some arguments have no placeholder in it";
            let remedy = "add a placeholder for each argument, or set its location with `in`";
            return Err(RequestError::invalid_command(message, remedy));
        }
        Some(value) => match writer.resolve_value(value)? {
            BodyValue::Omitted => return Ok(None),
            content => writer.write_value(content)?,
        },
    }
    Ok(Some(writer.pieces))
}

/// Collects the slots of a body.
pub(super) fn collect_slots(body: &Value, given: &RequestArguments) -> Result<Vec<String>, RequestError> {
    let mut found = Vec::new();
    let mut left = vec![body];
    while let Some(value) = left.pop() {
        match value {
            Value::String(text) => {
                let parts = template::parse(text, TemplateStyle::Body, &|name| given.is_declared(name))?;
                found.extend(template::list_slot_names(&parts).map(str::to_owned));
            }
            Value::Array(items) => left.extend(items),
            Value::Object(fields) => left.extend(fields.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    Ok(found)
}

/// The result of a written value.
enum BodyValue<'a> {
    /// Nothing: the placeholder's argument was not given.
    Omitted,
    /// An argument; it is not searched for placeholders.
    Argument(Value),
    /// A text with values inserted.
    Text(Vec<ResolvedPart>),
    /// The written value itself.
    Literal(&'a Value),
}

struct BodyWriter<'a> {
    given: &'a RequestArguments,
    environment: &'a RequestEnvironment<'a>,
    pieces: Vec<RequestFragment>,
}

impl BodyWriter<'_> {
    fn push_text(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(RequestFragment::Text(last)) => last.push_str(text),
            _ => self.pieces.push(RequestFragment::Text(text.to_owned())),
        }
    }

    fn resolve_value<'v>(&self, value: &'v Value) -> Result<BodyValue<'v>, RequestError> {
        let Value::String(text) = value else { return Ok(BodyValue::Literal(value)) };
        let parts = template::parse(text, TemplateStyle::Body, &|name| self.given.is_declared(name))?;
        if let [TemplatePart::Slot(name)] = parts.as_slice() {
            return Ok(self.given.find_value(name).cloned().map_or(BodyValue::Omitted, BodyValue::Argument));
        }
        let flat = template::resolve_parts(&parts, self.given, self.environment)?;
        let has_gap = flat.iter().any(|flat| matches!(flat, ResolvedPart::Missing(_)));
        Ok(if has_gap { BodyValue::Omitted } else { BodyValue::Text(flat) })
    }

    fn write_value(&mut self, content: BodyValue<'_>) -> Result<(), RequestError> {
        match content {
            BodyValue::Omitted => {}
            BodyValue::Argument(value) => self.push_text(&value.to_string()),
            BodyValue::Text(flat) => self.write_string(flat),
            BodyValue::Literal(Value::Object(fields)) => self.write_object(fields, &Map::new())?,
            BodyValue::Literal(Value::Array(items)) => {
                let mut mark = "[";
                for item in items {
                    let content = self.resolve_value(item)?;
                    if !matches!(content, BodyValue::Omitted) {
                        self.push_text(std::mem::replace(&mut mark, ","));
                        self.write_value(content)?;
                    }
                }
                self.push_text(if mark == "[" { "[]" } else { "]" });
            }
            BodyValue::Literal(value) => self.push_text(&value.to_string()),
        }
        Ok(())
    }

    /// Writes an object: the written fields, then the arguments.
    fn write_object(&mut self, written: &Map<String, Value>, more: &Map<String, Value>) -> Result<(), RequestError> {
        let mut mark = "{";
        for (key, value) in written.iter().filter(|(key, _)| !more.contains_key(*key)) {
            let content = self.resolve_value(value)?;
            if !matches!(content, BodyValue::Omitted) {
                self.push_text(&format!("{}{}:", std::mem::replace(&mut mark, ","), Value::from(key.as_str())));
                self.write_value(content)?;
            }
        }
        for (key, value) in more {
            self.push_text(&format!("{}{}:{value}", std::mem::replace(&mut mark, ","), Value::from(key.as_str())));
        }
        self.push_text(if mark == "{" { "{}" } else { "}" });
        Ok(())
    }

    fn write_string(&mut self, flat: Vec<ResolvedPart>) {
        self.push_text("\"");
        for flat in flat {
            match flat {
                ResolvedPart::Text(text) | ResolvedPart::Value(text) => {
                    let quoted = Value::from(text).to_string();
                    self.push_text(&quoted[1..quoted.len() - 1]);
                }
                ResolvedPart::Secret(name) => self.pieces.push(RequestFragment::Secret(name)),
                ResolvedPart::Missing(_) => {}
            }
        }
        self.push_text("\"");
    }
}
