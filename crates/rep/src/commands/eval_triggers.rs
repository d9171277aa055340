//! `rep eval-triggers`: measures how well selection and search find the intended skills.

use std::path::PathBuf;

use rep_library::skill_reader;
use rep_library::trigger_scores::{LabelledRequest, score_triggers};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::library::{LibraryArgs, cache_folder};
use crate::output::Output;

const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Measure how well requests find the right skills
///
/// FILE has one JSON object per line: `{"query": "...", "skills": ["name"], "should_trigger": true}`. A JSON array
/// of requests about the skill given with `--skill` works too. Reports precision and recall of `rep select`, and
/// hit rates of `rep search`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep eval-triggers queries.jsonl
  rep eval-triggers queries.jsonl --path skills --json
  rep eval-triggers triggers.json --skill csv-profile")]
pub(crate) struct Args {
    /// The labeled requests
    ///
    /// With `"should_trigger": false`, `skills` names the skills that must not come first; if it is empty, nothing
    /// should be found. `equiv` lists other correct answers.
    file: PathBuf,
    /// The skill for requests that name none
    #[arg(long, value_name = "NAME")]
    skill: Option<String>,
    #[command(flatten)]
    library: LibraryArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let result = measure_triggers(args, output).map_err(|failure| failure.json(args.json))?;
    if args.json {
        output.write_json(&result);
    } else {
        output.write_data(&render_table(&result));
    }
    Ok(Exit::Fine)
}

fn measure_triggers(args: &Args, output: &mut Output) -> Result<Value, Failure> {
    let text = skill_reader::read_text(&args.file, FILE_BYTES_MAX)?;
    let requests = LabelledRequest::parse(&text, args.skill.as_deref())
        .map_err(|error| Failure::unable("NOT_QUERIES", format!("`{}`: {error}", args.file.display())))?;
    let catalog = args.library.discover_catalog(output)?;
    let scores = score_triggers(&catalog, &requests, cache_folder().as_deref());
    output.warn_all(&scores.notes);
    let unknown = &scores.unknown;
    if !unknown.is_empty() {
        let some: Vec<String> = unknown.iter().take(3).map(|skill| format!("`{skill}`")).collect();
        output.warn(&format!("{} skills in the file are not in the library: {}", unknown.len(), some.join(", ")));
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
            "answered": search.answered,
            "negatives_unanswered": search.negatives_unanswered,
        },
    }))
}

fn render_table(result: &Value) -> String {
    let mut out = String::new();
    for (half, value) in result.as_object().into_iter().flatten() {
        for (name, number) in value.as_object().into_iter().flatten() {
            out.push_str(&format!("{half:7} {:20} {number}\n", name.replace('_', " ")));
        }
    }
    out
}
