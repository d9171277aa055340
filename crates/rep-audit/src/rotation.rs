//! Starts a new file when a log is large. The chain of hashes continues over all files.
#![expect(clippy::disallowed_methods, reason = "this crate lists and renames its own files")]

use std::fs::File;
use std::io;
use std::path::PathBuf;

use rep_storage::StorageError;
use rep_storage::platform::FileMarks;
use rep_storage::{atomic, files};
use serde_json::{Map, Value, json};

use super::{AuditLog, ChainHead, read_tail};

/// The number of digits in the name of a full file, so that names sort by number.
const NUMBER_DIGITS: usize = 16;

/// When a log starts a new file, and how many full files it keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogRotation {
    /// The size in bytes from which a file is full.
    pub bytes_max: u64,
    /// The maximum number of full files; the oldest ones are removed. All are kept if it is not set.
    pub files_max: Option<usize>,
}

impl AuditLog {
    /// Starts new files as `rotation` says.
    #[must_use]
    pub fn with_rotation(self, rotation: LogRotation) -> Self {
        Self { rotation: Some(rotation), ..self }
    }

    /// Returns the full files of the log, oldest first.
    pub(super) fn list_full_files(&self) -> Vec<PathBuf> {
        let prefix = format!("{}-", self.stem);
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut found: Vec<PathBuf> = entries
            .map(|entry| entry.path())
            .filter(|path| {
                let name = path.file_name().and_then(|name| name.to_str());
                let number = name.and_then(|name| name.strip_prefix(&prefix)?.strip_suffix(".jsonl"));
                number.is_some_and(|number| {
                    number.len() == NUMBER_DIGITS && number.bytes().all(|byte| byte.is_ascii_digit())
                })
            })
            .collect();
        found.sort();
        found
    }

    /// Returns the name of the full file that ends with a record.
    fn full_file_name(&self, last: u64) -> String {
        format!("{}-{last:0NUMBER_DIGITS$}.jsonl", self.stem)
    }

    /// Renames the records file if it is complete, and removes old full files. Returns `false` if it was not renamed. The
    /// caller holds the lock. After a crash, the next record starts the new file.
    pub(super) fn rotate_file(&self, file: &File, length: u64) -> Result<bool, StorageError> {
        let path = self.records_path();
        let failed = |error: io::Error| StorageError::new("rotate", &path, error);
        let Some(mut head) = ChainHead::read_file(&self.head_path())? else { return Ok(false) };
        let tail = read_tail(file, head.bytes.min(length)).map_err(failed)?;
        // What is not a record stays in its place, where the next record accounts for it.
        if head.bytes > length
            || head.seq == 0
            || !head.advance_through(&tail).is_empty()
            || !tail.ends_with(b"\n") && !tail.is_empty()
        {
            return Ok(false);
        }
        head.bytes = length;
        head.write_durably(&self.head_path())?;
        std::fs::rename(&path, self.folder.join(self.full_file_name(head.seq))).map_err(failed)?;
        atomic::sync_folder(&self.folder).map_err(failed)?;
        if let Some(most) = self.rotation.and_then(|rotation| rotation.files_max) {
            let full = self.list_full_files();
            for old in full.iter().take(full.len().saturating_sub(most)) {
                files::remove_if_present(old)?;
            }
        }
        Ok(true)
    }

    /// Returns the fields of the first record of a new file: the file before it, and its last record.
    pub(super) fn describe_rotated_file(&self, head: &ChainHead) -> Option<Map<String, Value>> {
        let name = self.full_file_name(head.seq);
        let is_rotated = self.rotation.is_some() && head.seq > 0 && self.folder.join(&name).exists();
        is_rotated.then(|| json!({ "file": name, "last": head.seq }).as_object().cloned().unwrap_or_default())
    }

    /// Returns all files of the log, oldest first, and opens the newest. A file that is renamed meanwhile is listed once.
    pub(super) fn open_all(&self) -> Result<(Vec<PathBuf>, Option<File>), StorageError> {
        let newest = files::open_existing(&self.records_path())?;
        let inode =
            |about: io::Result<std::fs::Metadata>| about.ok().map(|about| FileMarks::from_metadata(&about).number);
        let own = newest.as_ref().and_then(|file| inode(file.metadata()));
        let mut full = self.list_full_files();
        full.retain(|path| own.is_none() || inode(path.symlink_metadata()) != own);
        Ok((full, newest))
    }

    /// Returns the size of all files of the log.
    pub(super) fn total_bytes(&self) -> u64 {
        let all = self.list_full_files().into_iter().chain([self.records_path()]);
        all.filter_map(|path| path.symlink_metadata().ok()).map(|about| about.len()).sum()
    }
}
