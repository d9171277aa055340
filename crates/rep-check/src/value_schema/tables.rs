//! The schema tables of each dialect.

use rep_model::names;

use super::{MappingSchema, UnknownFieldPolicy, ValueSchema};
use crate::{Profile, ProfileSet};

const TEXT_LIST: ValueSchema = ValueSchema::ListOf(&ValueSchema::Text);

/// The frontmatter schemas, with the profiles they apply to.
pub(super) static FRONTMATTER: &[(ProfileSet, &MappingSchema)] = &[
    (Profile::Universal.as_set(), &UNIVERSAL),
    (Profile::Pmcp.as_set(), &PMCP),
    (CLAUDE_FIELDS, &CLAUDE_CODE),
    (Profile::ClaudeCode.as_set(), &CLAUDE_CODE_TRIGGER),
];

/// The profiles that check the values of Claude Code's fields. agentskills.io does not define them, but a skill that
/// has them means what Claude Code means.
const CLAUDE_FIELDS: ProfileSet = ProfileSet::new(&[Profile::AgentSkills, Profile::Aam, Profile::ClaudeCode]);

/// Universal 2.1, Appendix A, without the constraints that the rules on names, descriptions and versions check.
static UNIVERSAL: MappingSchema = MappingSchema {
    required: &["spec_version", "version"],
    known: &[
        ("spec_version", ValueSchema::Text),
        ("name", ValueSchema::Text),
        ("description", ValueSchema::Text),
        ("version", ValueSchema::Text),
        ("tags", TEXT_LIST),
        ("when_to_use", ValueSchema::Fields(&WHEN_TO_USE)),
        ("permissions", ValueSchema::Fields(&PERMISSIONS)),
        ("safety", ValueSchema::AnyMapping),
        ("secrets", ValueSchema::Fields(&SECRETS)),
        ("tools", ValueSchema::ListOf(&ValueSchema::Fields(&TOOL))),
        ("host_overrides", ValueSchema::ListOf(&ValueSchema::Fields(&HOST_OVERRIDE))),
        ("evaluation", ValueSchema::AnyMapping),
        ("provenance", ValueSchema::AnyMapping),
        ("depends_on", TEXT_LIST),
        ("extensions", ValueSchema::AnyMapping),
    ],
    rest: UnknownFieldPolicy::Allowed,
};

static WHEN_TO_USE: MappingSchema = MappingSchema {
    required: &[],
    known: &[
        ("mentions", TEXT_LIST),
        ("file_types", TEXT_LIST),
        ("intents", TEXT_LIST),
        ("priority", ValueSchema::Integer { min: 0 }),
    ],
    rest: UnknownFieldPolicy::Refused,
};

static PERMISSIONS: MappingSchema = MappingSchema {
    required: &[],
    known: &[
        ("filesystem", ValueSchema::Fields(&FILESYSTEM)),
        ("network", ValueSchema::Fields(&NETWORK)),
        ("processes", ValueSchema::Fields(&PROCESSES)),
    ],
    rest: UnknownFieldPolicy::Refused,
};

static FILESYSTEM: MappingSchema = MappingSchema {
    required: &[],
    known: &[("read", TEXT_LIST), ("write", TEXT_LIST)],
    rest: UnknownFieldPolicy::Refused,
};
static NETWORK: MappingSchema =
    MappingSchema { required: &[], known: &[("outbound", TEXT_LIST)], rest: UnknownFieldPolicy::Refused };
static PROCESSES: MappingSchema = MappingSchema {
    required: &[],
    known: &[("allow_subprocess", ValueSchema::Boolean)],
    rest: UnknownFieldPolicy::Refused,
};

static SECRETS: MappingSchema = MappingSchema {
    required: &[],
    known: &[("required", ValueSchema::ListOf(&ValueSchema::Fields(&SECRET)))],
    rest: UnknownFieldPolicy::Refused,
};

static SECRET: MappingSchema = MappingSchema {
    required: &["name", "usage"],
    known: &[
        ("name", ValueSchema::Text),
        ("usage", ValueSchema::Choice(&["env"])),
        ("description", ValueSchema::Text),
        ("optional", ValueSchema::Boolean),
    ],
    rest: UnknownFieldPolicy::Refused,
};

static HOST_OVERRIDE: MappingSchema = MappingSchema {
    required: &["host", "config"],
    known: &[("host", ValueSchema::Text), ("config", ValueSchema::AnyMapping)],
    rest: UnknownFieldPolicy::Refused,
};

/// A tool, the same in the frontmatter and in `tools.json`.
static TOOL: MappingSchema = MappingSchema {
    required: &["name", "description", "input_schema", "implementation"],
    known: &[
        ("name", ValueSchema::TextOfLength { min: 1, max: 64 }),
        ("description", ValueSchema::TextOfLength { min: 1, max: 1024 }),
        ("input_schema", ValueSchema::AnyMapping),
        ("output_schema", ValueSchema::AnyMapping),
        ("confirmation", ValueSchema::Fields(&CONFIRMATION)),
        ("implementation", ValueSchema::Fields(&IMPLEMENTATION)),
    ],
    rest: UnknownFieldPolicy::Refused,
};

static CONFIRMATION: MappingSchema = MappingSchema {
    required: &[],
    known: &[
        ("level", ValueSchema::Choice(&["never", "always", "destructive_writes", "external_network"])),
        ("prompt", ValueSchema::Text),
    ],
    rest: UnknownFieldPolicy::Refused,
};

static IMPLEMENTATION: MappingSchema = MappingSchema {
    required: &["runtime", "entrypoint"],
    known: &[
        ("runtime", ValueSchema::Choice(&["python", "node", "bash"])),
        ("entrypoint", ValueSchema::Text),
        ("handler", ValueSchema::Text),
        ("timeout_seconds", ValueSchema::Integer { min: 1 }),
        ("dependencies", ValueSchema::Fields(&DEPENDENCIES)),
    ],
    rest: UnknownFieldPolicy::Refused,
};

static DEPENDENCIES: MappingSchema = MappingSchema {
    required: &[],
    known: &[("pip", TEXT_LIST), ("npm", TEXT_LIST), ("system", TEXT_LIST), ("notes", ValueSchema::Text)],
    rest: UnknownFieldPolicy::Refused,
};

/// Universal 2.1, Appendix B.
pub(super) static TOOLS_JSON: (ProfileSet, ValueSchema) =
    (Profile::Universal.as_set(), ValueSchema::ListOf(&ValueSchema::Fields(&TOOL)));

/// The x-personal-mcp models. Unknown fields are accepted, also inside the block.
static PMCP: MappingSchema = MappingSchema {
    required: &["x-personal-mcp"],
    known: &[
        ("name", ValueSchema::Text),
        ("description", ValueSchema::Text),
        ("when_to_use", ValueSchema::Nullable(&ValueSchema::Text)),
        ("allowed-tools", ValueSchema::Nullable(&ValueSchema::TextOrList)),
        ("disallowed-tools", ValueSchema::Nullable(&ValueSchema::TextOrList)),
        ("disable-model-invocation", ValueSchema::Nullable(&ValueSchema::Boolean)),
        ("user-invocable", ValueSchema::Nullable(&ValueSchema::Boolean)),
        ("argument-hint", ValueSchema::Nullable(&ValueSchema::Text)),
        ("arguments", ValueSchema::Nullable(&ValueSchema::TextOrList)),
        ("license", ValueSchema::Nullable(&ValueSchema::Text)),
        ("compatibility", ValueSchema::Nullable(&ValueSchema::Text)),
        ("x-personal-mcp", ValueSchema::Fields(&PMCP_BLOCK)),
    ],
    rest: UnknownFieldPolicy::Allowed,
};

/// The contract strips whitespace from text before validating it.
fn is_padded_id(text: &str) -> bool {
    names::is_lowercase_id(names::strip_whitespace(text))
}

static PMCP_BLOCK: MappingSchema = MappingSchema {
    required: &["id", "version", "capabilities"],
    known: &[
        (
            "id",
            ValueSchema::TextOfPattern {
                is: is_padded_id,
                pattern: r"^\s*[a-z][a-z0-9-]*\s*$",
                name: "lower-case letters, digits and hyphens, starting with a letter",
            },
        ),
        ("version", ValueSchema::Text),
        ("tags", TEXT_LIST),
        ("capabilities", ValueSchema::NonEmptyListOf(&ValueSchema::Text)),
        ("depends_on", TEXT_LIST),
        ("references", ValueSchema::MapOf(&ValueSchema::Fields(&PMCP_REFERENCE))),
    ],
    rest: UnknownFieldPolicy::Allowed,
};

static PMCP_REFERENCE: MappingSchema = MappingSchema {
    required: &["path"],
    known: &[
        ("path", ValueSchema::Text),
        ("mime_type", ValueSchema::Text),
        ("title", ValueSchema::Nullable(&ValueSchema::Text)),
        ("aliases", TEXT_LIST),
    ],
    rest: UnknownFieldPolicy::Allowed,
};

/// The fields that UAAPS and Claude Code define beyond the standard ones. Models and agents have any name.
static CLAUDE_CODE: MappingSchema = MappingSchema {
    required: &[],
    known: &[
        ("agent", ValueSchema::Text),
        ("argument-hint", ValueSchema::TextOrList),
        ("arguments", ValueSchema::TextOrList),
        ("background", ValueSchema::Boolean),
        ("context", ValueSchema::Choice(&["fork"])),
        ("disable-model-invocation", ValueSchema::Boolean),
        ("disallowed-tools", ValueSchema::TextOrList),
        ("effort", ValueSchema::Choice(&["low", "medium", "high", "xhigh", "max"])),
        ("hooks", ValueSchema::AnyMapping),
        ("model", ValueSchema::Text),
        ("paths", ValueSchema::TextOrList),
        ("shell", ValueSchema::Choice(&["bash", "powershell"])),
        ("user-invocable", ValueSchema::Boolean),
    ],
    rest: UnknownFieldPolicy::Allowed,
};

/// Claude Code reads `when_to_use` as text, while Universal 2.1 has a mapping there.
static CLAUDE_CODE_TRIGGER: MappingSchema =
    MappingSchema { required: &[], known: &[("when_to_use", ValueSchema::Text)], rest: UnknownFieldPolicy::Allowed };

const ENTITY: ValueSchema = ValueSchema::Fields(&MappingSchema {
    required: &["name"],
    known: &[
        ("name", ValueSchema::Text),
        ("format", ValueSchema::Text),
        ("created_by", TEXT_LIST),
        ("consumed_by", TEXT_LIST),
        ("invalidated_by", TEXT_LIST),
        ("properties", TEXT_LIST),
    ],
    rest: UnknownFieldPolicy::Allowed,
});

static ARGUMENT: ValueSchema = ValueSchema::Fields(&MappingSchema {
    required: &["name", "type"],
    known: &[
        ("name", ValueSchema::Text),
        ("type", ValueSchema::Text),
        ("required", ValueSchema::Boolean),
        ("default", ValueSchema::Any),
        ("description", ValueSchema::Text),
    ],
    rest: UnknownFieldPolicy::Allowed,
});

static FLAG: ValueSchema = ValueSchema::Fields(&MappingSchema {
    required: &["name", "type"],
    known: &[
        ("name", ValueSchema::Text),
        ("short", ValueSchema::Text),
        ("long", ValueSchema::Text),
        ("type", ValueSchema::Text),
        ("default", ValueSchema::Any),
        ("purpose", ValueSchema::Text),
        ("env", ValueSchema::Text),
    ],
    rest: UnknownFieldPolicy::Allowed,
});

static COMMAND: ValueSchema = ValueSchema::Fields(&MappingSchema {
    required: &["syntax"],
    known: &[
        ("syntax", ValueSchema::Text),
        ("description", ValueSchema::Text),
        ("aliases", TEXT_LIST),
        ("args", ValueSchema::ListOf(&ARGUMENT)),
        ("flags", ValueSchema::ListOf(&FLAG)),
        ("returns", ValueSchema::Text),
        ("requires", TEXT_LIST),
        ("creates", TEXT_LIST),
        ("invalidates", TEXT_LIST),
        ("note", ValueSchema::Text),
        ("variants", ValueSchema::ListOf(&VARIANT)),
    ],
    rest: UnknownFieldPolicy::Allowed,
});

static VARIANT: ValueSchema = ValueSchema::Fields(&MappingSchema {
    required: &[],
    known: &[("syntax", ValueSchema::Text), ("purpose", ValueSchema::Text)],
    rest: UnknownFieldPolicy::Allowed,
});

static WORKFLOW: ValueSchema = ValueSchema::Fields(&MappingSchema {
    required: &["description", "steps"],
    known: &[
        ("description", ValueSchema::Text),
        ("invariants", TEXT_LIST),
        ("steps", ValueSchema::ListOf(&STEP)),
        ("example", ValueSchema::Text),
    ],
    rest: UnknownFieldPolicy::Allowed,
});

static STEP: ValueSchema = ValueSchema::Fields(&MappingSchema {
    required: &["cmd"],
    known: &[("cmd", ValueSchema::Text), ("note", ValueSchema::Text), ("optional", ValueSchema::Boolean)],
    rest: UnknownFieldPolicy::Allowed,
});

static TEMPLATE: ValueSchema = ValueSchema::Fields(&MappingSchema {
    required: &["description"],
    known: &[
        ("description", ValueSchema::Text),
        ("usage", ValueSchema::Text),
        ("args", ValueSchema::ListOf(&ARGUMENT)),
        ("path", ValueSchema::Text),
        ("inline", ValueSchema::Text),
    ],
    rest: UnknownFieldPolicy::Allowed,
});

static PREFERENCE: ValueSchema = ValueSchema::Fields(&MappingSchema {
    required: &["use", "over"],
    known: &[("use", ValueSchema::Text), ("over", ValueSchema::Text), ("when", ValueSchema::Text)],
    rest: UnknownFieldPolicy::Allowed,
});

static DECISION: ValueSchema = ValueSchema::Fields(&MappingSchema {
    required: &["when", "then"],
    known: &[("when", ValueSchema::Text), ("then", ValueSchema::Text), ("ref", ValueSchema::Text)],
    rest: UnknownFieldPolicy::Allowed,
});

static SOURCE: ValueSchema = ValueSchema::Fields(&MappingSchema {
    required: &["id"],
    known: &[
        ("id", ValueSchema::Text),
        ("url", ValueSchema::Text),
        ("path", ValueSchema::Text),
        ("use_for", ValueSchema::Text),
    ],
    rest: UnknownFieldPolicy::Allowed,
});

const META: ValueSchema = ValueSchema::Fields(&MappingSchema {
    required: &["name", "version", "type"],
    known: &[
        (
            "name",
            ValueSchema::TextOfPattern {
                is: names::is_lowercase_id,
                pattern: "^[a-z][a-z0-9-]*$",
                name: "lower-case letters, digits and hyphens, starting with a letter",
            },
        ),
        ("version", ValueSchema::Text),
        ("type", ValueSchema::Choice(&["knowledge", "cli", "api", "hybrid"])),
        ("description", ValueSchema::TextOfLength { min: 0, max: 500 }),
    ],
    rest: UnknownFieldPolicy::Allowed,
});

const TRIGGERS: ValueSchema = ValueSchema::Fields(&MappingSchema {
    required: &[],
    known: &[("keywords", TEXT_LIST), ("intents", TEXT_LIST), ("file_patterns", TEXT_LIST)],
    rest: UnknownFieldPolicy::Allowed,
});

const CONSTRAINTS: ValueSchema = ValueSchema::Fields(&MappingSchema {
    required: &[],
    known: &[("never", TEXT_LIST), ("always", TEXT_LIST), ("prefer", ValueSchema::ListOf(&PREFERENCE))],
    rest: UnknownFieldPolicy::Allowed,
});

const STATE: ValueSchema = ValueSchema::Fields(&MappingSchema {
    required: &[],
    known: &[("entities", ValueSchema::ListOf(&ENTITY))],
    rest: UnknownFieldPolicy::Allowed,
});

/// Builds the root schema for one interpretation of `reference` and `environment`.
macro_rules! root {
    ($reference:expr, $environment:expr) => {
        ValueSchema::Fields(&MappingSchema {
            required: &["meta"],
            known: &[
                ("meta", META),
                ("triggers", TRIGGERS),
                ("constraints", CONSTRAINTS),
                ("decisions", ValueSchema::ListOf(&DECISION)),
                ("state", STATE),
                ("commands", ValueSchema::MapOf(&COMMAND)),
                ("global_flags", ValueSchema::ListOf(&FLAG)),
                ("workflows", ValueSchema::MapOf(&WORKFLOW)),
                ("reference", ValueSchema::MapOf($reference)),
                ("templates", ValueSchema::MapOf(&TEMPLATE)),
                ("environment", ValueSchema::ListOf($environment)),
                ("sources", ValueSchema::ListOf(&SOURCE)),
            ],
            rest: UnknownFieldPolicy::Allowed,
        })
    };
}

/// UASP §3.1 as its own examples require it: lists in `reference`, a null `default`.
pub(super) static UASP: ValueSchema = root!(
    &ValueSchema::Fields(&MappingSchema {
        required: &[],
        known: &[
            ("syntax", ValueSchema::Text),
            ("example", ValueSchema::Text),
            ("notes", ValueSchema::Text),
            ("values", TEXT_LIST),
        ],
        rest: UnknownFieldPolicy::Each(&ValueSchema::TextOrList),
    }),
    &ValueSchema::Fields(&MappingSchema {
        required: &["name", "purpose"],
        known: &[("name", ValueSchema::Text), ("purpose", ValueSchema::Text), ("default", ValueSchema::TextOrNull)],
        rest: UnknownFieldPolicy::Allowed,
    })
);

/// UASP §3.1 taken literally.
pub(super) static UASP_STRICT: ValueSchema = root!(
    &ValueSchema::Fields(&MappingSchema {
        required: &[],
        known: &[
            ("syntax", ValueSchema::Text),
            ("example", ValueSchema::Text),
            ("notes", ValueSchema::Text),
            ("values", TEXT_LIST),
        ],
        rest: UnknownFieldPolicy::Each(&ValueSchema::Text),
    }),
    &ValueSchema::Fields(&MappingSchema {
        required: &["name", "purpose"],
        known: &[("name", ValueSchema::Text), ("purpose", ValueSchema::Text), ("default", ValueSchema::Text)],
        rest: UnknownFieldPolicy::Allowed,
    })
);
