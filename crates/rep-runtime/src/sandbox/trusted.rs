//! Names somebody else will run or believe: a tool that may write "everything" may not write these.
//!
//! The rule: what a program runs, loads or obeys without being asked for that file is trusted - when a folder is
//! entered, opened in an editor, given to an agent, checked out or pushed. What people start by hand and by name
//! (`Makefile`, `package.json`, scripts, sources) is the ordinary work of tools and stays writable. No declaration
//! makes an exception: a skill that declares `write: ["skills/x/**"]` is refused when it writes there.

use std::path::{Path, PathBuf};

/// Files that are read by shells, editors, agents, package managers and services of repositories without being asked.
const FILES: &[&str] = &[
    ".aider.conf.yml",
    ".autoenv.zsh",
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".bazelrc",
    ".claude.json",
    ".crush.json",
    ".cshrc",
    ".curlrc",
    ".cursorrules",
    ".dir-locals.el",
    ".drone.yml",
    ".emacs",
    ".envrc",
    ".exrc",
    ".forward",
    ".gdbinit",
    ".gemrc",
    ".gitattributes",
    ".gitconfig",
    ".gitlab-ci.yml",
    ".gitmodules",
    ".goosehints",
    ".hgrc",
    ".inputrc",
    ".irbrc",
    ".kshrc",
    ".lefthook.yml",
    ".lldbinit",
    ".login",
    ".lvimrc",
    ".mailcap",
    ".mcp.json",
    ".mise.toml",
    ".npmrc",
    ".nvim.lua",
    ".nvimrc",
    ".opencode.json",
    ".overcommit.yml",
    ".pam_environment",
    ".pnp.cjs",
    ".pnpmfile.cjs",
    ".pre-commit-config.yaml",
    ".profile",
    ".psqlrc",
    ".roomodes",
    ".roorules",
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
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "claude.local.md",
    "claude.md",
    "crush.json",
    "crush.md",
    "gemini.md",
    "jenkinsfile",
    "lefthook.yml",
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
    ".amazonq",
    ".amp",
    ".augment",
    ".bashrc.d",
    ".buildkite",
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
    ".gemini",
    ".gnupg",
    ".goose",
    ".husky",
    ".idea",
    ".junie",
    ".kilocode",
    ".kiro",
    ".mvn",
    ".nvm",
    ".oh-my-zsh",
    ".opencode",
    ".pi",
    ".qwen",
    ".rep",
    ".roo",
    ".rovodev",
    ".ssh",
    ".tabnine",
    ".trae",
    ".vim",
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
    [".github", "copilot-instructions.md"],
    [".github", "dependabot.yml"],
    [".github", "hooks"],
    [".github", "instructions"],
    [".github", "prompts"],
    [".github", "skills"],
    [".github", "workflows"],
    [".gradle", "init.d"],
    [".hg", "hgrc"],
    [".jj", "repo"],
    [".kube", "config"],
    [".local", "bin"],
    [".m2", "settings.xml"],
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

/// What inside of a repository's folder is run or leads elsewhere.
const REPOSITORY: &[&str] = &["commondir", "config", "config.worktree", "gitdir", "hooks"];

/// What inside of a virtual environment of python is run or loaded.
const ENVIRONMENT: &[&str] = &["bin", "lib", "lib64", "pyvenv.cfg", "scripts"];

/// What makes a folder a virtual environment of python.
pub(crate) const ENVIRONMENT_SIGN: &str = "pyvenv.cfg";

/// Where hosts put whole copies of projects, inside of a folder that is theirs: `.claude/worktrees/NAME`.
const PROJECTS: &str = "worktrees";

/// What is trusted in one workspace.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trusted {
    /// The parts of the workspace's own path, in lower case: names are judged together with them.
    above: Vec<String>,
    /// Folders of which all is held, relative to the workspace: those the caller's programs are looked for in.
    held: Vec<PathBuf>,
    /// Whether packages are installed there, so that what python loads is the work itself.
    is_for_packages: bool,
}

impl Trusted {
    /// What is trusted in a workspace, which is absolute and has its links resolved.
    pub(crate) fn of(workspace: &Path, held: &[PathBuf]) -> Self {
        let text = workspace.to_string_lossy().to_lowercase();
        let parts: Vec<&str> = text.split('/').filter(|part| !part.is_empty()).collect();
        // A copy of a project is a project, although a host keeps it in a folder of its own.
        let is_project = |at: usize| FOLDERS.contains(&parts[at]) && parts.get(at + 1) == Some(&PROJECTS);
        let start = (0..parts.len()).rfind(|at| is_project(*at)).map_or(0, |at| (at + 3).min(parts.len()));
        let inside = held.iter().filter_map(|folder| folder.strip_prefix(workspace).ok());
        Self {
            above: parts[start..].iter().map(|part| (*part).to_owned()).collect(),
            held: inside.map(Path::to_owned).collect(),
            is_for_packages: false,
        }
    }

    /// What is trusted in a folder packages are installed into.
    pub(crate) fn for_packages() -> Self {
        Self { is_for_packages: true, ..Self::default() }
    }

    /// Whether a path relative to the workspace is trusted, whether it exists or not.
    pub(crate) fn is(&self, path: &str) -> bool {
        if self.held.iter().any(|folder| Path::new(path).starts_with(folder)) {
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
        let repository = parts.iter().position(|part| *part == ".git");
        *last == ".git"
            || parts.iter().any(|part| FOLDERS.contains(part))
            || parts.windows(2).any(|pair| PAIRS.iter().any(|known| pair == known))
            || repository.is_some_and(|at| parts[at + 1..].iter().any(|part| REPOSITORY.contains(part)))
            || !self.is_for_packages && is_loaded(&parts)
    }

    /// Whether a folder with these names in it holds something that is trusted for lying there.
    pub(crate) fn kind<'a>(&self, names: impl Iterator<Item = &'a [u8]>) -> Kind {
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
pub(crate) fn is_loaded_folder(name: &str) -> bool {
    let name = name.to_lowercase();
    PYTHON_FOLDERS.contains(&name.as_str()) || ENVIRONMENT.contains(&name.as_str())
}

/// What a folder is by what it holds, whatever it is called.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kind {
    /// Whether it is a repository.
    pub(crate) is_repository: bool,
    /// Whether it is a virtual environment of python.
    pub(crate) is_environment: bool,
}

impl Kind {
    /// Whether a name directly in such a folder is run, loaded, or leads elsewhere.
    pub(crate) fn trusts(self, name: &str) -> bool {
        self.is_repository && is_of_repository(name) || self.is_environment && is_of_environment(name)
    }
}

/// Whether a folder is a repository, by what is in it. One that has its objects elsewhere is one as well.
pub(crate) fn is_repository(has: impl Fn(&str) -> bool) -> bool {
    has("head") && (has("objects") && has("refs") || has("commondir") || has("config.worktree") || has("gitdir"))
}

/// Whether a name is one of those that make a folder a repository.
pub(crate) fn is_repository_sign(name: &str) -> bool {
    ["head", "objects", "refs", "commondir", "config.worktree", "gitdir"].contains(&name.to_lowercase().as_str())
}

/// Whether a name directly in a repository is run or leads elsewhere.
pub(crate) fn is_of_repository(name: &str) -> bool {
    REPOSITORY.contains(&name.to_lowercase().as_str())
}

/// Whether a name directly in a virtual environment of python is run or loaded.
pub(crate) fn is_of_environment(name: &str) -> bool {
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
    ];

    const ORDINARY: &[&str] = &[
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
        ".github/ISSUE_TEMPLATE/x.md",
        "model.pth",
        "bin/x",
        ".local/share/x",
        ".config",
    ];

    #[test]
    fn what_others_run_is_trusted_and_what_they_read_is_not() {
        let trusted = Trusted::of(Path::new("/srv/work"), &[]);
        for path in TRUSTED {
            assert!(trusted.is(path), "{path}");
        }
        for path in ORDINARY {
            assert!(!trusted.is(path), "{path}");
        }
    }

    #[test]
    fn the_workspaces_own_path_is_part_of_every_name() {
        let is = |workspace: &str, path: &str| Trusted::of(Path::new(workspace), &[]).is(path);
        for (workspace, path) in [
            ("/home/me/.config", "fish/config.fish"),
            ("/home/me/.claude", "settings.json"),
            ("/home/me/.claude/skills/x", "a.txt"),
            ("/srv/repo/.git", "hooks/x"),
            ("/srv/repo/.git", "config"),
            ("/srv/repo/.github", "workflows/ci.yml"),
            ("/home/me/.local", "bin/ls"),
            ("/srv/repo/.claude/worktrees/a", ".claude/settings.json"),
        ] {
            assert!(is(workspace, path), "{workspace} {path}");
        }
        for (workspace, path) in [
            ("/home/me/.config", "x"),
            ("/srv/repo/.git", "index"),
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
        let trusted = Trusted::of(Path::new("/srv/work"), &held);
        assert!(trusted.is("node_modules/.bin/tsc") && !trusted.is("node_modules/x") && !trusted.is("usr/bin/x"));
    }
}
