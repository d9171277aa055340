//! The plugins a user has enabled, as Claude Code keeps them: which are installed where, and which are switched on.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::read;

/// The largest of these files that is read.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Name and folder of every plugin the user has installed and enabled, in order of name.
pub(super) fn enabled(config: &Path) -> Vec<(String, PathBuf)> {
    let file = |path: &str| -> Option<Value> {
        serde_json::from_str(&read::text(&config.join(path), FILE_BYTES_MAX).ok()?).ok()
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
