//! The tables: what each dialect demands of each field.

use rep_model::names;

use super::{Fields, Rest, Shape};
use crate::{Profile, ProfileSet};

const TEXTS: Shape = Shape::ListOf(&Shape::Text);

/// The frontmatter's tables: under which profiles, and what.
pub(super) static FRONTMATTER: &[(ProfileSet, &Fields)] = &[
    (Profile::Universal.as_set(), &UNIVERSAL),
    (Profile::Pmcp.as_set(), &PMCP),
    (ProfileSet::new(&[Profile::Aam, Profile::ClaudeCode]), &CLAUDE_CODE),
];

/// Universal 2.1, Appendix A, less what the rules on names, descriptions and versions check.
static UNIVERSAL: Fields = Fields {
    required: &["spec_version", "version"],
    known: &[
        ("spec_version", Shape::Text),
        ("name", Shape::Text),
        ("description", Shape::Text),
        ("version", Shape::Text),
        ("tags", TEXTS),
        ("when_to_use", Shape::Fields(&WHEN_TO_USE)),
        ("permissions", Shape::Fields(&PERMISSIONS)),
        ("safety", Shape::Open),
        ("secrets", Shape::Fields(&SECRETS)),
        ("tools", Shape::ListOf(&Shape::Fields(&TOOL))),
        ("host_overrides", Shape::ListOf(&Shape::Fields(&HOST_OVERRIDE))),
        ("evaluation", Shape::Open),
        ("provenance", Shape::Open),
        ("depends_on", TEXTS),
        ("extensions", Shape::Open),
    ],
    rest: Rest::Allowed,
};

static WHEN_TO_USE: Fields = Fields {
    required: &[],
    known: &[("mentions", TEXTS), ("file_types", TEXTS), ("intents", TEXTS), ("priority", Shape::Integer { min: 0 })],
    rest: Rest::Refused,
};

static PERMISSIONS: Fields = Fields {
    required: &[],
    known: &[
        ("filesystem", Shape::Fields(&FILESYSTEM)),
        ("network", Shape::Fields(&NETWORK)),
        ("processes", Shape::Fields(&PROCESSES)),
    ],
    rest: Rest::Refused,
};

static FILESYSTEM: Fields = Fields { required: &[], known: &[("read", TEXTS), ("write", TEXTS)], rest: Rest::Refused };
static NETWORK: Fields = Fields { required: &[], known: &[("outbound", TEXTS)], rest: Rest::Refused };
static PROCESSES: Fields =
    Fields { required: &[], known: &[("allow_subprocess", Shape::Boolean)], rest: Rest::Refused };

static SECRETS: Fields =
    Fields { required: &[], known: &[("required", Shape::ListOf(&Shape::Fields(&SECRET)))], rest: Rest::Refused };

static SECRET: Fields = Fields {
    required: &["name", "usage"],
    known: &[
        ("name", Shape::Text),
        ("usage", Shape::Choice(&["env"])),
        ("description", Shape::Text),
        ("optional", Shape::Boolean),
    ],
    rest: Rest::Refused,
};

static HOST_OVERRIDE: Fields = Fields {
    required: &["host", "config"],
    known: &[("host", Shape::Text), ("config", Shape::Open)],
    rest: Rest::Refused,
};

/// A tool, the same in the frontmatter and in `tools.json`.
static TOOL: Fields = Fields {
    required: &["name", "description", "input_schema", "implementation"],
    known: &[
        ("name", Shape::TextOf { min: 1, max: 64 }),
        ("description", Shape::TextOf { min: 1, max: 1024 }),
        ("input_schema", Shape::Open),
        ("output_schema", Shape::Open),
        ("confirmation", Shape::Fields(&CONFIRMATION)),
        ("implementation", Shape::Fields(&IMPLEMENTATION)),
    ],
    rest: Rest::Refused,
};

static CONFIRMATION: Fields = Fields {
    required: &[],
    known: &[
        ("level", Shape::Choice(&["never", "always", "destructive_writes", "external_network"])),
        ("prompt", Shape::Text),
    ],
    rest: Rest::Refused,
};

static IMPLEMENTATION: Fields = Fields {
    required: &["runtime", "entrypoint"],
    known: &[
        ("runtime", Shape::Choice(&["python", "node", "bash"])),
        ("entrypoint", Shape::Text),
        ("handler", Shape::Text),
        ("timeout_seconds", Shape::Integer { min: 1 }),
        ("dependencies", Shape::Fields(&DEPENDENCIES)),
    ],
    rest: Rest::Refused,
};

static DEPENDENCIES: Fields = Fields {
    required: &[],
    known: &[("pip", TEXTS), ("npm", TEXTS), ("system", TEXTS), ("notes", Shape::Text)],
    rest: Rest::Refused,
};

/// Universal 2.1, Appendix B.
pub(super) static TOOLS_JSON: (ProfileSet, Shape) = (Profile::Universal.as_set(), Shape::ListOf(&Shape::Fields(&TOOL)));

/// The x-personal-mcp models. Unknown fields are let through, inside the block too.
static PMCP: Fields = Fields {
    required: &["x-personal-mcp"],
    known: &[
        ("name", Shape::Text),
        ("description", Shape::Text),
        ("when_to_use", Shape::Nullable(&Shape::Text)),
        ("allowed-tools", Shape::Nullable(&Shape::TextOrList)),
        ("disallowed-tools", Shape::Nullable(&Shape::TextOrList)),
        ("disable-model-invocation", Shape::Nullable(&Shape::Boolean)),
        ("user-invocable", Shape::Nullable(&Shape::Boolean)),
        ("argument-hint", Shape::Nullable(&Shape::Text)),
        ("arguments", Shape::Nullable(&Shape::TextOrList)),
        ("license", Shape::Nullable(&Shape::Text)),
        ("compatibility", Shape::Nullable(&Shape::Text)),
        ("x-personal-mcp", Shape::Fields(&PMCP_BLOCK)),
    ],
    rest: Rest::Allowed,
};

/// The contract strips blanks from text before it looks.
fn is_padded_id(text: &str) -> bool {
    names::is_id(names::strip(text))
}

static PMCP_BLOCK: Fields = Fields {
    required: &["id", "version", "capabilities"],
    known: &[
        ("id", Shape::TextLike { is: is_padded_id, name: "lower-case letters, digits and hyphens, a letter first" }),
        ("version", Shape::Text),
        ("tags", TEXTS),
        ("capabilities", Shape::ListOfSome(&Shape::Text)),
        ("depends_on", TEXTS),
        ("references", Shape::MapOf(&Shape::Fields(&PMCP_REFERENCE))),
    ],
    rest: Rest::Allowed,
};

static PMCP_REFERENCE: Fields = Fields {
    required: &["path"],
    known: &[("path", Shape::Text), ("mime_type", Shape::Text), ("title", Shape::Nullable(&Shape::Text))],
    rest: Rest::Allowed,
};

/// The fields UAAPS and Claude Code type beyond the standard ones.
static CLAUDE_CODE: Fields = Fields {
    required: &[],
    known: &[
        ("context", Shape::Text),
        ("agent", Shape::Text),
        ("disable-model-invocation", Shape::Boolean),
        ("user-invocable", Shape::Boolean),
        ("argument-hint", Shape::Text),
        ("arguments", Shape::TextOrList),
    ],
    rest: Rest::Allowed,
};

const ENTITY: Shape = Shape::Fields(&Fields {
    required: &["name"],
    known: &[
        ("name", Shape::Text),
        ("format", Shape::Text),
        ("created_by", TEXTS),
        ("consumed_by", TEXTS),
        ("invalidated_by", TEXTS),
        ("properties", TEXTS),
    ],
    rest: Rest::Allowed,
});

static ARGUMENT: Shape = Shape::Fields(&Fields {
    required: &["name", "type"],
    known: &[
        ("name", Shape::Text),
        ("type", Shape::Text),
        ("required", Shape::Boolean),
        ("default", Shape::Any),
        ("description", Shape::Text),
    ],
    rest: Rest::Allowed,
});

static FLAG: Shape = Shape::Fields(&Fields {
    required: &["name", "type"],
    known: &[
        ("name", Shape::Text),
        ("short", Shape::Text),
        ("long", Shape::Text),
        ("type", Shape::Text),
        ("default", Shape::Any),
        ("purpose", Shape::Text),
        ("env", Shape::Text),
    ],
    rest: Rest::Allowed,
});

static COMMAND: Shape = Shape::Fields(&Fields {
    required: &["syntax"],
    known: &[
        ("syntax", Shape::Text),
        ("description", Shape::Text),
        ("aliases", TEXTS),
        ("args", Shape::ListOf(&ARGUMENT)),
        ("flags", Shape::ListOf(&FLAG)),
        ("returns", Shape::Text),
        ("requires", TEXTS),
        ("creates", TEXTS),
        ("invalidates", TEXTS),
        ("note", Shape::Text),
        ("variants", Shape::ListOf(&VARIANT)),
    ],
    rest: Rest::Allowed,
});

static VARIANT: Shape = Shape::Fields(&Fields {
    required: &[],
    known: &[("syntax", Shape::Text), ("purpose", Shape::Text)],
    rest: Rest::Allowed,
});

static WORKFLOW: Shape = Shape::Fields(&Fields {
    required: &["description", "steps"],
    known: &[
        ("description", Shape::Text),
        ("invariants", TEXTS),
        ("steps", Shape::ListOf(&STEP)),
        ("example", Shape::Text),
    ],
    rest: Rest::Allowed,
});

static STEP: Shape = Shape::Fields(&Fields {
    required: &["cmd"],
    known: &[("cmd", Shape::Text), ("note", Shape::Text), ("optional", Shape::Boolean)],
    rest: Rest::Allowed,
});

static TEMPLATE: Shape = Shape::Fields(&Fields {
    required: &["description"],
    known: &[
        ("description", Shape::Text),
        ("usage", Shape::Text),
        ("args", Shape::ListOf(&ARGUMENT)),
        ("path", Shape::Text),
        ("inline", Shape::Text),
    ],
    rest: Rest::Allowed,
});

static PREFERENCE: Shape = Shape::Fields(&Fields {
    required: &["use", "over"],
    known: &[("use", Shape::Text), ("over", Shape::Text), ("when", Shape::Text)],
    rest: Rest::Allowed,
});

static DECISION: Shape = Shape::Fields(&Fields {
    required: &["when", "then"],
    known: &[("when", Shape::Text), ("then", Shape::Text), ("ref", Shape::Text)],
    rest: Rest::Allowed,
});

static SOURCE: Shape = Shape::Fields(&Fields {
    required: &["id"],
    known: &[("id", Shape::Text), ("url", Shape::Text), ("path", Shape::Text), ("use_for", Shape::Text)],
    rest: Rest::Allowed,
});

const META: Shape = Shape::Fields(&Fields {
    required: &["name", "version", "type"],
    known: &[
        ("name", Shape::TextLike { is: names::is_id, name: "lower-case letters, digits and hyphens, a letter first" }),
        ("version", Shape::Text),
        ("type", Shape::Choice(&["knowledge", "cli", "api", "hybrid"])),
        ("description", Shape::TextOf { min: 0, max: 500 }),
    ],
    rest: Rest::Allowed,
});

const TRIGGERS: Shape = Shape::Fields(&Fields {
    required: &[],
    known: &[("keywords", TEXTS), ("intents", TEXTS), ("file_patterns", TEXTS)],
    rest: Rest::Allowed,
});

const CONSTRAINTS: Shape = Shape::Fields(&Fields {
    required: &[],
    known: &[("never", TEXTS), ("always", TEXTS), ("prefer", Shape::ListOf(&PREFERENCE))],
    rest: Rest::Allowed,
});

const STATE: Shape =
    Shape::Fields(&Fields { required: &[], known: &[("entities", Shape::ListOf(&ENTITY))], rest: Rest::Allowed });

/// Builds the root for one reading of `reference` and `environment`.
macro_rules! root {
    ($reference:expr, $environment:expr) => {
        Shape::Fields(&Fields {
            required: &["meta"],
            known: &[
                ("meta", META),
                ("triggers", TRIGGERS),
                ("constraints", CONSTRAINTS),
                ("decisions", Shape::ListOf(&DECISION)),
                ("state", STATE),
                ("commands", Shape::MapOf(&COMMAND)),
                ("global_flags", Shape::ListOf(&FLAG)),
                ("workflows", Shape::MapOf(&WORKFLOW)),
                ("reference", Shape::MapOf($reference)),
                ("templates", Shape::MapOf(&TEMPLATE)),
                ("environment", Shape::ListOf($environment)),
                ("sources", Shape::ListOf(&SOURCE)),
            ],
            rest: Rest::Allowed,
        })
    };
}

/// UASP §3.1 as its own examples need it: lists in `reference`, a null `default`.
pub(super) static UASP: Shape = root!(
    &Shape::Fields(&Fields {
        required: &[],
        known: &[("syntax", Shape::Text), ("example", Shape::Text), ("notes", Shape::Text), ("values", TEXTS),],
        rest: Rest::Each(&Shape::TextOrList),
    }),
    &Shape::Fields(&Fields {
        required: &["name", "purpose"],
        known: &[("name", Shape::Text), ("purpose", Shape::Text), ("default", Shape::TextOrNull)],
        rest: Rest::Allowed,
    })
);

/// UASP §3.1 to the letter.
pub(super) static UASP_STRICT: Shape = root!(
    &Shape::Fields(&Fields {
        required: &[],
        known: &[("syntax", Shape::Text), ("example", Shape::Text), ("notes", Shape::Text), ("values", TEXTS),],
        rest: Rest::Each(&Shape::Text),
    }),
    &Shape::Fields(&Fields {
        required: &["name", "purpose"],
        known: &[("name", Shape::Text), ("purpose", Shape::Text), ("default", Shape::Text)],
        rest: Rest::Allowed,
    })
);
