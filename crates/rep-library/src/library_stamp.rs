//! A number that changes when a skill of some directories is added, removed or edited, without reading content. It costs
//! a fraction of a discovery, so a program can tell whether what it stored about a library is still true.

use std::fs::{self, Metadata};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The maximum number of directories that are looked at, and their maximum depth below a root. What is below is not
/// noticed.
const FOLDERS_MAX: usize = 50_000;
const DEPTH_MAX: usize = 4;

/// Computes the stamp of the skills below some paths. A path that does not exist has a stamp too.
pub fn stamp_skills(roots: &[PathBuf]) -> u64 {
    let mut hash = 0_u64;
    let mut left = FOLDERS_MAX;
    for root in roots {
        let mut open = vec![(root.clone(), 0)];
        while let Some((path, depth)) = open.pop() {
            let Ok(about) = fs::metadata(&path) else {
                add(&mut hash, &path, None);
                continue;
            };
            add(&mut hash, &path, Some(&about));
            if !about.is_dir() || left == 0 {
                continue;
            }
            left -= 1;
            if let Ok(main) = fs::metadata(path.join("SKILL.md")) {
                add(&mut hash, &path.join("SKILL.md"), Some(&main));
            } else if depth < DEPTH_MAX {
                let items = fs::read_dir(&path).into_iter().flatten().flatten();
                open.extend(items.map(|item| (item.path(), depth + 1)));
            }
        }
    }
    hash
}

fn add(hash: &mut u64, path: &Path, about: Option<&Metadata>) {
    let mut hasher = DefaultHasher::new();
    let times = |about: &Metadata| (about.mtime(), about.mtime_nsec(), about.ctime(), about.ctime_nsec());
    (path, about.map(|about| (about.ino(), about.len(), times(about)))).hash(&mut hasher);
    // The order of a listing is not defined, so the sum must not depend on it.
    *hash = hash.wrapping_add(hasher.finish());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stamp_changes_with_a_skill_and_only_then() {
        let folder = tempfile::tempdir().unwrap();
        let roots = [folder.path().join("skills"), folder.path().join("missing")];
        let file = roots[0].join("group/pdf/SKILL.md");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "one").unwrap();
        let first = stamp_skills(&roots);
        assert_eq!(stamp_skills(&roots), first);
        fs::write(&file, "other").unwrap();
        let second = stamp_skills(&roots);
        assert_ne!(second, first);
        fs::create_dir_all(roots[1].join("new")).unwrap();
        assert_ne!(stamp_skills(&roots), second);
    }
}
