//! Archives of skills: `.skill` and `.zip`, `.tar.gz` and `.tgz`.
//!
//! An archive comes from anybody. It is read from bytes, entry by entry, with bounds that count what comes out and never what the
//! archive says of itself; a name that could mean two things, or anything that is no plain file or folder, refuses all of it.
//! Both formats are read and written here rather than by a crate: what is refused must be seen, and those at hand merge
//! entries of one name and believe sizes. What is written has the same bytes every time.
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

pub use tar::write as write_tar_gz;
pub use zip::write as write_zip;

/// The largest archive that is opened.
pub const ARCHIVE_BYTES_MAX: u64 = 256 << 20;
/// The largest entry.
const ENTRY_BYTES_MAX: u64 = 64 << 20;
/// All entries together.
const TOTAL_BYTES_MAX: u64 = 512 << 20;
/// The most entries.
const ENTRIES_MAX: usize = 20_000;
/// The longest path, and the deepest.
const PATH_BYTES_MAX: usize = 1024;
const DEPTH_MAX: usize = 32;
/// How many times its size in the archive an entry may have, once it is larger than the floor: text repeats itself, but not so often.
const RATIO_MAX: u64 = 200;
const RATIO_FLOOR: u64 = 1 << 20;

/// A file in an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveEntry {
    /// Its path below the top folder, with `/`.
    pub path: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whether it can be executed.
    pub is_executable: bool,
}

/// Why an archive was not opened.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ArchiveError {
    /// It is not what it should be.
    #[error("it is no archive that can be read: {0}")]
    Broken(String),
    /// An entry is refused, and with it the archive.
    #[error("the entry `{name}` is refused: {reason}")]
    Refused {
        /// The entry, as the archive calls it.
        name: String,
        /// Why.
        reason: String,
    },
    /// It is too large.
    #[error("it is refused: {0}")]
    TooLarge(String),
}

fn broken(reason: impl Into<String>) -> ArchiveError {
    ArchiveError::Broken(reason.into())
}

fn refused(name: &str, reason: impl Into<String>) -> ArchiveError {
    ArchiveError::Refused { name: name.escape_debug().take(200).collect(), reason: reason.into() }
}

/// Whether a file of this name is an archive, by its ending.
pub fn is_archive_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [".skill", ".zip", ".tar.gz", ".tgz"].iter().any(|ending| name.ends_with(ending))
}

/// Opens an archive, whichever it is. The folder all entries lie in is taken off, and its name given.
pub fn open(bytes: &[u8]) -> Result<(Vec<ArchiveEntry>, Option<String>), ArchiveError> {
    let mut unpacked = Unpacked::default();
    match bytes {
        [b'P', b'K', ..] => zip::read(bytes, &mut unpacked)?,
        [0x1f, 0x8b, ..] => tar::read(bytes, &mut unpacked)?,
        _ => return Err(broken("it is neither a zip nor a tar.gz")),
    }
    unpacked.finish()
}

/// What came out of an archive so far.
#[derive(Default)]
struct Unpacked {
    files: Vec<ArchiveEntry>,
    /// Every name in small letters, and what it is.
    names: BTreeMap<String, Kind>,
    entries: usize,
    total: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Folder,
}

impl Unpacked {
    /// Counts an entry.
    fn count(&mut self) -> Result<(), ArchiveError> {
        self.entries += 1;
        if self.entries > ENTRIES_MAX {
            return Err(ArchiveError::TooLarge(format!("it has more than {ENTRIES_MAX} entries")));
        }
        Ok(())
    }

    /// How many bytes the next entry may have, of so many in the archive.
    fn room(&self, packed: u64) -> u64 {
        let ratio = packed.saturating_mul(RATIO_MAX).max(RATIO_FLOOR);
        ENTRY_BYTES_MAX.min(TOTAL_BYTES_MAX - self.total).min(ratio)
    }

    /// Why an entry has more bytes than there was room for.
    fn overflow(&self, name: &str, packed: u64) -> ArchiveError {
        let room = self.room(packed);
        if room == ENTRY_BYTES_MAX {
            refused(name, "it is larger than 64 MiB")
        } else if room == TOTAL_BYTES_MAX - self.total {
            ArchiveError::TooLarge("it unpacks to more than 512 MiB".to_owned())
        } else {
            refused(name, format!("it unpacks to more than {RATIO_MAX} times its size"))
        }
    }

    fn folder(&mut self, name: &[u8]) -> Result<(), ArchiveError> {
        let path = path_of(name)?;
        if path.is_empty() {
            return Ok(());
        }
        self.take(&path, Kind::Folder)
    }

    fn file(&mut self, name: &[u8], bytes: Vec<u8>, is_executable: bool) -> Result<(), ArchiveError> {
        let path = path_of(name)?;
        if path.is_empty() || name.ends_with(b"/") {
            return Err(refused(&String::from_utf8_lossy(name), "it is a file with the name of a folder"));
        }
        self.take(&path, Kind::File)?;
        // What one system adds to every archive, and no part of what was packed.
        if path.starts_with("__MACOSX/") {
            return Ok(());
        }
        self.total += bytes.len() as u64;
        self.files.push(ArchiveEntry { path, bytes, is_executable });
        Ok(())
    }

    /// Takes a name, with the folders above it.
    fn take(&mut self, path: &str, kind: Kind) -> Result<(), ArchiveError> {
        let lower = path.to_lowercase();
        for (at, _) in lower.match_indices('/') {
            match self.names.get(&lower[..at]) {
                Some(Kind::File) => return Err(refused(path, "it lies in something that is a file")),
                Some(Kind::Folder) => {}
                None => drop(self.names.insert(lower[..at].to_owned(), Kind::Folder)),
            }
        }
        match self.names.insert(lower, kind) {
            None => Ok(()),
            Some(Kind::Folder) if kind == Kind::Folder => Ok(()),
            Some(_) => Err(refused(path, "there are two of that name; large and small letters count as the same")),
        }
    }

    fn finish(mut self) -> Result<(Vec<ArchiveEntry>, Option<String>), ArchiveError> {
        if self.files.is_empty() {
            return Err(broken("there is no file in it"));
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
                    return Err(refused(
                        &format!("{}{below}", file.path),
                        "without the folder all entries lie in, its path is absolute",
                    ));
                }
                file.path = below;
            }
        }
        self.files.sort_by(|one, two| one.path.cmp(&two.path));
        Ok((self.files, top))
    }
}

/// The path of an entry, without `./` before it and `/` behind. Everything that is no plain path is refused.
fn path_of(name: &[u8]) -> Result<String, ArchiveError> {
    let shown = String::from_utf8_lossy(name).into_owned();
    let refuse = |reason: &str| Err(refused(&shown, reason));
    let Ok(text) = std::str::from_utf8(name) else { return refuse("its name is not UTF-8") };
    if text.len() > PATH_BYTES_MAX {
        return refuse("its name is too long");
    }
    if text.contains('\\') {
        return refuse("there is a backslash in its name");
    }
    if text.chars().any(|letter| letter.is_control() || is_turning(letter)) {
        return refuse("there is a character in its name that cannot be seen");
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
            ".." => return refuse("its path leads out"),
            "" | "." => return refuse("its path is not plain"),
            _ if part.len() > 255 => return refuse("a name in its path is too long"),
            _ if part.ends_with(['.', ' ']) || part.starts_with(' ') => {
                return refuse("a name in its path ends in a dot, or starts or ends with a space");
            }
            _ => {}
        }
    }
    if text.split('/').count() > DEPTH_MAX {
        return refuse("it lies too deep");
    }
    Ok(text.to_owned())
}

/// Whether some system or shell reads a path as one from a root, a home or a drive.
fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || path.starts_with('~') || path.as_bytes().get(1) == Some(&b':')
}

/// Whether a character turns text around or has no width, so that a name looks like another.
fn is_turning(letter: char) -> bool {
    matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests;
