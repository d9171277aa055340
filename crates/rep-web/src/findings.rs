//! What `rep check` finds in a skill.

use rep_check::{Finding, Level, Options, check};
use rep_library::{CatalogEntry, LibraryError, read};
use rep_model::Skill;

/// Checks a skill. The worst findings come first, each level in order of place.
pub(super) fn check_skill(entry: &CatalogEntry) -> Result<Vec<Finding>, LibraryError> {
    let tree = if entry.skill.tree.is_lone_file {
        read::lone_file(&entry.location, &entry.location.to_string_lossy())
    } else {
        read::folder(&entry.folder, &entry.folder.to_string_lossy(), read::Extent::Folder)?
    };
    let (skill, faults) = Skill::parse(tree);
    let mut findings = check(&skill, faults, &Options::default()).findings;
    findings.sort_by_key(|finding| match finding.level {
        Level::Error => 0,
        Level::Warning => 1,
        Level::Info => 2,
    });
    Ok(findings)
}
