//! What is known about hosts beyond their formats: how completely each supports skills (Universal 2.1, compatibility
//! levels), and facts that matter when a skill is used there. Every fact has a source and a date.

use crate::hosts::ProjectionHost;

/// How completely a host supports skills.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CompatibilityLevel {
    /// The host does not support skills. An adapter loads the skill and registers its tools.
    AdapterOnly,
    /// The host discovers names and descriptions, but does not run tools.
    Metadata,
    /// The host loads metadata first, and instructions and resources on demand.
    Progressive,
    /// The host runs the implementations of tools, itself or through an adapter's runtime.
    Executable,
}

impl CompatibilityLevel {
    /// Returns the name in Universal 2.1.
    pub const fn name(self) -> &'static str {
        match self {
            CompatibilityLevel::AdapterOnly => "L0",
            CompatibilityLevel::Metadata => "L1",
            CompatibilityLevel::Progressive => "L2",
            CompatibilityLevel::Executable => "L3",
        }
    }
}

/// The subject of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactTopic {
    /// The headers of requests.
    Headers,
    /// The container that skills run in.
    Container,
    /// How a long answer is continued.
    Continuation,
    /// How files are downloaded.
    Files,
    /// The versions of skills.
    Versions,
    /// The settings file of the host.
    Configuration,
    /// How the host gates risky tools.
    Approvals,
    /// The schemas of tools.
    Schemas,
}

impl FactTopic {
    /// Returns the name in output.
    pub const fn name(self) -> &'static str {
        match self {
            FactTopic::Headers => "headers",
            FactTopic::Container => "container",
            FactTopic::Continuation => "continuation",
            FactTopic::Files => "files",
            FactTopic::Versions => "versions",
            FactTopic::Configuration => "configuration",
            FactTopic::Approvals => "approvals",
            FactTopic::Schemas => "schemas",
        }
    }
}

/// A fact about a host.
#[derive(Debug)]
pub struct ProfileFact {
    /// The subject.
    pub topic: FactTopic,
    /// The fact.
    pub text: &'static str,
    /// Whether it is true today. A specification can require what the host no longer does.
    pub is_current: bool,
    /// The source.
    pub source: &'static str,
    /// The date on which the source was checked.
    pub checked: &'static str,
}

/// What is known about a host.
#[derive(Debug)]
pub struct HostProfile {
    /// How completely it supports skills.
    pub level: CompatibilityLevel,
    /// Why it has this level.
    pub reason: &'static str,
    /// Other facts.
    pub facts: &'static [ProfileFact],
}

const UNIVERSAL: &str = "Universal 2.1, host profiles";
const UNIVERSAL_DATE: &str = "2025-12-17";
const CLAUDE_GUIDE: &str =
    "https://platform.claude.com/docs/en/build-with-claude/skills-guide; SDK types of anthropic 2.8.0";
const CLAUDE_GUIDE_DATE: &str = "2026-11-15";

const fn state_current(
    topic: FactTopic,
    text: &'static str,
    source: &'static str,
    checked: &'static str,
) -> ProfileFact {
    ProfileFact { topic, text, is_current: true, source, checked }
}

/// States a fact of Universal 2.1 that is still true.
const fn state_universal(topic: FactTopic, text: &'static str) -> ProfileFact {
    state_current(topic, text, UNIVERSAL, UNIVERSAL_DATE)
}

/// States a fact of Universal 2.1 that is no longer true.
const fn state_superseded(topic: FactTopic, text: &'static str) -> ProfileFact {
    ProfileFact { is_current: false, ..state_universal(topic, text) }
}

static CLAUDE_API_FACTS: [ProfileFact; 12] = [
    state_current(
        FactTopic::Headers,
        "`x-api-key` and `anthropic-version: 2023-06-01`; no beta header since 2026-08-20",
        CLAUDE_GUIDE,
        CLAUDE_GUIDE_DATE,
    ),
    state_superseded(
        FactTopic::Headers,
        "`anthropic-beta: code-execution-2025-08-25,skills-2025-10-02` is required for skills",
    ),
    state_universal(FactTopic::Container, "`container.skills` of a request names the skills"),
    state_universal(FactTopic::Container, "the files of a skill are in `/skills/{directory}/`"),
    state_universal(
        FactTopic::Container,
        "no network access, no installation of packages, a fresh container per request",
    ),
    state_universal(FactTopic::Container, "the model sees the name and description of each skill in the system prompt"),
    state_current(
        FactTopic::Container,
        "the tool `code_execution_20260521` runs code; `code_execution_20250825` is also accepted",
        CLAUDE_GUIDE,
        CLAUDE_GUIDE_DATE,
    ),
    state_universal(
        FactTopic::Continuation,
        "`stop_reason: \"pause_turn\"` pauses a long answer; send the answer back in the next request to continue",
    ),
    state_universal(FactTopic::Files, "the Files API downloads files that skills create"),
    state_superseded(FactTopic::Files, "`anthropic-beta: files-api-2025-04-14` is required for the Files API"),
    state_current(
        FactTopic::Files,
        "`GET /v1/files/{file_id}/content`, with the same headers as other requests",
        CLAUDE_GUIDE,
        CLAUDE_GUIDE_DATE,
    ),
    state_universal(FactTopic::Versions, "each upload is a version; `latest` names the most recent one"),
];

static CLAUDE_CODE_FACTS: [ProfileFact; 1] = [state_universal(
    FactTopic::Configuration,
    "skills are in `.claude/skills/` of the project and in `~/.claude/skills/` of the user",
)];

const CODEX_RULES: &str =
    "https://developers.openai.com/codex/rules; openai/codex 11b641a, codex-rs/execpolicy/README.md";

static CODEX_FACTS: [ProfileFact; 6] = [
    state_universal(FactTopic::Configuration, "settings are in `~/.codex/config.toml`"),
    state_universal(
        FactTopic::Configuration,
        "there is a local program and a hosted service; their file systems and sandboxes differ",
    ),
    state_superseded(FactTopic::Configuration, "Codex does not discover skills; an adapter or MCP is needed"),
    state_current(
        FactTopic::Configuration,
        "Codex discovers skills in `.agents/skills`, `.codex/skills`, `~/.agents/skills` and `/etc/codex/skills`",
        "Codex CLI 0.166.0, run",
        "2026-11-15",
    ),
    state_current(
        FactTopic::Approvals,
        "rules in `~/.codex/rules/*.rules` and in `.codex/rules` of a trusted project decide `allow`, `prompt` or \
         `forbidden` by the start of a command; the strictest rule wins",
        CODEX_RULES,
        "2026-11-18",
    ),
    state_current(
        FactTopic::Approvals,
        "`mcp_servers.SERVER.tools.TOOL.approval_mode = \"prompt\"` in config.toml makes Codex ask before it calls a tool",
        "openai/codex a2258bb, codex-rs/config/src/mcp_types.rs",
        "2026-11-18",
    ),
];

static MCP_FACTS: [ProfileFact; 2] = [
    state_universal(FactTopic::Schemas, "`tools/list` exposes the schema of a tool as `inputSchema`"),
    state_current(
        FactTopic::Versions,
        "2026-07-28 is the current revision; the Skills extension (SEP-2640) is final",
        "modelcontextprotocol/modelcontextprotocol b0f60ba; modelcontextprotocol/ext-skills",
        "2026-11-15",
    ),
];

static OPENAI_FACTS: [ProfileFact; 1] = [state_universal(
    FactTopic::Schemas,
    "`strict: true` needs `additionalProperties: false` and conservative schemas",
)];

/// Why a host whose documentation says only how it loads skills has its level.
const PROGRESSIVE_REASON: &str = "it shows names and descriptions first, and loads the instructions on demand";
/// Why a host that runs programs has its level.
const SHELL_REASON: &str = "it loads skills on demand, and the model runs their scripts with the host's tools";
/// Why an interface for tools has its level.
const ADAPTER_REASON: &str = "it takes tools, not skills: an adapter loads the skill and registers its tools";
/// Why a format for collections has its level.
const COLLECTION_REASON: &str = "it lists names and descriptions; the host that installs the skills decides the rest";

/// The hosts that are known to run the scripts of skills: they were run, or their documentation says so.
const HOSTS_WITH_SHELL: [&str; 17] = [
    "autohand",
    "claude-code",
    "codex",
    "copilot",
    "cursor",
    "databricks",
    "deep-code",
    "fast-agent",
    "gemini-cli",
    "hermes",
    "letta",
    "mistral-vibe",
    "openclaw",
    "opencode",
    "pi",
    "vscode",
    "vtcode",
];

impl ProjectionHost {
    /// Returns what is known about the host.
    pub fn profile(&self) -> HostProfile {
        let (level, reason) = match self.id {
            "claude-api" => {
                (CompatibilityLevel::Executable, "it loads skills on demand and runs their scripts in a container")
            }
            "mcp" => (
                CompatibilityLevel::Executable,
                "the Skills extension discloses skills step by step, and `tools/call` runs their tools",
            ),
            "openai" | "anthropic" | "gemini" | "openapi" => (CompatibilityLevel::AdapterOnly, ADAPTER_REASON),
            "agent-plugins" | "claude-marketplace" | "well-known" => (CompatibilityLevel::Metadata, COLLECTION_REASON),
            "emdash" | "laravel-boost" => (
                CompatibilityLevel::Metadata,
                "it lists skills and puts them into the directories of other hosts, which use them",
            ),
            id if HOSTS_WITH_SHELL.contains(&id) => (CompatibilityLevel::Executable, SHELL_REASON),
            _ => (CompatibilityLevel::Progressive, PROGRESSIVE_REASON),
        };
        let facts: &[ProfileFact] = match self.id {
            "claude-api" => &CLAUDE_API_FACTS,
            "claude-code" => &CLAUDE_CODE_FACTS,
            "codex" => &CODEX_FACTS,
            "mcp" => &MCP_FACTS,
            "openai" => &OPENAI_FACTS,
            _ => &[],
        };
        HostProfile { level, reason, facts }
    }
}
