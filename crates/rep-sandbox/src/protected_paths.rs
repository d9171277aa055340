//! Paths that other programs execute or obey. A tool may not write them, even if it may write "everything".
//!
//! A path is protected if a program runs, loads or obeys it without being asked for that file: when a user enters a
//! directory, opens it in an editor, gives it to an agent, checks it out or pushes it. Files that users start by name
//! (`Makefile`, `package.json`, scripts, sources) are not protected, because tools ordinarily write them. No
//! declaration makes an exception: a skill that declares `write: ["skills/x/**"]` is refused when it writes there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

mod link_targets;
mod names;

use names::{PROTECTED_ENDINGS, PROTECTED_FILES, PROTECTED_FOLDERS, PROTECTED_PAIRS, has_name};

/// Files and directories that Python loads automatically.
const PYTHON_FILES: &[&str] = &["pyvenv.cfg", "sitecustomize.py", "usercustomize.py"];
const PYTHON_FOLDERS: &[&str] = &["dist-packages", "site-packages"];

/// Directories that are protected only at the top of the workspace.
const PROTECTED_TOP_FOLDERS: &[&str] = &["skills"];

/// Directories of version control systems. Hooks and settings are executed, the index and refs are published with the
/// next push, and the next checkout writes the objects, whose content is not verified against their names.
const REPOSITORY_FOLDERS: &[&str] = &[".git", ".hg", ".jj"];

/// Entries that identify a git repository of any name.
const REPOSITORY_MARKERS: &[&str] = &["head", "objects", "refs", "commondir", "config.worktree", "gitdir"];

/// The suffix of quarantined entries.
pub const QUARANTINE_SUFFIX: &str = "refused";

/// Entries of a Python virtual environment that are executed or loaded.
const ENVIRONMENT_ENTRIES: &[&str] = &["bin", "lib", "lib64", "pyvenv.cfg", "scripts"];

/// The file that identifies a Python virtual environment.
pub const ENVIRONMENT_MARKER: &str = "pyvenv.cfg";

/// Where hosts put whole copies of projects, inside their own directory: `.claude/worktrees/NAME`.
const WORKTREES_FOLDER: &str = "worktrees";

/// The protected paths of a workspace.
#[derive(Clone, Debug, Default)]
pub struct ProtectedPaths {
    /// The components of the workspace path, in lower case. Paths are checked together with them.
    workspace_parts: Vec<String>,
    /// Additional protected files and directories, relative to the workspace: those on the caller's `PATH`, and link
    /// targets.
    extra_paths: BTreeSet<PathBuf>,
    /// The user's home directory relative to the workspace, if the workspace is or contains it.
    home: Option<PathBuf>,
    /// Whether packages are installed there. If so, files that Python loads automatically may be written.
    installs_packages: bool,
}

impl ProtectedPaths {
    /// Returns the protected paths of a workspace, whose path must be absolute and resolved. Paths in `held` are
    /// absolute or relative to the workspace.
    pub fn for_workspace(workspace: &Path, held: &[PathBuf], home: Option<&Path>) -> Self {
        let text = workspace.to_string_lossy().to_lowercase();
        let parts: Vec<&str> = text.split('/').filter(|part| !part.is_empty()).collect();
        // A copy of a project is a project, although it is in a directory of a host.
        let is_project =
            |at: usize| has_name(PROTECTED_FOLDERS, &parts[at]) && parts.get(at + 1) == Some(&WORKTREES_FOLDER);
        let start = (0..parts.len()).rfind(|at| is_project(*at)).map_or(0, |at| (at + 3).min(parts.len()));
        let inside = |folder: &PathBuf| {
            if folder.is_relative() {
                return Some(folder.clone());
            }
            folder.strip_prefix(workspace).ok().map(Path::to_owned)
        };
        Self {
            workspace_parts: parts[start..].iter().map(|part| (*part).to_owned()).collect(),
            extra_paths: held.iter().filter_map(inside).collect(),
            home: home.and_then(|home| home.strip_prefix(workspace).ok()).map(Path::to_owned),
            installs_packages: false,
        }
    }

    /// Returns the protected paths of a directory that packages are installed into.
    pub fn for_package_install() -> Self {
        Self { installs_packages: true, ..Self::default() }
    }

    /// Adds the targets of protected links.
    #[must_use]
    pub fn with_link_targets(mut self, workspace: &Path) -> Self {
        self.extra_paths.extend(link_targets::find_link_targets(workspace, &self));
        self
    }

    /// Returns the paths that are protected in addition to protected names, relative to the workspace.
    pub fn extra_paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.extra_paths.iter()
    }

    /// Returns the user's home directory relative to the workspace, if the workspace contains it.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Whether a path relative to the workspace is protected. The path does not have to exist.
    pub fn is_protected(&self, path: &str) -> bool {
        if !self.extra_paths.is_empty() && Path::new(path).ancestors().any(|folder| self.extra_paths.contains(folder)) {
            return true;
        }
        // Some file systems are case-insensitive.
        let path = path.to_lowercase();
        let own: Vec<&str> = path.split('/').collect();
        let Some(last) = own.last() else { return false };
        if has_name(PROTECTED_FILES, last)
            || PROTECTED_ENDINGS.iter().any(|(ending, _)| last.ends_with(ending))
            || PROTECTED_TOP_FOLDERS.contains(&own[0])
        {
            return true;
        }
        let parts: Vec<&str> = self.workspace_parts.iter().map(String::as_str).chain(own.iter().copied()).collect();
        parts.iter().any(|part| has_name(PROTECTED_FOLDERS, part) || REPOSITORY_FOLDERS.contains(part))
            || parts.windows(2).any(|pair| PROTECTED_PAIRS.iter().any(|(known, _)| pair == known))
            || self.is_home_startup_path(&path)
            || !self.installs_packages && is_loaded_by_python(&parts)
    }

    /// Whether a path is a top-level entry of the user's home directory that shells and desktops read.
    fn is_home_startup_path(&self, path: &str) -> bool {
        let Some(home) = &self.home else { return false };
        let home = home.to_string_lossy().to_lowercase();
        let Ok(inside) = Path::new(path).strip_prefix(home) else { return false };
        let first = inside.components().next().map(|part| part.as_os_str().to_string_lossy());
        first.is_some_and(|first| (first.starts_with('.') || first == "bin") && !is_quarantined_name(&first))
    }

    /// Classifies a directory by the names in it.
    pub fn classify_folder<'a>(&self, names: impl Iterator<Item = &'a [u8]>) -> ProtectedFolderKind {
        let names: Vec<Vec<u8>> = names.map(<[u8]>::to_ascii_lowercase).collect();
        let has = |name: &str| names.iter().any(|known| known == name.as_bytes());
        ProtectedFolderKind {
            is_repository: has_repository_markers(has),
            is_environment: !self.installs_packages && has(ENVIRONMENT_MARKER),
        }
    }
}

/// Whether Python loads a path automatically.
fn is_loaded_by_python(parts: &[&str]) -> bool {
    parts.last().is_some_and(|last| PYTHON_FILES.contains(last))
        || parts.iter().any(|part| PYTHON_FOLDERS.contains(part))
}

/// Whether a protected directory contains Python packages or their programs.
fn is_python_folder(name: &str) -> bool {
    PYTHON_FOLDERS.contains(&name) || ENVIRONMENT_ENTRIES.contains(&name)
}

/// What a directory is by its content, whatever its name.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProtectedFolderKind {
    /// Whether it is a repository.
    pub is_repository: bool,
    /// Whether it is a virtual environment of python.
    pub is_environment: bool,
}

impl ProtectedFolderKind {
    /// Whether a direct entry of such a directory is executed, loaded or followed. In a repository that is every entry,
    /// except for checkouts inside it, which have their own `.git`.
    pub fn protects(self, name: &str) -> bool {
        self.is_repository && !is_quarantined_name(name) || self.is_environment && is_environment_entry(name)
    }
}

/// Whether a name is that of a quarantined entry, which no program obeys.
fn is_quarantined_name(name: &str) -> bool {
    let ending = name.rsplit('.').next().unwrap_or_default();
    ending == QUARANTINE_SUFFIX || ending.strip_prefix(QUARANTINE_SUFFIX).is_some_and(|rest| rest.starts_with('-'))
}

/// Whether a directory is a repository by its content. This includes repositories with their objects elsewhere.
pub fn has_repository_markers(has: impl Fn(&str) -> bool) -> bool {
    has("head") && (has("objects") && has("refs") || has("commondir") || has("config.worktree") || has("gitdir"))
}

/// Whether a name helps to classify its directory.
pub fn is_folder_marker(name: &[u8]) -> bool {
    REPOSITORY_MARKERS.iter().chain(&[ENVIRONMENT_MARKER]).any(|sign| name.eq_ignore_ascii_case(sign.as_bytes()))
}

/// Whether a protected directory can be very large: packages, and objects of a repository.
pub fn is_bulk_folder(path: &Path) -> bool {
    let Some(name) = path.file_name().map(|name| name.to_string_lossy().to_lowercase()) else { return false };
    let is_kept = || path.parent().is_some_and(|folder| folder.iter().any(|part| part == ".git"));
    is_python_folder(&name) || name == "objects" && is_kept()
}

/// Whether a direct entry of a Python virtual environment is executed or loaded.
pub fn is_environment_entry(name: &str) -> bool {
    ENVIRONMENT_ENTRIES.contains(&name.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::ProtectedPaths;

    const TRUSTED: &[&str] = &[
        ".git/hooks/pre-commit",
        "sub/.git/hooks/x",
        ".git/config",
        ".GIT/Config",
        ".git",
        ".git/modules/a/hooks/x",
        ".envrc",
        "a/b/.envrc",
        ".ocamlinit",
        "analysis/.octaverc",
        ".Renviron",
        ".perldb",
        ".gdbearlyinit",
        ".lazy.lua",
        ".autoenv",
        ".autoenv/activate.sh",
        ".autoenv_leave.zsh",
        ".sdkmanrc",
        ".tool-versions",
        "crates/x/rust-toolchain.toml",
        "rust-toolchain",
        ".cline/skills/x/SKILL.md",
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
        ".hg/hgrc",
        ".gitlab-ci.yml",
        ".circleci/config.yml",
        ".github/actions/x/action.yml",
        ".github/copilot-instructions.md",
        ".github/skills/x/SKILL.md",
        ".forgejo/workflows/ci.yml",
        "a/CLAUDE.local.md",
        "AGENTS.override.md",
        ".clinerules",
        ".clinerules/x.md",
        ".roo/rules/x",
        "opencode.jsonc",
        "a.code-workspace",
        "mise.toml",
        ".mvn/jvm.config",
        ".local/bin/ls",
        ".local/lib/python3.11/site-packages/x.pth",
        "a/sitecustomize.py",
        "env/pyvenv.cfg",
        ".venv/bin/python3",
        ".config/environment.d/x.conf",
        ".config/nvim/init.lua",
        ".aws/config",
        ".kube/config",
        ".docker/config.json",
        ".git/index",
        ".git/refs/heads/main",
        ".git/objects/ab/cd",
        ".git/objects/info/alternates",
        "a/.git/rebase-merge/git-rebase-todo",
        ".git/sequencer/todo",
        ".hg/hgrc-not-shared",
        ".jj/repo/config.toml",
        ".dir-locals-2.el",
        ".devcontainer.json",
        ".gitpod.yml",
        ".openhands/setup.sh",
        "lefthook.toml",
        "lefthook-local.json",
        ".lefthook-local.jsonc",
        ".config/lefthook.yml",
        ".lefthook/pre-push/check.sh",
        ".lefthook-local/pre-push/check.sh",
        "mise.local.toml",
        ".mise/config.toml",
        ".mise/conf.d/tools.toml",
        "mise/config.toml",
        "fast-agent.yaml",
        ".woodpecker.yaml",
        ".github/dependabot.yaml",
        ".github/chatmodes/x.md",
        ".cirrus.yml",
        "appveyor.yml",
        ".semaphore/semaphore.yml",
        ".builds/x.yml",
        ".teamcity/settings.kts",
        ".helix/config.toml",
        ".fleet/run.json",
        ".vs/launch.vs.json",
        ".continuerules",
        ".kilocodemodes",
        ".aiassistant/rules/x.md",
        ".Rprofile",
        ".pdbrc",
        ".pryrc",
        ".ghci",
        ".iex.exs",
        ".githooks/pre-commit",
    ];

    const ORDINARY: &[&str] = &[
        "a.csv",
        ".gitignore",
        "hooks/x",
        "config",
        ".github/x",
        "vscode/a",
        ".config/x",
        "a/skills/x",
        "Makefile",
        ".cargo/registry/x",
        "package.json",
        ".github/ISSUE_TEMPLATE/x.md",
        "model.pth",
        "bin/x",
        ".local/share/x",
        ".config",
        ".rep/x",
        "mise/x",
    ];

    #[test]
    fn what_others_run_is_trusted_and_what_they_read_is_not() {
        let trusted = ProtectedPaths::for_workspace(Path::new("/srv/work"), &[], None);
        for path in TRUSTED {
            assert!(trusted.is_protected(path), "{path}");
        }
        for path in ORDINARY {
            assert!(!trusted.is_protected(path), "{path}");
        }
    }

    #[test]
    fn the_workspaces_own_path_is_part_of_every_name() {
        let is = |workspace: &str, path: &str| {
            ProtectedPaths::for_workspace(Path::new(workspace), &[], None).is_protected(path)
        };
        for (workspace, path) in [
            ("/home/me/.config", "fish/config.fish"),
            ("/home/me/.claude", "settings.json"),
            ("/home/me/.claude/skills/x", "a.txt"),
            ("/srv/repo/.git", "hooks/x"),
            ("/srv/repo/.git", "config"),
            ("/srv/repo/.git", "index"),
            ("/srv/repo/.git/worktrees/a", "HEAD"),
            ("/srv/repo/.github", "workflows/ci.yml"),
            ("/home/me/.local", "bin/ls"),
            ("/srv/repo/.claude/worktrees/a", ".claude/settings.json"),
        ] {
            assert!(is(workspace, path), "{workspace} {path}");
        }
        for (workspace, path) in [
            ("/home/me/.config", "x"),
            ("/srv/skills/x", "a.txt"),
            ("/srv/repo/.claude/worktrees/a", "src/a.txt"),
            ("/home/me/.cursor/worktrees/repo/a", "src/a.txt"),
        ] {
            assert!(!is(workspace, path), "{workspace} {path}");
        }
    }

    #[test]
    fn folders_the_callers_programs_are_looked_for_in_are_held() {
        let held = [PathBuf::from("/srv/work/node_modules/.bin"), PathBuf::from("/usr/bin")];
        let trusted = ProtectedPaths::for_workspace(Path::new("/srv/work"), &held, None);
        assert!(
            trusted.is_protected("node_modules/.bin/tsc")
                && !trusted.is_protected("node_modules/x")
                && !trusted.is_protected("usr/bin/x")
        );
        let trusted = ProtectedPaths::for_workspace(Path::new("/srv/work"), &[PathBuf::from("tools")], None);
        assert!(trusted.is_protected("tools/x") && !trusted.is_protected("tool/x"));
    }

    #[test]
    fn at_the_top_of_a_home_every_dot_is_trusted() {
        let is = |workspace: &str, path: &str| {
            ProtectedPaths::for_workspace(Path::new(workspace), &[], Some(Path::new("/home/me"))).is_protected(path)
        };
        for path in [".anything", ".local/share/x", ".config/x", "bin/x"] {
            assert!(is("/home/me", path) && is("/home", &format!("me/{path}")), "{path}");
            assert!(!is("/home/me/project", path), "{path}");
        }
        assert!(!is("/home/me", "Documents/.x") && !is("/home/me", "a.txt") && !is("/home", "you/.x"));
    }
}
