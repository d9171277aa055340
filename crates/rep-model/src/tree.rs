//! A skill's folder held in memory: the hinge between the file system and everything else.

use std::collections::BTreeMap;

/// What lies at one path of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A regular file.
    File {
        /// Its size on disk.
        size_bytes: u64,
        /// Whether its mode lets somebody execute it.
        is_executable: bool,
        /// Its bytes, as far as they were read.
        content: Content,
    },
    /// A folder.
    Directory,
    /// A symbolic link.
    Link {
        /// The target as written.
        target: String,
        /// Where it leads once resolved.
        leads: Leads,
        /// The bytes of the file it leads to, as far as they were read.
        content: Content,
    },
    /// Something that cannot be read as a file: a pipe, a socket or a device.
    Other(&'static str),
}

/// The bytes of a file, or why they are not here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// The whole file.
    Bytes(Vec<u8>),
    /// Nobody needed it.
    NotRead,
    /// Larger than what is read of such a file, which is given.
    TooLarge(u64),
    /// The system refused, with its words.
    Unreadable(String),
}

/// Where a symbolic link leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leads {
    /// To a path inside the skill, given relative to its root.
    Inside(String),
    /// Out of the skill's folder.
    Outside,
    /// To nothing, or round in a circle.
    Nowhere,
}

/// A folder as a value: relative path with `/` → entry, in order.
#[derive(Clone, Debug, Default)]
pub struct SkillTree {
    /// The folder as the user knows it, put before every path that is shown. May be empty.
    pub shown: String,
    /// The folder's own name, resolved.
    pub folder: String,
    /// What it holds.
    pub entries: BTreeMap<String, Entry>,
    /// What was left out of a folder too large to take in, in words; empty when nothing was.
    pub left_out: String,
    /// For a lone `*.uasp.yaml`: the skill is that file, not its folder.
    pub is_lone_file: bool,
}

impl SkillTree {
    /// A tree of texts, for tests and for editors.
    pub fn of(folder: &str, files: &[(&str, &str)]) -> Self {
        let entry = |text: &str| Entry::File {
            size_bytes: text.len() as u64,
            is_executable: false,
            content: Content::Bytes(text.as_bytes().to_vec()),
        };
        let mut tree = Self { shown: folder.to_owned(), folder: folder.to_owned(), ..Self::default() };
        for (path, text) in files {
            tree.entries.insert((*path).to_owned(), entry(text));
            let mut parent = *path;
            while let Some((above, _)) = parent.rsplit_once('/') {
                tree.entries.insert(above.to_owned(), Entry::Directory);
                parent = above;
            }
        }
        tree
    }

    /// The path as the user knows it.
    pub fn shown_path(&self, file: &str) -> String {
        match (self.shown.as_str(), file) {
            ("", file) => file.to_owned(),
            (shown, "") => shown.to_owned(),
            (shown, file) => format!("{}/{file}", shown.trim_end_matches('/')),
        }
    }

    /// The bytes at a path, where they were read.
    pub fn bytes(&self, path: &str) -> Option<&[u8]> {
        match self.entries.get(path)? {
            Entry::File { content: Content::Bytes(bytes), .. } | Entry::Link { content: Content::Bytes(bytes), .. } => {
                Some(bytes)
            }
            _ => None,
        }
    }

    /// Whether a file or folder lies at a path; links that lead nowhere do not count.
    pub fn has(&self, path: &str) -> bool {
        if path.is_empty() {
            return true;
        }
        match self.entries.get(path) {
            Some(Entry::Link { leads, .. }) => *leads != Leads::Nowhere,
            Some(_) => true,
            // A path below a link to a folder of the same skill.
            None => self.through_link(path).is_some_and(|real| self.entries.contains_key(&real)),
        }
    }

    fn through_link(&self, path: &str) -> Option<String> {
        path.match_indices('/').find_map(|(at, _)| match self.entries.get(&path[..at])? {
            Entry::Link { leads: Leads::Inside(real), .. } => Some(format!("{real}{}", &path[at..])),
            _ => None,
        })
    }

    /// The first link on the way to a path, or at it, that leads out of the skill.
    pub fn escapes(&self, path: &str) -> bool {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        ends.into_iter()
            .any(|end| matches!(self.entries.get(&path[..end]), Some(Entry::Link { leads: Leads::Outside, .. })))
    }

    /// The size of all files together.
    pub fn size_bytes(&self) -> u64 {
        let size = |entry: &Entry| match entry {
            Entry::File { size_bytes, .. } => *size_bytes,
            Entry::Directory | Entry::Link { .. } | Entry::Other(_) => 0,
        };
        self.entries.values().map(size).sum()
    }

    /// The number of files and links.
    pub fn file_count(&self) -> usize {
        self.entries.values().filter(|entry| !matches!(entry, Entry::Directory)).count()
    }
}

/// What a relative path of a skill comes to once `.` and `..` are worked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolved {
    /// A path inside the skill.
    Inside(String),
    /// A path that leaves the skill.
    Outside,
    /// An absolute path.
    Absolute,
}

/// Works out a path written in a skill, from the folder `from` (relative to the root).
pub fn resolve(from: &str, path: &str) -> Resolved {
    let path = path.replace('\\', "/");
    let has_drive = path.as_bytes().get(1) == Some(&b':') && path.as_bytes()[0].is_ascii_alphabetic();
    if path.starts_with('/') || path.starts_with('~') || has_drive {
        return Resolved::Absolute;
    }
    let mut parts: Vec<&str> = from.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if parts.pop().is_none() {
                    return Resolved::Outside;
                }
            }
            part => parts.push(part),
        }
    }
    Resolved::Inside(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_resolve_inside_outside_or_absolute() {
        assert_eq!(resolve("", "./references//a.md"), Resolved::Inside("references/a.md".into()));
        assert_eq!(resolve("references", "../scripts/x.py"), Resolved::Inside("scripts/x.py".into()));
        assert_eq!(resolve("references", "../../x"), Resolved::Outside);
        assert_eq!(resolve("", "a\\b"), Resolved::Inside("a/b".into()));
        for absolute in ["/etc/x", "~/x", "C:\\x"] {
            assert_eq!(resolve("", absolute), Resolved::Absolute, "{absolute}");
        }
    }
}
