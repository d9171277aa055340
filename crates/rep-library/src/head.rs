//! Reads only as much of a SKILL.md as its frontmatter needs.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rep_model::{Content, Entry, SkillTree, skill_md};

use crate::read;

/// What is read at a time. Most frontmatter fits into one.
const CHUNK_BYTES: usize = 4096;
/// The longest frontmatter that is read.
const HEAD_BYTES_MAX: usize = 1024 * 1024;

/// Reads a skill folder's frontmatter into a tree that holds nothing else.
pub(crate) fn tree(folder: &Path, shown: &str, file: &str) -> SkillTree {
    let mut tree = SkillTree { shown: shown.to_owned(), folder: read::folder_name(folder), ..SkillTree::default() };
    let content = match bytes(&folder.join(file)) {
        Ok(bytes) => Content::Bytes(bytes),
        Err(error) => Content::Unreadable(crate::error::words(&error)),
    };
    tree.entries.insert(file.to_owned(), Entry::File { size_bytes: 0, is_executable: false, content });
    tree
}

/// The bytes up to and with the closing fence; the first chunk where there is no frontmatter.
fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or(0);
    let mut file = File::options().read(true).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut bytes = Vec::new();
    loop {
        let before = bytes.len();
        file.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut bytes)?;
        let is_end = bytes.len() - before < CHUNK_BYTES;
        if let Some(length) = head_length(&bytes, is_end) {
            bytes.truncate(length);
            return Ok(bytes);
        }
        if is_end || bytes.len() >= HEAD_BYTES_MAX {
            return Ok(bytes);
        }
    }
}

/// How many of the bytes are frontmatter with its fences; `None` where more must be read to tell.
fn head_length(bytes: &[u8], is_end: bool) -> Option<usize> {
    // A chunk may cut a character; what is before the cut is what counts.
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or(""),
    };
    match skill_md::split(text) {
        // The closing line must be whole: a chunk may end between `---` and what follows it.
        Ok(parts) if parts.body.start < text.len() || is_end => Some(parts.body.start),
        Err(skill_md::Unfenced::NoOpening(_)) => Some(bytes.len()),
        Ok(_) | Err(skill_md::Unfenced::NoClosing(_)) => None,
    }
}
