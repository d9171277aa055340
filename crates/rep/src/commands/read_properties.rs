//! `rep read-properties`: prints a skill's properties as JSON, exactly as the reference tool does.

use std::path::PathBuf;

use rep_library::reference_tool;

use super::validate::resolve_existing_folder;
use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Print a skill's properties as `skills-ref` does
///
/// Prints one JSON object, the same as `skills-ref read-properties`. The skill is not validated; use `rep validate`
/// for that.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  rep read-properties skills/changelog-notes")]
pub(crate) struct Args {
    /// The skill's directory, or its SKILL.md
    #[arg(value_name = "SKILL_PATH")]
    path: PathBuf,
}

impl Args {
    /// The arguments of the command without flags.
    pub(crate) fn from_path(path: PathBuf) -> Self {
        Self { path }
    }
}

#[expect(clippy::unnecessary_wraps, reason = "every command has the same shape")]
pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let Some(path) = resolve_existing_folder(&args.path, "read-properties", "SKILL_PATH", output) else {
        return Ok(Exit::Unable);
    };
    match reference_tool::render_properties(&path) {
        Ok(json) => {
            output.write_data(&format!("{json}\n"));
            Ok(Exit::Fine)
        }
        Err(error) => {
            output.print_always(&format!("Error: {error}"));
            Ok(Exit::Findings)
        }
    }
}
