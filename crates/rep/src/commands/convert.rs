//! `rep convert`: documentation from a structured skill.

use std::path::PathBuf;

use clap::ValueEnum;
use rep_library::read;
use rep_uasp::{Document, Origin, docs};

use crate::exit::{Exit, Failure};
use crate::library::LibraryArgs;
use crate::output::Output;
use crate::write;

/// Write the documentation of a structured skill
#[derive(clap::Args)]
#[command(
    after_help = "All twelve sections are documented, the specification's headings in the specification's order; the same skill gives the same bytes.\n\nExamples:\n  rep convert agent-browser.uasp.yaml --to markdown\n  rep convert agent-browser.uasp.yaml --to markdown --out agent-browser.md"
)]
pub(crate) struct Args {
    /// A `*.uasp.yaml`, or the folder or name of a skill that has one
    file: String,
    /// The form to make
    #[arg(long, value_enum)]
    to: Form,
    /// Write to this file, which must not exist yet, instead of stdout
    #[arg(long, value_name = "F")]
    out: Option<PathBuf>,
    #[command(flatten)]
    library: LibraryArgs,
}

/// The forms a skill can be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Documentation for people
    Markdown,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let (catalog, index) = args.library.one(&args.file, output)?;
    let entry = &catalog.entries[index];
    let document = Document::of(&read::skill(entry)?).filter(|document| document.origin == Origin::Authored);
    let Some(document) = document else {
        let failure = Failure::unable("NOT_STRUCTURED", format!("`{}` has no UASP file", args.file));
        return Err(failure.hint("documentation is made from a `*.uasp.yaml`; a SKILL.md is Markdown already"));
    };
    let text = match args.to {
        Form::Markdown => docs::markdown(&document.value),
    };
    match &args.out {
        None => output.text(&text),
        Some(path) => {
            write::create(path, &text)?;
            output.say(&format!("wrote `{}`", path.display()));
        }
    }
    Ok(Exit::Fine)
}
