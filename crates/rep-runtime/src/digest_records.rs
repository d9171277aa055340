//! A private file of records about skills, each under a digest.
//!
//! The file is version 1: `{"version": 1, "<list>": {"<digest>": {"skill", …}}}`. What a digest covers, and what else a
//! record says, is up to the module that owns the file.

use std::collections::BTreeMap;
use std::path::Path;

use rep_storage::files::{self, StorageError};
use serde_json::{Value, json};

const VERSION: u64 = 1;
const FILE_BYTES_MAX: u64 = 16 << 20;

/// The records of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct DigestRecords {
    by_digest: BTreeMap<String, Value>,
}

impl DigestRecords {
    /// Loads the records of a list; a missing file means there are none.
    pub(crate) fn load(file: &Path, list: &str) -> Result<Self, StorageError> {
        let Some(bytes) = files::read_private(file, FILE_BYTES_MAX)? else { return Ok(Self::default()) };
        let value: Value = serde_json::from_slice(&bytes).map_err(|error| {
            StorageError::invalid_content(file, format!("it is not valid JSON ({error}); fix or remove it"))
        })?;
        if value.get("version").and_then(Value::as_u64).is_none_or(|version| version > VERSION) {
            return Err(StorageError::invalid_content(file, "it was written by a newer rep"));
        }
        let known = value.get(list).and_then(Value::as_object).cloned().unwrap_or_default();
        Ok(Self { by_digest: known.into_iter().collect() })
    }

    /// Returns the record under a digest.
    pub(crate) fn find(&self, digest: &str) -> Option<&Value> {
        self.by_digest.get(digest)
    }

    /// Returns how many records there are about a skill.
    pub(crate) fn count_for_skill(&self, skill: &str) -> usize {
        self.by_digest.values().filter(|record| record["skill"] == skill).count()
    }

    /// Stores a record in the file.
    pub(crate) fn store(file: &Path, list: &str, digest: String, record: Value) -> Result<(), StorageError> {
        update_file(file, list, |records| {
            records.insert(digest, record);
        })
    }

    /// Removes the records about a skill, under any of its names, and returns how many there were.
    pub(crate) fn remove_for_skill(file: &Path, list: &str, names: &[&str]) -> Result<usize, StorageError> {
        let mut count = 0;
        update_file(file, list, |records| {
            let before = records.len();
            records.retain(|_, record| names.iter().all(|name| record["skill"] != *name));
            count = before - records.len();
        })?;
        Ok(count)
    }
}

/// Updates the file under a lock.
fn update_file(file: &Path, list: &str, edit: impl FnOnce(&mut BTreeMap<String, Value>)) -> Result<(), StorageError> {
    let _lock = files::lock_file(file)?;
    let mut records = DigestRecords::load(file, list)?;
    edit(&mut records.by_digest);
    let value = json!({ "version": VERSION, list: records.by_digest });
    files::replace_private(file, format!("{value:#}\n").as_bytes())
}
