//! `rep search`: finds the skills that match a text, best match first.

use anstyle::Style;
use rep_check::render::escape_invisible;
use rep_library::documents::search_document;
use rep_library::search::{SCORE_MIN, SearchHit};
use rep_library::{Catalog, SkillStatus};

use crate::exit::{Exit, Failure};
use crate::library::LibraryArgs;
use crate::output::Output;

/// The maximum number of reasons printed per result.
const REASONS_SHOWN: usize = 4;

/// Search skills by their text, best match first
///
/// Searches names, descriptions, triggers, headings and bodies, and tolerates word forms and typos. Every result
/// has a score from 0 to 100 and says why. Exits with 1 if no skill fits. Skills that only users may invoke are marked
/// `user-only`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep search which columns does this table have
  rep search \"old backup files\" --limit 3 --json")]
pub(crate) struct Args {
    /// The text to search for
    #[arg(required = true, value_name = "TEXT")]
    text: Vec<String>,
    /// The maximum number of results
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
    /// The score that the first skill must have to fit; 0 lists every skill that shares a word
    #[arg(long, value_name = "N", default_value_t = SCORE_MIN)]
    min_score: f64,
    #[command(flatten)]
    library: LibraryArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let catalog = args.library.discover_catalog(output).map_err(|failure| failure.json(args.json))?;
    let index = catalog.search_index();
    for note in &index.notes {
        output.warn(note);
    }
    if output.is_verbose {
        output.print_message(&format!("searched {} skills, {} of them read again", index.len(), index.read));
    }
    let mut hits = index.search(&args.text.join(" "), args.limit);
    let nearest = hits.first().map(|hit| (catalog.entries[hit.entry].qualified_name.as_str(), hit.score));
    if nearest.is_some_and(|(_, score)| score < args.min_score) {
        hits.clear();
    }
    if args.json {
        output.write_json(&search_document(&catalog, &hits));
    } else {
        let text: String = hits.iter().map(|hit| render_hit(&catalog, hit, output)).collect();
        output.write_data(&text);
    }
    if hits.is_empty() {
        output.print_message(&describe_no_fit(index.len(), nearest));
        return Ok(Exit::Findings);
    }
    Ok(Exit::Fine)
}

fn describe_no_fit(skills: usize, nearest: Option<(&str, f64)>) -> String {
    match nearest {
        Some((name, score)) => format!(
            "no skill fits: the nearest of {skills} is `{}` with a score of {score:.1}; `--min-score 0` lists it",
            escape_invisible(name)
        ),
        None => format!("no skill fits: none of {skills} has these words; run `rep list` to see them"),
    }
}

fn render_hit(catalog: &Catalog, hit: &SearchHit, output: &Output) -> String {
    let entry = &catalog.entries[hit.entry];
    let name = output.style_text(Style::new().bold(), &escape_invisible(&entry.qualified_name));
    let mark = if entry.status == SkillStatus::Hidden { "  user-only" } else { "" };
    let reasons: Vec<String> = hit
        .why
        .iter()
        .take(REASONS_SHOWN)
        .map(|reason| format!("{} in {} {:.1}", reason.term, reason.field.name(), reason.points))
        .collect();
    let about = output.style_text(Style::new().dimmed(), &escape_invisible(&reasons.join(", ")));
    let more = hit.why.len().saturating_sub(REASONS_SHOWN);
    let more =
        if more > 0 { output.style_text(Style::new().dimmed(), &format!(", {more} more")) } else { String::new() };
    format!(
        "{:7.1}  {name}{mark}\n         {}\n         {about}{more}\n",
        hit.score,
        escape_invisible(&super::list::shorten_description(&entry.description))
    )
}
