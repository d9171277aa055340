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

/// Reads a skill folder's frontmatter into a tree that holds nothing else; `None` where the file is none.
pub(crate) fn tree(folder: &Path, shown: &str, file: &str) -> Option<SkillTree> {
    let path = folder.join(file);
    let content = match bytes(&path) {
        Ok(bytes) => Content::Bytes(bytes?),
        // The system is asked what it is only where opening it did not tell.
        Err(_) if !path.is_file() => return None,
        Err(error) => Content::Unreadable(crate::error::words(&error)),
    };
    let mut tree = SkillTree { shown: shown.to_owned(), folder: read::folder_name(folder), ..SkillTree::default() };
    tree.entries.insert(file.to_owned(), Entry::File { size_bytes: 0, is_executable: false, content });
    Some(tree)
}

/// The bytes up to and with the closing fence; the first chunk where there is no frontmatter; `None` where it is no regular
/// file.
fn bytes(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or(0);
    let mut file = File::options().read(true).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Ok(None);
    }
    let mut chunk = [0; CHUNK_BYTES];
    let mut bytes = Vec::new();
    loop {
        let (read, is_end) = fill(&mut file, &mut chunk)?;
        let whole = if bytes.is_empty() {
            &chunk[..read]
        } else {
            bytes.extend_from_slice(&chunk[..read]);
            &bytes
        };
        let length = head_length(whole, is_end);
        if let Some(length) = length.or((is_end || whole.len() >= HEAD_BYTES_MAX).then_some(whole.len())) {
            return Ok(Some(whole[..length].to_vec()));
        }
        if bytes.is_empty() {
            bytes.extend_from_slice(&chunk[..read]);
        }
    }
}

/// Reads until the chunk is full or the file ends. Says how much was read, and whether the file ended.
fn fill(file: &mut File, chunk: &mut [u8]) -> io::Result<(usize, bool)> {
    let mut filled = 0;
    while filled < chunk.len() {
        match file.read(&mut chunk[filled..]) {
            Ok(0) => return Ok((filled, true)),
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok((filled, false))
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
