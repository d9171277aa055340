//! `rep deps`: what a skill's tools need to have installed. Nothing is installed here.

use rep_check::render::visible;
use serde_json::{Value, json};

use crate::call::{self, Called, tool_name};
use crate::exit::{Exit, Failure};
use crate::library::LibraryArgs;
use crate::output::Output;

/// Show what a skill's tools say they need to have installed
#[derive(clap::Args)]
#[command(
    after_help = "Declarations are shown and never acted on: to install is to run code of strangers, outside of any sandbox.\n\nExamples:\n  rep deps pdf-forms\n  rep deps pdf-forms:fill --json"
)]
pub(crate) struct Args {
    /// The skill, or one of its tools: a name, `package:name` or a path, and perhaps `:tool` behind it
    #[arg(value_name = "SKILL[:TOOL]")]
    skill: String,
    #[command(flatten)]
    library: LibraryArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

const KINDS: [&str; 3] = ["pip", "npm", "system"];

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let called = call::find(&args.library, &args.skill, output).map_err(|failure| failure.json(args.json))?;
    let tools = tools(&called);
    if args.json {
        output.data(&format!("{:#}\n", json!({ "skill": called.name, "tools": tools })));
        return Ok(Exit::Fine);
    }
    let mut count = 0;
    for tool in &tools {
        let mut line = |kind: &str, text: &str| {
            let words = format!("{}  {kind}  {text}", tool_name(tool));
            output.data(&format!("{}\n", visible(&words)));
        };
        for kind in KINDS {
            for name in tool[kind].as_array().into_iter().flatten().filter_map(Value::as_str) {
                count += 1;
                line(kind, name);
            }
        }
        if let Some(notes) = tool["notes"].as_str() {
            line("notes", notes);
        }
    }
    output.say(&format!("{count} declared, none installed"));
    Ok(Exit::Fine)
}

/// The tools in question, with what they declare. What is not in the shape of the specification is left out.
fn tools(called: &Called) -> Vec<Value> {
    let indexes = called.tool.map_or_else(|| (0..called.tools.len()).collect(), |tool| vec![tool]);
    let tools = indexes.into_iter().map(|index| {
        let tool = &called.tools[index];
        let declared = |kind: &str| tool.pointer(&format!("/implementation/dependencies/{kind}"));
        let list = |kind: &str| -> Vec<Value> {
            let items = declared(kind).and_then(Value::as_array).into_iter().flatten();
            items.filter(|item| item.is_string()).cloned().collect()
        };
        json!({
            "name": tool_name(tool),
            "pip": list("pip"),
            "npm": list("npm"),
            "system": list("system"),
            "notes": declared("notes").and_then(Value::as_str),
        })
    });
    tools.collect()
}
