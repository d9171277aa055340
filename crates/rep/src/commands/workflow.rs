//! `rep workflow`: a skill's steps as a checklist, and step by step as commands.

use std::sync::Arc;
use std::time::SystemTime;

use rep_check::render::visible;
use rep_library::{Catalog, CatalogEntry, Status, read};
use rep_model::Document;
use rep_runtime::workflow::{self, Step, Workflow};
use rep_runtime::{
    CallError, CallResult, CallerConsent, CommandInvocation, ErrorKind, ExecutableSkill, Outcome, Runtime, ToolCall,
    ToolError, Verdict,
};
use rep_sandbox::Cancel;
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
    let session = runtime.session_name(args.session.as_deref())?;
    if args.run {
        let skill = runtime.load_skill(&catalog, &entry.qualified_name)?;
        let name = args.name.as_deref().unwrap_or_default();
        let found = found(&runtime, skill.document()?, &skill.name, name, session)?;
        return WorkflowRun::new(args, &runtime, &catalog, skill, found, session)?.all(output);
    }
    look(args, &runtime, entry, session, output)
}

/// A workflow in the state of a session.
fn found(runtime: &Runtime, document: &Document, skill: &str, name: &str, session: &str) -> Result<Workflow, Failure> {
    let state = runtime.state(document, skill, session)?;
    workflow::workflow(document, name, &state).ok_or_else(|| {
        let message = format!("Path 'workflows.{name}' not found in skill '{skill}'");
        let all = workflow::names(document);
        let hint = if all.is_empty() {
            "it has no workflows".to_owned()
        } else {
            format!("its workflows: {}", all.iter().take(12).copied().collect::<Vec<_>>().join(", "))
        };
        Failure { exit: Exit::Findings, ..Failure::unable("PATH_NOT_FOUND", message).hint(hint) }
    })
}

/// Shows a workflow, or which there are.
fn look(
    args: &Args,
    runtime: &Runtime,
    entry: &CatalogEntry,
    session: &str,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let skill = read::skill(entry)?;
    let Some(document) = rep_convert::document_of(&skill) else {
        let failure = Failure::unable("VALIDATION_FAILED", format!("`{}` holds no structure", entry.qualified_name));
        return Err(failure.hint("`rep check` says what is wrong"));
    };
    if let Some(name) = &args.name {
        let found = found(runtime, &document, &entry.qualified_name, name, session)?;
        if args.json {
            output.json(&checklist(&found));
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

fn checklist(found: &Workflow) -> Value {
    let step = |(index, step): (usize, &Step)| {
        json!({
            "step": index + 1,
            "cmd": step.text,
            "note": step.note,
            "optional": step.is_optional,
            "command": step.command,
            "slots": step.slots,
            "requires": step.requires,
            "missing": step.missing,
            "by_hand": step.by_hand,
        })
    };
    json!({
        "name": found.name,
        "description": found.description,
        "invariants": found.invariants,
        "steps": found.steps.iter().enumerate().map(step).collect::<Vec<Value>>(),
    })
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

/// A workflow on its way.
struct WorkflowRun<'a> {
    args: &'a Args,
    runtime: &'a Runtime,
    catalog: &'a Catalog,
    skill: Arc<ExecutableSkill>,
    found: Workflow,
    session: &'a str,
    /// What fills its slots.
    values: Map<String, Value>,
    /// The steps that are done.
    begin: usize,
    /// What became of each step that was reached, as JSON.
    told: Vec<Value>,
}

/// What became of a step.
enum Became {
    Done,
    Skipped,
    Stopped(Exit),
}

impl<'a> WorkflowRun<'a> {
    fn new(
        args: &'a Args,
        runtime: &'a Runtime,
        catalog: &'a Catalog,
        skill: Arc<ExecutableSkill>,
        found: Workflow,
        session: &'a str,
    ) -> Result<Self, Failure> {
        let mut values = Map::new();
        for value in &args.values {
            let (name, value) = value.split_once('=').ok_or_else(|| {
                Failure::unable("USAGE", format!("`--set {value}` has no `=`")).hint("write `--set SLOT=VALUE`")
            })?;
            let is_slot = found.steps.iter().any(|step| step.slots.iter().any(|slot| slot == name));
            if !is_slot {
                let failure = Failure::unable("USAGE", format!("no step of `{}` has a slot `{name}`", found.name));
                return Err(failure.hint(format!("`rep workflow {} {}` shows the slots", args.skill, found.name)));
            }
            values.insert(name.to_owned(), value.into());
        }
        let kept = runtime.existing_sessions()?;
        let kept = kept.map(|sessions| sessions.progress(&skill.name, session, &found.name)).transpose()?.flatten();
        let begin = match (args.from, kept) {
            (Some(from), _) => from - 1,
            (None, _) if args.restart => 0,
            (None, Some((_, digest))) if args.resume && digest != skill.digest => {
                let failure = Failure::refused("SKILL_CHANGED", format!("`{}` changed since that run", skill.name));
                return Err(failure.hint("look at it; `--restart` begins anew, `--from N` with a step of your choice"));
            }
            (None, Some((done, _))) if args.resume => done,
            (None, Some((done, _))) if done > 0 => {
                let message = format!("`{}` stopped after step {done} in the session `{session}`", found.name);
                return Err(
                    Failure::unable("STOPPED_BEFORE", message).hint("go on with `--resume`, or begin with `--restart`")
                );
            }
            (None, _) => 0,
        };
        let begin = begin as usize;
        if begin > found.steps.len() {
            let message = format!("`{}` has {} steps", found.name, found.steps.len());
            return Err(Failure::unable("USAGE", message));
        }
        Ok(Self { args, runtime, catalog, skill, found, session, values, begin, told: Vec::new() })
    }

    /// Runs the steps, as far as it goes.
    fn all(mut self, output: &mut Output) -> Result<Exit, Failure> {
        if self.args.how.no_sandbox {
            terminal::warn_unconfined(output);
        }
        for invariant in &self.found.invariants {
            output.say(&format!("holds: {invariant}"));
        }
        let cancel = interrupt::on_interrupt();
        let steps = std::mem::take(&mut self.found.steps);
        let mut exit = Exit::Fine;
        for (index, step) in steps.iter().enumerate().skip(self.begin) {
            output.say(&format!("step {} of {}: {}", index + 1, steps.len(), step.text));
            match self.step(index, step, &cancel, output)? {
                Became::Done | Became::Skipped => self.keep(Some(index + 1))?,
                Became::Stopped(stopped) => {
                    self.keep(Some(index))?;
                    output.say(&format!("stopped at step {}; `--resume` goes on from there", index + 1));
                    exit = stopped;
                    break;
                }
            }
        }
        if exit == Exit::Fine {
            self.keep(None)?;
        }
        if self.args.json {
            let is_done = exit == Exit::Fine;
            let value =
                json!({ "workflow": self.found.name, "session": self.session, "done": is_done, "steps": self.told });
            output.json(&value);
        }
        Ok(exit)
    }

    /// Keeps how far it came.
    fn keep(&self, done: Option<usize>) -> Result<(), Failure> {
        let done = done.map(|done| (u32::try_from(done).unwrap_or(u32::MAX), self.skill.digest.as_str()));
        Ok(self.runtime.sessions()?.set_progress(
            &self.skill.name,
            self.session,
            &self.found.name,
            done,
            SystemTime::now(),
        )?)
    }

    fn tell(&mut self, index: usize, step: &Step, outcome: &str, result: &Value) {
        self.told.push(json!({ "step": index + 1, "cmd": step.text, "outcome": outcome, "result": result }));
    }

    /// One step: done, left out, or the end.
    fn step(&mut self, index: usize, step: &Step, cancel: &Cancel, output: &mut Output) -> Result<Became, Failure> {
        if step.is_optional && self.is_left_out(output) {
            self.tell(index, step, "skipped", &Value::Null);
            return Ok(Became::Skipped);
        }
        if let Some(reason) = &step.by_hand {
            return Ok(self.by_hand(index, step, reason, output));
        }
        for slot in &step.slots {
            if !self.values.contains_key(slot)
                && let Some(line) = ask_line(&format!("{slot}:"), output)
            {
                self.values.insert(slot.clone(), line.into());
            }
        }
        let filled = step.filled(self.skill.document()?, &self.values);
        let (name, arguments) = match filled {
            Ok(filled) => filled,
            Err(error) => {
                let error = ToolError::new(error.code, error.message).with("remedy", error.remedy);
                return Ok(self.ended(index, step, &Outcome::refused(error), output));
            }
        };
        let invocation = CommandInvocation {
            command: name,
            arguments,
            session: Some(self.session.to_owned()),
            permissions: self.args.how.permissions(),
            ignore_state: false,
        };
        let call = ToolCall {
            consent: if self.args.yes { CallerConsent::Given } else { CallerConsent::Ask },
            timeout_s: self.args.how.timeout,
            ..ToolCall::command(&self.skill.name, invocation)
        };
        let result = match self.run_step(&call, cancel, output) {
            Ok(result) => result,
            // A step that does not fit its command stops as one that fails.
            Err(error) if error.kind == ErrorKind::Refused => {
                return Ok(self.ended(index, step, &Outcome::refused(error.into()), output));
            }
            Err(error) => return Err(error.into()),
        };
        // A prompter at a terminal answers at once.
        let CallResult::Finished(call) = result else { return Ok(Became::Stopped(Exit::Refused)) };
        if !self.args.json {
            exec::report(&call, false, output);
        }
        Ok(self.became(index, step, call.outcome.verdict, &call.value(), output))
    }

    fn run_step(&self, call: &ToolCall, cancel: &Cancel, output: &mut Output) -> Result<CallResult, CallError> {
        let prepared = self.runtime.plan_loaded(&self.skill, call)?;
        terminal::report_ignored(prepared.plan(), output);
        self.runtime.run(prepared, self.catalog, &TerminalPrompter::new(output), cancel)
    }

    /// A step that was not begun.
    fn ended(&mut self, index: usize, step: &Step, outcome: &Outcome, output: &mut Output) -> Became {
        if !self.args.json {
            terminal::report_error(outcome, output);
        }
        self.became(index, step, outcome.verdict, &outcome.value(), output)
    }

    fn became(&mut self, index: usize, step: &Step, verdict: Verdict, value: &Value, output: &mut Output) -> Became {
        let word = if verdict == Verdict::Fine { "done" } else { "failed" };
        self.tell(index, step, word, value);
        match verdict {
            Verdict::Fine => Became::Done,
            Verdict::Interrupted => Became::Stopped(Exit::Interrupted),
            Verdict::Refused | Verdict::Failed if step.is_optional => {
                output.say("it is optional; going on");
                Became::Skipped
            }
            Verdict::Refused | Verdict::Failed => Became::Stopped(terminal::exit(verdict)),
        }
    }

    /// Whether an optional step is left out: as was said with the call, else as somebody says now.
    fn is_left_out(&self, output: &mut Output) -> bool {
        self.args.skip_optional
            || ask_line("it is optional: [r]un it, or [s]kip it?", output)
                .is_some_and(|line| line.trim().to_lowercase().starts_with('s'))
    }

    /// A step that is for people to do.
    fn by_hand(&mut self, index: usize, step: &Step, reason: &str, output: &mut Output) -> Became {
        output.insist(&format!("do this by hand ({reason}): {}", step.text));
        let is_done = ask_line("[d]one?", output).is_some_and(|line| line.trim().to_lowercase().starts_with('d'));
        let word = if is_done { "done" } else { "by_hand" };
        self.tell(index, step, word, &Value::Null);
        match (is_done, step.is_optional) {
            (true, _) => Became::Done,
            (false, true) => Became::Skipped,
            (false, false) => {
                output.say(&format!("when it is done, go on with `--from {}`", index + 2));
                Became::Stopped(Exit::Refused)
            }
        }
    }
}
