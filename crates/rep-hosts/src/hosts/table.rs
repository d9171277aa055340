//! The hosts that a skill can be projected for, as data.

use super::folder::FolderSupport;
use super::{HostInput, ProjectionHost, ProjectionKind};

const CHECKED_DATE: &str = "2026-11-15";
/// The date on which the sources of the adopters of agentskills.io were checked.
const ADOPTERS_CHECKED_DATE: &str = "2026-11-18";

/// The frontmatter fields of the specification.
pub(super) const SPECIFICATION_FIELDS: &[&str] =
    &["name", "description", "license", "compatibility", "metadata", "allowed-tools"];
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

/// The fields that every host reads.
const MINIMAL_FIELDS: &[&str] = &["name", "description"];
const MUX_FIELDS: &[&str] = &[
    "name",
    "description",
    "license",
    "compatibility",
    "metadata",
    "disable-model-invocation",
    "user-invocable",
    "argument-hint",
    "when_to_use",
];
const PI_FIELDS: &[&str] =
    &["name", "description", "license", "compatibility", "metadata", "allowed-tools", "disable-model-invocation"];
const VTCODE_FIELDS: &[&str] = &[
    "name",
    "description",
    "version",
    "license",
    "compatibility",
    "allowed-tools",
    "argument-hint",
    "user-invocable",
    "disable-model-invocation",
    "context",
    "agent",
    "hooks",
];

/// Describes a host of which the documentation names the directories and fields.
const fn describe_adopter(
    id: &'static str,
    name: &'static str,
    source: &'static str,
    fields: &'static [&'static str],
    overrides: &'static [&'static str],
) -> ProjectionHost {
    ProjectionHost {
        checked: ADOPTERS_CHECKED_DATE,
        ..describe_folder_host(id, name, source, describe_support(fields, overrides))
    }
}

/// The hosts, in display order.
pub static HOSTS: [ProjectionHost; 48] = [
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
    describe_adopter(
        "autohand",
        "Autohand Code CLI",
        "autohandai/code-cli, docs/agent-skills.md",
        SPECIFICATION_FIELDS,
        &["autohand"],
    ),
    describe_adopter("bub", "bub", "bubbuild/bub, src/bub/skills.py", &["name", "description", "metadata"], &["bub"]),
    describe_adopter(
        "command-code",
        "Command Code",
        "addyosmani/agent-skills, docs/commandcode-setup.md",
        MINIMAL_FIELDS,
        &["command-code"],
    ),
    describe_adopter(
        "cortex-code",
        "Snowflake Cortex Code",
        "Snowflake documentation, Cortex Code skills",
        MINIMAL_FIELDS,
        &["cortex-code"],
    ),
    describe_adopter(
        "databricks",
        "Databricks Genie Code",
        "https://docs.databricks.com/aws/en/genie-code/skills",
        MINIMAL_FIELDS,
        &["databricks"],
    ),
    describe_adopter("deep-code", "Deep Code", "lessweb/deepcode-cli, README.md", MINIMAL_FIELDS, &["deep-code"]),
    describe_adopter(
        "emdash",
        "Emdash",
        "generalaction/emdash documentation, features/skills",
        MINIMAL_FIELDS,
        &["emdash"],
    ),
    describe_adopter(
        "fast-agent",
        "fast-agent",
        "https://fast-agent.ai/agents/skills/",
        MINIMAL_FIELDS,
        &["fast-agent"],
    ),
    describe_adopter(
        "firebender",
        "Firebender",
        "https://docs.firebender.com/api-reference/skills",
        &["name", "description", "version"],
        &["firebender"],
    ),
    describe_adopter(
        "hermes",
        "Hermes Agent",
        "Hermes Agent documentation, skills system",
        &["name", "description", "version", "metadata"],
        &["hermes"],
    ),
    describe_adopter("junie", "Junie", "npm skills 1.7.4, docs/agents.md", MINIMAL_FIELDS, &["junie"]),
    describe_adopter("laravel-boost", "Laravel Boost", "laravel/docs, boost.md", MINIMAL_FIELDS, &["laravel-boost"]),
    describe_adopter("letta", "Letta", "https://docs.letta.com/configuration/skills", MINIMAL_FIELDS, &["letta"]),
    describe_adopter(
        "mistral-vibe",
        "Mistral Vibe",
        "mistralai/mistral-vibe, README.md",
        &["name", "description", "license", "compatibility", "allowed-tools", "user-invocable"],
        &["mistral-vibe"],
    ),
    describe_adopter("mux", "Mux", "coder/mux, docs/agents/agent-skills.mdx", MUX_FIELDS, &["mux"]),
    describe_adopter(
        "nanobot",
        "nanobot",
        "HKUDS/nanobot, documentation",
        &["name", "description", "metadata"],
        &["nanobot"],
    ),
    describe_adopter("ona", "Ona", "npm skills 1.7.4, docs/agents.md", MINIMAL_FIELDS, &["ona"]),
    describe_adopter(
        "openclaw",
        "OpenClaw",
        "https://docs.openclaw.ai/tools/skills",
        &["name", "description", "metadata"],
        &["openclaw"],
    ),
    describe_adopter(
        "openhands",
        "OpenHands",
        "https://docs.openhands.dev/overview/skills",
        &["name", "description", "paths"],
        &["openhands"],
    ),
    describe_adopter("pi", "Pi", "badlogic/pi-mono, packages/coding-agent/docs/skills.md", PI_FIELDS, &["pi"]),
    describe_adopter("roo", "Roo Code", "RooCodeInc/Roo-Code-Docs, docs/features/skills.mdx", MINIMAL_FIELDS, &["roo"]),
    describe_adopter(
        "spring-ai",
        "Spring AI",
        "spring-ai-community/spring-ai-agent-utils, docs/SkillsTool.md",
        &["name", "description", "allowed-tools", "model"],
        &["spring-ai"],
    ),
    describe_adopter("tabnine", "Tabnine CLI", "Tabnine documentation, agent skills", MINIMAL_FIELDS, &["tabnine"]),
    describe_adopter("trae", "TRAE", "TRAE documentation, skills", MINIMAL_FIELDS, &["trae"]),
    describe_adopter("vtcode", "VT Code", "vinhnx/VTCode, docs/skills/SKILLS_GUIDE.md", VTCODE_FIELDS, &["vtcode"]),
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
