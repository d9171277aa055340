//! `rep hash`: computes the content version of a UASP file.

use std::path::PathBuf;

use rep_library::content_version::VersionedFile;
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Compute the content version of a UASP file
///
/// The version is the first eight hexadecimal digits of the SHA-256 of the content, without `meta.version`.
/// Comments, key order and quoting do not change it.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep hash skills/http-status
  rep hash skills/http-status --check   # exit with 1 if the version is stale
  rep hash skills/http-status --write   # store the version in the file")]
pub(crate) struct Args {
    /// The `*.uasp.yaml` file, or its directory
    file: PathBuf,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Store the computed version in the file
    #[arg(long)]
    write: bool,
    /// Exit with 1 if the stored version differs from the computed one
    #[arg(long, conflicts_with = "write")]
    check: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    hash_file(args, output).map_err(|failure| failure.json(args.json))
}

fn hash_file(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let file = VersionedFile::load(&args.file)?;
    let (shown, computed, is_match) = (&file.shown, file.computed_version(), file.is_current());
    if args.write && !is_match {
        file.store_version()?;
        output.print_message(&format!("stored {computed} in `{shown}`"));
    }
    if args.json {
        output.write_json(&json!({
            "declared": if args.write { Some(computed) } else { file.declared.as_deref() },
            "computed": computed,
            "sha256": file.sha256,
            "match": args.write || is_match,
        }));
    } else {
        output.write_data(&format!("{computed}\n"));
        match &file.declared {
            Some(declared) if !is_match && !args.write => {
                output.print_message(&format!(
                    "`{shown}` declares {declared}; store {computed} with `rep hash --write {shown}`"
                ));
            }
            None if !args.write => {
                output
                    .print_message(&format!("`{shown}` declares no version; store it with `rep hash --write {shown}`"));
            }
            _ => {}
        }
    }
    Ok(if args.check && !is_match { Exit::Findings } else { Exit::Fine })
}
