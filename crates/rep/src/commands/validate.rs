//! `rep validate`: the reference tool's verdict on one skill.

use std::path::{Path, PathBuf};

use rep_check::reference;
use rep_model::Skill;

use crate::exit::{Exit, Failure};
use crate::output::Output;
use rep_library::find::shown;
use rep_library::read::{self, Extent};

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
    let errors = errors(&path, &shown)?;
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

fn errors(path: &Path, shown: &str) -> Result<Vec<String>, Failure> {
    if !path.is_dir() {
        return Ok(vec![format!("Not a directory: {shown}")]);
    }
    let (skill, faults) = Skill::parse(read::folder(path, shown, Extent::Manifest)?);
    if skill.tree.entries.is_empty() {
        return Ok(vec!["Missing required file: SKILL.md".to_owned()]);
    }
    if let Some(error) = reference::parse_error(&skill, &faults) {
        return Ok(vec![error]);
    }
    let folder = &skill.tree.folder;
    Ok(skill.front().map(|front| reference::validate(front, folder)).unwrap_or_default())
}

/// The path as the reference tool takes it: its folder where a SKILL.md is named. Complains as
/// that tool's argument parser does where nothing is there.
pub(super) fn existing(path: &Path, command: &str, argument: &str, output: &mut Output) -> Option<PathBuf> {
    if !path.exists() {
        output.insist(&format!(
            "Usage: rep {command} [OPTIONS] {argument}\nTry 'rep {command} --help' for help.\n\nError: Invalid value for '{argument}': Path '{}' does not exist.",
            path.display()
        ));
        return None;
    }
    let is_manifest = path.is_file() && path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("skill.md"));
    if is_manifest {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        return Some(parent.unwrap_or(Path::new(".")).to_owned());
    }
    Some(path.to_owned())
}

/// Reads a skill for its properties; the reference tool's message where that fails.
pub(super) fn load(path: &Path) -> Result<Skill, String> {
    let shown = shown(path);
    let tree = read::folder(path, &shown, Extent::Manifest).map_err(|error| error.to_string())?;
    let (skill, faults) = Skill::parse(tree);
    if skill.tree.entries.is_empty() {
        return Err(format!("SKILL.md not found in {shown}"));
    }
    match reference::parse_error(&skill, &faults) {
        Some(error) => Err(error),
        None => Ok(skill),
    }
}
