//! `rep select`: selects the skills that match a request, and explains why.

use anstyle::{AnsiColor, Style};
use rep_library::Catalog;
use rep_library::documents::select_document;
use rep_library::search::SearchHit;
use rep_library::selection::{
    DEFAULT_THRESHOLD, MatchKind, SelectedSkill, SelectionRequest, SkillSelection, TriggerMatch, UnresolvedName,
    relative_to_project,
};

use crate::exit::{Exit, Failure};
use crate::library::{self, LibraryArgs};
use crate::output::Output;

/// The number of skills that a fallback selects at most.
const FALLBACK_SKILLS_MAX: usize = 5;

/// What answers a request that selects no skill.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Fallback {
    /// Nothing
    None,
    /// The skills that fit by their text, as in `rep search`
    Search,
}

/// Select the skills whose triggers match a request
///
/// A matching file type or pattern scores 3, a mention or keyword 2, and an intent 1. A skill named with `--skill`,
/// or in the text (`/name`, "use name to"), is selected regardless of score. Exits with 1 if none is selected.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep select \"which types do the columns have?\" --file harvest.csv
  rep select \"clean up\" --intent housekeeping --json
  rep select \"/csv-profile the export\"
  rep select \"profile this csv\" --skill slugify --also-scored
  rep select \"which cells are empty?\" --fallback search")]
pub(crate) struct Args {
    /// The user's request
    #[arg(value_name = "TEXT")]
    text: String,
    /// A file that the request is about; repeatable
    #[arg(long = "file", value_name = "FILE")]
    files: Vec<String>,
    /// An intent detected by the host; repeatable
    #[arg(long = "intent", value_name = "INTENT")]
    intents: Vec<String>,
    /// Select this skill or tool regardless of score: `skill`, `package:skill`, `skill:tool` or `tool`; repeatable
    #[arg(long = "skill", value_name = "NAME")]
    skills: Vec<String>,
    /// The minimum score
    #[arg(long, value_name = "N", default_value_t = DEFAULT_THRESHOLD, allow_negative_numbers = true)]
    threshold: i64,
    /// Also select by score when a skill is named
    #[arg(long)]
    also_scored: bool,
    /// What to select if no trigger matches
    #[arg(long, value_enum, value_name = "KIND", default_value_t = Fallback::None)]
    fallback: Fallback,
    #[command(flatten)]
    library: LibraryArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    select_skills(args, output).map_err(|failure| failure.json(args.json))
}

fn select_skills(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let catalog = args.library.discover_catalog(output)?;
    let project = args.library.project_folder()?;
    let request = SelectionRequest {
        text: args.text.clone(),
        files: args.files.iter().map(|file| relative_to_project(&project, file)).collect(),
        intents: args.intents.clone(),
        skills: args.skills.clone(),
        threshold: args.threshold,
        also_scored: args.also_scored,
    };
    let selection = catalog.select(&request);
    for note in &selection.notes {
        output.warn(&replace_controls(note));
    }
    if let Some(unfound) = selection.unfound.first() {
        return Err(unfound_failure(&catalog, unfound));
    }
    let mut hits = Vec::new();
    if selection.selected.is_empty() && args.fallback == Fallback::Search {
        hits = catalog.search_active(&args.text, FALLBACK_SKILLS_MAX);
    }
    if args.json {
        output.write_json(&select_document(&catalog, &selection.selected, &hits));
    } else {
        let selected = selection.selected.iter().map(|selected| render_selected(&catalog, selected, output));
        let found = hits.iter().map(|hit| render_hit(&catalog, hit, output));
        output.write_data(&selected.chain(found).collect::<String>());
    }
    if hits.is_empty() {
        report_selection(&catalog, &selection, args, output);
    } else {
        let fitting = if hits.len() == 1 { "skill fits" } else { "skills fit" };
        output.print_message(&format!("no trigger matches; {} {fitting} by text", hits.len()));
    }
    Ok(if selection.selected.is_empty() && hits.is_empty() { Exit::Findings } else { Exit::Fine })
}

fn render_hit(catalog: &Catalog, hit: &SearchHit, output: &Output) -> String {
    let name = replace_controls(&catalog.entries[hit.entry].qualified_name);
    let name = output.style_text(Style::new().bold(), &name);
    format!("{name}  search score {:.1}\n", hit.score)
}

fn unfound_failure(catalog: &Catalog, unfound: &UnresolvedName) -> Failure {
    let name = &unfound.name;
    let candidates: Vec<&str> =
        unfound.candidates.iter().map(|index| catalog.entries[*index].qualified_name.as_str()).collect();
    if candidates.is_empty() {
        return library::missing_skill(catalog, name);
    }
    let list = candidates.iter().map(|candidate| format!("`{candidate}`")).collect::<Vec<_>>().join(", ");
    Failure::unable("AMBIGUOUS", format!("`{name}` is ambiguous: it exists in {list}")).hint("name the skill")
}

fn render_selected(catalog: &Catalog, selected: &SelectedSkill, output: &Output) -> String {
    let name = replace_controls(&catalog.entries[selected.index].qualified_name);
    let score = selected.score.map_or_else(|| "named".to_owned(), format_points);
    let mut text = format!(
        "{}  {}\n",
        output.style_text(Style::new().bold(), &name),
        output.style_text(AnsiColor::Green.on_default(), &score)
    );
    for found in &selected.matches {
        let worth = if found.kind == MatchKind::Explicit { "  ".to_owned() } else { format!("+{}", found.points) };
        text.push_str(&format!("  {worth}  {}\n", describe_match(found)));
    }
    text
}

fn format_points(score: i64) -> String {
    format!("{score} {}", if score == 1 { "point" } else { "points" })
}

fn describe_match(found: &TriggerMatch) -> String {
    let kind = match found.kind {
        MatchKind::Explicit => "named as",
        MatchKind::FileType => "a file is of type",
        MatchKind::FilePattern => "a file matches",
        MatchKind::Mention => "the text mentions",
        MatchKind::Keyword => "the text has the keyword",
        MatchKind::Intent => "the intent is",
    };
    format!("{kind} `{}`", replace_controls(&found.trigger))
}

/// Reports the selection, or the nearest skills if nothing was selected.
fn report_selection(catalog: &Catalog, selection: &SkillSelection, args: &Args, output: &mut Output) {
    let threshold = args.threshold;
    let (count, all) = (selection.selected.len(), catalog.entries.len());
    let skills = if all == 1 { "skill" } else { "skills" };
    if count > 0 {
        output.print_message(&format!("selected {count} of {all} {skills}; the threshold is {threshold}"));
        return;
    }
    if catalog.has_triggers() {
        output.print_message(&format!("none of {all} {skills} has {} or more", format_points(threshold)));
    } else {
        let what = if all == 1 { "the skill declares no triggers" } else { "none of the skills declares triggers" };
        output.print_message(&format!("nothing to select by: {what}"));
    }
    if args.fallback == Fallback::Search {
        output.print_message("no skill fits by its text either");
    } else if !catalog.has_triggers() {
        output.print_message("`--fallback search` selects by the text of the skills, and `rep search` lists what fits");
    }
    if let Some(nearest) = selection.below.first() {
        let name = replace_controls(&catalog.entries[nearest.index].qualified_name);
        let why: Vec<String> = nearest.matches.iter().map(describe_match).collect();
        output.print_message(&format!(
            "nearest: `{name}` with {}: {}",
            format_points(nearest.score.unwrap_or(0)),
            why.join(", ")
        ));
    }
}

/// Returns a skill's text on one line, without control characters.
fn replace_controls(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}
