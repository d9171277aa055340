//! Changes several places and the lock file in one transaction.
//!
//! A process that changes installed skills first acquires the lock. It writes a journal with the directories that it is
//! about to change, stages all new content next to its target and syncs it to disk. Then it adds the steps to the journal,
//! swaps each target, writes the lock file, removes what it staged, and deletes the journal. If a step fails, all steps are
//! undone. After a crash, the next process reads the journal, completes the steps that are in it, and removes the rest.
//! Journals are in the user's own directory: a journal in a project would let a repository move files.
#![expect(clippy::disallowed_methods, reason = "this module writes skills")]

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use rep_storage::{atomic, platform};
use serde_json::{Value, json};

use crate::atomic_dir::{self, AtomicDirError, PackageFile, STAGED_NAME, STEP_PREFIX, StagedDir, write_error};
use crate::files;

/// The maximum size of a journal.
const JOURNAL_BYTES_MAX: u64 = 64 << 20;

/// A change to one place.
#[derive(Debug)]
pub enum JournalStep {
    /// Write these files to a directory.
    Folder(PathBuf, Vec<PackageFile>),
    /// Create a link to the second path.
    Link(PathBuf, PathBuf),
    /// Remove the place.
    Remove(PathBuf),
}

impl JournalStep {
    /// Returns the place.
    pub fn target(&self) -> &Path {
        match self {
            JournalStep::Folder(target, _) | JournalStep::Link(target, _) | JournalStep::Remove(target) => target,
        }
    }

    /// Stages the new content next to the place.
    fn stage_content(&self) -> Result<StagedDir, AtomicDirError> {
        let making = StagedDir::create_beside(self.target(), STEP_PREFIX)?;
        match self {
            JournalStep::Folder(_, files) => making.write_files(files)?,
            JournalStep::Link(_, to) => making.write_link(to)?,
            JournalStep::Remove(_) => {}
        }
        Ok(making)
    }

    fn to_journal_value(&self, making: &StagedDir) -> Value {
        let (kind, what) = match self {
            JournalStep::Folder(_, files) => ("folder", files::digest_files(files)),
            JournalStep::Link(_, to) => ("link", to.to_string_lossy().into_owned()),
            JournalStep::Remove(_) => ("gone", String::new()),
        };
        json!({ "target": self.target().to_string_lossy(), "made": making.staged_path().to_string_lossy(), "kind": kind, "what": what })
    }
}

/// The right to change the skills that one lock file records. One process holds it at a time.
#[derive(Debug)]
pub struct InstallLock {
    lock_file: PathBuf,
    journal: PathBuf,
    /// The record of what was placed on this machine.
    placed: PathBuf,
    _lock_handle: File,
}

impl InstallLock {
    /// Waits for other processes, acquires the lock, and completes what a crash left unfinished. `folder` is the
    /// user's directory for journals.
    pub fn acquire(folder: &Path, lock_file: &Path) -> Result<Self, AtomicDirError> {
        platform::create_private_folder(folder, true).map_err(write_error(folder))?;
        let stem = &files::digest_bytes(lock_file.as_os_str().as_encoded_bytes())["sha256:".len()..][..32];
        let held = folder.join(format!("{stem}.turn"));
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true);
        platform::set_creation_mode(&mut options, platform::PRIVATE_FILE_MODE);
        let file = options.open(&held).map_err(write_error(&held))?;
        file.lock().map_err(write_error(&held))?;
        let turn = Self {
            lock_file: lock_file.to_owned(),
            journal: folder.join(format!("{stem}.json")),
            placed: folder.join(format!("{stem}.places")),
            _lock_handle: file,
        };
        turn.finish_interrupted_steps()?;
        // The temporary file of a lock file that was never finished.
        atomic::remove_own_abandoned_files(atomic_dir::parent_folder(lock_file));
        Ok(turn)
    }

    /// Applies all steps and writes the lock file, if there is a new one. If a step fails, none is applied.
    pub fn apply_steps(&self, steps: &[JournalStep], lock: Option<&str>) -> Result<(), AtomicDirError> {
        let mut made = StagedSteps { staged: Vec::new(), folders: Vec::new() };
        self.write_journal(steps, &[], None)?;
        let done = made.stage(steps).and_then(|()| {
            self.write_journal(steps, &made.staged, lock)?;
            self.perform_steps(steps, &made.staged, lock)
        });
        if done.is_ok() {
            // The old content goes before the journal, so that nothing of it is left after a crash.
            made.staged.clear();
            made.folders.clear();
        }
        fs::remove_file(&self.journal).map_err(write_error(&self.journal))?;
        done?;
        // The record only says what `prune` may remove. Without it, less is removed.
        let _ = PlacedRecord::read(&self.placed).apply_steps(steps).write(&self.placed);
        Ok(())
    }

    /// Returns what was placed on this machine, by path.
    pub fn read_placed(&self) -> PlacedRecord {
        PlacedRecord::read(&self.placed)
    }

    /// Writes the directories that the steps change, and the steps that are staged.
    fn write_journal(
        &self,
        steps: &[JournalStep],
        staged: &[StagedDir],
        lock: Option<&str>,
    ) -> Result<(), AtomicDirError> {
        let mut folders: Vec<Cow<'_, str>> =
            steps.iter().map(|step| atomic_dir::parent_folder(step.target()).to_string_lossy()).collect();
        folders.sort();
        folders.dedup();
        let told: Vec<Value> = steps.iter().zip(staged).map(|(step, making)| step.to_journal_value(making)).collect();
        let journal = json!({ "version": 1, "folders": folders, "steps": told, "lock": lock });
        replace_file(&self.journal, journal.to_string().as_bytes())
    }

    fn perform_steps(
        &self,
        steps: &[JournalStep],
        makings: &[StagedDir],
        lock: Option<&str>,
    ) -> Result<(), AtomicDirError> {
        for (at, (step, making)) in steps.iter().zip(makings).enumerate() {
            let done = match step {
                JournalStep::Remove(_) => making.move_target_here(),
                JournalStep::Folder(..) | JournalStep::Link(..) => making.swap_into_place(),
            };
            if let Err(error) = done {
                undo_steps(&makings[..at]);
                return Err(error);
            }
        }
        let written = lock.map_or(Ok(()), |lock| replace_file(&self.lock_file, lock.as_bytes()));
        if written.is_err() {
            undo_steps(makings);
        }
        written
    }

    /// Completes the steps of a journal that a crash left behind.
    fn finish_interrupted_steps(&self) -> Result<(), AtomicDirError> {
        let bytes = match files::read_file(&self.journal, JOURNAL_BYTES_MAX) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(write_error(&self.journal)(error)),
        };
        // Journals are replaced atomically, so an unreadable journal was never in effect.
        let journal: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let steps = journal["steps"].as_array().map_or(&[][..], Vec::as_slice);
        for step in steps {
            let text = |key: &str| step[key].as_str().unwrap_or_default();
            let (target, made) = (PathBuf::from(text("target")), PathBuf::from(text("made")));
            let is_ours =
                made.file_name().is_some_and(|name| name == STAGED_NAME) && made.parent().is_some_and(is_step_folder);
            if is_ours && !is_step_done(&target, text("kind"), text("what")) {
                match text("kind") {
                    "gone" => atomic_dir::remove_atomically(&target)?,
                    _ if fs::symlink_metadata(&made).is_ok() => atomic_dir::swap_paths(&made, &target)?,
                    _ => {}
                }
            }
        }
        // Only now: the content of a later step may have been staged beside an earlier one.
        let named = journal["folders"].as_array().into_iter().flatten().filter_map(Value::as_str).map(Path::new);
        let targets = steps.iter().filter_map(|step| step["target"].as_str()).map(Path::new);
        for folder in named.chain(targets.map(atomic_dir::parent_folder)) {
            atomic_dir::remove_abandoned_folders(folder, STEP_PREFIX);
        }
        if let Some(lock) = journal["lock"].as_str() {
            replace_file(&self.lock_file, lock.as_bytes())?;
        }
        fs::remove_file(&self.journal).map_err(write_error(&self.journal))
    }
}

/// What was placed on this machine: the digest of a directory, or the target of a link, by path. Nothing else is ever
/// removed when a lock file no longer names it.
#[derive(Clone, Debug, Default)]
pub struct PlacedRecord {
    places: BTreeMap<PathBuf, String>,
}

impl PlacedRecord {
    /// Reads the record. A missing or damaged one is empty.
    fn read(file: &Path) -> Self {
        let bytes = files::read_file(file, JOURNAL_BYTES_MAX).unwrap_or_default();
        let value: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let places = value["places"].as_object().into_iter().flatten();
        let places = places.filter_map(|(path, mark)| Some((PathBuf::from(path), mark.as_str()?.to_owned())));
        Self { places: places.collect() }
    }

    fn apply_steps(mut self, steps: &[JournalStep]) -> Self {
        for step in steps {
            let target = step.target().to_owned();
            match step {
                JournalStep::Folder(_, found) => self.places.insert(target, files::digest_files(found)),
                JournalStep::Link(_, to) => self.places.insert(target, format!("link {}", to.display())),
                JournalStep::Remove(_) => self.places.remove(&target),
            };
        }
        self
    }

    fn write(&self, file: &Path) -> Result<(), AtomicDirError> {
        let places: serde_json::Map<String, Value> =
            self.places.iter().map(|(path, mark)| (path.to_string_lossy().into_owned(), json!(mark))).collect();
        replace_file(file, json!({ "version": 1, "places": places }).to_string().as_bytes())
    }

    /// Returns the paths, and whether each still has what was placed there.
    pub fn list_existing(&self) -> Vec<(PathBuf, bool)> {
        let existing = self.places.iter().filter(|(path, _)| fs::symlink_metadata(path).is_ok());
        let is_same = |path: &Path, mark: &str| match fs::read_link(path) {
            Ok(target) => mark == format!("link {}", target.display()),
            Err(_) => files::read_all_files(path).is_ok_and(|found| files::digest_files(&found) == mark),
        };
        existing.map(|(path, mark)| (path.clone(), is_same(path, mark))).collect()
    }
}

fn is_step_folder(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(STEP_PREFIX.as_bytes()))
}

/// Whether a place already has the result of a step.
fn is_step_done(target: &Path, kind: &str, what: &str) -> bool {
    match kind {
        "folder" => {
            let is_folder = fs::symlink_metadata(target).is_ok_and(|data| data.is_dir());
            is_folder && files::read_all_files(target).is_ok_and(|files| files::digest_files(&files) == what)
        }
        "link" => fs::read_link(target).is_ok_and(|to| to == Path::new(what)),
        _ => fs::symlink_metadata(target).is_err(),
    }
}

/// Undoes the steps in reverse order. Steps that cannot be undone stay where the error says.
fn undo_steps(makings: &[StagedDir]) {
    for making in makings.iter().rev() {
        let _ = making.undo_swap();
    }
}

/// The staged content, and the directories that were created for it. Those are removed again if the operation
/// fails.
struct StagedSteps {
    staged: Vec<StagedDir>,
    folders: Vec<PathBuf>,
}

impl StagedSteps {
    fn stage(&mut self, steps: &[JournalStep]) -> Result<(), AtomicDirError> {
        for step in steps {
            self.folders.extend(find_missing_folders(atomic_dir::parent_folder(step.target())));
            self.staged.push(step.stage_content()?);
        }
        Ok(())
    }
}

impl Drop for StagedSteps {
    fn drop(&mut self) {
        self.staged.clear();
        for folder in self.folders.iter().rev() {
            // Only an empty directory is removed.
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Returns the missing directories of a path, outermost first.
fn find_missing_folders(folder: &Path) -> Vec<PathBuf> {
    let mut missing: Vec<PathBuf> = folder
        .ancestors()
        .take_while(|above| !above.as_os_str().is_empty() && fs::symlink_metadata(above).is_err())
        .map(Path::to_owned)
        .collect();
    missing.reverse();
    missing
}

/// Replaces a file atomically, preserving its mode. A link is refused, because it could point anywhere.
pub(crate) fn replace_file(path: &Path, bytes: &[u8]) -> Result<(), AtomicDirError> {
    if path.is_symlink() {
        return Err(write_error(path)(io::Error::other("it is a link; replace it with a file")));
    }
    atomic::replace_file(path, bytes).map_err(|error| write_error(path)(error.into()))?;
    let folder = atomic_dir::parent_folder(path);
    atomic::sync_folder(folder).map_err(write_error(folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atomic_dir::PackageFileContent;

    fn files(text: &str) -> Vec<PackageFile> {
        vec![PackageFile {
            path: "SKILL.md".to_owned(),
            content: PackageFileContent::InMemory(text.as_bytes().to_vec()),
            is_executable: false,
        }]
    }

    fn list_names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    struct JournalFixture {
        scratch: tempfile::TempDir,
    }

    impl JournalFixture {
        fn new() -> Self {
            Self { scratch: tempfile::tempdir().unwrap() }
        }

        fn path_of(&self, path: &str) -> PathBuf {
            self.scratch.path().join(path)
        }

        fn acquire_lock(&self) -> InstallLock {
            InstallLock::acquire(&self.path_of("own"), &self.path_of("lock.json")).unwrap()
        }

        fn read_text(&self, path: &str) -> String {
            fs::read_to_string(self.path_of(path)).unwrap_or_default()
        }
    }

    #[test]
    fn all_steps_and_the_lock_file_or_none() {
        let world = JournalFixture::new();
        let turn = world.acquire_lock();
        let steps = [
            JournalStep::Folder(world.path_of("a/one"), files("1")),
            JournalStep::Link(world.path_of("b/one"), PathBuf::from("../a/one")),
        ];
        turn.apply_steps(&steps, Some("{}")).unwrap();
        assert_eq!(
            (world.read_text("b/one/SKILL.md"), world.read_text("lock.json")),
            ("1".to_owned(), "{}".to_owned())
        );
        // A file instead of a directory: the second place cannot be created.
        fs::write(world.path_of("c"), "in the way").unwrap();
        let steps = [
            JournalStep::Folder(world.path_of("a/one"), files("2")),
            JournalStep::Folder(world.path_of("new/deep/one"), files("2")),
            JournalStep::Folder(world.path_of("c/one"), files("2")),
        ];
        assert!(turn.apply_steps(&steps, Some("{2}")).is_err());
        assert_eq!(
            (world.read_text("a/one/SKILL.md"), world.read_text("lock.json")),
            ("1".to_owned(), "{}".to_owned())
        );
        assert_eq!(list_names(world.scratch.path()), ["a", "b", "c", "lock.json", "own"]);
        // The lock file cannot be written: the swapped content moves back.
        fs::remove_file(world.path_of("lock.json")).unwrap();
        fs::create_dir(world.path_of("lock.json")).unwrap();
        let steps = [
            JournalStep::Folder(world.path_of("a/one"), files("3")),
            JournalStep::Folder(world.path_of("d/one"), files("3")),
            JournalStep::Remove(world.path_of("b/one")),
        ];
        assert!(turn.apply_steps(&steps, Some("{3}")).is_err());
        assert_eq!(
            (world.read_text("a/one/SKILL.md"), world.read_text("b/one/SKILL.md")),
            ("1".to_owned(), "1".to_owned())
        );
        assert_eq!(list_names(&world.path_of("a")), ["one"]);
        assert!(!world.path_of("d").exists());
        assert!(!list_names(&world.path_of("own")).iter().any(|name| name.contains(".json")), "no journal is left");
    }

    /// Stops between any two steps, as a crash does, and checks how the next process recovers.
    #[test]
    fn the_next_turn_does_what_a_crash_left() {
        for stop in 0..=4 {
            let world = JournalFixture::new();
            atomic_dir::write_folder_atomically(
                &files("old"),
                &world.path_of("a/one"),
                atomic_dir::OnExistingFolder::Refuse,
            )
            .unwrap();
            atomic_dir::write_folder_atomically(
                &files("old"),
                &world.path_of("b/one"),
                atomic_dir::OnExistingFolder::Refuse,
            )
            .unwrap();
            let steps = [
                JournalStep::Folder(world.path_of("a/one"), files("new")),
                JournalStep::Folder(world.path_of("a/two"), files("new")),
                JournalStep::Link(world.path_of("c/one"), PathBuf::from("../a/one")),
                JournalStep::Remove(world.path_of("b/one")),
            ];
            let turn = world.acquire_lock();
            let makings: Vec<StagedDir> = steps.iter().map(|step| step.stage_content().unwrap()).collect();
            turn.write_journal(&steps, &makings, Some("{new}")).unwrap();
            for (step, making) in steps.iter().zip(&makings).take(stop) {
                match step {
                    JournalStep::Remove(_) => making.move_target_here().unwrap(),
                    JournalStep::Folder(..) | JournalStep::Link(..) => making.swap_into_place().unwrap(),
                }
            }
            // A process that crashes closes its files and does nothing else.
            for making in makings {
                making.abandon();
            }
            drop(turn);
            drop(world.acquire_lock());
            assert_eq!(world.read_text("a/one/SKILL.md"), "new", "{stop}");
            assert_eq!(world.read_text("a/two/SKILL.md"), "new", "{stop}");
            assert_eq!(world.read_text("c/one/SKILL.md"), "new", "{stop}");
            assert!(!world.path_of("b/one").exists() && world.read_text("lock.json") == "{new}", "{stop}");
            assert_eq!(list_names(&world.path_of("a")), ["one", "two"], "{stop}");
            assert_eq!(list_names(&world.path_of("c")), ["one"], "{stop}");
            assert!(
                list_names(&world.path_of("b")).is_empty() && list_names(&world.path_of("own")).len() == 1,
                "{stop}"
            );
        }
    }

    #[test]
    fn a_crash_before_the_journal_leaves_the_old_and_the_next_call_clears_up() {
        let world = JournalFixture::new();
        atomic_dir::write_folder_atomically(
            &files("old"),
            &world.path_of("a/one"),
            atomic_dir::OnExistingFolder::Refuse,
        )
        .unwrap();
        let turn = world.acquire_lock();
        let steps = [JournalStep::Folder(world.path_of("a/one"), files("new"))];
        turn.write_journal(&steps, &[], None).unwrap();
        steps[0].stage_content().unwrap().abandon();
        assert_eq!(list_names(&world.path_of("a")).len(), 2);
        drop(turn);
        // The lock file that was about to be replaced.
        let unfinished = world.path_of(".rep-4294967295-abc123");
        let old = std::time::SystemTime::now() - std::time::Duration::from_hours(1);
        File::create(&unfinished).unwrap().set_modified(old).unwrap();
        let turn = world.acquire_lock();
        assert!(!unfinished.exists());
        assert_eq!(list_names(&world.path_of("a")), ["one"]);
        turn.apply_steps(&[JournalStep::Folder(world.path_of("a/two"), files("2"))], Some("{}")).unwrap();
        assert_eq!(
            (list_names(&world.path_of("a")), world.read_text("a/one/SKILL.md")),
            (vec!["one".to_owned(), "two".to_owned()], "old".to_owned())
        );
    }
}
