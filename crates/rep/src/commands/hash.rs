//! `rep hash`: the content version of a UASP file.

use std::path::PathBuf;

use rep_library::content_version::VersionedFile;
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Compute the content version of a UASP file
#[derive(clap::Args)]
#[command(
    after_help = "The version is the first eight digits of a SHA-256 over the file's content without `meta.version`; comments, key order and quoting do not count.\n\nExamples:\n  rep hash stripe.uasp.yaml\n  rep hash stripe.uasp.yaml --write     store it in the file\n  rep hash stripe.uasp.yaml --check     exit 1 where the stored one is stale"
)]
pub(crate) struct Args {
    /// The `*.uasp.yaml` file, or the folder that holds it
    file: PathBuf,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Store the computed version in the file
    #[arg(long)]
    write: bool,
    /// Exit 1 where the stored version is not the computed one
    #[arg(long, conflicts_with = "write")]
    check: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    hash(args, output).map_err(|failure| failure.json(args.json))
}

fn hash(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let file = VersionedFile::load(&args.file)?;
    let (shown, computed, is_match) = (&file.shown, file.computed(), file.is_current());
    if args.write && !is_match {
        file.store()?;
        output.say(&format!("stored {computed} in `{shown}`"));
    }
    if args.json {
        output.json(&json!({
            "declared": if args.write { Some(computed) } else { file.declared.as_deref() },
            "computed": computed,
            "sha256": file.sha256,
            "match": args.write || is_match,
        }));
    } else {
        output.data(&format!("{computed}\n"));
        match &file.declared {
            Some(declared) if !is_match && !args.write => {
                output.say(&format!("`{shown}` declares {declared}; `rep hash --write {shown}` stores {computed}"));
            }
            None if !args.write => {
                output.say(&format!("`{shown}` declares no version; `rep hash --write {shown}` stores it"));
            }
            _ => {}
        }
    }
    Ok(if args.check && !is_match { Exit::Findings } else { Exit::Fine })
}
