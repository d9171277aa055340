//! Finds the plugins that lend a host their skills: the enabled ones of Claude Code, and the local ones of Cursor.

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

/// The manifests of plugins: that of Cursor, and that of the Agent Plugins standard, which Cursor also loads.
const PLUGIN_MANIFESTS: [&str; 2] = [".cursor-plugin/plugin.json", "plugin.json"];

/// Returns the name and directory of every plugin in a directory, ordered by name. A directory without a manifest is
/// not a plugin.
pub(super) fn list_plugin_folders(within: &Path) -> Vec<(String, PathBuf)> {
    let entries = std::fs::read_dir(within).into_iter().flatten().flatten();
    let mut found: Vec<(String, PathBuf)> = entries
        .filter_map(|entry| {
            let folder = entry.path();
            let text = PLUGIN_MANIFESTS
                .iter()
                .find_map(|manifest| skill_reader::read_text(&folder.join(manifest), FILE_BYTES_MAX).ok())?;
            let manifest: Value = serde_json::from_str(&text).ok()?;
            let named = manifest["name"].as_str().filter(|name| !name.is_empty()).map(str::to_owned);
            Some((named.unwrap_or_else(|| skill_reader::folder_name(&folder)), folder))
        })
        .collect();
    found.sort();
    found
}
