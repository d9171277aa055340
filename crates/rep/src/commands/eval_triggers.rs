//! `rep eval-triggers`: how well selection and search find the skills that requests are meant for.

use std::path::PathBuf;

use rep_library::read;
use rep_library::triggers::{LabelledRequest, score_triggers};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::library::{LibraryArgs, cache_folder};
use crate::output::Output;

const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Measure how well requests find the skills they are meant for
#[derive(clap::Args)]
#[command(
    after_help = "FILE has one JSON object a line: `{\"query\": …, \"skills\": [name or path], \"should_trigger\": true}`; `equiv` may name further right answers. Or it is a JSON array of `{\"query\", \"should_trigger\"}` about one skill, named by --skill. Where `should_trigger` is false the skills are those that must not come first; without any, nothing should be found.\n\nExamples:\n  rep eval-triggers queries.jsonl --path skills\n  rep eval-triggers evals/triggers.json --skill pdf-processing --json"
)]
pub(crate) struct Args {
    /// The labelled requests
    file: PathBuf,
    /// The skill that requests are about which name none
    #[arg(long, value_name = "NAME")]
    skill: Option<String>,
    #[command(flatten)]
    library: LibraryArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let result = measure(args, output).map_err(|failure| failure.json(args.json))?;
    if args.json {
        output.json(&result);
    } else {
        output.data(&table(&result));
    }
    Ok(Exit::Fine)
}

fn measure(args: &Args, output: &mut Output) -> Result<Value, Failure> {
    let text = read::text(&args.file, FILE_BYTES_MAX)?;
    let requests = LabelledRequest::parse(&text, args.skill.as_deref())
        .map_err(|error| Failure::unable("NOT_QUERIES", format!("`{}`: {error}", args.file.display())))?;
    let catalog = args.library.discover(output)?;
    let scores = score_triggers(&catalog, &requests, cache_folder().as_deref());
    output.warn_all(&scores.notes);
    let unknown = &scores.unknown;
    if !unknown.is_empty() {
        let some: Vec<String> = unknown.iter().take(3).map(|skill| format!("`{skill}`")).collect();
        output.warn(&format!("{} skills of the file are not in the library: {}", unknown.len(), some.join(", ")));
    }
    let (selection, search) = (scores.selection, scores.search);
    Ok(json!({
        "select": {
            "precision": selection.precision,
            "recall": selection.recall,
            "chosen": selection.chosen,
            "negatives": selection.negatives,
            "negatives_triggered": selection.negatives_triggered,
        },
        "search": {
            "requests": search.requests,
            "hit_at_1": search.hit_at_1,
            "hit_at_5": search.hit_at_5,
            "recall_at_10": search.recall_at_10,
            "mrr": search.mrr,
            "negatives": search.negatives,
            "negatives_first": search.negatives_first,
        },
    }))
}

fn table(result: &Value) -> String {
    let mut out = String::new();
    for (half, value) in result.as_object().into_iter().flatten() {
        for (name, number) in value.as_object().into_iter().flatten() {
            out.push_str(&format!("{half:7} {:20} {number}\n", name.replace('_', " ")));
        }
    }
    out
}
