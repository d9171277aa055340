//! The hosts with known MCP settings, as data.

use serde_json::{Value, json};

use crate::client_config::{ClientHost, ConfigFormat};

/// How a host's settings describe a server.
#[derive(Debug)]
pub(crate) enum ServerShape {
    /// An object below these keys.
    Json {
        keys: &'static [&'static str],
        stdio: StdioFields,
        /// None if the settings name only servers that the host starts.
        http: Option<HttpFields>,
        /// Fields of every server.
        more: &'static [(&'static str, ExtraValue)],
    },
    /// A mapping below these keys.
    Yaml {
        keys: &'static [&'static str],
        stdio: StdioFields,
        http: Option<HttpFields>,
    },
    /// A command line below `servers`.
    CommandLine,
    CodexToml,
    VibeToml,
    GooseYaml,
    VsCode,
}

/// The fields of a server that the host starts.
#[derive(Debug)]
pub(crate) struct StdioFields {
    /// Fields before the command.
    pub(crate) extra: &'static [(&'static str, &'static str)],
    /// Whether `command` is a list that includes the arguments.
    pub(crate) is_one_list: bool,
}

/// The fields of a server that the host reaches over HTTP.
#[derive(Debug)]
pub(crate) struct HttpFields {
    /// Fields before the URL.
    pub(crate) extra: &'static [(&'static str, &'static str)],
    /// The name of the field with the URL.
    pub(crate) url_key: &'static str,
    /// How a variable is written, with `NAME` in the place of its name.
    pub(crate) token: &'static str,
    /// Whether the host is documented to replace variables.
    pub(crate) is_expanded: bool,
}

/// A value of a field.
#[derive(Debug)]
pub(crate) enum ExtraValue {
    True,
    AllTools,
}

impl ExtraValue {
    pub(crate) fn to_json(&self) -> Value {
        match self {
            ExtraValue::True => true.into(),
            ExtraValue::AllTools => json!(["*"]),
        }
    }
}

const PLAIN_STDIO: StdioFields = StdioFields { extra: &[], is_one_list: false };
const TYPED_STDIO: StdioFields = StdioFields { extra: &[("type", "stdio")], is_one_list: false };

const fn http_fields(
    extra: &'static [(&'static str, &'static str)],
    url_key: &'static str,
    token: &'static str,
    is_expanded: bool,
) -> HttpFields {
    HttpFields { extra, url_key, token, is_expanded }
}

/// Describes a host whose settings are JSON with servers below `mcpServers`.
const fn describe_host(
    id: &'static str,
    file: &'static str,
    source: &'static str,
    stdio: StdioFields,
    http: Option<HttpFields>,
) -> ClientHost {
    let shape = ServerShape::Json { keys: &["mcpServers"], stdio, http, more: &[] };
    ClientHost { id, file, format: ConfigFormat::Json, source, checked: "2026-11-18", shape }
}

const fn describe_shape(
    id: &'static str,
    file: &'static str,
    source: &'static str,
    format: ConfigFormat,
    shape: ServerShape,
) -> ClientHost {
    ClientHost { id, file, format, source, checked: "2026-11-18", shape }
}

/// The hosts, ordered by id.
pub static CLIENT_HOSTS: [ClientHost; 26] = [
    describe_shape(
        "amp",
        "~/.config/amp/settings.json",
        "Amp manual, example configuration for MCP servers",
        ConfigFormat::Json,
        ServerShape::Json {
            keys: &["amp.mcpServers"],
            stdio: PLAIN_STDIO,
            http: Some(http_fields(&[], "url", "${NAME}", false)),
            more: &[],
        },
    ),
    describe_host(
        "antigravity",
        "~/.gemini/antigravity/mcp_config.json",
        "neondatabase/add-mcp 0ad511e, src/agents.ts",
        PLAIN_STDIO,
        Some(http_fields(&[], "serverUrl", "${NAME}", false)),
    ),
    describe_host(
        "claude-code",
        ".mcp.json",
        "neondatabase/add-mcp 0ad511e, src/agents.ts",
        TYPED_STDIO,
        Some(http_fields(&[("type", "http")], "url", "${NAME}", true)),
    ),
    describe_host(
        "claude-desktop",
        "claude_desktop_config.json",
        "neondatabase/add-mcp 0ad511e, src/agents.ts",
        PLAIN_STDIO,
        None,
    ),
    describe_shape(
        "codex",
        "~/.codex/config.toml",
        "Codex CLI 0.166.0, run",
        ConfigFormat::Toml,
        ServerShape::CodexToml,
    ),
    describe_shape(
        "copilot",
        "~/.copilot/mcp-config.json",
        "github/docs, add-mcp-servers for Copilot CLI; neondatabase/add-mcp 0ad511e, src/agents.ts",
        ConfigFormat::Json,
        ServerShape::Json {
            keys: &["mcpServers"],
            stdio: StdioFields { extra: &[("type", "local")], is_one_list: false },
            http: Some(http_fields(&[("type", "http")], "url", "${NAME}", false)),
            more: &[("tools", ExtraValue::AllTools)],
        },
    ),
    describe_host(
        "cortex-code",
        "~/.snowflake/cortex/mcp.json",
        "https://docs.snowflake.com/en/user-guide/cortex-code/cortex-code-mcp",
        TYPED_STDIO,
        Some(http_fields(&[("type", "http")], "url", "${NAME}", false)),
    ),
    describe_host(
        "cursor",
        "~/.cursor/mcp.json",
        "neondatabase/add-mcp 0ad511e, src/agents.ts",
        PLAIN_STDIO,
        Some(http_fields(&[], "url", "${env:NAME}", true)),
    ),
    describe_host(
        "deep-code",
        "~/.deepcode/settings.json",
        "lessweb/deepcode-cli 5c0656c, docs/mcp_en.md",
        PLAIN_STDIO,
        Some(http_fields(&[("type", "http")], "url", "${NAME}", false)),
    ),
    describe_host(
        "factory",
        "~/.factory/mcp.json",
        "https://docs.factory.ai/factory-cli/configuration/mcp; public settings of users for HTTP",
        TYPED_STDIO,
        Some(http_fields(&[("type", "http")], "url", "${NAME}", false)),
    ),
    describe_shape(
        "fast-agent",
        "fastagent.config.yaml",
        "evalstate/fast-agent documentation, MCP servers",
        ConfigFormat::Yaml,
        ServerShape::Yaml {
            keys: &["mcp", "servers"],
            stdio: StdioFields { extra: &[("transport", "stdio")], is_one_list: false },
            http: Some(http_fields(&[("transport", "http")], "url", "${NAME}", false)),
        },
    ),
    describe_host(
        "firebender",
        "~/.firebender/firebender.json",
        "https://docs.firebender.com/api-reference/syntax",
        PLAIN_STDIO,
        Some(http_fields(&[], "url", "${NAME}", false)),
    ),
    describe_host(
        "gemini-cli",
        "~/.gemini/settings.json",
        "bench/snippets.sh, with Gemini CLI",
        PLAIN_STDIO,
        Some(http_fields(&[], "httpUrl", "${NAME}", true)),
    ),
    describe_shape(
        "goose",
        "~/.config/goose/config.yaml",
        "neondatabase/add-mcp 0ad511e, src/agents.ts",
        ConfigFormat::Yaml,
        ServerShape::GooseYaml,
    ),
    describe_shape(
        "hermes",
        "~/.hermes/config.yaml",
        "https://hermes-agent.nousresearch.com/docs/user-guide/features/mcp",
        ConfigFormat::Yaml,
        ServerShape::Yaml {
            keys: &["mcp_servers"],
            stdio: PLAIN_STDIO,
            http: Some(http_fields(&[], "url", "${NAME}", false)),
        },
    ),
    describe_host(
        "junie",
        "~/.junie/mcp/mcp.json",
        "laravel/boost, src/Install/Agents/PhpStormJunie.php; public settings of users for HTTP",
        PLAIN_STDIO,
        Some(http_fields(&[], "url", "${NAME}", false)),
    ),
    describe_host(
        "kiro",
        "~/.kiro/settings/mcp.json",
        "https://kiro.dev/docs/mcp/configuration",
        PLAIN_STDIO,
        Some(http_fields(&[], "url", "${NAME}", true)),
    ),
    describe_shape(
        "mistral-vibe",
        "~/.vibe/config.toml",
        "mistralai/mistral-vibe 0088bc8, README.md, MCP server configuration",
        ConfigFormat::Toml,
        ServerShape::VibeToml,
    ),
    describe_shape(
        "mux",
        ".mux/mcp.jsonc",
        "coder/mux 168b735, docs/config/mcp-servers.mdx",
        ConfigFormat::Json,
        ServerShape::CommandLine,
    ),
    describe_shape(
        "nanobot",
        "~/.nanobot/config.json",
        "HKUDS/nanobot 004fa62, docs/configuration.md",
        ConfigFormat::Json,
        ServerShape::Json {
            keys: &["tools", "mcpServers"],
            stdio: PLAIN_STDIO,
            http: Some(http_fields(&[], "url", "${NAME}", true)),
            more: &[],
        },
    ),
    describe_shape(
        "opencode",
        "opencode.json",
        "bench/snippets.sh, with OpenCode",
        ConfigFormat::Json,
        ServerShape::Json {
            keys: &["mcp"],
            stdio: StdioFields { extra: &[("type", "local")], is_one_list: true },
            http: Some(http_fields(&[("type", "remote")], "url", "{env:NAME}", true)),
            more: &[("enabled", ExtraValue::True)],
        },
    ),
    describe_host(
        "openhands",
        "~/.openhands/mcp.json",
        "https://docs.openhands.dev/openhands/usage/cli/mcp-servers",
        PLAIN_STDIO,
        Some(http_fields(&[], "url", "${NAME}", false)),
    ),
    describe_host(
        "roo",
        ".roo/mcp.json",
        "RooCodeInc/Roo-Code-Docs e932fb4, docs/features/mcp/using-mcp-in-roo.mdx",
        PLAIN_STDIO,
        Some(http_fields(&[("type", "streamable-http")], "url", "${env:NAME}", false)),
    ),
    describe_host(
        "trae",
        ".trae/mcp.json",
        "https://www.volcengine.com/docs/86677/2137601",
        PLAIN_STDIO,
        Some(http_fields(&[], "url", "${NAME}", false)),
    ),
    describe_shape(
        "vscode",
        ".vscode/mcp.json",
        "neondatabase/add-mcp 0ad511e, src/agents.ts",
        ConfigFormat::Json,
        ServerShape::VsCode,
    ),
    describe_host(
        "windsurf",
        "~/.codeium/windsurf/mcp_config.json",
        "confluentinc/mcp-confluent, docs/configuring-windsurf.md; newtalaria/docs, agents/mcp/windsurf.md",
        PLAIN_STDIO,
        Some(http_fields(&[], "serverUrl", "${env:NAME}", true)),
    ),
];
