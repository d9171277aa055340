//! One command of a skill, from its name to what it did: planned, held against its state, decided, run, and its effects kept.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;

use rep_model::Document;
use rep_model::uasp::{Command, SpannedText};
use rep_runtime::plan::Work;
use rep_runtime::plan::command::Loan;
use rep_runtime::secret::Secret;
use rep_runtime::session::{Sessions, entity_json, is_name};
use rep_runtime::state::{Ended, State};
use rep_runtime::{Granted, Outcome, Plan, Refusal, Reply, ToolError};
use rep_sandbox::Cancel;
use serde_json::{Map, Value, json};

use crate::consent;
use crate::exit::Failure;
use crate::library::data_folder;
use crate::output::Output;
use crate::runner::{Runner, exposed};
use crate::structured::{self, Structured};

/// The session of who names none.
pub(crate) const DEFAULT_SESSION: &str = "default";

/// A command somebody wants to run, and how.
pub(crate) struct Wish<'a> {
    /// The command's path or alias, or `templates.NAME`.
    pub(crate) name: &'a str,
    /// Its arguments.
    pub(crate) arguments: &'a Map<String, Value>,
    /// Whose state it reads and changes.
    pub(crate) session: &'a str,
    /// Where it starts, and what patterns are relative to.
    pub(crate) workspace: &'a Path,
    /// What it may do besides what its skill declares.
    pub(crate) loan: &'a Loan,
    /// Whether consent came with the call.
    pub(crate) is_given: bool,
    /// Whether what it may do is enforced.
    pub(crate) is_confined: bool,
    /// Whether it runs whatever state it needs.
    pub(crate) ignores_state: bool,
    /// When it is ended, in seconds.
    pub(crate) timeout: Option<u64>,
}

/// What came of a command.
pub(crate) struct Done {
    /// What was planned.
    pub(crate) plan: Plan,
    /// What came of it.
    pub(crate) outcome: Outcome,
    /// The state afterwards, where it was run.
    pub(crate) state: Option<State>,
}

/// The store of states.
pub(crate) fn sessions() -> Result<Sessions, Failure> {
    Ok(Sessions::open(&data_folder()?)?)
}

/// The store of states, where there is one.
pub(crate) fn sessions_there() -> Result<Option<Sessions>, Failure> {
    // Without a home nothing was kept.
    match data_folder() {
        Ok(folder) => Ok(Sessions::there(&folder)?),
        Err(_) => Ok(None),
    }
}

/// The state that is kept of a session.
pub(crate) fn state(document: &Document, skill: &str, session: &str) -> Result<State, Failure> {
    match sessions_there()? {
        Some(sessions) => Ok(sessions.state(document, skill, session)?),
        None => Ok(State::new(document)),
    }
}

/// A session's name, if it can be one.
pub(crate) fn session_name(name: Option<&str>) -> Result<&str, Failure> {
    let name = name.unwrap_or(DEFAULT_SESSION);
    if is_name(name) {
        Ok(name)
    } else {
        Err(Failure::unable("USAGE", "a session's name is printable text of 1 to 256 bytes"))
    }
}

/// The plan of a command, with what was lent.
pub(crate) fn planned(skill: &Structured, wish: &Wish<'_>, output: &mut Output) -> Result<Plan, Failure> {
    let plan = skill.plan(wish.name, wish.arguments, wish.workspace);
    let mut plan = plan.map_err(structured::failure)?;
    plan.lend(wish.loan).map_err(structured::failure)?;
    // A request starts nothing that could be held in, and is held to its hosts in any case.
    plan.is_confined = wish.is_confined || matches!(plan.work, Work::Request(_));
    if let Some(seconds) = wish.timeout {
        plan.limits = plan.limits.with_timeout(seconds);
    }
    for ignored in &plan.ignored {
        let text = format!("`{}` declares in vain: {ignored}", skill.name);
        match ignored.field {
            // Common and harmless: most programs do well without.
            "environment" if output.is_verbose => output.say(&text),
            "environment" => {}
            _ => output.warn(&text),
        }
    }
    Ok(plan)
}

/// What a command needs of its session and does not find.
pub(crate) fn missing(skill: &Structured, wish: &Wish<'_>) -> Result<Vec<String>, Failure> {
    let Some(command) = skill.document.find_command(wish.name) else { return Ok(Vec::new()) };
    let state = state(&skill.document, &skill.name, wish.session)?;
    Ok(state.missing(command).into_iter().map(str::to_owned).collect())
}

/// The error for state that is missing, in the specification's words.
pub(crate) fn invalid_state(command: &str, missing: &[String]) -> ToolError {
    let first = missing.first().map_or("", String::as_str);
    ToolError::new("INVALID_STATE", format!("Required state '{first}' is invalid or missing"))
        .with("command", command)
        .with("missing", missing)
        .with("remedy", "run a command that creates it first; `rep state SKILL` shows what there is")
}

/// Runs a command. What it needs is looked at before anything starts; what it does to the state is kept once it has ended.
pub(crate) fn perform(
    skill: &Structured,
    wish: &Wish<'_>,
    runner: &Runner,
    cancel: &Cancel,
    output: &mut Output,
) -> Result<Done, Failure> {
    let plan = planned(skill, wish, output)?;
    let missing = if wish.ignores_state { Vec::new() } else { missing(skill, wish)? };
    if !missing.is_empty() {
        let outcome = Outcome::refused(invalid_state(&plan.tool, &missing));
        return Ok(Done { plan, outcome, state: None });
    }
    let secrets = consent::secrets(&plan)?;
    let decided = consent::granted(plan.clone(), skill.trust.clone(), &secrets, wish.is_given, output)?;
    let bar = crate::runner::progress(&format!("{}:{}", skill.name, plan.tool), &decided, output);
    let done = carry_out(skill, wish, plan, decided, &secrets, runner, cancel);
    bar.finish_and_clear();
    done
}

/// Runs a command that was decided over, and keeps what it does to the state.
pub(crate) fn carry_out(
    skill: &Structured,
    wish: &Wish<'_>,
    plan: Plan,
    decided: Result<Granted, Refusal>,
    secrets: &BTreeMap<String, Secret>,
    runner: &Runner,
    cancel: &Cancel,
) -> Result<Done, Failure> {
    let outcome = runner.run(decided, &plan, &exposed(secrets), &[], None, cancel);
    if !outcome.is_executed {
        return Ok(Done { plan, outcome, state: None });
    }
    let ended = match &outcome.reply {
        Reply::Result(value) => Ended::Well(value.get("stdout").and_then(Value::as_str).map(str::to_owned)),
        Reply::Task(_) | Reply::Error(_) => Ended::Badly,
    };
    let document = &skill.document;
    let template = Command { path: SpannedText::new(&plan.tool), ..Command::default() };
    let command = document.find_command(wish.name).unwrap_or(&template);
    let kept = sessions().and_then(|mut sessions| {
        Ok(sessions.apply(document, &skill.name, wish.session, command, &ended, SystemTime::now())?)
    });
    let unkept = |failure: Failure| {
        let message = format!("`{}` has run, and what it did to the state is lost: {}", plan.tool, failure.message);
        Failure { message, ..failure }
    };
    let state = kept.map_err(unkept)?;
    Ok(Done { plan, outcome, state: Some(state) })
}

/// A state as JSON.
pub(crate) fn state_json(state: &State, document: &Document) -> Value {
    let entities: Map<String, Value> =
        state.entities.iter().map(|(name, entity)| (name.clone(), entity_json(entity))).collect();
    json!({ "entities": entities, "runnable": state.runnable(document) })
}
