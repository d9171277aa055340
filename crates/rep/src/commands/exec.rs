//! `rep exec`: runs one command of a structured skill as an argument vector in the sandbox, or as an HTTP request.

use std::io::IsTerminal;
use std::path::PathBuf;

use rep_check::render::escape_invisible;
use rep_library::SkillStatus;
use rep_library::validation::SkillViolation;
use rep_runtime::plan::PlannedWork;
use rep_runtime::state::CommandState;
use rep_runtime::{
    CallResult, CallerConsent, CommandInvocation, FinishedCall, Outcome, PermissionOverride, PreparedCall, RunReply,
    ToolCall,
};
use rep_sandbox::interrupt;
use serde_json::{Map, Value, json};

use crate::exit::{Exit, Failure};
use crate::library::{self, LibraryArgs, uncallable_skill};
use crate::output::Output;
use crate::terminal::{self, TerminalPrompter, read_arguments};

/// Run one command of a UASP skill in the sandbox
///
/// Arguments are passed to the program directly, never through a shell. The command gets only the permissions that
/// the skill declares and that you grant. HTTP commands are sent as one request. You are asked before a program
/// starts, unless you have approved it for this skill.
#[expect(clippy::struct_excessive_bools, reason = "each is a separate flag")]
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep exec git-worktrees add --args '{\"path\": \"../review\"}' --dry-run
  rep exec sql-review lint --args @file.json --allow-read queries.sql --yes
  rep exec todo-api todos.get --args '{\"id\": \"t1\"}' --dry-run")]
pub(crate) struct Args {
    /// The skill: a name, `package:name`, or a path
    skill: String,
    /// The command: its path (`record.start` or `record start`), an alias, or `templates.NAME`
    #[arg(required = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// Arguments and flags by name: JSON, `@FILE`, or `-` for stdin [default: {}]
    #[arg(long = "args", value_name = "JSON|@FILE|-")]
    values: Option<String>,
    /// The session whose state is used [default: default]
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// Print the program arguments or the request, and its permissions, without running it
    #[arg(long)]
    dry_run: bool,
    /// Run the command even if its required state is missing
    #[arg(long)]
    ignore_state: bool,
    /// Confirm this call without asking
    #[arg(long)]
    yes: bool,
    /// Approve the program for this skill permanently, without running it
    ///
    /// Asks in a terminal. The approval ends when the skill, its permissions or the workspace changes.
    #[arg(long, conflicts_with_all = ["dry_run", "yes"])]
    approve: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    how: ExecutionArgs,
    #[command(flatten)]
    library: LibraryArgs,
}

/// Options for running commands.
#[derive(clap::Args)]
pub(crate) struct ExecutionArgs {
    /// The directory to run in; permission patterns are relative to it [default: the enclosing project]
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) timeout: Option<u64>,
    /// Allow reading these files in this call; repeatable
    #[arg(long, value_name = "GLOB")]
    allow_read: Vec<String>,
    /// Allow creating, changing and deleting these files in this call; repeatable
    #[arg(long, value_name = "GLOB")]
    allow_write: Vec<String>,
    /// Allow connecting to this host in this call; repeatable
    #[arg(long, value_name = "HOST[:PORT]")]
    allow_connect: Vec<String>,
    /// Allow starting other programs in this call
    #[arg(long)]
    allow_spawn: bool,
    /// Run without the sandbox, with all your permissions
    #[arg(long)]
    pub(crate) no_sandbox: bool,
}

impl ExecutionArgs {
    /// Returns the permissions for this call.
    pub(crate) fn permission_override(&self) -> PermissionOverride {
        PermissionOverride {
            read: self.allow_read.clone(),
            write: self.allow_write.clone(),
            connect: self.allow_connect.clone(),
            may_spawn: self.allow_spawn,
        }
    }
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    run_command(args, output).map_err(|failure| failure.json(args.json || args.dry_run))
}

fn run_command(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let Value::Object(values) = read_arguments(args.values.as_deref(), "--args")? else {
        let failure = Failure::unable("INVALID_ARGUMENT", "the arguments must be a JSON object");
        return Err(failure.hint("pass them by name: --args '{\"url\": \"…\"}'"));
    };
    let (catalog, index) = args.library.find_any_skill(&args.skill, output)?;
    let entry = &catalog.entries[index];
    if matches!(entry.status, SkillStatus::Shadowed | SkillStatus::Invalid) {
        return Err(uncallable_skill(entry));
    }
    let runtime = terminal::open_runtime(&args.library, args.how.workspace.as_deref(), args.how.no_sandbox)?;
    let invocation = CommandInvocation {
        command: args.command.join("."),
        arguments: values,
        session: args.session.clone(),
        permissions: args.how.permission_override(),
        ignore_state: args.ignore_state,
    };
    let session = invocation.session_name()?.to_owned();
    let call = ToolCall {
        consent: if args.yes { CallerConsent::Given } else { CallerConsent::Ask },
        timeout_s: args.how.timeout,
        ..ToolCall::for_command(&entry.qualified_name, invocation)
    };
    let prepared =
        if args.dry_run { runtime.plan_call(&catalog, &call)? } else { runtime.prepare_call(&catalog, &call)? };
    terminal::report_ignored(prepared.plan(), output);
    let warnings = prepared.version_warnings().to_vec();
    library::report_version_warnings(&warnings, output);
    if args.dry_run {
        return Ok(show_plan(&prepared, &session, output));
    }
    if args.approve {
        runtime.approve_call(&prepared, &TerminalPrompter::new(output))?;
        let name = prepared.skill_name();
        output.print_message(&format!("approved the program of `{}` for `{name}`", prepared.plan().tool));
        return Ok(Exit::Fine);
    }
    if args.how.no_sandbox {
        terminal::warn_unconfined(output);
    }
    let result =
        runtime.run_prepared(prepared, &catalog, &TerminalPrompter::new(output), &interrupt::cancel_on_interrupt())?;
    // A prompter at a terminal answers immediately.
    let CallResult::Finished(call) = result else { return Ok(Exit::Refused) };
    report_call_with(&call, &warnings, args.json, output);
    Ok(terminal::verdict_to_exit(call.outcome.verdict))
}

/// Prints what would run.
fn show_plan(prepared: &PreparedCall, session: &str, output: &mut Output) -> Exit {
    let mut value = json!({ "argv": [] });
    for (field, own) in prepared.plan().to_json().as_object().into_iter().flatten() {
        value[field] = own.clone();
    }
    value["missing"] = json!(prepared.missing_state());
    value["session"] = json!(session);
    output.write_json(&value);
    Exit::Fine
}

/// Reports the result of a command: as one JSON document, or as the program wrote it.
pub(crate) fn report_call(call: &FinishedCall, is_json: bool, output: &mut Output) {
    report_call_with(call, &[], is_json, output);
}

/// Reports the result of a command, with what loading the skill found.
fn report_call_with(call: &FinishedCall, warnings: &[SkillViolation], is_json: bool, output: &mut Output) {
    let FinishedCall { plan, outcome, state, .. } = call;
    let name = format!("{}:{}", plan.skill, plan.tool);
    terminal::report_details(&name, outcome, output);
    terminal::report_secrets(&name, outcome, output);
    if let PlannedWork::Command(command) = &plan.work
        && outcome.is_executed
        && !command.variables.is_empty()
    {
        let names: Vec<&str> = command.variables.iter().map(|(name, _)| name.as_str()).collect();
        output.print_message(&format!("`{name}` received the variables: {}", names.join(", ")));
    }
    if is_json {
        let mut value = call.to_json();
        // An error has its own shape; the warnings are on stderr in any case.
        if !warnings.is_empty() && value.get("error").is_none() {
            value["findings"] = warnings.iter().map(SkillViolation::to_json).collect();
        }
        output.write_json(&value);
    } else {
        print_program_output(outcome, output);
    }
    terminal::report_error(outcome, output);
    if let Some(state) = state.as_ref().filter(|_| !is_json) {
        report_state(call, state, output);
    }
    terminal::report_layers(&plan.tool, outcome, output);
}

/// Prints the program's output: its stdout as data, its stderr as messages.
fn print_program_output(outcome: &Outcome, output: &mut Output) {
    let empty = Map::new();
    let fields = match &outcome.reply {
        RunReply::Result(value) | RunReply::Task(value) => value.as_object().unwrap_or(&empty),
        RunReply::Error(error) => &error.more,
    };
    let text = |field: &str| fields.get(field).and_then(Value::as_str).unwrap_or_default();
    if std::io::stdout().is_terminal() {
        let lines: Vec<_> = text("stdout").split('\n').map(escape_invisible).collect();
        output.write_data(&lines.join("\n"));
    } else {
        output.write_data(text("stdout"));
    }
    if !text("stderr").is_empty() {
        output.print_always(text("stderr").trim_end_matches('\n'));
    }
}

/// Reports on one line how a command changed the state.
fn report_state(call: &FinishedCall, state: &CommandState, output: &mut Output) {
    let word = |name: &String| {
        let is_valid = state.entities.get(name).is_some_and(|entity| entity.is_valid);
        format!("{name} is {}", if is_valid { "valid" } else { "not valid" })
    };
    if !call.touched_state.is_empty() {
        output.print_message(&format!("state: {}", call.touched_state.iter().map(word).collect::<Vec<_>>().join(", ")));
    }
}
