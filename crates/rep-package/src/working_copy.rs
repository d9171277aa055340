//! The commit of a working copy, read from the files of its repository. No program is started for it.

use std::path::{Path, PathBuf};

use crate::files::read_file;

/// The largest file of a repository that is read.
const FILE_BYTES_MAX: u64 = 16 << 20;
/// The most references that lead to one another.
const STEPS_MAX: usize = 5;

/// The commit that is checked out where a folder lies; `None` where that is no working copy, or nothing was committed yet.
pub fn commit(folder: &Path) -> Option<String> {
    let repository = std::path::absolute(folder).ok()?.ancestors().find_map(repository_of)?;
    let shared = text(&repository.join("commondir")).map(|path| repository.join(path.trim()));
    let folders = [Some(repository.clone()), shared];
    let mut head = text(&repository.join("HEAD"))?;
    for _ in 0..STEPS_MAX {
        let Some(name) = head.trim().strip_prefix("ref: ").map(str::to_owned) else { break };
        let is_plain = name.starts_with("refs/") && !name.split('/').any(|part| part == "..");
        let places = || folders.iter().flatten().filter(|_| is_plain);
        head = places()
            .find_map(|folder| text(&folder.join(&name)))
            .or_else(|| places().find_map(|folder| packed(folder, &name)))?;
    }
    let commit = head.trim();
    let is_commit = matches!(commit.len(), 40 | 64) && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_commit.then(|| commit.to_owned())
}

/// The repository of a folder: its `.git`, or where the file of that name says.
fn repository_of(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    if git.join("HEAD").is_file() {
        return Some(git);
    }
    let path = text(&git)?;
    Some(folder.join(path.strip_prefix("gitdir:")?.trim()))
}

fn packed(folder: &Path, name: &str) -> Option<String> {
    let list = text(&folder.join("packed-refs"))?;
    list.lines()
        .find_map(|line| line.split_once(' ').filter(|(_, known)| *known == name).map(|(commit, _)| commit.to_owned()))
}

fn text(path: &Path) -> Option<String> {
    String::from_utf8(read_file(path, FILE_BYTES_MAX).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "it makes a repository")]
    fn the_commit_is_read_from_files() {
        let scratch = tempfile::tempdir().unwrap();
        let (root, one) = (scratch.path(), "1".repeat(40));
        fs::create_dir_all(root.join("skills/a")).unwrap();
        fs::create_dir_all(root.join(".git/refs/heads")).unwrap();
        fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        assert_eq!(commit(&root.join("skills/a")), None);
        fs::write(
            root.join(".git/packed-refs"),
            format!("# pack\n{} refs/heads/other\n{one} refs/heads/main\n", "2".repeat(40)),
        )
        .unwrap();
        assert_eq!(commit(&root.join("skills/a")).as_deref(), Some(one.as_str()));
        fs::write(root.join(".git/refs/heads/main"), format!("{}\n", "3".repeat(40))).unwrap();
        assert_eq!(commit(root), Some("3".repeat(40)));
        fs::write(root.join(".git/HEAD"), "ref: refs/heads/../../../etc/passwd\n").unwrap();
        assert_eq!(commit(root), None);
        fs::write(root.join(".git/HEAD"), format!("{}\n", "4".repeat(40))).unwrap();
        assert_eq!(commit(root), Some("4".repeat(40)));
    }
}
