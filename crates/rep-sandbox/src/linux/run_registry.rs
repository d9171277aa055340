//! Records the active runs that write to directories directly.
//!
//! The records serve two purposes. Concurrent runs do not mistake each other's new files for existing ones: each run is
//! compared with the state before the first of the overlapping runs. And files left by a killed run are found by the
//! next run, which handles the records of processes that are gone. An active run touches its record, so that files
//! created after it ended are not attributed to it.
#![expect(clippy::disallowed_methods, reason = "this module stores records in a directory of the runtime")]

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};

use rep_storage::files::{self, StorageError};
use rep_storage::owner::ProcessOwner;

/// How often a record is touched.
const TOUCH_EVERY: Duration = Duration::from_millis(500);

/// How much later than the last touch a tool can have created a file.
const TOUCH_SLACK: Duration = Duration::from_secs(5);

/// The maximum size of a record.
const ENTRY_BYTES_MAX: u64 = 64 << 20;

/// Numbers the records of this process.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// The protected paths of a directory before a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FolderBaseline {
    pub(super) workspace: PathBuf,
    /// Relative to the workspace.
    pub(super) folder: String,
    /// Protected files and directories, repositories, virtual environments, and directories that could not be listed;
    /// absolute.
    pub(super) known: BTreeSet<PathBuf>,
    /// Paths that were protected in addition to protected names, absolute or relative to the workspace.
    pub(super) extra_paths: Vec<PathBuf>,
    /// The user's home directory, if it is in the workspace; absolute.
    pub(super) home: Option<PathBuf>,
}

impl FolderBaseline {
    /// Returns the absolute path of the directory.
    pub(super) fn absolute_path(&self) -> PathBuf {
        self.workspace.join(&self.folder)
    }
}

/// The locked registry. While it is locked, no run starts or ends.
pub(super) struct RunRegistry {
    folder: PathBuf,
    _lock: files::FileLock,
}

/// The record of an active run. Dropping it removes the record.
#[derive(Debug)]
pub(super) struct RunEntry {
    folder: PathBuf,
    path: PathBuf,
    last_touch: Instant,
}

/// A record that was read.
pub(super) struct RecordedRun {
    path: PathBuf,
    pub(super) entries: Vec<FolderBaseline>,
    /// Whether the process that wrote it is still running.
    pub(super) is_alive: bool,
    /// The run cannot have created anything after this time.
    pub(super) until: SystemTime,
}

impl RunRegistry {
    /// Waits for the exclusive lock.
    pub(super) fn lock(folder: &Path) -> Result<RunRegistry, StorageError> {
        let lock = files::lock_file(&folder.join("register"))?;
        Ok(RunRegistry { folder: folder.to_owned(), _lock: lock })
    }

    /// Returns all records. Unreadable ones are ignored: only the user can write them.
    pub(super) fn read_runs(&self) -> Vec<RecordedRun> {
        let files = fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|file| file.path());
        files.filter(|path| path.extension() == Some(OsStr::new("json"))).filter_map(read_run).collect()
    }

    /// Adds a record for a run of this process.
    pub(super) fn add_run(&self, entries: &[FolderBaseline]) -> Result<RunEntry, StorageError> {
        let owner = ProcessOwner::current();
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.join(format!("{}-{number}.json", owner.pid));
        let hex = |path: &Path| hex::encode(path.as_os_str().as_bytes());
        let entries = entries.iter().map(|entry| {
            json!({
                "workspace": hex(&entry.workspace),
                "folder": hex(Path::new(&entry.folder)),
                "known": entry.known.iter().map(|path| hex(path)).collect::<Vec<_>>(),
                "held": entry.extra_paths.iter().map(|path| hex(path)).collect::<Vec<_>>(),
                "home": entry.home.as_deref().map(hex),
            })
        });
        let note = json!({
            "version": 1, "pid": owner.pid, "started": owner.started, "entries": entries.collect::<Vec<_>>(),
        });
        files::replace_private(&path, note.to_string().as_bytes())?;
        Ok(RunEntry { folder: self.folder.clone(), path, last_touch: Instant::now() })
    }
}

impl RecordedRun {
    /// Removes the record.
    pub(super) fn remove_record(&self) {
        // A record that remains is handled again, which has no further effect.
        let _ = fs::remove_file(&self.path);
    }
}

impl RunEntry {
    /// Updates the timestamp of the record if it is due.
    pub(super) fn touch(&mut self) {
        if self.last_touch.elapsed() > TOUCH_EVERY {
            self.last_touch = Instant::now();
            // If this fails, fewer files are found after the run was killed.
            let _ = File::open(&self.path).and_then(|file| file.set_modified(SystemTime::now()));
        }
    }
}

impl Drop for RunEntry {
    fn drop(&mut self) {
        // Wait until no other run inspects the directory: it must know that this run is active.
        let _held = RunRegistry::lock(&self.folder);
        // A record that remains is handled when this process is gone.
        let _ = fs::remove_file(&self.path);
    }
}

fn read_run(path: PathBuf) -> Option<RecordedRun> {
    let touched = fs::metadata(&path).and_then(|metadata| metadata.modified()).ok()?;
    let note: Value = serde_json::from_slice(&files::read_private(&path, ENTRY_BYTES_MAX).ok()??).ok()?;
    let bytes = |value: &Value| value.as_str().and_then(|text| hex::decode(text).ok());
    let as_path = |value: &Value| bytes(value).map(|bytes| PathBuf::from(OsStr::from_bytes(&bytes)));
    let entry = |value: &Value| -> Option<FolderBaseline> {
        Some(FolderBaseline {
            workspace: as_path(&value["workspace"])?,
            folder: String::from_utf8(bytes(&value["folder"])?).ok()?,
            known: value["known"].as_array()?.iter().map(as_path).collect::<Option<_>>()?,
            // Records of earlier versions have neither field.
            extra_paths: value["held"].as_array().into_iter().flatten().map(as_path).collect::<Option<_>>()?,
            home: as_path(&value["home"]),
        })
    };
    if note["version"] != 1 {
        return None;
    }
    let owner =
        ProcessOwner { pid: u32::try_from(note["pid"].as_u64()?).ok()?, started: note["started"].as_str()?.to_owned() };
    let entries = note["entries"].as_array()?.iter().map(entry).collect::<Option<_>>()?;
    Some(RecordedRun { path, entries, is_alive: owner.is_alive(), until: touched + TOUCH_SLACK })
}
