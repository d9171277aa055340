//! Settings and workspace folders, which can change at any time, and the services that start with the session.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use serde_json::{Value, json};

use crate::checkers::CheckerCache;
use crate::index::{FolderIndex, IndexInput};
use crate::session::{PendingRequest, ServerEvent, Session, read_folder};
use crate::settings::{ClientSettings, SECTION};

impl Session {
    /// Starts what needs an initialized client: settings, file watching and the indexes.
    pub(crate) fn start_services(&mut self) {
        self.register_capabilities();
        self.request_configuration();
        self.start_watching();
        self.build_indexes();
        self.show_settings_problems();
    }

    fn register_capabilities(&mut self) {
        let mut registrations = Vec::new();
        if self.features.watches_files {
            let options = json!({ "watchers": [{ "globPattern": "**/*" }] });
            let method = "workspace/didChangeWatchedFiles";
            registrations.push(json!({ "id": "repertoire-files", "method": method, "registerOptions": options }));
        }
        if self.features.registers_configuration {
            let method = "workspace/didChangeConfiguration";
            let options = json!({ "section": SECTION });
            registrations.push(json!({ "id": "repertoire-settings", "method": method, "registerOptions": options }));
        }
        if !registrations.is_empty() {
            self.request("client/registerCapability", json!({ "registrations": registrations }));
        }
    }

    /// Asks for the settings of each folder, and for those outside of all.
    fn request_configuration(&mut self) {
        if !self.features.configuration {
            return;
        }
        let mut scopes = vec![None];
        let mut items = vec![json!({ "section": SECTION })];
        for folder in &self.folders {
            scopes.push(Some(folder.path.clone()));
            items.push(json!({ "scopeUri": folder.uri, "section": SECTION }));
        }
        let id = self.outbox.request("workspace/configuration", json!({ "items": items }));
        self.pending.insert(id, PendingRequest::Configuration(scopes));
    }

    /// Handles the answer to `workspace/configuration`.
    pub(crate) fn accept_configuration(&mut self, scopes: Vec<Option<PathBuf>>, result: &Value) {
        let mut settings = BTreeMap::new();
        for (scope, section) in scopes.into_iter().zip(result.as_array().into_iter().flatten()) {
            // A client without settings answers with null, which must not undo those of `initialize`.
            if !section.is_null() {
                settings.insert(scope, Arc::new(ClientSettings::from_json(section)));
            }
        }
        let unchanged = settings.iter().all(|(scope, new)| self.settings.get(scope) == Some(new));
        if !settings.is_empty() && !unchanged {
            self.settings.extend(settings);
            self.apply_settings();
        }
    }

    /// Handles `workspace/didChangeConfiguration`. Clients that do not send the settings are asked for them.
    pub(crate) fn change_configuration(&mut self, params: &Value) {
        let settings = params.get("settings").unwrap_or(&Value::Null);
        match settings.get(SECTION) {
            Some(section) if !self.features.configuration => {
                self.settings = BTreeMap::from([(None, Arc::new(ClientSettings::from_json(section)))]);
                self.apply_settings();
            }
            _ => self.request_configuration(),
        }
    }

    /// Checks everything again with new settings.
    pub(crate) fn apply_settings(&mut self) {
        self.rebuild_checkers();
        self.forget_statuses();
        self.show_settings_problems();
        self.build_indexes();
        for bundle in self.bundles.values_mut() {
            bundle.forget_reports();
        }
        self.schedule.add_change(Instant::now());
        if self.features.pulls_diagnostics {
            self.refresh_client_diagnostics();
        }
        for method in self.features.refreshes.clone() {
            self.request(method, Value::Null);
        }
    }

    pub(crate) fn rebuild_checkers(&mut self) {
        self.checkers = Arc::new(CheckerCache::new(self.settings.clone()));
        self.workspace_pulls.note_change();
    }

    fn show_settings_problems(&mut self) {
        let problems: Vec<String> = self.settings.values().flat_map(|settings| settings.problems.clone()).collect();
        for problem in problems {
            self.show_problem(&problem);
        }
    }

    /// Handles `workspace/didChangeWorkspaceFolders`.
    pub(crate) fn change_folders(&mut self, params: &Value) {
        let list = |key: &str| params.pointer(key).and_then(Value::as_array).cloned().unwrap_or_default();
        for folder in list("/event/removed").iter().filter_map(read_folder) {
            self.folders.retain(|known| known.path != folder.path);
            self.settings.remove(&Some(folder.path));
        }
        for folder in list("/event/added").iter().filter_map(read_folder) {
            if !self.folders.iter().any(|known| known.path == folder.path) {
                self.folders.push(folder);
            }
        }
        // Every loaded skill can belong to another folder now.
        let documents: Vec<PathBuf> = self.documents.keys().cloned().collect();
        let before: Vec<PathBuf> = std::mem::take(&mut self.bundles).into_keys().collect();
        for path in &documents {
            self.load_bundle(path);
        }
        for key in before.iter().filter(|key| !self.bundles.contains_key(*key)).cloned().collect::<Vec<_>>() {
            self.withdraw_below(&key);
        }
        let is_known = |root: &PathBuf| self.folders.iter().any(|folder| folder.path == *root);
        self.indexes.retain(|root, _| is_known(root));
        self.start_watching();
        self.request_configuration();
        self.apply_settings();
    }

    /// Builds the index of every folder in the background.
    pub(crate) fn build_indexes(&mut self) {
        for folder in self.folders.clone() {
            let root = folder.path;
            let attempt = self.index_attempts.entry(root.clone()).or_default();
            *attempt += 1;
            let attempt = *attempt;
            let is_inside = |other: &PathBuf| other.starts_with(&root) && *other != root;
            let others = self.folders.iter().map(|folder| folder.path.clone()).filter(is_inside).collect();
            let input = IndexInput {
                root: root.clone(),
                other_roots: others,
                open: self.open.clone(),
                checkers: Arc::clone(&self.checkers),
            };
            let events = self.events.clone();
            thread::spawn(move || {
                let index = input.build();
                // If the session ended, nobody needs the index.
                let _ = events.send(ServerEvent::IndexBuilt { root: input.root, attempt, index });
            });
        }
    }

    /// Takes an index that was built in the background. Loaded skills replace what it says about them.
    pub(crate) fn accept_index(&mut self, root: &std::path::Path, attempt: u64, index: FolderIndex) {
        let is_newest = self.index_attempts.get(root) == Some(&attempt);
        let is_known = self.folders.iter().any(|folder| folder.path == root);
        if !is_newest || !is_known {
            return;
        }
        self.indexes.insert(root.to_owned(), index);
        self.index_loaded_bundles(root);
        self.watch_indexed_skills(root);
        self.announce_index(root);
    }
}
