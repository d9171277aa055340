//! `rep workflow`: prints a skill's workflow as a checklist, or runs it step by step.

use rep_check::render::escape_invisible;
use rep_library::{Catalog, CatalogEntry, SkillStatus, skill_reader};
use rep_runtime::workflow::{self, WorkflowChecklist};
use rep_runtime::{
    CallerConsent, Runtime, WorkflowCall, WorkflowCallbacks, WorkflowError, WorkflowEvent, WorkflowStart,
};
use rep_sandbox::interrupt;
use serde_json::{Map, Value, json};

use super::exec::{self, ExecutionArgs};
use crate::exit::{Exit, Failure};
use crate::library::{self, LibraryArgs, uncallable_skill};
use crate::output::Output;
use crate::terminal::{self, TerminalPrompter, ask_line};

/// Show a skill's workflow, or run it step by step
///
/// With `--run`, each step that matches a command runs as with `rep exec`; other steps are printed for you to do.
/// The run stops at the first step that fails. Progress is stored per session; continue with `--resume`.
#[expect(clippy::struct_excessive_bools, reason = "each is a separate flag")]
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep workflow git-worktrees
  rep workflow git-worktrees review_beside_work
  rep workflow git-worktrees clean_up --json")]
pub(crate) struct Args {
    /// The skill: a name, `package:name`, or a path
    skill: String,
    /// The workflow; without it, all workflows are listed
    name: Option<String>,
    /// Run the steps
    #[arg(long, requires = "name")]
    run: bool,
    /// The session whose state is used [default: default]
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// Fill in a placeholder, such as `--set url=https://example.org`; repeatable
    #[arg(long = "set", value_name = "SLOT=VALUE", requires = "run")]
    values: Vec<String>,
    /// Skip optional steps
    #[arg(long, requires = "run")]
    skip_optional: bool,
    /// Continue where the last run of this session stopped
    #[arg(long, requires = "run", group = "begin")]
    resume: bool,
    /// Start again from the first step
    #[arg(long, requires = "run", group = "begin")]
    restart: bool,
    /// Start at this step
    #[arg(long, requires = "run", value_name = "N", group = "begin", value_parser = clap::value_parser!(u32).range(1..))]
    from: Option<u32>,
    /// Confirm every step without asking
    #[arg(long, requires = "run")]
    yes: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    how: ExecutionArgs,
    #[command(flatten)]
    library: LibraryArgs,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    show_or_run(args, output).map_err(|failure| failure.json(args.json))
}

fn show_or_run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let (catalog, index) = args.library.find_any_skill(&args.skill, output)?;
    let entry = &catalog.entries[index];
    if matches!(entry.status, SkillStatus::Shadowed | SkillStatus::Invalid) {
        return Err(uncallable_skill(entry));
    }
    let runtime = terminal::open_runtime(&args.library, args.how.workspace.as_deref(), args.how.no_sandbox)?;
    match &args.name {
        Some(name) if args.run => {
            run_steps(args, &runtime, &catalog, &build_call(args, &entry.qualified_name, name)?, output)
        }
        _ => show_workflow(args, &runtime, entry, output),
    }
}

/// Prints a workflow, or lists all workflows.
fn show_workflow(args: &Args, runtime: &Runtime, entry: &CatalogEntry, output: &mut Output) -> Result<Exit, Failure> {
    let session = runtime.session_name(args.session.as_deref())?;
    let (skill, validation) = skill_reader::read_validated_skill(entry)?;
    if !validation.violations.is_empty() {
        return Err(Failure::invalid_skill(&entry.qualified_name, &validation.violations));
    }
    library::report_version_warnings(&validation.version_warnings, output);
    let Some(document) = rep_convert::document_from_skill(&skill) else {
        let failure =
            Failure::unable("VALIDATION_FAILED", format!("`{}` has no valid structure", entry.qualified_name));
        return Err(failure.hint("run `rep check` to see what is wrong"));
    };
    if let Some(name) = &args.name {
        let found = runtime.load_workflow(&document, &entry.qualified_name, name, Some(session))?;
        if args.json {
            output.write_json(&found.to_json());
        } else {
            output.write_data(&render_workflow(&found));
        }
        return Ok(Exit::Fine);
    }
    let all = workflow::summarize_workflows(&document);
    if args.json {
        let one = |(name, description, steps)| json!({ "name": name, "description": description, "steps": steps });
        output.write_json(&json!({ "workflows": all.map(one).collect::<Vec<Value>>() }));
    } else {
        let line = |(name, description, steps): (&str, &str, usize)| {
            format!("{}  {steps} steps  {}\n", escape_invisible(name), escape_invisible(description))
        };
        output.write_data(&all.map(line).collect::<String>());
    }
    Ok(Exit::Fine)
}

fn render_workflow(found: &WorkflowChecklist) -> String {
    let mut lines = vec![format!("{}: {}", found.name, found.description)];
    lines.extend(found.invariants.iter().map(|invariant| format!("  invariant: {invariant}")));
    for (index, step) in found.steps.iter().enumerate() {
        let word = if step.is_optional { "  (optional)" } else { "" };
        let note = step.note.as_ref().map(|note| format!("  # {note}")).unwrap_or_default();
        lines.push(format!("{:>3}. [ ] {}{word}{note}", index + 1, step.text));
        if !step.slots.is_empty() {
            lines.push(format!("         values: {}", step.slots.join(", ")));
        }
        if !step.requires.is_empty() {
            let word = if step.missing.is_empty() { "valid at this step" } else { "NOT valid at this step" };
            lines.push(format!("         needs: {} ({word})", step.requires.join(", ")));
        }
        if let Some(reason) = &step.by_hand {
            lines.push(format!("         manual: {reason}"));
        }
    }
    lines.iter().map(|line| format!("{}\n", escape_invisible(line))).collect()
}

/// Builds the workflow call from the arguments.
fn build_call(args: &Args, skill: &str, workflow: &str) -> Result<WorkflowCall, Failure> {
    let mut values = Map::new();
    for value in &args.values {
        let (name, value) = value.split_once('=').ok_or_else(|| {
            Failure::unable("USAGE", format!("`--set {value}` has no `=`")).hint("use `--set SLOT=VALUE`")
        })?;
        values.insert(name.to_owned(), value.into());
    }
    let start = match args.from {
        Some(number) => WorkflowStart::From(number),
        None if args.restart => WorkflowStart::Restart,
        None if args.resume => WorkflowStart::Resume,
        None => WorkflowStart::Fresh,
    };
    Ok(WorkflowCall {
        skill: skill.to_owned(),
        workflow: workflow.to_owned(),
        session: args.session.clone(),
        start,
        values,
        skip_optional: args.skip_optional,
        consent: if args.yes { CallerConsent::Given } else { CallerConsent::Ask },
        permissions: args.how.permission_override(),
        timeout_s: args.how.timeout,
    })
}

/// Runs the steps, and asks the user at the terminal.
fn run_steps(
    args: &Args,
    runtime: &Runtime,
    catalog: &Catalog,
    call: &WorkflowCall,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let prompter = TerminalPrompter::new(output);
    let says = |question: &str, letter: char| {
        let line = ask_line(question, &mut prompter.output());
        line.is_some_and(|line| line.trim().to_lowercase().starts_with(letter))
    };
    let attendant = WorkflowCallbacks {
        prompter: &prompter,
        report: &|event| report_workflow_event(args, event, &mut prompter.output()),
        slot_value: &|slot| ask_line(&format!("{slot}:"), &mut prompter.output()),
        is_skipped: &|_| says("optional step: [r]un or [s]kip?", 's'),
        is_done_by_hand: &|step, reason| {
            prompter.output().print_always(&format!("do this step manually ({reason}): {}", step.text));
            says("[d]one?", 'd')
        },
    };
    let ended = runtime.run_workflow(catalog, call, &attendant, &interrupt::cancel_on_interrupt());
    drop(prompter);
    let ended = ended.map_err(|error| workflow_failure(args, error))?;
    if args.json {
        output.write_json(&ended.to_json());
    }
    Ok(terminal::verdict_to_exit(ended.verdict))
}

/// Reports the progress of a workflow.
fn report_workflow_event(args: &Args, event: WorkflowEvent<'_>, output: &mut Output) {
    match event {
        WorkflowEvent::Started(workflow) => {
            if args.how.no_sandbox {
                terminal::warn_unconfined(output);
            }
            workflow.invariants.iter().for_each(|invariant| output.print_message(&format!("invariant: {invariant}")));
        }
        WorkflowEvent::StepReached { number, count, step } => {
            output.print_message(&format!("step {number} of {count}: {}", step.text));
        }
        WorkflowEvent::Planned(plan) => terminal::report_ignored(plan, output),
        WorkflowEvent::StepRefused(_) | WorkflowEvent::Finished(_) if args.json => {}
        WorkflowEvent::StepRefused(outcome) => terminal::report_error(outcome, output),
        WorkflowEvent::Finished(call) => exec::report_call(call, false, output),
        WorkflowEvent::FailureIgnored => output.print_message("the step is optional; continuing"),
        WorkflowEvent::LeftToPeople { number } => {
            output.print_message(&format!("when it is done, continue with `--from {}`", number + 1));
        }
        WorkflowEvent::Stopped { number } => {
            output.print_message(&format!("stopped at step {number}; continue with `--resume`"));
        }
    }
}

/// Returns the failure for a workflow that was not run, with hints.
fn workflow_failure(args: &Args, error: WorkflowError) -> Failure {
    let message = error.to_string();
    match error {
        WorkflowError::UnknownSlot { workflow, .. } => Failure::unable("USAGE", message)
            .hint(format!("run `rep workflow {} {workflow}` to see the placeholders", args.skill)),
        WorkflowError::SkillChanged { .. } => Failure::refused("SKILL_CHANGED", message)
            .hint("review the skill, then use `--restart`, or `--from N` to start at a given step"),
        WorkflowError::StoppedBefore { .. } => {
            Failure::unable("STOPPED_BEFORE", message).hint("continue with `--resume`, or start again with `--restart`")
        }
        WorkflowError::NoSuchStep { .. } => Failure::unable("USAGE", message),
        WorkflowError::Call(error) => error.into(),
    }
}
