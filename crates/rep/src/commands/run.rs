//! `rep run`: one tool call, and what came of it.
//!
//! On stdout stands the tool's result, or the error or async envelope, and nothing else. How the run went is told on
//! stderr, and as JSON in the file `--json-meta` names: a result is exactly what the tool's contract says.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::Mutex;
use rep_library::Status;
use rep_runtime::plan::Work;
use rep_runtime::task::RunningTask;
use rep_runtime::{CallResult, CallerConsent, FinishedCall, Outcome, Plan, PlanBinding, ToolCall, ToolRuntime};
use rep_sandbox::Cancel;
use rep_sandbox::detach::Detached;
use rep_sandbox::interrupt;
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::library::{LibraryArgs, data_folder, missing};
use crate::output::Output;
use crate::terminal::{self, TerminalPrompter, arguments};
use crate::write;

/// Run one tool of a skill in the sandbox
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(clap::Args)]
#[command(
    after_help = "The tool sees and does what its skill declares, and nothing else; where this system cannot enforce that, nothing is run. stdout holds the tool's result object, or the error or async envelope.\n\nExit codes: 0 a result, 2 the call could not be made, 3 refused, 4 the tool failed, 130 interrupted.\n\nExamples:\n  rep run csv-profile:profile --input '{\"path\": \"data.csv\"}'\n  rep run ./csv-profile:profile --input @arguments.json --workspace ~/data\n  rep run csv-profile:profile --dry-run\n  rep run csv-profile:profile --input @big.json --detach"
)]
pub(crate) struct Args {
    /// The skill and its tool: `skill:tool`, `package:skill:tool` or `path/to/skill:tool`
    #[arg(value_name = "SKILL:TOOL")]
    target: String,
    /// The arguments: JSON, `@FILE`, or `-` for stdin [default: {}]
    #[arg(long, value_name = "JSON|@FILE|-")]
    input: Option<String>,
    /// The folder the skill's patterns are relative to [default: the project around this folder]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Give consent where the skill asks for it. It is for this tool: one that this tool calls runs where it needs no
    /// consent or was approved with `rep policy SKILL:TOOL --approve`
    #[arg(long)]
    yes: bool,
    /// Print what would run, as JSON, and run nothing
    #[arg(long)]
    dry_run: bool,
    /// End the tool after this many seconds
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: Option<u64>,
    /// Run with nothing enforced: the tool can do whatever you can
    #[arg(long)]
    no_sandbox: bool,
    /// Answer at once with a task, and go on in the background; `rep tasks` follows it
    #[arg(long, conflicts_with_all = ["dry_run", "json_meta"])]
    detach: bool,
    /// Be the background process of a task
    #[arg(long, hide = true, conflicts_with_all = ["detach", "dry_run", "yes", "input"])]
    as_task: bool,
    /// Write how the run went to this file, as JSON
    #[arg(long, value_name = "FILE")]
    json_meta: Option<PathBuf>,
    #[command(flatten)]
    library: LibraryArgs,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    tool(args, output).map_err(|failure| failure.json(true))
}

fn tool(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let Some((skill, tool)) =
        args.target.rsplit_once(':').filter(|(skill, tool)| !skill.is_empty() && !tool.is_empty())
    else {
        let failure = Failure::unable("USAGE", format!("`{}` names no tool", args.target));
        return Err(failure.hint("write `skill:tool`; `rep tools SKILL` lists the tools there are"));
    };
    let (input, bound) = if args.as_task { handed()? } else { (arguments(args.input.as_deref(), "--input")?, None) };
    let (catalog, index) = args.library.any(skill, output)?;
    let entry = &catalog.entries[index];
    if matches!(entry.status, Status::Shadowed | Status::Invalid) {
        return Err(missing(&catalog, skill));
    }
    let runtime = terminal::runtime(&args.library, args.workspace.as_deref(), args.no_sandbox)?;
    let call = ToolCall {
        consent: match bound {
            Some(binding) => CallerConsent::AgreedTo(binding),
            None if args.yes => CallerConsent::Given,
            None => CallerConsent::Ask,
        },
        timeout_s: args.timeout,
        ..ToolCall::tool(&entry.qualified_name, tool, input)
    };
    let prepared = if args.dry_run { runtime.plan(&catalog, &call)? } else { runtime.prepare(&catalog, &call)? };
    terminal::report_ignored(prepared.plan(), output);
    if args.dry_run {
        output.json(&prepared.plan().to_json());
        return Ok(Exit::Fine);
    }
    if args.no_sandbox {
        terminal::warn_unconfined(output);
    }
    if args.detach {
        let authorized = runtime.authorize(&prepared, &TerminalPrompter::new(output))?;
        return match authorized {
            Ok(binding) => detached(prepared.plan(), &binding, output),
            Err(refused) => Ok(report_refused(&refused, output)),
        };
    }
    if output.is_verbose {
        report_skipped_interpreter(prepared.plan(), output);
    }
    attached(&runtime, prepared, &catalog, args, output)
}

/// A call that was refused before another process was started for it.
fn report_refused(refused: &Outcome, output: &mut Output) -> Exit {
    output.json(&refused.value());
    terminal::report_error(refused, output);
    terminal::exit(refused.verdict)
}

/// Runs the call in this process, as a task if it is one.
fn attached(
    runtime: &rep_runtime::Runtime,
    prepared: rep_runtime::PreparedCall,
    catalog: &rep_library::Catalog,
    args: &Args,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let cancel = interrupt::on_interrupt();
    let task: Arc<Mutex<Option<Result<RunningTask, Failure>>>> = Arc::default();
    let mut prompter = TerminalPrompter::new(output);
    if args.as_task {
        let (task, cancel) = (Arc::clone(&task), cancel.clone());
        prompter = prompter.when_started(move |plan| {
            *task.lock() = Some(begin(plan, &cancel));
        });
    }
    let result = runtime.run(prepared, catalog, &prompter, &cancel)?;
    drop(prompter);
    // A prompter at a terminal answers at once.
    let CallResult::Finished(call) = result else { return Ok(Exit::Refused) };
    let task = task.lock().take();
    if let Some(task) = task {
        task?.finish(&call.outcome, SystemTime::now())?;
        return Ok(Exit::Fine);
    }
    report(&args.target, &call, output);
    if let Some(file) = &args.json_meta {
        write::put(file, &format!("{:#}\n", call.metadata()))?;
    }
    Ok(terminal::exit(call.outcome.verdict))
}

/// Starts the same call again as a process of its own, which says the task it goes on as.
fn detached(plan: &Plan, binding: &PlanBinding, output: &mut Output) -> Result<Exit, Failure> {
    let mut arguments: Vec<OsString> = Vec::new();
    let mut given = std::env::args_os().skip(1);
    while let Some(argument) = given.next() {
        match argument.to_str() {
            Some("--detach" | "--yes") => {}
            Some("--input") => drop(given.next()),
            Some(text) if text.starts_with("--input=") => {}
            _ => arguments.push(argument),
        }
    }
    // Behind `--` it would be a name.
    let end = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
    arguments.insert(end, OsString::from("--as-task"));
    // Whoever could be asked was asked, about this plan and no other.
    let handed = json!({ "input": plan.input, "binding": binding.as_str() });
    let failed = |error: std::io::Error| Failure::unable("UNSTARTABLE", format!("no task could be started: {error}"));
    let started = Detached::start(&arguments, handed.to_string().as_bytes()).map_err(failed)?;
    let answer: Value = serde_json::from_str(&started.line).unwrap_or_default();
    if answer["status"] == "async" {
        output.json(&answer);
        output.say(&format!("`rep tasks get {}` says how it goes", answer["task"]["id"].as_str().unwrap_or_default()));
        return Ok(Exit::Fine);
    }
    let (said, code) = started.end().map_err(failed)?;
    match serde_json::from_str(&said) {
        Ok(answer) => output.json(&answer),
        Err(_) => output.say(&said),
    }
    Ok(if code == 3 { Exit::Refused } else { Exit::Unable })
}

/// What a background process is handed on stdin: the arguments, and what was agreed to.
fn handed() -> Result<(Value, Option<PlanBinding>), Failure> {
    let unfit = || Failure::unable("USAGE", "a background process is started by `rep run --detach` alone");
    let mut handed = arguments(Some("-"), "--input")?;
    let bound = handed.get("binding").and_then(Value::as_str).map(PlanBinding::from_text).ok_or_else(unfit)?;
    Ok((handed.get_mut("input").map(Value::take).ok_or_else(unfit)?, Some(bound)))
}

/// Makes the task and prints it on one line, for the process that waits for it.
#[expect(clippy::print_stdout, reason = "the line must be out before the run, which holds the output")]
fn begin(plan: &Plan, cancel: &Cancel) -> Result<RunningTask, Failure> {
    let task = RunningTask::begin(&data_folder()?, plan, cancel, SystemTime::now())?;
    println!("{}", task.value());
    Ok(task)
}

/// The result on stdout, everything else on stderr.
fn report(target: &str, call: &FinishedCall, output: &mut Output) {
    let mut handed = BTreeSet::new();
    let nested = call.nested.iter().map(|nested| (nested.name.as_str(), &nested.outcome));
    for (name, outcome) in nested.chain([(target, &call.outcome)]) {
        terminal::report_details(name, outcome, output);
        if handed.insert((name, &outcome.secrets)) {
            terminal::report_secrets(name, outcome, output);
        }
    }
    output.json(&call.value());
    terminal::report_error(&call.outcome, output);
    terminal::report_layers(target, &call.outcome, output);
}

/// Says where a virtual environment in the workspace would be used, were it elsewhere.
fn report_skipped_interpreter(plan: &Plan, output: &mut Output) {
    let is_python = matches!(&plan.work, Work::Tool(tool) if tool.runtime == ToolRuntime::Python);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let first = std::env::split_paths(&path).map(|folder| folder.join("python3")).find(|program| program.is_file());
    if let Some(first) = first.filter(|first| is_python && first.starts_with(&plan.workspace)) {
        let first = first.display();
        output.say(&format!("`{first}` lies in the workspace, so the python it leads to runs, without packages there"));
    }
}
