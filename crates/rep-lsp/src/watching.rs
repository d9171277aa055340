//! Files that change on disk. The client watches them, or else the server does.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use rep_library::watcher::{PathWatcher, WatchTarget};
use serde_json::Value;

use crate::file_uri::parse_file_uri;
use crate::index::IndexInput;
use crate::session::{FILES_DELAY, ServerEvent, Session};

/// The number of changed files from which the index is built again instead of updated.
const REINDEXED_MIN: usize = 50;

impl Session {
    /// Starts a watcher, unless the client watches.
    pub(crate) fn start_watching(&mut self) {
        if self.features.watches_files || self.watcher.is_some() {
            return;
        }
        let events = self.events.clone();
        let watcher = PathWatcher::new(move |paths| {
            // If the session ended, nobody needs the event.
            let _ = events.send(ServerEvent::FilesChanged(paths));
        });
        match watcher {
            Ok(watcher) => self.watcher = Some(watcher),
            Err(error) => self.show_problem(&format!("files are not watched: {error}")),
        }
    }

    /// Watches the skills of a folder and the directories around them.
    pub(crate) fn watch_indexed_skills(&mut self, root: &Path) {
        let Some(watcher) = self.watcher.clone() else { return };
        let Some(index) = self.indexes.get(root) else { return };
        let mut targets = vec![WatchTarget { path: root.to_owned(), is_deep: false }];
        for path in index.skills.keys() {
            targets.push(WatchTarget { path: path.clone(), is_deep: false });
            targets.extend(path.parent().map(|parent| WatchTarget { path: parent.to_owned(), is_deep: false }));
        }
        let loaded = self.bundles.values().map(|bundle| bundle.location().path.clone());
        targets.extend(loaded.map(|path| WatchTarget { path, is_deep: true }));
        self.add_watches(watcher, targets);
    }

    /// Adds watches on another thread: a large library needs thousands. What is watched with everything in it can have
    /// changed before, so it is read again.
    fn add_watches(&self, watcher: PathWatcher, targets: Vec<WatchTarget>) {
        let events = self.events.clone();
        thread::spawn(move || {
            let deep = targets.iter().filter(|target| target.is_deep && !watcher.is_watched(target));
            let deep: Vec<PathBuf> = deep.map(|target| target.path.clone()).collect();
            let event = match watcher.add_targets(targets) {
                Ok(()) if deep.is_empty() => return,
                Ok(()) => ServerEvent::FilesChanged(deep),
                Err(error) => ServerEvent::WatchFailed(error.to_string()),
            };
            // If the session ended, nobody needs the event.
            let _ = events.send(event);
        });
    }

    /// Watches a skill that was loaded, with everything in it.
    pub(crate) fn watch_bundle(&mut self, path: &Path) {
        if let Some(watcher) = self.watcher.clone() {
            self.add_watches(watcher, vec![WatchTarget { path: path.to_owned(), is_deep: true }]);
        }
    }

    /// Handles `workspace/didChangeWatchedFiles`.
    pub(crate) fn note_watched_files(&mut self, params: &Value) {
        let changes = params.get("changes").and_then(Value::as_array).into_iter().flatten();
        let paths = changes.filter_map(|change| parse_file_uri(change.get("uri")?.as_str()?)).collect();
        self.note_changed_files(paths);
    }

    /// Remembers changed files. They are read when the burst is over.
    pub(crate) fn note_changed_files(&mut self, paths: Vec<PathBuf>) {
        let is_ours = |path: &Path| !path.components().any(|part| part.as_os_str() == ".git");
        self.changed_files.extend(paths.into_iter().filter(|path| is_ours(path)));
        if !self.changed_files.is_empty() {
            self.changed_files_due.get_or_insert(Instant::now() + FILES_DELAY);
        }
    }

    /// Updates what depends on the changed files.
    pub(crate) fn handle_changed_files(&mut self) {
        let files = std::mem::take(&mut self.changed_files);
        self.workspace_pulls.note_change();
        self.forget_statuses();
        if files.iter().any(|file| file.file_name().is_some_and(|name| name == "rep.yaml")) {
            self.settings_problems.clear();
            self.apply_settings();
        }
        let is_many = files.len() >= REINDEXED_MIN;
        let mut is_affected = false;
        for file in &files {
            self.drop_lost_bundles(file);
            for bundle in self.bundles.values_mut() {
                let location = bundle.location().path.clone();
                if file.starts_with(&location) || location.starts_with(file) {
                    bundle.mark_disk_changed();
                    is_affected = true;
                }
            }
            if !is_many {
                is_affected |= self.update_index(file);
            }
        }
        if is_many {
            self.build_indexes();
        }
        // A document can have become part of a skill, such as when its SKILL.md was created.
        let documents: Vec<PathBuf> = self.documents.keys().cloned().collect();
        for path in documents {
            let count = self.bundles.len();
            self.load_bundle(&path);
            is_affected |= self.bundles.len() != count;
        }
        if is_affected {
            self.schedule.add_change(Instant::now());
            if self.features.pulls_diagnostics {
                self.refresh_client_diagnostics();
            }
        } else if self.features.pulls_diagnostics && !self.indexes.is_empty() {
            self.refresh_client_diagnostics();
        }
    }

    /// Reads the skills around a changed file again. Returns whether the index changed.
    fn update_index(&mut self, file: &Path) -> bool {
        let Some(root) = self.root_of(file).map(Path::to_owned) else { return false };
        let Some(index) = self.indexes.get_mut(&root) else { return false };
        let main = self.open.locate_skill(file, Some(&root)).or_else(|| {
            // The changed path can be the skill's directory itself.
            self.open.is_skill_folder(file).then(|| self.open.locate_skill(&file.join("SKILL.md"), Some(&root)))?
        });
        let input = IndexInput {
            root: root.clone(),
            other_roots: Vec::new(),
            open: self.open.clone(),
            checkers: Arc::clone(&self.checkers),
        };
        let mut is_changed = false;
        if let Some(found) = main {
            let read = input.read_skills(&found);
            let is_gone = |path: &&PathBuf| {
                path.starts_with(&found.path) && !read.iter().any(|skill| skill.location.path == **path)
            };
            let gone: Vec<PathBuf> = index.skills.keys().filter(is_gone).cloned().collect();
            for path in gone {
                is_changed |= index.remove_below(&path);
            }
            for skill in read {
                is_changed |= index.update(skill);
            }
        } else {
            // The main file or the directory is gone.
            let folder = file.parent().filter(|_| is_main_name(file)).unwrap_or(file);
            is_changed |= index.remove_below(folder);
        }
        if is_changed {
            self.stale_sets.insert(root.clone());
            self.watch_indexed_skills(&root);
        }
        is_changed
    }
}

fn is_main_name(file: &Path) -> bool {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.eq_ignore_ascii_case("SKILL.md")
}
