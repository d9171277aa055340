//! The skills a conversion is about.

use std::path::Path;

use rep_library::Status;
use rep_library::find::{self, Found};

use super::Args;
use crate::exit::Failure;
use crate::output::Output;

/// Which skills are meant.
pub(super) struct Subjects {
    pub(super) found: Vec<Found>,
    /// Whether they were looked for, and not named one by one.
    pub(super) is_sweep: bool,
}

/// The skills that are meant: those named, or all there are.
pub(super) fn subjects(args: &Args, output: &mut Output) -> Result<Subjects, Failure> {
    let mut found = Vec::new();
    if args.is_all && args.library.places.paths.is_empty() {
        let catalog = args.library.discover(output)?;
        let active = catalog.entries.iter().filter(|entry| matches!(entry.status, Status::Active | Status::Hidden));
        found.extend(active.filter(|entry| !entry.skill.tree.is_lone_file).map(Found::from_entry));
    }
    if args.is_all {
        for path in &args.library.places.paths {
            below(path, &mut found, output)?;
        }
    }
    for named in &args.files {
        let path = Path::new(named);
        let is_path = named.contains('/') || path.is_file() || named == "." || named == "..";
        if is_path && (args.is_all || args.library.places.paths.is_empty()) {
            below(path, &mut found, output)?;
        } else {
            let (catalog, index) = match args.library.one(named, output) {
                Ok(both) => both,
                // No skill is called so, and the folder that is holds several.
                Err(failure) if failure.code == "AMBIGUOUS" && path.is_dir() => {
                    below(path, &mut found, output)?;
                    continue;
                }
                Err(failure) => return Err(failure),
            };
            let one = Found::from_entry(&catalog.entries[index]);
            found.push(Found { shown: find::shown(&one.path), ..one });
        }
    }
    let is_sweep = args.is_all || found.len() > args.files.len();
    if is_sweep {
        find::add_nested(&mut found);
    } else {
        find::sort(&mut found);
    }
    Ok(Subjects { found, is_sweep })
}

fn below(path: &Path, found: &mut Vec<Found>, output: &mut Output) -> Result<(), Failure> {
    output.warn_all(&find::skills(path, |one| found.push(one))?);
    Ok(())
}
