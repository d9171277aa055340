//! Reads a skill's folder into a [`SkillTree`], with bounds on everything.
//!
//! What belongs to the folder's content and cannot be read is recorded in the tree, where the
//! rules find it; only a folder that cannot be opened at all is an error.

use std::fs::{self, File, FileType};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rep_model::{Content, Entry, Leads, Skill, SkillTree, uasp};

use crate::catalog::CatalogEntry;
use crate::error::{LibraryError, words};
use crate::find::Found;

/// The largest SKILL.md, UASP file or tools.json that is read.
pub const MAIN_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// The largest other text file that is read.
const TEXT_BYTES_MAX: u64 = 1024 * 1024;
/// What is read of one skill altogether.
const SKILL_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// The most entries that are listed of one skill.
const ENTRIES_MAX: usize = 20_000;
/// The deepest folder that is listed.
const DEPTH_MAX: usize = 16;

/// How much of a skill to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Only SKILL.md.
    Manifest,
    /// The whole folder: every name, and every text file.
    Folder,
    /// Every name and no bytes.
    Names,
    /// Every name, and the bytes of the files the model is read from: SKILL.md, tools.json, `*.uasp.yaml`.
    Main,
}

/// Reads a skill folder. `shown` is how the user knows it.
pub fn folder(path: &Path, shown: &str, extent: Extent) -> Result<SkillTree, LibraryError> {
    let mut tree = SkillTree { shown: shown.to_owned(), folder: folder_name(path), ..SkillTree::default() };
    let mut reader = Reader { root: path, real_root: None, tree: &mut tree, budget: SKILL_BYTES_MAX, extent };
    match extent {
        Extent::Manifest => reader.manifest_only(),
        Extent::Folder | Extent::Names | Extent::Main => reader.walk()?,
    }
    Ok(tree)
}

/// A tree of files that are in memory, with the bounds a folder on disk has: each file's path, bytes and whether it can be
/// executed.
pub fn held<'a>(shown: &str, folder: &str, files: impl Iterator<Item = (&'a str, &'a [u8], bool)>) -> SkillTree {
    let mut tree = SkillTree { shown: shown.to_owned(), folder: folder.to_owned(), ..SkillTree::default() };
    let mut budget = SKILL_BYTES_MAX;
    for (path, bytes, is_executable) in files {
        for (at, _) in path.match_indices('/') {
            tree.entries.entry(path[..at].to_owned()).or_insert(Entry::Directory);
        }
        let size_bytes = bytes.len() as u64;
        let content = match wanted(path, Extent::Folder, budget) {
            Some(most) if size_bytes <= most => {
                budget = budget.saturating_sub(size_bytes);
                Content::Bytes(bytes.to_vec())
            }
            Some(most) if is_main(path) => Content::TooLarge(most),
            _ => Content::NotRead,
        };
        tree.entries.insert(path.to_owned(), Entry::File { size_bytes, is_executable, content });
    }
    tree
}

/// Reads a lone `*.uasp.yaml`.
pub fn lone_file(path: &Path, shown: &str) -> SkillTree {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let parent = shown.strip_suffix(&name).unwrap_or("").trim_end_matches('/');
    let folder = folder_name(path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new(".")));
    let mut tree = SkillTree { shown: parent.to_owned(), folder, is_lone_file: true, ..SkillTree::default() };
    let (entry, _) = read_file(path, MAIN_BYTES_MAX);
    tree.entries.insert(name, entry);
    tree
}

/// The folder's own name: as given where it ends in one, resolved for `.` and `..`.
pub fn folder_name(path: &Path) -> String {
    let given = path.file_name().map(|name| name.to_string_lossy().into_owned());
    given.filter(|_| !path.ends_with("..")).unwrap_or_else(|| {
        let real = fs::canonicalize(path).ok();
        real.and_then(|real| real.file_name().map(|name| name.to_string_lossy().into_owned())).unwrap_or_default()
    })
}

struct Reader<'a> {
    root: &'a Path,
    real_root: Option<PathBuf>,
    tree: &'a mut SkillTree,
    budget: u64,
    extent: Extent,
}

impl Reader<'_> {
    fn manifest_only(&mut self) {
        for name in ["SKILL.md", "skill.md"] {
            let path = self.root.join(name);
            let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
            let entry = self.entry(&path, name, metadata.file_type());
            self.tree.entries.insert(name.to_owned(), entry);
            return;
        }
    }

    fn walk(&mut self) -> Result<(), LibraryError> {
        let mut open = vec![(self.root.to_owned(), String::new(), 0)];
        while let Some((folder, prefix, depth)) = open.pop() {
            let listing = match fs::read_dir(&folder) {
                Ok(listing) => listing,
                Err(error) if depth == 0 => return Err(LibraryError::new("read the folder", &folder, error)),
                Err(error) => {
                    let content = Content::Unreadable(error.to_string());
                    let entry = Entry::File { size_bytes: 0, is_executable: false, content };
                    self.tree.entries.insert(prefix, entry);
                    continue;
                }
            };
            for item in listing.flatten() {
                let name = item.file_name().to_string_lossy().into_owned();
                let relative = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
                let Ok(kind) = item.file_type() else { continue };
                if self.tree.entries.len() >= ENTRIES_MAX {
                    self.tree.left_out = format!("it has more than {ENTRIES_MAX} entries");
                    return Ok(());
                }
                if kind.is_dir() {
                    self.tree.entries.insert(relative.clone(), Entry::Directory);
                    if depth + 1 >= DEPTH_MAX {
                        self.tree.left_out = format!("it is more than {DEPTH_MAX} folders deep");
                    } else if name != ".git" {
                        open.push((item.path(), relative, depth + 1));
                    }
                } else {
                    let entry = self.entry(&item.path(), &relative, kind);
                    self.tree.entries.insert(relative, entry);
                }
            }
        }
        Ok(())
    }

    fn entry(&mut self, path: &Path, relative: &str, kind: FileType) -> Entry {
        if kind.is_symlink() {
            return self.link(path, relative);
        }
        if kind.is_dir() {
            return Entry::Directory;
        }
        if let Some(word) = irregular(kind) {
            return Entry::Other(word);
        }
        let Some(most) = wanted(relative, self.extent, self.budget) else {
            return fs::symlink_metadata(path).map_or_else(
                |error| Entry::File {
                    size_bytes: 0,
                    is_executable: false,
                    content: Content::Unreadable(error.to_string()),
                },
                |metadata| Entry::File {
                    size_bytes: metadata.len(),
                    is_executable: metadata.permissions().mode() & 0o111 != 0,
                    content: Content::NotRead,
                },
            );
        };
        let (mut entry, used) = read_file(path, most);
        self.budget = self.budget.saturating_sub(used);
        if let Entry::File { content, .. } = &mut entry
            && matches!(content, Content::TooLarge(_))
            && !is_main(relative)
        {
            *content = Content::NotRead;
        }
        entry
    }

    fn link(&mut self, path: &Path, relative: &str) -> Entry {
        let target = fs::read_link(path).map(|target| target.to_string_lossy().into_owned()).unwrap_or_default();
        let real_root = self.real_root.get_or_insert_with(|| fs::canonicalize(self.root).unwrap_or_default());
        let leads = match fs::canonicalize(path) {
            Err(_) => Leads::Nowhere,
            Ok(real) => match real.strip_prefix(real_root) {
                Ok(inside) => Leads::Inside(inside.to_string_lossy().into_owned()),
                Err(_) => Leads::Outside,
            },
        };
        let mut content = Content::NotRead;
        if is_main(relative) && leads != Leads::Nowhere && self.extent != Extent::Names {
            match read_file(path, MAIN_BYTES_MAX).0 {
                Entry::File { content: read, .. } => content = read,
                other => return other,
            }
        }
        Entry::Link { target, leads, content }
    }
}

/// How many bytes of a file are worth reading; `None` for none.
fn wanted(relative: &str, extent: Extent, budget: u64) -> Option<u64> {
    if extent == Extent::Names {
        return None;
    }
    if is_main(relative) {
        return Some(MAIN_BYTES_MAX);
    }
    if extent == Extent::Main {
        return None;
    }
    let is_foreign = relative.split('/').any(|part| part == "node_modules");
    (is_text_name(relative) && !is_foreign && budget > 0).then_some(TEXT_BYTES_MAX.min(budget))
}

/// The files the model reads, whatever their size.
fn is_main(relative: &str) -> bool {
    matches!(relative, "SKILL.md" | "skill.md" | "tools.json")
        || (relative.ends_with(uasp::SUFFIX) && !relative.contains('/'))
}

/// Whether a file name promises text.
fn is_text_name(relative: &str) -> bool {
    const ENDINGS: [&str; 32] = [
        "bash", "bat", "c", "cfg", "cjs", "conf", "css", "csv", "env", "go", "html", "ini", "java", "js", "json",
        "jsx", "markdown", "md", "mjs", "pl", "ps1", "py", "rb", "rs", "sh", "sql", "toml", "ts", "tsx", "txt", "yaml",
        "yml",
    ];
    let name = relative.rsplit('/').next().unwrap_or(relative);
    match name.rsplit_once('.') {
        Some((_, ending)) => ENDINGS.binary_search(&ending.to_ascii_lowercase().as_str()).is_ok(),
        // Scripts often have no ending.
        None => relative.starts_with("scripts/") || relative.starts_with("bin/"),
    }
}

fn irregular(kind: FileType) -> Option<&'static str> {
    if kind.is_fifo() {
        Some("named pipe")
    } else if kind.is_socket() {
        Some("socket")
    } else if kind.is_char_device() || kind.is_block_device() {
        Some("device")
    } else {
        None
    }
}

/// Reads a file of at most `most` bytes, without ever waiting for a pipe. Says how many bytes it took.
fn read_file(path: &Path, most: u64) -> (Entry, u64) {
    let unreadable = |error: &io::Error| {
        let content = Content::Unreadable(words(error));
        (Entry::File { size_bytes: 0, is_executable: false, content }, 0)
    };
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or(0);
    let file = match File::options().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) => return unreadable(&error),
    };
    let metadata = match file.metadata() {
        Ok(metadata) => metadata,
        Err(error) => return unreadable(&error),
    };
    if metadata.is_dir() {
        return (Entry::Directory, 0);
    }
    if let Some(word) = irregular(metadata.file_type()) {
        return (Entry::Other(word), 0);
    }
    let is_executable = metadata.permissions().mode() & 0o111 != 0;
    let size_bytes = metadata.len();
    if size_bytes > most {
        return (Entry::File { size_bytes, is_executable, content: Content::TooLarge(most) }, 0);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size_bytes).unwrap_or(0));
    // The file may grow while it is read.
    match file.take(most + 1).read_to_end(&mut bytes) {
        Err(error) => unreadable(&error),
        Ok(read) if read as u64 > most => {
            (Entry::File { size_bytes: read as u64, is_executable, content: Content::TooLarge(most) }, 0)
        }
        Ok(read) => {
            (Entry::File { size_bytes: read as u64, is_executable, content: Content::Bytes(bytes) }, read as u64)
        }
    }
}

/// Reads a text file of at most so many bytes.
pub fn text(path: &Path, most: u64) -> Result<String, LibraryError> {
    let fail = |_| LibraryError::new("read", path, io::Error::other("it is not UTF-8"));
    String::from_utf8(bytes(path, most)?).map_err(fail)
}

/// Reads a regular file of at most so many bytes, without ever waiting for a pipe.
pub fn bytes(path: &Path, most: u64) -> Result<Vec<u8>, LibraryError> {
    let fail = |error: io::Error| LibraryError::new("read", path, error);
    match read_file(path, most).0 {
        Entry::File { content: Content::Bytes(bytes), .. } => Ok(bytes),
        Entry::File { content: Content::Unreadable(reason), .. } => Err(fail(io::Error::other(reason))),
        Entry::File { content: Content::TooLarge(limit), .. } => {
            Err(fail(io::Error::other(format!("it is larger than {limit} bytes"))))
        }
        Entry::Directory => Err(fail(io::Error::other("it is a folder"))),
        Entry::File { .. } | Entry::Link { .. } | Entry::Other(_) => {
            Err(fail(io::Error::other("it is no regular file")))
        }
    }
}

/// Reads a skill again, whole as far as the model goes: its main files, and the names of the others.
pub fn skill(entry: &CatalogEntry) -> Result<Skill, LibraryError> {
    Ok(Skill::parse(Found::from_entry(entry).read(Extent::Main)?).0)
}
