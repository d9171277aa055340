//! The subsets of JSON Schema hosts take, as data.

/// A subset of JSON Schema, and its limits.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// What people call it.
    pub name: &'static str,
    /// Where these facts are from.
    pub source: &'static str,
    /// The day they were looked at.
    pub checked: &'static str,
    /// Whether every property must be required, so that one that may be left out is one that may be null.
    pub(crate) requires_all: bool,
    /// Whether objects must be closed.
    pub(crate) closes_objects: bool,
    /// Whether a place may be left open to any value.
    pub(crate) allows_any: bool,
    /// Whether a schema may refer to itself.
    pub(crate) allows_recursion: bool,
    /// Keywords that narrow a value and are taken as they are.
    pub(crate) keywords: &'static [&'static str],
    /// Keywords that only tell, and are taken.
    pub(crate) annotations: &'static [&'static str],
    /// The words of `format` that are taken; any where there are none.
    pub(crate) formats: Option<&'static [&'static str]>,
    /// The largest `minItems`.
    pub(crate) min_items_max: Option<u64>,
    /// Whether the values of an `enum` may be lists and objects.
    pub(crate) allows_complex_enums: bool,
    /// Whether lists and truth values may stand in an `enum`.
    pub(crate) allows_bool_enums: bool,
    /// Limits of one schema; none where there is no limit.
    pub(crate) depth_max: Option<usize>,
    pub(crate) properties_max: Option<usize>,
    pub(crate) enum_values_max: Option<usize>,
    pub(crate) name_chars_max: Option<usize>,
    /// Limits of all schemas of one request.
    pub(crate) optionals_max: Option<usize>,
    pub(crate) unions_max: Option<usize>,
    /// The most tools in one request.
    pub tools_max: Option<usize>,
}

const CHECKED: &str = "2026-11-15";

/// OpenAI's function tools and structured outputs with `strict: true`.
pub static OPENAI: Dialect = Dialect {
    name: "OpenAI strict",
    source: "OpenAI structured outputs guide, supported schemas",
    checked: CHECKED,
    requires_all: true,
    closes_objects: true,
    allows_any: false,
    allows_recursion: true,
    keywords: &[
        "pattern",
        "format",
        "multipleOf",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minItems",
        "maxItems",
    ],
    annotations: &["title", "description"],
    formats: Some(&["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"]),
    min_items_max: None,
    allows_complex_enums: false,
    allows_bool_enums: true,
    depth_max: Some(10),
    properties_max: Some(5000),
    enum_values_max: Some(1000),
    name_chars_max: Some(120_000),
    optionals_max: None,
    unions_max: None,
    tools_max: None,
};

/// Anthropic's tools with `strict: true`.
pub static ANTHROPIC: Dialect = Dialect {
    name: "Anthropic strict",
    source: "Claude structured outputs guide, JSON Schema limitations",
    checked: CHECKED,
    requires_all: false,
    closes_objects: true,
    allows_any: false,
    allows_recursion: false,
    keywords: &["pattern", "format", "minItems"],
    annotations: &["title", "description", "default"],
    formats: Some(&["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"]),
    min_items_max: Some(1),
    allows_complex_enums: false,
    allows_bool_enums: true,
    depth_max: None,
    properties_max: None,
    enum_values_max: None,
    name_chars_max: None,
    optionals_max: Some(24),
    unions_max: Some(16),
    tools_max: Some(20),
};

/// Gemini's function declarations (`parametersJsonSchema`).
pub static GEMINI: Dialect = Dialect {
    name: "Gemini",
    source: "google-genai, FunctionDeclaration and Schema",
    checked: CHECKED,
    requires_all: false,
    closes_objects: false,
    allows_any: true,
    allows_recursion: false,
    keywords: &["format", "minItems", "maxItems", "minimum", "maximum", "prefixItems"],
    annotations: &["title", "description"],
    formats: None,
    min_items_max: None,
    allows_complex_enums: false,
    allows_bool_enums: false,
    depth_max: None,
    properties_max: None,
    enum_values_max: None,
    name_chars_max: None,
    optionals_max: None,
    unions_max: None,
    tools_max: None,
};
