//! The contents of a skill's directory that trust covers: names, kinds, modes and bytes.
//!
//! Trust is bound to the digest of the contents. The stored texts make it possible to show what changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use rep_storage::{atomic, platform};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// The maximum size of a stored text, and of all stored texts of a skill.
const TEXT_BYTES_MAX: u64 = 128 * 1024;
const TEXTS_BYTES_MAX: usize = 1024 * 1024;
/// The maximum number of files, and the maximum depth, of a skill that can be trusted.
pub(super) const FILES_MAX: usize = 20_000;
pub(super) const DEPTH_MAX: usize = 32;
/// The maximum size of a stored record.
const RECORD_BYTES_MAX: u64 = 64 * 1024 * 1024;
const VERSION: u64 = 1;
/// The mark of a file that cannot be read.
const UNREADABLE: &str = "unreadable";

/// Whether to store the texts of files, which are needed to show differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextRetention {
    /// Store texts, within the size limits.
    Keep,
    /// Store only digests.
    DigestsOnly,
}

/// A file of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FileRecord {
    /// The kind, mode and digest, or the target of a link.
    mark: String,
    /// The text, if it is small enough.
    text: Option<String>,
}

/// The contents of a skill's directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillContents {
    files: BTreeMap<String, FileRecord>,
    /// The reason the directory cannot be read completely, and so cannot be trusted.
    pub unfit: Option<String>,
}

/// A file that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillFileChange {
    /// The path inside the skill.
    pub path: String,
    /// The previous state, or `None` if the file did not exist.
    pub before: Option<SkillFileState>,
    /// The current state, or `None` if the file was removed.
    pub after: Option<SkillFileState>,
}

/// One side of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkillFileState {
    /// A stored text.
    Text(String),
    /// Kind, mode and digest of content that is not shown.
    Fingerprint(String),
}

impl SkillContents {
    /// Reads a skill's directory. Skips the top-level `.git`, which changes with every Git command. A `.git` further
    /// down is treated like any other directory.
    pub fn read(folder: &Path, texts: TextRetention) -> Self {
        let mut contents = Self::default();
        let mut room = if texts == TextRetention::Keep { TEXTS_BYTES_MAX } else { 0 };
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
                    // Two such names could look the same as text.
                    contents.unfit = Some(format!("the name of `{relative}` is not UTF-8"));
                }
                if kind.is_dir() && depth == 0 && name == ".git" {
                    continue;
                }
                if contents.files.len() >= FILES_MAX {
                    contents.unfit = Some(format!("it has more than {FILES_MAX} files"));
                    return contents;
                }
                if !kind.is_dir() {
                    let piece = FileRecord::read(&entry.path(), &mut room);
                    if piece.mark == UNREADABLE {
                        contents.unfit = Some(format!("`{relative}` cannot be read"));
                    }
                    contents.files.insert(relative, piece);
                } else if depth >= DEPTH_MAX {
                    contents.unfit = Some(format!("it is more than {DEPTH_MAX} directories deep"));
                } else {
                    open.push((entry.path(), relative, depth + 1));
                }
            }
        }
        contents
    }

    /// Reads a single file.
    pub(super) fn read_file(path: &Path) -> Self {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Self { files: [(name, FileRecord::read(path, &mut 0))].into(), unfit: None }
    }

    /// Computes the digest of the contents.
    pub fn digest(&self) -> String {
        let mut hasher = Sha256::new();
        for (path, piece) in &self.files {
            for part in [path, &piece.mark] {
                hasher.update((part.len() as u64).to_le_bytes());
                hasher.update(part.as_bytes());
            }
        }
        encode_hex(&hasher.finalize())
    }

    /// Lists the changes in a later state, by path.
    pub fn list_changes(&self, later: &SkillContents) -> Vec<SkillFileChange> {
        let paths: BTreeSet<&String> = self.files.keys().chain(later.files.keys()).collect();
        let differs = |path: &&String| {
            self.files.get(*path).map(|piece| &piece.mark) != later.files.get(*path).map(|piece| &piece.mark)
        };
        let change = |path: &String| SkillFileChange {
            path: path.clone(),
            before: self.files.get(path).map(FileRecord::to_file_state),
            after: later.files.get(path).map(FileRecord::to_file_state),
        };
        paths.into_iter().filter(differs).map(change).collect()
    }

    /// Stores the contents in a directory, under their digest.
    pub(super) fn store_record(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        let piece = |piece: &FileRecord| json!({ "mark": piece.mark, "text": piece.text });
        let pieces: Map<String, Value> = self.files.iter().map(|(path, one)| (path.clone(), piece(one))).collect();
        let text = json!({ "version": VERSION, "files": pieces }).to_string();
        atomic::write_cache_file(&folder.join(format!("{}.json", self.digest())), text.as_bytes())
    }

    /// Loads a record. A missing, damaged or incompatible record is treated as absent.
    pub(super) fn load_record(folder: &Path, digest: &str) -> Option<Self> {
        let text = crate::skill_reader::read_text(&folder.join(format!("{digest}.json")), RECORD_BYTES_MAX).ok()?;
        let value: Value = serde_json::from_str(&text).ok()?;
        value.get("version").and_then(Value::as_u64).filter(|version| *version == VERSION)?;
        let mut contents = Self::default();
        for (path, piece) in value.get("files")?.as_object()? {
            let mark = piece.get("mark")?.as_str()?.to_owned();
            let text = piece.get("text").and_then(Value::as_str).map(str::to_owned);
            contents.files.insert(path.clone(), FileRecord { mark, text });
        }
        (contents.digest() == digest).then_some(contents)
    }
}

impl FileRecord {
    fn read(path: &Path, room: &mut usize) -> Self {
        if let Ok(target) = fs::read_link(path) {
            return Self { mark: format!("link to {}", target.display()), text: None };
        }
        // Only regular files are opened, because opening a pipe would block.
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
        let kind = if platform::is_executable(&metadata) { "executable" } else { "file" };
        let mark = format!("{kind} {}", encode_hex(&hasher.finalize()));
        let text = if is_kept { String::from_utf8(bytes).ok().filter(|text| !text.contains('\0')) } else { None };
        *room -= text.as_ref().map_or(0, String::len).min(*room);
        Self { mark, text }
    }

    fn to_file_state(&self) -> SkillFileState {
        self.text.clone().map_or_else(|| SkillFileState::Fingerprint(self.mark.clone()), SkillFileState::Text)
    }
}

fn encode_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
