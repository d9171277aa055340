//! `rep why`: explains why a skill is missing, skipped, shadowed, untrusted, hidden, disabled, invalid or cut by a
//! budget.

use std::path::PathBuf;

use rep_check::render::escape_invisible;
use rep_library::budget::{self, BudgetTooSmall, FittedCatalog};
use rep_library::decisions::UserDecisions;
use rep_library::documents::dependencies_to_json;
use rep_library::hosts::DiscoveryHost;
use rep_library::prompt::EntryDetail;
use rep_library::{Catalog, CatalogEntry, Dependency, SkillStatus};
use serde_json::{Value, json};

use super::prompt::PromptFormatArgs;
use super::trust::render_changes;
use crate::exit::{Exit, Failure};
use crate::library::{LibraryArgs, decisions_file, home_folder};
use crate::output::Output;

/// Explain why a skill is missing, shadowed or inactive
///
/// Shows every copy of the skill, its status, what was skipped because it is not a skill, and which directories
/// were searched. With `--budget`, also shows how `rep prompt` would shorten or drop it.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep why csv-profile
  rep why csv-profile --budget 2000")]
pub(crate) struct Args {
    /// The skill: a name or `package:name`
    name: String,
    #[command(flatten)]
    library: LibraryArgs,
    /// Also show what `rep prompt` with this token budget does to the skill
    #[arg(long, value_name = "TOKENS")]
    budget: Option<usize>,
    #[command(flatten)]
    form: PromptFormatArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let catalog = args.library.predict_catalog(output).map_err(|failure| failure.json(args.json))?;
    let host = args.library.host();
    let copies: Vec<&CatalogEntry> = catalog
        .entries
        .iter()
        .filter(|entry| {
            entry.qualified_name == args.name || entry.name == args.name || entry.skill.tree.folder == args.name
        })
        .collect();
    let outcome = args.budget.map(|budget| BudgetOutcome {
        budget,
        form: args.form,
        fitted: budget::fit_catalog(&catalog, args.form.prompt_style(), args.form.location_display(), budget),
    });
    let skipped = catalog.find_skipped_folders(&args.name);
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
                    "remedy": find_remedy(entry, host),
                    "dependencies": dependencies_to_json(&catalog, entry),
                });
                if let Some(outcome) = outcome.as_ref().filter(|_| entry.status == SkillStatus::Active) {
                    value["budget"] = outcome.to_json(entry);
                }
                value
            })
            .collect();
        let skipped: Vec<Value> =
            skipped.iter().map(|(path, reason)| json!({ "path": path, "reason": reason })).collect();
        let answer = json!({ "name": args.name, "copies": copies, "skipped": skipped, "looked_in": looked });
        output.write_json(&answer);
    } else if copies.is_empty() {
        print_absent(&args.name, &catalog, output);
    } else {
        for entry in &copies {
            print_copy(entry, host, outcome.as_ref(), output);
            if entry.status == SkillStatus::Untrusted && host.is_none() {
                print_changes(&args.library, entry, output)?;
            }
        }
    }
    if !args.json {
        print_places(&skipped, &looked, output);
    }
    Ok(if copies.is_empty() { Exit::Findings } else { Exit::Fine })
}

/// Prints what was skipped, and which directories were searched.
fn print_places(skipped: &[(PathBuf, String)], looked: &[String], output: &mut Output) {
    let mut text = String::new();
    for (path, reason) in skipped {
        text.push_str(&format!(
            "skipped {}: {}\n",
            escape_invisible(&path.display().to_string()),
            escape_invisible(reason)
        ));
    }
    if looked.is_empty() {
        text.push_str("none of the directories that are searched for skills exist\n");
    }
    for path in looked {
        text.push_str(&format!("searched {}\n", escape_invisible(path)));
    }
    output.write_data(&text);
}

fn print_copy(
    entry: &CatalogEntry,
    host: Option<&DiscoveryHost>,
    outcome: Option<&BudgetOutcome<'_>>,
    output: &mut Output,
) {
    let name = escape_invisible(&entry.qualified_name);
    let mut text = format!("{name} is {} ({})\n", entry.status.name(), entry.scope.name());
    text.push_str(&format!("  at      {}\n", escape_invisible(&entry.location.display().to_string())));
    if !entry.reason.is_empty() {
        text.push_str(&format!("  because {}\n", escape_invisible(&entry.reason)));
    }
    for finding in &entry.findings {
        text.push_str(&format!("  {}: {}\n", finding.level.name(), escape_invisible(&finding.message)));
    }
    for trouble in entry.dependencies.iter().filter_map(Dependency::describe_problem) {
        text.push_str(&format!("  warning: {}\n", escape_invisible(&trouble)));
    }
    if let Some(remedy) = find_remedy(entry, host) {
        text.push_str(&format!("  remedy  {}\n", escape_invisible(&remedy)));
    }
    if let Some(outcome) = outcome.filter(|_| entry.status == SkillStatus::Active) {
        text.push_str(&outcome.render_entry(entry));
    }
    output.write_data(&text);
}

/// Prints the changes in a skill since its project was trusted.
fn print_changes(library: &LibraryArgs, entry: &CatalogEntry, output: &mut Output) -> Result<(), Failure> {
    let Ok(file) = decisions_file(home_folder().as_deref()) else { return Ok(()) };
    let project = library.project_folder()?;
    let changes = UserDecisions::read(&file)?.find_changes(&file, &project, &entry.folder);
    if let Some(changes) = changes.filter(|changes| !changes.is_empty()) {
        output.write_data(&render_changes(&entry.qualified_name, &changes));
    }
    Ok(())
}

/// How a token budget changes the catalog.
struct BudgetOutcome<'a> {
    budget: usize,
    form: PromptFormatArgs,
    fitted: Result<FittedCatalog<'a>, BudgetTooSmall>,
}

impl BudgetOutcome<'_> {
    fn find_detail(&self, entry: &CatalogEntry) -> (EntryDetail, &str) {
        self.fitted.as_ref().map_or((EntryDetail::Dropped, ""), |fitted| fitted.detail_of(entry))
    }

    /// Returns the token cost of the whole catalog.
    fn wanted_tokens(&self) -> usize {
        self.fitted.as_ref().map_or_else(|small| small.wanted, |fitted| fitted.wanted)
    }

    fn render_entry(&self, entry: &CatalogEntry) -> String {
        let (detail, description) = self.find_detail(entry);
        let budget = format!("{} tokens ({})", self.budget, budget::TOKENIZER);
        let became = match detail {
            EntryDetail::Full => return format!("  budget  {budget} fit its whole description\n"),
            EntryDetail::Shortened => format!("shorten its description to: {}", flatten_text(description)),
            EntryDetail::Name => "fit only its name, without a description".to_owned(),
            EntryDetail::Dropped => "do not fit it: it is dropped from the catalog".to_owned(),
        };
        let location = if self.form.has_locations() { "`--no-location`, " } else { "" };
        let remedy = format!(
            "use `--budget {}` to fit everything, or save tokens: {location}shorter descriptions, `rep disable`",
            self.wanted_tokens()
        );
        format!("  budget  {budget} {became}\n  remedy  {remedy}\n")
    }

    fn to_json(&self, entry: &CatalogEntry) -> Value {
        let (detail, description) = self.find_detail(entry);
        json!({
            "tokens": self.budget,
            "tokenizer": budget::TOKENIZER,
            "detail": detail.name(),
            "description": description,
            "wanted": self.wanted_tokens(),
        })
    }
}

fn flatten_text(text: &str) -> String {
    escape_invisible(&text.split_whitespace().collect::<Vec<_>>().join(" ")).into_owned()
}

/// Returns what would make the skill active, here or for a host.
fn find_remedy(entry: &CatalogEntry, host: Option<&DiscoveryHost>) -> Option<String> {
    host.map_or_else(|| entry.suggest_remedy(), |host| entry.suggest_remedy_for_host(host))
}

fn print_absent(name: &str, catalog: &Catalog, output: &mut Output) {
    let mut text = format!("skill `{}` not found\n", escape_invisible(name));
    if let Some(near) = catalog.nearest_name(name) {
        text.push_str(&format!("  did you mean `{}`?\n", escape_invisible(near)));
    }
    text.push_str("  a skill is a directory with a file named exactly `SKILL.md` in one of the directories below\n");
    output.write_data(&text);
}
