//! The settings of `check` that depend on paths.

use std::path::{Path, PathBuf};

use rep_check::{PathOverride, PathPatterns};
use rep_model::yaml::YamlNode;

use super::{SettingsError, SettingsReader};
use crate::check::PathMatcher;

const OVERRIDE_KEYS: &[&str] = &["paths", "profiles", "ignore", "levels"];

impl SettingsReader {
    /// Parses a list of patterns, relative to the directory of the file.
    pub(super) fn parse_patterns(&self, node: &YamlNode) -> Result<PathPatterns, SettingsError> {
        let mut patterns = Vec::new();
        for item in self.expect_items(node)? {
            let text = item.text().filter(|text| !text.is_empty());
            let text = text.ok_or_else(|| self.error_at(item.span, "this is not a pattern", "write `dir/**`"))?;
            let one = PathPatterns { folder: self.folder(), patterns: vec![text.to_owned()] };
            PathMatcher::new(&one).map_err(|error| self.error_at(item.span, &error.to_string(), "write `dir/**`"))?;
            patterns.push(text.to_owned());
        }
        Ok(PathPatterns { folder: self.folder(), patterns })
    }

    /// Parses the settings of some paths.
    pub(super) fn parse_override(&self, node: &YamlNode) -> Result<PathOverride, SettingsError> {
        let mut found = PathOverride::default();
        for entry in self.expect_entries(node)? {
            match self.expect_key(entry)? {
                "paths" => found.paths = self.parse_patterns(&entry.value)?,
                "profiles" => {
                    for item in self.expect_items(&entry.value)? {
                        found.profiles.push(self.parse_profile(item)?);
                    }
                }
                "ignore" => {
                    for item in self.expect_items(&entry.value)? {
                        found.ignore.push(self.parse_rule(item)?);
                    }
                }
                "levels" => {
                    for entry in self.expect_entries(&entry.value)? {
                        let name = self.parse_rule(&entry.key)?;
                        found.levels.insert(name, self.parse_level(&entry.value)?);
                    }
                }
                other => return Err(self.unknown_key_error(entry, other, OVERRIDE_KEYS)),
            }
        }
        if found.paths.patterns.is_empty() {
            return Err(self.error_at(node.span, "these settings have no `paths`", "add `paths: ['dir/**']`"));
        }
        Ok(found)
    }

    /// Returns the directory of the file, with links resolved.
    fn folder(&self) -> PathBuf {
        let path = Path::new(&self.shown);
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned())
    }
}
