//! Finds the skills to convert.

use std::path::Path;

use rep_library::SkillStatus;
use rep_library::discovery::{self, SkillLocation};

use super::Args;
use crate::exit::Failure;
use crate::output::Output;

/// The skills to convert.
pub(super) struct ConversionSubjects {
    pub(super) found: Vec<SkillLocation>,
    /// Whether the skills were discovered rather than named individually.
    pub(super) is_sweep: bool,
}

/// Finds the skills to convert: those named, or all skills of the library.
pub(super) fn find_subjects(args: &Args, output: &mut Output) -> Result<ConversionSubjects, Failure> {
    let mut found = Vec::new();
    if args.is_all && args.library.places.paths.is_empty() {
        let catalog = args.library.discover_catalog(output)?;
        let active =
            catalog.entries.iter().filter(|entry| matches!(entry.status, SkillStatus::Active | SkillStatus::Hidden));
        found.extend(active.filter(|entry| !entry.skill.tree.is_lone_file).map(SkillLocation::from_entry));
    }
    if args.is_all {
        for path in &args.library.places.paths {
            add_skills_below(path, &mut found, output)?;
        }
    }
    for named in &args.files {
        let path = Path::new(named);
        let is_path = named.contains('/') || path.is_file() || named == "." || named == "..";
        if is_path && (args.is_all || args.library.places.paths.is_empty()) {
            add_skills_below(path, &mut found, output)?;
        } else {
            let (catalog, index) = match args.library.find_skill(named, output) {
                Ok(both) => both,
                // Not a skill's name, but a directory with several skills.
                Err(failure) if failure.code == "AMBIGUOUS" && path.is_dir() => {
                    add_skills_below(path, &mut found, output)?;
                    continue;
                }
                Err(failure) => return Err(failure),
            };
            let one = SkillLocation::from_entry(&catalog.entries[index]);
            found.push(SkillLocation { shown: discovery::display_path(&one.path), ..one });
        }
    }
    let is_sweep = args.is_all || found.len() > args.files.len();
    if is_sweep {
        discovery::add_nested_skills(&mut found);
    } else {
        discovery::sort_and_dedup(&mut found);
    }
    Ok(ConversionSubjects { found, is_sweep })
}

fn add_skills_below(path: &Path, found: &mut Vec<SkillLocation>, output: &mut Output) -> Result<(), Failure> {
    output.warn_all(&discovery::find_skills(path, |one| found.push(one))?);
    Ok(())
}
