//! Prompts: one for every skill that users may invoke by name, with its arguments.

use rep_library::prompt;
use rep_library::{Catalog, CatalogEntry, SkillStatus};
use rep_model::yaml::YamlNode;
use rmcp::ErrorData;
use rmcp::model::{
    CompletionInfo, GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Reference, Role,
};
use serde_json::Value;

use crate::catalog_view::{self, CatalogView, collapse_whitespace};
use crate::{protocol_error, uri};

/// The argument of a skill that does not declare any.
const REST_ARGUMENT: &str = "arguments";

/// Lists all prompts, in order.
pub(crate) fn list_prompts(catalog: &Catalog) -> Vec<Prompt> {
    let offered = catalog.entries.iter().filter(|entry| is_offered(entry));
    let prompts = offered.map(|entry| {
        Prompt::new(
            &entry.qualified_name,
            Some(collapse_whitespace(&entry.description)),
            Some(declared_arguments(entry)),
        )
    });
    prompts.collect()
}

fn is_offered(entry: &CatalogEntry) -> bool {
    entry.is_user_invocable && matches!(entry.status, SkillStatus::Active | SkillStatus::Hidden)
}

/// Returns the arguments that a skill declares: a list of names or mappings, or a string of words.
fn declared_arguments(entry: &CatalogEntry) -> Vec<PromptArgument> {
    let front = entry.skill.frontmatter();
    let hint = front.and_then(|front| front.get_text("argument-hint")).map(|text| collapse_whitespace(text.value));
    let declared = front.and_then(|front| front.get(REST_ARGUMENT));
    let named: Vec<PromptArgument> = match declared {
        Some(node) if node.items().is_some() => {
            node.items().unwrap_or_default().iter().filter_map(parse_argument).collect()
        }
        Some(node) => node.text().unwrap_or_default().split_whitespace().map(PromptArgument::new).collect(),
        None => Vec::new(),
    };
    if !named.is_empty() {
        return named;
    }
    let about = hint.unwrap_or_else(|| "What to do, in your own words".to_owned());
    vec![PromptArgument::new(REST_ARGUMENT).with_description(about).with_required(false)]
}

fn parse_argument(node: &YamlNode) -> Option<PromptArgument> {
    if let Some(name) = node.text() {
        return Some(PromptArgument::new(name).with_required(false));
    }
    let text = |key: &str| node.get(key).and_then(YamlNode::text);
    let argument = PromptArgument::new(text("name")?).with_required(text("required") == Some("true"));
    Some(match text("description") {
        Some(about) => argument.with_description(collapse_whitespace(about)),
        None => argument,
    })
}

/// Renders a skill's instructions with the arguments filled in.
pub(crate) fn render_prompt(view: &CatalogView, name: &str, given: &JsonObject) -> Result<GetPromptResult, ErrorData> {
    let entry = view.catalog.entries.iter().find(|entry| entry.qualified_name == name && is_offered(entry));
    let entry = entry.ok_or_else(|| {
        protocol_error::invalid_params("unknown prompt; list the available prompts with `prompts/list`")
    })?;
    let arguments = declared_arguments(entry);
    let missing = arguments.iter().find(|one| one.required == Some(true) && !given.contains_key(&one.name));
    if let Some(missing) = missing {
        return Err(protocol_error::invalid_params(format!("missing argument `{}`", missing.name)));
    }
    let body = prompt::read_body(entry).map_err(|_| protocol_error::unreadable_error("the skill"))?;
    let values: Vec<(&str, String)> = arguments
        .iter()
        .map(|one| (one.name.as_str(), given.get(&one.name).map(value_to_text).unwrap_or_default()))
        .collect();
    let mut message = fill_arguments(body.trim(), &values);
    let files = catalog_view::list_contents(entry).map_or(0, |contents| contents.files.len());
    if entry.status == SkillStatus::Active && files > 1 {
        message.push_str(&format!("\n\nThe files of this skill are resources under {}/\n", uri::skill_uri(entry)));
    }
    let mut result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, message)]);
    result.description = Some(collapse_whitespace(&entry.description));
    Ok(result)
}

fn value_to_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Replaces `$ARGUMENTS` with all arguments and `$name` with one argument. Appends them if the text has no placeholder.
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

/// Completes an argument: file paths for the resource template, nothing for prompts, because their values are free
/// text.
pub(crate) fn complete_argument(
    view: &CatalogView,
    reference: &Reference,
    begun: &str,
) -> Result<CompletionInfo, ErrorData> {
    let paths: Vec<String> = match reference {
        Reference::Resource(_) => {
            let paths = view.resources().iter().filter_map(|resource| resource.uri.strip_prefix("skill://"));
            paths.filter(|path| path.starts_with(begun)).map(str::to_owned).collect()
        }
        Reference::Prompt(prompt) => {
            let is_known = view.prompts().iter().any(|known| known.name == prompt.name);
            if !is_known {
                return Err(protocol_error::invalid_params(
                    "unknown prompt; list the available prompts with `prompts/list`",
                ));
            }
            Vec::new()
        }
        _ => Vec::new(),
    };
    let total = u32::try_from(paths.len()).ok();
    let has_more = paths.len() > CompletionInfo::MAX_VALUES;
    let values = paths.into_iter().take(CompletionInfo::MAX_VALUES).collect();
    CompletionInfo::with_pagination(values, total, has_more).map_err(|_| protocol_error::internal_error())
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
