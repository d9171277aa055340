//! The keys of `rep.yaml`, for the reference documentation. A test compares them with the keys that the reader accepts.

/// The files a key is read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsFile {
    /// Only the project's file.
    Project,
    /// Only the user's file.
    User,
    /// Both files.
    Both,
}

/// A key of `rep.yaml`.
#[derive(Clone, Copy, Debug)]
pub struct SettingsKey {
    /// The key with its parents, separated by dots.
    pub path: &'static str,
    /// The files it is read from.
    pub file: SettingsFile,
    /// An example value, in YAML flow style.
    pub example: &'static str,
    /// A description, in Markdown.
    pub summary: &'static str,
}

/// Describes a key of one server.
macro_rules! describe_server_key {
    ($key:literal, $file:expr, $example:literal, $summary:expr $(,)?) => {
        SettingsKey { path: concat!("mcp_servers.NAME.", $key), file: $file, example: $example, summary: $summary }
    };
}

/// All keys.
pub const KEYS: &[SettingsKey] = &[
    SettingsKey {
        path: "check.profiles",
        file: SettingsFile::Project,
        example: "[agentskills, claude-api]",
        summary: "Profiles to check by. Without it, each file is checked by its dialect and by `security`.",
    },
    SettingsKey {
        path: "check.ignore",
        file: SettingsFile::Project,
        example: "[line-ends-crlf]",
        summary: "Rules that do not run.",
    },
    SettingsKey {
        path: "check.levels",
        file: SettingsFile::Project,
        example: "{body-too-long: error, description-vague: off}",
        summary: "The level of single rules: `off`, `info`, `warning` or `error`.",
    },
    SettingsKey {
        path: "check.strict-schema",
        file: SettingsFile::Project,
        example: "true",
        summary: "Whether to take the printed UASP schema literally. The default is `false`.",
    },
    SettingsKey {
        path: "check.exclude",
        file: SettingsFile::Project,
        example: "['vendor/**', '**/fixtures']",
        summary: "Skills and files that are not checked: patterns as in `.gitignore`, relative to the file.",
    },
    SettingsKey {
        path: "check.overrides",
        file: SettingsFile::Project,
        example: "[{paths: ['legacy/**'], ignore: [description-vague], levels: {name-uppercase: warning}}]",
        summary: "Settings of the skills at some paths. Each entry has `paths`, which are patterns as in `exclude`, and \
                  any of `profiles`, `ignore` and `levels`. Later entries win, and those of a nearer file. Rules that \
                  compare skills follow the settings outside of `overrides`.",
    },
    SettingsKey {
        path: "library.paths",
        file: SettingsFile::Both,
        example: "[vendor/skills]",
        summary: "Further directories of skills, relative to the file. Those of a project need its trust; those of the user are \
                  personal skills, and `~/` is the home directory.",
    },
    SettingsKey {
        path: "policy.deny.skills",
        file: SettingsFile::User,
        example: "[old-tool]",
        summary: "Skills that do not run, whatever they declare or were approved for.",
    },
    SettingsKey {
        path: "policy.deny.hosts",
        file: SettingsFile::User,
        example: "['*.internal.example.org']",
        summary: "Hosts that no skill may reach. A skill that declares one does not run.",
    },
    SettingsKey {
        path: "policy.deny.paths",
        file: SettingsFile::User,
        example: "['**/.env']",
        summary: "Files that no skill may read or write. A skill that declares one does not run.",
    },
    SettingsKey {
        path: "sources.allow",
        file: SettingsFile::User,
        example: "['github:acme/*', 'oci://registry.acme.example/*', 'local:*']",
        summary: "The sources from which skills may be installed and to which they may be pushed. `*` means any text. \
                  Without it, every source is allowed. A source that is not allowed is refused before a request.",
    },
    SettingsKey {
        path: "sources.deny",
        file: SettingsFile::User,
        example: "['github:mallory/*']",
        summary: "Sources that are refused, whatever `sources.allow` says. All of `sources` can also be set in \
                  `/etc/repertoire/rep.yaml` by an administrator, and a source must then be allowed by both files.",
    },
    SettingsKey {
        path: "sources.mirrors",
        file: SettingsFile::User,
        example: "{'oci://ghcr.io/': 'oci://mirror.acme.example/ghcr/'}",
        summary: "Where to fetch from instead: the start of an address, and what replaces it, for registries, \
                  repositories and indexes. The lock file keeps the original address.",
    },
    SettingsKey {
        path: "sources.proxy",
        file: SettingsFile::User,
        example: "http://proxy.acme.example:3128",
        summary: "The proxy through which skills are fetched and pushed. Variables of the environment are not used, \
                  except by git, which has settings of its own.",
    },
    describe_server_key!(
        "command",
        SettingsFile::Both,
        "files-server",
        "The program of an MCP server that speaks over stdio. Its tools are `mcp:NAME:TOOL`. `${VAR}` and \
         `${VAR:-default}` are expanded here and in `args`, `env`, `url` and `headers`.",
    ),
    describe_server_key!("args", SettingsFile::Both, "[--root, docs]", "The arguments of the program."),
    describe_server_key!("env", SettingsFile::Both, "{FILES_TOKEN: '${FILES_TOKEN}'}", "The variables of the program."),
    describe_server_key!(
        "url",
        SettingsFile::Both,
        "https://search.example.org/mcp",
        "The address of an MCP server over HTTP, instead of `command`.",
    ),
    describe_server_key!(
        "headers",
        SettingsFile::Both,
        "{Authorization: 'Bearer ${SEARCH_TOKEN}'}",
        "Further headers of every request to the server.",
    ),
    describe_server_key!("type", SettingsFile::Both, "stdio", "`stdio` or `http`, if you want to say it."),
    describe_server_key!(
        "permissions",
        SettingsFile::Both,
        "{filesystem: {read: ['docs/**']}}",
        "What the server's process may do, in the language of skills. Without it, it reaches no file of yours and no \
         host.",
    ),
    describe_server_key!("timeout", SettingsFile::Both, "30", "Seconds until a call is stopped. The default is 60."),
    describe_server_key!(
        "readable",
        SettingsFile::User,
        "[/opt/files-server]",
        "Directories outside the workspace that the server's process may read.",
    ),
    describe_server_key!(
        "trust",
        SettingsFile::User,
        "true",
        "Whether you believe the server: its tools that it marks as read-only then run without confirmation.",
    ),
    describe_server_key!(
        "sandbox",
        SettingsFile::User,
        "false",
        "Whether the server's process is confined. `false` gives it all your permissions.",
    ),
    describe_model_key("llm.url", "http://127.0.0.1:8080/v1", "The address of the model's server (`REP_LLM_URL`)."),
    describe_model_key("llm.model", "qwen2.5-coder", "The name of the model (`REP_LLM_MODEL`)."),
    describe_model_key("llm.api", "openai", "The format of requests: `openai` or `anthropic` (`REP_LLM_API`)."),
    describe_model_key("llm.key-env", "MY_KEY", "The environment variable that holds the key (`REP_LLM_KEY_ENV`)."),
    describe_model_key("llm.max-tokens", "8192", "The maximum number of tokens in an answer (`REP_LLM_MAX_TOKENS`)."),
    describe_model_key("llm.temperature", "0.2", "The sampling temperature (`REP_LLM_TEMPERATURE`)."),
    describe_model_key("llm.timeout", "300", "Seconds to wait for one answer (`REP_LLM_TIMEOUT`)."),
    describe_model_key(
        "llm.corrections",
        "2",
        "How often the model may correct an invalid answer (`REP_LLM_CORRECTIONS`).",
    ),
    describe_model_key(
        "llm.price",
        "3/15",
        "The price of a million tokens, in and out, to show costs (`REP_LLM_PRICE`).",
    ),
    SettingsKey {
        path: "serve.pinned",
        file: SettingsFile::Both,
        example: "[pdf, csv-profile]",
        summary: "Skills that `rep serve` names first in its instructions for models, with descriptions.",
    },
    SettingsKey {
        path: "serve.clients",
        file: SettingsFile::Both,
        example: "{claude-code: [csv-*, tag:data]}",
        summary: "The only skills that exist for a client of `rep serve`, by a pattern for the name that the client reports. It is a convenience: a client can report any name.",
    },
];

const fn describe_model_key(path: &'static str, example: &'static str, summary: &'static str) -> SettingsKey {
    SettingsKey { path, file: SettingsFile::User, example, summary }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::{MODEL_KEYS, PROJECT_SECTIONS, SettingsError, SettingsReader, USER_SECTIONS};
    use super::*;

    fn try_settings(text: &str, known: &[&str]) -> Result<(), SettingsError> {
        SettingsReader { source: rep_model::SourceText::new(text.to_owned()), shown: "rep.yaml".to_owned() }
            .parse_settings(known)
            .map(drop)
    }

    fn render_example(key: &SettingsKey) -> String {
        let mut text = String::new();
        for (depth, part) in key.path.split('.').enumerate() {
            text.push_str(&format!("{}{part}:\n", "  ".repeat(depth)));
        }
        // A server needs a way to be reached besides the key itself.
        let beside = match key.path.rsplit_once("mcp_servers.NAME.") {
            Some((_, "command" | "url")) | None => "",
            Some((_, "headers")) => "    url: https://example.org/mcp\n",
            Some(_) => "    command: server\n",
        };
        format!("{} {}\n{beside}", text.trim_end(), key.example)
    }

    #[test]
    fn every_documented_example_is_accepted_where_the_documentation_says() {
        for key in KEYS {
            let text = render_example(key);
            let is_for = |file| key.file == file || key.file == SettingsFile::Both;
            assert_eq!(try_settings(&text, PROJECT_SECTIONS).is_ok(), is_for(SettingsFile::Project), "{text}");
            assert_eq!(try_settings(&text, USER_SECTIONS).is_ok(), is_for(SettingsFile::User), "{text}");
        }
    }

    #[test]
    fn every_key_that_is_read_is_documented() {
        let documented = |prefix: &str| -> BTreeSet<String> {
            let rest = KEYS.iter().filter_map(|key| key.path.strip_prefix(prefix)?.strip_prefix('.'));
            rest.map(|rest| rest.split('.').next().unwrap_or(rest).to_owned()).collect()
        };
        for prefix in ["check", "library", "policy", "policy.deny", "llm", "mcp_servers.NAME", "serve"] {
            let mut text = String::new();
            for (depth, part) in prefix.split('.').enumerate() {
                text.push_str(&format!("{}{part}:\n", "  ".repeat(depth)));
            }
            text.push_str("        no-such-key: [x]\n");
            let all = ["check", "library", "policy", "llm", "mcp_servers", "serve"];
            let Err(SettingsError::Invalid { remedy, .. }) = try_settings(&text, &all) else { panic!("{text}") };
            let (_, list) = remedy.split_once(": ").expect("the keys are listed");
            let known: BTreeSet<String> = list.split(", ").map(str::to_owned).collect();
            assert_eq!(documented(prefix), known, "{prefix}");
        }
        assert_eq!(documented("llm").len(), MODEL_KEYS.len());
    }
}
