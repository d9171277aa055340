//! Records a commit while it is made, so that the next run finishes or undoes what a killed process left.
//!
//! A commit writes all files beside their destinations, and then renames them. A process that is killed during the
//! first step has changed nothing: its files are removed. One that is killed during the second step may have renamed
//! some files: the others follow. Records survive a killed process, not a power failure, so they are not synced.
#![expect(clippy::disallowed_methods, reason = "this module stores records in a directory of the runtime")]

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rep_storage::atomic;
use rep_storage::files::{self, StorageError};
use rep_storage::owner::ProcessOwner;
use serde_json::{Value, json};

use super::run_registry::RunRegistry;
use super::staging::{self, CommittedChanges, FileDigest, FileStamp, PathState, PreparedChange};

/// The maximum size of a record that is read.
const RECORD_BYTES_MAX: u64 = 256 << 20;

/// The extension of records.
const EXTENSION: &str = "commit";

const VERSION: u64 = 1;

/// Numbers the records of this process.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// The record of a commit. Dropping it removes the record.
pub(super) struct CommitJournal {
    path: Option<PathBuf>,
    workspace: PathBuf,
}

impl CommitJournal {
    /// Records the files that will be written beside their destinations. Without a directory, nothing is recorded.
    pub(super) fn start<'a>(
        folder: Option<&Path>,
        workspace: &Path,
        planned: impl Iterator<Item = (&'a Path, &'a str)>,
    ) -> io::Result<CommitJournal> {
        let path = folder.map(|folder| {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            folder.join(format!("{}-{number}.{EXTENSION}", std::process::id()))
        });
        let journal = CommitJournal { path, workspace: workspace.to_owned() };
        journal.write(|| {
            let files = planned.map(|(path, name)| json!({ "path": encode_path(path), "temporary": name }));
            json!({ "step": "prepare", "files": files.collect::<Vec<_>>() })
        })?;
        Ok(journal)
    }

    /// Records that all files are written, and that the renames begin.
    pub(super) fn start_renaming(&self, ready: &[PreparedChange], removed: &[(PathBuf, FileDigest)]) -> io::Result<()> {
        self.write(|| {
            let files = ready.iter().map(|one| {
                json!({
                    "path": encode_path(&one.path),
                    "temporary": one.temporary,
                    "after": hex::encode(one.after),
                    "replaces": one.replaces.map(encode_state),
                })
            });
            let removed = removed.iter().map(|(path, digest)| json!([encode_path(path), hex::encode(digest)]));
            json!({
                "step": "rename", "files": files.collect::<Vec<_>>(), "removed": removed.collect::<Vec<_>>(),
            })
        })
    }

    fn write(&self, build: impl FnOnce() -> Value) -> io::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        files::create_containing_folder(path).map_err(StorageError::into_source)?;
        let owner = ProcessOwner::current();
        let mut record = build();
        record["version"] = VERSION.into();
        record["pid"] = owner.pid.into();
        record["started"] = owner.started.into();
        record["workspace"] = encode_path(&self.workspace).into();
        atomic::write_cache_file(path, record.to_string().as_bytes())
    }
}

impl Drop for CommitJournal {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // A record that remains is handled when this process is gone, which has no further effect.
            let _ = fs::remove_file(path);
        }
    }
}

/// Finishes or undoes the commits of processes that are gone, and reports it without names: a killed tool may have put
/// a secret into one, and this run does not know the secrets of that one.
pub(super) fn recover_commits(folder: &Path) -> Vec<String> {
    if list_records(folder).next().is_none() {
        return Vec::new();
    }
    // While it is locked, no other process recovers the same commit.
    let Ok(_lock) = RunRegistry::lock(folder) else { return Vec::new() };
    let mut notes = Vec::new();
    for path in list_records(folder) {
        let Some(record) = read_record(&path) else { continue };
        match recover_commit(&record) {
            Ok(note) => {
                notes.extend(note);
                // A record that remains is handled again, which has no further effect.
                let _ = fs::remove_file(&path);
            }
            Err(error) => notes.push(format!(
                "a run in `{}` was killed while it committed its files, which could not be completed: {error}",
                record.workspace.display()
            )),
        }
    }
    notes
}

fn list_records(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path());
    files.filter(|path| path.extension() == Some(OsStr::new(EXTENSION)))
}

/// The record of a process that is gone.
struct AbandonedCommit {
    workspace: PathBuf,
    /// The changes; in the first step, they may be incomplete.
    files: Vec<PreparedChange>,
    /// The files to remove, or `None` if no file had been renamed.
    removed: Option<Vec<(PathBuf, FileDigest)>>,
}

/// Reads a record. Returns `None` if its process is alive, or if it is not readable: only the user can write it.
fn read_record(path: &Path) -> Option<AbandonedCommit> {
    let record: Value = serde_json::from_slice(&files::read_private(path, RECORD_BYTES_MAX).ok()??).ok()?;
    if record["version"] != VERSION {
        return None;
    }
    let (pid, started) = (u32::try_from(record["pid"].as_u64()?).ok()?, record["started"].as_str()?.to_owned());
    if (ProcessOwner { pid, started }).is_alive() {
        return None;
    }
    let is_renaming = record["step"] == "rename";
    let file = |value: &Value| -> Option<PreparedChange> {
        Some(PreparedChange {
            path: decode_path(&value["path"])?,
            temporary: value["temporary"].as_str()?.to_owned(),
            after: if is_renaming { decode_digest(&value["after"])? } else { FileDigest::default() },
            replaces: decode_state(&value["replaces"]),
        })
    };
    let removal = |value: &Value| Some((decode_path(&value[0])?, decode_digest(&value[1])?));
    let removed = || record["removed"].as_array()?.iter().map(removal).collect::<Option<Vec<_>>>();
    Some(AbandonedCommit {
        workspace: decode_path(&record["workspace"])?,
        files: record["files"].as_array()?.iter().map(file).collect::<Option<_>>()?,
        removed: if is_renaming { Some(removed()?) } else { None },
    })
}

fn recover_commit(record: &AbandonedCommit) -> io::Result<Option<String>> {
    let workspace = &record.workspace;
    let shown = workspace.display();
    if fs::symlink_metadata(workspace).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        return Ok(None);
    }
    let Some(removed) = &record.removed else {
        let count = record.files.iter().filter(|one| staging::remove_temporary(workspace, one)).count();
        return Ok((count > 0).then(|| {
            format!(
                "a run in `{shown}` was killed before its files were committed; {count} temporary files were removed"
            )
        }));
    };
    let mut taken = CommittedChanges::default();
    for change in &record.files {
        staging::finish_change(workspace, change, &mut taken)?;
    }
    for (path, digest) in removed {
        staging::remove_file(workspace, path, *digest, &mut taken)?;
    }
    let conflicts = match taken.conflicts.len() {
        0 => String::new(),
        count => format!("; {count} of them had changed, and the other versions end in `.rep-conflict`"),
    };
    Ok(Some(format!("a run in `{shown}` was killed while it committed its files; the commit was completed{conflicts}")))
}

fn encode_path(path: &Path) -> String {
    hex::encode(path.as_os_str().as_bytes())
}

fn decode_path(value: &Value) -> Option<PathBuf> {
    hex::decode(value.as_str()?).ok().map(|bytes| PathBuf::from(OsStr::from_bytes(&bytes)))
}

fn decode_digest(value: &Value) -> Option<FileDigest> {
    hex::decode(value.as_str()?).ok()?.try_into().ok()
}

fn encode_state(state: PathState) -> Value {
    match state {
        PathState::Nothing => json!("nothing"),
        PathState::Other => json!("other"),
        PathState::File(digest, stamp) => json!([hex::encode(digest), stamp.to_fields()]),
    }
}

/// Reads a state. Everything unknown becomes a state that is never replaced.
fn decode_state(value: &Value) -> Option<PathState> {
    if value == "nothing" {
        return Some(PathState::Nothing);
    }
    let stamp = FileStamp::from_fields(&serde_json::from_value::<Vec<i128>>(value[1].clone()).ok()?)?;
    Some(PathState::File(decode_digest(&value[0])?, stamp))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a record of a process that does not exist.
    fn write_record(folder: &Path, workspace: &Path, mut record: Value) -> PathBuf {
        record["version"] = VERSION.into();
        record["pid"] = u32::MAX.into();
        record["started"] = "0@none".into();
        record["workspace"] = encode_path(workspace).into();
        let path = folder.join("1-0.commit");
        atomic::write_cache_file(&path, record.to_string().as_bytes()).unwrap();
        path
    }

    fn digest(bytes: &[u8]) -> FileDigest {
        staging::copy_and_hash(&mut &bytes[..], &mut io::sink(), u64::MAX).unwrap()
    }

    fn list(folder: &Path) -> Vec<(String, String)> {
        let mut all: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|entry| (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap()))
            .collect();
        all.sort();
        all
    }

    fn pair(name: &str, text: &str) -> (String, String) {
        (name.to_owned(), text.to_owned())
    }

    fn file(path: &str, temporary: &str, after: &str, replaces: &Value) -> Value {
        json!({
            "path": encode_path(Path::new(path)), "temporary": temporary,
            "after": hex::encode(digest(after.as_bytes())), "replaces": replaces,
        })
    }

    #[test]
    fn a_commit_that_was_killed_between_two_renames_is_completed() {
        let (data, workspace) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let place = workspace.path();
        // `a` was renamed; `b`, `c` and `d` were not, and `c` was changed by somebody since. `e` was not yet removed.
        for (name, text) in [("a", "new a"), ("b", "old b"), ("c", "mine"), ("e", "old e")] {
            fs::write(place.join(name), text).unwrap();
        }
        for (name, text) in [(".rep-1-1", "new b"), (".rep-1-2", "new c"), (".rep-1-3", "new d"), (".rep-1-4", "evil")]
        {
            fs::write(place.join(name), text).unwrap();
        }
        let state = |name: &str| encode_state(PathState::inspect(place, Path::new(name), None));
        let stale = json!([hex::encode(digest(b"old c")), [0, 0, 0, 0, 0]]);
        let path = write_record(
            data.path(),
            place,
            json!({
                "step": "rename",
                "files": [
                    file("a", ".rep-1-0", "new a", &json!("nothing")),
                    file("b", ".rep-1-1", "new b", &state("b")),
                    file("c", ".rep-1-2", "new c", &stale),
                    file("d", ".rep-1-3", "new d", &json!("nothing")),
                    // Somebody changed the file beside the destination.
                    file("f", ".rep-1-4", "new f", &json!("nothing")),
                ],
                "removed": [[encode_path(Path::new("e")), hex::encode(digest(b"old e"))]],
            }),
        );
        let notes = recover_commits(data.path());
        assert!(notes.len() == 1 && notes[0].contains("completed; 1 of them had changed"), "{notes:?}");
        let expected = [
            pair("a", "new a"),
            pair("b", "new b"),
            pair("c", "mine"),
            pair("c.rep-conflict", "new c"),
            pair("d", "new d"),
        ];
        assert_eq!(list(place), expected);
        assert!(!path.exists());
        assert_eq!(recover_commits(data.path()), Vec::<String>::new());
    }

    #[test]
    fn a_commit_that_was_killed_before_the_first_rename_is_undone() {
        let (data, workspace) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(workspace.path().join("a"), "old").unwrap();
        fs::write(workspace.path().join(".rep-1-0"), "half").unwrap();
        let planned =
            |name: &str, temporary: &str| json!({ "path": encode_path(Path::new(name)), "temporary": temporary });
        let files = json!([planned("a", ".rep-1-0"), planned("missing/b", ".rep-1-1")]);
        write_record(data.path(), workspace.path(), json!({ "step": "prepare", "files": files }));
        let notes = recover_commits(data.path());
        assert!(notes.len() == 1 && notes[0].contains("1 temporary files were removed"), "{notes:?}");
        assert_eq!(list(workspace.path()), [pair("a", "old")]);
    }

    #[test]
    fn the_commit_of_a_living_process_is_left_alone() {
        let (data, workspace) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(workspace.path().join(".rep-1-0"), "half").unwrap();
        let planned = [(Path::new("a"), ".rep-1-0")].into_iter();
        let journal = CommitJournal::start(Some(data.path()), workspace.path(), planned).unwrap();
        assert_eq!(recover_commits(data.path()), Vec::<String>::new());
        assert_eq!(list(workspace.path()), [pair(".rep-1-0", "half")]);
        drop(journal);
        assert_eq!(list_records(data.path()).count(), 0);
    }
}
