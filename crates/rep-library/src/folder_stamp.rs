//! A number that changes when a file of a directory does: from names, sizes, times and file numbers, without reading
//! content.
//!
//! A program can set the time of a change of content, but not that of a change of the file's metadata, which is part of
//! the number. A directory with links has no stamp, because what they point to may change.

use std::fs::{self, Metadata};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use rep_storage::platform::FileMarks;

use crate::catalog::CatalogEntry;

/// The maximum number of entries of a directory that gets a stamp.
const ENTRIES_MAX: usize = 4096;
/// The age from which another change has another time.
const SETTLED_NS: i128 = 2_000_000_000;
/// The maximum depth, which is less than that of a directory that is read completely.
const DEPTH_MAX: usize = 12;

/// What a directory looked like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FolderStamp {
    /// Changes when an entry changes.
    pub(crate) hash: u64,
    /// The time of the newest change, in nanoseconds.
    pub(crate) newest_ns: i128,
}

/// Computes a stamp from the entries of a directory, in any order.
#[derive(Debug)]
pub(crate) struct StampBuilder {
    hash: u64,
    newest_ns: i128,
    entries: usize,
    is_rejected: bool,
}

impl Default for StampBuilder {
    fn default() -> Self {
        Self { hash: 0, newest_ns: i128::MIN, entries: 0, is_rejected: false }
    }
}

impl StampBuilder {
    /// Adds a directory.
    pub(crate) fn add_folder(&mut self, relative: &str, depth: usize) {
        self.is_rejected |= depth >= DEPTH_MAX;
        self.add_hash(&(relative, "directory"));
    }

    /// Adds a regular file.
    pub(crate) fn add_file(&mut self, relative: &str, metadata: &Metadata) {
        self.is_rejected |= !metadata.is_file();
        let state = FileMarks::from_metadata(metadata);
        self.newest_ns = self.newest_ns.max(state.newest_ns());
        self.add_hash(&(relative, state));
    }

    /// Records that the directory has something whose changes cannot be seen.
    pub(crate) fn reject(&mut self) {
        self.is_rejected = true;
    }

    /// Returns the stamp, if the directory has one.
    pub(crate) fn finish(self) -> Option<FolderStamp> {
        let is_stamped = !self.is_rejected && self.entries > 0;
        is_stamped.then_some(FolderStamp { hash: self.hash, newest_ns: self.newest_ns })
    }

    fn add_hash(&mut self, entry: &impl Hash) {
        let mut hasher = DefaultHasher::new();
        entry.hash(&mut hasher);
        // The order of a listing is not defined, so the sum must not depend on it.
        self.hash = self.hash.wrapping_add(hasher.finish());
        self.entries += 1;
        self.is_rejected |= self.entries > ENTRIES_MAX;
    }
}

/// Computes the stamp of a directory that is not read.
pub(crate) fn stamp_folder(root: &Path) -> Option<FolderStamp> {
    let mut builder = StampBuilder::default();
    let mut open = vec![(root.to_owned(), String::new(), 0)];
    while let Some((folder, prefix, depth)) = open.pop() {
        for item in fs::read_dir(&folder).ok()? {
            let item = item.ok()?;
            let name = item.file_name().to_string_lossy().into_owned();
            let relative = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
            let kind = item.file_type().ok()?;
            if kind.is_dir() {
                builder.add_folder(&relative, depth + 1);
                if name != ".git" {
                    open.push((item.path(), relative, depth + 1));
                }
            } else if kind.is_file() {
                builder.add_file(&relative, &item.metadata().ok()?);
            } else {
                return None;
            }
            if builder.is_rejected {
                return None;
            }
        }
    }
    builder.finish()
}

impl CatalogEntry {
    /// Returns a number that changes when a file of the skill does, or `None` if that could not be seen: some files changed
    /// just now, are links, or are too many.
    pub fn stamp_files(&self) -> Option<u64> {
        let stamp = stamp_folder(&self.folder)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        let age = i128::try_from(now.as_nanos()).ok()? - stamp.newest_ns;
        (age > SETTLED_NS).then_some(stamp.hash)
    }
}
