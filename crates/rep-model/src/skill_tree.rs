//! A skill's directory in memory, the interface between the file system and the other crates.

use std::collections::BTreeMap;

/// An entry of a skill's directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TreeEntry {
    /// A regular file.
    File {
        /// The size on disk.
        size_bytes: u64,
        /// Whether the mode has an execute bit.
        is_executable: bool,
        /// The contents, if they were read.
        content: FileContent,
    },
    /// A directory.
    Directory,
    /// A symbolic link.
    Link {
        /// The target as written.
        target: String,
        /// The resolved target.
        destination: SymlinkTarget,
        /// The contents of the target file, if they were read.
        content: FileContent,
    },
    /// An entry that is not a regular file: a pipe, a socket or a device.
    Other(&'static str),
}

/// The contents of a file, or the reason why they are missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileContent {
    /// The whole file.
    Bytes(Vec<u8>),
    /// The file was not needed and not read.
    NotRead,
    /// The file is larger than the given limit.
    TooLarge(u64),
    /// The file could not be read, with the operating system's message.
    Unreadable(String),
}

/// The resolved target of a symbolic link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SymlinkTarget {
    /// A path in the skill, relative to its root.
    Inside(String),
    /// A path outside the skill's directory.
    Outside,
    /// A path that does not exist, or a loop.
    Nowhere,
}

/// A directory as a value: relative paths with `/`, mapped to entries, in order.
#[derive(Clone, Debug, Default)]
pub struct SkillTree {
    /// The directory as the user named it, used as the prefix of displayed paths. May be empty.
    pub display_root: String,
    /// The resolved name of the directory.
    pub folder: String,
    /// The entries.
    pub entries: BTreeMap<String, TreeEntry>,
    /// A description of the entries omitted from a directory that is too large; empty if all were read.
    pub omissions: String,
    /// Whether the skill is a single `*.uasp.yaml` file, not its directory.
    pub is_lone_file: bool,
}

impl SkillTree {
    /// Creates a tree from texts, for tests and editors.
    pub fn from_texts(folder: &str, files: &[(&str, &str)]) -> Self {
        let entry = |text: &str| TreeEntry::File {
            size_bytes: text.len() as u64,
            is_executable: false,
            content: FileContent::Bytes(text.as_bytes().to_vec()),
        };
        let mut tree = Self { display_root: folder.to_owned(), folder: folder.to_owned(), ..Self::default() };
        for (path, text) in files {
            tree.entries.insert((*path).to_owned(), entry(text));
            let mut parent = *path;
            while let Some((above, _)) = parent.rsplit_once('/') {
                tree.entries.insert(above.to_owned(), TreeEntry::Directory);
                parent = above;
            }
        }
        tree
    }

    /// Returns a path for display.
    pub fn display_path(&self, file: &str) -> String {
        match (self.display_root.as_str(), file) {
            ("", file) => file.to_owned(),
            (shown, "") => shown.to_owned(),
            (shown, file) => format!("{}/{file}", shown.trim_end_matches('/')),
        }
    }

    /// Returns the contents of the file at a path, if they were read.
    pub fn file_bytes(&self, path: &str) -> Option<&[u8]> {
        match self.entries.get(path)? {
            TreeEntry::File { content: FileContent::Bytes(bytes), .. }
            | TreeEntry::Link { content: FileContent::Bytes(bytes), .. } => Some(bytes),
            _ => None,
        }
    }

    /// Whether a file or directory exists at a path. Dangling links do not count.
    pub fn has_path(&self, path: &str) -> bool {
        if path.is_empty() {
            return true;
        }
        match self.entries.get(path) {
            Some(TreeEntry::Link { destination: leads, .. }) => *leads != SymlinkTarget::Nowhere,
            Some(_) => true,
            // A path below a link to a directory of the same skill.
            None => self.resolve_through_link(path).is_some_and(|real| self.entries.contains_key(&real)),
        }
    }

    fn resolve_through_link(&self, path: &str) -> Option<String> {
        path.match_indices('/').find_map(|(at, _)| match self.entries.get(&path[..at])? {
            TreeEntry::Link { destination: SymlinkTarget::Inside(real), .. } => Some(format!("{real}{}", &path[at..])),
            _ => None,
        })
    }

    /// Whether a link at or above a path points outside the skill.
    pub fn has_outside_link(&self, path: &str) -> bool {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        ends.into_iter().any(|end| {
            matches!(self.entries.get(&path[..end]), Some(TreeEntry::Link { destination: SymlinkTarget::Outside, .. }))
        })
    }

    /// Returns the total size of all files.
    pub fn size_bytes(&self) -> u64 {
        let size = |entry: &TreeEntry| match entry {
            TreeEntry::File { size_bytes, .. } => *size_bytes,
            TreeEntry::Directory | TreeEntry::Link { .. } | TreeEntry::Other(_) => 0,
        };
        self.entries.values().map(size).sum()
    }

    /// Returns the number of files and links.
    pub fn file_count(&self) -> usize {
        self.entries.values().filter(|entry| !matches!(entry, TreeEntry::Directory)).count()
    }
}

/// A relative path of a skill with `.` and `..` resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResolvedSkillPath {
    /// A path inside the skill.
    Inside(String),
    /// A path that leaves the skill.
    Outside,
    /// An absolute path.
    Absolute,
}

/// Resolves a path in a skill, relative to the directory `from` (itself relative to the root).
pub fn resolve_skill_path(from: &str, path: &str) -> ResolvedSkillPath {
    let path = path.replace('\\', "/");
    let has_drive = path.as_bytes().get(1) == Some(&b':') && path.as_bytes()[0].is_ascii_alphabetic();
    if path.starts_with('/') || path.starts_with('~') || has_drive {
        return ResolvedSkillPath::Absolute;
    }
    let mut parts: Vec<&str> = from.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if parts.pop().is_none() {
                    return ResolvedSkillPath::Outside;
                }
            }
            part => parts.push(part),
        }
    }
    ResolvedSkillPath::Inside(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_resolve_inside_outside_or_absolute() {
        assert_eq!(resolve_skill_path("", "./references//a.md"), ResolvedSkillPath::Inside("references/a.md".into()));
        assert_eq!(
            resolve_skill_path("references", "../scripts/x.py"),
            ResolvedSkillPath::Inside("scripts/x.py".into())
        );
        assert_eq!(resolve_skill_path("references", "../../x"), ResolvedSkillPath::Outside);
        assert_eq!(resolve_skill_path("", "a\\b"), ResolvedSkillPath::Inside("a/b".into()));
        for absolute in ["/etc/x", "~/x", "C:\\x"] {
            assert_eq!(resolve_skill_path("", absolute), ResolvedSkillPath::Absolute, "{absolute}");
        }
    }
}
