//! `rep select`: which skills fit a request, and why.

use std::path::Path;

use anstyle::{AnsiColor, Style};
use rep_library::Catalog;
use rep_library::select::{Match, MatchKind, Request, Selected, Selection, THRESHOLD, Unfound};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::library::{self, LibraryArgs};
use crate::output::Output;

/// Select the skills that fit a request, by their triggers alone
#[derive(clap::Args)]
#[command(
    after_help = "Points: 3 for each file type or UASP file pattern that matches, 2 for each mention or UASP keyword (whole words, any case), 1 for each intent. Skills with the threshold or more are selected, by score, then priority, then name. A skill that is named, by --skill or as /name in the text, is selected whatever its score, and the others are not.\n\nExits with 1 where no skill is selected.\n\nExamples:\n  rep select \"scan the invoice\" --file invoice.pdf\n  rep select \"what is in here?\" --file data.csv --intent data_profiling --json\n  rep select \"/csv-profile the export\"\n  rep select \"profile it\" --skill csv-profile --also-scored"
)]
pub(crate) struct Args {
    /// What the user wants, in their words
    #[arg(value_name = "TEXT")]
    text: String,
    /// A file the request is about; repeatable
    #[arg(long = "file", value_name = "F")]
    files: Vec<String>,
    /// An intent the host found; repeatable
    #[arg(long = "intent", value_name = "I")]
    intents: Vec<String>,
    /// A skill or tool to select whatever the score: `skill`, `package:skill`, `skill:tool` or `tool`; repeatable
    #[arg(long = "skill", value_name = "NAME")]
    skills: Vec<String>,
    /// The score a skill needs
    #[arg(long, value_name = "N", default_value_t = THRESHOLD, allow_negative_numbers = true)]
    threshold: i64,
    /// Select by score too where a skill is named
    #[arg(long)]
    also_scored: bool,
    #[command(flatten)]
    library: LibraryArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    select(args, output).map_err(|failure| failure.json(args.json))
}

fn select(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let catalog = args.library.discover(output)?;
    let project = args.library.project()?;
    let request = Request {
        text: args.text.clone(),
        files: args.files.iter().map(|file| inside(&project, file)).collect(),
        intents: args.intents.clone(),
        skills: args.skills.clone(),
        threshold: args.threshold,
        also_scored: args.also_scored,
    };
    let selection = catalog.select(&request);
    for note in &selection.notes {
        output.warn(&shown(note));
    }
    if let Some(unfound) = selection.unfound.first() {
        return Err(failure(&catalog, unfound));
    }
    if args.json {
        let selected: Vec<Value> = selection.selected.iter().map(|selected| value(&catalog, selected)).collect();
        output.json(&json!({ "selected": selected }));
    } else {
        let text: String = selection.selected.iter().map(|selected| text(&catalog, selected, output)).collect();
        output.data(&text);
    }
    say(&catalog, &selection, args.threshold, output);
    Ok(if selection.selected.is_empty() { Exit::Findings } else { Exit::Fine })
}

/// A file as patterns see it: relative to the project, where it lies in it.
fn inside(project: &Path, file: &str) -> String {
    let relative = Path::new(file).strip_prefix(project).ok();
    relative.map_or_else(|| file.to_owned(), |path| path.to_string_lossy().into_owned())
}

fn failure(catalog: &Catalog, unfound: &Unfound) -> Failure {
    let name = &unfound.name;
    let candidates: Vec<&str> =
        unfound.candidates.iter().map(|index| catalog.entries[*index].qualified_name.as_str()).collect();
    if candidates.is_empty() {
        return library::missing(catalog, name);
    }
    let list = candidates.iter().map(|candidate| format!("`{candidate}`")).collect::<Vec<_>>().join(", ");
    Failure::unable("AMBIGUOUS", format!("`{name}` is not one skill's: it could be of {list}")).hint("name the skill")
}

fn value(catalog: &Catalog, selected: &Selected) -> Value {
    let entry = &catalog.entries[selected.index];
    let found = |one: &Match| json!({ "kind": one.kind.name(), "trigger": one.trigger, "points": one.points });
    json!({
        "name": entry.qualified_name,
        "score": selected.score,
        "matches": selected.matches.iter().map(found).collect::<Vec<_>>(),
        "location": entry.location,
    })
}

fn text(catalog: &Catalog, selected: &Selected, output: &Output) -> String {
    let name = shown(&catalog.entries[selected.index].qualified_name);
    let score = selected.score.map_or_else(|| "named".to_owned(), points);
    let mut text = format!(
        "{}  {}\n",
        output.styled(Style::new().bold(), &name),
        output.styled(AnsiColor::Green.on_default(), &score)
    );
    for found in &selected.matches {
        let worth = if found.kind == MatchKind::Explicit { "  ".to_owned() } else { format!("+{}", found.points) };
        text.push_str(&format!("  {worth}  {}\n", because(found)));
    }
    text
}

fn points(score: i64) -> String {
    format!("{score} {}", if score == 1 { "point" } else { "points" })
}

fn because(found: &Match) -> String {
    let kind = match found.kind {
        MatchKind::Explicit => "named as",
        MatchKind::FileType => "a file is of type",
        MatchKind::FilePattern => "a file matches",
        MatchKind::Mention => "the text mentions",
        MatchKind::Keyword => "the text has the keyword",
        MatchKind::Intent => "the intent is",
    };
    format!("{kind} `{}`", shown(&found.trigger))
}

/// Says what was decided, and what came closest where nothing was.
fn say(catalog: &Catalog, selection: &Selection, threshold: i64, output: &mut Output) {
    let (count, all) = (selection.selected.len(), catalog.entries.len());
    let skills = if all == 1 { "skill" } else { "skills" };
    if count > 0 {
        output.say(&format!("selected {count} of {all} {skills}; the threshold is {threshold}"));
        return;
    }
    output.say(&format!("none of {all} {skills} has {} or more", points(threshold)));
    if let Some(nearest) = selection.below.first() {
        let name = shown(&catalog.entries[nearest.index].qualified_name);
        let why: Vec<String> = nearest.matches.iter().map(because).collect();
        output.say(&format!("nearest: `{name}` with {}: {}", points(nearest.score.unwrap_or(0)), why.join(", ")));
    }
}

/// Text of a skill on one line, without what would steer a terminal.
fn shown(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}
