//! `rep read-properties`: a skill's properties as JSON, as the reference tool prints them.

use std::path::PathBuf;

use rep_library::reference;

use super::validate::existing;
use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Print a skill's properties as JSON, as the reference tool does
#[derive(clap::Args)]
#[command(
    after_help = "Reads, and does not validate: `rep validate` does that.\n\nExample:\n  rep read-properties my-skill"
)]
pub(crate) struct Args {
    /// The skill's folder, or its SKILL.md
    #[arg(value_name = "SKILL_PATH")]
    path: PathBuf,
}

impl Args {
    /// The command without any flag.
    pub(crate) fn of(path: PathBuf) -> Self {
        Self { path }
    }
}

#[expect(clippy::unnecessary_wraps, reason = "every command has the same shape")]
pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let Some(path) = existing(&args.path, "read-properties", "SKILL_PATH", output) else { return Ok(Exit::Unable) };
    match reference::properties(&path) {
        Ok(json) => {
            output.data(&format!("{json}\n"));
            Ok(Exit::Fine)
        }
        Err(error) => {
            output.insist(&format!("Error: {error}"));
            Ok(Exit::Findings)
        }
    }
}
