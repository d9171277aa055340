//! Names somebody else will run or believe: a tool that may write "everything" may not write these.
//!
//! The rule: what a program runs, loads or obeys without being asked for that file is trusted - when a folder is
//! entered, opened in an editor, given to an agent, checked out or pushed. What people start by hand and by name
//! (`Makefile`, `package.json`, scripts, sources) is the ordinary work of tools and stays writable. No declaration
//! makes an exception: a skill that declares `write: ["skills/x/**"]` is refused when it writes there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

mod leads;

/// Files that are read by shells, editors, agents, package managers and services of repositories without being asked.
const FILES: &[&str] = &[
    ".aider.conf.yml",
    ".appveyor.yml",
    ".autoenv.zsh",
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".bazelrc",
    ".build.yml",
    ".cirrus.yml",
    ".claude.json",
    ".continuerules",
    ".crush.json",
    ".cshrc",
    ".curlrc",
    ".cursorrules",
    ".devcontainer.json",
    ".dir-locals-2.el",
    ".dir-locals.el",
    ".drone.yml",
    ".emacs",
    ".envrc",
    ".exrc",
    ".forward",
    ".gdbinit",
    ".gemrc",
    ".ghci",
    ".gitattributes",
    ".gitconfig",
    ".gitlab-ci.yml",
    ".gitmodules",
    ".gitpod.yml",
    ".goosehints",
    ".hgrc",
    ".iex.exs",
    ".inputrc",
    ".irbrc",
    ".kilocodemodes",
    ".kshrc",
    ".lefthook-local.json",
    ".lefthook-local.toml",
    ".lefthook-local.yaml",
    ".lefthook-local.yml",
    ".lefthook.json",
    ".lefthook.toml",
    ".lefthook.yaml",
    ".lefthook.yml",
    ".lldbinit",
    ".login",
    ".lvimrc",
    ".mailcap",
    ".mcp.json",
    ".mise.local.toml",
    ".mise.toml",
    ".npmrc",
    ".nvim.lua",
    ".nvimrc",
    ".opencode.json",
    ".overcommit.yml",
    ".pam_environment",
    ".pdbrc",
    ".pnp.cjs",
    ".pnpmfile.cjs",
    ".pre-commit-config.yaml",
    ".profile",
    ".pryrc",
    ".psqlrc",
    ".roomodes",
    ".roorules",
    ".rprofile",
    ".rules",
    ".rvmrc",
    ".screenrc",
    ".sqliterc",
    ".tcshrc",
    ".tmux.conf",
    ".travis.yml",
    ".vimrc",
    ".wgetrc",
    ".windsurfrules",
    ".woodpecker.yaml",
    ".woodpecker.yml",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".xsessionrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "agent.md",
    "agents.md",
    "agents.override.md",
    "appveyor.yml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "claude.local.md",
    "claude.md",
    "crush.json",
    "crush.md",
    "gemini.md",
    "jenkinsfile",
    "lefthook-local.json",
    "lefthook-local.toml",
    "lefthook-local.yaml",
    "lefthook-local.yml",
    "lefthook.json",
    "lefthook.toml",
    "lefthook.yaml",
    "lefthook.yml",
    "mise.local.toml",
    "mise.toml",
    "opencode.json",
    "opencode.jsonc",
    "qwen.md",
    "rep.yaml",
    "warp.md",
];

/// What files of any name end in that open with what they say.
const ENDINGS: &[&str] = &[".code-workspace"];

/// Folders of which all is believed, and files of the same name.
const FOLDERS: &[&str] = &[
    ".agent",
    ".agent-packages",
    ".agents",
    ".aiassistant",
    ".amazonq",
    ".amp",
    ".augment",
    ".bashrc.d",
    ".buildkite",
    ".builds",
    ".circleci",
    ".claude",
    ".clinerules",
    ".codeium",
    ".codex",
    ".cognition",
    ".continue",
    ".copilot",
    ".cursor",
    ".devcontainer",
    ".devin",
    ".emacs.d",
    ".factory",
    ".fleet",
    ".gemini",
    ".githooks",
    ".gnupg",
    ".goose",
    ".helix",
    ".husky",
    ".idea",
    ".junie",
    ".kilocode",
    ".kiro",
    ".mvn",
    ".nvm",
    ".oh-my-zsh",
    ".opencode",
    ".openhands",
    ".pi",
    ".qwen",
    ".rep",
    ".roo",
    ".rovodev",
    ".semaphore",
    ".ssh",
    ".tabnine",
    ".teamcity",
    ".trae",
    ".vim",
    ".vs",
    ".vscode",
    ".vscode-server",
    ".windsurf",
    ".woodpecker",
    ".zed",
];

/// What is believed inside of a folder that holds other things too.
const PAIRS: &[[&str; 2]] = &[
    [".aws", "config"],
    [".aws", "credentials"],
    [".bundle", "config"],
    [".cargo", "bin"],
    [".cargo", "config"],
    [".cargo", "config.toml"],
    [".cargo", "env"],
    [".config", "agents"],
    [".config", "amp"],
    [".config", "autostart"],
    [".config", "code"],
    [".config", "crush"],
    [".config", "environment.d"],
    [".config", "fish"],
    [".config", "git"],
    [".config", "github-copilot"],
    [".config", "goose"],
    [".config", "mise"],
    [".config", "mise.toml"],
    [".config", "nvim"],
    [".config", "opencode"],
    [".config", "pip"],
    [".config", "systemd"],
    [".config", "zed"],
    [".config", "zsh"],
    [".docker", "cli-plugins"],
    [".docker", "config.json"],
    [".forgejo", "workflows"],
    [".gitea", "workflows"],
    [".github", "actions"],
    [".github", "agents"],
    [".github", "chatmodes"],
    [".github", "copilot-instructions.md"],
    [".github", "dependabot.yaml"],
    [".github", "dependabot.yml"],
    [".github", "hooks"],
    [".github", "instructions"],
    [".github", "prompts"],
    [".github", "skills"],
    [".github", "workflows"],
    [".gradle", "init.d"],
    [".kube", "config"],
    [".local", "bin"],
    [".m2", "settings.xml"],
    [".mise", "config.local.toml"],
    [".mise", "config.toml"],
    [".pip", "pip.conf"],
    [".subversion", "config"],
    [".venv", "bin"],
    [".yarn", "releases"],
    ["venv", "bin"],
];

/// What python loads by itself: files, and folders.
const PYTHON_FILES: &[&str] = &["pyvenv.cfg", "sitecustomize.py", "usercustomize.py"];
const PYTHON_FOLDERS: &[&str] = &["dist-packages", "site-packages"];

/// Folders that are believed at the top of the workspace, and are anybody's further down.
const TOP: &[&str] = &["skills"];

/// Folders in which programs that keep versions keep all they know: what is run (hooks, settings), what is published with
/// the next push (index, refs), and what the next checkout writes (objects, which nobody compares with their names).
const REPOSITORIES: &[&str] = &[".git", ".hg", ".jj"];

/// What makes a folder a repository of git, whatever it is called.
const REPOSITORY_SIGNS: &[&str] = &["head", "objects", "refs", "commondir", "config.worktree", "gitdir"];

/// What the names of things that were moved aside have in them.
pub const REFUSED: &str = "refused";

/// What inside of a virtual environment of python is run or loaded.
const ENVIRONMENT: &[&str] = &["bin", "lib", "lib64", "pyvenv.cfg", "scripts"];

/// What makes a folder a virtual environment of python.
pub const ENVIRONMENT_SIGN: &str = "pyvenv.cfg";

/// Where hosts put whole copies of projects, inside of a folder that is theirs: `.claude/worktrees/NAME`.
const PROJECTS: &str = "worktrees";

/// What is trusted in one workspace.
#[derive(Clone, Debug, Default)]
pub struct Trusted {
    /// The parts of the workspace's own path, in lower case: names are judged together with them.
    above: Vec<String>,
    /// Files, and folders of which all is held, relative to the workspace: where the caller's programs are looked for, and
    /// where trusted links lead.
    held: BTreeSet<PathBuf>,
    /// The user's home, relative to the workspace, where it lies in it or is it.
    home: Option<PathBuf>,
    /// Whether packages are installed there, so that what python loads is the work itself.
    is_for_packages: bool,
}

impl Trusted {
    /// What is trusted in a workspace, which is absolute and has its links resolved. What is held is absolute, or relative to
    /// the workspace.
    pub fn of(workspace: &Path, held: &[PathBuf], home: Option<&Path>) -> Self {
        let text = workspace.to_string_lossy().to_lowercase();
        let parts: Vec<&str> = text.split('/').filter(|part| !part.is_empty()).collect();
        // A copy of a project is a project, although a host keeps it in a folder of its own.
        let is_project = |at: usize| FOLDERS.contains(&parts[at]) && parts.get(at + 1) == Some(&PROJECTS);
        let start = (0..parts.len()).rfind(|at| is_project(*at)).map_or(0, |at| (at + 3).min(parts.len()));
        let inside = |folder: &PathBuf| {
            if folder.is_relative() {
                return Some(folder.clone());
            }
            folder.strip_prefix(workspace).ok().map(Path::to_owned)
        };
        Self {
            above: parts[start..].iter().map(|part| (*part).to_owned()).collect(),
            held: held.iter().filter_map(inside).collect(),
            home: home.and_then(|home| home.strip_prefix(workspace).ok()).map(Path::to_owned),
            is_for_packages: false,
        }
    }

    /// What is trusted in a folder packages are installed into.
    pub fn for_packages() -> Self {
        Self { is_for_packages: true, ..Self::default() }
    }

    /// Holds what its links lead to as well.
    #[must_use]
    pub fn and_where_links_lead(mut self, workspace: &Path) -> Self {
        self.held.extend(leads::inside(workspace, &self));
        self
    }

    /// What is held besides what is trusted by name, relative to the workspace.
    pub fn held(&self) -> impl Iterator<Item = &PathBuf> {
        self.held.iter()
    }

    /// The user's home, relative to the workspace, where it lies in it.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Whether a path relative to the workspace is trusted, whether it exists or not.
    pub fn is(&self, path: &str) -> bool {
        if !self.held.is_empty() && Path::new(path).ancestors().any(|folder| self.held.contains(folder)) {
            return true;
        }
        // Some file systems do not tell upper from lower case.
        let path = path.to_lowercase();
        let own: Vec<&str> = path.split('/').collect();
        let Some(last) = own.last() else { return false };
        if FILES.contains(last) || ENDINGS.iter().any(|ending| last.ends_with(ending)) || TOP.contains(&own[0]) {
            return true;
        }
        let parts: Vec<&str> = self.above.iter().map(String::as_str).chain(own.iter().copied()).collect();
        parts.iter().any(|part| FOLDERS.contains(part) || REPOSITORIES.contains(part))
            || parts.windows(2).any(|pair| PAIRS.iter().any(|known| pair == known))
            || self.is_of_home(&path)
            || !self.is_for_packages && is_loaded(&parts)
    }

    /// Whether a path is one of those at the top of the user's home that shells and desktops read.
    fn is_of_home(&self, path: &str) -> bool {
        let Some(home) = &self.home else { return false };
        let home = home.to_string_lossy().to_lowercase();
        let Ok(inside) = Path::new(path).strip_prefix(home) else { return false };
        let first = inside.components().next().map(|part| part.as_os_str().to_string_lossy());
        first.is_some_and(|first| (first.starts_with('.') || first == "bin") && !is_refused(&first))
    }

    /// Whether a folder with these names in it holds something that is trusted for lying there.
    pub fn kind<'a>(&self, names: impl Iterator<Item = &'a [u8]>) -> Kind {
        let names: Vec<Vec<u8>> = names.map(<[u8]>::to_ascii_lowercase).collect();
        let has = |name: &str| names.iter().any(|known| known == name.as_bytes());
        Kind { is_repository: is_repository(has), is_environment: !self.is_for_packages && has(ENVIRONMENT_SIGN) }
    }
}

/// Whether python loads a path by itself.
fn is_loaded(parts: &[&str]) -> bool {
    parts.last().is_some_and(|last| PYTHON_FILES.contains(last))
        || parts.iter().any(|part| PYTHON_FOLDERS.contains(part))
}

/// Whether a folder that is trusted as a whole holds packages of python, or programs of theirs.
fn is_loaded_folder(name: &str) -> bool {
    PYTHON_FOLDERS.contains(&name) || ENVIRONMENT.contains(&name)
}

/// What a folder is by what it holds, whatever it is called.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kind {
    /// Whether it is a repository.
    pub is_repository: bool,
    /// Whether it is a virtual environment of python.
    pub is_environment: bool,
}

impl Kind {
    /// Whether a name directly in such a folder is run, loaded, or leads elsewhere. In a repository that is every name, but a
    /// checkout that lies in it, which its `.git` tells.
    pub fn trusts(self, name: &str) -> bool {
        self.is_repository && !is_refused(name) || self.is_environment && is_of_environment(name)
    }
}

/// Whether a name is that of something that was moved aside: it does nothing any more.
fn is_refused(name: &str) -> bool {
    let ending = name.rsplit('.').next().unwrap_or_default();
    ending == REFUSED || ending.strip_prefix(REFUSED).is_some_and(|rest| rest.starts_with('-'))
}

/// Whether a folder is a repository, by what is in it. One that has its objects elsewhere is one as well.
pub fn is_repository(has: impl Fn(&str) -> bool) -> bool {
    has("head") && (has("objects") && has("refs") || has("commondir") || has("config.worktree") || has("gitdir"))
}

/// Whether a name says something about what the folder is that it lies in.
pub fn is_sign(name: &[u8]) -> bool {
    REPOSITORY_SIGNS.iter().chain(&[ENVIRONMENT_SIGN]).any(|sign| name.eq_ignore_ascii_case(sign.as_bytes()))
}

/// Whether a folder of which all is trusted holds very much that is of no other use: packages, and what a repository keeps.
pub fn is_bulk(path: &Path) -> bool {
    let Some(name) = path.file_name().map(|name| name.to_string_lossy().to_lowercase()) else { return false };
    let is_kept = || path.parent().is_some_and(|folder| folder.iter().any(|part| part == ".git"));
    is_loaded_folder(&name) || name == "objects" && is_kept()
}

/// Whether a name directly in a virtual environment of python is run or loaded.
pub fn is_of_environment(name: &str) -> bool {
    ENVIRONMENT.contains(&name.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::Trusted;

    const TRUSTED: &[&str] = &[
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
        "mise.local.toml",
        ".mise/config.toml",
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
    ];

    #[test]
    fn what_others_run_is_trusted_and_what_they_read_is_not() {
        let trusted = Trusted::of(Path::new("/srv/work"), &[], None);
        for path in TRUSTED {
            assert!(trusted.is(path), "{path}");
        }
        for path in ORDINARY {
            assert!(!trusted.is(path), "{path}");
        }
    }

    #[test]
    fn the_workspaces_own_path_is_part_of_every_name() {
        let is = |workspace: &str, path: &str| Trusted::of(Path::new(workspace), &[], None).is(path);
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
        let trusted = Trusted::of(Path::new("/srv/work"), &held, None);
        assert!(trusted.is("node_modules/.bin/tsc") && !trusted.is("node_modules/x") && !trusted.is("usr/bin/x"));
        let trusted = Trusted::of(Path::new("/srv/work"), &[PathBuf::from("tools")], None);
        assert!(trusted.is("tools/x") && !trusted.is("tool/x"));
    }

    #[test]
    fn at_the_top_of_a_home_every_dot_is_trusted() {
        let is =
            |workspace: &str, path: &str| Trusted::of(Path::new(workspace), &[], Some(Path::new("/home/me"))).is(path);
        for path in [".anything", ".local/share/x", ".config/x", "bin/x"] {
            assert!(is("/home/me", path) && is("/home", &format!("me/{path}")), "{path}");
            assert!(!is("/home/me/project", path), "{path}");
        }
        assert!(!is("/home/me", "Documents/.x") && !is("/home/me", "a.txt") && !is("/home", "you/.x"));
    }
}
