//! The subsets of JSON Schema that hosts support, as data.

/// A subset of JSON Schema, and its limits.
#[expect(clippy::struct_excessive_bools, reason = "each is an independent fact")]
#[derive(Clone, Copy, Debug)]
pub struct SchemaDialect {
    /// The product name of the subset.
    pub name: &'static str,
    /// The source of these facts.
    pub source: &'static str,
    /// The date on which the source was checked.
    pub checked: &'static str,
    /// Whether every property must be required, so that an optional property becomes a nullable one.
    pub(crate) requires_all: bool,
    /// Whether objects must forbid additional properties.
    pub(crate) closes_objects: bool,
    /// Whether a schema may accept any value.
    pub(crate) allows_any: bool,
    /// Whether a schema may refer to itself.
    pub(crate) allows_recursion: bool,
    /// The supported keywords that restrict values.
    pub(crate) keywords: &'static [&'static str],
    /// The supported annotation keywords.
    pub(crate) annotations: &'static [&'static str],
    /// The supported values of `format`, or `None` if all are supported.
    pub(crate) formats: Option<&'static [&'static str]>,
    /// The maximum value of `minItems`.
    pub(crate) min_items_max: Option<u64>,
    /// Whether an `enum` may contain lists and objects.
    pub(crate) allows_complex_enums: bool,
    /// Whether an `enum` may contain booleans and nulls.
    pub(crate) allows_bool_enums: bool,
    /// Limits of one schema, or `None` for unlimited.
    pub(crate) depth_max: Option<usize>,
    pub(crate) properties_max: Option<usize>,
    pub(crate) enum_values_max: Option<usize>,
    pub(crate) name_chars_max: Option<usize>,
    /// Limits of all schemas of one request.
    pub(crate) optionals_max: Option<usize>,
    pub(crate) unions_max: Option<usize>,
    /// The maximum number of tools in one request.
    pub tools_max: Option<usize>,
}

const CHECKED_DATE: &str = "2026-11-15";

/// OpenAI's function tools and structured outputs with `strict: true`.
pub static OPENAI: SchemaDialect = SchemaDialect {
    name: "OpenAI strict",
    source: "OpenAI structured outputs guide, supported schemas",
    checked: CHECKED_DATE,
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
pub static ANTHROPIC: SchemaDialect = SchemaDialect {
    name: "Anthropic strict",
    source: "Claude structured outputs guide, JSON Schema limitations",
    checked: CHECKED_DATE,
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
pub static GEMINI: SchemaDialect = SchemaDialect {
    name: "Gemini",
    source: "google-genai, FunctionDeclaration and Schema",
    checked: CHECKED_DATE,
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
