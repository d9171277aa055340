//! Everything in a skill's folder, as trust sees it: names, kinds, modes and bytes.
//!
//! The digest of this is what trust is bound to. With the texts kept beside it, a skill that changed
//! can be shown as a difference.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rep_storage::atomic;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// The largest file whose text is kept, and all texts of a skill together.
const TEXT_BYTES_MAX: u64 = 128 * 1024;
const TEXTS_BYTES_MAX: usize = 1024 * 1024;
/// The most files, and the deepest folder, of a skill that can be trusted.
pub(super) const FILES_MAX: usize = 20_000;
pub(super) const DEPTH_MAX: usize = 32;
/// The largest record of a trusted skill that is read.
const RECORD_BYTES_MAX: u64 = 64 * 1024 * 1024;
const VERSION: u64 = 1;
/// What stands for a file that cannot be read.
const UNREADABLE: &str = "unreadable";

/// Whether the texts of files are kept, to show differences by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Texts {
    /// As far as they are small.
    Kept,
    /// Only digests.
    Left,
}

/// One file of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Piece {
    /// Kind, mode and digest, or where a link leads.
    mark: String,
    /// What it says, where that is text and small.
    text: Option<String>,
}

/// Everything in a skill's folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    pieces: BTreeMap<String, Piece>,
    /// Why the folder cannot be taken in as a whole, and so never be trusted.
    pub unfit: Option<String>,
}

/// A file that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its path inside the skill.
    pub path: String,
    /// What it was; `None` where it was not there.
    pub before: Option<Side>,
    /// What it is; `None` where it is gone.
    pub after: Option<Side>,
}

/// One side of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Side {
    /// A text that was kept.
    Text(String),
    /// Something that is not shown: kind, mode and digest.
    Mark(String),
}

impl Contents {
    /// Takes in a skill's folder. The `.git` at its top is left out: it changes with every command of its owner. One
    /// further down is a folder like others.
    pub fn read(folder: &Path, texts: Texts) -> Self {
        let mut contents = Self::default();
        let mut room = if texts == Texts::Kept { TEXTS_BYTES_MAX } else { 0 };
        let mut open = vec![(folder.to_owned(), String::new(), 0)];
        while let Some((path, prefix, depth)) = open.pop() {
            let Ok(listing) = fs::read_dir(&path) else {
                contents.unfit = Some(format!("`{prefix}` cannot be read"));
                continue;
            };
            for entry in listing {
                let Ok((entry, kind)) = entry.and_then(|entry| entry.file_type().map(|kind| (entry, kind))) else {
                    contents.unfit = Some(format!("`{prefix}` cannot be read"));
                    continue;
                };
                let name = entry.file_name().to_string_lossy().into_owned();
                let relative = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
                if entry.file_name().to_str().is_none() {
                    // Shown as text, two such names could be one.
                    contents.unfit = Some(format!("the name of `{relative}` is not UTF-8"));
                }
                if kind.is_dir() && depth == 0 && name == ".git" {
                    continue;
                }
                if contents.pieces.len() >= FILES_MAX {
                    contents.unfit = Some(format!("it has more than {FILES_MAX} files"));
                    return contents;
                }
                if !kind.is_dir() {
                    let piece = Piece::read(&entry.path(), &mut room);
                    if piece.mark == UNREADABLE {
                        contents.unfit = Some(format!("`{relative}` cannot be read"));
                    }
                    contents.pieces.insert(relative, piece);
                } else if depth >= DEPTH_MAX {
                    contents.unfit = Some(format!("it is more than {DEPTH_MAX} folders deep"));
                } else {
                    open.push((entry.path(), relative, depth + 1));
                }
            }
        }
        contents
    }

    /// Takes in one file.
    pub(super) fn file(path: &Path) -> Self {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Self { pieces: [(name, Piece::read(path, &mut 0))].into(), unfit: None }
    }

    /// The digest of it all.
    pub fn digest(&self) -> String {
        let mut hasher = Sha256::new();
        for (path, piece) in &self.pieces {
            for part in [path, &piece.mark] {
                hasher.update((part.len() as u64).to_le_bytes());
                hasher.update(part.as_bytes());
            }
        }
        hex(&hasher.finalize())
    }

    /// What is different in a later state, by path.
    pub fn changes(&self, later: &Contents) -> Vec<Change> {
        let paths: BTreeSet<&String> = self.pieces.keys().chain(later.pieces.keys()).collect();
        let differs = |path: &&String| {
            self.pieces.get(*path).map(|piece| &piece.mark) != later.pieces.get(*path).map(|piece| &piece.mark)
        };
        let change = |path: &String| Change {
            path: path.clone(),
            before: self.pieces.get(path).map(Piece::side),
            after: later.pieces.get(path).map(Piece::side),
        };
        paths.into_iter().filter(differs).map(change).collect()
    }

    /// Keeps it in a folder of such records, under its digest.
    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        let piece = |piece: &Piece| json!({ "mark": piece.mark, "text": piece.text });
        let pieces: Map<String, Value> = self.pieces.iter().map(|(path, one)| (path.clone(), piece(one))).collect();
        let text = json!({ "version": VERSION, "files": pieces }).to_string();
        atomic::put_cache(&folder.join(format!("{}.json", self.digest())), text.as_bytes())
    }

    /// Reads a record. One that is missing, damaged or of another form is as if it had never been kept.
    pub(super) fn kept(folder: &Path, digest: &str) -> Option<Self> {
        let text = crate::read::text(&folder.join(format!("{digest}.json")), RECORD_BYTES_MAX).ok()?;
        let value: Value = serde_json::from_str(&text).ok()?;
        value.get("version").and_then(Value::as_u64).filter(|version| *version == VERSION)?;
        let mut contents = Self::default();
        for (path, piece) in value.get("files")?.as_object()? {
            let mark = piece.get("mark")?.as_str()?.to_owned();
            let text = piece.get("text").and_then(Value::as_str).map(str::to_owned);
            contents.pieces.insert(path.clone(), Piece { mark, text });
        }
        (contents.digest() == digest).then_some(contents)
    }
}

impl Piece {
    fn read(path: &Path, room: &mut usize) -> Self {
        if let Ok(target) = fs::read_link(path) {
            return Self { mark: format!("link to {}", target.display()), text: None };
        }
        // Only a regular file is opened: a pipe would wait for ever.
        let Some(metadata) = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file) else {
            return Self { mark: "irregular".to_owned(), text: None };
        };
        let Ok(mut file) = File::open(path) else { return Self { mark: UNREADABLE.to_owned(), text: None } };
        let is_kept = metadata.len() <= TEXT_BYTES_MAX.min(*room as u64);
        let (mut hasher, mut chunk, mut bytes) = (Sha256::new(), vec![0; 64 * 1024], Vec::new());
        loop {
            match file.read(&mut chunk) {
                Ok(0) => break,
                Ok(count) => {
                    hasher.update(&chunk[..count]);
                    if is_kept && bytes.len() + count <= *room {
                        bytes.extend_from_slice(&chunk[..count]);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Self { mark: UNREADABLE.to_owned(), text: None },
            }
        }
        let kind = if metadata.permissions().mode() & 0o111 == 0 { "file" } else { "executable" };
        let mark = format!("{kind} {}", hex(&hasher.finalize()));
        let text = if is_kept { String::from_utf8(bytes).ok().filter(|text| !text.contains('\0')) } else { None };
        *room -= text.as_ref().map_or(0, String::len).min(*room);
        Self { mark, text }
    }

    fn side(&self) -> Side {
        self.text.clone().map_or_else(|| Side::Mark(self.mark.clone()), Side::Text)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
