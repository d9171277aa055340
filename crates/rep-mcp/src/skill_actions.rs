//! How a model calls the tools and scripts of a skill: part of the answer of `load_skill`, and the two tools that replace
//! the skills' own tools in the list if there are many of them.

use rep_library::CatalogEntry;
use rep_model::truncate::truncate_chars;
use rep_runtime::ToolDescriptor;
use rmcp::model::{JsonObject, Tool};
use serde_json::{Value, json};

use crate::catalog_view::{AllowedRuns, CatalogView, collapse_whitespace, list_contents};
use crate::library_tools::{LibraryToolError, input_schema, output_schema};
use crate::script_tool;

/// The names of the two tools.
pub(crate) const RUN_TOOL_NAME: &str = "run_skill_tool";
pub(crate) const SEARCH_TOOL_NAME: &str = "search_skill_tools";
/// The maximum number of tools of skills that are listed as tools of the server. Hosts accept 128 tools, and each costs
/// about 100 tokens.
pub(crate) const LISTED_TOOLS_MAX: usize = 40;
/// The maximum number of tools and scripts that `load_skill` names, and the length of their descriptions.
const ACTIONS_MAX: usize = 40;
const ABOUT_CHARS_MAX: usize = 160;
/// The maximum number of tools that a search returns.
const FOUND_TOOLS_MAX: usize = 10;
/// The endings of files that interpreters run.
const SCRIPT_ENDINGS: [&str; 8] = [".py", ".sh", ".bash", ".js", ".mjs", ".cjs", ".ts", ".rb"];

/// Describes how to call the tools and scripts of a skill, in complete lines. Empty if there are none.
pub(crate) fn describe_actions(view: &CatalogView, entry: &CatalogEntry, is_local: bool) -> String {
    let mut text = String::new();
    let tools: Vec<&ToolDescriptor> = view.tools().iter().filter(|tool| tool.skill == entry.qualified_name).collect();
    if !tools.is_empty() {
        let is_listed = view.lists_skill_tools();
        let how = if is_listed { "call them by these names" } else { "call them with `run_skill_tool`" };
        text.push_str(&format!("\nTools of this skill; {how}:\n"));
        for tool in tools.iter().take(ACTIONS_MAX) {
            text.push_str(&format!("- `{}`: {}\n", tool.name, describe_tool(tool)));
            if !is_listed {
                text.push_str(&format!("  arguments: {}\n", tool.definition["inputSchema"]));
            }
        }
        if tools.len() > ACTIONS_MAX {
            text.push_str(&format!("- {} more; list them with `tools/list`\n", tools.len() - ACTIONS_MAX));
        }
    }
    text.push_str(&describe_scripts(view, entry, is_local));
    text
}

fn describe_scripts(view: &CatalogView, entry: &CatalogEntry, is_local: bool) -> String {
    let can_run = script_tool::may_run(view.allowed_runs(), entry);
    if !can_run && !is_local {
        return String::new();
    }
    let Ok(contents) = list_contents(entry) else { return String::new() };
    let is_script = |path: &&String| SCRIPT_ENDINGS.iter().any(|ending| path.ends_with(ending));
    let scripts: Vec<&String> = contents.files.keys().filter(is_script).collect();
    if scripts.is_empty() {
        return String::new();
    }
    let how = if can_run {
        format!("run them with `{}` and `skill`: `{}`", script_tool::TOOL_NAME, entry.qualified_name)
    } else {
        "this server does not run them; they are in the skill directory".to_owned()
    };
    let named: Vec<String> = scripts.iter().take(ACTIONS_MAX).map(|path| format!("`{path}`")).collect();
    let rest = scripts.len().saturating_sub(ACTIONS_MAX);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    format!("\nScripts of this skill; {how}: {}{more}\n", named.join(", "))
}

fn describe_tool(tool: &ToolDescriptor) -> String {
    let about = collapse_whitespace(tool.definition["description"].as_str().unwrap_or_default());
    truncate_chars(&about, ABOUT_CHARS_MAX).to_owned()
}

/// Returns the definitions of the two tools that replace the skills' own tools in the list.
pub(crate) fn list_tools(count: usize) -> [Tool; 2] {
    let text = |about: &str| json!({ "type": "string", "description": about });
    let search = json!({
        "name": SEARCH_TOOL_NAME,
        "title": "Search tools of skills",
        "description": format!("Finds tools of skills by words, with their arguments. Call it if you need one of the {count} tools and no loaded skill names it."),
        "inputSchema": input_schema(&json!({ "text": text("What the tool should do, in a few words") }), &["text"]),
        "outputSchema": output_schema(&json!({ "tools": { "type": "array", "items": { "type": "object" } } })),
        "annotations": { "title": "Search tools of skills", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false },
    });
    let run = json!({
        "name": RUN_TOOL_NAME,
        "title": "Run a tool of a skill",
        "description": "Runs a tool of a skill in a sandbox. Call it with a name that `load_skill` or `search_skill_tools` returned.",
        "inputSchema": input_schema(&json!({
            "tool": text("The name of the tool, such as `csv-profile__profile`"),
            "arguments": { "type": "object", "description": "The arguments of the tool" },
        }), &["tool"]),
        "annotations": { "title": "Run a tool of a skill", "readOnlyHint": false, "destructiveHint": true, "openWorldHint": true },
    });
    [search, run].map(|tool| serde_json::from_value(tool).expect("the definitions above are valid tools"))
}

/// Finds tools of skills by words: all of them must occur in the name or the description, or else most of them.
pub(crate) fn search_tools(view: &CatalogView, given: &JsonObject) -> Result<Value, LibraryToolError> {
    if let Some(key) = given.keys().find(|key| *key != "text") {
        return Err(LibraryToolError::new("INVALID_ARGUMENT", format!("unknown argument `{key}`")));
    }
    let text = given.get("text").and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let text = text.ok_or_else(|| LibraryToolError::new("INVALID_ARGUMENT", "`text` must be a string"))?;
    let words = |text: &str| -> Vec<String> {
        let runs = text.split(|letter: char| !letter.is_alphanumeric());
        runs.filter(|run| !run.is_empty()).map(str::to_lowercase).collect()
    };
    let wanted = words(text);
    // The skills that fit decide among tools with the same words.
    let hits = view.catalog.search_active(text, 50);
    let rank = |tool: &ToolDescriptor| {
        hits.iter().position(|hit| view.catalog.entries[hit.entry].qualified_name == tool.skill)
    };
    let mut found: Vec<(usize, usize, &ToolDescriptor)> = view
        .tools()
        .iter()
        .filter_map(|tool| {
            let own = words(&format!("{} {}", tool.name, tool.definition["description"].as_str().unwrap_or_default()));
            let count = wanted.iter().filter(|word| own.iter().any(|own| own.starts_with(word.as_str()))).count();
            (count > 0).then(|| (wanted.len() - count, rank(tool).unwrap_or(usize::MAX), tool))
        })
        .collect();
    found.sort_by(|one, other| (one.0, one.1, &one.2.name).cmp(&(other.0, other.1, &other.2.name)));
    let tools = found.iter().take(FOUND_TOOLS_MAX).map(|(_, _, tool)| {
        json!({ "name": tool.name, "description": describe_tool(tool), "input_schema": tool.definition["inputSchema"] })
    });
    Ok(json!({ "tools": tools.collect::<Vec<Value>>() }))
}

/// Parses a call of `run_skill_tool` into the tool and its arguments.
pub(crate) fn parse_call(
    view: &CatalogView,
    given: &JsonObject,
) -> Result<(ToolDescriptor, JsonObject), LibraryToolError> {
    let invalid = |message: String| LibraryToolError::new("INVALID_ARGUMENT", message);
    if let Some(key) = given.keys().find(|key| !["tool", "arguments"].contains(&key.as_str())) {
        let error = invalid(format!("unknown argument `{key}`"));
        return Err(error.with_remedy("pass the arguments of the tool in `arguments`"));
    }
    let name =
        given.get("tool").and_then(Value::as_str).ok_or_else(|| invalid("`tool` must be a string".to_owned()))?;
    let arguments = match given.get("arguments") {
        None | Some(Value::Null) => JsonObject::new(),
        Some(Value::Object(arguments)) => arguments.clone(),
        Some(_) => return Err(invalid("`arguments` must be an object".to_owned())),
    };
    let tool = view.find_tool(name).ok_or_else(|| {
        let error = LibraryToolError::new("TOOL_NOT_FOUND", format!("tool `{name}` does not exist"));
        error.with_remedy("load its skill with `load_skill`, or search with `search_skill_tools`")
    })?;
    Ok((tool.clone(), arguments))
}

/// Whether a name is one of the two tools, and the view offers them.
pub(crate) fn is_offered(view: &CatalogView, name: &str) -> bool {
    [RUN_TOOL_NAME, SEARCH_TOOL_NAME].contains(&name)
        && *view.allowed_runs() != AllowedRuns::None
        && !view.lists_skill_tools()
}
