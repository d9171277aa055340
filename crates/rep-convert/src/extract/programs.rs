//! What is known about programs: which words are plumbing, which have subcommands, which only start others.

/// Words of the shell and everyday tools that are no commands of a skill.
const PLUMBING: &[&str] = &[
    "!",
    "[",
    "[[",
    ":",
    "alias",
    "awk",
    "basename",
    "break",
    "case",
    "cat",
    "cd",
    "chmod",
    "chown",
    "clear",
    "column",
    "command",
    "continue",
    "cp",
    "cut",
    "date",
    "declare",
    "diff",
    "dirname",
    "do",
    "done",
    "echo",
    "elif",
    "else",
    "esac",
    "eval",
    "exit",
    "export",
    "false",
    "fi",
    "for",
    "function",
    "grep",
    "head",
    "history",
    "if",
    "in",
    "kill",
    "less",
    "let",
    "ln",
    "local",
    "ls",
    "man",
    "mkdir",
    "mktemp",
    "more",
    "mv",
    "open",
    "popd",
    "printf",
    "ps",
    "pushd",
    "pwd",
    "read",
    "readonly",
    "realpath",
    "return",
    "rm",
    "rmdir",
    "sed",
    "select",
    "seq",
    "set",
    "shift",
    "sleep",
    "sort",
    "source",
    "stat",
    "tail",
    "tee",
    "test",
    "then",
    "time",
    "touch",
    "tr",
    "trap",
    "true",
    "type",
    "base64",
    "df",
    "du",
    "env",
    "file",
    "find",
    "hostname",
    "id",
    "install",
    "md5sum",
    "nl",
    "sha256sum",
    "shasum",
    "stty",
    "tput",
    "tree",
    "uname",
    "xxd",
    "date",
    "ulimit",
    "umask",
    "unalias",
    "uniq",
    "unset",
    "until",
    "wait",
    "wc",
    "where",
    "which",
    "while",
    "whoami",
    "xargs",
    "yes",
    "{",
    "}",
];

/// Programs that are meant wherever they stand, with how many words behind them name the command.
const KNOWN: &[(&str, usize)] = &[
    ("ansible", 0),
    ("ansible-playbook", 0),
    ("apt", 1),
    ("apt-get", 1),
    ("aws", 2),
    ("az", 2),
    ("bazel", 1),
    ("brew", 1),
    ("bun", 1),
    ("bundle", 1),
    ("bunx", 1),
    ("cargo", 1),
    ("circleci", 1),
    ("claude", 1),
    ("cmake", 0),
    ("codex", 1),
    ("composer", 1),
    ("conda", 1),
    ("curl", 0),
    ("dbt", 1),
    ("deno", 1),
    ("docker", 1),
    ("docker-compose", 1),
    ("dotnet", 1),
    ("eslint", 0),
    ("fd", 0),
    ("ffmpeg", 0),
    ("ffprobe", 0),
    ("firebase", 1),
    ("flutter", 1),
    ("flyctl", 1),
    ("gcloud", 3),
    ("gh", 2),
    ("git", 1),
    ("glab", 2),
    ("go", 1),
    ("gradle", 1),
    ("helm", 1),
    ("heroku", 1),
    ("jest", 0),
    ("jq", 0),
    ("just", 1),
    ("kubectl", 1),
    ("magick", 0),
    ("make", 1),
    ("mix", 1),
    ("mvn", 1),
    ("mypy", 0),
    ("node", 0),
    ("npm", 1),
    ("npx", 1),
    ("openssl", 1),
    ("packer", 1),
    ("pandoc", 0),
    ("pip", 1),
    ("pip3", 1),
    ("pnpm", 1),
    ("poetry", 1),
    ("psql", 0),
    ("pytest", 0),
    ("python", 0),
    ("python3", 0),
    ("qpdf", 0),
    ("railway", 1),
    ("rg", 0),
    ("rsync", 0),
    ("ruff", 1),
    ("ruby", 0),
    ("rustup", 1),
    ("scp", 0),
    ("sf", 2),
    ("soffice", 0),
    ("sqlite3", 0),
    ("ssh", 0),
    ("stripe", 1),
    ("supabase", 1),
    ("swift", 1),
    ("systemctl", 1),
    ("tar", 0),
    ("terraform", 1),
    ("tmux", 1),
    ("tsc", 0),
    ("unzip", 0),
    ("uv", 1),
    ("uvx", 1),
    ("vercel", 1),
    ("vitest", 0),
    ("wget", 0),
    ("wrangler", 2),
    ("xcodebuild", 0),
    ("yarn", 1),
    ("yt-dlp", 0),
    ("zip", 0),
];

/// Words behind a program that want one more word: `git worktree add`, `npm run build`.
const GROUPS: &[&str] = &[
    "git worktree",
    "git stash",
    "git remote",
    "git submodule",
    "git config",
    "git bisect",
    "git lfs",
    "git notes",
    "npm run",
    "pnpm run",
    "yarn run",
    "bun run",
    "npm config",
    "docker compose",
    "docker image",
    "docker container",
    "docker network",
    "docker volume",
    "docker buildx",
    "uv pip",
    "uv tool",
    "uv run",
    "kubectl rollout",
    "kubectl config",
    "cargo xtask",
    "helm repo",
    "terraform state",
    "terraform workspace",
    "go mod",
    "go tool",
    "poetry run",
    "bundle exec",
    "deno task",
    "claude mcp",
    "claude plugin",
    "brew services",
    "supabase db",
    "supabase functions",
    "dotnet tool",
    "vercel env",
    "firebase functions",
    "stripe webhooks",
    "conda env",
    "gh api",
    "aws s3",
    "swift package",
];

/// Programs that start a script or another program, which is what is meant.
const STARTERS: &[&str] = &[
    "python", "python3", "node", "bash", "sh", "zsh", "ruby", "perl", "tsx", "ts-node", "npx", "uvx", "bunx", "pnpx",
    "pwsh", "deno", "bun",
];

/// Verbs that name a subcommand wherever they stand.
const VERBS: &[&str] = &[
    "accept", "add", "apply", "build", "cancel", "check", "clear", "close", "create", "delete", "describe", "destroy",
    "diff", "disable", "dismiss", "down", "download", "edit", "enable", "exec", "export", "get", "import", "info",
    "init", "install", "kill", "list", "load", "login", "logout", "logs", "ls", "merge", "move", "new", "open",
    "publish", "pull", "push", "read", "remove", "rename", "requests", "restart", "restore", "resume", "rm", "route",
    "run", "save", "search", "send", "set", "show", "start", "status", "stop", "submit", "sync", "test", "unroute",
    "unset", "up", "update", "upgrade", "upload", "validate", "verify", "view", "watch", "whoami", "write",
];

/// Words that stand for a value: `cookies set name value`.
const VALUES: &[&str] = &[
    "key", "name", "value", "file", "path", "url", "text", "id", "user", "pass", "query", "string", "number", "on",
    "off", "k", "v", "x", "y", "a", "b", "main", "master", "left", "right", "dark", "light", "password", "username",
    "origin", "true", "false", "foo", "bar", "branch", "message", "title", "input", "output", "dir", "folder",
];

pub(super) fn is_plumbing(word: &str) -> bool {
    PLUMBING.contains(&word)
}

/// How many words behind a known program name the command.
pub(super) fn known_depth(program: &str) -> Option<usize> {
    KNOWN.iter().find(|(name, _)| *name == program).map(|(_, depth)| *depth)
}

pub(super) fn is_group(program: &str, word: &str) -> bool {
    let both = format!("{program} {word}");
    GROUPS.contains(&both.as_str())
}

pub(super) fn is_starter(word: &str) -> bool {
    STARTERS.contains(&word) || word.strip_prefix("python3.").is_some_and(|minor| minor.len() <= 2)
}

/// Whether the arguments of a program follow no common form, so that only a whole call says anything.
pub(super) fn is_freeform(program: &str) -> bool {
    matches!(
        program,
        "curl"
            | "ffmpeg"
            | "ffprobe"
            | "magick"
            | "openssl"
            | "rsync"
            | "ssh"
            | "scp"
            | "sqlite3"
            | "psql"
            | "jq"
            | "tar"
            | "wget"
            | "docker"
            | "codesign"
    )
}

pub(super) fn is_command_verb(word: &str) -> bool {
    VERBS.contains(&word)
}

pub(super) fn is_value(word: &str) -> bool {
    VALUES.contains(&word)
}

/// Whether a word can be the name of a program: letters, digits and a few marks, starting small.
pub(super) fn is_program(word: &str) -> bool {
    let is_path = word.starts_with("./") || word.starts_with("scripts/") || word.starts_with("bin/");
    let first = word.chars().next().unwrap_or(' ');
    (is_path
        || first.is_ascii_lowercase()
        || first.is_ascii_digit() && word.len() > 2 && word.contains(char::is_alphabetic))
        && word.len() <= 80
        && word.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.+/".contains(letter))
        && !word.ends_with(['.', '/', '-'])
}

/// Whether a word names a script file.
pub(super) fn is_script(word: &str) -> bool {
    let endings = [".py", ".sh", ".js", ".ts", ".mjs", ".cjs", ".rb", ".pl", ".ps1", ".php", ".R", ".lua", ".bash"];
    endings.iter().any(|ending| word.ends_with(ending)) && !word.contains(['*', '"', '\'', '(', '='])
}
