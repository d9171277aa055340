//! `rep state`: what a structured skill's state is, or would be.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rep_check::render::visible;
use rep_library::read;
use rep_model::Document;
use rep_runtime::state::{Illegal, State};
use rep_runtime::{Runtime, state_json};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::library::LibraryArgs;
use crate::output::Output;
use crate::terminal::{self, arguments};
use crate::write;

/// Show the state of a skill, or what it would be after some commands
#[derive(clap::Args)]
#[command(
    after_help = "A command needs the entities it requires to be valid; it makes what it creates and ends what it invalidates. `rep exec` keeps the state by skill and session, for all processes of yours. --after goes through a sequence without running anything, and says where it would be refused: from nothing, or from what is kept where --session is given.\n\nExamples:\n  rep state agent-browser\n  rep state agent-browser --after open,snapshot\n  rep state agent-browser --session shop --after click\n  rep state agent-browser --sessions\n  rep state agent-browser --session shop --export shop.json"
)]
pub(crate) struct Args {
    /// The skill: a name, `package:name`, or a path
    skill: String,
    /// The session whose state it is [default: default]
    #[arg(long, value_name = "S")]
    session: Option<String>,
    /// Go through these commands, with commas between
    #[arg(long, value_name = "COMMANDS", value_delimiter = ',', group = "work")]
    after: Vec<String>,
    /// Forget the session's state
    #[arg(long, group = "work")]
    clear: bool,
    /// List the sessions that are kept
    #[arg(long, group = "work")]
    sessions: bool,
    /// Write the session to a file, or to stdout
    #[arg(long, value_name = "FILE|-", group = "work")]
    export: Option<PathBuf>,
    /// Take in a session that was exported, in the place of what this one holds
    #[arg(long, value_name = "FILE|-", group = "work")]
    import: Option<PathBuf>,
    #[command(flatten)]
    library: LibraryArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    state(args, output).map_err(|failure| failure.json(args.json))
}

fn state(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let (catalog, index) = args.library.one(&args.skill, output)?;
    let entry = &catalog.entries[index];
    let name = &entry.qualified_name;
    let runtime = terminal::stored();
    let session = runtime.session_name(args.session.as_deref())?;
    if args.clear {
        let count = runtime.sessions()?.clear(name, Some(session))?;
        return Ok(said(&json!({ "cleared": count }), &format!("{count} entities are forgotten"), args.json, output));
    }
    if args.sessions {
        return list(&runtime, name, args.json, output);
    }
    if let Some(file) = &args.export {
        return export(&runtime, name, session, file, output);
    }
    if let Some(file) = &args.import {
        let given = if file.as_os_str() == "-" { "-".to_owned() } else { format!("@{}", file.display()) };
        let value = arguments(Some(&given), "--import")?;
        let count = runtime.sessions()?.import(name, session, &value, SystemTime::now())?;
        return Ok(said(&json!({ "imported": count }), &format!("{count} entities are taken in"), args.json, output));
    }
    let skill = read::skill(entry)?;
    let Some(document) = rep_convert::document_of(&skill) else {
        let failure = Failure::unable("VALIDATION_FAILED", format!("`{name}` holds no structure"));
        return Err(failure.hint("`rep check` says what is wrong"));
    };
    let sequence: Vec<&str> = args.after.iter().map(|name| name.trim()).filter(|name| !name.is_empty()).collect();
    let begun = if args.session.is_some() || sequence.is_empty() {
        runtime.state(&document, name, session)?
    } else {
        State::new(&document)
    };
    match begun.then(&document, &sequence) {
        Ok(state) => show(&state, &document, args.json, output),
        Err(illegal) => return Ok(refuse(&illegal, name, args.json, output)),
    }
    Ok(Exit::Fine)
}

/// Answers with a document, or says the same.
fn said(value: &Value, text: &str, is_json: bool, output: &mut Output) -> Exit {
    if is_json {
        output.json(value);
    } else {
        output.say(text);
    }
    Exit::Fine
}

fn list(runtime: &Runtime, skill: &str, is_json: bool, output: &mut Output) -> Result<Exit, Failure> {
    let all = runtime.existing_sessions()?.map_or_else(|| Ok(Vec::new()), |sessions| sessions.list(skill))?;
    if is_json {
        let one = |session: &rep_runtime::session::Session| json!({ "session": session.name, "entities": session.entities, "valid": session.valid, "updated": session.updated });
        output.json(&json!({ "sessions": all.iter().map(one).collect::<Vec<Value>>() }));
        return Ok(Exit::Fine);
    }
    let line = |session: &rep_runtime::session::Session| {
        let rep_runtime::session::Session { name, entities, valid, updated } = session;
        format!("{}  {valid} of {entities} valid, changed {updated}\n", visible(name))
    };
    output.data(&all.iter().map(line).collect::<String>());
    if all.is_empty() {
        output.say(&format!("no session of `{skill}` is kept"));
    }
    Ok(Exit::Fine)
}

fn export(runtime: &Runtime, skill: &str, session: &str, file: &Path, output: &mut Output) -> Result<Exit, Failure> {
    let value = runtime.sessions()?.export(skill, session)?;
    if file.as_os_str() == "-" {
        output.json(&value);
    } else {
        write::put(file, &format!("{value:#}\n"))?;
        output.say(&format!("`{}` holds the session `{session}`", file.display()));
    }
    Ok(Exit::Fine)
}

fn show(state: &State, document: &Document, is_json: bool, output: &mut Output) {
    if is_json {
        output.json(&state_json(state, document));
        return;
    }
    let mut text = String::new();
    for (name, entity) in &state.entities {
        let word = if entity.is_valid { "valid" } else { "not valid" };
        let when = |at: &Option<String>| at.as_ref().map(|at| format!(" at {at}")).unwrap_or_default();
        let by = match (&entity.made_by, &entity.ended_by) {
            (_, Some(command)) => format!("  ended by {command}{}", when(&entity.ended_at)),
            (Some(command), None) => format!("  made by {command}{}", when(&entity.made_at)),
            (None, None) => String::new(),
        };
        text.push_str(&format!("{}  {word}{}\n", visible(name), visible(&by)));
    }
    text.push_str(&format!("can run: {}\n", visible(&state.runnable(document).join(", "))));
    output.data(&text);
}

/// Tells why a sequence cannot be run, in the specification's words.
fn refuse(illegal: &Illegal, skill: &str, is_json: bool, output: &mut Output) -> Exit {
    let (code, message, more) = match illegal {
        Illegal::Unknown { command } => {
            let message = format!("Path 'commands.{command}' not found in skill '{skill}'");
            ("PATH_NOT_FOUND", message, json!({ "command": command }))
        }
        Illegal::Missing { command, entities } => {
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
        output.data(&format!("{:#}\n", json!({ "status": "error", "error": error })));
    } else if let Illegal::Missing { command, .. } = illegal {
        output.data(&visible(&format!("{message}, so `{command}` cannot run")));
        output.data("\n");
    } else {
        output.data(&visible(&message));
        output.data("\n");
    }
    Exit::Findings
}
