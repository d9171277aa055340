//! Asks MCP servers for their tools and prints them.

use std::sync::Arc;

use rep_check::render::escape_invisible;
use rep_runtime::{CallError, CallerConsent, ExecutableSkill, Runtime, ServerTools, tool_name};
use rep_sandbox::interrupt;
use serde_json::{Value, json};

use super::Args;
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::terminal::{self, TerminalPrompter};

/// What servers answered.
pub(super) struct ServerCatalog {
    /// The servers and their tools, as JSON.
    pub(super) servers: Value,
    /// The worst of the answers.
    pub(super) exit: Exit,
}

impl ServerCatalog {
    /// Prints one line for each tool.
    pub(super) fn print_lines(&self, output: &mut Output) {
        for server in self.servers.as_array().into_iter().flatten() {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let name = text(&server["name"]);
            for tool in server["tools"].as_array().into_iter().flatten() {
                let word = if tool["shadowed"] == true { "shadowed" } else { "mcp" };
                let first = text(&tool["description"]).lines().next().unwrap_or_default().to_owned();
                let line = format!("mcp:{name}:{}  ({word})  {first}", tool_name(tool));
                output.write_data(&format!("{}\n", escape_invisible(&line)));
            }
            if let Some(message) = server["error"]["message"].as_str() {
                output.warn(&escape_invisible(message));
                if let Some(remedy) = server["error"]["remedy"].as_str() {
                    output.print_message(&escape_invisible(remedy));
                }
            }
        }
    }
}

/// Shows the tools of the servers of rep.yaml.
pub(super) fn show_server_tools(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let runtime = terminal::open_runtime(&args.library, None, false)?;
    let servers = match args.mcp.as_ref().and_then(Option::as_ref) {
        Some(name) => vec![runtime.find_server(name)?],
        None => runtime.list_servers()?,
    };
    let mut answers = Vec::new();
    for server in &servers {
        answers.push(ask_server(args, &runtime, server, None, output)?);
    }
    let catalog = build_catalog(&answers, &[]);
    if args.json {
        output.write_json(&json!({ "servers": catalog.servers }));
        return Ok(catalog.exit);
    }
    catalog.print_lines(output);
    if servers.is_empty() {
        output.print_message("no MCP server is declared; declare one under `mcp_servers` in rep.yaml");
    }
    Ok(catalog.exit)
}

/// Asks the servers that a skill requires. A tool with the name of one of the skill's own is shadowed.
pub(super) fn ask_skill_servers(
    args: &Args,
    skill: &str,
    own_tools: &[Value],
    output: &mut Output,
) -> Result<ServerCatalog, Failure> {
    let (catalog, index) = args.library.find_skill(skill, output)?;
    let runtime = terminal::open_runtime(&args.library, None, false)?;
    let skill = runtime.load_skill(&catalog, &catalog.entries[index].qualified_name)?;
    let wanted = args.mcp.as_ref().and_then(Option::as_ref);
    let mut answers = Vec::new();
    for server in runtime.list_skill_servers(&skill)? {
        if wanted.is_none_or(|wanted| *wanted == server.name) {
            answers.push(ask_server(args, &runtime, &server, Some(&skill), output)?);
        }
    }
    let own: Vec<&str> = own_tools.iter().map(tool_name).collect();
    Ok(build_catalog(&answers, &own))
}

fn ask_server(
    args: &Args,
    runtime: &Runtime,
    server: &rep_library::mcp_servers::ServerDeclaration,
    owner: Option<&Arc<ExecutableSkill>>,
    output: &mut Output,
) -> Result<ServerTools, CallError> {
    let consent = if args.yes { CallerConsent::Given } else { CallerConsent::Ask };
    let prompter = TerminalPrompter::new(output);
    runtime.list_server_tools(server, owner, consent, &prompter, &interrupt::cancel_on_interrupt())
}

/// Builds the list of servers. The exit code is that of the first server that did not answer.
fn build_catalog(answers: &[ServerTools], own_tools: &[&str]) -> ServerCatalog {
    let describe = |answer: &ServerTools| {
        let with_status = |tool: &Value| {
            let mut tool = tool.clone();
            tool["shadowed"] = own_tools.contains(&tool_name(&tool)).into();
            tool
        };
        json!({
            "name": answer.server.name,
            "from": answer.server.origin.name(),
            "transport": answer.server.transport_name(),
            "tools": answer.tools().iter().map(with_status).collect::<Vec<Value>>(),
            "error": answer.outcome.to_json().get("error").filter(|_| answer.tools().is_empty()).cloned(),
        })
    };
    let verdicts = answers.iter().map(|answer| terminal::verdict_to_exit(answer.outcome.verdict));
    ServerCatalog {
        servers: answers.iter().map(describe).collect(),
        exit: verdicts.into_iter().find(|exit| *exit != Exit::Fine).unwrap_or(Exit::Fine),
    }
}
