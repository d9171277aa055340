//! Combines the records of a log into runs: each start with its end.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::{AuditLog, LINE_BYTES_MAX};
use rep_storage::files::{self, StorageError};
use rep_storage::owner::ProcessOwner;
use rep_storage::platform::FileMarks;

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditRunState {
    /// The run ended.
    Ended,
    /// The run was refused and did not start.
    Refused,
    /// The run is still active.
    Running,
    /// The process that started the run is gone and recorded no end.
    CutShort,
    /// Packages were installed for a skill. This is not a run.
    Install,
}

impl AuditRunState {
    /// Returns the word used in output.
    pub const fn name(self) -> &'static str {
        match self {
            AuditRunState::Ended => "ended",
            AuditRunState::Refused => "refused",
            AuditRunState::Running => "running",
            AuditRunState::CutShort => "cut short",
            AuditRunState::Install => "install",
        }
    }
}

/// A run in the audit log.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditedRun {
    /// The state of the run.
    pub state: AuditRunState,
    /// The first record.
    pub start: Value,
    /// The end record, if there is one.
    pub end: Option<Value>,
}

impl AuditedRun {
    /// Returns a field of the end record, or else of the start record.
    pub fn find_field(&self, name: &str) -> Option<&Value> {
        let end = self.end.as_ref().and_then(|end| end.get(name));
        end.or_else(|| self.start.get(name)).filter(|value| !value.is_null())
    }

    /// Returns a field as text, or an empty string.
    pub fn text_field(&self, name: &str) -> &str {
        self.find_field(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns the number of denied actions that are not listed.
    pub fn denials_omitted(&self) -> u64 {
        self.find_field("denials_omitted").and_then(Value::as_u64).unwrap_or(0)
    }

    /// Returns the denied actions, each with its target.
    pub fn denials(&self) -> Vec<(String, String)> {
        let all = self.find_field("denials").and_then(Value::as_array).into_iter().flatten();
        let part = |denial: &Value, name: &str| denial.get(name).and_then(Value::as_str).unwrap_or("?").to_owned();
        all.map(|denial| (part(denial, "action"), part(denial, "target"))).collect()
    }

    /// Returns the run as one object, without the fields that link its records.
    pub fn to_json(&self) -> Value {
        let mut fields = Map::new();
        fields.insert("state".to_owned(), json!(self.state.name()));
        for record in [Some(&self.start), self.end.as_ref()].into_iter().flatten() {
            for (name, value) in record.as_object().into_iter().flatten() {
                let is_second = fields.contains_key(name);
                match name.as_str() {
                    "at" if is_second => drop(fields.insert("ended_at".to_owned(), value.clone())),
                    name if CHAIN_FIELDS.contains(&name) || is_second => {}
                    name => drop(fields.insert(name.to_owned(), value.clone())),
                }
            }
        }
        Value::Object(fields)
    }

    /// Returns the start time as text that sorts chronologically.
    pub fn started_at(&self) -> &str {
        self.start.get("at").and_then(Value::as_str).unwrap_or_default()
    }
}

/// The fields that link records or identify processes. They are of no interest to readers.
const CHAIN_FIELDS: &[&str] = &["v", "seq", "prev", "hash", "kind", "pid", "pid_started"];

/// Returns a record without the fields that link it to others.
pub fn without_chain_fields(record: &Value) -> Value {
    let fields = record.as_object().into_iter().flatten().filter(|(name, _)| !CHAIN_FIELDS.contains(&name.as_str()));
    Value::Object(fields.map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// Calls `show` for every record, oldest first. Skips lines that are not records; [`super::verify_log()`] reports them.
pub fn for_each_record(audit: &AuditLog, mut show: impl FnMut(Value)) -> Result<(), StorageError> {
    let (full, newest) = audit.open_all()?;
    for path in full {
        if let Some(file) = files::open_existing(&path)? {
            show_records(file, &path, &mut show)?;
        }
    }
    newest.map_or(Ok(()), |file| show_records(file, &audit.records_path(), &mut show))
}

/// Calls `show` for every record of a file.
fn show_records(file: File, path: &Path, show: &mut impl FnMut(Value)) -> Result<(), StorageError> {
    let mut file = BufReader::new(file);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = file.by_ref().take(LINE_BYTES_MAX as u64).read_until(b'\n', &mut line);
        if read.map_err(|error| StorageError::new("read", path, error))? == 0 {
            return Ok(());
        }
        if let Ok(record) = serde_json::from_slice::<Value>(&line) {
            show(record);
        }
    }
}

/// The maximum number of bytes that are read at once of records that were not read before.
const UNREAD_BYTES_MAX: u64 = 32 << 20;

/// How far the records of a log were read, for [`for_each_new_record`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordPosition {
    /// The inode of the file; zero if nothing was read yet.
    inode: u64,
    offset: u64,
}

/// Calls `show` for every complete record after the position, oldest first, and moves the position. Of more than 32 MiB,
/// only the newest are read. A file that became shorter was replaced, and is read from its start.
pub fn for_each_new_record(
    audit: &AuditLog,
    position: &mut RecordPosition,
    mut show: impl FnMut(Value),
) -> Result<(), StorageError> {
    let path = audit.records_path();
    let (full, newest) = audit.open_all()?;
    let mut files: Vec<(PathBuf, File, Metadata)> = Vec::new();
    for path in full {
        if let Some(file) = files::open_existing(&path)? {
            let about = file.metadata().map_err(|error| StorageError::new("read", &path, error))?;
            files.push((path, file, about));
        }
    }
    if let Some(file) = newest {
        let about = file.metadata().map_err(|error| StorageError::new("read", &path, error))?;
        files.push((path, file, about));
    }
    // Full files before the one that was read last are known.
    let first = files.iter().position(|(_, _, about)| file_number(about) == position.inode).unwrap_or(0);
    let start_of = |about: &Metadata, position: &RecordPosition| {
        if file_number(about) == position.inode && position.offset <= about.len() { position.offset } else { 0 }
    };
    let unread = files.iter().skip(first).map(|(_, _, about)| about.len() - start_of(about, position)).sum::<u64>();
    let mut surplus = unread.saturating_sub(UNREAD_BYTES_MAX);
    for (path, file, about) in files.into_iter().skip(first) {
        let start = start_of(&about, position);
        let skipped = surplus.min(about.len() - start);
        surplus -= skipped;
        *position = RecordPosition { inode: file_number(&about), offset: start + skipped };
        if position.offset < about.len() {
            show_new_records(file, &path, about.len(), position, &mut show)?;
        }
    }
    Ok(())
}

fn file_number(about: &Metadata) -> u64 {
    FileMarks::from_metadata(about).number
}

/// Calls `show` for every complete record of a file from the position up to a length, and moves the position.
fn show_new_records(
    mut file: File,
    path: &Path,
    length: u64,
    position: &mut RecordPosition,
    show: &mut impl FnMut(Value),
) -> Result<(), StorageError> {
    let failed = |error| StorageError::new("read", path, error);
    file.seek(SeekFrom::Start(position.offset)).map_err(failed)?;
    let mut reader = BufReader::new(file.take(length - position.offset));
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = reader.by_ref().take(LINE_BYTES_MAX as u64).read_until(b'\n', &mut line).map_err(failed)?;
        // A record that is still being written is read the next time.
        let is_complete = line.ends_with(b"\n") || read == LINE_BYTES_MAX;
        if !is_complete {
            return Ok(());
        }
        position.offset += read as u64;
        if let Ok(record) = serde_json::from_slice::<Value>(&line) {
            show(record);
        }
    }
}

/// Reads the runs in the order they started.
pub fn read_runs(
    audit: &AuditLog,
    mut is_wanted: impl FnMut(&AuditedRun) -> bool,
) -> Result<Vec<AuditedRun>, StorageError> {
    let mut found: Vec<AuditedRun> = Vec::new();
    let mut open: BTreeMap<String, usize> = BTreeMap::new();
    for_each_record(audit, |record| {
        let text = |field: &str| record.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        let run = text("run");
        match text("kind").as_str() {
            "start" => {
                let entry = AuditedRun { state: determine_open_state(&record), start: record, end: None };
                if is_wanted(&entry) {
                    open.insert(run, found.len());
                    found.push(entry);
                }
            }
            kind @ ("refused" | "install") => {
                let state = if kind == "install" { AuditRunState::Install } else { AuditRunState::Refused };
                let entry = AuditedRun { state, start: record, end: None };
                if is_wanted(&entry) {
                    found.push(entry);
                }
            }
            "end" => {
                if let Some(index) = open.remove(&run) {
                    found[index].state = AuditRunState::Ended;
                    found[index].end = Some(record);
                }
            }
            _ => {}
        }
    })?;
    Ok(found)
}

/// Returns the state of a run that has no end record.
fn determine_open_state(start: &Value) -> AuditRunState {
    let pid = start.get("pid").and_then(Value::as_u64).and_then(|pid| u32::try_from(pid).ok());
    let started = start.get("pid_started").and_then(Value::as_str).map(str::to_owned);
    let owner = pid.zip(started).map(|(pid, started)| ProcessOwner { pid, started });
    if owner.is_some_and(|owner| owner.is_alive()) { AuditRunState::Running } else { AuditRunState::CutShort }
}
