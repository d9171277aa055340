//! `rep run`: calls one tool, or runs one bundled script, and prints its result.
//!
//! stdout contains only the tool's result, or the error or async envelope, exactly as the tool's contract defines
//! it. Details about the run go to stderr, and as JSON to the file that `--json-meta` names.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::Mutex;
use rep_library::{Catalog, SkillStatus};
use rep_runtime::plan::PlannedWork;
use rep_runtime::plan::server::SERVER_PREFIX;
use rep_runtime::task::RunningTask;
use rep_runtime::{
    CallResult, CallerConsent, FinishedCall, Outcome, Plan, PlanBinding, ScriptInvocation, ToolCall, ToolRuntime,
    parse_server_target,
};
use rep_sandbox::Cancel;
use rep_sandbox::detach::DetachedProcess;
use rep_sandbox::interrupt;
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::library::{LibraryArgs, data_folder, uncallable_skill};
use crate::output::Output;
use crate::terminal::{self, TerminalPrompter, read_arguments};
use crate::timings::PhaseTimings;
use crate::write;

/// Run one of a skill's tools or scripts in the sandbox
///
/// It gets only the permissions that the skill declares. If this system cannot enforce them, it does not run. stdout is
/// the tool's result object, the output of the script, or an error or async envelope. Exits with 3 if the call is
/// refused, 4 if it fails.
#[expect(clippy::struct_excessive_bools, reason = "each is a separate flag")]
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep run csv-profile:profile --input '{\"path\": \"harvest.csv\"}'
  rep run skills/csv-profile:profile --input @arguments.json
  rep run csv-profile:profile --input @arguments.json --dry-run
  rep run csv-profile:profile --input @arguments.json --detach
  rep run slugify --script scripts/slugify.py -- 'One word'")]
pub(crate) struct Args {
    /// The tool: `skill:tool`, `package:skill:tool`, `path/to/skill:tool`, or `mcp:server:tool`; with `--script` the
    /// skill
    #[arg(value_name = "SKILL:TOOL")]
    target: String,
    /// Run a script that the skill bundles: a file, relative to the skill's directory
    ///
    /// Works for every skill; no tool needs to be declared. The words after `--` are its arguments; no shell is involved.
    /// stdout is `{"stdout", "stderr", "returncode", "denied"}`.
    #[arg(long, value_name = "PATH", conflicts_with = "input")]
    script: Option<String>,
    /// The arguments of the script
    #[arg(last = true, value_name = "ARG", requires = "script")]
    script_arguments: Vec<String>,
    /// The arguments: JSON, `@FILE`, or `-` for stdin [default: {}]
    #[arg(long, value_name = "JSON|@FILE|-")]
    input: Option<String>,
    /// The directory that permission patterns are relative to [default: the enclosing project]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Confirm this call without asking
    ///
    /// Applies to this tool only. A tool that it calls needs its own approval if it requires confirmation: `rep
    /// policy SKILL:TOOL --approve`.
    #[arg(long)]
    yes: bool,
    /// Print what would run, as JSON, without running it
    #[arg(long)]
    dry_run: bool,
    /// Stop the tool after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: Option<u64>,
    /// Run without the sandbox, with all your permissions
    #[arg(long)]
    no_sandbox: bool,
    /// Return a task at once and continue in the background; see `rep tasks`
    #[arg(long, conflicts_with_all = ["dry_run", "json_meta"])]
    detach: bool,
    /// Run as the background process of a task
    #[arg(long, hide = true, conflicts_with_all = ["detach", "dry_run", "yes", "input"])]
    as_task: bool,
    /// Print one JSON document, and do not repeat its error on stderr
    ///
    /// stdout is one JSON document in any case: the result object, or the error or async envelope.
    #[arg(long)]
    json: bool,
    /// Write details about the run to this file, as JSON
    #[arg(long, value_name = "FILE")]
    json_meta: Option<PathBuf>,
    /// Print how long each phase of the run took
    #[arg(long, conflicts_with_all = ["detach", "dry_run"])]
    timings: bool,
    #[command(flatten)]
    library: LibraryArgs,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    run_tool(args, output).map_err(|failure| failure.json(true))
}

fn run_tool(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    if args.script.is_none() {
        split_target(&args.target)?;
    }
    let (input, bound) =
        if args.as_task { read_handed_input()? } else { (read_arguments(args.input.as_deref(), "--input")?, None) };
    let timings = args.timings.then(PhaseTimings::start);
    let (catalog, call) = tracing::debug_span!("find the skill").in_scope(|| find_call(args, input, output))?;
    let runtime = terminal::open_runtime(&args.library, args.workspace.as_deref(), args.no_sandbox)?;
    let call = ToolCall {
        consent: match bound {
            Some(binding) => CallerConsent::AgreedTo(binding),
            None if args.yes => CallerConsent::Given,
            None => CallerConsent::Ask,
        },
        timeout_s: args.timeout,
        ..call
    };
    let prepared =
        if args.dry_run { runtime.plan_call(&catalog, &call)? } else { runtime.prepare_call(&catalog, &call)? };
    terminal::report_ignored(prepared.plan(), output);
    if args.dry_run {
        output.write_json(&prepared.plan().to_json());
        return Ok(Exit::Fine);
    }
    if args.no_sandbox {
        terminal::warn_unconfined(output);
    }
    if args.detach {
        let authorized = runtime.authorize_call(&prepared, &TerminalPrompter::new(output))?;
        return match authorized {
            Ok(binding) => start_detached(prepared.plan(), &binding, output),
            Err(refused) => Ok(report_refused(&refused, args.json, output)),
        };
    }
    if output.is_verbose {
        report_skipped_interpreter(prepared.plan(), output);
    }
    run_attached(&runtime, prepared, &catalog, args, timings.as_ref(), output)
}

/// Splits `skill:tool`.
fn split_target(target: &str) -> Result<(&str, &str), Failure> {
    target.rsplit_once(':').filter(|(skill, tool)| !skill.is_empty() && !tool.is_empty()).ok_or_else(|| {
        let failure = Failure::unable("USAGE", format!("`{target}` does not name a tool"));
        failure.hint("use `skill:tool`; run `rep tools SKILL` to see the tools, or name a script with `--script`")
    })
}

/// Finds what the target names: a tool of an MCP server, or a tool or script of a skill.
fn find_call(args: &Args, input: Value, output: &mut Output) -> Result<(Catalog, ToolCall), Failure> {
    if let Some(script) = &args.script {
        let (catalog, skill) = find_callable_skill(args, &args.target, output)?;
        let invocation = ScriptInvocation { path: script.clone(), arguments: args.script_arguments.clone() };
        return Ok((catalog, ToolCall::for_script(skill, invocation)));
    }
    if args.target.starts_with(SERVER_PREFIX) {
        let catalog = args.library.discover_catalog(output)?;
        if let Some((server, tool)) = parse_server_target(&catalog, &args.target) {
            return Ok((catalog, ToolCall::for_server(server, tool, input)));
        }
    }
    let (skill, tool) = split_target(&args.target)?;
    let (catalog, skill) = find_callable_skill(args, skill, output)?;
    Ok((catalog, ToolCall::for_tool(skill, tool, input)))
}

/// Finds a skill that may be called, and returns its qualified name.
fn find_callable_skill(args: &Args, skill: &str, output: &mut Output) -> Result<(Catalog, String), Failure> {
    let (catalog, index) = args.library.find_any_skill(skill, output)?;
    let entry = &catalog.entries[index];
    if matches!(entry.status, SkillStatus::Shadowed | SkillStatus::Invalid) {
        return Err(uncallable_skill(entry));
    }
    let name = entry.qualified_name.clone();
    Ok((catalog, name))
}

/// Reports a call that was refused before a background process was started.
fn report_refused(refused: &Outcome, is_json: bool, output: &mut Output) -> Exit {
    output.write_json(&refused.to_json());
    if !is_json {
        terminal::report_error(refused, output);
    }
    terminal::verdict_to_exit(refused.verdict)
}

/// Runs the call in this process, as a task if a task is given.
fn run_attached(
    runtime: &rep_runtime::Runtime,
    prepared: rep_runtime::PreparedCall,
    catalog: &rep_library::Catalog,
    args: &Args,
    timings: Option<&PhaseTimings>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let cancel = interrupt::cancel_on_interrupt();
    let task: Arc<Mutex<Option<Result<RunningTask, Failure>>>> = Arc::default();
    let mut prompter = TerminalPrompter::new(output);
    if args.as_task {
        let (task, cancel) = (Arc::clone(&task), cancel.clone());
        prompter = prompter.when_started(move |plan| {
            *task.lock() = Some(begin_task(plan, &cancel));
        });
    }
    let result = runtime.run_prepared(prepared, catalog, &prompter, &cancel)?;
    drop(prompter);
    // A prompter at a terminal answers immediately.
    let CallResult::Finished(call) = result else { return Ok(Exit::Refused) };
    let task = task.lock().take();
    if let Some(task) = task {
        task?.finish(&call.outcome, SystemTime::now())?;
        return Ok(Exit::Fine);
    }
    report_call(args, &call, output);
    if let Some(file) = &args.json_meta {
        let mut metadata = call.metadata_json();
        if let Some(timings) = timings {
            metadata["timings"] = timings.to_json();
        }
        write::write_file(file, &format!("{metadata:#}\n"))?;
    }
    if let Some(timings) = timings {
        output.print_always(&timings.render());
    }
    Ok(terminal::verdict_to_exit(call.outcome.verdict))
}

/// Runs the same call in a separate process, which prints the task that it continues as.
fn start_detached(plan: &Plan, binding: &PlanBinding, output: &mut Output) -> Result<Exit, Failure> {
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
    // After `--` it would be a name.
    let end = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
    arguments.insert(end, OsString::from("--as-task"));
    // The user was already asked, about exactly this plan.
    let handed = json!({ "input": plan.input, "binding": binding.as_str() });
    let failed = |error: std::io::Error| Failure::unable("UNSTARTABLE", format!("could not start a task: {error}"));
    let started = DetachedProcess::start(&arguments, handed.to_string().as_bytes()).map_err(failed)?;
    let answer: Value = serde_json::from_str(&started.first_line).unwrap_or_default();
    if answer["status"] == "async" {
        output.write_json(&answer);
        output.print_message(&format!(
            "run `rep tasks get {}` to see its status",
            answer["task"]["id"].as_str().unwrap_or_default()
        ));
        return Ok(Exit::Fine);
    }
    let (said, code) = started.wait_for_exit().map_err(failed)?;
    match serde_json::from_str(&said) {
        Ok(answer) => output.write_json(&answer),
        Err(_) => output.print_message(&said),
    }
    Ok(if code == 3 { Exit::Refused } else { Exit::Unable })
}

/// Reads the input of a background process from stdin: the arguments, and the confirmed plan.
fn read_handed_input() -> Result<(Value, Option<PlanBinding>), Failure> {
    let unfit = || Failure::unable("USAGE", "background processes can only be started by `rep run --detach`");
    let mut handed = read_arguments(Some("-"), "--input")?;
    let bound = handed.get("binding").and_then(Value::as_str).map(PlanBinding::from_text).ok_or_else(unfit)?;
    Ok((handed.get_mut("input").map(Value::take).ok_or_else(unfit)?, Some(bound)))
}

/// Creates the task and prints it on one line, for the process that waits for it.
#[expect(clippy::print_stdout, reason = "the line must be printed before the run, which holds the output")]
fn begin_task(plan: &Plan, cancel: &Cancel) -> Result<RunningTask, Failure> {
    let task = RunningTask::begin(&data_folder()?, plan, cancel, SystemTime::now())?;
    println!("{}", task.to_json());
    Ok(task)
}

/// Prints the result to stdout and everything else to stderr.
fn report_call(args: &Args, call: &FinishedCall, output: &mut Output) {
    let target = args.script.as_deref().unwrap_or(&args.target);
    let mut handed = BTreeSet::new();
    let nested = call.nested.iter().map(|nested| (nested.name.as_str(), &nested.outcome));
    for (name, outcome) in nested.chain([(target, &call.outcome)]) {
        terminal::report_details(name, outcome, output);
        if handed.insert((name, &outcome.secrets)) {
            terminal::report_secrets(name, outcome, output);
        }
    }
    output.write_json(&call.to_json());
    if !args.json {
        terminal::report_error(&call.outcome, output);
    }
    terminal::report_layers(target, &call.outcome, output);
}

/// Reports that a virtual environment in the workspace is not used.
fn report_skipped_interpreter(plan: &Plan, output: &mut Output) {
    let is_python = matches!(&plan.work, PlannedWork::Tool(tool) if tool.runtime == ToolRuntime::Python);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let first = std::env::split_paths(&path).map(|folder| folder.join("python3")).find(|program| program.is_file());
    if let Some(first) = first.filter(|first| is_python && first.starts_with(&plan.workspace)) {
        let first = first.display();
        output.print_message(&format!(
            "`{first}` is in the workspace, so its base Python runs instead, without the packages installed there"
        ));
    }
}
