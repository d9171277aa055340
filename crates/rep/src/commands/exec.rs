//! `rep exec`: one command of a structured skill, as an argument vector in the sandbox, or as an HTTP request.

use std::io::IsTerminal;
use std::path::PathBuf;

use rep_check::render::visible;
use rep_library::Status;
use rep_runtime::plan::Work;
use rep_runtime::state::State;
use rep_runtime::{
    CallResult, CallerConsent, CommandInvocation, FinishedCall, Outcome, PermissionOverride, PreparedCall, Reply,
    ToolCall,
};
use rep_sandbox::interrupt;
use serde_json::{Map, Value, json};

use crate::exit::{Exit, Failure};
use crate::library::{LibraryArgs, missing};
use crate::output::Output;
use crate::terminal::{self, TerminalPrompter, arguments};

/// Run one command of a structured skill in the sandbox
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(clap::Args)]
#[command(
    after_help = "No shell comes between: every value is one word of the argument vector, whatever it holds. What the command requires must be valid in its session; what it creates is valid when it ended well, what it invalidates is not afterwards. The program starts in the workspace with what the skill declares and you lend, and nothing else. A command of an API skill (`GET /v1/x/<id>`) is sent as one HTTP request, to the hosts the skill declares or you agree to. Which program a skill starts is asked about, once where you answer `always`.\n\nExit codes: 0 it ended well, 1 there is no such command, 2 the call could not be made, 3 refused, 4 the command failed, 130 interrupted.\n\nExamples:\n  rep exec agent-browser open --args '{\"url\": \"https://example.org\"}' --dry-run\n  rep exec agent-browser snapshot --args '{\"-i\": true}' --session shop --yes\n  rep exec agent-browser record start --args '{\"file\": \"a.webm\"}' --allow-write 'a.webm'\n  rep exec agent-browser templates.form-automation --args '{\"url\": \"https://example.org\"}'\n  rep exec todo-api todos.get --args '{\"id\": \"t1\"}' --json"
)]
pub(crate) struct Args {
    /// The skill: a name, `package:name`, or a path
    skill: String,
    /// The command: its path (`record.start`, or the words `record start`), an alias, or `templates.NAME`
    #[arg(required = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// The arguments and flags, by name: JSON, `@FILE`, or `-` for stdin [default: {}]
    #[arg(long = "args", value_name = "JSON|@FILE|-")]
    values: Option<String>,
    /// Whose state it reads and changes [default: default]
    #[arg(long, value_name = "S")]
    session: Option<String>,
    /// Print the argument vector, or the request, and what it may do, as JSON, and run nothing
    #[arg(long)]
    dry_run: bool,
    /// Run it whatever state it requires
    #[arg(long)]
    ignore_state: bool,
    /// Give consent for this call
    #[arg(long)]
    yes: bool,
    /// Approve the program for this skill as it is, so that it runs later where nobody can be asked; asks on a terminal, and runs
    /// nothing
    #[arg(long, conflicts_with_all = ["dry_run", "yes"])]
    approve: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    how: How,
    #[command(flatten)]
    library: LibraryArgs,
}

/// How commands are run.
#[derive(clap::Args)]
pub(crate) struct How {
    /// The folder it starts in, and patterns are relative to [default: the project around this folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// End it after this many seconds
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) timeout: Option<u64>,
    /// Lend for this call: files it may read, besides the skill's own
    #[arg(long, value_name = "GLOB")]
    allow_read: Vec<String>,
    /// Lend for this call: files it may make, change and remove
    #[arg(long, value_name = "GLOB")]
    allow_write: Vec<String>,
    /// Lend for this call: a host it may connect to
    #[arg(long, value_name = "HOST[:PORT]")]
    allow_connect: Vec<String>,
    /// Lend for this call: that it may start other programs
    #[arg(long)]
    allow_spawn: bool,
    /// Run with nothing enforced: it can do whatever you can
    #[arg(long)]
    pub(crate) no_sandbox: bool,
}

impl How {
    /// The permissions for this call.
    pub(crate) fn permissions(&self) -> PermissionOverride {
        PermissionOverride {
            read: self.allow_read.clone(),
            write: self.allow_write.clone(),
            connect: self.allow_connect.clone(),
            may_spawn: self.allow_spawn,
        }
    }
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    command(args, output).map_err(|failure| failure.json(args.json || args.dry_run))
}

fn command(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let Value::Object(values) = arguments(args.values.as_deref(), "--args")? else {
        let failure = Failure::unable("INVALID_ARGUMENT", "the arguments are no object");
        return Err(failure.hint("write them by name: --args '{\"url\": \"…\"}'"));
    };
    let (catalog, index) = args.library.any(&args.skill, output)?;
    let entry = &catalog.entries[index];
    if matches!(entry.status, Status::Shadowed | Status::Invalid) {
        return Err(missing(&catalog, &args.skill));
    }
    let runtime = terminal::runtime(&args.library, args.how.workspace.as_deref(), args.how.no_sandbox)?;
    let invocation = CommandInvocation {
        command: args.command.join("."),
        arguments: values,
        session: args.session.clone(),
        permissions: args.how.permissions(),
        ignore_state: args.ignore_state,
    };
    let session = invocation.session_name()?.to_owned();
    let call = ToolCall {
        consent: if args.yes { CallerConsent::Given } else { CallerConsent::Ask },
        timeout_s: args.how.timeout,
        ..ToolCall::command(&entry.qualified_name, invocation)
    };
    let prepared = if args.dry_run { runtime.plan(&catalog, &call)? } else { runtime.prepare(&catalog, &call)? };
    terminal::report_ignored(prepared.plan(), output);
    if args.dry_run {
        return Ok(show_plan(&prepared, &session, output));
    }
    if args.approve {
        runtime.approve(&prepared, &TerminalPrompter::new(output))?;
        let name = prepared.skill_name();
        output.say(&format!("what `{}` starts is approved for `{name}`", prepared.plan().tool));
        return Ok(Exit::Fine);
    }
    if args.how.no_sandbox {
        terminal::warn_unconfined(output);
    }
    let result = runtime.run(prepared, &catalog, &TerminalPrompter::new(output), &interrupt::on_interrupt())?;
    // A prompter at a terminal answers at once.
    let CallResult::Finished(call) = result else { return Ok(Exit::Refused) };
    report(&call, args.json, output);
    Ok(terminal::exit(call.outcome.verdict))
}

/// What would be run.
fn show_plan(prepared: &PreparedCall, session: &str, output: &mut Output) -> Exit {
    let mut value = json!({ "argv": [] });
    for (field, own) in prepared.plan().to_json().as_object().into_iter().flatten() {
        value[field] = own.clone();
    }
    value["missing"] = json!(prepared.missing_state());
    value["session"] = json!(session);
    output.json(&value);
    Exit::Fine
}

/// What came of a command: one document, or what the program wrote where it wrote it.
pub(crate) fn report(call: &FinishedCall, is_json: bool, output: &mut Output) {
    let FinishedCall { plan, outcome, state, .. } = call;
    let name = format!("{}:{}", plan.skill, plan.tool);
    terminal::report_details(&name, outcome, output);
    terminal::report_secrets(&name, outcome, output);
    if let Work::Command(command) = &plan.work
        && outcome.is_executed
        && !command.variables.is_empty()
    {
        let names: Vec<&str> = command.variables.iter().map(|(name, _)| name.as_str()).collect();
        output.say(&format!("`{name}` was handed the variables: {}", names.join(", ")));
    }
    if is_json {
        output.json(&call.value());
    } else {
        passed(outcome, output);
    }
    terminal::report_error(outcome, output);
    if let Some(state) = state.as_ref().filter(|_| !is_json) {
        report_state(call, state, output);
    }
    terminal::report_layers(&plan.tool, outcome, output);
}

/// What the program wrote: stdout as data, stderr as talk.
fn passed(outcome: &Outcome, output: &mut Output) {
    let empty = Map::new();
    let fields = match &outcome.reply {
        Reply::Result(value) | Reply::Task(value) => value.as_object().unwrap_or(&empty),
        Reply::Error(error) => &error.more,
    };
    let text = |field: &str| fields.get(field).and_then(Value::as_str).unwrap_or_default();
    if std::io::stdout().is_terminal() {
        let lines: Vec<_> = text("stdout").split('\n').map(visible).collect();
        output.data(&lines.join("\n"));
    } else {
        output.data(text("stdout"));
    }
    if !text("stderr").is_empty() {
        output.insist(text("stderr").trim_end_matches('\n'));
    }
}

/// What a command did to the state, in one line.
fn report_state(call: &FinishedCall, state: &State, output: &mut Output) {
    let word = |name: &String| {
        let is_valid = state.entities.get(name).is_some_and(|entity| entity.is_valid);
        format!("{name} is {}", if is_valid { "valid" } else { "not valid" })
    };
    if !call.touched_state.is_empty() {
        output.say(&format!("state: {}", call.touched_state.iter().map(word).collect::<Vec<_>>().join(", ")));
    }
}
