//! The findings of `rep check` in a skill, with the check settings of the served project.

use std::path::Path;

use rep_check::{Finding, Level};
use rep_library::CatalogEntry;
use rep_library::check::{CheckSettings, CheckSettingsError, check_entry};

/// Checks a skill. Findings are sorted by level, most severe first, and then by position.
pub(super) fn check_skill(entry: &CatalogEntry, project: Option<&Path>) -> Result<Vec<Finding>, CheckSettingsError> {
    let folder = project.unwrap_or(&entry.folder).to_owned();
    let options = CheckSettings { folder, ..CheckSettings::default() }.resolve()?;
    let mut findings = check_entry(entry, &options).findings;
    findings.sort_by_key(|finding| match finding.level {
        Level::Error => 0,
        Level::Warning => 1,
        Level::Info => 2,
    });
    Ok(findings)
}
