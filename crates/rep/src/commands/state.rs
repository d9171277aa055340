//! `rep state`: what a structured skill's state is, or would be.

use rep_check::render::visible;
use rep_library::read;
use rep_uasp::Document;
use rep_uasp::state::{Illegal, State};
use serde_json::{Map, Value, json};

use crate::exit::{Exit, Failure};
use crate::library::LibraryArgs;
use crate::output::Output;

/// Show the state of a skill, or what it would be after some commands
#[derive(clap::Args)]
#[command(
    after_help = "A command needs the entities it requires to be valid; it makes what it creates and ends what it invalidates. --after goes through a sequence without running anything, and says where it would be refused.\n\nExamples:\n  rep state agent-browser\n  rep state agent-browser --after open,snapshot"
)]
pub(crate) struct Args {
    /// The skill: a name, `package:name`, or a path
    skill: String,
    /// Go through these commands, with commas between
    #[arg(long, value_name = "COMMANDS", value_delimiter = ',')]
    after: Vec<String>,
    #[command(flatten)]
    library: LibraryArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let (catalog, index) = args.library.one(&args.skill, output).map_err(|failure| failure.json(args.json))?;
    let entry = &catalog.entries[index];
    let skill = read::skill(entry).map_err(|error| Failure::from(error).json(args.json))?;
    let Some(document) = Document::of(&skill) else {
        let failure = Failure::unable("VALIDATION_FAILED", format!("`{}` holds no structure", entry.qualified_name));
        return Err(failure.hint("`rep check` says what is wrong").json(args.json));
    };
    let sequence: Vec<&str> = args.after.iter().map(|name| name.trim()).filter(|name| !name.is_empty()).collect();
    let state = match State::after(&document.value, &sequence) {
        Ok(state) => state,
        Err(illegal) => return Ok(refuse(&illegal, &entry.qualified_name, args.json, output)),
    };
    let runnable = state.runnable(&document.value);
    if args.json {
        output.data(&format!("{:#}\n", json!({ "entities": entities(&state), "runnable": runnable })));
        return Ok(Exit::Fine);
    }
    let mut text = String::new();
    for (name, entity) in &state.entities {
        let word = if entity.is_valid { "valid" } else { "not valid" };
        let by = match (&entity.made_by, &entity.ended_by) {
            (_, Some(command)) => format!("  ended by {command}"),
            (Some(command), None) => format!("  made by {command}"),
            (None, None) => String::new(),
        };
        text.push_str(&format!("{}  {word}{}\n", visible(name), visible(&by)));
    }
    text.push_str(&format!("can run: {}\n", visible(&runnable.join(", "))));
    output.data(&text);
    Ok(Exit::Fine)
}

/// The entities as JSON.
fn entities(state: &State) -> Map<String, Value> {
    let one = |(name, entity): (&String, &rep_uasp::state::Entity)| {
        let value = json!({
            "valid": entity.is_valid,
            "value": entity.value,
            "made_by": entity.made_by,
            "ended_by": entity.ended_by,
        });
        (name.clone(), value)
    };
    state.entities.iter().map(one).collect()
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
