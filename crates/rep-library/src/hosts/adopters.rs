//! The hosts that the adopters list of agentskills.io names, and whose directories their documentation names.
//!
//! None of them was run. Facts that the documentation does not give follow the client guide of the specification.

use super::FolderBase::{Here, Home, Upward, Variable};
use super::table::{DEFAULT_DESCRIPTION_HANDLING, FLAT_SEARCH, NOT_RUN, describe_host, list_folder, state_fact};
use super::{
    DescriptionHandling, DescriptionLimit, DiscoveryHost, FactSource, FolderSearch, HostFolder, KnownDifference,
    NameSource, UpwardSearch,
};

const AUTOHAND_DOCS: FactSource = cite_source("autohandai/code-cli 122c3a3, docs/agent-skills.md");
const BUB_SOURCE: FactSource = cite_source("bubbuild/bub 87f04d3, src/bub/skills.py");
const COMMAND_CODE_DOCS: FactSource =
    cite_source("npm skills 1.7.4, docs/agents.md; addyosmani/agent-skills, docs/commandcode-setup.md");
const CORTEX_DOCS: FactSource = cite_source("npm skills 1.7.4, docs/agents.md");
const CORTEX_WORKSPACE_DOCS: FactSource =
    cite_source("https://docs.snowflake.com/user-guide/cortex-code/cortex-code-snowsight/skills-and-plugins");
const DATABRICKS_DOCS: FactSource = cite_source("https://docs.databricks.com/aws/en/genie-code/skills");
const DEEP_CODE_DOCS: FactSource = cite_source("lessweb/deepcode-cli 00ebc2d, README.md");
const EMDASH_DOCS: FactSource = cite_source("generalaction/emdash documentation, features/skills");
const FAST_AGENT_DOCS: FactSource = cite_source("https://fast-agent.ai/agents/skills/");
const FIREBENDER_DOCS: FactSource = cite_source("https://docs.firebender.com/api-reference/skills");
const FIREBENDER_SHARED: FactSource = cite_source("npm skills 1.7.4, docs/agents.md");
const HERMES_DOCS: FactSource = cite_source("https://hermes-agent.nousresearch.com/docs/user-guide/features/skills");
const JUNIE_DOCS: FactSource = cite_source("npm skills 1.7.4, docs/agents.md");
const LARAVEL_BOOST_DOCS: FactSource = cite_source("laravel/docs 149cdb5, boost.md, custom skills");
const LETTA_DOCS: FactSource = cite_source("https://docs.letta.com/configuration/skills");
const LETTA_SOURCE: FactSource = cite_source("letta-ai/letta-code 04f7dd4, src/agent/skills.ts");
const MUX_DOCS: FactSource = cite_source("coder/mux 05fc884, docs/agents/agent-skills.mdx");
const NANOBOT_DOCS: FactSource = cite_source("HKUDS/nanobot, skills/clawhub/SKILL.md and docs/configuration.md");
const ONA_DOCS: FactSource = cite_source("npm skills 1.7.4, docs/agents.md");
const OPENCLAW_DOCS: FactSource = cite_source("https://docs.openclaw.ai/tools/skills");
const OPENHANDS_DOCS: FactSource = cite_source("https://docs.openhands.dev/overview/skills");
const PI_DOCS: FactSource = cite_source("badlogic/pi-mono 11c1627, packages/coding-agent/docs/skills.md");
const ROO_DOCS: FactSource = cite_source("RooCodeInc/Roo-Code-Docs 5b75289, docs/features/skills.mdx");
const SPRING_AI_DOCS: FactSource = cite_source("spring-ai-community/spring-ai-agent-utils 04c3eee, docs/SkillsTool.md");
const TABNINE_DOCS: FactSource = cite_source("npm skills 1.7.4, docs/agents.md");
const TRAE_DOCS: FactSource = cite_source("npm skills 1.7.4, docs/agents.md; TRAE documentation, skills");
const VIBE_DOCS: FactSource = cite_source("mistralai/mistral-vibe 0088bc8, README.md, skill discovery");
const VTCODE_DOCS: FactSource = cite_source("vinhnx/VTCode 0404333, docs/skills/SKILLS_GUIDE.md");

const fn cite_source(text: &'static str) -> FactSource {
    FactSource { text, checked: "2026-11-18" }
}

/// Directories inside directories, without skills inside skills.
const DEEP_SEARCH: FolderSearch = FolderSearch { depth_max: 24, ..FLAT_SEARCH };

pub(super) const AUTOHAND: DiscoveryHost = DiscoveryHost {
    walk: state_fact(DEEP_SEARCH, &AUTOHAND_DOCS),
    ..describe_host("autohand", "Autohand Code CLI", &["autohand-code"], &AUTOHAND_FOLDERS)
};
static AUTOHAND_FOLDERS: [HostFolder; 10] = [
    list_folder(Here, ".autohand/skills", &AUTOHAND_DOCS),
    list_folder(Here, ".agents/skills", &AUTOHAND_DOCS),
    list_folder(Here, ".agent/skills", &AUTOHAND_DOCS),
    list_folder(Here, "skills", &AUTOHAND_DOCS),
    list_folder(Here, ".claude/skills", &AUTOHAND_DOCS),
    list_folder(Home, ".autohand/skills", &AUTOHAND_DOCS),
    list_folder(Home, ".agents/skills", &AUTOHAND_DOCS),
    list_folder(Home, ".agent/skills", &AUTOHAND_DOCS),
    list_folder(Home, ".claude/skills", &AUTOHAND_DOCS),
    list_folder(Home, ".codex/skills", &AUTOHAND_DOCS),
];

pub(super) const BUB: DiscoveryHost = DiscoveryHost {
    walk: state_fact(FLAT_SEARCH, &BUB_SOURCE),
    naming: state_fact(NameSource::SameAsFolder, &BUB_SOURCE),
    description: state_fact(
        DescriptionHandling { longest: DescriptionLimit::Skips(1024), ..DEFAULT_DESCRIPTION_HANDLING },
        &BUB_SOURCE,
    ),
    honours_opt_out: state_fact(false, &BUB_SOURCE),
    ..describe_host(
        "bub",
        "bub",
        &[],
        &[
            list_folder(Here, ".agents/skills", &BUB_SOURCE),
            list_folder(Here, ".agent/skills", &BUB_SOURCE),
            list_folder(Home, ".agents/skills", &BUB_SOURCE),
        ],
    )
};

pub(super) const COMMAND_CODE: DiscoveryHost = describe_host(
    "command-code",
    "Command Code",
    &["commandcode"],
    &[
        list_folder(Here, ".commandcode/skills", &COMMAND_CODE_DOCS),
        list_folder(Home, ".commandcode/skills", &COMMAND_CODE_DOCS),
    ],
);

pub(super) const CORTEX_CODE: DiscoveryHost = describe_host(
    "cortex-code",
    "Snowflake Cortex Code",
    &["cortex", "snowflake"],
    &[
        list_folder(Here, ".cortex/skills", &CORTEX_DOCS),
        list_folder(Here, ".snowflake/cortex/skills", &CORTEX_WORKSPACE_DOCS),
        list_folder(Home, ".snowflake/cortex/skills", &CORTEX_DOCS),
    ],
);

pub(super) const DATABRICKS: DiscoveryHost = DiscoveryHost {
    differs: &[
        NOT_RUN,
        KnownDifference {
            key: "workspace",
            text: "its directories are in the Databricks workspace: pass `--project /Workspace` and `--home \
                   /Workspace/Users/NAME`, or copy `.assistant/skills` there",
        },
    ],
    ..describe_host(
        "databricks",
        "Databricks Genie Code",
        &["genie-code"],
        &[
            list_folder(Here, ".assistant/skills", &DATABRICKS_DOCS),
            list_folder(Home, ".assistant/skills", &DATABRICKS_DOCS),
        ],
    )
};

pub(super) const DEEP_CODE: DiscoveryHost = describe_host(
    "deep-code",
    "Deep Code",
    &["deepcode"],
    &[
        list_folder(Here, ".deepcode/skills", &DEEP_CODE_DOCS),
        list_folder(Here, ".agents/skills", &DEEP_CODE_DOCS),
        list_folder(Home, ".deepcode/skills", &DEEP_CODE_DOCS),
        list_folder(Home, ".agents/skills", &DEEP_CODE_DOCS),
    ],
);

pub(super) const EMDASH: DiscoveryHost = DiscoveryHost {
    differs: &[
        NOT_RUN,
        KnownDifference {
            key: "central",
            text: "it links the skills of this directory into the directories of agents",
        },
    ],
    ..describe_host("emdash", "Emdash", &[], &[list_folder(Home, ".agentskills", &EMDASH_DOCS)])
};

pub(super) const FAST_AGENT: DiscoveryHost = describe_host(
    "fast-agent",
    "fast-agent",
    &[],
    &[
        list_folder(Here, ".fast-agent/skills", &FAST_AGENT_DOCS),
        list_folder(Here, ".agents/skills", &FAST_AGENT_DOCS),
        list_folder(Here, ".claude/skills", &FAST_AGENT_DOCS),
    ],
);

pub(super) const FIREBENDER: DiscoveryHost = describe_host(
    "firebender",
    "Firebender",
    &[],
    &[
        list_folder(Here, ".firebender/skills", &FIREBENDER_DOCS),
        list_folder(Here, ".agents/skills", &FIREBENDER_SHARED),
        list_folder(Home, ".firebender/skills", &FIREBENDER_DOCS),
    ],
);

pub(super) const HERMES: DiscoveryHost = DiscoveryHost {
    walk: state_fact(DEEP_SEARCH, &HERMES_DOCS),
    differs: &[
        NOT_RUN,
        KnownDifference { key: "settings", text: "directories named in `skills.external_dirs` are not read" },
    ],
    ..describe_host(
        "hermes",
        "Hermes Agent",
        &["hermes-agent"],
        &[list_folder(Variable("HERMES_HOME", ".hermes"), "skills", &HERMES_DOCS)],
    )
};

pub(super) const JUNIE: DiscoveryHost = describe_host(
    "junie",
    "Junie",
    &[],
    &[list_folder(Here, ".junie/skills", &JUNIE_DOCS), list_folder(Home, ".junie/skills", &JUNIE_DOCS)],
);

pub(super) const LARAVEL_BOOST: DiscoveryHost = DiscoveryHost {
    differs: &[
        NOT_RUN,
        KnownDifference {
            key: "copies",
            text: "`php artisan boost:update` copies the skills of this directory into the directories of agents",
        },
    ],
    ..describe_host("laravel-boost", "Laravel Boost", &[], &[list_folder(Here, ".ai/skills", &LARAVEL_BOOST_DOCS)])
};

pub(super) const LETTA: DiscoveryHost = DiscoveryHost {
    walk: state_fact(DEEP_SEARCH, &LETTA_SOURCE),
    differs: &[NOT_RUN, KnownDifference { key: "agent", text: "skills in the memory of an agent are not included" }],
    ..describe_host(
        "letta",
        "Letta",
        &["letta-code"],
        &[
            list_folder(Here, ".agents/skills", &LETTA_DOCS),
            list_folder(Here, ".skills", &LETTA_SOURCE),
            list_folder(Home, ".letta/skills", &LETTA_SOURCE),
        ],
    )
};

pub(super) const MISTRAL_VIBE: DiscoveryHost = DiscoveryHost {
    asks_for_trust: state_fact(true, &VIBE_DOCS),
    differs: &[
        NOT_RUN,
        KnownDifference { key: "settings", text: "directories named in `skill_paths` of config.toml are not read" },
    ],
    ..describe_host(
        "mistral-vibe",
        "Mistral Vibe",
        &["vibe"],
        &[
            list_folder(Here, ".agents/skills", &VIBE_DOCS),
            list_folder(Here, ".vibe/skills", &VIBE_DOCS),
            list_folder(Home, ".vibe/skills", &VIBE_DOCS),
            list_folder(Home, ".agents/skills", &VIBE_DOCS),
        ],
    )
};

pub(super) const MUX: DiscoveryHost = DiscoveryHost {
    naming: state_fact(NameSource::SameAsFolder, &MUX_DOCS),
    honours_opt_out: state_fact(true, &MUX_DOCS),
    ..describe_host(
        "mux",
        "Mux",
        &[],
        &[
            list_folder(Here, ".mux/skills", &MUX_DOCS),
            list_folder(Here, ".agents/skills", &MUX_DOCS),
            list_folder(Home, ".mux/skills", &MUX_DOCS),
            list_folder(Home, ".agents/skills", &MUX_DOCS),
        ],
    )
};

pub(super) const NANOBOT: DiscoveryHost =
    describe_host("nanobot", "nanobot", &[], &[list_folder(Home, ".nanobot/workspace/skills", &NANOBOT_DOCS)]);

pub(super) const ONA: DiscoveryHost = describe_host(
    "ona",
    "Ona",
    &[],
    &[list_folder(Here, ".ona/skills", &ONA_DOCS), list_folder(Home, ".ona/skills", &ONA_DOCS)],
);

pub(super) const OPENCLAW: DiscoveryHost = DiscoveryHost {
    walk: state_fact(FolderSearch { depth_max: 6, ..FLAT_SEARCH }, &OPENCLAW_DOCS),
    differs: &[
        NOT_RUN,
        KnownDifference { key: "settings", text: "directories named in `skills.load.extraDirs` are not read" },
    ],
    ..describe_host(
        "openclaw",
        "OpenClaw",
        &[],
        &[
            list_folder(Here, "skills", &OPENCLAW_DOCS),
            list_folder(Here, ".agents/skills", &OPENCLAW_DOCS),
            list_folder(Home, ".agents/skills", &OPENCLAW_DOCS),
            list_folder(Home, ".openclaw/skills", &OPENCLAW_DOCS),
        ],
    )
};

pub(super) const OPENHANDS: DiscoveryHost = describe_host(
    "openhands",
    "OpenHands",
    &[],
    &[
        list_folder(Here, ".agents/skills", &OPENHANDS_DOCS),
        list_folder(Here, ".openhands/skills", &OPENHANDS_DOCS),
        list_folder(Home, ".openhands/skills", &OPENHANDS_DOCS),
    ],
);

pub(super) const PI: DiscoveryHost = DiscoveryHost {
    walk: state_fact(DEEP_SEARCH, &PI_DOCS),
    outside: state_fact(UpwardSearch::UpToRoot, &PI_DOCS),
    honours_opt_out: state_fact(true, &PI_DOCS),
    differs: &[
        NOT_RUN,
        KnownDifference {
            key: "settings",
            text: "skills of packages and of `skills` in settings.json are not included",
        },
    ],
    ..describe_host(
        "pi",
        "Pi",
        &["pi-coding-agent"],
        &[
            list_folder(Home, ".pi/agent/skills", &PI_DOCS),
            list_folder(Home, ".agents/skills", &PI_DOCS),
            list_folder(Here, ".pi/skills", &PI_DOCS),
            list_folder(Upward, ".agents/skills", &PI_DOCS),
        ],
    )
};

pub(super) const ROO: DiscoveryHost = DiscoveryHost {
    naming: state_fact(NameSource::SameAsFolder, &ROO_DOCS),
    differs: &[
        NOT_RUN,
        KnownDifference { key: "modes", text: "skills for one mode only, in `skills-MODE`, are not included" },
    ],
    ..describe_host(
        "roo",
        "Roo Code",
        &["roo-code"],
        &[list_folder(Here, ".roo/skills", &ROO_DOCS), list_folder(Home, ".roo/skills", &ROO_DOCS)],
    )
};

pub(super) const SPRING_AI: DiscoveryHost = DiscoveryHost {
    differs: &[
        NOT_RUN,
        KnownDifference {
            key: "application",
            text: "each application names its directories; these are the ones that the documentation uses",
        },
    ],
    ..describe_host(
        "spring-ai",
        "Spring AI",
        &[],
        &[list_folder(Here, ".claude/skills", &SPRING_AI_DOCS), list_folder(Home, ".claude/skills", &SPRING_AI_DOCS)],
    )
};

pub(super) const TABNINE: DiscoveryHost = describe_host(
    "tabnine",
    "Tabnine CLI",
    &["tabnine-cli"],
    &[
        list_folder(Here, ".tabnine/agent/skills", &TABNINE_DOCS),
        list_folder(Home, ".tabnine/agent/skills", &TABNINE_DOCS),
    ],
);

pub(super) const TRAE: DiscoveryHost = describe_host(
    "trae",
    "TRAE",
    &[],
    &[list_folder(Here, ".trae/skills", &TRAE_DOCS), list_folder(Home, ".trae/skills", &TRAE_DOCS)],
);

pub(super) const VTCODE: DiscoveryHost = DiscoveryHost {
    walk: state_fact(DEEP_SEARCH, &VTCODE_DOCS),
    ..describe_host(
        "vtcode",
        "VT Code",
        &["vt-code"],
        &[
            list_folder(Home, ".vtcode/skills", &VTCODE_DOCS),
            list_folder(Here, ".agents/skills", &VTCODE_DOCS),
            list_folder(Here, ".vtcode/skills", &VTCODE_DOCS),
            list_folder(Home, ".pi/skills", &VTCODE_DOCS),
            list_folder(Here, ".pi/skills", &VTCODE_DOCS),
            list_folder(Home, ".claude/skills", &VTCODE_DOCS),
            list_folder(Here, ".claude/skills", &VTCODE_DOCS),
            list_folder(Home, ".codex/skills", &VTCODE_DOCS),
        ],
    )
};
