//! The limits of hosts as data, each with its value, its source and the date it was checked.

/// A limit of a host.
pub(crate) struct HostLimit {
    pub(crate) value: u64,
    pub(crate) source: &'static str,
    pub(crate) checked_date: &'static str,
}

impl HostLimit {
    /// Describes the source of the number, for help texts.
    pub(crate) fn describe_origin(&self) -> String {
        format!("{}, checked {}", self.source, self.checked_date)
    }
}

const CHECKED_DATE: &str = "2026-11-15";

/// Skills per Claude API request.
pub(crate) static CLAUDE_API_SKILLS: HostLimit =
    HostLimit { value: 20, source: "Claude API skills guide", checked_date: CHECKED_DATE };
/// Skills per Claude API request when Universal 2.1 was written.
pub(crate) static CLAUDE_API_SKILLS_2025: HostLimit =
    HostLimit { value: 8, source: "Universal 2.1, host profile Claude API", checked_date: "2025-12-17" };
/// Bytes per Claude API upload, uncompressed.
pub(crate) static CLAUDE_API_BYTES: HostLimit =
    HostLimit { value: 30_000_000, source: "Claude API skills guide", checked_date: CHECKED_DATE };
/// Bytes per Claude API upload when Universal 2.1 was written.
pub(crate) static CLAUDE_API_BYTES_2025: HostLimit =
    HostLimit { value: 8_000_000, source: "Universal 2.1, host profile Claude API", checked_date: "2025-12-17" };
/// Bytes per skill served by the Skills extension of MCP.
pub(crate) static MCP_BYTES: HostLimit =
    HostLimit { value: 16_777_216, source: "MCP Skills extension", checked_date: CHECKED_DATE };
/// Files per skill served by the Skills extension of MCP.
pub(crate) static MCP_FILES: HostLimit =
    HostLimit { value: 512, source: "MCP Skills extension", checked_date: CHECKED_DATE };
/// Bytes per file of an `OpenAI` skill.
pub(crate) static OPENAI_FILE_BYTES: HostLimit =
    HostLimit { value: 25_000_000, source: "OpenAI skills upload guide", checked_date: CHECKED_DATE };
/// Bytes per `OpenAI` skill, which limits its archive.
pub(crate) static OPENAI_BYTES: HostLimit =
    HostLimit { value: 50_000_000, source: "OpenAI skills upload guide", checked_date: CHECKED_DATE };
/// Files per `OpenAI` skill.
pub(crate) static OPENAI_FILES: HostLimit =
    HostLimit { value: 500, source: "OpenAI skills upload guide", checked_date: CHECKED_DATE };
/// Characters of `description` and `when_to_use` together that Claude Code lists.
pub(crate) static CLAUDE_CODE_LISTING: HostLimit =
    HostLimit { value: 1536, source: "Claude Code 2.1.325, skillListingMaxDescChars", checked_date: CHECKED_DATE };

/// The identifiers that Universal 2.1 §3 reserves for hosts.
pub(crate) static HOST_IDS: [&str; 5] = ["claude-api", "claude-code", "codex-cli", "mcp", "openai-responses"];

/// The JSON Schema keywords that the strict mode of `OpenAI` tools rejects.
///
/// Source: `OpenAI` structured outputs guide, supported schemas, and the strict transform of the
/// official Python library 3.49.0; checked on 2026-11-15.
pub(crate) static OPENAI_STRICT_UNSUPPORTED: [&str; 19] = [
    "allOf",
    "contains",
    "default",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "if",
    "maxContains",
    "maxProperties",
    "minContains",
    "minProperties",
    "not",
    "patternProperties",
    "prefixItems",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
];
