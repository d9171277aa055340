//! `rep query`: an exact answer from one skill.

use rep_library::answer::{Answers, Line, Miss, Reply};
use rep_library::budget::TOKENIZER;
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::library::{self, LibraryArgs};
use crate::output::Output;

/// Ask a skill for exactly one thing
#[derive(clap::Args)]
#[command(
    after_help = "A query is `skill:path?key=value&key=value`. Paths enter mappings by key, the longest key first, and lists by an item's `name` or `id`. Filters keep the items of a list that have the key with that value; `*` stands for anything, and `%26 %3D %3F %2A %25` for `& = ? * %`. An empty path is the whole skill. A Markdown skill is structured first; its answers name the lines they were read from.\n\nExamples:\n  rep query agent-browser:commands.click\n  rep query 'stripe:decisions?when=*charges*'\n  rep query pdf:constraints.never"
)]
pub(crate) struct Args {
    /// The query
    query: String,
    #[command(flatten)]
    library: LibraryArgs,
    /// Print one JSON document, as always
    #[arg(long)]
    json: bool,
    /// Say what the answer costs in tokens, beside the whole file
    #[arg(long)]
    tokens: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let catalog = args.library.discover(output).map_err(|failure| failure.json(true))?;
    match Answers::default().query(&catalog, &args.query) {
        Ok(reply) => {
            let mut value = value(&reply);
            if args.tokens {
                let cost = reply.cost(&catalog)?;
                value["tokens"] = json!({ "answer": cost.answer, "whole": cost.whole, "tokenizer": TOKENIZER });
            }
            output.json(&value);
            Ok(Exit::Fine)
        }
        Err(Miss::Unreadable(error)) => Err(Failure::from(error).json(true)),
        Err(miss) => {
            output.json(&missed(&miss));
            if let Miss::Skill { name, candidates } = &miss {
                output.failure(&match candidates.as_slice() {
                    [] => library::missing(&catalog, name),
                    _ => Failure::unable("AMBIGUOUS", format!("`{name}` could be {}", candidates.join(", "))),
                });
            }
            Ok(Exit::Findings)
        }
    }
}

fn value(reply: &Reply) -> Value {
    let mut value = json!({
        "skill": reply.skill,
        "path": reply.path,
        "found": true,
        "value": reply.value,
        "origin": reply.origin.name(),
    });
    if !reply.lines.is_empty() {
        value["lines"] = reply.lines.iter().map(line).collect();
    }
    if !reply.notes.is_empty() {
        value["notes"] = json!(reply.notes);
    }
    value
}

fn line(line: &Line) -> Value {
    let mut value = json!({ "at": line.at, "line": line.line });
    if let Some(doubt) = &line.doubt {
        value["doubt"] = json!(doubt);
    }
    value
}

/// A miss as the specification words it, with what exists instead.
pub(super) fn missed(miss: &Miss) -> Value {
    let mut value = json!({ "found": false, "error": { "code": miss.code(), "message": miss.message() } });
    if let Miss::Path { skill, path, .. } = miss {
        value["skill"] = json!(skill);
        value["path"] = json!(path);
    }
    let suggestions = miss.suggestions();
    if !suggestions.is_empty() || matches!(miss, Miss::Path { .. }) {
        value["suggestions"] = json!(suggestions);
    }
    value
}
