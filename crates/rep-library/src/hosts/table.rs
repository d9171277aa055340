//! The known hosts: which directories each reads, in which order, and how it handles unusual skills.
//!
//! Every fact has a source and the date it was checked. Behavior observed in a run is authoritative for that version.
//! Unknown behavior follows the client guide of the specification.

use super::FolderBase::{
    EachIn, Here, Home, HomeWithout, Machine, Nested, PluginFolders, Plugins, ProjectPackages, Upward, Variable,
    VariableOnly,
};
use super::adopters::{
    AUTOHAND, BUB, COMMAND_CODE, CORTEX_CODE, DATABRICKS, DEEP_CODE, EMDASH, FAST_AGENT, FIREBENDER, HERMES, JUNIE,
    LARAVEL_BOOST, LETTA, MISTRAL_VIBE, MUX, NANOBOT, ONA, OPENCLAW, OPENHANDS, PI, ROO, SPRING_AI, TABNINE, TRAE,
    VTCODE,
};
use super::{
    AnomalyHandling, DescriptionHandling, DescriptionLimit, DescriptionSubstitute, DiscoveryHost, FactSource,
    FieldHandling, FileHandling, FolderBase, FolderSearch, HostFact, HostFolder, KnownDifference, NameCollisions,
    NameSource, SpaceHandling, UpwardSearch,
};
use crate::packages::CURSOR_MANIFEST;

static CLAUDE_RUN: FactSource = cite_source("Claude Code 2.1.325, run");
static CODEX_RUN: FactSource = cite_source("Codex CLI 0.166.0, run");
static COPILOT_RUN: FactSource = cite_source("GitHub Copilot CLI 1.0.102, run");
static GEMINI_RUN: FactSource = cite_source("Gemini CLI 0.61.0, run");
static OPENCODE_RUN: FactSource = cite_source("OpenCode 1.18.33, run");
static VSCODE_DOCS: FactSource = cite_source("microsoft/vscode-docs, docs/agent-customization/agent-skills.md");
static CURSOR_DOCS: FactSource = cite_source("Cursor documentation, skills");
static CURSOR_PLUGIN_DOCS: FactSource =
    FactSource { text: "https://cursor.com/docs/reference/plugins; AAM §4, platforms", checked: "2026-11-18" };
static GOOSE_DOCS: FactSource =
    cite_source("block/goose, documentation/docs/guides/context-engineering/using-skills.md");
static AMP_DOCS: FactSource = cite_source("Amp manual, agent skills");
static WINDSURF_DOCS: FactSource = cite_source("Windsurf documentation, cascade skills; Devin product guide, skills");
static KIRO_DOCS: FactSource = cite_source("Kiro documentation, skills; npm skills 1.7.4");
static FACTORY_DOCS: FactSource = cite_source("npm skills 1.7.4, docs/agents.md");
static ANTIGRAVITY_DOCS: FactSource = cite_source("Antigravity documentation, skills; npm skills 1.7.4");
static GUIDE: FactSource = cite_source("agentskills client guide; the host's own behavior is unknown");

const fn cite_source(text: &'static str) -> FactSource {
    FactSource { text, checked: "2026-11-15" }
}

pub(super) const fn state_fact<T>(value: T, source: &'static FactSource) -> HostFact<T> {
    HostFact { value, source }
}

pub(super) const fn list_folder(at: FolderBase, path: &'static str, source: &'static FactSource) -> HostFolder {
    HostFolder { at, path, source }
}

/// One level of directories, no nested skills, hidden directories skipped.
pub(super) const FLAT_SEARCH: FolderSearch =
    FolderSearch { depth_max: 1, takes_root: false, enters_skills: false, enters_hidden: false };

/// The client guide's handling of names: a missing name is replaced by the directory name.
const NAME_HANDLING: FieldHandling = FieldHandling {
    missing: AnomalyHandling::Replaces,
    null: AnomalyHandling::Replaces,
    empty: AnomalyHandling::Replaces,
    number: AnomalyHandling::Keeps,
    list: AnomalyHandling::Replaces,
};
/// The client guide's handling of descriptions: a skill without one is skipped.
const DESCRIPTION_FIELD: FieldHandling = FieldHandling {
    missing: AnomalyHandling::Skips,
    null: AnomalyHandling::Skips,
    empty: AnomalyHandling::Skips,
    number: AnomalyHandling::Keeps,
    list: AnomalyHandling::Skips,
};
/// A schema of optional strings.
const OPTIONAL_STRINGS: FieldHandling = FieldHandling {
    missing: AnomalyHandling::Keeps,
    null: AnomalyHandling::Skips,
    empty: AnomalyHandling::Keeps,
    number: AnomalyHandling::Skips,
    list: AnomalyHandling::Skips,
};

pub(super) const DEFAULT_DESCRIPTION_HANDLING: DescriptionHandling = DescriptionHandling {
    field: DESCRIPTION_FIELD,
    substitute: DescriptionSubstitute::Nothing,
    longest: DescriptionLimit::Any,
    joins_when: None,
    hides_missing: false,
};
const DEFAULT_FILE_HANDLING: FileHandling = FileHandling {
    unquoted_colon: AnomalyHandling::Keeps,
    unclosed_bracket: AnomalyHandling::Skips,
    unfenced: AnomalyHandling::Skips,
    byte_order_mark: AnomalyHandling::Keeps,
    link: AnomalyHandling::Keeps,
};

/// The note for hosts that cannot be run without a network.
pub(super) const NOT_RUN: KnownDifference = KnownDifference {
    key: "unrun",
    text: "based on documentation: this host lists no skills without a network or a login",
};

/// Describes a host of which only the directories are documented. The rest follows the client guide.
pub(super) const fn describe_host(
    id: &'static str,
    name: &'static str,
    aliases: &'static [&'static str],
    folders: &'static [HostFolder],
) -> DiscoveryHost {
    DiscoveryHost {
        id,
        name,
        aliases,
        folders,
        walk: state_fact(FLAT_SEARCH, &GUIDE),
        outside: state_fact(UpwardSearch::WorkingFolderOnly, &GUIDE),
        collisions: state_fact(NameCollisions::FirstWins, &GUIDE),
        naming: state_fact(NameSource::Frontmatter(NAME_HANDLING, None, SpaceHandling::Stay), &GUIDE),
        description: state_fact(DEFAULT_DESCRIPTION_HANDLING, &GUIDE),
        file: state_fact(DEFAULT_FILE_HANDLING, &GUIDE),
        honours_opt_out: state_fact(true, &GUIDE),
        asks_for_trust: state_fact(false, &GUIDE),
        differs: &[NOT_RUN],
    }
}

/// The hosts, ordered by id.
pub static HOSTS: [DiscoveryHost; 38] = [
    describe_host(
        "amp",
        "Amp",
        &[],
        &[
            list_folder(Home, ".config/agents/skills", &AMP_DOCS),
            list_folder(Home, ".agents/skills", &AMP_DOCS),
            list_folder(Home, ".config/amp/skills", &AMP_DOCS),
            list_folder(Upward, ".agents/skills", &AMP_DOCS),
            list_folder(Upward, ".claude/skills", &AMP_DOCS),
            list_folder(Home, ".claude/skills", &AMP_DOCS),
        ],
    ),
    describe_host(
        "antigravity",
        "Google Antigravity",
        &["antigravity-cli"],
        &[
            list_folder(Here, ".agents/skills", &ANTIGRAVITY_DOCS),
            list_folder(Here, ".agent/skills", &ANTIGRAVITY_DOCS),
            list_folder(Home, ".gemini/config/skills", &ANTIGRAVITY_DOCS),
            list_folder(Home, ".gemini/antigravity/skills", &ANTIGRAVITY_DOCS),
        ],
    ),
    AUTOHAND,
    BUB,
    CLAUDE_CODE,
    CODEX,
    COMMAND_CODE,
    COPILOT,
    CORTEX_CODE,
    describe_host(
        "cursor",
        "Cursor",
        &[],
        &[
            list_folder(Here, ".agents/skills", &CURSOR_DOCS),
            list_folder(Here, ".cursor/skills", &CURSOR_DOCS),
            list_folder(Here, ".claude/skills", &CURSOR_DOCS),
            list_folder(Here, ".codex/skills", &CURSOR_DOCS),
            list_folder(Nested, ".agents/skills", &CURSOR_DOCS),
            list_folder(Nested, ".cursor/skills", &CURSOR_DOCS),
            list_folder(Home, ".agents/skills", &CURSOR_DOCS),
            list_folder(Home, ".cursor/skills", &CURSOR_DOCS),
            list_folder(Home, ".claude/skills", &CURSOR_DOCS),
            list_folder(Home, ".codex/skills", &CURSOR_DOCS),
            list_folder(ProjectPackages(CURSOR_MANIFEST), ".cursor/plugins", &CURSOR_PLUGIN_DOCS),
            list_folder(PluginFolders(".cursor/plugins/local"), "skills", &CURSOR_PLUGIN_DOCS),
            list_folder(PluginFolders(".cursor/plugins"), "skills", &CURSOR_PLUGIN_DOCS),
        ],
    ),
    DATABRICKS,
    DEEP_CODE,
    EMDASH,
    describe_host(
        "factory",
        "Factory Droid",
        &["droid", "factory-droid"],
        &[
            list_folder(Here, ".factory/skills", &FACTORY_DOCS),
            list_folder(Here, ".agents/skills", &FACTORY_DOCS),
            list_folder(Here, ".agent/skills", &FACTORY_DOCS),
            list_folder(Home, ".factory/skills", &FACTORY_DOCS),
        ],
    ),
    FAST_AGENT,
    FIREBENDER,
    GEMINI_CLI,
    describe_host(
        "goose",
        "Goose",
        &[],
        &[
            list_folder(Here, ".agents/skills", &GOOSE_DOCS),
            list_folder(Here, ".goose/skills", &GOOSE_DOCS),
            list_folder(Here, ".claude/skills", &GOOSE_DOCS),
            list_folder(Home, ".agents/skills", &GOOSE_DOCS),
            list_folder(Home, ".config/goose/skills", &GOOSE_DOCS),
            list_folder(Home, ".claude/skills", &GOOSE_DOCS),
        ],
    ),
    HERMES,
    JUNIE,
    describe_host(
        "kiro",
        "Kiro",
        &["kiro-cli"],
        &[list_folder(Here, ".kiro/skills", &KIRO_DOCS), list_folder(Home, ".kiro/skills", &KIRO_DOCS)],
    ),
    LARAVEL_BOOST,
    LETTA,
    MISTRAL_VIBE,
    MUX,
    NANOBOT,
    ONA,
    OPENCLAW,
    OPENCODE,
    OPENHANDS,
    PI,
    ROO,
    SPRING_AI,
    TABNINE,
    TRAE,
    DiscoveryHost {
        naming: state_fact(NameSource::SameAsFolder, &VSCODE_DOCS),
        ..describe_host("vscode", "VS Code", &["code", "vscode-copilot"], &VSCODE_FOLDERS)
    },
    VTCODE,
    describe_host(
        "windsurf",
        "Windsurf",
        &["cascade", "devin"],
        &[
            list_folder(Here, ".windsurf/skills", &WINDSURF_DOCS),
            list_folder(Here, ".agents/skills", &WINDSURF_DOCS),
            list_folder(Here, ".devin/skills", &WINDSURF_DOCS),
            list_folder(Here, ".github/skills", &WINDSURF_DOCS),
            list_folder(Here, ".claude/skills", &WINDSURF_DOCS),
            list_folder(Here, ".cursor/skills", &WINDSURF_DOCS),
            list_folder(Here, ".codex/skills", &WINDSURF_DOCS),
            list_folder(Here, ".cognition/skills", &WINDSURF_DOCS),
            list_folder(Here, ".codeium/skills", &WINDSURF_DOCS),
            list_folder(Home, ".codeium/windsurf/skills", &WINDSURF_DOCS),
        ],
    ),
];

static VSCODE_FOLDERS: [HostFolder; 6] = [
    list_folder(Here, ".github/skills", &VSCODE_DOCS),
    list_folder(Here, ".claude/skills", &VSCODE_DOCS),
    list_folder(Here, ".agents/skills", &VSCODE_DOCS),
    list_folder(Home, ".copilot/skills", &VSCODE_DOCS),
    list_folder(Home, ".claude/skills", &VSCODE_DOCS),
    list_folder(Home, ".agents/skills", &VSCODE_DOCS),
];

const CLAUDE_CODE: DiscoveryHost = DiscoveryHost {
    id: "claude-code",
    name: "Claude Code",
    aliases: &["claude"],
    folders: &[
        list_folder(Machine, "/etc/claude-code/.claude/skills", &CLAUDE_RUN),
        list_folder(Variable("CLAUDE_CONFIG_DIR", ".claude"), "skills", &CLAUDE_RUN),
        list_folder(Upward, ".claude/skills", &CLAUDE_RUN),
        list_folder(Plugins("CLAUDE_CONFIG_DIR", ".claude"), "skills", &CLAUDE_RUN),
    ],
    walk: state_fact(FolderSearch { enters_hidden: true, ..FLAT_SEARCH }, &CLAUDE_RUN),
    outside: state_fact(UpwardSearch::UpToRoot, &CLAUDE_RUN),
    collisions: state_fact(NameCollisions::FirstWins, &CLAUDE_RUN),
    naming: state_fact(NameSource::Folder, &CLAUDE_RUN),
    description: state_fact(
        DescriptionHandling {
            field: FieldHandling {
                missing: AnomalyHandling::Replaces,
                null: AnomalyHandling::Replaces,
                empty: AnomalyHandling::Replaces,
                number: AnomalyHandling::Keeps,
                list: AnomalyHandling::Replaces,
            },
            substitute: DescriptionSubstitute::FirstLine,
            longest: DescriptionLimit::Cut(1536, "…"),
            joins_when: Some(" - "),
            hides_missing: false,
        },
        &CLAUDE_RUN,
    ),
    file: state_fact(
        FileHandling {
            unclosed_bracket: AnomalyHandling::Keeps,
            unfenced: AnomalyHandling::Replaces,
            ..DEFAULT_FILE_HANDLING
        },
        &CLAUDE_RUN,
    ),
    honours_opt_out: state_fact(true, &CLAUDE_RUN),
    asks_for_trust: state_fact(false, &CLAUDE_RUN),
    differs: &[
        KnownDifference { key: "bundled", text: "skills bundled with the host are not included" },
        KnownDifference {
            key: "plugins",
            text: "plugins are predicted if they are installed and enabled for the user, not only for one project",
        },
        KnownDifference {
            key: "lazy",
            text: "a `.claude/skills` below the working directory is listed once a file next to it was used",
        },
    ],
};

const CODEX: DiscoveryHost = DiscoveryHost {
    id: "codex",
    name: "Codex",
    aliases: &["codex-cli", "openai-codex"],
    folders: &[
        list_folder(Upward, ".agents/skills", &CODEX_RUN),
        list_folder(Upward, ".codex/skills", &CODEX_RUN),
        list_folder(Home, ".agents/skills", &CODEX_RUN),
        list_folder(Variable("CODEX_HOME", ".codex"), "skills", &CODEX_RUN),
        list_folder(Machine, "/etc/codex/skills", &CODEX_RUN),
    ],
    walk: state_fact(
        FolderSearch { depth_max: 6, takes_root: true, enters_skills: true, enters_hidden: false },
        &CODEX_RUN,
    ),
    outside: state_fact(UpwardSearch::WorkingFolderOnly, &CODEX_RUN),
    collisions: state_fact(NameCollisions::AllListed, &CODEX_RUN),
    naming: state_fact(NameSource::Frontmatter(NAME_HANDLING, Some(64), SpaceHandling::Stay), &CODEX_RUN),
    description: state_fact(
        DescriptionHandling { longest: DescriptionLimit::Cut(1024, "..."), ..DEFAULT_DESCRIPTION_HANDLING },
        &CODEX_RUN,
    ),
    file: state_fact(
        FileHandling {
            unclosed_bracket: AnomalyHandling::Keeps,
            byte_order_mark: AnomalyHandling::Skips,
            link: AnomalyHandling::Skips,
            ..DEFAULT_FILE_HANDLING
        },
        &CODEX_RUN,
    ),
    honours_opt_out: state_fact(false, &CODEX_RUN),
    asks_for_trust: state_fact(false, &CODEX_RUN),
    differs: &[
        KnownDifference { key: "bundled", text: "skills bundled with the host are not included" },
        KnownDifference { key: "plugins", text: "skills of installed plugins, named `plugin:skill`, are not included" },
        KnownDifference { key: "settings", text: "skills disabled in config.toml are listed" },
    ],
};

const COPILOT: DiscoveryHost = DiscoveryHost {
    id: "copilot",
    name: "GitHub Copilot CLI",
    aliases: &["copilot-cli", "github-copilot"],
    folders: &[
        list_folder(Upward, ".github/skills", &COPILOT_RUN),
        list_folder(Upward, ".agents/skills", &COPILOT_RUN),
        list_folder(Upward, ".claude/skills", &COPILOT_RUN),
        list_folder(Variable("COPILOT_HOME", ".copilot"), "skills", &COPILOT_RUN),
        list_folder(HomeWithout("COPILOT_HOME"), ".agents/skills", &COPILOT_RUN),
    ],
    walk: state_fact(
        FolderSearch { depth_max: 24, takes_root: true, enters_skills: false, enters_hidden: false },
        &COPILOT_RUN,
    ),
    outside: state_fact(UpwardSearch::UpToRoot, &COPILOT_RUN),
    collisions: state_fact(NameCollisions::FirstWins, &COPILOT_RUN),
    naming: state_fact(
        NameSource::Frontmatter(
            FieldHandling { missing: AnomalyHandling::Replaces, empty: AnomalyHandling::Skips, ..OPTIONAL_STRINGS },
            Some(64),
            SpaceHandling::Hyphens,
        ),
        &COPILOT_RUN,
    ),
    description: state_fact(
        DescriptionHandling {
            field: FieldHandling { missing: AnomalyHandling::Replaces, ..OPTIONAL_STRINGS },
            substitute: DescriptionSubstitute::FirstParagraph,
            longest: DescriptionLimit::Skips(1024),
            ..DEFAULT_DESCRIPTION_HANDLING
        },
        &COPILOT_RUN,
    ),
    file: state_fact(FileHandling { unquoted_colon: AnomalyHandling::Skips, ..DEFAULT_FILE_HANDLING }, &COPILOT_RUN),
    honours_opt_out: state_fact(false, &COPILOT_RUN),
    asks_for_trust: state_fact(false, &COPILOT_RUN),
    differs: &[
        KnownDifference { key: "bundled", text: "skills bundled with the host are not included" },
        KnownDifference { key: "plugins", text: "skills of installed plugins are not included" },
        KnownDifference {
            key: "twins",
            text: "of two skills with one name in a directory, it lists the one that the file system returns first",
        },
    ],
};

const GEMINI_CLI: DiscoveryHost = DiscoveryHost {
    id: "gemini-cli",
    name: "Gemini CLI",
    aliases: &[],
    folders: &[
        list_folder(Here, ".agents/skills", &GEMINI_RUN),
        list_folder(Here, ".gemini/skills", &GEMINI_RUN),
        list_folder(Variable("GEMINI_CLI_HOME", ""), ".agents/skills", &GEMINI_RUN),
        list_folder(Variable("GEMINI_CLI_HOME", ""), ".gemini/skills", &GEMINI_RUN),
        list_folder(EachIn("GEMINI_CLI_HOME", ".gemini/extensions"), "skills", &GEMINI_RUN),
    ],
    walk: state_fact(FolderSearch { takes_root: true, enters_skills: true, ..FLAT_SEARCH }, &GEMINI_RUN),
    outside: state_fact(UpwardSearch::WorkingFolderOnly, &GEMINI_RUN),
    collisions: state_fact(NameCollisions::FirstWins, &GEMINI_RUN),
    naming: state_fact(
        NameSource::Frontmatter(
            FieldHandling {
                missing: AnomalyHandling::Skips,
                null: AnomalyHandling::Keeps,
                empty: AnomalyHandling::Keeps,
                number: AnomalyHandling::Keeps,
                list: AnomalyHandling::Keeps,
            },
            None,
            SpaceHandling::Stay,
        ),
        &GEMINI_RUN,
    ),
    description: state_fact(
        DescriptionHandling {
            field: FieldHandling {
                missing: AnomalyHandling::Skips,
                null: AnomalyHandling::Keeps,
                empty: AnomalyHandling::Keeps,
                number: AnomalyHandling::Keeps,
                list: AnomalyHandling::Keeps,
            },
            ..DEFAULT_DESCRIPTION_HANDLING
        },
        &GEMINI_RUN,
    ),
    file: state_fact(
        FileHandling {
            unclosed_bracket: AnomalyHandling::Keeps,
            byte_order_mark: AnomalyHandling::Skips,
            ..DEFAULT_FILE_HANDLING
        },
        &GEMINI_RUN,
    ),
    honours_opt_out: state_fact(false, &GEMINI_RUN),
    asks_for_trust: state_fact(true, &GEMINI_RUN),
    differs: &[
        KnownDifference { key: "bundled", text: "skills bundled with the host are not included" },
        KnownDifference {
            key: "twins",
            text: "of two skills with one name in a directory, it lists the one that the file system returns last",
        },
    ],
};

const OPENCODE: DiscoveryHost = DiscoveryHost {
    id: "opencode",
    name: "OpenCode",
    aliases: &["opencode-ai"],
    folders: &[
        list_folder(VariableOnly("OPENCODE_CONFIG_DIR"), "skills", &OPENCODE_RUN),
        list_folder(VariableOnly("OPENCODE_CONFIG_DIR"), "skill", &OPENCODE_RUN),
        list_folder(Upward, ".opencode/skills", &OPENCODE_RUN),
        list_folder(Upward, ".opencode/skill", &OPENCODE_RUN),
        list_folder(Upward, ".claude/skills", &OPENCODE_RUN),
        list_folder(Upward, ".agents/skills", &OPENCODE_RUN),
        list_folder(Variable("XDG_CONFIG_HOME", ".config"), "opencode/skills", &OPENCODE_RUN),
        list_folder(Variable("XDG_CONFIG_HOME", ".config"), "opencode/skill", &OPENCODE_RUN),
        list_folder(Home, ".opencode/skills", &OPENCODE_RUN),
        list_folder(Home, ".opencode/skill", &OPENCODE_RUN),
        list_folder(Home, ".claude/skills", &OPENCODE_RUN),
        list_folder(Home, ".agents/skills", &OPENCODE_RUN),
    ],
    walk: state_fact(
        FolderSearch { depth_max: 24, takes_root: true, enters_skills: true, enters_hidden: true },
        &OPENCODE_RUN,
    ),
    outside: state_fact(UpwardSearch::UpToRoot, &OPENCODE_RUN),
    collisions: state_fact(NameCollisions::AnyWins, &OPENCODE_RUN),
    naming: state_fact(
        NameSource::Frontmatter(
            FieldHandling { missing: AnomalyHandling::Skips, ..OPTIONAL_STRINGS },
            None,
            SpaceHandling::Stay,
        ),
        &OPENCODE_RUN,
    ),
    description: state_fact(
        DescriptionHandling { field: OPTIONAL_STRINGS, hides_missing: true, ..DEFAULT_DESCRIPTION_HANDLING },
        &OPENCODE_RUN,
    ),
    file: state_fact(DEFAULT_FILE_HANDLING, &OPENCODE_RUN),
    honours_opt_out: state_fact(false, &OPENCODE_RUN),
    asks_for_trust: state_fact(false, &OPENCODE_RUN),
    differs: &[
        KnownDifference { key: "bundled", text: "skills bundled with the host are not included" },
        KnownDifference {
            key: "copies",
            text: "it reads directories concurrently and lists the copy of a name that it read last, which varies",
        },
        KnownDifference { key: "settings", text: "directories and URLs named in opencode.json are not read" },
    ],
};
