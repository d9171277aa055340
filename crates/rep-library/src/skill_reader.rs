//! Reads a skill's directory into a [`SkillTree`], with limits on everything.
//!
//! Content that cannot be read is recorded in the tree, where rules report it. Only a directory that cannot be opened
//! is an error.

use std::collections::BTreeSet;
use std::fs::{self, FileType};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rep_model::{
    Fault, FileContent, ResolvedSkillPath, Skill, SkillDocument, SkillTree, SymlinkTarget, TreeEntry,
    resolve_skill_path, uasp,
};
use rep_storage::platform::{self, LinkPolicy, name_special_kind, open_file};

use crate::catalog::CatalogEntry;
use crate::discovery::SkillLocation;
use crate::error::{LibraryError, describe_io_error};
use crate::folder_stamp::{FolderStamp, StampBuilder};
use crate::validation::{SkillValidation, ValidationMode, validate_skill};

/// The maximum size of a SKILL.md, UASP file or tools.json.
pub const MAIN_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// The maximum size of a script that is read.
const SCRIPT_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// The maximum size of any other text file that is read.
const TEXT_BYTES_MAX: u64 = 1024 * 1024;
/// The number of bytes that tell what kind of file it is.
const HEAD_BYTES: usize = 4096;
/// The maximum number of bytes read from a skill.
const SKILL_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// The maximum number of entries listed for a skill.
const ENTRIES_MAX: usize = 20_000;
/// The maximum depth of directories that are listed.
const DEPTH_MAX: usize = 16;

/// How much of a skill to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadExtent {
    /// Only SKILL.md.
    Manifest,
    /// The whole directory: every name, and every text file.
    Folder,
    /// The whole directory as a scan needs it: every name, and every file but media.
    Everything,
    /// Every name, without content.
    Names,
    /// Every name, and the content of the main files: SKILL.md, tools.json, `*.uasp.yaml`.
    Main,
}

/// Whether links that leave the directory being read are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkHandling {
    /// They are followed, so that a linked skill is checked like any other.
    Followed,
    /// They are not followed: the files behind them were not opened by the user.
    KeptInside,
}

/// Reads a skill directory. `shown` is its path for display.
pub fn read_folder(path: &Path, shown: &str, extent: ReadExtent) -> Result<SkillTree, LibraryError> {
    read_folder_with(path, shown, extent, LinkHandling::Followed)
}

/// Reads a skill directory, and decides whether main files are read through links that leave it.
pub(crate) fn read_folder_with(
    path: &Path,
    shown: &str,
    extent: ReadExtent,
    links: LinkHandling,
) -> Result<SkillTree, LibraryError> {
    Ok(read_stamped_folder(path, shown, extent, links)?.0)
}

/// Reads a skill directory, with the stamp of what was read, if it has one.
pub(crate) fn read_stamped_folder(
    path: &Path,
    shown: &str,
    extent: ReadExtent,
    links: LinkHandling,
) -> Result<(SkillTree, Option<FolderStamp>), LibraryError> {
    let mut tree = SkillTree { display_root: shown.to_owned(), folder: folder_name(path), ..SkillTree::default() };
    let (budget, stamp) = (SKILL_BYTES_MAX, StampBuilder::default());
    let mut reader = FolderReader { root: path, real_root: None, tree: &mut tree, budget, extent, links, stamp };
    match extent {
        ReadExtent::Manifest => reader.read_manifest_only(),
        ReadExtent::Folder | ReadExtent::Everything | ReadExtent::Names | ReadExtent::Main => reader.walk_folder()?,
    }
    let stamp = reader.stamp.finish().filter(|_| tree.omissions.is_empty());
    Ok((tree, stamp))
}

/// Builds a tree from files in memory, with the same limits as a directory on disk. Each file has a path, its bytes,
/// and whether it is executable.
pub fn build_tree<'a>(
    shown: &str,
    folder: &str,
    extent: ReadExtent,
    files: impl Iterator<Item = (&'a str, &'a [u8], bool)>,
) -> SkillTree {
    let mut tree = SkillTree { display_root: shown.to_owned(), folder: folder.to_owned(), ..SkillTree::default() };
    let mut budget = SKILL_BYTES_MAX;
    for (path, bytes, is_executable) in files {
        for (at, _) in path.match_indices('/') {
            tree.entries.entry(path[..at].to_owned()).or_insert(TreeEntry::Directory);
        }
        let size_bytes = bytes.len() as u64;
        let content = match choose_read_limit(path, extent, budget) {
            Some(_) if extent == ReadExtent::Everything && is_media_file(path, bytes) => FileContent::NotRead,
            Some(most) if size_bytes <= most => {
                budget = budget.saturating_sub(size_bytes);
                FileContent::Bytes(bytes.to_vec())
            }
            Some(most) if is_main_file(path) || extent == ReadExtent::Everything => FileContent::TooLarge(most),
            _ => FileContent::NotRead,
        };
        tree.entries.insert(path.to_owned(), TreeEntry::File { size_bytes, is_executable, content });
    }
    tree
}

/// Reads a single `*.uasp.yaml` file.
pub fn read_lone_file(path: &Path, shown: &str) -> SkillTree {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let parent = shown.strip_suffix(&name).unwrap_or("").trim_end_matches('/');
    let folder = folder_name(path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new(".")));
    let mut tree = SkillTree { display_root: parent.to_owned(), folder, is_lone_file: true, ..SkillTree::default() };
    let (entry, _) = read_file(path, MAIN_BYTES_MAX);
    tree.entries.insert(name, entry);
    tree
}

/// Returns the name of the directory: the last component of the path, or the resolved name for `.` and `..`.
pub fn folder_name(path: &Path) -> String {
    let given = path.file_name().map(|name| name.to_string_lossy().into_owned());
    given.filter(|_| !path.ends_with("..")).unwrap_or_else(|| {
        let real = fs::canonicalize(path).ok();
        real.and_then(|real| real.file_name().map(|name| name.to_string_lossy().into_owned())).unwrap_or_default()
    })
}

struct FolderReader<'a> {
    root: &'a Path,
    real_root: Option<PathBuf>,
    tree: &'a mut SkillTree,
    budget: u64,
    extent: ReadExtent,
    links: LinkHandling,
    stamp: StampBuilder,
}

impl FolderReader<'_> {
    fn read_manifest_only(&mut self) {
        for name in ["SKILL.md", "skill.md"] {
            let path = self.root.join(name);
            let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
            let entry = self.read_entry(&path, name, metadata.file_type());
            self.tree.entries.insert(name.to_owned(), entry);
            return;
        }
    }

    fn walk_folder(&mut self) -> Result<(), LibraryError> {
        let mut open = vec![(self.root.to_owned(), String::new(), 0)];
        while let Some((folder, prefix, depth)) = open.pop() {
            let listing = match fs::read_dir(&folder) {
                Ok(listing) => listing,
                Err(error) if depth == 0 => return Err(LibraryError::new("read the directory", &folder, error)),
                Err(error) => {
                    self.stamp.reject();
                    let content = FileContent::Unreadable(error.to_string());
                    let entry = TreeEntry::File { size_bytes: 0, is_executable: false, content };
                    self.tree.entries.insert(prefix, entry);
                    continue;
                }
            };
            for item in listing.flatten() {
                let name = item.file_name().to_string_lossy().into_owned();
                let relative = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
                let Ok(kind) = item.file_type() else { continue };
                if self.tree.entries.len() >= ENTRIES_MAX {
                    self.tree.omissions = format!("it has more than {ENTRIES_MAX} entries");
                    return Ok(());
                }
                if kind.is_dir() {
                    self.tree.entries.insert(relative.clone(), TreeEntry::Directory);
                    self.stamp.add_folder(&relative, depth + 1);
                    if depth + 1 >= DEPTH_MAX {
                        self.tree.omissions = format!("it is more than {DEPTH_MAX} directories deep");
                    } else if name != ".git" {
                        open.push((item.path(), relative, depth + 1));
                    }
                } else {
                    let entry = self.read_entry(&item.path(), &relative, kind);
                    self.tree.entries.insert(relative, entry);
                }
            }
        }
        Ok(())
    }

    fn read_entry(&mut self, path: &Path, relative: &str, kind: FileType) -> TreeEntry {
        if !kind.is_file() {
            self.stamp.reject();
        }
        if kind.is_symlink() {
            return self.read_link_entry(path, relative);
        }
        if kind.is_dir() {
            return TreeEntry::Directory;
        }
        if let Some(word) = name_special_kind(kind) {
            return TreeEntry::Other(word);
        }
        let Some(most) = choose_read_limit(relative, self.extent, self.budget) else {
            return self.list_entry(path, relative);
        };
        if self.extent == ReadExtent::Everything
            && rep_scan::has_media_name(relative)
            && read_head(path).is_some_and(|head| is_media_file(relative, &head))
        {
            return self.list_entry(path, relative);
        }
        let mut metadata = None;
        let (mut entry, used) = read_noted_file(path, most, &mut metadata);
        match metadata {
            Some(metadata) => self.stamp.add_file(relative, &metadata),
            None => self.stamp.reject(),
        }
        self.budget = self.budget.saturating_sub(used);
        if let TreeEntry::File { content, .. } = &mut entry
            && matches!(content, FileContent::TooLarge(_))
            && !is_main_file(relative)
            && self.extent != ReadExtent::Everything
        {
            *content = FileContent::NotRead;
        }
        entry
    }

    /// Returns a file without its content.
    fn list_entry(&mut self, path: &Path, relative: &str) -> TreeEntry {
        match fs::symlink_metadata(path) {
            Ok(metadata) => {
                self.stamp.add_file(relative, &metadata);
                TreeEntry::File {
                    size_bytes: metadata.len(),
                    is_executable: platform::is_executable(&metadata),
                    content: FileContent::NotRead,
                }
            }
            Err(error) => {
                self.stamp.reject();
                let content = FileContent::Unreadable(error.to_string());
                TreeEntry::File { size_bytes: 0, is_executable: false, content }
            }
        }
    }

    fn read_link_entry(&mut self, path: &Path, relative: &str) -> TreeEntry {
        let target = fs::read_link(path).map(|target| target.to_string_lossy().into_owned()).unwrap_or_default();
        let real_root = self.real_root.get_or_insert_with(|| fs::canonicalize(self.root).unwrap_or_default());
        let leads = match fs::canonicalize(path) {
            Err(_) => SymlinkTarget::Nowhere,
            Ok(real) => match real.strip_prefix(real_root) {
                Ok(inside) => SymlinkTarget::Inside(inside.to_string_lossy().into_owned()),
                Err(_) => SymlinkTarget::Outside,
            },
        };
        let mut content = FileContent::NotRead;
        let is_readable = match leads {
            SymlinkTarget::Inside(_) => true,
            SymlinkTarget::Outside => self.links == LinkHandling::Followed,
            SymlinkTarget::Nowhere => false,
        };
        if is_main_file(relative) && is_readable && self.extent != ReadExtent::Names {
            match read_file(path, MAIN_BYTES_MAX).0 {
                TreeEntry::File { content: read, .. } => content = read,
                other => return other,
            }
        }
        TreeEntry::Link { target, destination: leads, content }
    }
}

/// Replaces a file of a tree by a text, with the limits of a file on disk. The directories above it are added.
pub(crate) fn replace_file(tree: &mut SkillTree, relative: &str, text: &str) {
    let size_bytes = text.len() as u64;
    // What a scan read is read again, whatever its name.
    let extent = if tree.file_bytes(relative).is_some() { ReadExtent::Everything } else { ReadExtent::Folder };
    let new = match choose_read_limit(relative, extent, SKILL_BYTES_MAX) {
        Some(most) if size_bytes <= most => FileContent::Bytes(text.as_bytes().to_vec()),
        Some(most) if is_main_file(relative) => FileContent::TooLarge(most),
        _ => FileContent::NotRead,
    };
    match tree.entries.get_mut(relative) {
        Some(TreeEntry::File { size_bytes: size, content, .. }) => (*size, *content) = (size_bytes, new),
        // As on disk, only main files are read through links.
        Some(TreeEntry::Link { content, .. }) if is_main_file(relative) => *content = new,
        Some(TreeEntry::Link { .. } | TreeEntry::Directory | TreeEntry::Other(_)) => {}
        None => {
            for (at, _) in relative.match_indices('/') {
                tree.entries.entry(relative[..at].to_owned()).or_insert(TreeEntry::Directory);
            }
            let file = TreeEntry::File { size_bytes, is_executable: false, content: new };
            tree.entries.insert(relative.to_owned(), file);
        }
    }
}

/// Returns the maximum number of bytes to read from a file, or `None` to skip it.
fn choose_read_limit(relative: &str, extent: ReadExtent, budget: u64) -> Option<u64> {
    if extent == ReadExtent::Names {
        return None;
    }
    if is_main_file(relative) {
        return Some(MAIN_BYTES_MAX);
    }
    if extent == ReadExtent::Main {
        return None;
    }
    let is_foreign = relative.split('/').any(|part| part == "node_modules");
    if extent == ReadExtent::Everything {
        return (!is_foreign).then_some(SCRIPT_BYTES_MAX.min(budget));
    }
    let most = if is_script_name(relative) { SCRIPT_BYTES_MAX } else { TEXT_BYTES_MAX };
    (is_text_name(relative) && !is_foreign && budget > 0).then_some(most.min(budget))
}

/// Returns whether a file name is that of code which a scan reads: padding must not hide it.
fn is_script_name(relative: &str) -> bool {
    const ENDINGS: [&str; 10] = ["bash", "cjs", "js", "jsx", "mjs", "ps1", "py", "sh", "ts", "tsx"];
    let name = relative.rsplit('/').next().unwrap_or(relative);
    match name.rsplit_once('.') {
        Some((_, ending)) => ENDINGS.binary_search(&ending.to_ascii_lowercase().as_str()).is_ok(),
        None => true,
    }
}

/// Returns whether a file is a main file, which is read regardless of its size.
fn is_main_file(relative: &str) -> bool {
    matches!(relative, "SKILL.md" | "skill.md" | "tools.json")
        || (relative.ends_with(uasp::FILE_SUFFIX) && !relative.contains('/'))
}

/// Returns whether a file name indicates text.
fn is_text_name(relative: &str) -> bool {
    const ENDINGS: [&str; 32] = [
        "bash", "bat", "c", "cfg", "cjs", "conf", "css", "csv", "env", "go", "html", "ini", "java", "js", "json",
        "jsx", "markdown", "md", "mjs", "pl", "ps1", "py", "rb", "rs", "sh", "sql", "toml", "ts", "tsx", "txt", "yaml",
        "yml",
    ];
    let name = relative.rsplit('/').next().unwrap_or(relative);
    match name.rsplit_once('.') {
        Some((_, ending)) => ENDINGS.binary_search(&ending.to_ascii_lowercase().as_str()).is_ok(),
        // Scripts often have no extension.
        None => relative.starts_with("scripts/") || relative.starts_with("bin/"),
    }
}

/// Whether a file holds an image, sound, video or a font, by its name and its first bytes.
fn is_media_file(relative: &str, bytes: &[u8]) -> bool {
    rep_scan::has_media_name(relative) && rep_scan::is_media(&bytes[..bytes.len().min(HEAD_BYTES)])
}

/// Reads the first bytes of a regular file without blocking on a pipe.
fn read_head(path: &Path) -> Option<Vec<u8>> {
    let file = open_file(path, LinkPolicy::Follow).ok()?;
    file.metadata().ok().filter(fs::Metadata::is_file)?;
    let mut head = Vec::with_capacity(HEAD_BYTES);
    file.take(HEAD_BYTES as u64).read_to_end(&mut head).ok()?;
    Some(head)
}

/// Reads a file of at most `most` bytes without blocking on a pipe. Returns the number of bytes read.
fn read_file(path: &Path, most: u64) -> (TreeEntry, u64) {
    read_noted_file(path, most, &mut None)
}

/// Like [`read_file`], and notes the metadata of the file before it was read. Nothing is noted about a file whose content
/// could not be read.
fn read_noted_file(path: &Path, most: u64, noted: &mut Option<fs::Metadata>) -> (TreeEntry, u64) {
    let unreadable = |error: &io::Error| {
        let content = FileContent::Unreadable(describe_io_error(error));
        (TreeEntry::File { size_bytes: 0, is_executable: false, content }, 0)
    };
    let file = match open_file(path, LinkPolicy::Follow) {
        Ok(file) => file,
        Err(error) => return unreadable(&error),
    };
    let metadata = match file.metadata() {
        Ok(metadata) => metadata,
        Err(error) => return unreadable(&error),
    };
    if metadata.is_dir() {
        return (TreeEntry::Directory, 0);
    }
    if let Some(word) = name_special_kind(metadata.file_type()) {
        return (TreeEntry::Other(word), 0);
    }
    let is_executable = platform::is_executable(&metadata);
    let size_bytes = metadata.len();
    if size_bytes > most {
        *noted = Some(metadata);
        return (TreeEntry::File { size_bytes, is_executable, content: FileContent::TooLarge(most) }, 0);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size_bytes).unwrap_or(0));
    *noted = Some(metadata);
    // The file may grow while it is read.
    match file.take(most + 1).read_to_end(&mut bytes) {
        Err(error) => {
            *noted = None;
            unreadable(&error)
        }
        Ok(read) if read as u64 > most => {
            (TreeEntry::File { size_bytes: read as u64, is_executable, content: FileContent::TooLarge(most) }, 0)
        }
        Ok(read) => (
            TreeEntry::File { size_bytes: read as u64, is_executable, content: FileContent::Bytes(bytes) },
            read as u64,
        ),
    }
}

/// Reads a text file of at most `most` bytes.
pub fn read_text(path: &Path, most: u64) -> Result<String, LibraryError> {
    let fail = |_| LibraryError::new("read", path, io::Error::other("it is not UTF-8"));
    String::from_utf8(read_bytes(path, most)?).map_err(fail)
}

/// Reads a regular file of at most `most` bytes without blocking on a pipe.
pub fn read_bytes(path: &Path, most: u64) -> Result<Vec<u8>, LibraryError> {
    let fail = |error: io::Error| LibraryError::new("read", path, error);
    match read_file(path, most).0 {
        TreeEntry::File { content: FileContent::Bytes(bytes), .. } => Ok(bytes),
        TreeEntry::File { content: FileContent::Unreadable(reason), .. } => Err(fail(io::Error::other(reason))),
        TreeEntry::File { content: FileContent::TooLarge(limit), .. } => {
            Err(fail(io::Error::other(format!("it is larger than {limit} bytes"))))
        }
        TreeEntry::Directory => Err(fail(io::Error::other("it is a directory"))),
        TreeEntry::File { .. } | TreeEntry::Link { .. } | TreeEntry::Other(_) => {
            Err(fail(io::Error::other("it is not a regular file")))
        }
    }
}

/// Reads a skill's main files and the names of its other files again.
pub fn read_skill(entry: &CatalogEntry) -> Result<Skill, LibraryError> {
    Ok(read_skill_with_faults(entry)?.0)
}

/// Reads a skill's main files and the names of its other files again, with the faults that parsing found.
pub fn read_skill_with_faults(entry: &CatalogEntry) -> Result<(Skill, Vec<Fault>), LibraryError> {
    Ok(Skill::parse(SkillLocation::from_entry(entry).read(ReadExtent::Main)?))
}

/// Reads a skill and validates it before it is used. An entry of a lenient library has no violations.
pub fn read_validated_skill(entry: &CatalogEntry) -> Result<(Skill, SkillValidation), LibraryError> {
    let (skill, faults) = read_skill_with_faults(entry)?;
    let mut validation = validate_skill(&skill, faults);
    if entry.validation == ValidationMode::Lenient {
        validation.violations.clear();
    }
    Ok((skill, validation))
}

/// The maximum number of files that belong to a single-file skill.
const LONE_FILES_MAX: usize = 1000;

/// Lists the files of a single-file skill: the file itself, and the files that its templates and commands start. Other
/// files next to it do not belong to the skill. Names that start with a dot never do.
pub fn list_lone_skill_files(entry: &CatalogEntry, document: Option<&SkillDocument>) -> Vec<String> {
    let own = entry.location.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let (templates, commands) =
        document.map(|document| (&document.sections.templates, &document.sections.commands)).unzip();
    let paths = templates.into_iter().flatten().filter_map(|template| template.path.as_deref());
    let syntaxes = commands.into_iter().flatten().filter_map(|command| command.syntax.as_deref());
    let words = syntaxes.flat_map(str::split_whitespace);
    let inside = |path: &str| match resolve_skill_path("", path) {
        ResolvedSkillPath::Inside(path) if path.split('/').any(|part| part.starts_with('.')) => None,
        ResolvedSkillPath::Inside(path) if path.contains('/') || path.contains('.') => Some(path),
        _ => None,
    };
    let named: BTreeSet<String> = paths.chain(words.filter(|word| word.contains('/'))).filter_map(inside).collect();
    std::iter::once(own).chain(named).take(LONE_FILES_MAX).collect()
}
