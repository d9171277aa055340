//! Lists the callable tools of a catalog, in the format of MCP.

use std::collections::{BTreeMap, BTreeSet};

use rep_check::tools::effective_tools;
use rep_hosts::ProjectionSource;
use rep_hosts::hosts::mcp_tool;
use rep_library::{Catalog, CatalogEntry, SkillStatus, skill_reader};
use rep_model::uasp::UaspCommand;
use rep_model::{Skill, SkillDocument};
use rep_sandbox::Cancel;
use serde_json::{Map, Value, json};

use super::Runtime;
use super::call::CallerConsent;
use crate::command;
use crate::executable_skill::tool_name;
use crate::outcome::RunReply;
use crate::plan::server::SERVER_PREFIX;
use crate::prompter::NobodyToAsk;

/// The maximum length of a tool name.
const NAME_CHARS_MAX: usize = 128;
/// The maximum number of listed commands per skill.
const COMMANDS_MAX: usize = 500;

/// What a descriptor describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolKind {
    /// A tool with schemas.
    Tool,
    /// A command of a structured skill, which has state.
    Command,
    /// A script that a skill bundles.
    Script,
    /// A tool of an MCP server that the user or the project declares.
    ServerTool,
}

/// A callable tool of a skill.
#[derive(Clone, Debug)]
pub struct ToolDescriptor {
    /// The name that clients use.
    pub name: String,
    /// The skill's qualified name.
    pub skill: String,
    /// The tool's own name, or the path of a command.
    pub tool: String,
    /// What it is.
    pub kind: ToolKind,
    /// The MCP definition, as JSON.
    pub definition: Value,
    /// The argument that names the session, for commands.
    pub session_argument: Option<&'static str>,
}

impl ToolDescriptor {
    /// Returns whether the tool declares a schema for its result.
    pub fn has_output_schema(&self) -> bool {
        self.definition.get("outputSchema").is_some()
    }
}

/// Why a tool of a skill is not listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolFault {
    /// The skill's qualified name.
    pub skill: String,
    /// The tool's own name; empty for the whole skill.
    pub tool: String,
    /// Why it is not listed.
    pub message: String,
}

/// The tools of a catalog.
#[derive(Clone, Debug, Default)]
pub struct ToolListing {
    /// The callable tools, by name.
    pub tools: Vec<ToolDescriptor>,
    /// The tools that cannot be listed.
    pub faults: Vec<ToolFault>,
}

impl Runtime {
    /// Lists the tools and commands of a catalog's active skills. If `only` is not empty, lists only those
    /// skills.
    pub fn list_tools(&self, catalog: &Catalog, only: &BTreeSet<String>) -> ToolListing {
        let is_allowed = |entry: &&CatalogEntry| {
            let names = [&entry.qualified_name, &entry.name];
            entry.status == SkillStatus::Active
                && (only.is_empty() || names.into_iter().any(|name| only.contains(name)))
        };
        let mut tools: BTreeMap<String, ToolDescriptor> = BTreeMap::new();
        let mut faults = Vec::new();
        for entry in catalog.entries.iter().filter(is_allowed) {
            for listed in describe_skill_tools(entry) {
                match listed.and_then(check_descriptor) {
                    Ok(descriptor) => match tools.get(&descriptor.name) {
                        None => drop(tools.insert(descriptor.name.clone(), descriptor)),
                        Some(first) => faults.push(ToolFault {
                            message: format!(
                                "its name `{}` is already used by `{}:{}`",
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

    /// Asks the declared MCP servers for their tools. If `only` is not empty, asks only the servers that it names as
    /// `mcp:SERVER`. A server that may not be asked without confirmation, or does not answer, is a fault.
    pub fn list_all_server_tools(&self, only: &BTreeSet<String>, cancel: &Cancel) -> ToolListing {
        let mut listing = ToolListing::default();
        let fault = |skill: &str, message: String| ToolFault { skill: skill.to_owned(), tool: String::new(), message };
        let servers = match self.list_servers() {
            Ok(servers) => servers,
            Err(error) => {
                listing.faults.push(fault(SERVER_PREFIX, error.message));
                return listing;
            }
        };
        let nobody = NobodyToAsk { remedy: "declare the server in your own `rep.yaml`".to_owned() };
        for server in servers {
            let skill = format!("{SERVER_PREFIX}{}", server.name);
            if !only.is_empty() && !only.contains(&skill) {
                continue;
            }
            match self.list_server_tools(&server, None, CallerConsent::Ask, &nobody, cancel) {
                Ok(listed) => {
                    if let RunReply::Error(error) = &listed.outcome.reply {
                        listing.faults.push(fault(&skill, error.message.clone()));
                    }
                    for tool in listed.tools() {
                        match check_descriptor(describe_server_tool(&skill, tool)) {
                            Ok(descriptor) => listing.tools.push(descriptor),
                            Err(fault) => listing.faults.push(fault),
                        }
                    }
                }
                Err(error) => listing.faults.push(fault(&skill, error.message)),
            }
        }
        listing
    }
}

/// Describes a tool that a server listed.
fn describe_server_tool(skill: &str, listed: &Value) -> ToolDescriptor {
    let tool = tool_name(listed).to_owned();
    let name = sanitize_name(&format!("{}__{tool}", skill.replace(':', ".")));
    let mut definition = json!({
        "name": name,
        "description": listed["description"],
        "inputSchema": listed["input_schema"],
        "annotations": { "readOnlyHint": listed["read_only"] == true },
    });
    if let Some(schema) = listed.get("output_schema") {
        definition["outputSchema"] = schema.clone();
    }
    let kind = ToolKind::ServerTool;
    ToolDescriptor { name, skill: skill.to_owned(), tool, kind, definition, session_argument: None }
}

/// Describes the tools and commands of one skill.
fn describe_skill_tools(entry: &CatalogEntry) -> Vec<Result<ToolDescriptor, ToolFault>> {
    let fault = |message: String| ToolFault { skill: entry.qualified_name.clone(), tool: String::new(), message };
    let Ok((skill, validation)) = skill_reader::read_validated_skill(entry) else {
        return vec![Err(fault("the skill cannot be read".to_owned()))];
    };
    if let Some(violation) = validation.violations.first() {
        return vec![Err(fault(format!("the skill is invalid: {}", violation.to_line())))];
    }
    let name = entry.qualified_name.replace(':', ".");
    let tools = effective_tools(&skill).tools;
    let source = ProjectionSource { name: &name, skill: &skill, tools: &tools };
    let descriptor = |tool: &str, kind: ToolKind, session_argument, mut definition: Value| {
        let name = sanitize_name(definition["name"].as_str().unwrap_or_default());
        definition["name"] = name.clone().into();
        let (skill, tool) = (entry.qualified_name.clone(), tool.to_owned());
        ToolDescriptor { name, skill, tool, kind, definition, session_argument }
    };
    let mut found: Vec<Result<ToolDescriptor, ToolFault>> = tools
        .iter()
        .map(|tool| Ok(descriptor(tool_name(tool), ToolKind::Tool, None, mcp_tool(&source, tool))))
        .collect();
    if let Some(document) = SkillDocument::from_skill(&skill) {
        let paths = document.runnable_names();
        if paths.len() > COMMANDS_MAX {
            let message =
                format!("{} commands beyond the first {COMMANDS_MAX} are not listed", paths.len() - COMMANDS_MAX);
            found.push(Err(fault(message)));
        }
        found.extend(paths.into_iter().take(COMMANDS_MAX).map(|path| {
            let session = choose_session_argument(&document, &path);
            let definition = build_command_definition(&name, &path, &document, &skill, session);
            Ok(descriptor(&path, ToolKind::Command, Some(session), definition))
        }));
    }
    found
}

/// Validates a descriptor. A single malformed tool would make some clients reject the whole list.
fn check_descriptor(mut descriptor: ToolDescriptor) -> Result<ToolDescriptor, ToolFault> {
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

/// Replaces the characters that tool names may not contain.
fn sanitize_name(name: &str) -> String {
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.') { letter } else { '_' }
    };
    name.chars().map(plain).take(NAME_CHARS_MAX).collect()
}

/// Chooses the argument that names the session, so that it does not collide with an argument of the command.
fn choose_session_argument(document: &SkillDocument, path: &str) -> &'static str {
    let own = document.find_command(path).into_iter().flat_map(UaspCommand::parameters);
    let names = own.chain(&document.sections.global_flags).filter_map(|one| one.name.as_deref());
    if names.map(|name| name.trim_start_matches('-')).any(|name| name == "session") { "rep_session" } else { "session" }
}

/// Builds the MCP definition of a command. Its arguments are checked against the author's syntax when it is
/// called.
fn build_command_definition(skill: &str, path: &str, document: &SkillDocument, parsed: &Skill, session: &str) -> Value {
    let template = path.strip_prefix("templates.").and_then(|name| document.find_template(name));
    let definition = if path.starts_with("templates.") { None } else { document.find_command(path) };
    let described = match (template, definition) {
        (Some(template), _) => command::describe_parameters(document, &template.arguments, &[]),
        (None, Some(definition)) => command::describe_parameters(document, &definition.arguments, &definition.flags),
        (None, None) => Vec::new(),
    };
    let required: Vec<String> = described.iter().filter(|one| one.is_needed).map(|one| one.name.clone()).collect();
    let mut properties: Map<String, Value> =
        described.into_iter().map(|one| (one.name, Value::Object(one.schema))).collect();
    let about_session = "The session whose state it reads and changes; defaults to this connection's session";
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
    let mut listed = mcp_tool(&ProjectionSource { name: skill, skill: parsed, tools: &tools }, &tools[0]);
    // The syntax does not show what a program does.
    listed["annotations"]["readOnlyHint"] = false.into();
    listed["annotations"]["destructiveHint"] = true.into();
    listed["annotations"]["openWorldHint"] = true.into();
    listed
}
