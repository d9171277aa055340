//! The documents that the client opens, changes and closes.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;

use crate::document::{DOCUMENT_BYTES_MAX, OpenDocument};
use crate::file_uri::parse_file_uri;
use crate::session::Session;

impl Session {
    /// Handles `textDocument/didOpen`. Documents that are not files are ignored.
    pub(crate) fn open_document(&mut self, params: &Value, received: Instant) {
        let Some(item) = params.get("textDocument") else { return };
        let (Some(uri), Some(text)) =
            (item.get("uri").and_then(Value::as_str), item.get("text").and_then(Value::as_str))
        else {
            return;
        };
        let Some(path) = parse_file_uri(uri).filter(|_| text.len() <= DOCUMENT_BYTES_MAX) else { return };
        let version = item.get("version").and_then(Value::as_i64).unwrap_or_default();
        let document = OpenDocument::new(uri, version, text);
        self.open.insert(path.clone(), Arc::clone(&document.text));
        self.documents.insert(path.clone(), document);
        match self.load_bundle(&path) {
            // The document can differ from the file that the bundle was read from.
            Some(key) => self.mark_open_changed(&key, &path),
            None => return,
        }
        self.schedule.add_change(received);
    }

    /// Handles `textDocument/didChange`.
    pub(crate) fn change_document(&mut self, params: &Value, received: Instant) {
        let Some(path) = Self::document_path(params) else { return };
        let encoding = self.features.encoding;
        let Some(document) = self.documents.get_mut(&path) else { return };
        if let Some(version) = params.pointer("/textDocument/version").and_then(Value::as_i64) {
            document.version = version;
        }
        let changes = params.get("contentChanges").and_then(Value::as_array);
        document.apply_changes(changes.map(Vec::as_slice).unwrap_or_default(), encoding);
        self.open.insert(path.clone(), Arc::clone(&document.text));
        if let Some(key) = self.load_bundle(&path) {
            self.mark_open_changed(&key, &path);
            self.schedule.add_change(received);
        }
    }

    /// Handles `textDocument/didClose`. The file on disk counts again, and its findings stay as long as its skill is in
    /// the workspace.
    pub(crate) fn close_document(&mut self, params: &Value) {
        let Some(path) = Self::document_path(params) else { return };
        if self.documents.remove(&path).is_none() {
            return;
        }
        self.open.remove(&path);
        self.drop_lost_bundles(&path);
        for bundle in self.bundles.values_mut().filter(|bundle| path.starts_with(&bundle.location().path)) {
            bundle.mark_disk_changed();
        }
        self.schedule.add_change(Instant::now());
    }

    fn mark_open_changed(&mut self, key: &Path, file: &Path) {
        if let Some(bundle) = self.bundles.get_mut(key) {
            bundle.mark_open_changed(file);
        }
        self.workspace_pulls.note_change();
    }

    /// Drops the bundles around a file that are not skills any more, or that are outside of the workspace and have no
    /// open document.
    pub(crate) fn drop_lost_bundles(&mut self, file: &Path) {
        let around: Vec<_> = self.bundles.keys().filter(|key| file.starts_with(key)).cloned().collect();
        for key in around {
            let Some(bundle) = self.bundles.get(&key) else { continue };
            let main = bundle.members[0].parsed.absolute_path("");
            let located = self.open.locate_skill(&main, bundle.root.as_deref());
            let is_skill = located.is_some_and(|found| found.path == key)
                && (!bundle.location().is_lone_file || self.open.get(&key).is_some() || key.symlink_metadata().is_ok());
            let has_documents = self.documents.keys().any(|document| document.starts_with(&key));
            if is_skill && (bundle.root.is_some() || has_documents) {
                continue;
            }
            let root = self.bundles.remove(&key).and_then(|bundle| bundle.root);
            self.withdraw_below(&key);
            let index = root.as_ref().and_then(|root| self.indexes.get_mut(root));
            if let (Some(index), Some(root)) = (index, root)
                && !is_skill
                && index.remove_below(&key)
            {
                self.stale_sets.insert(root);
            }
        }
    }
}
