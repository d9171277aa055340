//! Reads only as much of a SKILL.md as its frontmatter needs.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use rep_model::{FileContent, SkillTree, TreeEntry, skill_md};
use rep_storage::platform::{LinkPolicy, open_file};

use crate::skill_reader;

/// The number of bytes read at a time. Most frontmatter fits into one chunk.
const CHUNK_BYTES: usize = 4096;
/// The maximum length of frontmatter.
const HEAD_BYTES_MAX: usize = 1024 * 1024;

/// Reads a skill's frontmatter into a tree that contains nothing else. Returns `None` if the path is not a regular
/// file.
pub(crate) fn read_frontmatter_tree(folder: &Path, shown: &str, file: &str) -> Option<SkillTree> {
    let path = folder.join(file);
    let content = match read_head(&path) {
        Ok(bytes) => FileContent::Bytes(bytes?),
        // Checks the file type only if opening the file failed.
        Err(_) if !path.is_file() => return None,
        Err(error) => FileContent::Unreadable(crate::error::describe_io_error(&error)),
    };
    let mut tree =
        SkillTree { display_root: shown.to_owned(), folder: skill_reader::folder_name(folder), ..SkillTree::default() };
    tree.entries.insert(file.to_owned(), TreeEntry::File { size_bytes: 0, is_executable: false, content });
    Some(tree)
}

/// Reads the bytes up to and including the closing fence, or only the first chunk if it has none. Returns `None`
/// if the path is not a regular file.
fn read_head(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut file = open_file(path, LinkPolicy::Follow)?;
    if !file.metadata()?.is_file() {
        return Ok(None);
    }
    let mut chunk = [0; CHUNK_BYTES];
    let mut bytes = Vec::new();
    loop {
        let (read, is_end) = fill_chunk(&mut file, &mut chunk)?;
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

/// Reads until the chunk is full or the file ends. Returns the number of bytes, and whether the file ended.
fn fill_chunk(file: &mut File, chunk: &mut [u8]) -> io::Result<(usize, bool)> {
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

/// Returns the length of the frontmatter with its fences, or `None` if more bytes are needed.
fn head_length(bytes: &[u8], is_end: bool) -> Option<usize> {
    // A chunk may split a character. Only the bytes before it count.
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or(""),
    };
    match skill_md::split_frontmatter(text) {
        // The closing line must be complete, because a chunk may end right after `---`.
        Ok(parts) if parts.body.start < text.len() || is_end => Some(parts.body.start),
        Err(skill_md::FrontmatterFenceError::NoOpening(_)) => Some(bytes.len()),
        Ok(_) | Err(skill_md::FrontmatterFenceError::NoClosing(_)) => None,
    }
}
