//! Parses the output of `git ls-tree` and `git cat-file --batch`.

/// The maximum number of files of a listing.
const ENTRIES_MAX: usize = 500_000;
/// The longest path, in bytes.
const PATH_BYTES_MAX: usize = 4096;

/// A file of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitTreeEntry {
    /// The path below the listed directory, with `/`.
    pub path: String,
    /// What it is.
    pub kind: GitTreeEntryKind,
    /// The id of its content.
    pub id: String,
    /// The size of its content; 0 for a submodule.
    pub size_bytes: u64,
}

/// What a file of a commit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitTreeEntryKind {
    /// A regular file.
    File,
    /// A file that can be executed.
    Executable,
    /// A link. Its content is the target.
    Link,
    /// A commit of another repository, whose files are not part of this one.
    Submodule,
}

/// Parses the output of `git ls-tree -r -z --long`.
pub fn parse_tree_listing(bytes: &[u8]) -> Result<Vec<GitTreeEntry>, String> {
    let mut entries = Vec::new();
    for line in bytes.split(|byte| *byte == 0).filter(|line| !line.is_empty()) {
        if entries.len() >= ENTRIES_MAX {
            return Err(format!("it has more than {ENTRIES_MAX} files"));
        }
        entries.push(parse_entry(line)?);
    }
    Ok(entries)
}

fn parse_entry(line: &[u8]) -> Result<GitTreeEntry, String> {
    let tab = line.iter().position(|byte| *byte == b'\t').ok_or("a line has no path")?;
    let path = std::str::from_utf8(&line[tab + 1..])
        .map_err(|_| format!("the name `{}` is not UTF-8", String::from_utf8_lossy(&line[tab + 1..]).escape_debug()))?;
    if path.is_empty() || path.len() > PATH_BYTES_MAX {
        return Err("a path is empty or too long".to_owned());
    }
    let head = std::str::from_utf8(&line[..tab]).map_err(|_| "a line is not text")?;
    let mut words = head.split_ascii_whitespace();
    let (mode, kind, id, size) = (words.next(), words.next(), words.next(), words.next());
    let kind = match (mode, kind) {
        (Some("100644" | "100664"), Some("blob")) => GitTreeEntryKind::File,
        (Some("100755"), Some("blob")) => GitTreeEntryKind::Executable,
        (Some("120000"), Some("blob")) => GitTreeEntryKind::Link,
        (Some("160000"), Some("commit")) => GitTreeEntryKind::Submodule,
        _ => return Err(format!("`{}` has an unknown type", path.escape_debug())),
    };
    let id = id.filter(|id| matches!(id.len(), 40 | 64) && id.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let id = id.ok_or("a line has no id")?.to_owned();
    let size_bytes = match (kind, size) {
        (GitTreeEntryKind::Submodule, _) => 0,
        (_, Some(size)) => size.parse().map_err(|_| "a size is not a number")?,
        (_, None) => return Err("a line has no size".to_owned()),
    };
    Ok(GitTreeEntry { path: path.to_owned(), kind, id, size_bytes })
}

/// Parses the output of `git cat-file --batch`: for each blob a line with its id and size, its bytes, and a newline.
pub(super) fn parse_blobs(mut bytes: &[u8], entries: &[&GitTreeEntry]) -> Result<Vec<Vec<u8>>, String> {
    let mut blobs = Vec::with_capacity(entries.len());
    for entry in entries {
        let end = bytes.iter().take(200).position(|byte| *byte == b'\n').ok_or("the output ended early")?;
        let expected = format!("{} blob {}", entry.id, entry.size_bytes);
        if bytes[..end] != *expected.as_bytes() {
            return Err(format!("`{}` is not in the cache", entry.path));
        }
        let size = usize::try_from(entry.size_bytes).map_err(|_| "a file is too large")?;
        let content = bytes.get(end + 1..end + 1 + size).ok_or("the output ended early")?;
        if bytes.get(end + 1 + size) != Some(&b'\n') {
            return Err("the output is damaged".to_owned());
        }
        blobs.push(content.to_vec());
        bytes = &bytes[end + 2 + size..];
    }
    Ok(blobs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listings_are_read_whole_or_refused() {
        use GitTreeEntryKind::{Executable, File, Link, Submodule};
        let id = "a".repeat(40);
        let text = format!(
            "100644 blob {id}      12\ta b.md\0100755 blob {id} 3\tx/é.sh\0120000 blob {id} 1\tl\0160000 commit {id} -\tsub\0"
        );
        let entries = parse_tree_listing(text.as_bytes()).unwrap();
        let kinds: Vec<GitTreeEntryKind> = entries.iter().map(|entry| entry.kind).collect();
        assert_eq!(kinds, [File, Executable, Link, Submodule]);
        assert_eq!((entries[0].path.as_str(), entries[0].size_bytes), ("a b.md", 12));
        for bad in [
            "nonsense",
            &format!("100644 blob {id} 1\t"),
            &format!("040000 tree {id} -\ta"),
            &format!("100644 blob {id} x\ta"),
            "100644 blob abc 1\ta",
        ] {
            assert!(parse_tree_listing(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(parse_tree_listing(&[&b"100644 blob "[..], id.as_bytes(), b" 1\ta\xff"].concat()).is_err());
    }

    #[test]
    fn blobs_must_be_the_ones_that_were_asked_for() {
        let entry = |id: &str, size_bytes| GitTreeEntry {
            path: "a".to_owned(),
            kind: GitTreeEntryKind::File,
            id: id.repeat(40),
            size_bytes,
        };
        let (one, two) = (entry("a", 2), entry("b", 0));
        let text = format!("{} blob 2\nhi\n{} blob 0\n\n", one.id, two.id);
        assert_eq!(parse_blobs(text.as_bytes(), &[&one, &two]).unwrap(), [b"hi".to_vec(), Vec::new()]);
        for bad in
            [format!("{} missing\n", one.id), format!("{} blob 2\nh", one.id), format!("{} blob 3\nhi!\n", one.id)]
        {
            assert!(parse_blobs(bad.as_bytes(), &[&one]).is_err(), "{bad}");
        }
    }
}
