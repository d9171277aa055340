//! `rep validate`: validates one skill exactly as the reference tool does.

use std::path::{Path, PathBuf};

use rep_library::discovery::display_path;
use rep_library::reference_tool;

use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Validate a skill exactly as `skills-ref` does
///
/// Prints the same output as `skills-ref validate` and exits with the same code. Use `rep check` for more checks
/// and for fixes.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  rep validate skills/changelog-notes")]
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

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let Some(path) = resolve_existing_folder(&args.path, "validate", "SKILL_PATH", output) else {
        return Ok(Exit::Unable);
    };
    let shown = display_path(&path);
    let errors = reference_tool::validate_skill(&path)?;
    if errors.is_empty() {
        output.write_data(&format!("Valid skill: {shown}\n"));
        return Ok(Exit::Fine);
    }
    output.print_always(&format!("Validation failed for {shown}:"));
    for error in errors {
        output.print_always(&format!("  - {error}"));
    }
    Ok(Exit::Findings)
}

/// Returns the path as the reference tool takes it. If it does not exist, prints the same error as that tool's
/// argument parser.
pub(super) fn resolve_existing_folder(
    path: &Path,
    command: &str,
    argument: &str,
    output: &mut Output,
) -> Option<PathBuf> {
    let folder = reference_tool::resolve_skill_folder(path);
    if folder.is_none() {
        let problem = format!("Invalid value for '{argument}': Path '{}' does not exist.", path.display());
        print_usage_error(command, argument, &problem, output);
    }
    folder
}

/// Prints the error of the reference tool for a command without its argument, and returns the exit code.
pub(crate) fn report_missing_argument(command: &str, argument: &str, output: &mut Output) -> Exit {
    print_usage_error(command, argument, &format!("Missing argument '{argument}'."), output);
    Exit::Unable
}

/// Prints a usage error in the format of the reference tool's argument parser.
fn print_usage_error(command: &str, argument: &str, problem: &str, output: &mut Output) {
    output.print_always(&format!(
        "Usage: rep {command} [OPTIONS] {argument}\nTry 'rep {command} --help' for help.\n\nError: {problem}"
    ));
}
