//! `rep workflow`: a skill's steps as a checklist, and step by step as commands.

use rep_check::render::visible;
use rep_library::{Catalog, CatalogEntry, Status, read};
use rep_runtime::workflow::{self, Workflow};
use rep_runtime::{
    CallerConsent, Runtime, WorkflowAttendant, WorkflowCall, WorkflowError, WorkflowEvent, WorkflowStart,
};
use rep_sandbox::interrupt;
use serde_json::{Map, Value, json};

use super::exec::{self, How};
use crate::exit::{Exit, Failure};
use crate::library::{LibraryArgs, missing};
use crate::output::Output;
use crate::terminal::{self, TerminalPrompter, ask_line};

/// Show a skill's workflow as a checklist, or run its steps one by one
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(clap::Args)]
#[command(
    after_help = "Steps are free text. With --run each is cut into words, matched to its command and run as `rep exec` runs it; one that only a shell would understand is shown and left to you. It stops at the first step that fails, keeps how far it came by session, and goes on with --resume.\n\nExit codes: as `rep exec`.\n\nExamples:\n  rep workflow agent-browser\n  rep workflow agent-browser basic_interaction\n  rep workflow agent-browser basic_interaction --run --set url=https://example.org --set action=click --set ref=@e1\n  rep workflow agent-browser content_capture --run --resume --skip-optional"
)]
pub(crate) struct Args {
    /// The skill: a name, `package:name`, or a path
    skill: String,
    /// The workflow; without it, all are listed
    name: Option<String>,
    /// Run the steps
    #[arg(long, requires = "name")]
    run: bool,
    /// Whose state it reads and changes [default: default]
    #[arg(long, value_name = "S")]
    session: Option<String>,
    /// Fill a slot of its steps: `--set url=https://example.org`
    #[arg(long = "set", value_name = "SLOT=VALUE", requires = "run")]
    values: Vec<String>,
    /// Leave out optional steps
    #[arg(long, requires = "run")]
    skip_optional: bool,
    /// Go on where the last run of this session stopped
    #[arg(long, requires = "run", group = "begin")]
    resume: bool,
    /// Begin anew
    #[arg(long, requires = "run", group = "begin")]
    restart: bool,
    /// Begin with this step
    #[arg(long, requires = "run", value_name = "N", group = "begin", value_parser = clap::value_parser!(u32).range(1..))]
    from: Option<u32>,
    /// Give consent to its steps
    #[arg(long, requires = "run")]
    yes: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    how: How,
    #[command(flatten)]
    library: LibraryArgs,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    told(args, output).map_err(|failure| failure.json(args.json))
}

fn told(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let (catalog, index) = args.library.any(&args.skill, output)?;
    let entry = &catalog.entries[index];
    if matches!(entry.status, Status::Shadowed | Status::Invalid) {
        return Err(missing(&catalog, &args.skill));
    }
    let runtime = terminal::runtime(&args.library, args.how.workspace.as_deref(), args.how.no_sandbox)?;
    match &args.name {
        Some(name) if args.run => {
            run_steps(args, &runtime, &catalog, &call(args, &entry.qualified_name, name)?, output)
        }
        _ => look(args, &runtime, entry, output),
    }
}

/// Shows a workflow, or which there are.
fn look(args: &Args, runtime: &Runtime, entry: &CatalogEntry, output: &mut Output) -> Result<Exit, Failure> {
    let session = runtime.session_name(args.session.as_deref())?;
    let skill = read::skill(entry)?;
    let Some(document) = rep_convert::document_of(&skill) else {
        let failure = Failure::unable("VALIDATION_FAILED", format!("`{}` holds no structure", entry.qualified_name));
        return Err(failure.hint("`rep check` says what is wrong"));
    };
    if let Some(name) = &args.name {
        let found = runtime.workflow(&document, &entry.qualified_name, name, Some(session))?;
        if args.json {
            output.json(&found.to_json());
        } else {
            output.data(&text(&found));
        }
        return Ok(Exit::Fine);
    }
    let all = workflow::summaries(&document);
    if args.json {
        let one = |(name, description, steps)| json!({ "name": name, "description": description, "steps": steps });
        output.json(&json!({ "workflows": all.map(one).collect::<Vec<Value>>() }));
    } else {
        let line = |(name, description, steps): (&str, &str, usize)| {
            format!("{}  {steps} steps  {}\n", visible(name), visible(description))
        };
        output.data(&all.map(line).collect::<String>());
    }
    Ok(Exit::Fine)
}

fn text(found: &Workflow) -> String {
    let mut lines = vec![format!("{}: {}", found.name, found.description)];
    lines.extend(found.invariants.iter().map(|invariant| format!("  holds: {invariant}")));
    for (index, step) in found.steps.iter().enumerate() {
        let word = if step.is_optional { "  (optional)" } else { "" };
        let note = step.note.as_ref().map(|note| format!("  # {note}")).unwrap_or_default();
        lines.push(format!("{:>3}. [ ] {}{word}{note}", index + 1, step.text));
        if !step.slots.is_empty() {
            lines.push(format!("         say: {}", step.slots.join(", ")));
        }
        if !step.requires.is_empty() {
            let word = if step.missing.is_empty() { "valid by then" } else { "NOT valid by then" };
            lines.push(format!("         needs: {} ({word})", step.requires.join(", ")));
        }
        if let Some(reason) = &step.by_hand {
            lines.push(format!("         by hand: {reason}"));
        }
    }
    lines.iter().map(|line| format!("{}\n", visible(line))).collect()
}

/// The call of a workflow that the arguments ask for.
fn call(args: &Args, skill: &str, workflow: &str) -> Result<WorkflowCall, Failure> {
    let mut values = Map::new();
    for value in &args.values {
        let (name, value) = value.split_once('=').ok_or_else(|| {
            Failure::unable("USAGE", format!("`--set {value}` has no `=`")).hint("write `--set SLOT=VALUE`")
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
        permissions: args.how.permissions(),
        timeout_s: args.how.timeout,
    })
}

/// Runs the steps for whoever sits at the terminal.
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
    let attendant = WorkflowAttendant {
        prompter: &prompter,
        report: &|event| report(args, event, &mut prompter.output()),
        slot_value: &|slot| ask_line(&format!("{slot}:"), &mut prompter.output()),
        is_skipped: &|_| says("it is optional: [r]un it, or [s]kip it?", 's'),
        is_done_by_hand: &|step, reason| {
            prompter.output().insist(&format!("do this by hand ({reason}): {}", step.text));
            says("[d]one?", 'd')
        },
    };
    let ended = runtime.run_workflow(catalog, call, &attendant, &interrupt::on_interrupt());
    drop(prompter);
    let ended = ended.map_err(|error| unable(args, error))?;
    if args.json {
        output.json(&ended.value());
    }
    Ok(terminal::exit(ended.verdict))
}

/// Says what happens.
fn report(args: &Args, event: WorkflowEvent<'_>, output: &mut Output) {
    match event {
        WorkflowEvent::Begun(workflow) => {
            if args.how.no_sandbox {
                terminal::warn_unconfined(output);
            }
            workflow.invariants.iter().for_each(|invariant| output.say(&format!("holds: {invariant}")));
        }
        WorkflowEvent::StepReached { number, count, step } => {
            output.say(&format!("step {number} of {count}: {}", step.text));
        }
        WorkflowEvent::Planned(plan) => terminal::report_ignored(plan, output),
        WorkflowEvent::NotBegun(_) | WorkflowEvent::Finished(_) if args.json => {}
        WorkflowEvent::NotBegun(outcome) => terminal::report_error(outcome, output),
        WorkflowEvent::Finished(call) => exec::report(call, false, output),
        WorkflowEvent::FailureIgnored => output.say("it is optional; going on"),
        WorkflowEvent::LeftToPeople { number } => {
            output.say(&format!("when it is done, go on with `--from {}`", number + 1));
        }
        WorkflowEvent::Stopped { number } => {
            output.say(&format!("stopped at step {number}; `--resume` goes on from there"));
        }
    }
}

/// Why it was not run, and which option helps.
fn unable(args: &Args, error: WorkflowError) -> Failure {
    let message = error.to_string();
    match error {
        WorkflowError::UnknownSlot { workflow, .. } => {
            Failure::unable("USAGE", message).hint(format!("`rep workflow {} {workflow}` shows the slots", args.skill))
        }
        WorkflowError::SkillChanged { .. } => Failure::refused("SKILL_CHANGED", message)
            .hint("look at it; `--restart` begins anew, `--from N` with a step of your choice"),
        WorkflowError::StoppedBefore { .. } => {
            Failure::unable("STOPPED_BEFORE", message).hint("go on with `--resume`, or begin with `--restart`")
        }
        WorkflowError::NoSuchStep { .. } => Failure::unable("USAGE", message),
        WorkflowError::Call(error) => error.into(),
    }
}
