//! Names somebody else will run or believe: a tool that may write "everything" may not write these.
//!
//! The rule: what a program runs, loads or obeys without being asked for that file is trusted - when a folder is
//! entered, opened in an editor, given to an agent, checked out or pushed. What people start by hand and by name
//! (`Makefile`, `package.json`, scripts, sources) is the ordinary work of tools and stays writable. No declaration
//! makes an exception: a skill that declares `write: ["skills/x/**"]` is refused when it writes there.

/// Files that are read by shells, editors, agents and package managers without being asked.
const FILES: &[&str] = &[
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".cshrc",
    ".envrc",
    ".exrc",
    ".gitattributes",
    ".gitconfig",
    ".gitmodules",
    ".inputrc",
    ".kshrc",
    ".login",
    ".mcp.json",
    ".npmrc",
    ".nvimrc",
    ".pre-commit-config.yaml",
    ".profile",
    ".tcshrc",
    ".vimrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "agents.md",
    "claude.md",
    "gemini.md",
    "opencode.json",
    "rep.yaml",
];

/// Folders of which all is believed.
const FOLDERS: &[&str] = &[
    ".agent-packages",
    ".agents",
    ".claude",
    ".codex",
    ".cursor",
    ".devcontainer",
    ".factory",
    ".gemini",
    ".goose",
    ".husky",
    ".idea",
    ".kiro",
    ".opencode",
    ".rep",
    ".ssh",
    ".vscode",
    ".windsurf",
];

/// What is believed inside of a folder that holds other things too.
const PAIRS: &[[&str; 2]] = &[
    [".cargo", "config"],
    [".cargo", "config.toml"],
    [".config", "autostart"],
    [".config", "fish"],
    [".config", "git"],
    [".config", "systemd"],
    [".github", "workflows"],
];

/// Folders that are believed at the top of the workspace, and are anybody's further down.
const TOP: &[&str] = &["skills"];

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
    let is_in_pair = parts.windows(2).any(|pair| PAIRS.iter().any(|known| pair == known));
    is_in_pair
        || TOP.contains(&parts[0])
        || repository.is_some_and(|at| parts[at + 1..].iter().any(|part| REPOSITORY.contains(part)))
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

/// Whether a name is one of those that make a folder a repository.
pub(crate) fn is_repository_sign(name: &str) -> bool {
    REPOSITORY_SIGNS.contains(&name.to_ascii_lowercase().as_bytes())
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
            ".config/systemd/user/a.service",
            ".config/git/config",
            ".github/workflows/ci.yml",
            ".cargo/config.toml",
            "a/AGENTS.md",
            "CLAUDE.md",
            "skills/x/SKILL.md",
            ".agents/skills/x/SKILL.md",
            ".ssh/authorized_keys",
            "a/.vimrc",
            "rep.yaml",
        ] {
            assert!(super::is(path), "{path}");
        }
        for path in [
            "a.csv",
            ".gitignore",
            ".git/objects/ab/cd",
            "hooks/x",
            "config",
            ".github/x",
            "vscode/a",
            ".config/x",
            "a/skills/x",
            "Makefile",
            ".cargo/registry/x",
            "package.json",
        ] {
            assert!(!super::is(path), "{path}");
        }
    }
}
