//! The hosts that a skill can be projected for. Their properties are data, with source and date.

use crate::projection::{Projection, ProjectionSource};

mod claude_api;
mod claude_api_calls;
mod codex_approvals;
mod collection;
mod folder;
mod functions;
mod mcp;
mod openapi;
mod table;
mod tool_naming;

pub use claude_api::{SOURCE_FILE, restore_manifest};
pub use claude_api_calls::{
    UploadedSkill, build_attachment_request, describe_header_notes, describe_upload_calls, render_upload_script,
};
pub use collection::{CollectionInfo, WellKnownIndexEntry, build_well_known_index};
use folder::FolderSupport;
pub use functions::{UnfitToolPolicy, function_name};
pub use mcp::{
    describe_tool as mcp_tool, guess_mime_type, list_contract_resources as mcp_contract, percent_encode_path,
};
use table::SPECIFICATION_FIELDS;

pub use table::HOSTS;
pub use tool_naming::{ToolNaming, UnnamedTool, choose_tool_names};

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
    /// The names of tools for MCP.
    pub tool_naming: ToolNaming,
}

impl Default for ProjectionOptions {
    fn default() -> Self {
        Self { unfit: UnfitToolPolicy::Refuse, about: CollectionInfo::default(), tool_naming: ToolNaming::default() }
    }
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
            ProjectionKind::Mcp => mcp::project_skills(sources, wanted.tool_naming),
            ProjectionKind::OpenAi => functions::project_for_openai(sources, wanted.unfit),
            ProjectionKind::Anthropic => functions::project_for_anthropic(sources, wanted.unfit),
            ProjectionKind::Gemini => functions::project_for_gemini(sources, wanted.unfit),
            ProjectionKind::OpenApi => openapi::project_skills(sources),
        }
    }
}
