//! `rep state`: prints or simulates the state of a structured skill.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rep_check::render::escape_invisible;
use rep_library::skill_reader;
use rep_model::SkillDocument;
use rep_runtime::state::{CommandSequenceError, CommandState};
use rep_runtime::{Runtime, state_json};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::library::{self, LibraryArgs};
use crate::output::Output;
use crate::terminal::{self, read_arguments};
use crate::write;

/// Show a skill's state, or simulate a sequence of commands
///
/// UASP commands can require, create and invalidate entities. `rep exec` stores this state per skill and session.
/// `--after` simulates commands without running them and reports where the sequence would be refused.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep state git-worktrees
  rep state git-worktrees --after list,remove
  rep state git-worktrees --session review --after add
  rep state git-worktrees --sessions
  rep state git-worktrees --export state.json")]
pub(crate) struct Args {
    /// The skill: a name, `package:name`, or a path
    skill: String,
    /// The session [default: default]
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// Simulate these commands; separate them with commas
    ///
    /// Starts with an empty state, or with the stored state if `--session` is given.
    #[arg(long, value_name = "COMMANDS", value_delimiter = ',', group = "work")]
    after: Vec<String>,
    /// Delete the session's state
    #[arg(long, group = "work")]
    clear: bool,
    /// List the stored sessions
    #[arg(long, group = "work")]
    sessions: bool,
    /// Write the session to a file, or to stdout with `-`
    #[arg(long, value_name = "FILE|-", group = "work")]
    export: Option<PathBuf>,
    /// Replace the session with an exported one
    #[arg(long, value_name = "FILE|-", group = "work")]
    import: Option<PathBuf>,
    #[command(flatten)]
    library: LibraryArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    manage_state(args, output).map_err(|failure| failure.json(args.json))
}

fn manage_state(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let (catalog, index) = args.library.find_skill(&args.skill, output)?;
    let entry = &catalog.entries[index];
    let name = &entry.qualified_name;
    let runtime = terminal::open_stored_runtime();
    let session = runtime.session_name(args.session.as_deref())?;
    if args.clear {
        let count = runtime.open_sessions()?.clear(name, Some(session))?;
        return Ok(print_answer(&json!({ "cleared": count }), &format!("deleted {count} entities"), args.json, output));
    }
    if args.sessions {
        return list_sessions(&runtime, name, args.json, output);
    }
    if let Some(file) = &args.export {
        return export_session(&runtime, name, session, file, output);
    }
    if let Some(file) = &args.import {
        let given = if file.as_os_str() == "-" { "-".to_owned() } else { format!("@{}", file.display()) };
        let value = read_arguments(Some(&given), "--import")?;
        let count = runtime.open_sessions()?.import(name, session, &value, SystemTime::now())?;
        return Ok(print_answer(
            &json!({ "imported": count }),
            &format!("imported {count} entities"),
            args.json,
            output,
        ));
    }
    let (skill, validation) = skill_reader::read_validated_skill(entry)?;
    if !validation.violations.is_empty() {
        return Err(Failure::invalid_skill(&entry.qualified_name, &validation.violations));
    }
    library::report_version_warnings(&validation.version_warnings, output);
    let Some(document) = rep_convert::document_from_skill(&skill) else {
        let failure = Failure::unable("VALIDATION_FAILED", format!("`{name}` has no valid structure"));
        return Err(failure.hint("run `rep check` to see what is wrong"));
    };
    let sequence: Vec<&str> = args.after.iter().map(|name| name.trim()).filter(|name| !name.is_empty()).collect();
    let begun = if args.session.is_some() || sequence.is_empty() {
        runtime.load_state(&document, name, session)?
    } else {
        CommandState::new(&document)
    };
    match begun.advance_through(&document, &sequence) {
        Ok(state) => print_state(&state, &document, args.json, output),
        Err(illegal) => return Ok(report_illegal(&illegal, name, args.json, output)),
    }
    Ok(Exit::Fine)
}

/// Prints an answer as JSON or as text.
fn print_answer(value: &Value, text: &str, is_json: bool, output: &mut Output) -> Exit {
    if is_json {
        output.write_json(value);
    } else {
        output.print_message(text);
    }
    Exit::Fine
}

fn list_sessions(runtime: &Runtime, skill: &str, is_json: bool, output: &mut Output) -> Result<Exit, Failure> {
    let all = runtime.open_existing_sessions()?.map_or_else(|| Ok(Vec::new()), |sessions| sessions.list(skill))?;
    if is_json {
        let one = |session: &rep_runtime::session::SkillSession| json!({ "session": session.name, "entities": session.entities, "valid": session.valid, "updated": session.updated });
        output.write_json(&json!({ "sessions": all.iter().map(one).collect::<Vec<Value>>() }));
        return Ok(Exit::Fine);
    }
    let line = |session: &rep_runtime::session::SkillSession| {
        let rep_runtime::session::SkillSession { name, entities, valid, updated } = session;
        format!("{}  {valid} of {entities} valid, changed {updated}\n", escape_invisible(name))
    };
    output.write_data(&all.iter().map(line).collect::<String>());
    if all.is_empty() {
        output.print_message(&format!("`{skill}` has no stored sessions"));
    }
    Ok(Exit::Fine)
}

fn export_session(
    runtime: &Runtime,
    skill: &str,
    session: &str,
    file: &Path,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let value = runtime.open_sessions()?.export(skill, session)?;
    if file.as_os_str() == "-" {
        output.write_json(&value);
    } else {
        write::write_file(file, &format!("{value:#}\n"))?;
        output.print_message(&format!("wrote the session `{session}` to `{}`", file.display()));
    }
    Ok(Exit::Fine)
}

fn print_state(state: &CommandState, document: &SkillDocument, is_json: bool, output: &mut Output) {
    if is_json {
        output.write_json(&state_json(state, document));
        return;
    }
    let mut text = String::new();
    for (name, entity) in &state.entities {
        let word = if entity.is_valid { "valid" } else { "not valid" };
        let when = |at: &Option<String>| at.as_ref().map(|at| format!(" at {at}")).unwrap_or_default();
        let by = match (&entity.made_by, &entity.ended_by) {
            (_, Some(command)) => format!("  invalidated by {command}{}", when(&entity.ended_at)),
            (Some(command), None) => format!("  created by {command}{}", when(&entity.made_at)),
            (None, None) => String::new(),
        };
        text.push_str(&format!("{}  {word}{}\n", escape_invisible(name), escape_invisible(&by)));
    }
    text.push_str(&format!("can run: {}\n", escape_invisible(&state.runnable_commands(document).join(", "))));
    output.write_data(&text);
}

/// Reports why a sequence cannot run, in the specification's words.
fn report_illegal(illegal: &CommandSequenceError, skill: &str, is_json: bool, output: &mut Output) -> Exit {
    let (code, message, more) = match illegal {
        CommandSequenceError::UnknownCommand { command } => {
            let message = format!("Path 'commands.{command}' not found in skill '{skill}'");
            ("PATH_NOT_FOUND", message, json!({ "command": command }))
        }
        CommandSequenceError::MissingEntities { command, entities } => {
            let first = entities.first().map_or("", String::as_str);
            let message = format!("Required state '{first}' is invalid or missing");
            ("INVALID_STATE", message, json!({ "command": command, "missing": entities }))
        }
    };
    if is_json {
        let mut error = json!({ "code": code, "message": message, "retriable": false });
        for (key, value) in more.as_object().into_iter().flatten() {
            error[key] = value.clone();
        }
        output.write_data(&format!("{:#}\n", json!({ "status": "error", "error": error })));
    } else if let CommandSequenceError::MissingEntities { command, .. } = illegal {
        output.write_data(&escape_invisible(&format!("{message}, so `{command}` cannot run")));
        output.write_data("\n");
    } else {
        output.write_data(&escape_invisible(&message));
        output.write_data("\n");
    }
    Exit::Findings
}
