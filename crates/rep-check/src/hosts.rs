//! The limits hosts impose, as data: each with its value, its source and the day it was checked.

/// A limit of a host.
pub(crate) struct Limit {
    pub(crate) value: u64,
    pub(crate) source: &'static str,
    pub(crate) checked: &'static str,
}

impl Limit {
    /// Where the number comes from, for help texts.
    pub(crate) fn origin(&self) -> String {
        format!("{}, checked {}", self.source, self.checked)
    }
}

const CHECKED: &str = "2026-11-15";

/// Skills one Claude API request may carry.
pub(crate) static CLAUDE_API_SKILLS: Limit = Limit { value: 20, source: "Claude API skills guide", checked: CHECKED };
/// Skills one Claude API request could carry when Universal 2.1 was written.
pub(crate) static CLAUDE_API_SKILLS_2025: Limit =
    Limit { value: 8, source: "Universal 2.1, host profile Claude API", checked: "2025-12-17" };
/// Bytes of one Claude API upload, uncompressed.
pub(crate) static CLAUDE_API_BYTES: Limit =
    Limit { value: 30_000_000, source: "Claude API skills guide", checked: CHECKED };
/// Bytes of one Claude API upload when Universal 2.1 was written.
pub(crate) static CLAUDE_API_BYTES_2025: Limit =
    Limit { value: 8_000_000, source: "Universal 2.1, host profile Claude API", checked: "2025-12-17" };
/// Bytes of one skill served by the Skills extension of MCP.
pub(crate) static MCP_BYTES: Limit = Limit { value: 16_777_216, source: "MCP Skills extension", checked: CHECKED };
/// Files of one skill served by the Skills extension of MCP.
pub(crate) static MCP_FILES: Limit = Limit { value: 512, source: "MCP Skills extension", checked: CHECKED };
/// Bytes of one file of an `OpenAI` skill.
pub(crate) static OPENAI_FILE_BYTES: Limit =
    Limit { value: 25_000_000, source: "OpenAI skills upload guide", checked: CHECKED };
/// Bytes of a whole `OpenAI` skill, which bounds its archive.
pub(crate) static OPENAI_BYTES: Limit =
    Limit { value: 50_000_000, source: "OpenAI skills upload guide", checked: CHECKED };
/// Files of one `OpenAI` skill.
pub(crate) static OPENAI_FILES: Limit = Limit { value: 500, source: "OpenAI skills upload guide", checked: CHECKED };
/// Characters of description and `when_to_use` together that Claude Code lists.
pub(crate) static CLAUDE_CODE_LISTING: Limit =
    Limit { value: 1536, source: "Claude Code 2.1.325, skillListingMaxDescChars", checked: CHECKED };

/// The identifiers Universal 2.1 §3 reserves for hosts.
pub(crate) static HOST_IDS: [&str; 5] = ["claude-api", "claude-code", "codex-cli", "mcp", "openai-responses"];

/// The JSON Schema keywords the strict mode of `OpenAI` tools refuses.
///
/// Source: `OpenAI` structured outputs guide, supported schemas, and the strict transform of the
/// official Python library 3.49.0; checked on 2026-11-15.
pub(crate) static OPENAI_STRICT_REFUSED: [&str; 19] = [
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
