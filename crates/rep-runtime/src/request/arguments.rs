//! The arguments of a request: declarations, validation and placement.

use std::collections::BTreeMap;

use rep_model::suggestion::nearest_name;
use rep_model::uasp::ArgumentLocation;
use serde_json::Value;

use super::template::{self, TemplatePart};
use super::{RequestError, RequestInputs};
use crate::command::argument::CommandParameter;

/// The location of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArgumentPlace {
    /// In the path.
    Path,
    /// In the query.
    Query,
    /// In a header with its name.
    Header,
    /// In the body.
    Body,
}

struct DeclaredArgument {
    place: Option<ArgumentPlace>,
    /// The given value.
    value: Option<Value>,
    default: Option<Value>,
}

/// A given argument without a placeholder.
pub(super) struct UnplacedArgument {
    pub(super) name: String,
    pub(super) place: Option<ArgumentPlace>,
    pub(super) value: Value,
}

/// The declared arguments of a command, with the given values.
pub(super) struct RequestArguments {
    declared: BTreeMap<String, DeclaredArgument>,
    /// Given arguments that are not declared; slots may still use them.
    undeclared: BTreeMap<String, Value>,
}

impl RequestArguments {
    /// Validates the given arguments. Types and values are checked as for other commands.
    pub(super) fn from_inputs(source: RequestInputs<'_>) -> Result<Self, RequestError> {
        let (document, command) = (source.document, source.command);
        let given = source.arguments.iter().filter(|(_, value)| !value.is_null());
        let mut undeclared: BTreeMap<String, Value> = given.map(|(key, value)| (key.clone(), value.clone())).collect();
        let mut declared = BTreeMap::new();
        let arguments = command.arguments.iter().map(|entry| (entry, false, false));
        let flags = command.flags.iter().map(|entry| (entry, true, false));
        let global = document.sections.global_flags.iter().map(|entry| (entry, true, true));
        for (entry, is_flag, is_global) in arguments.chain(flags).chain(global) {
            let Some(parameter) = CommandParameter::from_definition(entry, document, is_flag, is_global) else {
                continue;
            };
            let name = parameter.name().trim_start_matches('-').to_owned();
            if name.is_empty() || declared.contains_key(&name) {
                continue;
            }
            let value = parameter.keys.iter().find_map(|key| undeclared.remove(key));
            match &value {
                // Without a declared type, a list or mapping is accepted like text.
                Some(value) if parameter.is_typed || !parameter.values.is_empty() => drop(parameter.to_texts(value)?),
                None if parameter.is_required == Some(true) && parameter.default.is_none() => {
                    return Err(missing_argument_error(&name));
                }
                Some(_) | None => {}
            }
            let place = entry.location.map(|location| convert_location(&name, location)).transpose()?;
            declared.insert(name, DeclaredArgument { place, value, default: parameter.default });
        }
        Ok(Self { declared, undeclared })
    }

    /// Declares the slots of an address as arguments, and refuses unknown arguments.
    pub(super) fn declare_slots(&mut self, parts: &[TemplatePart]) -> Result<(), RequestError> {
        let bare: Vec<&str> = parts
            .iter()
            .filter_map(|part| if let TemplatePart::Slot(name) = part { Some(name.as_str()) } else { None })
            .collect();
        for name in template::list_slot_names(parts) {
            if self.declared.contains_key(name) {
                continue;
            }
            let value = self.undeclared.remove(name);
            if value.is_none() && bare.contains(&name) {
                return Err(missing_argument_error(name));
            }
            self.declared.insert(name.to_owned(), DeclaredArgument { place: None, value, default: None });
        }
        let Some(name) = self.undeclared.keys().next() else { return Ok(()) };
        let near = nearest_name(name, self.declared.keys().map(String::as_str));
        let remedy = match near {
            Some(known) => format!("did you mean `{known}`?"),
            None if self.declared.is_empty() => "it takes no arguments".to_owned(),
            None => format!(
                "the arguments are {}",
                self.declared.keys().map(|known| format!("`{known}`")).collect::<Vec<_>>().join(", ")
            ),
        };
        Err(RequestError::invalid_argument(format!("unknown argument `{name}`"), remedy))
    }

    /// Returns whether an argument is declared.
    pub(super) fn is_declared(&self, name: &str) -> bool {
        self.declared.contains_key(name)
    }

    /// Returns the value for a written placeholder: the given one, otherwise the default.
    pub(super) fn find_value(&self, name: &str) -> Option<&Value> {
        self.declared.get(name).and_then(|one| one.value.as_ref().or(one.default.as_ref()))
    }

    /// Returns the given arguments that have no placeholder.
    pub(super) fn collect_unplaced(&self, used: &std::collections::BTreeSet<String>) -> Vec<UnplacedArgument> {
        let loose = self.declared.iter().filter(|(name, _)| !used.contains(*name));
        loose
            .filter_map(|(name, one)| {
                Some(UnplacedArgument { name: name.clone(), place: one.place, value: one.value.clone()? })
            })
            .collect()
    }
}

/// The error for a missing required argument.
pub(super) fn missing_argument_error(name: &str) -> RequestError {
    RequestError::invalid_argument(format!("the argument `{name}` is missing"), format!("give it: {{\"{name}\": …}}"))
}

fn convert_location(name: &str, location: ArgumentLocation) -> Result<ArgumentPlace, RequestError> {
    match location {
        ArgumentLocation::Path => Ok(ArgumentPlace::Path),
        ArgumentLocation::Query => Ok(ArgumentPlace::Query),
        ArgumentLocation::Header => Ok(ArgumentPlace::Header),
        ArgumentLocation::Body => Ok(ArgumentPlace::Body),
        ArgumentLocation::Unknown => {
            let message = format!("the argument `{name}` has an invalid `in`");
            Err(RequestError::invalid_command(message, "use `path`, `query`, `header` or `body`"))
        }
    }
}

/// Converts a value to text, for a place that allows only text.
pub(super) fn value_to_text(name: &str, value: &Value) -> Result<String, RequestError> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(value) => Ok(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => {
            let message =
                format!("the argument `{name}` is {}, which cannot be written as text", value_kind_name(value));
            Err(RequestError::invalid_argument(message, "give a text, a number or a boolean"))
        }
    }
}

fn value_kind_name(value: &Value) -> &'static str {
    match value {
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => "a value",
    }
}
