//! `rep import`: restores a skill that was exported for a host.

use std::path::PathBuf;

use rep_library::discovery;
use rep_package::atomic_dir::OnExistingFolder;
use rep_package::import;

use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Import a skill that was exported for a host
///
/// Restores the fields that `rep export --host claude-api` moved to `metadata`. The exported directory is not
/// changed.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep export --host claude-api csv-profile --out dist
  rep import --host claude-api dist/csv-profile --out restored")]
pub(crate) struct Args {
    /// The directory of the exported skill
    folder: PathBuf,
    /// The host that it was exported for
    #[arg(long, value_name = "HOST", value_parser = ["claude-api"])]
    host: String,
    /// The directory to write to
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Replace an existing skill
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let existing = if args.force { OnExistingFolder::Replace } else { OnExistingFolder::Refuse };
    let imported = import::import_skill(&args.folder, &args.out, existing)?;
    if !imported.is_restored {
        output.print_message(&format!(
            "`{}` has no moved fields; it is copied unchanged",
            discovery::display_path(&args.folder)
        ));
    }
    output.write_data(&format!("{}\n", imported.folder.display()));
    Ok(Exit::Fine)
}
