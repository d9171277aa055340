//! Finds skills below a root as a host does.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rep_storage::platform::FileId;

use super::FolderSearch;
use crate::discovery::{self, SkillLocation};

/// The maximum number of directories searched below a root.
const FOLDERS_MAX: usize = 20_000;

/// Finds the skills below a root, ordered by path. A root that does not exist has none.
pub(super) fn find_host_skills(root: &Path, walk: &FolderSearch, notes: &mut Vec<String>) -> Vec<SkillLocation> {
    let mut found = Vec::new();
    // Links are followed, as hosts do. No directory is entered twice, so loops end.
    let mut entered = BTreeSet::new();
    let mut open = vec![(root.to_owned(), 0)];
    while let Some((folder, depth)) = open.pop() {
        let is_new = folder.is_dir() && FileId::of_target(&folder).is_ok_and(|id| entered.insert(id));
        if !is_new {
            continue;
        }
        if entered.len() > FOLDERS_MAX {
            notes.push(format!("stopped after searching {FOLDERS_MAX} directories of `{}`", root.display()));
            break;
        }
        let is_skill = (depth > 0 || walk.takes_root) && folder.join("SKILL.md").is_file();
        if is_skill {
            found.push(SkillLocation {
                shown: discovery::display_path(&folder),
                path: folder.clone(),
                is_lone_file: false,
                is_linked: true,
            });
        }
        if depth >= walk.depth_max || (is_skill && !walk.enters_skills) {
            continue;
        }
        let names = fs::read_dir(&folder).into_iter().flatten().flatten();
        let is_entered = |name: &std::ffi::OsStr| walk.enters_hidden || !name.as_encoded_bytes().starts_with(b".");
        let mut below: Vec<_> =
            names.filter(|entry| is_entered(&entry.file_name())).map(|entry| entry.path()).collect();
        below.sort_unstable_by(|one, two| two.cmp(one));
        open.extend(below.into_iter().map(|path| (path, depth + 1)));
    }
    found.sort();
    found
}
