//! `rep to-prompt`: the catalogue for a model's context, as the reference tool prints it.

use std::path::{Path, PathBuf};

use rep_check::reference;

use super::validate::{existing, load};
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
    let mut skills = Vec::with_capacity(paths.len());
    for path in &paths {
        match entry(path) {
            Ok(skill) => skills.push(skill),
            Err(error) => {
                output.insist(&format!("Error: {error}"));
                return Ok(Exit::Findings);
            }
        }
    }
    output.text(&format!("{}\n", reference::prompt(&skills)));
    Ok(Exit::Fine)
}

fn entry(path: &Path) -> Result<(String, String, String), String> {
    // The location is the real folder, links resolved.
    let real = std::fs::canonicalize(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let skill = load(&real)?;
    let (Some(front), Some(manifest)) = (skill.front(), &skill.manifest) else {
        return Err("SKILL.md frontmatter must be a YAML mapping".to_owned());
    };
    let (name, description) = reference::name_and_description(front)?;
    let location = real.join(manifest.file).to_string_lossy().into_owned();
    Ok((name.to_owned(), description.to_owned(), location))
}
