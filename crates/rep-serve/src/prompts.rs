//! A prompt for every skill people may call by name, with its arguments.

use rep_library::disclose;
use rep_library::{Catalog, CatalogEntry, Status};
use rep_model::yaml::Node;
use rmcp::ErrorData;
use rmcp::model::{
    CompletionInfo, GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Reference, Role,
};
use serde_json::Value;

use crate::shelf::{self, Shelf, one_line};
use crate::{fault, uri};

/// The argument of a skill that names none.
const REST: &str = "arguments";

/// Every prompt, in order.
pub(crate) fn all(catalog: &Catalog) -> Vec<Prompt> {
    let offered = catalog.entries.iter().filter(|entry| is_offered(entry));
    let made = offered
        .map(|entry| Prompt::new(&entry.qualified_name, Some(one_line(&entry.description)), Some(arguments(entry))));
    made.collect()
}

fn is_offered(entry: &CatalogEntry) -> bool {
    entry.is_user_invocable && matches!(entry.status, Status::Active | Status::Hidden)
}

/// The arguments a skill names: as a list of names or of mappings, or as words.
fn arguments(entry: &CatalogEntry) -> Vec<PromptArgument> {
    let front = entry.skill.front();
    let hint = front.and_then(|front| front.text("argument-hint")).map(|text| one_line(text.value));
    let declared = front.and_then(|front| front.get(REST));
    let named: Vec<PromptArgument> = match declared {
        Some(node) if node.items().is_some() => node.items().unwrap_or_default().iter().filter_map(argument).collect(),
        Some(node) => node.text().unwrap_or_default().split_whitespace().map(PromptArgument::new).collect(),
        None => Vec::new(),
    };
    if !named.is_empty() {
        return named;
    }
    let about = hint.unwrap_or_else(|| "What to do, in your words".to_owned());
    vec![PromptArgument::new(REST).with_description(about).with_required(false)]
}

fn argument(node: &Node) -> Option<PromptArgument> {
    if let Some(name) = node.text() {
        return Some(PromptArgument::new(name).with_required(false));
    }
    let text = |key: &str| node.get(key).and_then(Node::text);
    let argument = PromptArgument::new(text("name")?).with_required(text("required") == Some("true"));
    Some(match text("description") {
        Some(about) => argument.with_description(one_line(about)),
        None => argument,
    })
}

/// A skill's instructions with the arguments in their places.
pub(crate) fn get(shelf: &Shelf, name: &str, given: &JsonObject) -> Result<GetPromptResult, ErrorData> {
    let entry = shelf.catalog.entries.iter().find(|entry| entry.qualified_name == name && is_offered(entry));
    let entry = entry.ok_or_else(|| fault::invalid("there is no prompt of this name"))?;
    let arguments = arguments(entry);
    let missing = arguments.iter().find(|one| one.required == Some(true) && !given.contains_key(&one.name));
    if let Some(missing) = missing {
        return Err(fault::invalid(format!("the argument `{}` is missing", missing.name)));
    }
    let body = disclose::body(entry).map_err(|_| fault::unreadable("the skill"))?;
    let values: Vec<(&str, String)> =
        arguments.iter().map(|one| (one.name.as_str(), given.get(&one.name).map(text).unwrap_or_default())).collect();
    let mut message = filled(body.trim(), &values);
    let files = shelf::held(entry).map_or(0, |held| held.files.len());
    if entry.status == Status::Active && files > 1 {
        message.push_str(&format!("\n\nThe files of this skill are resources below {}/\n", uri::of_skill(entry)));
    }
    let mut result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, message)]);
    result.description = Some(one_line(&entry.description));
    Ok(result)
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Puts arguments where the text wants them: `$ARGUMENTS` for all, `$name` for one; behind it where it wants none.
fn filled(body: &str, values: &[(&str, String)]) -> String {
    let all = values.iter().map(|(_, value)| value.as_str()).filter(|value| !value.is_empty());
    let all = all.collect::<Vec<_>>().join(" ");
    let mut out = String::with_capacity(body.len());
    let mut rest = body;
    let mut is_placed = false;
    // One pass, so that an argument is never taken for a place of another.
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let behind = &rest[at + 1..];
        let end = behind.find(|letter: char| !(letter.is_alphanumeric() || letter == '_' || letter == '-'));
        let word = &behind[..end.unwrap_or(behind.len())];
        let value = match word {
            "ARGUMENTS" => Some(all.as_str()),
            _ => values.iter().find(|(name, _)| *name == word).map(|(_, value)| value.as_str()),
        };
        if let Some(value) = value {
            out.push_str(value);
            is_placed = true;
            rest = &behind[word.len()..];
        } else {
            out.push('$');
            rest = behind;
        }
    }
    out.push_str(rest);
    if !is_placed && !all.is_empty() {
        out.push_str(&format!("\n\nARGUMENTS: {all}"));
    }
    out
}

/// What an argument could be: the paths of files for the template, nothing for prompts, whose values are free.
pub(crate) fn complete(shelf: &Shelf, reference: &Reference, begun: &str) -> Result<CompletionInfo, ErrorData> {
    let paths: Vec<String> = match reference {
        Reference::Resource(_) => {
            let paths = shelf.resources().iter().filter_map(|resource| resource.uri.strip_prefix("skill://"));
            paths.filter(|path| path.starts_with(begun)).map(str::to_owned).collect()
        }
        Reference::Prompt(prompt) => {
            let is_known = shelf.prompts().iter().any(|known| known.name == prompt.name);
            if !is_known {
                return Err(fault::invalid("there is no prompt of this name"));
            }
            Vec::new()
        }
        _ => Vec::new(),
    };
    let total = u32::try_from(paths.len()).ok();
    let has_more = paths.len() > CompletionInfo::MAX_VALUES;
    let values = paths.into_iter().take(CompletionInfo::MAX_VALUES).collect();
    CompletionInfo::with_pagination(values, total, has_more).map_err(|_| fault::internal())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_put_in_their_places_once() {
        let values = [("issue", "$branch".to_owned()), ("branch", "main".to_owned())];
        assert_eq!(
            filled("Fix $issue on $branch for $5: $ARGUMENTS", &values),
            "Fix $branch on main for $5: $branch main"
        );
        assert_eq!(filled("Do it.", &values), "Do it.\n\nARGUMENTS: $branch main");
        assert_eq!(filled("Do it.", &[("arguments", String::new())]), "Do it.");
        assert_eq!(filled("a $", &[]), "a $");
    }
}
