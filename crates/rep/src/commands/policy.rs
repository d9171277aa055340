//! `rep policy`: what a skill's tools may do, and whether they may do one thing.

use std::path::PathBuf;

use rep_check::render::visible;
use rep_runtime::access::AccessRequest;
use rep_runtime::approval::Approvals;
use rep_runtime::{ExecutableSkill, PolicyLine, Runtime, ToolCall, tool_name};
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::library::LibraryArgs;
use crate::output::Output;
use crate::terminal::{self, TerminalPrompter, find_skill};

/// Show what a skill's tools may do, or ask whether they may do one thing
#[derive(clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is one flag")]
#[command(
    after_help = "What is not declared is denied. Patterns are relative to the workspace; links are resolved before they are matched. A skill reads its own folder and never changes it; to write is not to read. With a question the answer is in the exit code: 0 it may, 3 it may not.\n\nExamples:\n  rep policy csv-profile\n  rep policy csv-profile:profile --workspace ~/work\n  rep policy csv-profile --write output/report.csv\n  rep policy ./skills/fetch --connect api.example.org:443\n  rep policy csv-profile:profile --approve"
)]
pub(crate) struct Args {
    /// The skill, or one of its tools: a name, `package:name` or a path, and perhaps `:tool` behind it
    #[arg(value_name = "SKILL[:TOOL]")]
    skill: String,
    /// Whether this file may be read
    #[arg(long, value_name = "P", group = "question")]
    read: Option<String>,
    /// Whether this file may be made, changed or removed
    #[arg(long, value_name = "P", group = "question")]
    write: Option<String>,
    /// Whether this host may be reached [default port: 443]
    #[arg(long, value_name = "HOST[:PORT]", group = "question")]
    connect: Option<String>,
    /// Whether other programs may be started
    #[arg(long, group = "question")]
    spawn: bool,
    /// Approve the tool for good, as it is, so that it runs later where nobody can be asked; asks on a terminal
    #[arg(long, group = "question")]
    approve: bool,
    /// Take back every approval of this skill that was to last
    #[arg(long, group = "question")]
    forget: bool,
    /// The folder patterns are relative to [default: the project around this folder]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    #[command(flatten)]
    library: LibraryArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    policy(args, output).map_err(|failure| failure.json(args.json))
}

fn policy(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    if args.forget {
        return forget(args, output);
    }
    let (catalog, skill, tool) = find_skill(&args.library, &args.skill, output)?;
    let runtime = terminal::runtime(&args.library, args.workspace.as_deref(), false)?;
    if args.approve {
        return approve(&runtime, &catalog, &skill, tool, output);
    }
    if let Some(request) = access_request(args) {
        return answer(args, &runtime, &skill, &request, output);
    }
    let policy = runtime.policy_of(&skill, tool)?;
    if args.json {
        output.json(&policy.to_json());
        return Ok(Exit::Fine);
    }
    for line in policy.lines(&[]) {
        match line {
            PolicyLine::Heading(text) => output.data(&format!("{}\n", visible(&text))),
            PolicyLine::Detail(text) => output.data(&format!("{}\n", visible(&format!("  {text}")))),
        }
    }
    Ok(Exit::Fine)
}

/// Takes back every approval of a skill.
fn forget(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    // What was approved may be a program of a skill that has no tools.
    let name = match args.library.any(&args.skill, output) {
        Ok((catalog, index)) => catalog.entries[index].qualified_name.clone(),
        Err(_) => find_skill(&args.library, &args.skill, output)?.1.name,
    };
    let count = Approvals::forget(&terminal::stored().approvals_file()?, &name)?;
    if args.json {
        output.json(&json!({ "forgotten": count }));
    }
    output.say(&format!("{count} approvals of `{name}` are taken back"));
    Ok(Exit::Fine)
}

/// Remembers a tool as it is, if the user at the terminal agrees.
fn approve(
    runtime: &Runtime,
    catalog: &rep_library::Catalog,
    skill: &ExecutableSkill,
    tool: Option<usize>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let name = &skill.name;
    let Some(index) = tool else {
        let failure = Failure::unable("USAGE", format!("`{name}` is a skill, and approvals are for tools"));
        return Err(failure.hint(format!("name one: `rep policy {name}:TOOL --approve`")));
    };
    let tool = tool_name(&skill.tools()?.1[index]).to_owned();
    let prepared = runtime.plan(catalog, &ToolCall::tool(name, &tool, json!({})))?;
    if runtime.approve(&prepared, &TerminalPrompter::new(output))? {
        output.say(&format!("`{name}:{tool}` is approved in `{}`", runtime.options().workspace.display()));
    } else {
        output.say("it runs without a question already");
    }
    Ok(Exit::Fine)
}

fn access_request(args: &Args) -> Option<AccessRequest> {
    let read = args.read.clone().map(AccessRequest::Read);
    let write = args.write.clone().map(AccessRequest::Write);
    let connect = args.connect.clone().map(AccessRequest::Connect);
    read.or(write).or(connect).or(args.spawn.then_some(AccessRequest::Spawn))
}

fn answer(
    args: &Args,
    runtime: &Runtime,
    skill: &ExecutableSkill,
    request: &AccessRequest,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let answer = runtime.may(skill, request)?;
    if args.json {
        let value = json!({ "allowed": answer.is_allowed, "by": answer.by, "why": answer.why });
        output.json(&value);
    } else {
        let word = if answer.is_allowed { "yes" } else { "no" };
        output.data(&format!("{}\n", visible(&format!("{word}: {} ({})", answer.why, answer.by))));
    }
    Ok(if answer.is_allowed { Exit::Fine } else { Exit::Refused })
}
