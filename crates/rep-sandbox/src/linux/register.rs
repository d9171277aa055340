//! The runs that write to folders directly, noted while they go on.
//!
//! For two reasons. What one of them made must not be taken by another for something that was always there: so each is
//! judged by what was there before the first of those that overlap. And what a run that was ended by force left behind
//! is found by the next one: a note whose process is gone is acted on. While a run goes on it touches its note, so that
//! what somebody made after its end is told from what it made.
#![expect(clippy::disallowed_methods, reason = "this room keeps its notes in a folder of the runtime's")]

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};

use rep_storage::files::{self, StorageError};
use rep_storage::owner::Owner;

/// How often a note is touched.
const TOUCH_EVERY: Duration = Duration::from_millis(500);

/// How much later than the last touch a tool can have made something.
const SLACK: Duration = Duration::from_secs(5);

/// The largest note that is read.
const NOTE_BYTES_MAX: u64 = 64 << 20;

/// Tells the notes of one process apart.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// What was trusted in a folder before a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) workspace: PathBuf,
    /// Relative to the workspace.
    pub(super) folder: String,
    /// Files, folders of which all is trusted, repositories and virtual environments, and folders nobody could list; absolute.
    pub(super) known: BTreeSet<PathBuf>,
    /// What was held besides what is trusted by name, relative to the workspace or absolute.
    pub(super) held: Vec<PathBuf>,
    /// The user's home, where it lies in the workspace; absolute.
    pub(super) home: Option<PathBuf>,
}

impl Entry {
    /// The folder, absolute.
    pub(super) fn place(&self) -> PathBuf {
        self.workspace.join(&self.folder)
    }
}

/// The register, held so that no run begins or ends meanwhile.
pub(super) struct Register {
    folder: PathBuf,
    _lock: files::Lock,
}

/// The note of a run that goes on. It is taken away when this is dropped.
#[derive(Debug)]
pub(super) struct Note {
    folder: PathBuf,
    path: PathBuf,
    touched: Instant,
}

/// A note, read.
pub(super) struct Found {
    path: PathBuf,
    pub(super) entries: Vec<Entry>,
    /// Whether the process that wrote it still lives.
    pub(super) is_alive: bool,
    /// After this, nothing can have been made by the run.
    pub(super) until: SystemTime,
}

impl Register {
    /// Waits for the sole right to it.
    pub(super) fn hold(folder: &Path) -> Result<Register, StorageError> {
        let lock = files::lock(&folder.join("register"))?;
        Ok(Register { folder: folder.to_owned(), _lock: lock })
    }

    /// All notes. One that cannot be read is as good as none: nobody but the user can write there.
    pub(super) fn notes(&self) -> Vec<Found> {
        let files = fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|file| file.path());
        files.filter(|path| path.extension() == Some(OsStr::new("json"))).filter_map(read).collect()
    }

    /// Notes a run of this process.
    pub(super) fn note(&self, entries: &[Entry]) -> Result<Note, StorageError> {
        let owner = Owner::this();
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.join(format!("{}-{number}.json", owner.pid));
        let hex = |path: &Path| hex::encode(path.as_os_str().as_bytes());
        let entries = entries.iter().map(|entry| {
            json!({
                "workspace": hex(&entry.workspace),
                "folder": hex(Path::new(&entry.folder)),
                "known": entry.known.iter().map(|path| hex(path)).collect::<Vec<_>>(),
                "held": entry.held.iter().map(|path| hex(path)).collect::<Vec<_>>(),
                "home": entry.home.as_deref().map(hex),
            })
        });
        let note = json!({
            "version": 1, "pid": owner.pid, "started": owner.started, "entries": entries.collect::<Vec<_>>(),
        });
        files::replace(&path, note.to_string().as_bytes())?;
        Ok(Note { folder: self.folder.clone(), path, touched: Instant::now() })
    }
}

impl Found {
    /// Takes the note away.
    pub(super) fn forget(&self) {
        // What stays is acted on again, which changes nothing.
        let _ = fs::remove_file(&self.path);
    }
}

impl Note {
    /// Says that the run goes on.
    pub(super) fn touch(&mut self) {
        if self.touched.elapsed() > TOUCH_EVERY {
            self.touched = Instant::now();
            // Without it less is found after an end by force.
            let _ = File::open(&self.path).and_then(|file| file.set_modified(SystemTime::now()));
        }
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        // Not while another run looks at what is there: it must know that this one goes on.
        let _held = Register::hold(&self.folder);
        // What stays is acted on when this process is gone.
        let _ = fs::remove_file(&self.path);
    }
}

fn read(path: PathBuf) -> Option<Found> {
    let touched = fs::metadata(&path).and_then(|metadata| metadata.modified()).ok()?;
    let note: Value = serde_json::from_slice(&files::read(&path, NOTE_BYTES_MAX).ok()??).ok()?;
    let bytes = |value: &Value| value.as_str().and_then(|text| hex::decode(text).ok());
    let as_path = |value: &Value| bytes(value).map(|bytes| PathBuf::from(OsStr::from_bytes(&bytes)));
    let entry = |value: &Value| -> Option<Entry> {
        Some(Entry {
            workspace: as_path(&value["workspace"])?,
            folder: String::from_utf8(bytes(&value["folder"])?).ok()?,
            known: value["known"].as_array()?.iter().map(as_path).collect::<Option<_>>()?,
            // Notes of earlier versions have neither.
            held: value["held"].as_array().into_iter().flatten().map(as_path).collect::<Option<_>>()?,
            home: as_path(&value["home"]),
        })
    };
    if note["version"] != 1 {
        return None;
    }
    let owner =
        Owner { pid: u32::try_from(note["pid"].as_u64()?).ok()?, started: note["started"].as_str()?.to_owned() };
    let entries = note["entries"].as_array()?.iter().map(entry).collect::<Option<_>>()?;
    Some(Found { path, entries, is_alive: owner.is_alive(), until: touched + SLACK })
}
