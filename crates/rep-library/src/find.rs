//! Finds the skills below a path: folders with a SKILL.md, and `*.uasp.yaml` files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rep_model::{SkillTree, uasp};

use crate::catalog::CatalogEntry;
use crate::error::LibraryError;
use crate::read::{self, Extent};

/// Where a skill is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    /// As the user knows it.
    pub shown: String,
    /// The folder, or the lone file.
    pub path: PathBuf,
    /// Whether the skill is a lone `*.uasp.yaml`.
    pub is_lone_file: bool,
    /// Whether a link was followed on the way to it.
    pub is_linked: bool,
}

impl Found {
    /// The skill of a catalog's entry.
    pub fn from_entry(entry: &CatalogEntry) -> Self {
        let is_lone_file = entry.skill.tree.is_lone_file;
        let path = if is_lone_file { &entry.location } else { &entry.folder };
        Self { shown: path.to_string_lossy().into_owned(), path: path.clone(), is_lone_file, is_linked: false }
    }

    /// Reads the skill.
    pub fn read(&self, extent: Extent) -> Result<SkillTree, LibraryError> {
        if self.is_lone_file {
            return Ok(read::lone_file(&self.path, &self.shown));
        }
        read::folder(&self.path, &self.shown, extent)
    }
}

/// The deepest folder that is searched.
const DEPTH_MAX: usize = 24;
/// The most folders that are searched below one path.
const FOLDERS_MAX: usize = 500_000;

/// Finds skills below a path given by the user and hands each to `take` as soon as it is found.
/// A folder without any is itself taken, so that its lack is reported. Returns what was left out.
pub fn skills(path: &Path, mut take: impl FnMut(Found)) -> Result<Vec<String>, LibraryError> {
    let shown = shown(path);
    let metadata = fs::metadata(path).map_err(|error| {
        let hint = "give a skill folder, a SKILL.md, a `*.uasp.yaml`, or a folder above them";
        LibraryError::new("find", path, error).hinting(hint)
    })?;
    if !metadata.is_dir() {
        take(of_file(path, &shown)?);
        return Ok(Vec::new());
    }
    let mut walk =
        Walk { root: path, real_root: None, left_out: Vec::new(), followed: BTreeSet::new(), folders: 0, found: 0 };
    walk.run(path.to_owned(), &shown, &mut take)?;
    if walk.found == 0 {
        take(Found { shown, path: path.to_owned(), is_lone_file: false, is_linked: false });
    }
    Ok(walk.left_out)
}

/// The skill a file stands for.
fn of_file(path: &Path, shown: &str) -> Result<Found, LibraryError> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if name.ends_with(uasp::SUFFIX) {
        return Ok(Found { shown: shown.to_owned(), path: path.to_owned(), is_lone_file: true, is_linked: false });
    }
    if name.eq_ignore_ascii_case("skill.md") {
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        return Ok(Found {
            shown: self::shown(folder),
            path: folder.to_owned(),
            is_lone_file: false,
            is_linked: false,
        });
    }
    let error = std::io::Error::other("it is neither a folder, a SKILL.md nor a `*.uasp.yaml`");
    Err(LibraryError::new("read a skill from", path, error).hinting("give the skill's folder"))
}

/// A path as the user knows it: as given, without `./` and doubled or trailing slashes.
pub fn shown(path: &Path) -> String {
    let text = path.to_string_lossy();
    let parts: Vec<&str> = text.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    match (text.starts_with('/'), parts.is_empty()) {
        (true, _) => format!("/{}", parts.join("/")),
        (false, true) => ".".to_owned(),
        (false, false) => parts.join("/"),
    }
}

/// The skills inside a skill's folder, which has been read.
pub fn nested(found: &Found, tree: &SkillTree) -> Vec<Found> {
    let folders =
        tree.entries.keys().filter_map(|path| path.strip_suffix("/SKILL.md").or(path.strip_suffix("/skill.md")));
    let mut folders: Vec<&str> =
        folders.filter(|folder| !folder.split('/').any(|part| part == "node_modules")).collect();
    folders.dedup();
    folders
        .into_iter()
        .map(|folder| Found {
            shown: join(if found.shown == "." { "" } else { &found.shown }, folder),
            path: found.path.join(folder),
            is_lone_file: false,
            is_linked: found.is_linked,
        })
        .collect()
}

/// Adds the skills inside these skills, puts all in order, and drops repeats. A folder that cannot be read has none inside.
pub fn add_nested(all: &mut Vec<Found>) {
    let inside = |one: &Found| one.read(Extent::Main).map(|tree| nested(one, &tree)).unwrap_or_default();
    let more: Vec<Found> = all.iter().filter(|one| !one.is_lone_file).flat_map(inside).collect();
    all.extend(more);
    sort(all);
}

/// Puts skills in order and drops repeats.
pub fn sort(all: &mut Vec<Found>) {
    all.sort();
    all.dedup_by(|one, two| one.path == two.path);
}

struct Walk<'a> {
    root: &'a Path,
    /// The root with its links resolved, once a link below it asks.
    real_root: Option<PathBuf>,
    left_out: Vec<String>,
    followed: BTreeSet<PathBuf>,
    folders: usize,
    found: usize,
}

/// A folder that is still to be looked at.
struct Open {
    path: PathBuf,
    shown: String,
    depth: usize,
    is_linked: bool,
}

impl Walk<'_> {
    fn run(&mut self, root: PathBuf, shown: &str, take: &mut impl FnMut(Found)) -> Result<(), LibraryError> {
        let first = if shown == "." { String::new() } else { shown.to_owned() };
        let mut open = vec![Open { path: root, shown: first, depth: 0, is_linked: false }];
        while let Some(folder) = open.pop() {
            self.folders += 1;
            if self.folders > FOLDERS_MAX {
                self.left_out.push(format!("searched {FOLDERS_MAX} folders and stopped"));
                return Ok(());
            }
            // In a large library nearly every folder is a skill. Asking for its SKILL.md is one call, listing it is five.
            if folder.depth > 0 && fs::symlink_metadata(folder.path.join("SKILL.md")).is_ok() {
                self.take(folder, take);
                continue;
            }
            let listing = match fs::read_dir(&folder.path) {
                Ok(listing) => listing,
                Err(error) if folder.depth == 0 => {
                    return Err(LibraryError::new("read the folder", &folder.path, error));
                }
                // Whoever reads it finds out why, and tells.
                Err(_) => {
                    self.take(folder, take);
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
                } else if name.ends_with(uasp::SUFFIX) && !is_folder {
                    uasp.push(name);
                } else if is_folder && name != ".git" && name != "node_modules" {
                    folders.push((name, item.path(), kind.is_symlink()));
                }
            }
            // What lies below a skill is the skill's own; `nested` finds skills inside it from the tree that is read anyway.
            let own = folder.path.file_name().map(|name| format!("{}{}", name.to_string_lossy(), uasp::SUFFIX));
            if has_manifest || own.is_some_and(|own| uasp.contains(&own)) {
                self.take(folder, take);
                continue;
            }
            self.take_lone(&folder, uasp, take);
            let Open { shown, depth, is_linked, .. } = folder;
            if depth + 1 > DEPTH_MAX && !folders.is_empty() {
                self.left_out.push(format!("`{shown}` is {DEPTH_MAX} folders deep; nothing below it was searched"));
                continue;
            }
            folders.sort_unstable_by(|one, two| two.cmp(one));
            open.extend(folders.into_iter().map(|(name, path, is_link)| Open {
                path,
                shown: join(&shown, &name),
                depth: depth + 1,
                is_linked: is_linked || is_link,
            }));
        }
        Ok(())
    }

    /// Hands on a folder that is a skill, or cannot be listed.
    fn take(&mut self, folder: Open, take: &mut impl FnMut(Found)) {
        self.found += 1;
        let shown = if folder.shown.is_empty() { ".".to_owned() } else { folder.shown };
        take(Found { shown, path: folder.path, is_lone_file: false, is_linked: folder.is_linked });
    }

    /// Hands on the UASP files of a folder that is no skill itself.
    fn take_lone(&mut self, folder: &Open, uasp: Vec<String>, take: &mut impl FnMut(Found)) {
        for name in uasp {
            self.found += 1;
            let (shown, path) = (join(&folder.shown, &name), folder.path.join(&name));
            take(Found { shown, path, is_lone_file: true, is_linked: folder.is_linked });
        }
    }

    /// Whether a link leads to a folder outside the searched one that has not been followed yet.
    fn is_new_folder(&mut self, link: &Path) -> bool {
        if self.real_root.is_none() {
            self.real_root = fs::canonicalize(self.root).ok();
        }
        let (Ok(real), Some(root)) = (fs::canonicalize(link), &self.real_root) else { return false };
        let is_elsewhere = !real.starts_with(root) && !root.starts_with(&real);
        is_elsewhere && real.is_dir() && self.followed.insert(real)
    }
}

/// Whether a file is a skill's main file. Other spellings count where the file system takes them for `SKILL.md`.
fn is_manifest(name: &str, opens_as_skill_md: impl Fn() -> bool) -> bool {
    name == "SKILL.md" || name == "skill.md" || (name.eq_ignore_ascii_case("skill.md") && opens_as_skill_md())
}

fn join(shown: &str, name: &str) -> String {
    if shown.is_empty() { name.to_owned() } else { format!("{}/{name}", shown.trim_end_matches('/')) }
}

#[cfg(test)]
mod tests {
    use super::is_manifest;

    /// `Skill.md` opens as `SKILL.md` where case does not matter, and is another file where it does.
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
