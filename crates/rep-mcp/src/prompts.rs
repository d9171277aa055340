//! A prompt for every skill that people may invoke by name, with its arguments.

use rep_library::disclose;
use rep_library::{Catalog, CatalogEntry, Status};
use rep_model::yaml::Node;
use rmcp::ErrorData;
use rmcp::model::{
    CompletionInfo, GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Reference, Role,
};
use serde_json::Value;

use crate::catalog_view::{self, CatalogView, one_line};
use crate::{protocol_error, uri};

/// The argument of a skill that declares none.
const REST: &str = "arguments";

/// Lists every prompt, in order.
pub(crate) fn list(catalog: &Catalog) -> Vec<Prompt> {
    let offered = catalog.entries.iter().filter(|entry| is_offered(entry));
    let prompts = offered
        .map(|entry| Prompt::new(&entry.qualified_name, Some(one_line(&entry.description)), Some(arguments(entry))));
    prompts.collect()
}

fn is_offered(entry: &CatalogEntry) -> bool {
    entry.is_user_invocable && matches!(entry.status, Status::Active | Status::Hidden)
}

/// The arguments a skill declares: a list of names or of mappings, or words.
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

/// Renders a skill's instructions with the arguments filled in.
pub(crate) fn get(view: &CatalogView, name: &str, given: &JsonObject) -> Result<GetPromptResult, ErrorData> {
    let entry = view.catalog.entries.iter().find(|entry| entry.qualified_name == name && is_offered(entry));
    let entry = entry.ok_or_else(|| protocol_error::invalid("there is no prompt of this name"))?;
    let arguments = arguments(entry);
    let missing = arguments.iter().find(|one| one.required == Some(true) && !given.contains_key(&one.name));
    if let Some(missing) = missing {
        return Err(protocol_error::invalid(format!("the argument `{}` is missing", missing.name)));
    }
    let body = disclose::body(entry).map_err(|_| protocol_error::unreadable("the skill"))?;
    let values: Vec<(&str, String)> =
        arguments.iter().map(|one| (one.name.as_str(), given.get(&one.name).map(text).unwrap_or_default())).collect();
    let mut message = fill_arguments(body.trim(), &values);
    let files = catalog_view::list_contents(entry).map_or(0, |contents| contents.files.len());
    if entry.status == Status::Active && files > 1 {
        message.push_str(&format!("\n\nThe files of this skill are resources below {}/\n", uri::skill_uri(entry)));
    }
    let mut result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, message)]);
    result.description = Some(one_line(&entry.description));
    Ok(result)
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Replaces `$ARGUMENTS` by all arguments and `$name` by one; appends them if the text has no placeholder.
fn fill_arguments(body: &str, values: &[(&str, String)]) -> String {
    let all = values.iter().map(|(_, value)| value.as_str()).filter(|value| !value.is_empty());
    let all = all.collect::<Vec<_>>().join(" ");
    let mut out = String::with_capacity(body.len());
    let mut rest = body;
    let mut is_placed = false;
    // A single pass, so that an argument's value is never read as a placeholder.
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

/// Completes an argument: file paths for the resource template, nothing for prompts, whose values are free text.
pub(crate) fn complete(view: &CatalogView, reference: &Reference, begun: &str) -> Result<CompletionInfo, ErrorData> {
    let paths: Vec<String> = match reference {
        Reference::Resource(_) => {
            let paths = view.resources().iter().filter_map(|resource| resource.uri.strip_prefix("skill://"));
            paths.filter(|path| path.starts_with(begun)).map(str::to_owned).collect()
        }
        Reference::Prompt(prompt) => {
            let is_known = view.prompts().iter().any(|known| known.name == prompt.name);
            if !is_known {
                return Err(protocol_error::invalid("there is no prompt of this name"));
            }
            Vec::new()
        }
        _ => Vec::new(),
    };
    let total = u32::try_from(paths.len()).ok();
    let has_more = paths.len() > CompletionInfo::MAX_VALUES;
    let values = paths.into_iter().take(CompletionInfo::MAX_VALUES).collect();
    CompletionInfo::with_pagination(values, total, has_more).map_err(|_| protocol_error::internal())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_filled_in_once() {
        let values = [("issue", "$branch".to_owned()), ("branch", "main".to_owned())];
        assert_eq!(
            fill_arguments("Fix $issue on $branch for $5: $ARGUMENTS", &values),
            "Fix $branch on main for $5: $branch main"
        );
        assert_eq!(fill_arguments("Do it.", &values), "Do it.\n\nARGUMENTS: $branch main");
        assert_eq!(fill_arguments("Do it.", &[("arguments", String::new())]), "Do it.");
        assert_eq!(fill_arguments("a $", &[]), "a $");
    }
}
