//! `rep to-prompt`: prints the catalog for a model's context, exactly as the reference tool does.

use std::path::PathBuf;

use rep_library::reference_tool;

use super::validate::resolve_existing_folder;
use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Print a catalog of skills as `skills-ref` does
///
/// Prints the same XML as `skills-ref to-prompt`. If one skill cannot be read, the command fails and prints
/// nothing. `rep prompt` offers more formats and a token budget.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  rep to-prompt skills/changelog-notes skills/glossary")]
pub(crate) struct Args {
    /// Skill directories, or their SKILL.md files
    #[arg(value_name = "SKILL_PATHS", required = true)]
    paths: Vec<PathBuf>,
}

impl Args {
    /// The arguments of the command without flags.
    pub(crate) fn from_paths(paths: Vec<PathBuf>) -> Self {
        Self { paths }
    }
}

#[expect(clippy::unnecessary_wraps, reason = "every command has the same shape")]
pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let mut paths = Vec::new();
    for path in &args.paths {
        let Some(path) = resolve_existing_folder(path, "to-prompt", "SKILL_PATHS...", output) else {
            return Ok(Exit::Unable);
        };
        paths.push(path);
    }
    match reference_tool::render_prompt(&paths) {
        Ok(prompt) => {
            output.write_text(&format!("{prompt}\n"));
            Ok(Exit::Fine)
        }
        Err(error) => {
            output.print_always(&format!("Error: {error}"));
            Ok(Exit::Findings)
        }
    }
}
