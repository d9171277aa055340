//! `rep trust` and `rep untrust`: whether a project's skills may be disclosed and run.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rep_library::store::{self, Decisions};
use rep_library::{Catalog, Options, Scope, TrustWanted};

use crate::exit::{Exit, Failure};
use crate::library::{decisions_file, here, home};
use crate::output::Output;

/// Trust the skills of a project as they are
#[derive(clap::Args)]
#[command(
    after_help = "Until then a project's skills are listed and never disclosed. Trust is bound to the folder's real path and to the content of each skill: one that changes is untrusted again.\n\nExamples:\n  rep trust\n  rep trust ~/work/site"
)]
pub(crate) struct TrustArgs {
    /// The project [default: the repository around this folder]
    dir: Option<PathBuf>,
}

/// Take the trust in a project's skills back
#[derive(clap::Args)]
#[command(after_help = "Example:\n  rep untrust")]
pub(crate) struct UntrustArgs {
    /// The project [default: the repository around this folder]
    dir: Option<PathBuf>,
}

fn project(dir: Option<&PathBuf>) -> Result<PathBuf, Failure> {
    match dir {
        Some(dir) if dir.is_dir() => Ok(dir.clone()),
        Some(dir) => Err(Failure::unable("UNREADABLE", format!("`{}` is no folder", dir.display()))),
        None => Ok(rep_library::project_of(&here()?)),
    }
}

pub(crate) fn trust(args: &TrustArgs, output: &mut Output) -> Result<Exit, Failure> {
    let project = project(args.dir.as_ref())?;
    let options = Options { project: Some(project.clone()), trust: TrustWanted::Given, ..Options::default() };
    let catalog = Catalog::discover(&options)?;
    let mut skills = BTreeMap::new();
    for entry in catalog.entries.iter().filter(|entry| entry.scope != Scope::Managed) {
        skills.insert(store::inside(&project, &entry.folder), store::digest(&entry.folder));
        output.data(&format!("{}  {}\n", entry.qualified_name, entry.folder.display()));
    }
    let count = skills.len();
    let file = decisions_file(home().as_deref())?;
    let mut decisions = Decisions::read(&file)?;
    decisions.trust(&project, skills);
    decisions.write(&file)?;
    output.say(&format!(
        "trusted {count} {} of `{}` as they are",
        if count == 1 { "skill" } else { "skills" },
        project.display()
    ));
    Ok(Exit::Fine)
}

pub(crate) fn untrust(args: &UntrustArgs, output: &mut Output) -> Result<Exit, Failure> {
    let project = project(args.dir.as_ref())?;
    let file = decisions_file(home().as_deref())?;
    let mut decisions = Decisions::read(&file)?;
    if !decisions.untrust(&project) {
        output.say(&format!("`{}` was not trusted", project.display()));
        return Ok(Exit::Findings);
    }
    decisions.write(&file)?;
    output.say(&format!("`{}` is no longer trusted", project.display()));
    Ok(Exit::Fine)
}
