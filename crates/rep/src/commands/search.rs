//! `rep search`: which skills fit a text, best first, and why.

use anstyle::Style;
use rep_check::render::visible;
use rep_library::search::Hit;
use rep_library::{Catalog, Status};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::library::LibraryArgs;
use crate::output::Output;

/// How many reasons people are shown of each hit.
const REASONS_SHOWN: usize = 4;

/// Search the skills by what they say, best first
#[derive(clap::Args)]
#[command(
    after_help = "Names, descriptions, triggers, headings and bodies are searched; word forms and typing errors are seen through. Every hit says what its points are for. Skills models may not choose are found too, as `user-only`.\n\nExamples:\n  rep search fill in a tax form\n  rep search \"kubernetes rollout\" --limit 3 --json"
)]
pub(crate) struct Args {
    /// What is looked for
    #[arg(required = true, value_name = "TEXT")]
    text: Vec<String>,
    /// The most hits
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
    #[command(flatten)]
    library: LibraryArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let catalog = args.library.discover(output).map_err(|failure| failure.json(args.json))?;
    let index = catalog.index();
    for note in &index.notes {
        output.warn(note);
    }
    if output.is_verbose {
        output.say(&format!("{} skills searched, {} of them read anew", index.len(), index.read));
    }
    let hits = index.search(&args.text.join(" "), args.limit);
    if args.json {
        let results: Vec<Value> = hits.iter().map(|hit| value(&catalog, hit)).collect();
        output.json(&json!({ "results": results }));
    } else {
        let text: String = hits.iter().map(|hit| lines(&catalog, hit, output)).collect();
        output.data(&text);
    }
    if hits.is_empty() {
        output.say(&format!("none of {} skills fits; `rep list` shows them", index.len()));
        return Ok(Exit::Findings);
    }
    Ok(Exit::Fine)
}

fn value(catalog: &Catalog, hit: &Hit) -> Value {
    let entry = &catalog.entries[hit.entry];
    let why = hit
        .why
        .iter()
        .map(|reason| json!({ "field": reason.field.name(), "term": reason.term, "points": rounded(reason.points) }));
    json!({
        "name": entry.qualified_name,
        "score": rounded(hit.score),
        "why": why.collect::<Vec<_>>(),
        "description": entry.description,
        "location": entry.location,
        "status": entry.status.name(),
        "user_only": entry.status == Status::Hidden,
    })
}

fn rounded(points: f64) -> f64 {
    (points * 1000.0).round() / 1000.0
}

fn lines(catalog: &Catalog, hit: &Hit, output: &Output) -> String {
    let entry = &catalog.entries[hit.entry];
    let name = output.styled(Style::new().bold(), &visible(&entry.qualified_name));
    let mark = if entry.status == Status::Hidden { "  user-only" } else { "" };
    let reasons: Vec<String> = hit
        .why
        .iter()
        .take(REASONS_SHOWN)
        .map(|reason| format!("{} in {} {:.1}", reason.term, reason.field.name(), reason.points))
        .collect();
    let about = output.styled(Style::new().dimmed(), &visible(&reasons.join(", ")));
    let more = hit.why.len().saturating_sub(REASONS_SHOWN);
    let more = if more > 0 { output.styled(Style::new().dimmed(), &format!(", {more} more")) } else { String::new() };
    format!(
        "{:7.1}  {name}{mark}\n         {}\n         {about}{more}\n",
        hit.score,
        visible(&super::list::shortened(&entry.description))
    )
}
