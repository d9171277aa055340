//! Parses the words of a workflow step into the arguments of a request.

use rep_model::SkillDocument;
use rep_model::uasp::UaspCommand;
use serde_json::{Map, Value};

use crate::command::BindError;
use crate::command::argument::CommandParameter;
use crate::error::ErrorCode;

/// Parses the words of a step that sends a request. After the command's path, `name=value` sets the argument
/// with that name, and every other word sets the next declared argument.
pub fn parse_step_arguments(
    document: &SkillDocument,
    command: &UaspCommand,
    words: &[String],
) -> Result<Map<String, Value>, BindError> {
    let refuse = |message: String, remedy: &str| BindError {
        code: ErrorCode::InvalidArgument,
        message,
        remedy: remedy.to_owned(),
    };
    let name = &command.path;
    let path = command.count_name_words(words).unwrap_or(0);
    let parameters = command.arguments.iter();
    let parameters: Vec<CommandParameter> = parameters
        .filter_map(|definition| CommandParameter::from_definition(definition, document, false, false))
        .collect();
    let mut found = Map::new();
    for word in &words[path..] {
        let named = word.split_once('=').and_then(|(key, value)| {
            let parameter = parameters.iter().find(|parameter| parameter.keys.iter().any(|own| own == key))?;
            Some((parameter, value))
        });
        let next = || parameters.iter().find(|parameter| !found.contains_key(parameter.name()));
        let Some((parameter, text)) = named.or_else(|| next().map(|parameter| (parameter, word.as_str()))) else {
            let message = format!("unexpected argument `{word}` for the command `{name}`");
            return Err(refuse(message, "remove it, or declare an argument for it"));
        };
        let value = parameter.parse_text(text);
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
