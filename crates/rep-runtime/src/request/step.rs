//! The arguments of a request, out of the words of a workflow's step.

use rep_model::Document;
use rep_model::uasp::Command;
use serde_json::{Map, Value};

use crate::command::BindError;
use crate::command::argument::Parameter;
use crate::error::ErrorCode;

/// Reads the words of a step that starts a request: behind the command's path, `name=value` fills the argument of that name, and
/// every other word the next one that is declared.
pub fn arguments_of(document: &Document, command: &Command, words: &[String]) -> Result<Map<String, Value>, BindError> {
    let refuse = |message: String, remedy: &str| BindError {
        code: ErrorCode::InvalidArgument,
        message,
        remedy: remedy.to_owned(),
    };
    let name = &command.path;
    let path = command.name_length(words).unwrap_or(0);
    let parameters = command.arguments.iter();
    let parameters: Vec<Parameter> =
        parameters.filter_map(|definition| Parameter::of(definition, document, false, false)).collect();
    let mut found = Map::new();
    for word in &words[path..] {
        let named = word.split_once('=').and_then(|(key, value)| {
            let parameter = parameters.iter().find(|parameter| parameter.keys.iter().any(|own| own == key))?;
            Some((parameter, value))
        });
        let next = || parameters.iter().find(|parameter| !found.contains_key(parameter.name()));
        let Some((parameter, text)) = named.or_else(|| next().map(|parameter| (parameter, word.as_str()))) else {
            let message = format!("`{word}` is more than the command `{name}` takes");
            return Err(refuse(message, "leave it out, or declare an argument for it"));
        };
        let value = parameter.read(text);
        let own = parameter.name().to_owned();
        match found.get_mut(&own) {
            Some(Value::Array(items)) if parameter.is_list => items.push(value),
            Some(_) => {
                let message = format!("the argument `{own}` of `{name}` is given twice");
                return Err(refuse(message, "give it once"));
            }
            None if parameter.is_list => drop(found.insert(own, Value::Array(vec![value]))),
            None => drop(found.insert(own, value)),
        }
    }
    Ok(found)
}
