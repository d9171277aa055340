//! The hosts that a skill can be projected for. Their properties are data, with source and date.

use crate::projection::{Projection, ProjectionSource};

mod claude_api;
mod collection;
mod folder;
mod functions;
mod mcp;
mod openapi;

pub use claude_api::{build_attachment_request, restore_manifest};
pub use collection::{CollectionInfo, WellKnownIndexEntry, build_well_known_index};
use folder::FolderSupport;
pub use functions::{UnfitToolPolicy, function_name};
pub use mcp::{
    describe_tool as mcp_tool, guess_mime_type, list_contract_resources as mcp_contract, percent_encode_path,
};

/// The kind of input that a host accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostInput {
    /// Directories at the paths that the host searches.
    Folders,
    /// An upload.
    Upload,
    /// A JSON document with tools.
    Tools,
    /// A directory with several skills and an index of them.
    Collection,
}

impl HostInput {
    /// Returns the name in output.
    pub const fn name(self) -> &'static str {
        match self {
            HostInput::Folders => "folders",
            HostInput::Upload => "upload",
            HostInput::Tools => "tools",
            HostInput::Collection => "collection",
        }
    }
}

/// A host, and the way to write a skill for it.
#[derive(Debug)]
pub struct ProjectionHost {
    /// The name on the command line.
    pub id: &'static str,
    /// Other names on the command line.
    pub aliases: &'static [&'static str],
    /// The product name.
    pub name: &'static str,
    /// The kind of input that the host accepts.
    pub takes: HostInput,
    /// The source of these facts.
    pub source: &'static str,
    /// The date on which the source was checked.
    pub checked: &'static str,
    way: ProjectionKind,
}

#[derive(Debug)]
enum ProjectionKind {
    ClaudeApi,
    Folder(FolderSupport),
    AgentPlugins(FolderSupport),
    ClaudeMarketplace(FolderSupport),
    WellKnown(FolderSupport),
    Mcp,
    OpenAi,
    Anthropic,
    Gemini,
    OpenApi,
}

/// The options of a projection.
#[derive(Clone, Debug)]
pub struct ProjectionOptions {
    /// The treatment of tools that do not fit a strict subset.
    pub unfit: UnfitToolPolicy,
    /// The description of a collection.
    pub about: CollectionInfo,
}

impl Default for ProjectionOptions {
    fn default() -> Self {
        Self { unfit: UnfitToolPolicy::Refuse, about: CollectionInfo::default() }
    }
}

const CHECKED_DATE: &str = "2026-11-15";

/// The frontmatter fields of the specification.
const SPECIFICATION_FIELDS: &[&str] = &["name", "description", "license", "compatibility", "metadata", "allowed-tools"];
const CLAUDE_CODE_HOST_FIELDS: &[&str] = &[
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

const fn describe_support(fields: &'static [&'static str], overrides: &'static [&'static str]) -> FolderSupport {
    FolderSupport { fields, overrides, description_max: Some(1024), has_sidecar: false }
}

const fn describe_folder_host(
    id: &'static str,
    name: &'static str,
    source: &'static str,
    reads: FolderSupport,
) -> ProjectionHost {
    ProjectionHost {
        id,
        aliases: &[],
        name,
        takes: HostInput::Folders,
        source,
        checked: CHECKED_DATE,
        way: ProjectionKind::Folder(reads),
    }
}

/// The hosts, in display order.
pub static HOSTS: [ProjectionHost; 23] = [
    ProjectionHost {
        id: "claude-api",
        aliases: &[],
        name: "Claude API",
        takes: HostInput::Upload,
        source: "Claude skills guide and SDK types",
        checked: CHECKED_DATE,
        way: ProjectionKind::ClaudeApi,
    },
    describe_folder_host(
        "claude-code",
        "Claude Code",
        "Claude Code 2.1.325, run",
        FolderSupport {
            fields: CLAUDE_CODE_HOST_FIELDS,
            overrides: &["claude-code"],
            description_max: Some(1536),
            has_sidecar: false,
        },
    ),
    ProjectionHost {
        aliases: &["codex-cli"],
        ..describe_folder_host(
            "codex",
            "Codex",
            "Codex CLI 0.166.0, run; its sample skills",
            FolderSupport {
                fields: &["name", "description", "metadata"],
                overrides: &["codex", "codex-cli"],
                description_max: Some(1024),
                has_sidecar: true,
            },
        )
    },
    ProjectionHost {
        aliases: &["copilot-cli"],
        ..describe_folder_host(
            "copilot",
            "GitHub Copilot",
            "GitHub Copilot CLI 1.0.102, run",
            describe_support(&["name", "description", "license", "allowed-tools"], &["copilot", "copilot-cli"]),
        )
    },
    describe_folder_host(
        "vscode",
        "VS Code",
        "microsoft/vscode-docs, agent skills",
        describe_support(
            &["name", "description", "argument-hint", "user-invocable", "disable-model-invocation", "context"],
            &["vscode", "vscode-copilot"],
        ),
    ),
    describe_folder_host(
        "cursor",
        "Cursor",
        "Cursor documentation, skills",
        describe_support(&["name", "description", "paths", "disable-model-invocation", "metadata"], &["cursor"]),
    ),
    describe_folder_host(
        "gemini-cli",
        "Gemini CLI",
        "Gemini CLI 0.61.0, run",
        describe_support(&["name", "description"], &["gemini-cli"]),
    ),
    describe_folder_host(
        "goose",
        "Goose",
        "Goose documentation, using skills",
        describe_support(&["name", "description"], &["goose"]),
    ),
    describe_folder_host(
        "opencode",
        "OpenCode",
        "OpenCode 1.18.33, run",
        describe_support(&["name", "description", "license", "compatibility", "metadata"], &["opencode"]),
    ),
    describe_folder_host(
        "amp",
        "Amp",
        "Amp manual, agent skills",
        describe_support(&["name", "description"], &["amp"]),
    ),
    describe_folder_host(
        "windsurf",
        "Windsurf",
        "Windsurf documentation, cascade skills",
        describe_support(&["name", "description"], &["windsurf"]),
    ),
    describe_folder_host(
        "kiro",
        "Kiro",
        "Kiro documentation, skills",
        describe_support(&["name", "description"], &["kiro"]),
    ),
    describe_folder_host(
        "factory",
        "Factory Droid",
        "npm skills 1.7.4, docs/agents.md",
        describe_support(&["name", "description"], &["factory"]),
    ),
    describe_folder_host(
        "antigravity",
        "Google Antigravity",
        "Antigravity documentation, skills",
        describe_support(&["name", "description"], &["antigravity"]),
    ),
    describe_folder_host(
        "agents",
        "any host that reads .agents/skills",
        "agentskills specification",
        describe_support(SPECIFICATION_FIELDS, &[]),
    ),
    ProjectionHost {
        id: "agent-plugins",
        aliases: &[],
        name: "Agent Plugins 1.0",
        takes: HostInput::Collection,
        source: "Agent Plugins specification 1.0.0",
        checked: CHECKED_DATE,
        way: ProjectionKind::AgentPlugins(describe_support(SPECIFICATION_FIELDS, &[])),
    },
    ProjectionHost {
        id: "claude-marketplace",
        aliases: &[],
        name: "Claude marketplace",
        takes: HostInput::Collection,
        source: "Claude Code documentation, plugin marketplaces",
        checked: CHECKED_DATE,
        way: ProjectionKind::ClaudeMarketplace(FolderSupport {
            fields: CLAUDE_CODE_HOST_FIELDS,
            overrides: &["claude-code"],
            description_max: Some(1536),
            has_sidecar: false,
        }),
    },
    ProjectionHost {
        id: "well-known",
        aliases: &["well-known-index"],
        name: "Index at a well-known address",
        takes: HostInput::Collection,
        source: "Agent Skills Discovery RFC 0.2.0; npm skills 1.7.4, run",
        checked: CHECKED_DATE,
        way: ProjectionKind::WellKnown(describe_support(SPECIFICATION_FIELDS, &[])),
    },
    describe_tool_host(
        "mcp",
        "Model Context Protocol",
        "MCP 2025-11-25 and 2026-07-28; Skills extension",
        ProjectionKind::Mcp,
    ),
    ProjectionHost {
        aliases: &["openai-responses"],
        ..describe_tool_host("openai", "OpenAI", "OpenAI structured outputs guide", ProjectionKind::OpenAi)
    },
    describe_tool_host("anthropic", "Anthropic", "Claude structured outputs guide", ProjectionKind::Anthropic),
    describe_tool_host("gemini", "Gemini API", "google-genai, FunctionDeclaration", ProjectionKind::Gemini),
    describe_tool_host("openapi", "OpenAPI 3.1", "OpenAPI specification 3.1", ProjectionKind::OpenApi),
];

const fn describe_tool_host(
    id: &'static str,
    name: &'static str,
    source: &'static str,
    way: ProjectionKind,
) -> ProjectionHost {
    ProjectionHost { id, aliases: &[], name, takes: HostInput::Tools, source, checked: CHECKED_DATE, way }
}

impl ProjectionHost {
    /// Finds a host by name or alias.
    pub fn find(word: &str) -> Option<&'static ProjectionHost> {
        HOSTS.iter().find(|host| host.id == word || host.aliases.contains(&word))
    }

    /// Returns the frontmatter fields that the host reads, or none if it does not accept directories.
    pub fn frontmatter_fields(&self) -> &'static [&'static str] {
        match &self.way {
            ProjectionKind::Folder(reads)
            | ProjectionKind::AgentPlugins(reads)
            | ProjectionKind::ClaudeMarketplace(reads)
            | ProjectionKind::WellKnown(reads) => reads.fields,
            ProjectionKind::ClaudeApi => SPECIFICATION_FIELDS,
            ProjectionKind::Mcp
            | ProjectionKind::OpenAi
            | ProjectionKind::Anthropic
            | ProjectionKind::Gemini
            | ProjectionKind::OpenApi => &[],
        }
    }

    /// Projects the skills into this host's format, and reports the losses.
    pub fn project_skills(&self, sources: &[ProjectionSource<'_>], wanted: &ProjectionOptions) -> Projection {
        match &self.way {
            ProjectionKind::ClaudeApi => claude_api::project_skills(sources),
            // The caller that packs the directories writes the index, because it contains their digests.
            ProjectionKind::Folder(reads) | ProjectionKind::WellKnown(reads) => {
                folder::project_skills(self, reads, sources)
            }
            ProjectionKind::AgentPlugins(reads) => {
                collection::project_agent_plugins(self, reads, sources, &wanted.about)
            }
            ProjectionKind::ClaudeMarketplace(reads) => {
                collection::project_claude_marketplace(self, reads, sources, &wanted.about)
            }
            ProjectionKind::Mcp => mcp::project_skills(sources),
            ProjectionKind::OpenAi => functions::project_for_openai(sources, wanted.unfit),
            ProjectionKind::Anthropic => functions::project_for_anthropic(sources, wanted.unfit),
            ProjectionKind::Gemini => functions::project_for_gemini(sources, wanted.unfit),
            ProjectionKind::OpenApi => openapi::project_skills(sources),
        }
    }
}
