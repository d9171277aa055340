//! `rep to-prompt`: the catalogue for a model's context, as the reference tool prints it.

use std::path::PathBuf;

use rep_library::reference;

use super::validate::existing;
use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Print the catalogue of skills for a model's context, as the reference tool does
#[derive(clap::Args)]
#[command(
    after_help = "One skill that cannot be read stops the whole, and nothing is printed.\n\nExample:\n  rep to-prompt skills/*"
)]
pub(crate) struct Args {
    /// Skill folders, or their SKILL.md
    #[arg(value_name = "SKILL_PATHS", required = true)]
    paths: Vec<PathBuf>,
}

impl Args {
    /// The command without any flag.
    pub(crate) fn of(paths: Vec<PathBuf>) -> Self {
        Self { paths }
    }
}

#[expect(clippy::unnecessary_wraps, reason = "every command has the same shape")]
pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let mut paths = Vec::new();
    for path in &args.paths {
        let Some(path) = existing(path, "to-prompt", "SKILL_PATHS...", output) else { return Ok(Exit::Unable) };
        paths.push(path);
    }
    match reference::prompt(&paths) {
        Ok(prompt) => {
            output.text(&format!("{prompt}\n"));
            Ok(Exit::Fine)
        }
        Err(error) => {
            output.insist(&format!("Error: {error}"));
            Ok(Exit::Findings)
        }
    }
}
