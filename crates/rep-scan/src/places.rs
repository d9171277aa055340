//! Paths that mean something: where credentials are, what starts programs again, what agents obey, what must not be deleted.

/// Parts of paths that hold credentials or private data, with words for people.
const PRIVATE: [(&str, &str); 44] = [
    (".ssh/id_", "SSH keys"),
    (".ssh/*", "SSH keys"),
    (".ssh/authorized_keys", "SSH keys"),
    ("/.ssh", "SSH keys"),
    ("id_rsa", "SSH keys"),
    ("id_ed25519", "SSH keys"),
    (".aws/credentials", "AWS credentials"),
    ("/.aws", "AWS credentials"),
    (".config/gcloud", "Google Cloud credentials"),
    ("application_default_credentials.json", "Google Cloud credentials"),
    (".azure/", "Azure credentials"),
    (".kube/config", "Kubernetes credentials"),
    (".docker/config.json", "Docker credentials"),
    (".npmrc", "npm credentials"),
    (".pypirc", "PyPI credentials"),
    (".netrc", "passwords of hosts"),
    (".git-credentials", "git credentials"),
    (".config/gh/hosts.yml", "GitHub credentials"),
    (".gnupg", "PGP keys"),
    (".vault-token", "Vault credentials"),
    (".clawdbot/.env", "the agent's secrets"),
    (".openclaw/.env", "the agent's secrets"),
    (".openclaw/credentials", "the agent's secrets"),
    (".openclaw/openclaw.json", "the agent's secrets"),
    (".clawdbot/clawdbot.json", "the agent's secrets"),
    ("auth-profiles.json", "the agent's secrets"),
    (".codex/auth.json", "the agent's secrets"),
    (".claude/.credentials.json", "the agent's secrets"),
    ("/etc/shadow", "password hashes"),
    ("wallet.dat", "a wallet"),
    (".config/solana/id.json", "a wallet"),
    (".ethereum/keystore", "a wallet"),
    (".electrum/wallets", "a wallet"),
    ("exodus/exodus.wallet", "a wallet"),
    ("local extension settings/nkbihfbeogaeaoehlefnkodbefgpgknn", "a wallet"),
    ("login data", "browser passwords"),
    ("cookies.sqlite", "browser cookies"),
    ("logins.json", "browser passwords"),
    ("google/chrome/default/cookies", "browser cookies"),
    ("library/keychains", "the keychain"),
    ("login.keychain", "the keychain"),
    (".bash_history", "the shell's history"),
    (".zsh_history", "the shell's history"),
    ("/proc/*/environ", "the environment of other programs"),
];

/// Says what private data a path holds, in words for people: `SSH keys`.
pub fn private_data(path: &str) -> Option<&'static str> {
    let lower = path.to_ascii_lowercase().replace('\\', "/").replace(['[', ']'], "");
    if lower.ends_with(".pub") || lower.contains(".example") || lower.ends_with("known_hosts") || lower.contains("://")
    {
        return None;
    }
    let lower = lower.trim_end_matches('/').to_owned();
    // A project's own file of the same name is not the user's.
    let is_home =
        lower.starts_with('~') || lower.starts_with('/') || lower.starts_with('*') || lower.contains("appdata");
    let found = PRIVATE.iter().find(|(part, _)| lower.contains(part))?;
    let is_anywhere = matches!(
        found.1,
        "a wallet"
            | "SSH keys"
            | "browser passwords"
            | "browser cookies"
            | "password hashes"
            | "the keychain"
            | "the agent's secrets"
    );
    (is_home || is_anywhere).then_some(found.1)
}

/// Says how writing to a path makes something start again.
pub(crate) fn persistence(path: &str) -> Option<&'static str> {
    let lower = path.to_ascii_lowercase().replace('\\', "/");
    let parts: [(&str, &str); 20] = [
        (".ssh/authorized_keys", "opens SSH to a key"),
        ("library/launchagents", "starts with the session"),
        ("library/launchdaemons", "starts with the machine"),
        ("/etc/systemd/system", "starts with the machine"),
        (".config/systemd/user", "starts with the session"),
        (".config/autostart", "starts with the session"),
        ("/etc/cron", "is started by cron"),
        ("/var/spool/cron", "is started by cron"),
        ("/etc/rc.local", "starts with the machine"),
        ("/etc/init.d", "starts with the machine"),
        ("/etc/profile", "starts with every shell"),
        ("/etc/ld.so.preload", "is loaded into every program"),
        ("start menu/programs/startup", "starts with the session"),
        ("~/.bashrc", "starts with every shell"),
        ("~/.bash_profile", "starts with every shell"),
        ("~/.zshrc", "starts with every shell"),
        ("~/.zshenv", "starts with every shell"),
        ("~/.zprofile", "starts with every shell"),
        ("~/.profile", "starts with every shell"),
        (".git/hooks/", "starts with git"),
    ];
    parts.iter().find(|(part, _)| lower.contains(part)).map(|(_, words)| *words)
}

/// Whether agents read a file as instructions or as their settings.
pub(crate) fn is_agent_file(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let name = lower.rsplit('/').next().unwrap_or(&lower);
    matches!(
        name,
        "claude.md"
            | "agents.md"
            | "soul.md"
            | "memory.md"
            | "gemini.md"
            | "heartbeat.md"
            | "identity.md"
            | "tools.md"
            | ".cursorrules"
            | "copilot-instructions.md"
            | ".mcp.json"
            | "claude_desktop_config.json"
    ) || [
        ".claude/settings",
        ".claude/override",
        ".claude/hooks/",
        ".claude.json",
        ".cursor/mcp.json",
        ".cursor/rules/",
        ".codex/config.toml",
        ".openclaw/openclaw.json",
        ".clawdbot/clawdbot.json",
        ".codeium/windsurf/mcp_config.json",
    ]
    .iter()
    .any(|part| lower.contains(part))
}

/// Says what is destroyed when a path is deleted with everything below it.
pub(crate) fn destroyed(path: &str) -> Option<&'static str> {
    let path = path.trim_end_matches('*');
    let path = if path.len() > 1 { path.trim_end_matches('/') } else { path };
    match path {
        "/" | "/etc" | "/usr" | "/bin" | "/boot" | "/lib" | "/var" | "/home" | "/Users" | "/root" | "C:\\" => {
            Some("the system")
        }
        "~" => Some("the home directory"),
        _ if path == "/var/log" || path.starts_with("/var/log/") => Some("logs"),
        _ if path.ends_with(".bash_history") || path.ends_with(".zsh_history") => Some("the shell's history"),
        _ if path == "~/.ssh" || path == "~/Documents" || path == "~/Desktop" => Some("personal files"),
        _ => None,
    }
}

/// Whether the name of a variable says that it is a secret.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let words: Vec<&str> = upper.split('_').collect();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    let is_file =
        upper.ends_with("_FILE") || upper.ends_with("_PATH") || upper.ends_with("_DIR") || upper.ends_with("_URL");
    if is_file && !upper.contains("DATABASE_URL") && !upper.contains("WEBHOOK_URL") {
        return false;
    }
    has(&[
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "PASS",
        "KEY",
        "APIKEY",
        "CREDENTIALS",
        "CREDENTIAL",
        "PAT",
        "PASSPHRASE",
        "MNEMONIC",
        "TOKENS",
        "KEYS",
        "SECRETS",
        "PWD",
    ]) && upper != "PWD"
        && upper != "OLDPWD"
        || upper.ends_with("APIKEY")
        || upper == "DATABASE_URL"
}

/// Variables of the shell and the session, which say nothing about what a skill needs. Sorted.
const SESSION: [&str; 76] = [
    "APPDATA",
    "ARGC",
    "BASHPID",
    "BASH_REMATCH",
    "BASH_SOURCE",
    "BASH_VERSINFO",
    "BASH_VERSION",
    "COLORTERM",
    "COLUMNS",
    "COMPREPLY",
    "COMP_CWORD",
    "COMP_WORDS",
    "COMSPEC",
    "CURRENT",
    "DIRSTACK",
    "DISPLAY",
    "EDITOR",
    "ENV",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "EUID",
    "FPATH",
    "FUNCNAME",
    "GROUPS",
    "HOME",
    "HOMEDRIVE",
    "HOMEPATH",
    "HOSTNAME",
    "HOSTTYPE",
    "IFS",
    "LANG",
    "LINENO",
    "LINES",
    "LOCALAPPDATA",
    "LOGNAME",
    "MACHTYPE",
    "NO_COLOR",
    "OLDPWD",
    "OPTARG",
    "OPTIND",
    "OSTYPE",
    "PATH",
    "PIPESTATUS",
    "PPID",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PS1",
    "PS2",
    "PS4",
    "PWD",
    "RANDOM",
    "REPLY",
    "SECONDS",
    "SHELL",
    "SHLVL",
    "SYSTEMROOT",
    "TEMP",
    "TERM",
    "TMP",
    "TMPDIR",
    "UID",
    "USER",
    "USERNAME",
    "USERPROFILE",
    "VISUAL",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
    "ZSH_VERSION",
    "argv",
    "fpath",
    "pipestatus",
    "status",
    "words",
];

/// Whether a variable belongs to the shell or to the session.
pub(crate) fn is_session_variable(name: &str) -> bool {
    SESSION.binary_search(&name).is_ok() || ["LC_", "BASH_", "ZSH_"].iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_classified() {
        assert_eq!(private_data("~/.ssh/id_rsa"), Some("SSH keys"));
        assert_eq!(private_data("/etc/shad[o]w"), Some("password hashes"));
        assert_eq!(private_data("~/.ssh/id_rsa.pub"), None);
        assert_eq!(private_data("src/main.rs"), None);
        assert_eq!(private_data(".npmrc"), None, "a project has one of its own");
        assert!(persistence("~/.zshrc").is_some());
        assert!(is_agent_file("x/CLAUDE.md") && !is_agent_file("README.md"));
        assert_eq!(destroyed("/var/log/audit/*"), Some("logs"));
        assert_eq!(destroyed("dist"), None);
        assert!(
            is_secret_name("OPENAI_API_KEY")
                && is_secret_name("DATABASE_URL")
                && !is_secret_name("PUSHOVER_OP_SA_TOKEN_FILE")
        );
        assert!(!is_secret_name("MONKEY") && !is_secret_name("PWD"));
    }
}
