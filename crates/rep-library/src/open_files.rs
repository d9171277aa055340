//! The texts of files that are open in an editor. They replace the files on disk, also where a file was never saved.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rep_model::{SkillTree, uasp};

use crate::discovery::{self, SkillLocation};
use crate::error::LibraryError;
use crate::skill_reader::{self, LinkHandling, ReadExtent};

/// The maximum number of directories above a file that are looked at.
const ANCESTORS_MAX: usize = 32;

/// The files that are open in an editor, by absolute path.
#[derive(Clone, Debug, Default)]
pub struct OpenFiles(BTreeMap<PathBuf, Arc<str>>);

impl OpenFiles {
    /// Adds a file, or replaces its text.
    pub fn insert(&mut self, path: PathBuf, text: Arc<str>) {
        self.0.insert(path, text);
    }

    /// Removes a file. The file on disk counts again.
    pub fn remove(&mut self, path: &Path) {
        self.0.remove(path);
    }

    /// Returns the text of an open file.
    pub fn get(&self, path: &Path) -> Option<&Arc<str>> {
        self.0.get(path)
    }

    /// Returns the open files below a directory.
    pub fn list_below<'a>(&'a self, folder: &'a Path) -> impl Iterator<Item = (&'a Path, &'a Arc<str>)> {
        let from = self.0.range::<Path, _>((Bound::Included(folder), Bound::Unbounded));
        from.take_while(move |(path, _)| path.starts_with(folder)).map(|(path, text)| (path.as_path(), text))
    }

    /// Returns whether a directory is that of a skill: it has a main file, on disk or in the editor.
    pub fn is_skill_folder(&self, folder: &Path) -> bool {
        let own = folder.file_name().map(|name| format!("{}{}", name.to_string_lossy(), uasp::FILE_SUFFIX));
        let names = ["SKILL.md", "skill.md"].into_iter().map(str::to_owned).chain(own);
        names.map(|name| folder.join(name)).any(|path| self.0.contains_key(&path) || path.symlink_metadata().is_ok())
    }

    /// Finds the skill that a file belongs to. In `root`, this is the skill that a search of `root` finds: the
    /// outermost one. Elsewhere it is the nearest one. Returns `None` if the file belongs to no skill.
    pub fn locate_skill(&self, file: &Path, root: Option<&Path>) -> Option<SkillLocation> {
        let root = root.filter(|root| file.strip_prefix(root).is_ok_and(is_searched));
        let above = file.ancestors().skip(1).take(ANCESTORS_MAX);
        let mut folders = above.take_while(|folder| root.is_none_or(|root| folder.starts_with(root)));
        let is_skill = |folder: &&Path| self.is_skill_folder(folder);
        let found = if root.is_some() { folders.filter(is_skill).last() } else { folders.find(is_skill) };
        if let Some(folder) = found {
            return Some(locate(folder, root, false));
        }
        let is_uasp = file.file_name().is_some_and(|name| name.to_string_lossy().ends_with(uasp::FILE_SUFFIX));
        is_uasp.then(|| locate(file, root, true))
    }

    /// Reads a skill. A directory that exists only in the editor has only the open files.
    pub fn read_skill(&self, found: &SkillLocation, extent: ReadExtent) -> Result<SkillTree, LibraryError> {
        if found.is_lone_file {
            let mut tree = skill_reader::read_lone_file(&found.path, &found.shown);
            self.replace_in(found, &mut tree);
            return Ok(tree);
        }
        let links = LinkHandling::KeptInside;
        let mut tree = match skill_reader::read_folder_with(&found.path, &found.shown, extent, links) {
            Ok(tree) => tree,
            Err(error) if self.list_below(&found.path).next().is_none() => return Err(error),
            Err(_) => SkillTree {
                display_root: found.shown.clone(),
                folder: skill_reader::folder_name(&found.path),
                ..SkillTree::default()
            },
        };
        self.replace_in(found, &mut tree);
        Ok(tree)
    }

    /// Replaces the files of a tree that are open.
    pub fn replace_in(&self, found: &SkillLocation, tree: &mut SkillTree) {
        if found.is_lone_file {
            let name = found.path.file_name().map(|name| name.to_string_lossy().into_owned());
            if let (Some(name), Some(text)) = (name, self.get(&found.path)) {
                skill_reader::replace_file(tree, &name, text);
            }
            return;
        }
        for (path, text) in self.list_below(&found.path) {
            let Ok(relative) = path.strip_prefix(&found.path) else { continue };
            if let Some(relative) = relative.to_str().filter(|relative| !relative.is_empty()) {
                skill_reader::replace_file(tree, relative, text);
            }
        }
    }
}

/// Finds the skills below a directory without following links, in the order of their locations. Nested skills are not
/// included, and a directory without skills has none.
pub fn find_workspace_skills(root: &Path) -> Result<Vec<SkillLocation>, LibraryError> {
    let mut all = Vec::new();
    discovery::find_skills_with(root, LinkHandling::KeptInside, |found| all.push(found))?;
    for found in &mut all {
        found.shown = display_below(&found.path, Some(root));
    }
    let open = OpenFiles::default();
    all.retain(|found| found.is_lone_file || open.is_skill_folder(&found.path));
    all.sort();
    Ok(all)
}

/// Returns whether a search of a directory enters this path below it.
fn is_searched(below: &Path) -> bool {
    !below.components().any(|part| part.as_os_str() == "node_modules" || part.as_os_str() == ".git")
}

fn locate(path: &Path, root: Option<&Path>, is_lone_file: bool) -> SkillLocation {
    SkillLocation { shown: display_below(path, root), path: path.to_owned(), is_lone_file, is_linked: false }
}

/// Returns a path for display: as `rep check` displays it in `root`, or absolute.
fn display_below(path: &Path, root: Option<&Path>) -> String {
    let below = root.and_then(|root| path.strip_prefix(root).ok());
    discovery::display_path(below.unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn open_file(path: &Path, text: &str) -> OpenFiles {
        let mut open = OpenFiles::default();
        open.insert(path.to_owned(), text.into());
        open
    }

    #[test]
    fn a_file_belongs_to_the_skill_that_a_search_finds() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for file in ["one/SKILL.md", "one/two/SKILL.md", "one/node_modules/three/SKILL.md", "four.uasp.yaml", "x.md"] {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), "").unwrap();
        }
        let open = OpenFiles::default();
        let located = |file: &str, root: Option<&Path>| open.locate_skill(&folder.path().join(file), root);
        let found = located("one/two/a/b.md", Some(root)).unwrap();
        assert_eq!((found.shown.as_str(), found.path), ("one", root.join("one")));
        assert_eq!(located("one/two/a/b.md", None).unwrap().path, root.join("one/two"), "the nearest one elsewhere");
        let alone = located("one/node_modules/three/SKILL.md", Some(root)).unwrap();
        assert_eq!(alone.path, root.join("one/node_modules/three"), "a search does not enter node_modules");
        let lone = located("four.uasp.yaml", Some(root)).unwrap();
        assert!(lone.is_lone_file && lone.shown == "four.uasp.yaml");
        assert_eq!(located("x.md", Some(root)), None);
    }

    #[test]
    fn open_texts_replace_files_and_create_missing_ones() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("pdf");
        fs::create_dir_all(&root).unwrap();
        fs::write(root.join("SKILL.md"), "on disk").unwrap();
        let mut open = open_file(&root.join("SKILL.md"), "in the editor");
        open.insert(root.join("references/new.md"), "new".into());
        let found = open.locate_skill(&root.join("references/new.md"), Some(folder.path())).unwrap();
        let tree = open.read_skill(&found, ReadExtent::Folder).unwrap();
        assert_eq!(tree.file_bytes("SKILL.md"), Some(&b"in the editor"[..]));
        assert_eq!(tree.file_bytes("references/new.md"), Some(&b"new"[..]));
        assert!(tree.has_path("references"));
    }

    #[test]
    fn a_skill_that_was_never_saved_is_read_from_the_editor() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new/SKILL.md");
        let open = open_file(&file, "---\n---\n");
        let found = open.locate_skill(&file, Some(folder.path())).unwrap();
        let tree = open.read_skill(&found, ReadExtent::Folder).unwrap();
        assert_eq!((tree.folder.as_str(), tree.entries.len()), ("new", 1));
        assert!(OpenFiles::default().read_skill(&found, ReadExtent::Folder).is_err());
    }

    #[test]
    fn links_that_leave_a_directory_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (root, outside) = (folder.path().join("root"), folder.path().join("outside"));
        fs::create_dir_all(root.join("linked-file")).unwrap();
        fs::create_dir_all(&outside).unwrap();
        fs::write(outside.join("SKILL.md"), "outside").unwrap();
        fs::write(outside.join("x.uasp.yaml"), "outside").unwrap();
        std::os::unix::fs::symlink(&outside, root.join("linked-folder")).unwrap();
        std::os::unix::fs::symlink(outside.join("SKILL.md"), root.join("linked-file/SKILL.md")).unwrap();
        std::os::unix::fs::symlink(outside.join("x.uasp.yaml"), root.join("x.uasp.yaml")).unwrap();
        let found = find_workspace_skills(&root).unwrap();
        assert_eq!(found.iter().map(|found| found.shown.as_str()).collect::<Vec<_>>(), ["linked-file"]);
        let tree = OpenFiles::default().read_skill(&found[0], ReadExtent::Folder).unwrap();
        assert_eq!(tree.file_bytes("SKILL.md"), None);
    }
}
