//! `rep prompt`: what goes into a model's context.

use clap::ValueEnum;
use rep_library::disclose::{self, Locations};

use crate::exit::{Exit, Failure};
use crate::library::LibraryArgs;
use crate::output::Output;

/// Print the catalogue for a model's context
#[derive(clap::Args)]
#[command(
    after_help = "Only active skills are told: hidden, shadowed, untrusted, disabled and invalid ones are not. Prints nothing where there is nothing to tell.\n\nExamples:\n  rep prompt --path skills\n  rep prompt --style markdown --no-location\n  rep prompt --style manifest      the session manifest of UASP"
)]
pub(crate) struct Args {
    #[command(flatten)]
    library: LibraryArgs,
    /// The form
    #[arg(long, value_enum, default_value_t = Style::Xml)]
    style: Style,
    /// Leave out where the skills lie, for agents that load them through a tool
    #[arg(long)]
    no_location: bool,
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
    let locations = if args.no_location { Locations::Hidden } else { Locations::Shown };
    if disclose::disclosed(&catalog).next().is_none() {
        output.say("no active skill, so nothing to tell; `rep list` shows what there is");
        return Ok(Exit::Fine);
    }
    output.data(&disclose::catalogue(&catalog, args.style.into(), locations));
    Ok(Exit::Fine)
}

impl From<Style> for disclose::Style {
    fn from(style: Style) -> Self {
        match style {
            Style::Xml => disclose::Style::Xml,
            Style::Json => disclose::Style::Json,
            Style::Markdown => disclose::Style::Markdown,
            Style::Manifest => disclose::Style::Manifest,
        }
    }
}
