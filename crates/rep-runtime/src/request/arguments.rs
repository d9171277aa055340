//! The arguments of a request: which there are, whether they fit, and where they go.

use std::collections::BTreeMap;

use rep_model::suggestion::nearest_name;
use rep_model::uasp::ArgumentLocation;
use serde_json::Value;

use super::template::{self, Part};
use super::{RequestError, Source};
use crate::command::argument::Parameter;

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
    /// Holds what was given against what is declared. Types and values are judged as those of other commands are.
    pub(super) fn read(source: Source<'_>) -> Result<Self, RequestError> {
        let (document, command) = (source.document, source.command);
        let given = source.arguments.iter().filter(|(_, value)| !value.is_null());
        let mut undeclared: BTreeMap<String, Value> = given.map(|(key, value)| (key.clone(), value.clone())).collect();
        let mut declared = BTreeMap::new();
        let arguments = command.arguments.iter().map(|entry| (entry, false, false));
        let flags = command.flags.iter().map(|entry| (entry, true, false));
        let global = document.sections.global_flags.iter().map(|entry| (entry, true, true));
        for (entry, is_flag, is_global) in arguments.chain(flags).chain(global) {
            let Some(parameter) = Parameter::of(entry, document, is_flag, is_global) else { continue };
            let name = parameter.name().trim_start_matches('-').to_owned();
            if name.is_empty() || declared.contains_key(&name) {
                continue;
            }
            let value = parameter.keys.iter().find_map(|key| undeclared.remove(key));
            match &value {
                // Where nothing is said about it, a list or a mapping is as good as a text.
                Some(value) if parameter.is_typed || !parameter.values.is_empty() => drop(parameter.texts(value)?),
                None if parameter.is_required == Some(true) && parameter.default.is_none() => {
                    return Err(missing(&name));
                }
                Some(_) | None => {}
            }
            let place = entry.location.map(|location| place(&name, location)).transpose()?;
            declared.insert(name, Declared { place, value, default: parameter.default });
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
                return Err(missing(name));
            }
            self.declared.insert(name.to_owned(), Declared { place: None, value, default: None });
        }
        let Some(name) = self.undeclared.keys().next() else { return Ok(()) };
        let near = nearest_name(name, self.declared.keys().map(String::as_str));
        let remedy = match near {
            Some(known) => format!("did you mean `{known}`?"),
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

/// An argument that must be there, and is not.
pub(super) fn missing(name: &str) -> RequestError {
    RequestError::argument(format!("the argument `{name}` is missing"), format!("give it: {{\"{name}\": …}}"))
}

fn place(name: &str, location: ArgumentLocation) -> Result<Place, RequestError> {
    match location {
        ArgumentLocation::Path => Ok(Place::Path),
        ArgumentLocation::Query => Ok(Place::Query),
        ArgumentLocation::Header => Ok(Place::Header),
        ArgumentLocation::Body => Ok(Place::Body),
        ArgumentLocation::Unknown => {
            let message = format!("the argument `{name}` is `in` a place that there is not");
            Err(RequestError::command(message, "use `path`, `query`, `header` or `body`"))
        }
    }
}

/// A value as text, for a place that holds nothing else.
pub(super) fn text(name: &str, value: &Value) -> Result<String, RequestError> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(value) => Ok(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => {
            let message = format!("the argument `{name}` is {}, which cannot be written as text", kind(value));
            Err(RequestError::argument(message, "give a text, a number or a boolean"))
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => "a value",
    }
}
