//! `rep why`: why a skill is missing, skipped, shadowed, untrusted, hidden, disabled, invalid or cut by a budget, and what to do.

use std::path::PathBuf;

use rep_check::render::visible;
use rep_library::budget::{self, Fitted, TooSmall};
use rep_library::disclose::Detail;
use rep_library::hosts::Host;
use rep_library::store::Decisions;
use rep_library::{Catalog, CatalogEntry, Dependency, Status};
use serde_json::{Value, json};

use super::prompt::Form;
use super::trust::differences;
use crate::exit::{Exit, Failure};
use crate::library::{LibraryArgs, decisions_file, home};
use crate::output::Output;

/// Say why a skill is missing, skipped, shadowed, untrusted, hidden or disabled
#[derive(clap::Args)]
#[command(
    after_help = "Shows every copy of the name, what became of it, what was passed over because it is no skill, and where was looked. With --budget also what `rep prompt` with the same options makes of an active skill: whether its description is told, shortened or left out, or the skill dropped.\n\nExamples:\n  rep why pdf-forms\n  rep why pdf-forms --budget 2000"
)]
pub(crate) struct Args {
    /// The skill: a name or `package:name`
    name: String,
    #[command(flatten)]
    library: LibraryArgs,
    /// Also say what a catalogue of at most this many tokens makes of it
    #[arg(long, value_name = "TOKENS")]
    budget: Option<usize>,
    #[command(flatten)]
    form: Form,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let catalog = args.library.predict(output).map_err(|failure| failure.json(args.json))?;
    let host = args.library.host();
    let copies: Vec<&CatalogEntry> = catalog
        .entries
        .iter()
        .filter(|entry| {
            entry.qualified_name == args.name || entry.name == args.name || entry.skill.tree.folder == args.name
        })
        .collect();
    let outcome = args.budget.map(|budget| Outcome {
        budget,
        form: args.form,
        fitted: budget::fit(&catalog, args.form.style(), args.form.locations(), budget),
    });
    let skipped = catalog.passed_over(&args.name);
    let there = catalog.roots.iter().filter(|root| root.path.is_dir());
    let looked: Vec<String> = there.map(|root| root.path.display().to_string()).collect();
    if args.json {
        let copies: Vec<Value> = copies
            .iter()
            .map(|entry| {
                let mut value = json!({
                    "qualified_name": entry.qualified_name,
                    "location": entry.location,
                    "scope": entry.scope.name(),
                    "status": entry.status.name(),
                    "reason": entry.reason,
                    "remedy": remedy(entry, host),
                    "dependencies": super::list::dependencies(&catalog, entry),
                });
                if let Some(outcome) = outcome.as_ref().filter(|_| entry.status == Status::Active) {
                    value["budget"] = outcome.value(entry);
                }
                value
            })
            .collect();
        let skipped: Vec<Value> =
            skipped.iter().map(|(path, reason)| json!({ "path": path, "reason": reason })).collect();
        let answer = json!({ "name": args.name, "copies": copies, "skipped": skipped, "looked_in": looked });
        output.json(&answer);
    } else if copies.is_empty() {
        absent(&args.name, &catalog, output);
    } else {
        for entry in &copies {
            present(entry, host, outcome.as_ref(), output);
            if entry.status == Status::Untrusted && host.is_none() {
                changed(&args.library, entry, output)?;
            }
        }
    }
    if !args.json {
        places(&skipped, &looked, output);
    }
    Ok(if copies.is_empty() { Exit::Findings } else { Exit::Fine })
}

/// What was passed over, and where was looked.
fn places(skipped: &[(PathBuf, String)], looked: &[String], output: &mut Output) {
    let mut text = String::new();
    for (path, reason) in skipped {
        text.push_str(&format!("passed over {}: {}\n", visible(&path.display().to_string()), visible(reason)));
    }
    if looked.is_empty() {
        text.push_str("none of the folders skills are looked for in exists here\n");
    }
    for path in looked {
        text.push_str(&format!("looked in {}\n", visible(path)));
    }
    output.data(&text);
}

fn present(entry: &CatalogEntry, host: Option<&Host>, outcome: Option<&Outcome<'_>>, output: &mut Output) {
    let name = visible(&entry.qualified_name);
    let mut text = format!("{name} is {} ({})\n", entry.status.name(), entry.scope.name());
    text.push_str(&format!("  at      {}\n", visible(&entry.location.display().to_string())));
    if !entry.reason.is_empty() {
        text.push_str(&format!("  because {}\n", visible(&entry.reason)));
    }
    for finding in &entry.findings {
        text.push_str(&format!("  {}: {}\n", finding.level.name(), visible(&finding.message)));
    }
    for trouble in entry.dependencies.iter().filter_map(Dependency::trouble) {
        text.push_str(&format!("  warning: {}\n", visible(&trouble)));
    }
    if let Some(remedy) = remedy(entry, host) {
        text.push_str(&format!("  remedy  {}\n", visible(&remedy)));
    }
    if let Some(outcome) = outcome.filter(|_| entry.status == Status::Active) {
        text.push_str(&outcome.told(entry));
    }
    output.data(&text);
}

/// Shows what changed in a skill since its project was trusted.
fn changed(library: &LibraryArgs, entry: &CatalogEntry, output: &mut Output) -> Result<(), Failure> {
    let Ok(file) = decisions_file(home().as_deref()) else { return Ok(()) };
    let project = library.project()?;
    let changes = Decisions::read(&file)?.changes(&file, &project, &entry.folder);
    if let Some(changes) = changes.filter(|changes| !changes.is_empty()) {
        output.data(&differences(entry, &changes));
    }
    Ok(())
}

/// What a budget makes of the catalogue.
struct Outcome<'a> {
    budget: usize,
    form: Form,
    fitted: Result<Fitted<'a>, TooSmall>,
}

impl Outcome<'_> {
    fn of(&self, entry: &CatalogEntry) -> (Detail, &str) {
        self.fitted.as_ref().map_or((Detail::Dropped, ""), |fitted| fitted.of(entry))
    }

    /// What the whole catalogue would cost.
    fn wanted(&self) -> usize {
        self.fitted.as_ref().map_or_else(|small| small.wanted, |fitted| fitted.wanted)
    }

    fn told(&self, entry: &CatalogEntry) -> String {
        let (detail, description) = self.of(entry);
        let budget = format!("{} tokens ({})", self.budget, budget::TOKENIZER);
        let became = match detail {
            Detail::Full => return format!("  budget  {budget} hold its whole description\n"),
            Detail::Shortened => format!("shorten its description to: {}", flat(description)),
            Detail::Name => "hold its name without a description".to_owned(),
            Detail::Dropped => "have no room for it: it is dropped from the catalogue".to_owned(),
        };
        let location = if self.form.has_locations() { "`--no-location`, " } else { "" };
        let remedy = format!(
            "`--budget {}` holds everything; or make room: {location}shorter descriptions, `rep disable` for skills not needed here",
            self.wanted()
        );
        format!("  budget  {budget} {became}\n  remedy  {remedy}\n")
    }

    fn value(&self, entry: &CatalogEntry) -> Value {
        let (detail, description) = self.of(entry);
        json!({
            "tokens": self.budget,
            "tokenizer": budget::TOKENIZER,
            "detail": detail.name(),
            "description": description,
            "wanted": self.wanted(),
        })
    }
}

fn flat(text: &str) -> String {
    visible(&text.split_whitespace().collect::<Vec<_>>().join(" ")).into_owned()
}

/// What would make the skill active, here or for a host.
fn remedy(entry: &CatalogEntry, host: Option<&Host>) -> Option<String> {
    host.map_or_else(|| entry.remedy(), |host| entry.remedy_for(host))
}

fn absent(name: &str, catalog: &Catalog, output: &mut Output) {
    let mut text = format!("there is no skill `{}`\n", visible(name));
    if let Some(near) = catalog.nearest(name) {
        text.push_str(&format!("  did you mean `{}`?\n", visible(near)));
    }
    text.push_str("  a skill is a folder with a file named exactly `SKILL.md` in one of the folders below\n");
    output.data(&text);
}
