//! Schemas for the data of each dialect, and the values of a skill that violate them.
//!
//! The tables contain the JSON Schemas printed in the specifications (Universal 2.1 Appendix A
//! and B, UASP §3.1) and the x-personal-mcp models. Constraints with a dedicated rule (length and
//! characters of names, SemVer) are omitted, so that each fault is reported once.

pub(crate) mod json_schema;
mod tables;

use rep_model::suggestion::nearest_name;
use rep_model::yaml::{YamlNode, core, pyyaml};
use rep_model::{Skill, Span, names};

use crate::data_path::join_path;
use crate::{Profile, ProfileSet};

/// The schema of a value.
pub(crate) enum ValueSchema {
    /// Any value.
    Any,
    /// Text.
    Text,
    /// Text with at least `min` and at most `max` code points.
    TextOfLength { min: usize, max: usize },
    /// Text that matches a pattern, with the regular expression for schemas and a name for messages.
    TextOfPattern { is: fn(&str) -> bool, pattern: &'static str, name: &'static str },
    /// One of these words.
    Choice(&'static [&'static str]),
    /// `true` or `false`.
    Boolean,
    /// A whole number of at least `min`.
    Integer { min: i128 },
    /// Any mapping.
    AnyMapping,
    /// A mapping whose values all have one schema.
    MapOf(&'static ValueSchema),
    /// A list whose items all have one schema.
    ListOf(&'static ValueSchema),
    /// A list with at least one item.
    NonEmptyListOf(&'static ValueSchema),
    /// Text or a list of texts.
    TextOrList,
    /// A value of the schema, or null.
    Nullable(&'static ValueSchema),
    /// Text or null.
    TextOrNull,
    /// A mapping with these fields.
    Fields(&'static MappingSchema),
}

/// The fields of a mapping.
pub(crate) struct MappingSchema {
    pub(crate) required: &'static [&'static str],
    pub(crate) known: &'static [(&'static str, ValueSchema)],
    pub(crate) rest: UnknownFieldPolicy,
}

/// How unknown fields are treated.
pub(crate) enum UnknownFieldPolicy {
    /// They are rejected.
    Refused,
    /// They are accepted.
    Allowed,
    /// They must match a schema.
    Each(&'static ValueSchema),
}

/// How a value violates its schema.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ViolationKind {
    Missing(&'static str),
    /// An unknown field, and the most similar known one.
    Unknown {
        field: String,
        nearest: Option<&'static str>,
    },
    Type {
        expected: &'static str,
        found: &'static str,
    },
    Choice(&'static [&'static str]),
    Length {
        min: usize,
        max: usize,
        found: usize,
    },
    Pattern(&'static str),
    TooSmall(i128),
    Empty,
}

/// A value that violates its schema.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ValueViolation {
    pub(crate) file: String,
    pub(crate) span: Span,
    /// The data path, such as `tools[0].implementation.runtime`.
    pub(crate) path: String,
    /// The text of the value, if it is a scalar.
    pub(crate) text: Option<String>,
    pub(crate) kind: ViolationKind,
    pub(crate) profiles: ProfileSet,
}

/// How scalars are typed during validation.
#[derive(Clone, Copy, PartialEq)]
enum ScalarTyping {
    Core,
    Pyyaml,
}

/// Returns all values of a skill that violate the schemas of its dialects.
pub(crate) fn find_value_violations(skill: &Skill, strict_schema: bool) -> Vec<ValueViolation> {
    let mut out = Vec::new();
    if let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) {
        for &(profiles, fields) in tables::FRONTMATTER {
            let mut fitting =
                ValueValidator { file: manifest.file, typing: ScalarTyping::Core, profiles, out: &mut out };
            fitting.check_fields(&front.root, fields, "");
        }
    }
    if let Some(root) = skill.tools_json.as_ref().and_then(|tools| tools.root.as_ref()) {
        let profiles = tables::TOOLS_JSON.0;
        let mut fitting = ValueValidator { file: "tools.json", typing: ScalarTyping::Core, profiles, out: &mut out };
        fitting.check_value(root, &tables::TOOLS_JSON.1, "");
    }
    for uasp in &skill.uasp {
        // `uasp-not-mapping` reports a root that is not a mapping.
        let Some(root) = uasp.root.as_ref().filter(|root| root.entries().is_some()) else { continue };
        let typing = if strict_schema { ScalarTyping::Pyyaml } else { ScalarTyping::Core };
        let shape = if strict_schema { &tables::UASP_STRICT } else { &tables::UASP };
        let mut fitting = ValueValidator { file: &uasp.file, typing, profiles: Profile::Uasp.as_set(), out: &mut out };
        fitting.check_value(root, shape, "");
    }
    out
}

struct ValueValidator<'a> {
    file: &'a str,
    typing: ScalarTyping,
    profiles: ProfileSet,
    out: &'a mut Vec<ValueViolation>,
}

impl ValueValidator<'_> {
    fn add_violation(&mut self, node: &YamlNode, path: &str, kind: ViolationKind) {
        self.out.push(ValueViolation {
            file: self.file.to_owned(),
            span: node.span,
            path: path.to_owned(),
            text: node.text().map(str::to_owned),
            kind,
            profiles: self.profiles,
        });
    }

    fn describe_kind(&self, node: &YamlNode) -> &'static str {
        if self.typing == ScalarTyping::Core {
            return node.describe_kind();
        }
        match pyyaml::classify_scalar(node) {
            None => node.describe_kind(),
            Some(pyyaml::PyyamlScalar::Null) => "null",
            Some(pyyaml::PyyamlScalar::Bool(_)) => "a boolean",
            Some(pyyaml::PyyamlScalar::Int(_) | pyyaml::PyyamlScalar::Float(_)) => "a number",
            Some(pyyaml::PyyamlScalar::Timestamp) => "a date",
            Some(pyyaml::PyyamlScalar::Text | pyyaml::PyyamlScalar::Merge | pyyaml::PyyamlScalar::Refused(_)) => "text",
        }
    }

    fn expect_kind(&mut self, node: &YamlNode, path: &str, expected: &'static str) -> bool {
        let found = self.describe_kind(node);
        if found == expected {
            return true;
        }
        self.add_violation(node, path, ViolationKind::Type { expected, found });
        false
    }

    fn check_value(&mut self, node: &YamlNode, shape: &ValueSchema, path: &str) {
        match shape {
            ValueSchema::Any => {}
            ValueSchema::Text => {
                self.expect_kind(node, path, "text");
            }
            ValueSchema::TextOfLength { min, max } => {
                if self.expect_kind(node, path, "text") {
                    let found = names::count_chars(node.text().unwrap_or(""));
                    if found < *min || found > *max {
                        self.add_violation(node, path, ViolationKind::Length { min: *min, max: *max, found });
                    }
                }
            }
            ValueSchema::TextOfPattern { is, name, .. } => {
                if self.expect_kind(node, path, "text") && !is(node.text().unwrap_or("")) {
                    self.add_violation(node, path, ViolationKind::Pattern(name));
                }
            }
            ValueSchema::Choice(words) => {
                if self.expect_kind(node, path, "text") && !words.contains(&node.text().unwrap_or("")) {
                    self.add_violation(node, path, ViolationKind::Choice(words));
                }
            }
            ValueSchema::Boolean => {
                self.expect_kind(node, path, "a boolean");
            }
            ValueSchema::Integer { min } => self.check_integer(node, *min, path),
            ValueSchema::AnyMapping => {
                self.expect_kind(node, path, "a mapping");
            }
            ValueSchema::MapOf(each) => {
                if self.expect_kind(node, path, "a mapping") {
                    for entry in node.entries().unwrap_or(&[]) {
                        self.check_value(&entry.value, each, &join_path(path, entry.key.text().unwrap_or("?")));
                    }
                }
            }
            ValueSchema::ListOf(each) | ValueSchema::NonEmptyListOf(each) => self.check_list(node, shape, each, path),
            ValueSchema::Nullable(inner) => {
                if self.describe_kind(node) != "null" {
                    self.check_value(node, inner, path);
                }
            }
            ValueSchema::TextOrList => {
                if node.items().is_some() {
                    self.check_list(node, shape, &ValueSchema::Text, path);
                } else {
                    self.expect_kind(node, path, "text");
                }
            }
            ValueSchema::TextOrNull => {
                if self.describe_kind(node) != "null" {
                    self.expect_kind(node, path, "text");
                }
            }
            ValueSchema::Fields(fields) => {
                if self.expect_kind(node, path, "a mapping") {
                    self.check_fields(node, fields, path);
                }
            }
        }
    }

    fn check_integer(&mut self, node: &YamlNode, min: i128, path: &str) {
        if !self.expect_kind(node, path, "a number") {
            return;
        }
        match core::classify_scalar(node) {
            Some(core::CoreScalar::Int(value)) if value < min => {
                self.add_violation(node, path, ViolationKind::TooSmall(min));
            }
            Some(core::CoreScalar::Float(value)) if value.fract() != 0.0 => {
                self.add_violation(node, path, ViolationKind::Type { expected: "a whole number", found: "a fraction" });
            }
            #[expect(clippy::cast_precision_loss, reason = "the bounds are small numbers")]
            Some(core::CoreScalar::Float(value)) if value < min as f64 => {
                self.add_violation(node, path, ViolationKind::TooSmall(min));
            }
            _ => {}
        }
    }

    fn check_list(&mut self, node: &YamlNode, shape: &ValueSchema, each: &ValueSchema, path: &str) {
        if !self.expect_kind(node, path, "a list") {
            return;
        }
        let items = node.items().unwrap_or(&[]);
        if items.is_empty() && matches!(shape, ValueSchema::NonEmptyListOf(_)) {
            self.add_violation(node, path, ViolationKind::Empty);
        }
        for (index, item) in items.iter().enumerate() {
            self.check_value(item, each, &format!("{path}[{index}]"));
        }
    }

    fn check_fields(&mut self, node: &YamlNode, fields: &MappingSchema, path: &str) {
        for field in fields.required {
            if node.find_entry(field).is_none() {
                // A finding about a missing field points to the start of the mapping.
                let mut parent = node.clone();
                parent.span = Span::empty_at(node.span.start);
                self.add_violation(&parent, path, ViolationKind::Missing(field));
            }
        }
        for entry in node.entries().unwrap_or(&[]) {
            let key = entry.key.text().unwrap_or("?");
            let below = join_path(path, key);
            match fields.known.iter().find(|(name, _)| *name == key) {
                Some((_, shape)) => self.check_value(&entry.value, shape, &below),
                None => match &fields.rest {
                    UnknownFieldPolicy::Refused => {
                        let nearest = nearest_name(key, fields.known.iter().map(|(name, _)| *name));
                        let kind = ViolationKind::Unknown { field: key.to_owned(), nearest };
                        self.add_violation(&entry.key, path, kind);
                    }
                    UnknownFieldPolicy::Allowed => {}
                    UnknownFieldPolicy::Each(shape) => self.check_value(&entry.value, shape, &below),
                },
            }
        }
    }
}
