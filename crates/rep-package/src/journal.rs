//! Several places at once: all of them, and the lock file, or none.
//!
//! Whoever changes what is installed takes a turn. Everything new is made first, beside its target and safe on disk; then a
//! journal says what goes where, then each takes its place, then the lock file is written, then the journal goes. What fails is
//! taken back. Where a crash comes in between, the next turn reads the journal and does the rest. Journals lie in the user's own
//! folder: one in a project would let a repository move files.
#![expect(clippy::disallowed_methods, reason = "this room writes skills")]

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rep_storage::atomic;
use serde_json::{Value, json};

use crate::files;
use crate::place::{self, FRESH, Making, PlaceError, Placed, STEP, failed};

/// The largest journal that is read.
const JOURNAL_BYTES_MAX: u64 = 64 << 20;

/// What becomes of one place.
#[derive(Debug)]
pub enum Step {
    /// These files, in a folder.
    Folder(PathBuf, Vec<Placed>),
    /// A link that leads to this.
    Link(PathBuf, PathBuf),
    /// Nothing is there any more.
    Gone(PathBuf),
}

impl Step {
    /// The place.
    pub fn target(&self) -> &Path {
        match self {
            Step::Folder(target, _) | Step::Link(target, _) | Step::Gone(target) => target,
        }
    }

    /// Makes what is to be there, beside it.
    fn make(&self) -> Result<Making, PlaceError> {
        let making = Making::beside(self.target(), STEP)?;
        match self {
            Step::Folder(_, files) => making.write(files)?,
            Step::Link(_, to) => making.link(to)?,
            Step::Gone(_) => {}
        }
        Ok(making)
    }

    fn value(&self, making: &Making) -> Value {
        let (kind, what) = match self {
            Step::Folder(_, files) => ("folder", files::digest(files)),
            Step::Link(_, to) => ("link", to.to_string_lossy().into_owned()),
            Step::Gone(_) => ("gone", String::new()),
        };
        json!({ "target": self.target().to_string_lossy(), "made": making.fresh().to_string_lossy(), "kind": kind, "what": what })
    }
}

/// The right to change what one lock file tells of; held by one process at a time.
#[derive(Debug)]
pub struct Turn {
    lock_file: PathBuf,
    journal: PathBuf,
    _held: File,
}

impl Turn {
    /// Takes a turn, waiting for others, and finishes what a crash left. `folder` is the user's own, where journals are kept.
    pub fn take(folder: &Path, lock_file: &Path) -> Result<Self, PlaceError> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed(folder))?;
        let stem = &files::digest_of(lock_file.as_os_str().as_encoded_bytes())["sha256:".len()..][..32];
        let held = folder.join(format!("{stem}.turn"));
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(&held)
            .map_err(failed(&held))?;
        file.lock().map_err(failed(&held))?;
        let turn = Self { lock_file: lock_file.to_owned(), journal: folder.join(format!("{stem}.json")), _held: file };
        turn.finish()?;
        Ok(turn)
    }

    /// Does all steps and writes the lock file; where one fails, none.
    pub fn apply(&self, steps: &[Step], lock: &str) -> Result<(), PlaceError> {
        let mut made = Made { makings: Vec::new(), folders: Vec::new() };
        for step in steps {
            made.folders.extend(missing(place::parent_of(step.target())));
            made.makings.push(step.make()?);
        }
        let told: Vec<Value> = steps.iter().zip(&made.makings).map(|(step, making)| step.value(making)).collect();
        replace(&self.journal, json!({ "version": 1, "steps": told, "lock": lock }).to_string().as_bytes())?;
        let done = self.perform(steps, &made.makings, lock);
        fs::remove_file(&self.journal).map_err(failed(&self.journal))?;
        done?;
        made.folders.clear();
        Ok(())
    }

    fn perform(&self, steps: &[Step], makings: &[Making], lock: &str) -> Result<(), PlaceError> {
        for (at, (step, making)) in steps.iter().zip(makings).enumerate() {
            let done = match step {
                Step::Gone(_) => making.take_away(),
                Step::Folder(..) | Step::Link(..) => making.swap(),
            };
            if let Err(error) = done {
                take_back(&makings[..at]);
                return Err(error);
            }
        }
        let written = replace(&self.lock_file, lock.as_bytes());
        if written.is_err() {
            take_back(makings);
        }
        written
    }

    /// Does what a journal that was left says is still to be done.
    fn finish(&self) -> Result<(), PlaceError> {
        let bytes = match files::read_file(&self.journal, JOURNAL_BYTES_MAX) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(failed(&self.journal)(error)),
        };
        // A journal is replaced whole, so that one that cannot be read was never in force.
        let journal: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let steps = journal["steps"].as_array().map_or(&[][..], Vec::as_slice);
        for step in steps {
            let text = |key: &str| step[key].as_str().unwrap_or_default();
            let (target, made) = (PathBuf::from(text("target")), PathBuf::from(text("made")));
            let is_ours = made.file_name().is_some_and(|name| name == FRESH) && made.parent().is_some_and(is_step);
            if is_ours && !is_done(&target, text("kind"), text("what")) {
                match text("kind") {
                    "gone" => place::remove(&target)?,
                    _ if fs::symlink_metadata(&made).is_ok() => place::swap(&made, &target)?,
                    _ => {}
                }
            }
            place::sweep(place::parent_of(&target), STEP);
        }
        if let Some(lock) = journal["lock"].as_str() {
            replace(&self.lock_file, lock.as_bytes())?;
        }
        fs::remove_file(&self.journal).map_err(failed(&self.journal))
    }
}

fn is_step(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(STEP.as_bytes()))
}

/// Whether a place is as a step wants it.
fn is_done(target: &Path, kind: &str, what: &str) -> bool {
    match kind {
        "folder" => {
            let is_folder = fs::symlink_metadata(target).is_ok_and(|data| data.is_dir());
            is_folder && files::read_all(target).is_ok_and(|files| files::digest(&files) == what)
        }
        "link" => fs::read_link(target).is_ok_and(|to| to == Path::new(what)),
        _ => fs::symlink_metadata(target).is_err(),
    }
}

/// Takes back what was done, last first. What cannot be taken back stays where the error says.
fn take_back(makings: &[Making]) {
    for making in makings.iter().rev() {
        let _ = making.undo();
    }
}

/// What was made, and the folders that were made for it: those go again where nothing came of it.
struct Made {
    makings: Vec<Making>,
    folders: Vec<PathBuf>,
}

impl Drop for Made {
    fn drop(&mut self) {
        self.makings.clear();
        for folder in self.folders.iter().rev() {
            // Only an empty one goes.
            let _ = fs::remove_dir(folder);
        }
    }
}

/// The folders above and with this one that are not there, outermost first.
fn missing(folder: &Path) -> Vec<PathBuf> {
    let mut missing: Vec<PathBuf> = folder
        .ancestors()
        .take_while(|above| !above.as_os_str().is_empty() && fs::symlink_metadata(above).is_err())
        .map(Path::to_owned)
        .collect();
    missing.reverse();
    missing
}

/// Replaces a file, whole or not at all, with the mode it had. A link in its place is refused: it could lead anywhere.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), PlaceError> {
    if path.is_symlink() {
        return Err(failed(path)(io::Error::other("it is a link; put a file in its place")));
    }
    atomic::put(path, bytes).map_err(|error| failed(path)(error.into()))?;
    let folder = place::parent_of(path);
    atomic::sync_folder(folder).map_err(failed(folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::Bytes;

    fn files(text: &str) -> Vec<Placed> {
        vec![Placed {
            path: "SKILL.md".to_owned(),
            content: Bytes::Here(text.as_bytes().to_vec()),
            is_executable: false,
        }]
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    struct World {
        scratch: tempfile::TempDir,
    }

    impl World {
        fn new() -> Self {
            Self { scratch: tempfile::tempdir().unwrap() }
        }

        fn at(&self, path: &str) -> PathBuf {
            self.scratch.path().join(path)
        }

        fn turn(&self) -> Turn {
            Turn::take(&self.at("own"), &self.at("lock.json")).unwrap()
        }

        fn text(&self, path: &str) -> String {
            fs::read_to_string(self.at(path)).unwrap_or_default()
        }
    }

    #[test]
    fn all_steps_and_the_lock_file_or_none() {
        let world = World::new();
        let turn = world.turn();
        let steps =
            [Step::Folder(world.at("a/one"), files("1")), Step::Link(world.at("b/one"), PathBuf::from("../a/one"))];
        turn.apply(&steps, "{}").unwrap();
        assert_eq!((world.text("b/one/SKILL.md"), world.text("lock.json")), ("1".to_owned(), "{}".to_owned()));
        // A file where a folder should be: the second place cannot be made.
        fs::write(world.at("c"), "in the way").unwrap();
        let steps = [
            Step::Folder(world.at("a/one"), files("2")),
            Step::Folder(world.at("new/deep/one"), files("2")),
            Step::Folder(world.at("c/one"), files("2")),
        ];
        assert!(turn.apply(&steps, "{2}").is_err());
        assert_eq!((world.text("a/one/SKILL.md"), world.text("lock.json")), ("1".to_owned(), "{}".to_owned()));
        assert_eq!(names(world.scratch.path()), ["a", "b", "c", "lock.json", "own"]);
        // The lock file cannot be written: what took its place goes back.
        fs::remove_file(world.at("lock.json")).unwrap();
        fs::create_dir(world.at("lock.json")).unwrap();
        let steps = [
            Step::Folder(world.at("a/one"), files("3")),
            Step::Folder(world.at("d/one"), files("3")),
            Step::Gone(world.at("b/one")),
        ];
        assert!(turn.apply(&steps, "{3}").is_err());
        assert_eq!((world.text("a/one/SKILL.md"), world.text("b/one/SKILL.md")), ("1".to_owned(), "1".to_owned()));
        assert_eq!(names(&world.at("a")), ["one"]);
        assert!(!world.at("d").exists());
        assert_eq!(names(&world.at("own")).len(), 1, "no journal is left");
    }

    /// Stops between any two of its steps, as a crash does, and looks what the next turn makes of it.
    #[test]
    fn the_next_turn_does_what_a_crash_left() {
        for stop in 0..=3 {
            let world = World::new();
            place::place(&files("old"), &world.at("a/one"), place::Existing::Refuse).unwrap();
            place::place(&files("old"), &world.at("b/one"), place::Existing::Refuse).unwrap();
            let steps = [
                Step::Folder(world.at("a/one"), files("new")),
                Step::Link(world.at("c/one"), PathBuf::from("../a/one")),
                Step::Gone(world.at("b/one")),
            ];
            let turn = world.turn();
            let makings: Vec<Making> = steps.iter().map(|step| step.make().unwrap()).collect();
            let told: Vec<Value> = steps.iter().zip(&makings).map(|(step, making)| step.value(making)).collect();
            replace(&turn.journal, json!({ "version": 1, "steps": told, "lock": "{new}" }).to_string().as_bytes())
                .unwrap();
            for (step, making) in steps.iter().zip(&makings).take(stop) {
                match step {
                    Step::Gone(_) => making.take_away().unwrap(),
                    Step::Folder(..) | Step::Link(..) => making.swap().unwrap(),
                }
            }
            // A process that dies closes its files and runs nothing else.
            for making in makings {
                making.abandon();
            }
            drop(turn);
            drop(world.turn());
            assert_eq!(world.text("a/one/SKILL.md"), "new", "{stop}");
            assert_eq!(world.text("c/one/SKILL.md"), "new", "{stop}");
            assert!(!world.at("b/one").exists() && world.text("lock.json") == "{new}", "{stop}");
            for folder in ["a", "c"] {
                assert_eq!(names(&world.at(folder)), ["one"], "{stop}");
            }
            assert!(names(&world.at("b")).is_empty() && names(&world.at("own")).len() == 1, "{stop}");
        }
    }

    #[test]
    fn a_crash_before_the_journal_leaves_the_old_and_the_next_call_clears_up() {
        let world = World::new();
        place::place(&files("old"), &world.at("a/one"), place::Existing::Refuse).unwrap();
        let turn = world.turn();
        Step::Folder(world.at("a/one"), files("new")).make().unwrap().abandon();
        assert_eq!(names(&world.at("a")).len(), 2);
        turn.apply(&[Step::Folder(world.at("a/two"), files("2"))], "{}").unwrap();
        assert_eq!(
            (names(&world.at("a")), world.text("a/one/SKILL.md")),
            (vec!["one".to_owned(), "two".to_owned()], "old".to_owned())
        );
    }
}
