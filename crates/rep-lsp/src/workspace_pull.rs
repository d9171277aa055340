//! `workspace/diagnostic`: the findings of every skill of the workspace, whether it is open or not.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use rep_library::discovery::SkillLocation;
use rep_library::open_files::OpenFiles;
use serde_json::{Value, json};

use crate::bundle::SkillBundle;
use crate::checkers::CheckerCache;
use crate::client::ClientFeatures;
use crate::diagnostics::{bundle_diagnostics, result_id};
use crate::file_uri::{format_file_uri, parse_file_uri};
use crate::index::FolderIndex;
use crate::message::{RpcError, build_object};
use crate::outbox::Outbox;
use crate::session::{ServerEvent, Session};

/// The number of files in one partial result.
const PART_FILES_MAX: usize = 200;

/// The requests for reports about the workspace, and what the last report said.
#[derive(Default)]
pub(crate) struct WorkspacePulls {
    /// Counts the changes that can change a report.
    generation: u64,
    /// The ids of the results of the last report, and the generation that it belongs to.
    last: Option<(u64, BTreeMap<PathBuf, String>)>,
    /// The requests that wait until every folder has an index.
    waiting: Vec<(Value, Value)>,
}

impl WorkspacePulls {
    /// Notes that the next report can differ.
    pub(crate) fn note_change(&mut self) {
        self.generation += 1;
    }

    /// Remembers the results of a report.
    pub(crate) fn remember(&mut self, ids: BTreeMap<PathBuf, String>, generation: u64) {
        self.last = Some((generation, ids));
    }
}

/// What a thread needs to report about the workspace.
struct WorkspaceReporter {
    id: Value,
    outbox: Outbox,
    features: ClientFeatures,
    /// The folders with their skills.
    folders: Vec<(PathBuf, FolderIndex)>,
    open: OpenFiles,
    versions: BTreeMap<PathBuf, (String, i64)>,
    checkers: Arc<CheckerCache>,
    previous: BTreeMap<PathBuf, String>,
    partial_token: Option<Value>,
    progress_token: Option<Value>,
}

impl Session {
    /// Answers `workspace/diagnostic`, in the background and once every folder has an index.
    pub(crate) fn pull_workspace(&mut self, id: Value, params: &Value) {
        if self.folders.iter().any(|folder| !self.indexes.contains_key(&folder.path)) {
            self.workspace_pulls.waiting.push((id, params.clone()));
            return;
        }
        let previous = read_previous_ids(params);
        let generation = self.workspace_pulls.generation;
        if let Some((known, ids)) = &self.workspace_pulls.last
            && *known == generation
            && *ids == previous
        {
            let items = ids.iter().map(
                |(file, id)| json!({ "kind": "unchanged", "uri": self.uri_of(file), "version": null, "resultId": id }),
            );
            let items: Vec<Value> = items.collect();
            self.outbox.respond(&id, Ok(json!({ "items": items })));
            return;
        }
        let reporter = WorkspaceReporter {
            id,
            outbox: self.outbox.clone(),
            features: self.features.clone(),
            folders: self.indexes.iter().map(|(root, index)| (root.clone(), index.clone())).collect(),
            open: self.open.clone(),
            versions: self
                .documents
                .iter()
                .map(|(path, document)| (path.clone(), (document.uri.clone(), document.version)))
                .collect(),
            checkers: Arc::clone(&self.checkers),
            previous,
            partial_token: params.get("partialResultToken").filter(|token| !token.is_null()).cloned(),
            progress_token: params.get("workDoneToken").filter(|token| !token.is_null()).cloned(),
        };
        self.outbox.mark_active(&reporter.id);
        let events = self.events.clone();
        thread::spawn(move || {
            if let Some(ids) = reporter.run() {
                // If the session ended, nobody needs the ids.
                let _ = events.send(ServerEvent::WorkspaceReported(ids, generation));
            }
        });
    }

    /// Tells the client that an index was built: the rules that compare skills can have findings now.
    pub(crate) fn announce_index(&mut self, root: &Path) {
        let files: BTreeSet<PathBuf> =
            self.indexes.get(root).map(|index| index.set_findings.keys().cloned().collect()).unwrap_or_default();
        if !files.is_empty() || self.stale_sets.contains(root) {
            self.load_compared(&files);
            self.announced_files.extend(files);
            self.schedule.add_change(Instant::now());
        }
        for (id, params) in std::mem::take(&mut self.workspace_pulls.waiting) {
            self.pull_workspace(id, &params);
        }
    }
}

fn read_previous_ids(params: &Value) -> BTreeMap<PathBuf, String> {
    let items = params.get("previousResultIds").and_then(Value::as_array).into_iter().flatten();
    let read = |item: &Value| {
        let path = parse_file_uri(item.get("uri")?.as_str()?)?;
        Some((path, item.get("value")?.as_str()?.to_owned()))
    };
    items.filter_map(read).collect()
}

impl WorkspaceReporter {
    /// Checks all skills and answers the request. Returns the ids of the results, or `None` if it was cancelled.
    fn run(&self) -> Option<BTreeMap<PathBuf, String>> {
        self.report_progress(&json!({ "kind": "begin", "title": "Checking skills", "percentage": 0 }));
        let outer: Vec<(&Path, &FolderIndex, &SkillLocation)> =
            self.folders.iter().flat_map(|(root, index)| list_outer(root, index)).collect();
        let mut ids = BTreeMap::new();
        let mut items = Vec::new();
        for (number, (root, index, found)) in outer.iter().enumerate() {
            if self.outbox.is_cancelled(&self.id) {
                self.report_progress(&json!({ "kind": "end", "message": "cancelled" }));
                self.outbox.respond(&self.id, Err(RpcError::new(RpcError::REQUEST_CANCELLED, "cancelled")));
                return None;
            }
            for (file, found) in self.check_bundle(root, index, found) {
                let id = result_id(&found);
                items.push(self.write_item(&file, &id, found));
                ids.insert(file, id);
            }
            if items.len() >= PART_FILES_MAX && self.partial_token.is_some() {
                self.send_part(&mut items);
                let percentage = number * 100 / outer.len();
                self.report_progress(&json!({ "kind": "report", "percentage": percentage }));
            }
        }
        for file in self.previous.keys().filter(|file| !ids.contains_key(*file)) {
            items.push(self.write_item(file, &result_id(&[]), Vec::new()));
        }
        if self.partial_token.is_some() {
            self.send_part(&mut items);
        }
        self.report_progress(&json!({ "kind": "end" }));
        self.outbox.respond(&self.id, Ok(json!({ "items": items })));
        Some(ids)
    }

    /// Checks a skill and the skills nested in it. Returns the diagnostics of its files.
    fn check_bundle(&self, root: &Path, index: &FolderIndex, found: &SkillLocation) -> BTreeMap<PathBuf, Vec<Value>> {
        let mut bundle = SkillBundle::read(found, Some(root.to_owned()), &self.open);
        bundle.check(&self.checkers, &self.open);
        bundle_diagnostics(&bundle, Some(index), &self.checkers, &self.features)
    }

    fn write_item(&self, file: &Path, id: &str, items: Vec<Value>) -> Value {
        let (uri, version) = match self.versions.get(file) {
            Some((uri, version)) => (uri.clone(), json!(version)),
            None => (format_file_uri(file), Value::Null),
        };
        if self.previous.get(file).is_some_and(|previous| previous == id) {
            return json!({ "kind": "unchanged", "uri": uri, "version": version, "resultId": id });
        }
        let items = Value::Array(items);
        let (kind, id) = ("full".into(), id.into());
        build_object([("kind", kind), ("uri", uri.into()), ("version", version), ("resultId", id), ("items", items)])
    }

    fn send_part(&self, items: &mut Vec<Value>) {
        if let Some(token) = self.partial_token.as_ref().filter(|_| !items.is_empty()) {
            let value = json!({ "items": std::mem::take(items) });
            self.outbox.notify("$/progress", json!({ "token": token, "value": value }));
        }
    }

    fn report_progress(&self, value: &Value) {
        if let Some(token) = &self.progress_token {
            self.outbox.notify("$/progress", json!({ "token": token, "value": value }));
        }
    }
}

/// Lists the skills of a folder that are not nested in another.
fn list_outer<'a>(root: &'a Path, index: &'a FolderIndex) -> Vec<(&'a Path, &'a FolderIndex, &'a SkillLocation)> {
    let mut outer: Vec<&SkillLocation> = Vec::new();
    // Paths are sorted, so a skill precedes those nested in it.
    for skill in index.skills.values() {
        let is_nested =
            outer.last().is_some_and(|last| !last.is_lone_file && skill.location.path.starts_with(&last.path));
        if !is_nested {
            outer.push(&skill.location);
        }
    }
    outer.into_iter().map(|location| (root, index, location)).collect()
}
