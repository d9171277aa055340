//! The built-in tool that runs a script of a skill, for servers that may run tools.
//!
//! It is offered for all skills, because most of them bundle scripts and declare no tools. The runtime decides,
//! confines and records the run like any other.

use std::collections::BTreeSet;

use rep_library::{CatalogEntry, SkillStatus};
use rep_runtime::{ScriptInvocation, ToolDescriptor, ToolKind};
use rmcp::model::{JsonObject, Tool};
use serde_json::{Map, Value, json};

use crate::catalog_view::{AllowedRuns, CatalogView};
use crate::library_tools::{LibraryToolError, input_schema, output_schema};

/// The name of the tool.
pub(crate) const TOOL_NAME: &str = "run_skill_script";

/// Returns the definition of the tool.
pub(crate) fn list_tool() -> Tool {
    let text = |about: &str| json!({ "type": "string", "description": about });
    let words = json!({ "type": "array", "items": { "type": "string" }, "description": "Its arguments. Each is passed as one word; no shell is involved." });
    let definition = json!({
        "name": TOOL_NAME,
        "title": "Run a script of a skill",
        "description": "Runs a script that a skill bundles, in a sandbox. The script gets only the permissions that the skill declares: by default no network, no files besides its own, no environment and no other programs. `denied` lists what it tried and may not.",
        "inputSchema": input_schema(&json!({
            "skill": text("The name of the skill"),
            "script": text("The path of the script in the skill's directory, such as `scripts/convert.py`"),
            "args": words,
        }), &["skill", "script"]),
        "outputSchema": output_schema(&json!({
            "stdout": { "type": "string" }, "stderr": { "type": "string" }, "returncode": { "type": "integer" },
            "denied": { "type": "array", "items": { "type": "object" } }, "denied_omitted": { "type": "integer" },
        })),
        "annotations": { "title": "Run a script of a skill", "readOnlyHint": false, "destructiveHint": true, "openWorldHint": true },
    });
    serde_json::from_value(definition).expect("the definition above is a valid tool")
}

/// Parses a call into the descriptor of the script. Only active skills that may run are found.
pub(crate) fn parse_call(view: &CatalogView, given: &JsonObject) -> Result<ToolDescriptor, LibraryToolError> {
    if let Some(key) = given.keys().find(|key| !["skill", "script", "args"].contains(&key.as_str())) {
        let error = LibraryToolError::new("INVALID_ARGUMENT", format!("unknown argument `{key}`"));
        return Err(error.with_remedy("valid arguments: skill, script, args"));
    }
    let text = |name: &str| {
        let value = given.get(name).and_then(Value::as_str).filter(|value| !value.is_empty());
        value.ok_or_else(|| LibraryToolError::new("INVALID_ARGUMENT", format!("`{name}` must be a string")))
    };
    let (skill, script) = (text("skill")?, text("script")?);
    parse_words(given)?;
    let entry = view.catalog.get(skill).filter(|entry| entry.status == SkillStatus::Active);
    let entry = entry.filter(|entry| may_run(view.allowed_runs(), entry));
    let entry = entry.ok_or_else(|| {
        let error = LibraryToolError::new("SKILL_NOT_FOUND", format!("skill `{skill}` does not exist or may not run"));
        error.with_remedy("list the available skills with `list_skills`")
    })?;
    Ok(ToolDescriptor {
        name: TOOL_NAME.to_owned(),
        skill: entry.qualified_name.clone(),
        tool: script.to_owned(),
        kind: ToolKind::Script,
        definition: Value::Null,
        session_argument: None,
    })
}

/// Returns the script that a call runs. The arguments were checked by [`parse_call`].
pub(crate) fn build_invocation(tool: &ToolDescriptor, input: &Map<String, Value>) -> ScriptInvocation {
    ScriptInvocation { path: tool.tool.clone(), arguments: parse_words(input).unwrap_or_default() }
}

fn parse_words(given: &JsonObject) -> Result<Vec<String>, LibraryToolError> {
    let error = || LibraryToolError::new("INVALID_ARGUMENT", "`args` must be a list of strings");
    match given.get("args") {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => {
            items.iter().map(|item| item.as_str().map(str::to_owned).ok_or_else(error)).collect()
        }
        Some(_) => Err(error()),
    }
}

/// Whether the operator allows runs of a skill.
pub(crate) fn may_run(allowed: &AllowedRuns, entry: &CatalogEntry) -> bool {
    let is_named = |skills: &BTreeSet<String>| {
        skills.is_empty() || skills.contains(&entry.qualified_name) || skills.contains(&entry.name)
    };
    match allowed {
        AllowedRuns::None => false,
        AllowedRuns::All => true,
        AllowedRuns::Only(skills) => is_named(skills),
    }
}
