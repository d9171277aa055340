//! Every host a skill can be projected for. One line each; what they read is data with its source and date.

use crate::projection::{Projection, Source};

mod claude_api;
mod collection;
mod folder;
mod functions;
mod mcp;
mod openapi;

pub use claude_api::{request, restored_manifest};
pub use collection::{About, Published, index};
use folder::Reads;
pub use functions::{Unfit, function_name};
pub use mcp::{contract as mcp_contract, encoded, mime_type, tool as mcp_tool};

/// What a host takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Folders, found where it looks.
    Folders,
    /// An upload.
    Upload,
    /// A JSON document with tools.
    Tools,
    /// A folder that holds several skills and says so.
    Collection,
}

impl Takes {
    /// The word in output.
    pub const fn name(self) -> &'static str {
        match self {
            Takes::Folders => "folders",
            Takes::Upload => "upload",
            Takes::Tools => "tools",
            Takes::Collection => "collection",
        }
    }
}

/// A host, and how a skill is written for it.
#[derive(Debug)]
pub struct Host {
    /// The word on the command line.
    pub id: &'static str,
    /// Other words for it.
    pub aliases: &'static [&'static str],
    /// What people call it.
    pub name: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// Where these facts are from.
    pub source: &'static str,
    /// The day they were looked at.
    pub checked: &'static str,
    way: Way,
}

#[derive(Debug)]
enum Way {
    ClaudeApi,
    Folder(Reads),
    AgentPlugins(Reads),
    ClaudeMarketplace(Reads),
    WellKnown(Reads),
    Mcp,
    OpenAi,
    Anthropic,
    Gemini,
    OpenApi,
}

/// How a projection is wanted.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// What becomes of tools that do not fit a strict subset.
    pub unfit: Unfit,
    /// What a collection says of itself.
    pub about: About,
}

impl Default for Wanted {
    fn default() -> Self {
        Self { unfit: Unfit::Refuse, about: About::default() }
    }
}

const CHECKED: &str = "2026-11-15";

/// The fields of the specification.
const STANDARD: &[&str] = &["name", "description", "license", "compatibility", "metadata", "allowed-tools"];
const CLAUDE_CODE: &[&str] = &[
    "name",
    "description",
    "license",
    "compatibility",
    "metadata",
    "allowed-tools",
    "when_to_use",
    "argument-hint",
    "arguments",
    "disable-model-invocation",
    "user-invocable",
    "disallowed-tools",
    "model",
    "effort",
    "context",
    "agent",
    "background",
    "hooks",
    "paths",
    "shell",
];

const fn reads(fields: &'static [&'static str], overrides: &'static [&'static str]) -> Reads {
    Reads { fields, overrides, description_max: Some(1024), has_sidecar: false }
}

const fn folders(id: &'static str, name: &'static str, source: &'static str, reads: Reads) -> Host {
    Host { id, aliases: &[], name, takes: Takes::Folders, source, checked: CHECKED, way: Way::Folder(reads) }
}

/// The hosts, in the order they are shown.
pub static HOSTS: [Host; 23] = [
    Host {
        id: "claude-api",
        aliases: &[],
        name: "Claude API",
        takes: Takes::Upload,
        source: "Claude skills guide and SDK types",
        checked: CHECKED,
        way: Way::ClaudeApi,
    },
    folders(
        "claude-code",
        "Claude Code",
        "Claude Code 2.1.325, run",
        Reads { fields: CLAUDE_CODE, overrides: &["claude-code"], description_max: Some(1536), has_sidecar: false },
    ),
    Host {
        aliases: &["codex-cli"],
        ..folders(
            "codex",
            "Codex",
            "Codex CLI 0.166.0, run; its sample skills",
            Reads {
                fields: &["name", "description", "metadata"],
                overrides: &["codex", "codex-cli"],
                description_max: Some(1024),
                has_sidecar: true,
            },
        )
    },
    Host {
        aliases: &["copilot-cli"],
        ..folders(
            "copilot",
            "GitHub Copilot",
            "GitHub Copilot CLI 1.0.102, run",
            reads(&["name", "description", "license", "allowed-tools"], &["copilot", "copilot-cli"]),
        )
    },
    folders(
        "vscode",
        "VS Code",
        "microsoft/vscode-docs, agent skills",
        reads(
            &["name", "description", "argument-hint", "user-invocable", "disable-model-invocation", "context"],
            &["vscode", "vscode-copilot"],
        ),
    ),
    folders(
        "cursor",
        "Cursor",
        "Cursor documentation, skills",
        reads(&["name", "description", "paths", "disable-model-invocation", "metadata"], &["cursor"]),
    ),
    folders("gemini-cli", "Gemini CLI", "Gemini CLI 0.61.0, run", reads(&["name", "description"], &["gemini-cli"])),
    folders("goose", "Goose", "Goose documentation, using skills", reads(&["name", "description"], &["goose"])),
    folders(
        "opencode",
        "OpenCode",
        "OpenCode 1.18.33, run",
        reads(&["name", "description", "license", "compatibility", "metadata"], &["opencode"]),
    ),
    folders("amp", "Amp", "Amp manual, agent skills", reads(&["name", "description"], &["amp"])),
    folders(
        "windsurf",
        "Windsurf",
        "Windsurf documentation, cascade skills",
        reads(&["name", "description"], &["windsurf"]),
    ),
    folders("kiro", "Kiro", "Kiro documentation, skills", reads(&["name", "description"], &["kiro"])),
    folders(
        "factory",
        "Factory Droid",
        "npm skills 1.7.4, docs/agents.md",
        reads(&["name", "description"], &["factory"]),
    ),
    folders(
        "antigravity",
        "Google Antigravity",
        "Antigravity documentation, skills",
        reads(&["name", "description"], &["antigravity"]),
    ),
    folders("agents", "any host that reads .agents/skills", "agentskills specification", reads(STANDARD, &[])),
    Host {
        id: "agent-plugins",
        aliases: &[],
        name: "Agent Plugins 1.0",
        takes: Takes::Collection,
        source: "Agent Plugins specification 1.0.0",
        checked: CHECKED,
        way: Way::AgentPlugins(reads(STANDARD, &[])),
    },
    Host {
        id: "claude-marketplace",
        aliases: &[],
        name: "Claude marketplace",
        takes: Takes::Collection,
        source: "Claude Code documentation, plugin marketplaces",
        checked: CHECKED,
        way: Way::ClaudeMarketplace(Reads {
            fields: CLAUDE_CODE,
            overrides: &["claude-code"],
            description_max: Some(1536),
            has_sidecar: false,
        }),
    },
    Host {
        id: "well-known",
        aliases: &["well-known-index"],
        name: "Index at a well-known address",
        takes: Takes::Collection,
        source: "Agent Skills Discovery RFC 0.2.0; npm skills 1.7.4, run",
        checked: CHECKED,
        way: Way::WellKnown(reads(STANDARD, &[])),
    },
    tools("mcp", "Model Context Protocol", "MCP 2025-11-25 and 2026-07-28; Skills extension", Way::Mcp),
    Host {
        aliases: &["openai-responses"],
        ..tools("openai", "OpenAI", "OpenAI structured outputs guide", Way::OpenAi)
    },
    tools("anthropic", "Anthropic", "Claude structured outputs guide", Way::Anthropic),
    tools("gemini", "Gemini API", "google-genai, FunctionDeclaration", Way::Gemini),
    tools("openapi", "OpenAPI 3.1", "OpenAPI specification 3.1", Way::OpenApi),
];

const fn tools(id: &'static str, name: &'static str, source: &'static str, way: Way) -> Host {
    Host { id, aliases: &[], name, takes: Takes::Tools, source, checked: CHECKED, way }
}

impl Host {
    /// The host a word names.
    pub fn named(word: &str) -> Option<&'static Host> {
        HOSTS.iter().find(|host| host.id == word || host.aliases.contains(&word))
    }

    /// The fields of a frontmatter it reads; none where it takes no folders.
    pub fn fields(&self) -> &'static [&'static str] {
        match &self.way {
            Way::Folder(reads) | Way::AgentPlugins(reads) | Way::ClaudeMarketplace(reads) | Way::WellKnown(reads) => {
                reads.fields
            }
            Way::ClaudeApi => STANDARD,
            Way::Mcp | Way::OpenAi | Way::Anthropic | Way::Gemini | Way::OpenApi => &[],
        }
    }

    /// The skills in this host's shape, and what that loses.
    pub fn project(&self, sources: &[Source<'_>], wanted: &Wanted) -> Projection {
        match &self.way {
            Way::ClaudeApi => claude_api::project(sources),
            // Who packs the folders writes the index, which has their digests.
            Way::Folder(reads) | Way::WellKnown(reads) => folder::project(self, reads, sources),
            Way::AgentPlugins(reads) => collection::agent_plugins(self, reads, sources, &wanted.about),
            Way::ClaudeMarketplace(reads) => collection::claude_marketplace(self, reads, sources, &wanted.about),
            Way::Mcp => mcp::project(sources),
            Way::OpenAi => functions::openai(sources, wanted.unfit),
            Way::Anthropic => functions::anthropic(sources, wanted.unfit),
            Way::Gemini => functions::gemini(sources, wanted.unfit),
            Way::OpenApi => openapi::project(sources),
        }
    }
}
