//! The arguments of a request: which there are, whether they fit, and where they go.

use std::collections::BTreeMap;

use serde_json::Value;

use super::template::{self, Part};
use super::{RequestError, Source};

/// The most characters of a value an error shows.
const SHOWN_CHARS_MAX: usize = 60;

/// Where an argument goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Into the path.
    Path,
    /// Into the query.
    Query,
    /// Into a header of its name.
    Header,
    /// Into the body.
    Body,
}

struct Declared {
    place: Option<Place>,
    /// What was given, else nothing.
    value: Option<Value>,
    default: Option<Value>,
}

/// An argument that was given and has no place in a template.
pub(super) struct Loose {
    pub(super) name: String,
    pub(super) place: Option<Place>,
    pub(super) value: Value,
}

/// The arguments a command declares, with what was given.
pub(super) struct Arguments {
    declared: BTreeMap<String, Declared>,
    /// What was given and not declared; slots may still want it.
    undeclared: BTreeMap<String, Value>,
}

impl Arguments {
    /// Holds what was given against what is declared.
    pub(super) fn read(source: Source<'_>) -> Result<Self, RequestError> {
        let mut declared = BTreeMap::new();
        let mut undeclared: BTreeMap<String, Value> = source
            .arguments
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        let lists = [source.command.get("args"), source.command.get("flags"), source.document.get("global_flags")];
        for entry in lists.into_iter().flatten().filter_map(Value::as_array).flatten() {
            let Some(written) = entry.get("name").and_then(Value::as_str) else { continue };
            let name = written.trim_start_matches('-');
            if declared.contains_key(name) {
                continue;
            }
            let value = undeclared.remove(written).or_else(|| undeclared.remove(name));
            if let Some(value) = &value {
                fits(name, entry, value)?;
            } else if entry.get("required").and_then(Value::as_bool) == Some(true) && default(entry).is_none() {
                let message = format!("the argument `{name}` is missing");
                return Err(RequestError::argument(message, format!("give it: {{\"{name}\": …}}")));
            }
            let one = Declared { place: place(name, entry)?, value, default: default(entry) };
            declared.insert(name.to_owned(), one);
        }
        Ok(Self { declared, undeclared })
    }

    /// Takes the slots of an address for arguments too, and refuses what nobody knows.
    pub(super) fn declare(&mut self, parts: &[Part]) -> Result<(), RequestError> {
        let bare: Vec<&str> = parts
            .iter()
            .filter_map(|part| if let Part::Slot(name) = part { Some(name.as_str()) } else { None })
            .collect();
        for name in template::slots(parts) {
            if self.declared.contains_key(name) {
                continue;
            }
            let value = self.undeclared.remove(name);
            if value.is_none() && bare.contains(&name) {
                let message = format!("the argument `{name}` is missing");
                return Err(RequestError::argument(message, format!("give it: {{\"{name}\": …}}")));
            }
            self.declared.insert(name.to_owned(), Declared { place: None, value, default: None });
        }
        let Some(name) = self.undeclared.keys().next() else { return Ok(()) };
        let scored = self.declared.keys().map(|known| (strsim::jaro_winkler(name, known), known));
        let near = scored.filter(|(score, _)| *score > 0.8).max_by(|a, b| a.0.total_cmp(&b.0));
        let remedy = match near {
            Some((_, known)) => format!("did you mean `{known}`?"),
            None if self.declared.is_empty() => "it takes no arguments".to_owned(),
            None => format!(
                "there are {}",
                self.declared.keys().map(|known| format!("`{known}`")).collect::<Vec<_>>().join(", ")
            ),
        };
        Err(RequestError::argument(format!("there is no argument `{name}`"), remedy))
    }

    /// Whether an argument is declared.
    pub(super) fn has(&self, name: &str) -> bool {
        self.declared.contains_key(name)
    }

    /// What stands in a written place: what was given, else the default.
    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        self.declared.get(name).and_then(|one| one.value.as_ref().or(one.default.as_ref()))
    }

    /// What was given and is written nowhere.
    pub(super) fn without_place(&self, used: &std::collections::BTreeSet<String>) -> Vec<Loose> {
        let loose = self.declared.iter().filter(|(name, _)| !used.contains(*name));
        loose
            .filter_map(|(name, one)| Some(Loose { name: name.clone(), place: one.place, value: one.value.clone()? }))
            .collect()
    }
}

fn default(entry: &Value) -> Option<Value> {
    entry.get("default").filter(|value| !value.is_null()).cloned()
}

fn place(name: &str, entry: &Value) -> Result<Option<Place>, RequestError> {
    match entry.get("in").map(Value::as_str) {
        None => Ok(None),
        Some(Some("path")) => Ok(Some(Place::Path)),
        Some(Some("query")) => Ok(Some(Place::Query)),
        Some(Some("header")) => Ok(Some(Place::Header)),
        Some(Some("body")) => Ok(Some(Place::Body)),
        Some(_) => {
            let message = format!("the argument `{name}` is `in` a place that there is not");
            Err(RequestError::command(message, "use `path`, `query`, `header` or `body`"))
        }
    }
}

/// Whether a value is of the declared type, and one of the declared values.
fn fits(name: &str, entry: &Value, value: &Value) -> Result<(), RequestError> {
    let kind = entry.get("type").and_then(Value::as_str).unwrap_or_default().to_ascii_lowercase();
    let is_fit = match kind.as_str() {
        "string" | "str" | "text" | "ref" => value.is_string(),
        "int" | "integer" => value.is_i64() || value.is_u64(),
        "number" | "float" => value.is_number(),
        "bool" | "boolean" => value.is_boolean(),
        "object" | "map" => value.is_object(),
        "array" | "list" => value.is_array(),
        list if list.ends_with("[]") => value.is_array(),
        _ => true,
    };
    if !is_fit {
        let message = format!("the argument `{name}` is {}, and not of type `{kind}`", shown(value));
        return Err(RequestError::argument(message, format!("give a value of type `{kind}`")));
    }
    let values = ["values", "enum"].iter().find_map(|field| entry.get(field)).and_then(Value::as_array);
    match values {
        Some(values) if !values.contains(value) => {
            let all: Vec<String> = values.iter().map(ToString::to_string).collect();
            let message = format!("the argument `{name}` is {}, which is none of its values", shown(value));
            Err(RequestError::argument(message, format!("use one of {}", all.join(", "))))
        }
        _ => Ok(()),
    }
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// A value as text, for a place that holds nothing else.
pub(super) fn text(name: &str, value: &Value) -> Result<String, RequestError> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(value) => Ok(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => {
            let message = format!("the argument `{name}` is {}, which cannot be written as text", shown(value));
            Err(RequestError::argument(message, "give a text, a number or a boolean"))
        }
    }
}
