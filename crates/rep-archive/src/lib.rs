//! Reads and writes archives of skills: `.skill`, `.zip`, `.tar.gz` and `.tgz`.
//!
//! Archives are untrusted input. They are read entry by entry, with limits on the bytes that are actually unpacked
//! instead of the sizes that the archive declares. The whole archive is refused if a name is ambiguous or if an entry
//! is neither a regular file nor a directory. Both formats are implemented here because existing crates merge entries
//! with the same name and trust declared sizes. Written archives are reproducible: the same files produce the same
//! bytes.
//!
//! ```
//! let files = [("pdf/SKILL.md".to_owned(), b"# PDF".to_vec(), false)];
//! let (entries, top) = rep_archive::open(&rep_archive::write_zip(&files)?)?;
//! assert_eq!((entries[0].path.as_str(), top.as_deref()), ("SKILL.md", Some("pdf")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeMap;

mod tar;
mod zip;

pub use tar::{compress_gzip, write_layer_tar, write_tar_gz};
pub use zip::write_zip;

/// The largest archive that is opened, in bytes.
pub const ARCHIVE_BYTES_MAX: u64 = 256 << 20;
/// The largest entry, in bytes.
const ENTRY_BYTES_MAX: u64 = 64 << 20;
/// The largest total size of all entries, in bytes.
const TOTAL_BYTES_MAX: u64 = 512 << 20;
/// The maximum number of entries.
const ENTRIES_MAX: usize = 20_000;
/// The longest path, in bytes, and the maximum number of its parts.
const PATH_BYTES_MAX: usize = 1024;
const DEPTH_MAX: usize = 32;
/// The maximum ratio of an entry's unpacked size to its packed size. It applies above [`RATIO_FLOOR_BYTES`].
const RATIO_MAX: u64 = 200;
const RATIO_FLOOR_BYTES: u64 = 1 << 20;

/// A file in an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveEntry {
    /// The path below the top-level directory, with `/` separators.
    pub path: String,
    /// The content.
    pub bytes: Vec<u8>,
    /// Whether the file is executable.
    pub is_executable: bool,
}

/// The reason an archive was not opened.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ArchiveError {
    /// The archive is malformed.
    #[error("it is not a readable archive: {0}")]
    Broken(String),
    /// An entry is refused, and with it the whole archive.
    #[error("entry `{name}` is refused: {reason}")]
    Refused {
        /// The name of the entry in the archive.
        name: String,
        /// The reason.
        reason: String,
    },
    /// The archive is too large.
    #[error("the archive is refused: {0}")]
    TooLarge(String),
}

fn broken_error(reason: impl Into<String>) -> ArchiveError {
    ArchiveError::Broken(reason.into())
}

fn refused_error(name: &str, reason: impl Into<String>) -> ArchiveError {
    ArchiveError::Refused { name: name.escape_debug().take(200).collect(), reason: reason.into() }
}

/// Returns whether a file name has the extension of an archive.
pub fn is_archive_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [".skill", ".zip", ".tar.gz", ".tgz"].iter().any(|ending| name.ends_with(ending))
}

/// Opens an archive of any supported format. If all entries are in one top-level directory, it is removed from their
/// paths and its name is returned.
pub fn open(bytes: &[u8]) -> Result<(Vec<ArchiveEntry>, Option<String>), ArchiveError> {
    let mut unpacked = EntryCollector::default();
    match bytes {
        [b'P', b'K', ..] => zip::read_zip(bytes, &mut unpacked)?,
        [0x1f, 0x8b, ..] => tar::read_tar_gz(bytes, &mut unpacked)?,
        _ => return Err(broken_error("it is neither a zip nor a tar.gz file")),
    }
    unpacked.finish_entries()
}

/// Unpacks an archive to look into it: also a tar archive that is not compressed. All entries together have at most
/// `total_bytes_max` bytes, and their paths are those in the archive.
pub fn open_to_inspect(bytes: &[u8], total_bytes_max: u64) -> Result<Vec<ArchiveEntry>, ArchiveError> {
    let mut unpacked = EntryCollector { total_bytes_max: total_bytes_max.min(TOTAL_BYTES_MAX), ..Default::default() };
    match bytes {
        [b'P', b'K', ..] => zip::read_zip(bytes, &mut unpacked)?,
        [0x1f, 0x8b, ..] => tar::read_tar_gz(bytes, &mut unpacked)?,
        _ => tar::read_plain_tar(bytes, &mut unpacked)?,
    }
    unpacked.files.sort_by(|one, two| one.path.cmp(&two.path));
    Ok(unpacked.files)
}

/// Opens a layer of an artifact in a registry: a tar archive, which may be compressed with gzip. What the archive is called
/// does not matter.
pub fn open_layer(bytes: &[u8]) -> Result<(Vec<ArchiveEntry>, Option<String>), ArchiveError> {
    let mut unpacked = EntryCollector::default();
    match bytes {
        [0x1f, 0x8b, ..] => tar::read_tar_gz(bytes, &mut unpacked)?,
        [0x28, 0xb5, 0x2f, 0xfd, ..] => return Err(broken_error("it is compressed with zstd, which is not supported")),
        _ => tar::read_plain_tar(bytes, &mut unpacked)?,
    }
    unpacked.finish_entries()
}

/// The entries unpacked so far.
struct EntryCollector {
    files: Vec<ArchiveEntry>,
    /// Every path in lower case, and its kind.
    names: BTreeMap<String, EntryKind>,
    entries: usize,
    total_bytes: u64,
    /// The maximum of `total_bytes`.
    total_bytes_max: u64,
}

impl Default for EntryCollector {
    fn default() -> Self {
        Self { files: Vec::new(), names: BTreeMap::new(), entries: 0, total_bytes: 0, total_bytes_max: TOTAL_BYTES_MAX }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum EntryKind {
    File,
    Folder,
}

impl EntryCollector {
    /// Counts an entry and checks the limit.
    fn count_entry(&mut self) -> Result<(), ArchiveError> {
        self.entries += 1;
        if self.entries > ENTRIES_MAX {
            return Err(ArchiveError::TooLarge(format!("it has more than {ENTRIES_MAX} entries")));
        }
        Ok(())
    }

    /// Returns the maximum size of the next entry, given its packed size.
    fn entry_bytes_max(&self, packed: u64) -> u64 {
        let ratio = packed.saturating_mul(RATIO_MAX).max(RATIO_FLOOR_BYTES);
        ENTRY_BYTES_MAX.min(self.total_bytes_max - self.total_bytes).min(ratio)
    }

    /// Returns the error for an entry that exceeds its maximum size.
    fn overflow_error(&self, name: &str, packed: u64) -> ArchiveError {
        let room = self.entry_bytes_max(packed);
        if room == ENTRY_BYTES_MAX {
            refused_error(name, "it is larger than 64 MiB")
        } else if room == self.total_bytes_max - self.total_bytes {
            ArchiveError::TooLarge(format!("it unpacks to more than {} MiB", self.total_bytes_max >> 20))
        } else {
            refused_error(name, format!("it unpacks to more than {RATIO_MAX} times its size"))
        }
    }

    fn add_folder(&mut self, name: &[u8]) -> Result<(), ArchiveError> {
        let path = parse_entry_path(name)?;
        if path.is_empty() {
            return Ok(());
        }
        self.claim_path(&path, EntryKind::Folder)
    }

    fn add_file(&mut self, name: &[u8], bytes: Vec<u8>, is_executable: bool) -> Result<(), ArchiveError> {
        let path = parse_entry_path(name)?;
        if path.is_empty() || name.ends_with(b"/") {
            return Err(refused_error(&String::from_utf8_lossy(name), "it is a file named like a directory"));
        }
        self.claim_path(&path, EntryKind::File)?;
        // macOS adds this directory to archives. It is not part of the packed content.
        if path.starts_with("__MACOSX/") {
            return Ok(());
        }
        self.total_bytes += bytes.len() as u64;
        self.files.push(ArchiveEntry { path, bytes, is_executable });
        Ok(())
    }

    /// Reserves a path and its parent directories.
    fn claim_path(&mut self, path: &str, kind: EntryKind) -> Result<(), ArchiveError> {
        let lower = path.to_lowercase();
        for (at, _) in lower.match_indices('/') {
            match self.names.get(&lower[..at]) {
                Some(EntryKind::File) => return Err(refused_error(path, "its parent is a file")),
                Some(EntryKind::Folder) => {}
                None => drop(self.names.insert(lower[..at].to_owned(), EntryKind::Folder)),
            }
        }
        match self.names.insert(lower, kind) {
            None => Ok(()),
            Some(EntryKind::Folder) if kind == EntryKind::Folder => Ok(()),
            Some(_) => Err(refused_error(path, "another entry has the same name, ignoring case")),
        }
    }

    fn finish_entries(mut self) -> Result<(Vec<ArchiveEntry>, Option<String>), ArchiveError> {
        if self.files.is_empty() {
            return Err(broken_error("it contains no files"));
        }
        let top = self.files[0].path.split_once('/').map(|(top, _)| top.to_owned());
        let top = top.filter(|top| {
            let below = format!("{top}/");
            self.files.iter().all(|file| file.path.starts_with(&below))
        });
        if let Some(top) = &top {
            for file in &mut self.files {
                let below = file.path.split_off(top.len() + 1);
                if is_absolute(&below) {
                    return Err(refused_error(
                        &format!("{}{below}", file.path),
                        "its path below the top-level directory is absolute",
                    ));
                }
                file.path = below;
            }
        }
        self.files.sort_by(|one, two| one.path.cmp(&two.path));
        Ok((self.files, top))
    }
}

/// Returns the normalized path of an entry, without a leading `./` or trailing `/`. Refuses absolute, ambiguous and
/// deceptive paths.
fn parse_entry_path(name: &[u8]) -> Result<String, ArchiveError> {
    let shown = String::from_utf8_lossy(name).into_owned();
    let refuse = |reason: &str| Err(refused_error(&shown, reason));
    let Ok(text) = std::str::from_utf8(name) else { return refuse("its name is not UTF-8") };
    if text.len() > PATH_BYTES_MAX {
        return refuse("its name is too long");
    }
    if text.contains('\\') {
        return refuse("its name contains a backslash");
    }
    if text.chars().any(|letter| letter.is_control() || is_deceptive_character(letter)) {
        return refuse("its name contains an invisible character");
    }
    let mut text = text;
    while let Some(rest) = text.strip_prefix("./") {
        text = rest;
    }
    if is_absolute(text) {
        return refuse("its path is absolute");
    }
    let text = text.strip_suffix('/').unwrap_or(text);
    if text == "." || text.is_empty() {
        return Ok(String::new());
    }
    for part in text.split('/') {
        match part {
            ".." => return refuse("its path contains `..`"),
            "" | "." => return refuse("its path contains an empty part or `.`"),
            _ if part.len() > 255 => return refuse("a name in its path is too long"),
            _ if part.ends_with(['.', ' ']) || part.starts_with(' ') => {
                return refuse("a name in its path ends in a dot, or starts or ends with a space");
            }
            _ => {}
        }
    }
    if text.split('/').count() > DEPTH_MAX {
        return refuse("its path is too deep");
    }
    Ok(text.to_owned())
}

/// Returns whether any system or shell treats a path as starting from a root, a home directory or a drive.
fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || path.starts_with('~') || path.as_bytes().get(1) == Some(&b':')
}

/// Returns whether a character reverses text direction or has no width, which can make a name look like another.
fn is_deceptive_character(letter: char) -> bool {
    matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests;
