//! The limits of hosts as data, each with its value, its source and the date it was checked.

/// A limit of a host.
#[derive(Debug)]
pub struct HostLimit {
    /// The host.
    pub host: &'static str,
    /// What is limited.
    pub subject: &'static str,
    /// The largest value.
    pub value: u64,
    /// Whether the host enforces it today. A specification can name a limit that the host has raised.
    pub is_current: bool,
    /// The source.
    pub source: &'static str,
    /// The date on which the source was checked.
    pub checked_date: &'static str,
}

/// Lists the limits of a host.
pub fn list_host_limits(host: &str) -> impl Iterator<Item = &'static HostLimit> {
    HOST_LIMITS.iter().copied().filter(move |limit| limit.host == host)
}

impl HostLimit {
    /// Describes the source of the number, for help texts.
    pub(crate) fn describe_origin(&self) -> String {
        format!("{}, checked {}", self.source, self.checked_date)
    }
}

const CHECKED_DATE: &str = "2026-11-15";

/// Skills per Claude API request.
pub(crate) static CLAUDE_API_SKILLS: HostLimit = HostLimit {
    host: "claude-api",
    subject: "skills per request",
    value: 20,
    is_current: true,
    source: "Claude API skills guide",
    checked_date: CHECKED_DATE,
};
/// Skills per Claude API request when Universal 2.1 was written.
pub(crate) static CLAUDE_API_SKILLS_2025: HostLimit = HostLimit {
    host: "claude-api",
    subject: "skills per request",
    value: 8,
    is_current: false,
    source: "Universal 2.1, host profile Claude API",
    checked_date: "2025-12-17",
};
/// Bytes per Claude API upload, uncompressed.
pub(crate) static CLAUDE_API_BYTES: HostLimit = HostLimit {
    host: "claude-api",
    subject: "bytes per upload, uncompressed",
    value: 30_000_000,
    is_current: true,
    source: "Claude API skills guide",
    checked_date: CHECKED_DATE,
};
/// Bytes per Claude API upload when Universal 2.1 was written.
pub(crate) static CLAUDE_API_BYTES_2025: HostLimit = HostLimit {
    host: "claude-api",
    subject: "bytes per upload",
    value: 8_000_000,
    is_current: false,
    source: "Universal 2.1, host profile Claude API",
    checked_date: "2025-12-17",
};
/// Bytes per skill served by the Skills extension of MCP.
pub(crate) static MCP_BYTES: HostLimit = HostLimit {
    host: "mcp",
    subject: "bytes per skill",
    value: 16_777_216,
    is_current: true,
    source: "MCP Skills extension",
    checked_date: CHECKED_DATE,
};
/// Files per skill served by the Skills extension of MCP.
pub(crate) static MCP_FILES: HostLimit = HostLimit {
    host: "mcp",
    subject: "files per skill",
    value: 512,
    is_current: true,
    source: "MCP Skills extension",
    checked_date: CHECKED_DATE,
};
/// Bytes per file of an `OpenAI` skill.
pub(crate) static OPENAI_FILE_BYTES: HostLimit = HostLimit {
    host: "openai",
    subject: "bytes per file of an uploaded skill",
    value: 25_000_000,
    is_current: true,
    source: "OpenAI skills upload guide",
    checked_date: CHECKED_DATE,
};
/// Bytes per `OpenAI` skill, which limits its archive.
pub(crate) static OPENAI_BYTES: HostLimit = HostLimit {
    host: "openai",
    subject: "bytes per uploaded skill",
    value: 50_000_000,
    is_current: true,
    source: "OpenAI skills upload guide",
    checked_date: CHECKED_DATE,
};
/// Files per `OpenAI` skill.
pub(crate) static OPENAI_FILES: HostLimit = HostLimit {
    host: "openai",
    subject: "files per uploaded skill",
    value: 500,
    is_current: true,
    source: "OpenAI skills upload guide",
    checked_date: CHECKED_DATE,
};
/// Characters of `description` and `when_to_use` together that Claude Code lists.
pub(crate) static CLAUDE_CODE_LISTING: HostLimit = HostLimit {
    host: "claude-code",
    subject: "characters of `description` and `when_to_use` in the listing",
    value: 1536,
    is_current: true,
    source: "Claude Code 2.1.325, skillListingMaxDescChars",
    checked_date: CHECKED_DATE,
};

/// Characters of a name in the Claude API.
static CLAUDE_API_NAME: HostLimit = HostLimit {
    host: "claude-api",
    subject: "characters of `name`",
    value: 64,
    is_current: true,
    source: "Claude API skills guide",
    checked_date: CHECKED_DATE,
};
/// Characters of a description in the Claude API.
static CLAUDE_API_DESCRIPTION: HostLimit = HostLimit {
    host: "claude-api",
    subject: "characters of `description`",
    value: 1024,
    is_current: true,
    source: "Claude API skills guide",
    checked_date: CHECKED_DATE,
};
/// Characters of a name in Codex.
static CODEX_NAME: HostLimit = HostLimit {
    host: "codex",
    subject: "characters of `name`; a skill with a longer name is skipped",
    value: 64,
    is_current: true,
    source: "Codex CLI 0.166.0, run",
    checked_date: CHECKED_DATE,
};
/// Characters of a description in Codex.
static CODEX_DESCRIPTION: HostLimit = HostLimit {
    host: "codex",
    subject: "characters of `description`; the rest is cut off",
    value: 1024,
    is_current: true,
    source: "Codex CLI 0.166.0, run",
    checked_date: CHECKED_DATE,
};
/// Characters of a description in Copilot CLI.
static COPILOT_DESCRIPTION: HostLimit = HostLimit {
    host: "copilot",
    subject: "characters of `description`; a skill with a longer one is skipped",
    value: 1024,
    is_current: true,
    source: "GitHub Copilot CLI 1.0.102, run",
    checked_date: CHECKED_DATE,
};
/// Bytes of a SKILL.md in Mux.
static MUX_MANIFEST: HostLimit = HostLimit {
    host: "mux",
    subject: "bytes of SKILL.md",
    value: 1_000_000,
    is_current: true,
    source: "coder/mux 05fc884, docs/agents/agent-skills.mdx",
    checked_date: "2026-11-18",
};

/// All limits, in the order in which they are shown.
static HOST_LIMITS: [&HostLimit; 16] = [
    &CLAUDE_API_SKILLS,
    &CLAUDE_API_SKILLS_2025,
    &CLAUDE_API_BYTES,
    &CLAUDE_API_BYTES_2025,
    &CLAUDE_API_NAME,
    &CLAUDE_API_DESCRIPTION,
    &CLAUDE_CODE_LISTING,
    &CODEX_NAME,
    &CODEX_DESCRIPTION,
    &COPILOT_DESCRIPTION,
    &MCP_BYTES,
    &MCP_FILES,
    &MUX_MANIFEST,
    &OPENAI_BYTES,
    &OPENAI_FILES,
    &OPENAI_FILE_BYTES,
];

/// The identifiers that Universal 2.1 §3 reserves for hosts.
pub(crate) static HOST_IDS: [&str; 5] = ["claude-api", "claude-code", "codex-cli", "mcp", "openai-responses"];

/// The JSON Schema keywords that the strict mode of `OpenAI` tools rejects.
///
/// Source: `OpenAI` structured outputs guide, supported schemas, and the strict transform of the
/// official Python library 3.49.0; checked on 2026-11-15.
pub(crate) static OPENAI_STRICT_UNSUPPORTED: [&str; 22] = [
    "allOf",
    "contains",
    "default",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "if",
    "maxContains",
    "maxLength",
    "maxProperties",
    "minContains",
    "minLength",
    "minProperties",
    "not",
    "oneOf",
    "patternProperties",
    "prefixItems",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
];

/// The values of `format` that the strict mode of `OpenAI` tools supports. Source and date as above.
pub(crate) static OPENAI_STRICT_FORMATS: [&str; 9] =
    ["date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uuid"];

/// The limits of the schemas of `OpenAI` tools in strict mode. Source and date as above.
pub(crate) mod openai_strict {
    /// Levels of nested objects and lists.
    pub(crate) const LEVELS_MAX: usize = 10;
    /// Properties of all objects.
    pub(crate) const PROPERTIES_MAX: usize = 5_000;
    /// Values of all `enum`s.
    pub(crate) const ENUM_VALUES_MAX: usize = 1_000;
    /// Characters of all names of properties and definitions, and of all values of `enum` and `const`.
    pub(crate) const NAME_CHARS_MAX: usize = 120_000;
    /// From this number of values on, the characters of one `enum` are limited too.
    pub(crate) const LONG_ENUM_VALUES: usize = 250;
    /// Characters of the values of a long `enum`.
    pub(crate) const LONG_ENUM_CHARS_MAX: usize = 15_000;
}
