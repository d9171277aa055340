//! Names somebody else will run or believe: a tool that may write "everything" may not write these.

/// Files that are read by shells, editors, agents and package managers without being asked.
const FILES: &[&str] = &[
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".cshrc",
    ".envrc",
    ".gitconfig",
    ".inputrc",
    ".kshrc",
    ".login",
    ".mcp.json",
    ".npmrc",
    ".profile",
    ".tcshrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
];

/// Folders of which all is believed.
const FOLDERS: &[&str] = &[".claude", ".codex", ".cursor", ".devcontainer", ".gemini", ".idea", ".rep", ".vscode"];

/// What inside of a repository's folder is run or leads elsewhere.
const REPOSITORY: &[&str] = &["commondir", "config", "config.worktree", "gitdir", "hooks"];

/// Whether a path relative to the workspace is one of them, whether it exists or not.
pub(crate) fn is(path: &str) -> bool {
    // Some file systems do not tell upper from lower case.
    let path = path.to_lowercase();
    let parts: Vec<&str> = path.split('/').collect();
    let Some((last, folders)) = parts.split_last() else { return false };
    if FILES.contains(last) || *last == ".git" {
        return true;
    }
    if folders.iter().any(|part| FOLDERS.contains(part)) || FOLDERS.contains(last) {
        return true;
    }
    let repository = parts.iter().position(|part| *part == ".git");
    let is_fish = parts.windows(2).any(|pair| pair == [".config", "fish"]);
    is_fish || repository.is_some_and(|at| parts[at + 1..].iter().any(|part| REPOSITORY.contains(part)))
}

/// What makes a folder of any name a repository.
const REPOSITORY_SIGNS: &[&[u8]] = &[b"head", b"objects", b"refs"];

/// Whether a folder with these names in it is a repository, whatever it is called itself.
pub(crate) fn is_repository<'a>(names: impl Iterator<Item = &'a [u8]>) -> bool {
    let mut signs: Vec<Vec<u8>> = names.map(<[u8]>::to_ascii_lowercase).collect();
    signs.retain(|name| REPOSITORY_SIGNS.contains(&name.as_slice()));
    signs.sort();
    signs.dedup();
    signs.len() == REPOSITORY_SIGNS.len()
}

/// Whether a name directly in a repository is run or leads elsewhere.
pub(crate) fn is_of_repository(name: &str) -> bool {
    REPOSITORY.contains(&name.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_others_run_is_trusted_and_what_they_read_is_not() {
        for path in [
            ".git/hooks/pre-commit",
            "sub/.git/hooks/x",
            ".git/config",
            ".GIT/Config",
            ".git",
            ".git/modules/a/hooks/x",
            ".envrc",
            "a/b/.envrc",
            ".vscode/tasks.json",
            ".claude/settings.json",
            ".mcp.json",
            ".bashrc",
            ".config/fish/config.fish",
        ] {
            assert!(super::is(path), "{path}");
        }
        for path in
            ["a.csv", ".gitignore", ".git/objects/ab/cd", "hooks/x", "config", ".github/x", "vscode/a", ".config/x"]
        {
            assert!(!super::is(path), "{path}");
        }
    }
}
