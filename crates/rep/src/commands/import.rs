//! `rep import`: a skill that was written for a host, in its author's shape again.

use std::path::PathBuf;

use rep_library::find;
use rep_package::import;
use rep_package::place::Existing;

use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Put a skill that was exported for a host back into its author's shape
#[derive(clap::Args)]
#[command(
    after_help = "What `rep export --host claude-api` keeps in `metadata` goes back to where it came from. The folder that is read is never touched.\n\nExample:\n  rep import --host claude-api dist/pdf-forms --out skills"
)]
pub(crate) struct Args {
    /// The folder of the skill
    folder: PathBuf,
    /// The host it was written for
    #[arg(long, value_name = "HOST", value_parser = ["claude-api"])]
    host: String,
    /// The folder to write to
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Replace what is there
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let existing = if args.force { Existing::Replace } else { Existing::Refuse };
    let imported = import::import(&args.folder, &args.out, existing)?;
    if !imported.is_restored {
        output.say(&format!("nothing in `{}` came from elsewhere; it is copied as it is", find::shown(&args.folder)));
    }
    output.data(&format!("{}\n", imported.folder.display()));
    Ok(Exit::Fine)
}
