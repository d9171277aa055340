//! Reads the enabled plugins of Claude Code: where they are installed, and which are enabled.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::skill_reader;

/// The maximum size of each of these files.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Returns the name and directory of every plugin that the user installed and enabled, ordered by name.
pub(super) fn list_enabled_plugins(config: &Path) -> Vec<(String, PathBuf)> {
    let file = |path: &str| -> Option<Value> {
        serde_json::from_str(&skill_reader::read_text(&config.join(path), FILE_BYTES_MAX).ok()?).ok()
    };
    let (installed, settings) = (file("plugins/installed_plugins.json"), file("settings.json"));
    let installed = installed.as_ref().and_then(|value| value.get("plugins")?.as_object());
    let is_on = |key: &str| settings.as_ref().is_some_and(|settings| settings["enabledPlugins"][key] == true);
    let mut found: Vec<(String, PathBuf)> = installed
        .into_iter()
        .flatten()
        .filter(|(key, _)| is_on(key))
        .filter_map(|(key, places)| {
            let place = places.as_array()?.iter().find(|place| place["scope"] == "user")?;
            let name = key.split_once('@').map_or(key.as_str(), |(name, _)| name);
            Some((name.to_owned(), PathBuf::from(place["installPath"].as_str()?)))
        })
        .collect();
    found.sort();
    found
}
