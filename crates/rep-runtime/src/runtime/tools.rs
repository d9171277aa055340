//! The tools of a catalog that may be called, as MCP lists them.

use std::collections::{BTreeMap, BTreeSet};

use rep_check::tools::effective_tools;
use rep_hosts::Source;
use rep_hosts::hosts::mcp_tool;
use rep_library::{Catalog, CatalogEntry, Status, read};
use rep_model::uasp::Command;
use rep_model::{Document, Skill};
use serde_json::{Map, Value, json};

use super::Runtime;
use crate::command;
use crate::executable_skill::tool_name;

/// The longest name of a tool.
const NAME_CHARS_MAX: usize = 128;
/// The most commands of one skill that are listed.
const COMMANDS_MAX: usize = 500;

/// What a descriptor stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolKind {
    /// A tool with contracts.
    Tool,
    /// A command of a structured skill, which has state.
    Command,
}

/// A tool of a skill that may be called.
#[derive(Clone, Debug)]
pub struct ToolDescriptor {
    /// The name clients call it by.
    pub name: String,
    /// The skill's qualified name.
    pub skill: String,
    /// The tool's own name, or a command's path.
    pub tool: String,
    /// What it is.
    pub kind: ToolKind,
    /// How MCP lists it, as JSON.
    pub definition: Value,
    /// The argument that names the session, for commands.
    pub session_argument: Option<&'static str>,
}

impl ToolDescriptor {
    /// Whether the tool declares a contract for its result.
    pub fn has_output_schema(&self) -> bool {
        self.definition.get("outputSchema").is_some()
    }
}

/// Why a tool of a skill is not listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolFault {
    /// The skill's qualified name.
    pub skill: String,
    /// The tool's own name; empty if the whole skill is meant.
    pub tool: String,
    /// Why it is not listed.
    pub message: String,
}

/// The tools of a catalog.
#[derive(Clone, Debug, Default)]
pub struct ToolListing {
    /// Those that may be called, by name.
    pub tools: Vec<ToolDescriptor>,
    /// Those that cannot be listed.
    pub faults: Vec<ToolFault>,
}

impl Runtime {
    /// The tools and commands of a catalog's active skills, restricted to some skills if any are named.
    pub fn tools(&self, catalog: &Catalog, only: &BTreeSet<String>) -> ToolListing {
        let is_allowed = |entry: &&CatalogEntry| {
            let names = [&entry.qualified_name, &entry.name];
            entry.status == Status::Active && (only.is_empty() || names.into_iter().any(|name| only.contains(name)))
        };
        let mut tools: BTreeMap<String, ToolDescriptor> = BTreeMap::new();
        let mut faults = Vec::new();
        for entry in catalog.entries.iter().filter(is_allowed) {
            for listed in descriptors(entry) {
                match listed.and_then(checked) {
                    Ok(descriptor) => match tools.get(&descriptor.name) {
                        None => drop(tools.insert(descriptor.name.clone(), descriptor)),
                        Some(first) => faults.push(ToolFault {
                            message: format!(
                                "its name `{}` is taken by `{}:{}`",
                                descriptor.name, first.skill, first.tool
                            ),
                            skill: descriptor.skill,
                            tool: descriptor.tool,
                        }),
                    },
                    Err(fault) => faults.push(fault),
                }
            }
        }
        ToolListing { tools: tools.into_values().collect(), faults }
    }
}

/// What one skill offers.
fn descriptors(entry: &CatalogEntry) -> Vec<Result<ToolDescriptor, ToolFault>> {
    let Ok(skill) = read::skill(entry) else {
        let message = "the skill cannot be read".to_owned();
        return vec![Err(ToolFault { skill: entry.qualified_name.clone(), tool: String::new(), message })];
    };
    let name = entry.qualified_name.replace(':', ".");
    let tools = effective_tools(&skill).tools;
    let source = Source { name: &name, skill: &skill, tools: &tools };
    let descriptor = |tool: &str, kind: ToolKind, session_argument, mut definition: Value| {
        let name = plain_name(definition["name"].as_str().unwrap_or_default());
        definition["name"] = name.clone().into();
        let (skill, tool) = (entry.qualified_name.clone(), tool.to_owned());
        ToolDescriptor { name, skill, tool, kind, definition, session_argument }
    };
    let mut found: Vec<Result<ToolDescriptor, ToolFault>> = tools
        .iter()
        .map(|tool| Ok(descriptor(tool_name(tool), ToolKind::Tool, None, mcp_tool(&source, tool))))
        .collect();
    if let Some(document) = Document::authored(&skill) {
        let paths = document.runnable_names();
        if paths.len() > COMMANDS_MAX {
            let message =
                format!("{} commands beyond the first {COMMANDS_MAX} are not listed", paths.len() - COMMANDS_MAX);
            found.push(Err(ToolFault { skill: entry.qualified_name.clone(), tool: String::new(), message }));
        }
        found.extend(paths.into_iter().take(COMMANDS_MAX).map(|path| {
            let session = session_argument(&document, &path);
            let definition = command_definition(&name, &path, &document, &skill, session);
            Ok(descriptor(&path, ToolKind::Command, Some(session), definition))
        }));
    }
    found
}

/// A descriptor as every client accepts it: one tool that is listed otherwise would hide all others from some.
fn checked(mut descriptor: ToolDescriptor) -> Result<ToolDescriptor, ToolFault> {
    let is_object = |schema: &Value| schema.get("type").is_some_and(|kind| kind == "object");
    if let Some(definition) = descriptor.definition.as_object_mut()
        && !definition.get("outputSchema").is_some_and(is_object)
    {
        definition.shift_remove("outputSchema");
    }
    if is_object(&descriptor.definition["inputSchema"]) {
        return Ok(descriptor);
    }
    let message = "its `input_schema` is not an object schema, which MCP requires".to_owned();
    Err(ToolFault { skill: descriptor.skill, tool: descriptor.tool, message })
}

/// A name in the characters tools may have.
fn plain_name(name: &str) -> String {
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.') { letter } else { '_' }
    };
    name.chars().map(plain).take(NAME_CHARS_MAX).collect()
}

/// The argument that names the session: one that the command has no argument of its own for.
fn session_argument(document: &Document, path: &str) -> &'static str {
    let own = document.find_command(path).into_iter().flat_map(Command::parameters);
    let names = own.chain(&document.sections.global_flags).filter_map(|one| one.name.as_deref());
    if names.map(|name| name.trim_start_matches('-')).any(|name| name == "session") { "rep_session" } else { "session" }
}

/// A command as a server lists it. Its arguments are checked when it is called, by the author's syntax.
fn command_definition(skill: &str, path: &str, document: &Document, parsed: &Skill, session: &str) -> Value {
    let template = path.strip_prefix("templates.").and_then(|name| document.template(name));
    let definition = if path.starts_with("templates.") { None } else { document.find_command(path) };
    let described = match (template, definition) {
        (Some(template), _) => command::described(document, &template.arguments, &[]),
        (None, Some(definition)) => command::described(document, &definition.arguments, &definition.flags),
        (None, None) => Vec::new(),
    };
    let required: Vec<String> = described.iter().filter(|one| one.is_needed).map(|one| one.name.clone()).collect();
    let mut properties: Map<String, Value> =
        described.into_iter().map(|one| (one.name, Value::Object(one.schema))).collect();
    let about_session = "Whose state it reads and changes; this connection's own where it is left out";
    properties.insert(session.to_owned(), json!({ "type": "string", "description": about_session }));
    let syntax = definition.and_then(|definition| definition.syntax.as_deref()).map(|syntax| format!("`{syntax}`"));
    let about = definition.and_then(|definition| definition.description.as_ref().or(definition.purpose.as_ref()));
    let about = about.or_else(|| template?.description.as_ref()).map(ToString::to_string);
    let description: Vec<String> = about.into_iter().chain(syntax).collect();
    let mut tool = json!({
        "name": path,
        "description": description.join(": "),
        "input_schema": { "type": "object", "properties": properties },
    });
    if !required.is_empty() {
        tool["input_schema"]["required"] = required.into();
    }
    let tools = [tool];
    let mut listed = mcp_tool(&Source { name: skill, skill: parsed, tools: &tools }, &tools[0]);
    // What a program does is not known from its syntax.
    listed["annotations"]["readOnlyHint"] = false.into();
    listed["annotations"]["destructiveHint"] = true.into();
    listed["annotations"]["openWorldHint"] = true.into();
    listed
}
