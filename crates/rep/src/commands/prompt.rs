//! `rep prompt`: what goes into a model's context.

use anstyle::AnsiColor;
use clap::ValueEnum;
use rep_library::budget::{self, Fitted, TooSmall};
use rep_library::disclose::{self, Detail, Locations};

use crate::exit::{Exit, Failure};
use crate::library::LibraryArgs;
use crate::output::Output;

/// Print the catalogue for a model's context
#[derive(clap::Args)]
#[command(
    after_help = "Only active skills are told: hidden, shadowed, untrusted, disabled and invalid ones are not. Prints nothing where there is nothing to tell.\n\nWith --budget the output costs at most that many tokens, counted exactly by the tokenizer o200k_base. Detail is lost in this order, and no more than needed:\n  1. descriptions are shortened, the longest first and all to one length, to whole sentences or words with `…`, never below 16 tokens\n  2. descriptions are left out, the longest first, then by name; names stay\n  3. skills are dropped, from the end of the catalogue\nWhat was lost is told on stderr, with every dropped name (-v: every name), and with --style json in `detail` and `budget`. Locations stay, because an agent that reads files needs them; --no-location leaves them out. A budget too small for one name exits 1.\n\nExamples:\n  rep prompt --path skills\n  rep prompt --style markdown --no-location\n  rep prompt --budget 2000\n  rep prompt --style manifest      the session manifest of UASP"
)]
pub(crate) struct Args {
    #[command(flatten)]
    library: LibraryArgs,
    #[command(flatten)]
    form: Form,
    /// Spend at most this many tokens
    #[arg(long, value_name = "TOKENS")]
    budget: Option<usize>,
}

/// How the catalogue is written.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(super) struct Form {
    /// The form
    #[arg(long, value_enum, default_value_t = Style::Xml)]
    style: Style,
    /// Leave out where the skills lie, for agents that load them through a tool
    #[arg(long)]
    no_location: bool,
}

impl Form {
    pub(super) fn style(self) -> disclose::Style {
        match self.style {
            Style::Xml => disclose::Style::Xml,
            Style::Json => disclose::Style::Json,
            Style::Markdown => disclose::Style::Markdown,
            Style::Manifest => disclose::Style::Manifest,
        }
    }

    pub(super) fn locations(self) -> Locations {
        if self.no_location { Locations::Hidden } else { Locations::Shown }
    }

    /// Whether leaving out locations would save anything.
    pub(super) fn has_locations(self) -> bool {
        !self.no_location && self.style != Style::Manifest
    }
}

/// The forms of a catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Style {
    /// `<available_skills>`
    Xml,
    /// One JSON document
    Json,
    /// A list
    Markdown,
    /// The UASP session manifest
    Manifest,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let catalog = args.library.discover(output)?;
    let form = args.form;
    if disclose::disclosed(&catalog).next().is_none() {
        output.say("no active skill, so nothing to tell; `rep list` shows what there is");
        return Ok(Exit::Fine);
    }
    let Some(budget) = args.budget else {
        output.text(&disclose::catalogue(&catalog, form.style(), form.locations()));
        return Ok(Exit::Fine);
    };
    let fitted =
        budget::fit(&catalog, form.style(), form.locations(), budget).map_err(|small| too_small(budget, small))?;
    output.text(&fitted.text);
    if fitted.tokens < fitted.wanted {
        tell(&fitted, budget, form, output);
    } else {
        output.say(&format!("{} of {budget} tokens ({}); nothing was shortened", fitted.tokens, budget::TOKENIZER));
    }
    Ok(Exit::Fine)
}

fn too_small(budget: usize, small: TooSmall) -> Failure {
    let message = format!(
        "a budget of {budget} tokens ({}) cannot hold the name of one skill, which costs {}",
        budget::TOKENIZER,
        small.needed
    );
    let failure = Failure { exit: Exit::Findings, ..Failure::unable("BUDGET_TOO_SMALL", message) };
    failure.hint(format!("the whole catalogue costs {}", small.wanted))
}

/// How many names are told of each loss that is no drop, unless all are wanted.
const NAMES_MAX: usize = 10;

/// Tells what was lost.
fn tell(fitted: &Fitted<'_>, budget: usize, form: Form, output: &mut Output) {
    let names = |detail: Detail| fitted.with(detail).map(|told| told.entry.qualified_name.as_str()).collect::<Vec<_>>();
    let (shortened, named) = (names(Detail::Shortened), names(Detail::Name));
    let dropped: Vec<&str> = fitted.dropped.iter().map(|entry| entry.qualified_name.as_str()).collect();
    output.warn(&format!(
        "{} of {budget} tokens ({}), where everything would take {}: {} descriptions shortened, {} left out, {} skills dropped",
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
            let more = if more > 0 { format!(" and {more} more; `-v` names all") } else { String::new() };
            output.say(&format!("{what}: {}{more}", names[..names.len().min(most)].join(", ")));
        }
    }
    // A skill that is not there at all is told of even where little is to be said.
    if !dropped.is_empty() {
        output.insist(&format!("dropped: {}", dropped.join(", ")));
    }
    if !output.is_quiet {
        let location = if form.has_locations() { "; `--no-location` saves room" } else { "" };
        let help = format!(
            "`--budget {}` holds everything{location}; `rep why NAME --budget {budget}` says more",
            fitted.wanted
        );
        output.label("help", AnsiColor::Cyan, &help);
    }
}
