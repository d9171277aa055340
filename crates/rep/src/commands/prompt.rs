//! `rep prompt`: prints the skill catalog for a model's context.

use anstyle::AnsiColor;
use clap::ValueEnum;
use rep_library::budget::{self, BudgetTooSmall, FittedCatalog};
use rep_library::prompt::{self, EntryDetail, LocationDisplay};

use crate::exit::{Exit, Failure};
use crate::library::LibraryArgs;
use crate::output::Output;

/// Print the skill catalog for a model's context
///
/// Lists active skills only. Prints nothing if there are none. With `--budget`, descriptions are shortened first,
/// then omitted, and skills are dropped last; what was lost is reported on stderr.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep prompt
  rep prompt --path skills --style markdown --no-location
  rep prompt --budget 2000
  rep prompt --style manifest         # the UASP session manifest")]
pub(crate) struct Args {
    #[command(flatten)]
    library: LibraryArgs,
    #[command(flatten)]
    form: PromptFormatArgs,
    /// Use at most this many tokens, counted with the `o200k_base` tokenizer
    #[arg(long, value_name = "TOKENS")]
    budget: Option<usize>,
}

/// Options for the format of the catalog.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(super) struct PromptFormatArgs {
    /// The format
    #[arg(long, value_enum, default_value_t = PromptStyleChoice::Xml)]
    style: PromptStyleChoice,
    /// Omit file locations, for agents that load skills through a tool
    #[arg(long)]
    no_location: bool,
}

impl PromptFormatArgs {
    pub(super) fn prompt_style(self) -> prompt::CatalogFormat {
        match self.style {
            PromptStyleChoice::Xml => prompt::CatalogFormat::Xml,
            PromptStyleChoice::Json => prompt::CatalogFormat::Json,
            PromptStyleChoice::Markdown => prompt::CatalogFormat::Markdown,
            PromptStyleChoice::Manifest => prompt::CatalogFormat::Manifest,
        }
    }

    pub(super) fn location_display(self) -> LocationDisplay {
        if self.no_location { LocationDisplay::Hidden } else { LocationDisplay::Shown }
    }

    /// Whether the catalog contains locations, so that omitting them would save tokens.
    pub(super) fn has_locations(self) -> bool {
        !self.no_location && self.style != PromptStyleChoice::Manifest
    }
}

/// The catalog formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PromptStyleChoice {
    /// `<available_skills>`
    Xml,
    /// One JSON document
    Json,
    /// A Markdown list
    Markdown,
    /// The UASP session manifest
    Manifest,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let catalog = args.library.discover_catalog(output)?;
    let form = args.form;
    if prompt::list_disclosed(&catalog).next().is_none() {
        output.print_message("no active skills; run `rep list` to see all skills");
        return Ok(Exit::Fine);
    }
    let Some(budget) = args.budget else {
        output.write_text(&prompt::render_catalog(&catalog, form.prompt_style(), form.location_display()));
        return Ok(Exit::Fine);
    };
    let fitted = budget::fit_catalog(&catalog, form.prompt_style(), form.location_display(), budget)
        .map_err(|small| too_small_failure(budget, small))?;
    output.write_text(&fitted.text);
    if fitted.tokens < fitted.wanted {
        report_losses(&fitted, budget, form, output);
    } else {
        output.print_message(&format!(
            "{} of {budget} tokens ({}); nothing was shortened",
            fitted.tokens,
            budget::TOKENIZER
        ));
    }
    Ok(Exit::Fine)
}

fn too_small_failure(budget: usize, small: BudgetTooSmall) -> Failure {
    let message = format!(
        "a budget of {budget} tokens ({}) is too small for the name of a single skill, which needs {}",
        budget::TOKENIZER,
        small.needed
    );
    let failure = Failure { exit: Exit::Findings, ..Failure::unable("BUDGET_TOO_SMALL", message) };
    failure.hint(format!("the whole catalog needs {}", small.wanted))
}

/// The maximum number of names printed for shortened or omitted descriptions, without `--verbose`.
const NAMES_MAX: usize = 10;

/// Reports what was lost.
fn report_losses(fitted: &FittedCatalog<'_>, budget: usize, form: PromptFormatArgs, output: &mut Output) {
    let names = |detail: EntryDetail| {
        fitted.with_detail(detail).map(|told| told.entry.qualified_name.as_str()).collect::<Vec<_>>()
    };
    let (shortened, named) = (names(EntryDetail::Shortened), names(EntryDetail::Name));
    let dropped: Vec<&str> = fitted.dropped.iter().map(|entry| entry.qualified_name.as_str()).collect();
    output.warn(&format!(
        "{} of {budget} tokens ({}), {} for everything: {} descriptions shortened, {} omitted, {} skills dropped",
        fitted.tokens,
        budget::TOKENIZER,
        fitted.wanted,
        shortened.len(),
        named.len(),
        dropped.len()
    ));
    for (what, names) in [("shortened", shortened), ("without description", named)] {
        let most = if output.is_verbose { usize::MAX } else { NAMES_MAX };
        if !names.is_empty() {
            let more = names.len().saturating_sub(most);
            let more = if more > 0 { format!(" and {more} more; pass `-v` to see all") } else { String::new() };
            output.print_message(&format!("{what}: {}{more}", names[..names.len().min(most)].join(", ")));
        }
    }
    // Dropped skills are reported even with `--quiet`.
    if !dropped.is_empty() {
        output.print_always(&format!("dropped: {}", dropped.join(", ")));
    }
    if !output.is_quiet {
        let location = if form.has_locations() { "; `--no-location` saves tokens" } else { "" };
        let help = format!(
            "`--budget {}` fits everything{location}; run `rep why NAME --budget {budget}` for details",
            fitted.wanted
        );
        output.print_labelled("help", AnsiColor::Cyan, &help);
    }
}
