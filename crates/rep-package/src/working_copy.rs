//! Reads the commit of a git working copy from the repository's files, without starting a program.

use std::path::{Path, PathBuf};

use crate::files::read_file;

/// The maximum size of a file in a repository.
const FILE_BYTES_MAX: u64 = 16 << 20;
/// The maximum number of references to follow.
const STEPS_MAX: usize = 5;

/// Returns the commit that is checked out in a directory. Returns `None` if it is not a working copy, or has no
/// commits.
pub fn read_commit(folder: &Path) -> Option<String> {
    let repository = std::path::absolute(folder).ok()?.ancestors().find_map(find_repository)?;
    let shared = read_text(&repository.join("commondir")).map(|path| repository.join(path.trim()));
    let folders = [Some(repository.clone()), shared];
    let mut head = read_text(&repository.join("HEAD"))?;
    for _ in 0..STEPS_MAX {
        let Some(name) = head.trim().strip_prefix("ref: ").map(str::to_owned) else { break };
        let is_plain = name.starts_with("refs/") && !name.split('/').any(|part| part == "..");
        let places = || folders.iter().flatten().filter(|_| is_plain);
        head = places()
            .find_map(|folder| read_text(&folder.join(&name)))
            .or_else(|| places().find_map(|folder| read_packed_ref(folder, &name)))?;
    }
    let commit = head.trim();
    let is_commit = matches!(commit.len(), 40 | 64) && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_commit.then(|| commit.to_owned())
}

/// Finds the repository of a directory: its `.git` directory, or the one that a `.git` file names.
fn find_repository(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    if git.join("HEAD").is_file() {
        return Some(git);
    }
    let path = read_text(&git)?;
    Some(folder.join(path.strip_prefix("gitdir:")?.trim()))
}

fn read_packed_ref(folder: &Path, name: &str) -> Option<String> {
    let list = read_text(&folder.join("packed-refs"))?;
    list.lines()
        .find_map(|line| line.split_once(' ').filter(|(_, known)| *known == name).map(|(commit, _)| commit.to_owned()))
}

fn read_text(path: &Path) -> Option<String> {
    String::from_utf8(read_file(path, FILE_BYTES_MAX).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test creates a repository")]
    fn the_commit_is_read_from_files() {
        let scratch = tempfile::tempdir().unwrap();
        let (root, one) = (scratch.path(), "1".repeat(40));
        fs::create_dir_all(root.join("skills/a")).unwrap();
        fs::create_dir_all(root.join(".git/refs/heads")).unwrap();
        fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        assert_eq!(read_commit(&root.join("skills/a")), None);
        fs::write(
            root.join(".git/packed-refs"),
            format!("# pack\n{} refs/heads/other\n{one} refs/heads/main\n", "2".repeat(40)),
        )
        .unwrap();
        assert_eq!(read_commit(&root.join("skills/a")).as_deref(), Some(one.as_str()));
        fs::write(root.join(".git/refs/heads/main"), format!("{}\n", "3".repeat(40))).unwrap();
        assert_eq!(read_commit(root), Some("3".repeat(40)));
        fs::write(root.join(".git/HEAD"), "ref: refs/heads/../../../etc/passwd\n").unwrap();
        assert_eq!(read_commit(root), None);
        fs::write(root.join(".git/HEAD"), format!("{}\n", "4".repeat(40))).unwrap();
        assert_eq!(read_commit(root), Some("4".repeat(40)));
    }
}
