//! `rep validate`: the reference tool's verdict on one skill.

use std::path::{Path, PathBuf};

use rep_library::find::shown;
use rep_library::reference;

use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Validate a skill as the reference tool `skills-ref` does
#[derive(clap::Args)]
#[command(
    after_help = "Prints what `skills-ref validate` prints and exits as it does. `rep check` sees more.\n\nExample:\n  rep validate my-skill"
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

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let Some(path) = existing(&args.path, "validate", "SKILL_PATH", output) else { return Ok(Exit::Unable) };
    let shown = shown(&path);
    let errors = reference::validation_errors(&path)?;
    if errors.is_empty() {
        output.data(&format!("Valid skill: {shown}\n"));
        return Ok(Exit::Fine);
    }
    output.insist(&format!("Validation failed for {shown}:"));
    for error in errors {
        output.insist(&format!("  - {error}"));
    }
    Ok(Exit::Findings)
}

/// The path as the reference tool takes it. Complains as that tool's argument parser does where nothing is there.
pub(super) fn existing(path: &Path, command: &str, argument: &str, output: &mut Output) -> Option<PathBuf> {
    let folder = reference::skill_folder(path);
    if folder.is_none() {
        output.insist(&format!(
            "Usage: rep {command} [OPTIONS] {argument}\nTry 'rep {command} --help' for help.\n\nError: Invalid value for '{argument}': Path '{}' does not exist.",
            path.display()
        ));
    }
    folder
}
