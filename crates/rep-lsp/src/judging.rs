//! When documents are checked, and how the client learns the findings: by push or by pull, never both.
//!
//! A change is checked at once. A change that arrives before the last one was checked starts a burst: in a burst, the
//! newest text is checked at most once per [`BURST_INTERVAL`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rep_check::Finding;
use serde_json::{Value, json};

use crate::bundle::SkillBundle;
use crate::checkers::CheckerCache;
use crate::diagnostics::{bundle_diagnostics, result_id};
use crate::file_uri::format_file_uri;
use crate::index::{FolderIndex, IndexedSkill};
use crate::message::{RpcError, build_object};
use crate::session::Session;

/// The minimum time between two checks in a burst of changes.
pub(crate) const BURST_INTERVAL: Duration = Duration::from_millis(30);

/// The maximum number of skills that are loaded because rules that compare skills have findings there.
const COMPARED_LOADED_MAX: usize = 100;

/// When the next check is due.
#[derive(Debug, Default)]
pub(crate) struct JudgingSchedule {
    due: Option<Instant>,
    last: Option<CheckTime>,
    is_burst: bool,
}

#[derive(Clone, Copy, Debug)]
struct CheckTime {
    start: Instant,
    end: Instant,
}

impl JudgingSchedule {
    pub(crate) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Schedules a check of a change that was received at a time.
    pub(crate) fn add_change(&mut self, received: Instant) {
        if self.due.is_some() {
            self.is_burst = true;
        }
        let due = match self.last {
            // The client could not have seen the last findings when it sent this change, or is still in a burst.
            Some(last) if received <= last.end || (self.is_burst && received < last.end + BURST_INTERVAL) => {
                self.is_burst = true;
                last.start + BURST_INTERVAL
            }
            _ => {
                self.is_burst = false;
                received
            }
        };
        self.due = Some(self.due.map_or(due, |known| known.min(due)));
    }

    fn finish(&mut self, start: Instant) {
        self.last = Some(CheckTime { start, end: Instant::now() });
        self.due = None;
    }
}

/// What the client was told about a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PublishedDiagnostics {
    id: String,
    /// The version of the document. A client learns that a new version was checked even if nothing was found.
    version: Option<i64>,
}

/// A request for the diagnostics of a document that waits for the end of a burst.
pub(crate) struct WaitingPull {
    id: Value,
    path: PathBuf,
    previous: Option<String>,
}

impl Session {
    /// Checks what changed, and tells the client.
    pub(crate) fn judge_due(&mut self) {
        let start = Instant::now();
        let affected = self.refresh_bundles();
        if !self.features.pulls_diagnostics {
            self.publish(&affected);
        } else if !affected.other.is_empty() {
            self.refresh_client_diagnostics();
        }
        for pull in std::mem::take(&mut self.waiting_pulls) {
            self.answer_pull(&pull);
        }
        self.schedule.finish(start);
        self.report_settings_problems();
    }

    /// Parses and checks the loaded skills that changed, and compares skills if that can change a finding.
    fn refresh_bundles(&mut self) -> AffectedFiles {
        let mut affected =
            AffectedFiles { other: std::mem::take(&mut self.announced_files), ..AffectedFiles::default() };
        self.check_bundles(&mut affected);
        for root in std::mem::take(&mut self.stale_sets) {
            affected.other.extend(self.compare_folder(&root));
        }
        // Comparing can load skills. They are as the index knows them, so nothing has to be compared again.
        self.check_bundles(&mut affected);
        affected
    }

    /// Parses and checks the loaded skills that changed.
    fn check_bundles(&mut self, affected: &mut AffectedFiles) {
        for (path, bundle) in &mut self.bundles {
            bundle.refresh(&self.open);
            if bundle.members.iter().all(|member| member.report.is_some()) {
                continue;
            }
            bundle.check(&self.checkers, &self.open);
            affected.bundles.insert(path.clone());
            let Some(root) = bundle.root.clone() else { continue };
            let Some(index) = self.indexes.get_mut(&root) else { continue };
            if index_bundle(index, bundle, &self.checkers) {
                self.stale_sets.insert(root);
            }
        }
    }

    /// Tells a new index about the loaded skills, which can have changed while it was built.
    pub(crate) fn index_loaded_bundles(&mut self, root: &Path) {
        let Some(index) = self.indexes.get_mut(root) else { return };
        for bundle in self.bundles.values().filter(|bundle| bundle.root.as_deref() == Some(root)) {
            if index_bundle(index, bundle, &self.checkers) {
                self.stale_sets.insert(root.to_owned());
            }
        }
    }

    /// Compares the skills of a workspace folder. Returns the files whose findings changed.
    fn compare_folder(&mut self, root: &Path) -> BTreeSet<PathBuf> {
        let Some(index) = self.indexes.get_mut(root) else { return BTreeSet::new() };
        let before = std::mem::take(&mut index.set_findings);
        index.compare_all(root);
        let messages = |findings: Option<&Vec<Finding>>| -> Vec<(String, rep_model::Span)> {
            let findings = findings.map(Vec::as_slice).unwrap_or_default();
            findings.iter().map(|finding| (finding.message.clone(), finding.place.span)).collect()
        };
        let files: BTreeSet<&PathBuf> = before.keys().chain(index.set_findings.keys()).collect();
        let is_changed = |file: &&PathBuf| messages(before.get(*file)) != messages(index.set_findings.get(*file));
        let changed: BTreeSet<PathBuf> = files.into_iter().filter(is_changed).cloned().collect();
        self.load_compared(&changed);
        changed
    }

    /// Loads the skills that have findings because of other skills, so that a client without pulls sees them.
    pub(crate) fn load_compared(&mut self, files: &BTreeSet<PathBuf>) {
        if self.features.pulls_diagnostics {
            return;
        }
        for file in files.iter().take(COMPARED_LOADED_MAX) {
            self.load_bundle(file);
        }
    }

    /// Loads the skill that a file belongs to, and returns the key of its bundle.
    pub(crate) fn load_bundle(&mut self, file: &Path) -> Option<PathBuf> {
        let root = self.root_of(file).map(Path::to_owned);
        let found = self.open.locate_skill(file, root.as_deref())?;
        let path = found.path.clone();
        if !self.bundles.contains_key(&path) {
            self.bundles.insert(path.clone(), SkillBundle::read(&found, root, &self.open));
            self.watch_bundle(&path);
        }
        Some(path)
    }

    /// Returns the diagnostics of all files of a bundle that have any.
    fn bundle_diagnostics(&self, bundle: &SkillBundle) -> BTreeMap<PathBuf, Vec<Value>> {
        let index = bundle.root.as_ref().and_then(|root| self.indexes.get(root));
        bundle_diagnostics(bundle, index, &self.checkers, &self.features)
    }

    /// Sends the diagnostics of the files of skills that were checked.
    fn publish(&mut self, affected: &AffectedFiles) {
        let mut paths: BTreeSet<PathBuf> = affected.bundles.clone();
        for file in &affected.other {
            let containing = self.bundles.keys().filter(|path| file.starts_with(path));
            paths.extend(containing.cloned());
        }
        for path in paths {
            let Some(bundle) = self.bundles.get(&path) else { continue };
            let diagnostics = self.bundle_diagnostics(bundle);
            let below = |file: &&PathBuf| file.starts_with(&path);
            let mut files: BTreeSet<PathBuf> = diagnostics.keys().cloned().collect();
            files.extend(self.published.keys().filter(below).cloned());
            files.extend(self.documents.keys().filter(below).cloned());
            for file in files {
                let items = diagnostics.get(&file).cloned().unwrap_or_default();
                self.publish_file(&file, items);
            }
        }
    }

    /// Sends the diagnostics of a file, unless the client has them already.
    fn publish_file(&mut self, file: &Path, items: Vec<Value>) {
        let document = self.documents.get(file);
        let new = PublishedDiagnostics { id: result_id(&items), version: document.map(|document| document.version) };
        let is_known = match self.published.get(file) {
            Some(known) => known.id == new.id && (new.version.is_none() || known.version == new.version),
            None => items.is_empty() && document.is_none(),
        };
        if is_known {
            return;
        }
        let uri = document.map_or_else(|| format_file_uri(file), |document| document.uri.clone());
        let is_forgotten = items.is_empty() && new.version.is_none();
        let mut params = build_object([("uri", uri.into()), ("diagnostics", Value::Array(items))]);
        if let Some(version) = new.version {
            params["version"] = json!(version);
        }
        if is_forgotten {
            self.published.remove(file);
        } else {
            self.published.insert(file.to_owned(), new);
        }
        self.outbox.notify("textDocument/publishDiagnostics", params);
    }

    /// Withdraws the diagnostics of files at or below a path.
    pub(crate) fn withdraw_below(&mut self, path: &Path) {
        let files: Vec<PathBuf> = self.published.keys().filter(|file| file.starts_with(path)).cloned().collect();
        for file in files {
            self.publish_file(&file, Vec::new());
        }
    }

    /// Answers `textDocument/diagnostic`, now or at the end of a burst.
    pub(crate) fn pull_diagnostics(&mut self, id: Value, params: &Value) {
        let Some(path) = Self::document_path(params) else {
            return self.outbox.respond(&id, Ok(json!({ "kind": "full", "items": [] })));
        };
        let previous = params.get("previousResultId").and_then(Value::as_str).map(str::to_owned);
        let pull = WaitingPull { id, path, previous };
        if self.schedule.due().is_some_and(|due| due > Instant::now()) {
            self.waiting_pulls.push_back(pull);
            return;
        }
        let start = Instant::now();
        let is_loaded = self.load_bundle(&pull.path).is_some();
        let affected = self.refresh_bundles();
        self.answer_pull(&pull);
        if is_loaded {
            self.schedule.finish(start);
        }
        if affected.other.iter().any(|file| *file != pull.path) {
            self.refresh_client_diagnostics();
        }
        self.report_settings_problems();
    }

    fn answer_pull(&mut self, pull: &WaitingPull) {
        let key = self.load_bundle(&pull.path);
        let bundle = key.as_ref().and_then(|key| self.bundles.get(key));
        let mut diagnostics = bundle.map(|bundle| self.bundle_diagnostics(bundle)).unwrap_or_default();
        let items = diagnostics.remove(&pull.path).unwrap_or_default();
        let mut report = full_or_unchanged(items, pull.previous.as_deref());
        if self.features.related_documents && !diagnostics.is_empty() {
            let others = diagnostics.into_iter().filter(|(file, _)| !self.documents.contains_key(file));
            let related: serde_json::Map<String, Value> =
                others.map(|(file, items)| (format_file_uri(&file), full_or_unchanged(items, None))).collect();
            if !related.is_empty() {
                report["relatedDocuments"] = Value::Object(related);
            }
        }
        self.outbox.respond(&pull.id, Ok(report));
    }

    /// Asks the client to pull again, because findings of other files changed.
    pub(crate) fn refresh_client_diagnostics(&mut self) {
        self.workspace_pulls.note_change();
        if self.features.refreshes_diagnostics {
            self.request("workspace/diagnostic/refresh", Value::Null);
        }
    }

    /// Handles `$/cancelRequest` for a request that waits.
    pub(crate) fn cancel_request(&mut self, params: &Value) {
        let Some(id) = params.get("id") else { return };
        // All requests before this message were answered, but for those that wait or run in the background.
        self.outbox.forget_cancelled(id);
        let Some(at) = self.waiting_pulls.iter().position(|pull| pull.id == *id) else { return };
        self.waiting_pulls.remove(at);
        self.outbox.respond(id, Err(RpcError::new(RpcError::REQUEST_CANCELLED, "cancelled")));
    }

    pub(crate) fn report_settings_problems(&mut self) {
        for problem in self.checkers.take_problems() {
            if self.settings_problems.insert(problem.clone()) {
                self.show_message(&problem);
            }
        }
    }
}

/// What a round of checks affected.
#[derive(Default)]
struct AffectedFiles {
    /// The bundles that were checked.
    bundles: BTreeSet<PathBuf>,
    /// The files whose findings changed because of other skills.
    other: BTreeSet<PathBuf>,
}

/// Returns the report about a file: in full, or that it did not change.
pub(crate) fn full_or_unchanged(items: Vec<Value>, previous: Option<&str>) -> Value {
    let id = result_id(&items);
    if previous == Some(id.as_str()) {
        return json!({ "kind": "unchanged", "resultId": id });
    }
    build_object([("kind", "full".into()), ("resultId", id.into()), ("items", Value::Array(items))])
}

/// Updates the index with the skills of a bundle. Returns whether the index changed.
fn index_bundle(index: &mut FolderIndex, bundle: &SkillBundle, checkers: &CheckerCache) -> bool {
    let mut is_changed = false;
    for member in &bundle.members {
        let Some(report) = &member.report else { continue };
        let location = &member.parsed.location;
        let checker = checkers.checker_for(location, bundle.root.as_deref());
        let skill = IndexedSkill::from_skill(location, &member.parsed.skill, report.facts.clone(), checker);
        is_changed |= index.update(skill);
    }
    is_changed
}
