//! Whether the skills of a workspace folder are active: which copy of a name takes precedence, and what a host skips.
//!
//! Discovery reads the user's other skill directories too, so it runs on another thread and its result is kept until
//! files or settings change.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread;

use rep_library::hosts::{DiscoveryHost, HostView};
use rep_library::{Catalog, LibraryOptions, SkillStatus, find_project_folder};
use serde_json::Value;

use crate::session::{ServerEvent, Session};

/// What is known about a skill that a search of the machine found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SkillStatusEntry {
    /// The status.
    pub(crate) status: SkillStatus,
    /// Why the skill is not active.
    pub(crate) reason: String,
    /// The main file of the skill that takes precedence.
    pub(crate) shadowed_by: Option<PathBuf>,
}

/// The statuses of skills by their directories.
#[derive(Clone, Debug, Default)]
pub(crate) struct StatusTable {
    entries: BTreeMap<PathBuf, SkillStatusEntry>,
    /// The name of the host that skills are listed for.
    pub(crate) host: Option<&'static str>,
}

impl StatusTable {
    /// Discovers skills and remembers their statuses.
    pub(crate) fn discover(options: &LibraryOptions) -> Self {
        let host = options.host.as_ref().map(|view| view.host.name);
        let Ok(catalog) = Catalog::discover(options) else { return Self { host, ..Self::default() } };
        let winner = |index: usize| catalog.entries.get(index).map(|entry| entry.location.clone());
        let entries = catalog.entries.iter().map(|entry| {
            let status = SkillStatusEntry {
                status: entry.status,
                reason: entry.reason.clone(),
                shadowed_by: entry.shadowed_by.and_then(winner),
            };
            (if entry.skill.tree.is_lone_file { entry.location.clone() } else { entry.folder.clone() }, status)
        });
        Self { entries: entries.collect(), host }
    }

    /// Returns the status of the skill in a directory, or `None` if no searched directory contains it.
    pub(crate) fn get(&self, path: &Path) -> Option<&SkillStatusEntry> {
        self.entries.get(path).or_else(|| self.entries.get(&path.canonicalize().ok()?))
    }
}

impl Session {
    /// Returns the options that discover the skills of a workspace folder as the user or the chosen host sees them.
    pub(crate) fn discovery_options(&self, root: &Path) -> LibraryOptions {
        let project = find_project_folder(root);
        let host = self.checkers.settings_for(Some(root)).host.and_then(DiscoveryHost::find);
        let view = host.map(|host| HostView {
            host,
            folder: root.to_owned(),
            repository: project.join(".git").exists().then(|| project.clone()),
            variables: BTreeMap::new(),
            is_prediction: true,
        });
        LibraryOptions { project: Some(project), host: view, ..self.options.library.clone() }
    }

    /// Runs work that needs the statuses of a workspace folder, at once if they are known, or else on another thread.
    pub(crate) fn with_statuses(
        &mut self,
        id: &Value,
        root: &Path,
        work: impl FnOnce(&StatusTable) -> Value + Send + 'static,
    ) {
        if let Some(table) = self.statuses.get(root) {
            return self.outbox.respond(id, Ok(work(table)));
        }
        let options = self.discovery_options(root);
        let (events, outbox, id, root) = (self.events.clone(), self.outbox.clone(), id.clone(), root.to_owned());
        let generation = self.status_generation;
        self.outbox.mark_active(&id);
        thread::spawn(move || {
            let table = StatusTable::discover(&options);
            outbox.respond(&id, Ok(work(&table)));
            // If the session ended, nobody needs the statuses.
            let _ = events.send(ServerEvent::StatusesFound { root, table, generation });
        });
    }

    /// Remembers the statuses of a folder, unless something changed meanwhile.
    pub(crate) fn accept_statuses(&mut self, root: PathBuf, table: StatusTable, generation: u64) {
        if generation == self.status_generation {
            self.statuses.insert(root, table);
        }
    }

    /// Forgets all statuses, because files or settings changed.
    pub(crate) fn forget_statuses(&mut self) {
        self.status_generation += 1;
        self.statuses.clear();
    }
}
