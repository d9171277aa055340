//! Finds the skills below a path: directories with a SKILL.md, and `*.uasp.yaml` files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rep_model::{SkillTree, uasp};

use crate::catalog::{Catalog, CatalogEntry};
use crate::error::LibraryError;
use crate::skill_reader::{self, LinkHandling, ReadExtent};

/// The location of a skill.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SkillLocation {
    /// The path for display.
    pub shown: String,
    /// The directory, or the single file.
    pub path: PathBuf,
    /// Whether the skill is a single `*.uasp.yaml` file.
    pub is_lone_file: bool,
    /// Whether the path was reached through a link.
    pub is_linked: bool,
}

impl SkillLocation {
    /// Returns the location of a catalog entry.
    pub fn from_entry(entry: &CatalogEntry) -> Self {
        let is_lone_file = entry.skill.tree.is_lone_file;
        let path = if is_lone_file { &entry.location } else { &entry.folder };
        Self { shown: path.to_string_lossy().into_owned(), path: path.clone(), is_lone_file, is_linked: false }
    }

    /// Reads the skill.
    pub fn read(&self, extent: ReadExtent) -> Result<SkillTree, LibraryError> {
        if self.is_lone_file {
            return Ok(skill_reader::read_lone_file(&self.path, &self.shown));
        }
        skill_reader::read_folder(&self.path, &self.shown, extent)
    }
}

/// The maximum depth of the search.
const DEPTH_MAX: usize = 24;
/// The maximum number of directories searched below a path.
const FOLDERS_MAX: usize = 500_000;

/// Finds skills below a path given by the user and passes each to `take` as soon as it is found. A directory without
/// skills is passed itself, so that the missing skill is reported. Returns notes about what was skipped.
pub fn find_skills(path: &Path, take: impl FnMut(SkillLocation)) -> Result<Vec<String>, LibraryError> {
    find_skills_with(path, LinkHandling::Followed, take)
}

/// Finds skills below a path, and decides whether directories are searched through links that leave the path.
pub(crate) fn find_skills_with(
    path: &Path,
    links: LinkHandling,
    mut take: impl FnMut(SkillLocation),
) -> Result<Vec<String>, LibraryError> {
    let shown = display_path(path);
    let metadata = fs::metadata(path).map_err(|error| {
        let hint = "pass a skill directory, a SKILL.md, a `*.uasp.yaml`, or a directory that contains them";
        LibraryError::new("find", path, error).with_hint(hint)
    })?;
    if !metadata.is_dir() {
        take(locate_from_file(path, &shown)?);
        return Ok(Vec::new());
    }
    let mut walk = FolderWalk {
        root: path,
        real_root: None,
        left_out: Vec::new(),
        followed: BTreeSet::new(),
        folders: 0,
        found: 0,
        links,
    };
    walk.walk_folders(path.to_owned(), &shown, &mut take)?;
    if walk.found == 0 {
        take(SkillLocation { shown, path: path.to_owned(), is_lone_file: false, is_linked: false });
    }
    Ok(walk.left_out)
}

/// Returns the skill that a file belongs to.
fn locate_from_file(path: &Path, shown: &str) -> Result<SkillLocation, LibraryError> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if name.ends_with(uasp::FILE_SUFFIX) {
        return Ok(SkillLocation {
            shown: shown.to_owned(),
            path: path.to_owned(),
            is_lone_file: true,
            is_linked: false,
        });
    }
    if name.eq_ignore_ascii_case("skill.md") {
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        return Ok(SkillLocation {
            shown: self::display_path(folder),
            path: folder.to_owned(),
            is_lone_file: false,
            is_linked: false,
        });
    }
    let error = std::io::Error::other("it is neither a directory, a SKILL.md nor a `*.uasp.yaml`");
    Err(LibraryError::new("read a skill from", path, error).with_hint("pass the skill's directory"))
}

/// Formats a path for display: as given, without `./` and without doubled or trailing slashes.
pub fn display_path(path: &Path) -> String {
    let text = path.to_string_lossy();
    let parts: Vec<&str> = text.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    match (text.starts_with('/'), parts.is_empty()) {
        (true, _) => format!("/{}", parts.join("/")),
        (false, true) => ".".to_owned(),
        (false, false) => parts.join("/"),
    }
}

/// Finds the skills nested in a skill whose directory has been read.
pub fn find_nested_skills(found: &SkillLocation, tree: &SkillTree) -> Vec<SkillLocation> {
    let folders =
        tree.entries.keys().filter_map(|path| path.strip_suffix("/SKILL.md").or(path.strip_suffix("/skill.md")));
    let mut folders: Vec<&str> =
        folders.filter(|folder| !folder.split('/').any(|part| part == "node_modules")).collect();
    folders.dedup();
    folders
        .into_iter()
        .map(|folder| SkillLocation {
            shown: join_display_path(if found.shown == "." { "" } else { &found.shown }, folder),
            path: found.path.join(folder),
            is_lone_file: false,
            is_linked: found.is_linked,
        })
        .collect()
}

/// Adds nested skills, sorts all, and removes duplicates. A directory that cannot be read has no nested skills.
pub fn add_nested_skills(all: &mut Vec<SkillLocation>) {
    let inside =
        |one: &SkillLocation| one.read(ReadExtent::Main).map(|tree| find_nested_skills(one, &tree)).unwrap_or_default();
    let more: Vec<SkillLocation> = all.iter().filter(|one| !one.is_lone_file).flat_map(inside).collect();
    all.extend(more);
    sort_and_dedup(all);
}

/// Sorts skills and removes duplicates.
pub fn sort_and_dedup(all: &mut Vec<SkillLocation>) {
    all.sort();
    all.dedup_by(|one, two| one.path == two.path);
}

/// Returns the names of the skills directly in a directory that are not in the catalog, such as one that was just
/// created there.
pub fn find_unlisted_skills(folder: &Path, catalog: &Catalog) -> Vec<String> {
    let is_listed = |path: &Path| {
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        catalog.entries.iter().any(|entry| entry.folder == real)
    };
    let is_skill = |path: &Path| {
        let own = path.file_name().map(|name| format!("{}{}", name.to_string_lossy(), uasp::FILE_SUFFIX));
        path.join("SKILL.md").is_file() || own.is_some_and(|own| path.join(own).is_file())
    };
    let children = fs::read_dir(folder).into_iter().flatten().flatten().map(|item| item.path());
    let unlisted = children.filter(|path| path.is_dir() && is_skill(path) && !is_listed(path));
    let mut names: Vec<String> =
        unlisted.filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned())).collect();
    names.sort();
    names
}

struct FolderWalk<'a> {
    root: &'a Path,
    /// The root with links resolved, computed when the first link is found.
    real_root: Option<PathBuf>,
    left_out: Vec<String>,
    followed: BTreeSet<PathBuf>,
    folders: usize,
    found: usize,
    links: LinkHandling,
}

/// A directory that has not been searched yet.
struct PendingFolder {
    path: PathBuf,
    shown: String,
    depth: usize,
    is_linked: bool,
}

impl FolderWalk<'_> {
    fn walk_folders(
        &mut self,
        root: PathBuf,
        shown: &str,
        take: &mut impl FnMut(SkillLocation),
    ) -> Result<(), LibraryError> {
        let first = if shown == "." { String::new() } else { shown.to_owned() };
        let mut open = vec![PendingFolder { path: root, shown: first, depth: 0, is_linked: false }];
        while let Some(folder) = open.pop() {
            self.folders += 1;
            if self.folders > FOLDERS_MAX {
                self.left_out.push(format!("stopped after searching {FOLDERS_MAX} directories"));
                return Ok(());
            }
            // In a large library, nearly every directory is a skill. Checking for SKILL.md takes one system call,
            // listing takes five.
            if folder.depth > 0 && fs::symlink_metadata(folder.path.join("SKILL.md")).is_ok() {
                self.emit_folder(folder, take);
                continue;
            }
            let listing = match fs::read_dir(&folder.path) {
                Ok(listing) => listing,
                Err(error) if folder.depth == 0 => {
                    return Err(LibraryError::new("read the directory", &folder.path, error));
                }
                // Reading the skill reports the reason.
                Err(_) => {
                    self.emit_folder(folder, take);
                    continue;
                }
            };
            let mut folders = Vec::new();
            let mut uasp = Vec::new();
            let mut has_manifest = false;
            for item in listing.flatten() {
                let name = item.file_name().to_string_lossy().into_owned();
                let Ok(kind) = item.file_type() else { continue };
                let is_folder = kind.is_dir() || (kind.is_symlink() && self.is_new_folder(&item.path()));
                if is_manifest(&name, || folder.path.join("SKILL.md").is_file()) {
                    has_manifest = true;
                } else if name.ends_with(uasp::FILE_SUFFIX) && !is_folder {
                    // The target of a link can be anywhere.
                    if !kind.is_symlink() || self.links == LinkHandling::Followed {
                        uasp.push(name);
                    }
                } else if is_folder && name != ".git" && name != "node_modules" {
                    folders.push((name, item.path(), kind.is_symlink()));
                }
            }
            // Everything below a skill belongs to it. `find_nested_skills` finds nested skills in the tree that is read
            // anyway.
            let own = folder.path.file_name().map(|name| format!("{}{}", name.to_string_lossy(), uasp::FILE_SUFFIX));
            if has_manifest || own.is_some_and(|own| uasp.contains(&own)) {
                self.emit_folder(folder, take);
                continue;
            }
            self.emit_lone_files(&folder, uasp, take);
            let PendingFolder { shown, depth, is_linked, .. } = folder;
            if depth + 1 > DEPTH_MAX && !folders.is_empty() {
                self.left_out.push(format!("`{shown}` is {DEPTH_MAX} directories deep; nothing below it was searched"));
                continue;
            }
            folders.sort_unstable_by(|one, two| two.cmp(one));
            open.extend(folders.into_iter().map(|(name, path, is_link)| PendingFolder {
                path,
                shown: join_display_path(&shown, &name),
                depth: depth + 1,
                is_linked: is_linked || is_link,
            }));
        }
        Ok(())
    }

    /// Emits a directory that is a skill or cannot be listed.
    fn emit_folder(&mut self, folder: PendingFolder, take: &mut impl FnMut(SkillLocation)) {
        self.found += 1;
        let shown = if folder.shown.is_empty() { ".".to_owned() } else { folder.shown };
        take(SkillLocation { shown, path: folder.path, is_lone_file: false, is_linked: folder.is_linked });
    }

    /// Emits the UASP files of a directory that is not a skill.
    fn emit_lone_files(&mut self, folder: &PendingFolder, uasp: Vec<String>, take: &mut impl FnMut(SkillLocation)) {
        for name in uasp {
            self.found += 1;
            let (shown, path) = (join_display_path(&folder.shown, &name), folder.path.join(&name));
            take(SkillLocation { shown, path, is_lone_file: true, is_linked: folder.is_linked });
        }
    }

    /// Returns whether a link points to a directory outside the searched one that was not visited yet.
    fn is_new_folder(&mut self, link: &Path) -> bool {
        if self.links == LinkHandling::KeptInside {
            return false;
        }
        if self.real_root.is_none() {
            self.real_root = fs::canonicalize(self.root).ok();
        }
        let (Ok(real), Some(root)) = (fs::canonicalize(link), &self.real_root) else { return false };
        let is_elsewhere = !real.starts_with(root) && !root.starts_with(&real);
        is_elsewhere && real.is_dir() && self.followed.insert(real)
    }
}

/// Returns whether a file is a skill's main file. Other spellings count if the file system treats them as `SKILL.md`.
fn is_manifest(name: &str, opens_as_skill_md: impl Fn() -> bool) -> bool {
    name == "SKILL.md" || name == "skill.md" || (name.eq_ignore_ascii_case("skill.md") && opens_as_skill_md())
}

pub(crate) fn join_display_path(shown: &str, name: &str) -> String {
    if shown.is_empty() { name.to_owned() } else { format!("{}/{name}", shown.trim_end_matches('/')) }
}

#[cfg(test)]
mod tests {
    use super::is_manifest;

    /// `Skill.md` opens as `SKILL.md` on case-insensitive file systems and is a different file on others.
    #[test]
    fn spellings_count_as_the_file_system_reads_them() {
        for (name, is_case_sensitive, is_case_insensitive) in
            [("SKILL.md", true, true), ("skill.md", true, true), ("Skill.md", false, true), ("skills.md", false, false)]
        {
            assert_eq!(is_manifest(name, || false), is_case_sensitive, "{name}");
            assert_eq!(is_manifest(name, || true), is_case_insensitive, "{name}");
        }
    }
}
