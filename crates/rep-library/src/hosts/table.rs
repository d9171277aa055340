//! The hosts: which folders each reads, in which order, and what it makes of odd skills.
//!
//! Every fact names its source and the day it was checked. What was seen in a run is the truth for that version;
//! what is not known of a host follows the client guide of the specification.

use super::At::{EachIn, Here, Home, HomeWithout, Machine, Nested, Plugins, Upward, Variable, VariableOnly};
use super::{
    At, Collisions, Describing, Difference, Fact, Field, Filing, Folder, Host, Longest, Naming, Odd, Outside, Source,
    Spaces, Substitute, Walk,
};

static CLAUDE_RUN: Source = seen("Claude Code 2.1.325, run");
static CODEX_RUN: Source = seen("Codex CLI 0.166.0, run");
static COPILOT_RUN: Source = seen("GitHub Copilot CLI 1.0.102, run");
static GEMINI_RUN: Source = seen("Gemini CLI 0.61.0, run");
static OPENCODE_RUN: Source = seen("OpenCode 1.18.33, run");
static VSCODE_DOCS: Source = seen("microsoft/vscode-docs, docs/agent-customization/agent-skills.md");
static CURSOR_DOCS: Source = seen("Cursor documentation, skills");
static GOOSE_DOCS: Source = seen("block/goose, documentation/docs/guides/context-engineering/using-skills.md");
static AMP_DOCS: Source = seen("Amp manual, agent skills");
static WINDSURF_DOCS: Source = seen("Windsurf documentation, cascade skills; Devin product guide, skills");
static KIRO_DOCS: Source = seen("Kiro documentation, skills; npm skills 1.7.4");
static FACTORY_DOCS: Source = seen("npm skills 1.7.4, docs/agents.md");
static ANTIGRAVITY_DOCS: Source = seen("Antigravity documentation, skills; npm skills 1.7.4");
static GUIDE: Source = seen("agentskills client guide, the host's own way being unknown");

const fn seen(text: &'static str) -> Source {
    Source { text, checked: "2026-11-15" }
}

const fn fact<T>(value: T, source: &'static Source) -> Fact<T> {
    Fact { value, source }
}

const fn folder(at: At, path: &'static str, source: &'static Source) -> Folder {
    Folder { at, path, source }
}

/// One level of folders, skills not inside skills, hidden folders passed over.
const FLAT: Walk = Walk { depth_max: 1, takes_root: false, enters_skills: false, enters_hidden: false };

/// What the client guide asks of a name: the folder's stands in where there is none.
const NAME: Field = Field {
    missing: Odd::Replaces,
    null: Odd::Replaces,
    empty: Odd::Replaces,
    number: Odd::Keeps,
    list: Odd::Replaces,
};
/// What the client guide asks of a description: without one a skill is passed over.
const DESCRIPTION: Field =
    Field { missing: Odd::Skips, null: Odd::Skips, empty: Odd::Skips, number: Odd::Keeps, list: Odd::Skips };
/// A schema of strings that may be left out, and nothing else.
const STRINGS: Field =
    Field { missing: Odd::Keeps, null: Odd::Skips, empty: Odd::Keeps, number: Odd::Skips, list: Odd::Skips };

const DESCRIBING: Describing = Describing {
    field: DESCRIPTION,
    substitute: Substitute::Nothing,
    longest: Longest::Any,
    joins_when: None,
    hides_missing: false,
};
const FILING: Filing = Filing {
    unquoted_colon: Odd::Keeps,
    unclosed_bracket: Odd::Skips,
    unfenced: Odd::Skips,
    byte_order_mark: Odd::Keeps,
    link: Odd::Keeps,
};

/// What is not documented of any host that cannot be run without a network.
const UNRUN: Difference = Difference {
    key: "unrun",
    text: "taken from documentation: this host lists no skills without a network or a login",
};

/// A host of which the folders are documented and nothing else; the client guide fills the rest.
const fn documented(
    id: &'static str,
    name: &'static str,
    aliases: &'static [&'static str],
    folders: &'static [Folder],
) -> Host {
    Host {
        id,
        name,
        aliases,
        folders,
        walk: fact(FLAT, &GUIDE),
        outside: fact(Outside::Stays, &GUIDE),
        collisions: fact(Collisions::FirstWins, &GUIDE),
        naming: fact(Naming::Frontmatter(NAME, None, Spaces::Stay), &GUIDE),
        description: fact(DESCRIBING, &GUIDE),
        file: fact(FILING, &GUIDE),
        honours_opt_out: fact(true, &GUIDE),
        asks_for_trust: fact(false, &GUIDE),
        differs: &[UNRUN],
    }
}

/// The hosts, in order of id.
pub static HOSTS: [Host; 13] = [
    documented(
        "amp",
        "Amp",
        &[],
        &[
            folder(Home, ".config/agents/skills", &AMP_DOCS),
            folder(Home, ".agents/skills", &AMP_DOCS),
            folder(Home, ".config/amp/skills", &AMP_DOCS),
            folder(Upward, ".agents/skills", &AMP_DOCS),
            folder(Upward, ".claude/skills", &AMP_DOCS),
            folder(Home, ".claude/skills", &AMP_DOCS),
        ],
    ),
    documented(
        "antigravity",
        "Google Antigravity",
        &["antigravity-cli"],
        &[
            folder(Here, ".agents/skills", &ANTIGRAVITY_DOCS),
            folder(Here, ".agent/skills", &ANTIGRAVITY_DOCS),
            folder(Home, ".gemini/config/skills", &ANTIGRAVITY_DOCS),
            folder(Home, ".gemini/antigravity/skills", &ANTIGRAVITY_DOCS),
        ],
    ),
    CLAUDE_CODE,
    CODEX,
    COPILOT,
    documented(
        "cursor",
        "Cursor",
        &[],
        &[
            folder(Here, ".agents/skills", &CURSOR_DOCS),
            folder(Here, ".cursor/skills", &CURSOR_DOCS),
            folder(Here, ".claude/skills", &CURSOR_DOCS),
            folder(Here, ".codex/skills", &CURSOR_DOCS),
            folder(Nested, ".agents/skills", &CURSOR_DOCS),
            folder(Nested, ".cursor/skills", &CURSOR_DOCS),
            folder(Home, ".agents/skills", &CURSOR_DOCS),
            folder(Home, ".cursor/skills", &CURSOR_DOCS),
            folder(Home, ".claude/skills", &CURSOR_DOCS),
            folder(Home, ".codex/skills", &CURSOR_DOCS),
        ],
    ),
    documented(
        "factory",
        "Factory Droid",
        &["droid", "factory-droid"],
        &[
            folder(Here, ".factory/skills", &FACTORY_DOCS),
            folder(Here, ".agents/skills", &FACTORY_DOCS),
            folder(Here, ".agent/skills", &FACTORY_DOCS),
            folder(Home, ".factory/skills", &FACTORY_DOCS),
        ],
    ),
    GEMINI,
    documented(
        "goose",
        "Goose",
        &[],
        &[
            folder(Here, ".agents/skills", &GOOSE_DOCS),
            folder(Here, ".goose/skills", &GOOSE_DOCS),
            folder(Here, ".claude/skills", &GOOSE_DOCS),
            folder(Home, ".agents/skills", &GOOSE_DOCS),
            folder(Home, ".config/goose/skills", &GOOSE_DOCS),
            folder(Home, ".claude/skills", &GOOSE_DOCS),
        ],
    ),
    documented(
        "kiro",
        "Kiro",
        &["kiro-cli"],
        &[folder(Here, ".kiro/skills", &KIRO_DOCS), folder(Home, ".kiro/skills", &KIRO_DOCS)],
    ),
    OPENCODE,
    Host {
        naming: fact(Naming::SameAsFolder, &VSCODE_DOCS),
        ..documented("vscode", "VS Code", &["code", "vscode-copilot"], &VSCODE_FOLDERS)
    },
    documented(
        "windsurf",
        "Windsurf",
        &["cascade", "devin"],
        &[
            folder(Here, ".windsurf/skills", &WINDSURF_DOCS),
            folder(Here, ".agents/skills", &WINDSURF_DOCS),
            folder(Here, ".devin/skills", &WINDSURF_DOCS),
            folder(Here, ".github/skills", &WINDSURF_DOCS),
            folder(Here, ".claude/skills", &WINDSURF_DOCS),
            folder(Here, ".cursor/skills", &WINDSURF_DOCS),
            folder(Here, ".codex/skills", &WINDSURF_DOCS),
            folder(Here, ".cognition/skills", &WINDSURF_DOCS),
            folder(Here, ".codeium/skills", &WINDSURF_DOCS),
            folder(Home, ".codeium/windsurf/skills", &WINDSURF_DOCS),
        ],
    ),
];

static VSCODE_FOLDERS: [Folder; 6] = [
    folder(Here, ".github/skills", &VSCODE_DOCS),
    folder(Here, ".claude/skills", &VSCODE_DOCS),
    folder(Here, ".agents/skills", &VSCODE_DOCS),
    folder(Home, ".copilot/skills", &VSCODE_DOCS),
    folder(Home, ".claude/skills", &VSCODE_DOCS),
    folder(Home, ".agents/skills", &VSCODE_DOCS),
];

const CLAUDE_CODE: Host = Host {
    id: "claude-code",
    name: "Claude Code",
    aliases: &["claude"],
    folders: &[
        folder(Machine, "/etc/claude-code/.claude/skills", &CLAUDE_RUN),
        folder(Variable("CLAUDE_CONFIG_DIR", ".claude"), "skills", &CLAUDE_RUN),
        folder(Upward, ".claude/skills", &CLAUDE_RUN),
        folder(Plugins("CLAUDE_CONFIG_DIR", ".claude"), "skills", &CLAUDE_RUN),
    ],
    walk: fact(Walk { enters_hidden: true, ..FLAT }, &CLAUDE_RUN),
    outside: fact(Outside::Climbs, &CLAUDE_RUN),
    collisions: fact(Collisions::FirstWins, &CLAUDE_RUN),
    naming: fact(Naming::Folder, &CLAUDE_RUN),
    description: fact(
        Describing {
            field: Field {
                missing: Odd::Replaces,
                null: Odd::Replaces,
                empty: Odd::Replaces,
                number: Odd::Keeps,
                list: Odd::Replaces,
            },
            substitute: Substitute::FirstLine,
            longest: Longest::Cut(1536, "…"),
            joins_when: Some(" - "),
            hides_missing: false,
        },
        &CLAUDE_RUN,
    ),
    file: fact(Filing { unclosed_bracket: Odd::Keeps, unfenced: Odd::Replaces, ..FILING }, &CLAUDE_RUN),
    honours_opt_out: fact(true, &CLAUDE_RUN),
    asks_for_trust: fact(false, &CLAUDE_RUN),
    differs: &[
        Difference { key: "bundled", text: "skills that come with the program are not predicted" },
        Difference {
            key: "plugins",
            text: "plugins are predicted where they are installed and enabled for the user, not for one project only",
        },
        Difference {
            key: "lazy",
            text: "a `.claude/skills` below the working folder is listed once a file beside it was touched",
        },
    ],
};

const CODEX: Host = Host {
    id: "codex",
    name: "Codex",
    aliases: &["codex-cli", "openai-codex"],
    folders: &[
        folder(Upward, ".agents/skills", &CODEX_RUN),
        folder(Upward, ".codex/skills", &CODEX_RUN),
        folder(Home, ".agents/skills", &CODEX_RUN),
        folder(Variable("CODEX_HOME", ".codex"), "skills", &CODEX_RUN),
        folder(Machine, "/etc/codex/skills", &CODEX_RUN),
    ],
    walk: fact(Walk { depth_max: 6, takes_root: true, enters_skills: true, enters_hidden: false }, &CODEX_RUN),
    outside: fact(Outside::Stays, &CODEX_RUN),
    collisions: fact(Collisions::AllListed, &CODEX_RUN),
    naming: fact(Naming::Frontmatter(NAME, Some(64), Spaces::Stay), &CODEX_RUN),
    description: fact(Describing { longest: Longest::Cut(1024, "..."), ..DESCRIBING }, &CODEX_RUN),
    file: fact(
        Filing { unclosed_bracket: Odd::Keeps, byte_order_mark: Odd::Skips, link: Odd::Skips, ..FILING },
        &CODEX_RUN,
    ),
    honours_opt_out: fact(false, &CODEX_RUN),
    asks_for_trust: fact(false, &CODEX_RUN),
    differs: &[
        Difference { key: "bundled", text: "skills that come with the program are not predicted" },
        Difference { key: "plugins", text: "skills of installed plugins, called `plugin:skill`, are not predicted" },
        Difference { key: "settings", text: "skills switched off in config.toml are listed" },
    ],
};

const COPILOT: Host = Host {
    id: "copilot",
    name: "GitHub Copilot CLI",
    aliases: &["copilot-cli", "github-copilot"],
    folders: &[
        folder(Upward, ".github/skills", &COPILOT_RUN),
        folder(Upward, ".agents/skills", &COPILOT_RUN),
        folder(Upward, ".claude/skills", &COPILOT_RUN),
        folder(Variable("COPILOT_HOME", ".copilot"), "skills", &COPILOT_RUN),
        folder(HomeWithout("COPILOT_HOME"), ".agents/skills", &COPILOT_RUN),
    ],
    walk: fact(Walk { depth_max: 24, takes_root: true, enters_skills: false, enters_hidden: false }, &COPILOT_RUN),
    outside: fact(Outside::Climbs, &COPILOT_RUN),
    collisions: fact(Collisions::FirstWins, &COPILOT_RUN),
    naming: fact(
        Naming::Frontmatter(Field { missing: Odd::Replaces, empty: Odd::Skips, ..STRINGS }, Some(64), Spaces::Hyphens),
        &COPILOT_RUN,
    ),
    description: fact(
        Describing {
            field: Field { missing: Odd::Replaces, ..STRINGS },
            substitute: Substitute::FirstParagraph,
            longest: Longest::Skips(1024),
            ..DESCRIBING
        },
        &COPILOT_RUN,
    ),
    file: fact(Filing { unquoted_colon: Odd::Skips, ..FILING }, &COPILOT_RUN),
    honours_opt_out: fact(false, &COPILOT_RUN),
    asks_for_trust: fact(false, &COPILOT_RUN),
    differs: &[
        Difference { key: "bundled", text: "skills that come with the program are not predicted" },
        Difference { key: "plugins", text: "skills of installed plugins are not predicted" },
        Difference {
            key: "twins",
            text: "of two skills of one name in one folder it lists whichever the file system hands out first",
        },
    ],
};

const GEMINI: Host = Host {
    id: "gemini",
    name: "Gemini CLI",
    aliases: &["gemini-cli"],
    folders: &[
        folder(Here, ".agents/skills", &GEMINI_RUN),
        folder(Here, ".gemini/skills", &GEMINI_RUN),
        folder(Variable("GEMINI_CLI_HOME", ""), ".agents/skills", &GEMINI_RUN),
        folder(Variable("GEMINI_CLI_HOME", ""), ".gemini/skills", &GEMINI_RUN),
        folder(EachIn("GEMINI_CLI_HOME", ".gemini/extensions"), "skills", &GEMINI_RUN),
    ],
    walk: fact(Walk { takes_root: true, enters_skills: true, ..FLAT }, &GEMINI_RUN),
    outside: fact(Outside::Stays, &GEMINI_RUN),
    collisions: fact(Collisions::FirstWins, &GEMINI_RUN),
    naming: fact(
        Naming::Frontmatter(
            Field { missing: Odd::Skips, null: Odd::Keeps, empty: Odd::Keeps, number: Odd::Keeps, list: Odd::Keeps },
            None,
            Spaces::Stay,
        ),
        &GEMINI_RUN,
    ),
    description: fact(
        Describing {
            field: Field {
                missing: Odd::Skips,
                null: Odd::Keeps,
                empty: Odd::Keeps,
                number: Odd::Keeps,
                list: Odd::Keeps,
            },
            ..DESCRIBING
        },
        &GEMINI_RUN,
    ),
    file: fact(Filing { unclosed_bracket: Odd::Keeps, byte_order_mark: Odd::Skips, ..FILING }, &GEMINI_RUN),
    honours_opt_out: fact(false, &GEMINI_RUN),
    asks_for_trust: fact(true, &GEMINI_RUN),
    differs: &[
        Difference { key: "bundled", text: "skills that come with the program are not predicted" },
        Difference {
            key: "twins",
            text: "of two skills of one name in one folder it lists whichever the file system hands out last",
        },
    ],
};

const OPENCODE: Host = Host {
    id: "opencode",
    name: "OpenCode",
    aliases: &["opencode-ai"],
    folders: &[
        folder(VariableOnly("OPENCODE_CONFIG_DIR"), "skills", &OPENCODE_RUN),
        folder(VariableOnly("OPENCODE_CONFIG_DIR"), "skill", &OPENCODE_RUN),
        folder(Upward, ".opencode/skills", &OPENCODE_RUN),
        folder(Upward, ".opencode/skill", &OPENCODE_RUN),
        folder(Upward, ".claude/skills", &OPENCODE_RUN),
        folder(Upward, ".agents/skills", &OPENCODE_RUN),
        folder(Variable("XDG_CONFIG_HOME", ".config"), "opencode/skills", &OPENCODE_RUN),
        folder(Variable("XDG_CONFIG_HOME", ".config"), "opencode/skill", &OPENCODE_RUN),
        folder(Home, ".opencode/skills", &OPENCODE_RUN),
        folder(Home, ".opencode/skill", &OPENCODE_RUN),
        folder(Home, ".claude/skills", &OPENCODE_RUN),
        folder(Home, ".agents/skills", &OPENCODE_RUN),
    ],
    walk: fact(Walk { depth_max: 24, takes_root: true, enters_skills: true, enters_hidden: true }, &OPENCODE_RUN),
    outside: fact(Outside::Climbs, &OPENCODE_RUN),
    collisions: fact(Collisions::AnyWins, &OPENCODE_RUN),
    naming: fact(Naming::Frontmatter(Field { missing: Odd::Skips, ..STRINGS }, None, Spaces::Stay), &OPENCODE_RUN),
    description: fact(Describing { field: STRINGS, hides_missing: true, ..DESCRIBING }, &OPENCODE_RUN),
    file: fact(FILING, &OPENCODE_RUN),
    honours_opt_out: fact(false, &OPENCODE_RUN),
    asks_for_trust: fact(false, &OPENCODE_RUN),
    differs: &[
        Difference { key: "bundled", text: "skills that come with the program are not predicted" },
        Difference {
            key: "copies",
            text: "it reads folders at the same time and lists the copy of a name that it read last, not always the same",
        },
        Difference { key: "settings", text: "folders and addresses named in opencode.json are not read" },
    ],
};
