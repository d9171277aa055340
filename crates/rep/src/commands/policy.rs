//! `rep policy`: shows what a skill's tools are allowed to do, and answers questions about it.

use std::path::PathBuf;

use rep_check::render::escape_invisible;
use rep_runtime::access::AccessRequest;
use rep_runtime::approval::Approvals;
use rep_runtime::permission_grants::PermissionGrants;
use rep_runtime::plan::server::SERVER_PREFIX;
use rep_runtime::{ExecutableSkill, PolicyLine, Runtime, ToolCall, parse_server_target, tool_name};
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::library::LibraryArgs;
use crate::output::Output;
use crate::terminal::{self, TerminalPrompter, find_skill};

/// Show what a skill's tools are allowed to do
///
/// Everything that is not declared is denied. Skills can read but not modify their own directory, and write
/// permission does not imply read permission. With a question such as `--read`, exits with 0 if allowed and 3 if
/// denied.
#[derive(clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is one flag")]
#[command(after_help = "\
Examples:
  rep policy csv-profile
  rep policy csv-profile --read harvest.csv
  rep policy disk-tidy:save-list --write output/list.txt
  rep policy disk-tidy:save-list --approve")]
pub(crate) struct Args {
    /// The skill, or one of its tools: `skill`, `package:skill` or a path, optionally with `:tool`
    #[arg(value_name = "SKILL[:TOOL]")]
    skill: String,
    /// Ask whether this file can be read
    #[arg(long, value_name = "PATH", group = "question")]
    read: Option<String>,
    /// Ask whether this file can be created, changed or deleted
    #[arg(long, value_name = "PATH", group = "question")]
    write: Option<String>,
    /// Ask whether this host can be reached [default port: 443]
    #[arg(long, value_name = "HOST[:PORT]", group = "question")]
    connect: Option<String>,
    /// Ask whether other programs can be started
    #[arg(long, group = "question")]
    spawn: bool,
    /// Approve the tool permanently, so that it runs without confirmation
    ///
    /// Asks in a terminal. The approval ends when the skill, its permissions or the workspace changes.
    #[arg(long, group = "question")]
    approve: bool,
    /// Revoke all permanent approvals of this skill, and what `rep scan --declare --write` granted to it
    #[arg(long, group = "question")]
    forget: bool,
    /// The directory that permission patterns are relative to [default: the enclosing project]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    #[command(flatten)]
    library: LibraryArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    show_policy(args, output).map_err(|failure| failure.json(args.json))
}

fn show_policy(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    if args.forget {
        return forget_approvals(args, output);
    }
    if args.approve && args.skill.starts_with(SERVER_PREFIX) {
        let catalog = args.library.discover_catalog(output)?;
        if let Some((server, tool)) = parse_server_target(&catalog, &args.skill) {
            let runtime = terminal::open_runtime(&args.library, args.workspace.as_deref(), false)?;
            return approve_call(
                &runtime,
                &catalog,
                &ToolCall::for_server(server, tool, json!({})),
                &args.skill,
                output,
            );
        }
    }
    let (catalog, skill, tool) = find_skill(&args.library, &args.skill, output)?;
    let runtime = terminal::open_runtime(&args.library, args.workspace.as_deref(), false)?;
    if args.approve {
        return approve_tool(&runtime, &catalog, &skill, tool, output);
    }
    if let Some(request) = requested_access(args) {
        return answer_access_question(args, &runtime, &skill, &request, output);
    }
    let policy = runtime.report_policy(&skill, tool)?;
    if args.json {
        output.write_json(&policy.to_json());
        return Ok(Exit::Fine);
    }
    for line in policy.render_lines(&[]) {
        match line {
            PolicyLine::Heading(text) => output.write_data(&format!("{}\n", escape_invisible(&text))),
            PolicyLine::Detail(text) => output.write_data(&format!("{}\n", escape_invisible(&format!("  {text}")))),
        }
    }
    Ok(Exit::Fine)
}

/// Whether a word is `mcp:SERVER`, which approvals of a server's tools are stored under.
fn is_server_name(word: &str) -> bool {
    word.strip_prefix(SERVER_PREFIX).is_some_and(rep_library::mcp_servers::is_server_name)
}

/// Revokes every approval of a skill.
fn forget_approvals(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    // An approval may be for a program of a skill that has no tools.
    let name = match args.library.find_any_skill(&args.skill, output) {
        Err(_) if is_server_name(&args.skill) => args.skill.clone(),
        Ok((catalog, index)) => catalog.entries[index].qualified_name.clone(),
        Err(_) => find_skill(&args.library, &args.skill, output)?.1.name,
    };
    let runtime = terminal::open_stored_runtime();
    let approvals = Approvals::remove_for_skill(&runtime.approvals_file()?, &name)?;
    let grants = PermissionGrants::remove_for_skill(&runtime.grants_file()?, &name)?;
    if args.json {
        output.write_json(&json!({ "forgotten": approvals + grants }));
    }
    let more = if grants > 0 { format!(" and {grants} grants of permissions") } else { String::new() };
    output.print_message(&format!("revoked {approvals} approvals{more} of `{name}`"));
    Ok(Exit::Fine)
}

/// Approves a tool permanently, if the user at the terminal agrees.
fn approve_tool(
    runtime: &Runtime,
    catalog: &rep_library::Catalog,
    skill: &ExecutableSkill,
    tool: Option<usize>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let name = &skill.name;
    let Some(index) = tool else {
        let failure = Failure::unable("USAGE", format!("`{name}` is a skill, but approvals are for tools"));
        return Err(failure.hint(format!("name a tool: `rep policy {name}:TOOL --approve`")));
    };
    let tool = tool_name(&skill.require_tools()?.1[index]).to_owned();
    let call = ToolCall::for_tool(name, &tool, json!({}));
    approve_call(runtime, catalog, &call, &format!("{name}:{tool}"), output)
}

/// Approves a call permanently, if the user at the terminal agrees.
fn approve_call(
    runtime: &Runtime,
    catalog: &rep_library::Catalog,
    call: &ToolCall,
    shown: &str,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let prepared = runtime.plan_call(catalog, call)?;
    let prompter = TerminalPrompter::new(output).with_remedy("run it in a terminal: an approval needs your answer");
    let is_new = runtime.approve_call(&prepared, &prompter)?;
    drop(prompter);
    if is_new {
        output.print_message(&format!("approved `{shown}` in `{}`", runtime.options().workspace.display()));
    } else {
        output.print_message("it already runs without confirmation");
    }
    Ok(Exit::Fine)
}

fn requested_access(args: &Args) -> Option<AccessRequest> {
    let read = args.read.clone().map(AccessRequest::Read);
    let write = args.write.clone().map(AccessRequest::Write);
    let connect = args.connect.clone().map(AccessRequest::Connect);
    read.or(write).or(connect).or(args.spawn.then_some(AccessRequest::Spawn))
}

fn answer_access_question(
    args: &Args,
    runtime: &Runtime,
    skill: &ExecutableSkill,
    request: &AccessRequest,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let answer = runtime.check_access(skill, request)?;
    if args.json {
        output.write_json(&answer.to_json());
    } else {
        let word = if answer.is_allowed { "yes" } else { "no" };
        output.write_data(&format!("{}\n", escape_invisible(&format!("{word}: {} ({})", answer.why, answer.by))));
    }
    Ok(if answer.is_allowed { Exit::Fine } else { Exit::Refused })
}
