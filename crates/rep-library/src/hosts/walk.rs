//! Finds skills below a root as a host does.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::Walk;
use crate::find::{self, Found};

/// The most folders that are searched below one root.
const FOLDERS_MAX: usize = 20_000;

/// The skills below a root, in order of path. One that is not there holds none.
pub(super) fn skills(root: &Path, walk: &Walk, notes: &mut Vec<String>) -> Vec<Found> {
    let mut found = Vec::new();
    // Links are followed as hosts follow them; a folder that was entered is not entered again, so that loops end.
    let mut entered = BTreeSet::new();
    let mut open = vec![(root.to_owned(), 0)];
    while let Some((folder, depth)) = open.pop() {
        let is_new = fs::metadata(&folder).is_ok_and(|data| data.is_dir() && entered.insert((data.dev(), data.ino())));
        if !is_new {
            continue;
        }
        if entered.len() > FOLDERS_MAX {
            notes.push(format!("searched {FOLDERS_MAX} folders of `{}` and stopped", root.display()));
            break;
        }
        let is_skill = (depth > 0 || walk.takes_root) && folder.join("SKILL.md").is_file();
        if is_skill {
            found.push(Found {
                shown: find::shown(&folder),
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
