//! The shapes the dialects demand of their data, as tables, and where a skill does not fit them.
//!
//! The tables state the JSON Schemas printed in the specifications (Universal 2.1 Appendix A
//! and B, UASP §3.1) and the x-personal-mcp models. What a dedicated rule checks (length and
//! letters of names, semver) is left out here, so that one fault is reported once.

mod tables;

use rep_model::suggestion::nearest_name;
use rep_model::yaml::{Node, core, pyyaml};
use rep_model::{Skill, Span, names};

use crate::data_path::join;
use crate::{Profile, ProfileSet};

/// A demand on a value.
pub(crate) enum Shape {
    /// Anything.
    Any,
    /// Text.
    Text,
    /// Text of so many code points.
    TextOf { min: usize, max: usize },
    /// Text with a pattern, which is named for people.
    TextLike { is: fn(&str) -> bool, name: &'static str },
    /// One of these words.
    Choice(&'static [&'static str]),
    /// `true` or `false`.
    Boolean,
    /// A whole number no smaller than this.
    Integer { min: i128 },
    /// A mapping of anything.
    Open,
    /// A mapping whose values all fit one shape.
    MapOf(&'static Shape),
    /// A list whose items all fit one shape.
    ListOf(&'static Shape),
    /// A list with at least one item.
    ListOfSome(&'static Shape),
    /// Text or a list of texts.
    TextOrList,
    /// What the shape says, or null.
    Nullable(&'static Shape),
    /// Text or null.
    TextOrNull,
    /// A mapping with these fields.
    Fields(&'static Fields),
}

/// The fields of a mapping.
pub(crate) struct Fields {
    pub(crate) required: &'static [&'static str],
    pub(crate) known: &'static [(&'static str, Shape)],
    pub(crate) rest: Rest,
}

/// What happens to fields that are not known.
pub(crate) enum Rest {
    /// They are refused.
    Refused,
    /// They are let through.
    Allowed,
    /// They must fit a shape.
    Each(&'static Shape),
}

/// How a value does not fit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Missing(&'static str),
    /// The field, and the known one most like it.
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

/// A value that does not fit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Misfit {
    pub(crate) file: String,
    pub(crate) span: Span,
    /// The data path, such as `tools[0].implementation.runtime`.
    pub(crate) path: String,
    /// The text of the value, where it is a scalar.
    pub(crate) text: Option<String>,
    pub(crate) kind: Kind,
    pub(crate) profiles: ProfileSet,
}

/// How scalars are typed while fitting.
#[derive(Clone, Copy, PartialEq)]
enum Typing {
    Core,
    Pyyaml,
}

/// Everything about a skill that does not fit the shapes of its dialects.
pub(crate) fn misfits(skill: &Skill, strict_schema: bool) -> Vec<Misfit> {
    let mut out = Vec::new();
    if let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) {
        for &(profiles, fields) in tables::FRONTMATTER {
            let mut fitting = Fitting { file: manifest.file, typing: Typing::Core, profiles, out: &mut out };
            fitting.fields(&front.root, fields, "");
        }
    }
    if let Some(root) = skill.tools_json.as_ref().and_then(|tools| tools.root.as_ref()) {
        let profiles = tables::TOOLS_JSON.0;
        let mut fitting = Fitting { file: "tools.json", typing: Typing::Core, profiles, out: &mut out };
        fitting.fit(root, &tables::TOOLS_JSON.1, "");
    }
    for uasp in &skill.uasp {
        // A root that is no mapping is `uasp-not-mapping`.
        let Some(root) = uasp.root.as_ref().filter(|root| root.entries().is_some()) else { continue };
        let typing = if strict_schema { Typing::Pyyaml } else { Typing::Core };
        let shape = if strict_schema { &tables::UASP_STRICT } else { &tables::UASP };
        let mut fitting = Fitting { file: &uasp.file, typing, profiles: Profile::Uasp.as_set(), out: &mut out };
        fitting.fit(root, shape, "");
    }
    out
}

struct Fitting<'a> {
    file: &'a str,
    typing: Typing,
    profiles: ProfileSet,
    out: &'a mut Vec<Misfit>,
}

impl Fitting<'_> {
    fn misfit(&mut self, node: &Node, path: &str, kind: Kind) {
        self.out.push(Misfit {
            file: self.file.to_owned(),
            span: node.span,
            path: path.to_owned(),
            text: node.text().map(str::to_owned),
            kind,
            profiles: self.profiles,
        });
    }

    fn kind(&self, node: &Node) -> &'static str {
        if self.typing == Typing::Core {
            return node.kind();
        }
        match pyyaml::scalar(node) {
            None => node.kind(),
            Some(pyyaml::Scalar::Null) => "null",
            Some(pyyaml::Scalar::Bool(_)) => "a boolean",
            Some(pyyaml::Scalar::Int(_) | pyyaml::Scalar::Float(_)) => "a number",
            Some(pyyaml::Scalar::Timestamp) => "a date",
            Some(pyyaml::Scalar::Text | pyyaml::Scalar::Merge | pyyaml::Scalar::Refused(_)) => "text",
        }
    }

    fn expect(&mut self, node: &Node, path: &str, expected: &'static str) -> bool {
        let found = self.kind(node);
        if found == expected {
            return true;
        }
        self.misfit(node, path, Kind::Type { expected, found });
        false
    }

    fn fit(&mut self, node: &Node, shape: &Shape, path: &str) {
        match shape {
            Shape::Any => {}
            Shape::Text => {
                self.expect(node, path, "text");
            }
            Shape::TextOf { min, max } => {
                if self.expect(node, path, "text") {
                    let found = names::length(node.text().unwrap_or(""));
                    if found < *min || found > *max {
                        self.misfit(node, path, Kind::Length { min: *min, max: *max, found });
                    }
                }
            }
            Shape::TextLike { is, name } => {
                if self.expect(node, path, "text") && !is(node.text().unwrap_or("")) {
                    self.misfit(node, path, Kind::Pattern(name));
                }
            }
            Shape::Choice(words) => {
                if self.expect(node, path, "text") && !words.contains(&node.text().unwrap_or("")) {
                    self.misfit(node, path, Kind::Choice(words));
                }
            }
            Shape::Boolean => {
                self.expect(node, path, "a boolean");
            }
            Shape::Integer { min } => self.integer(node, *min, path),
            Shape::Open => {
                self.expect(node, path, "a mapping");
            }
            Shape::MapOf(each) => {
                if self.expect(node, path, "a mapping") {
                    for entry in node.entries().unwrap_or(&[]) {
                        self.fit(&entry.value, each, &join(path, entry.key.text().unwrap_or("?")));
                    }
                }
            }
            Shape::ListOf(each) | Shape::ListOfSome(each) => self.list(node, shape, each, path),
            Shape::Nullable(inner) => {
                if self.kind(node) != "null" {
                    self.fit(node, inner, path);
                }
            }
            Shape::TextOrList => {
                if node.items().is_some() {
                    self.list(node, shape, &Shape::Text, path);
                } else {
                    self.expect(node, path, "text");
                }
            }
            Shape::TextOrNull => {
                if self.kind(node) != "null" {
                    self.expect(node, path, "text");
                }
            }
            Shape::Fields(fields) => {
                if self.expect(node, path, "a mapping") {
                    self.fields(node, fields, path);
                }
            }
        }
    }

    fn integer(&mut self, node: &Node, min: i128, path: &str) {
        if !self.expect(node, path, "a number") {
            return;
        }
        match core::scalar(node) {
            Some(core::Scalar::Int(value)) if value < min => self.misfit(node, path, Kind::TooSmall(min)),
            Some(core::Scalar::Float(value)) if value.fract() != 0.0 => {
                self.misfit(node, path, Kind::Type { expected: "a whole number", found: "a fraction" });
            }
            #[expect(clippy::cast_precision_loss, reason = "the bounds are small numbers")]
            Some(core::Scalar::Float(value)) if value < min as f64 => self.misfit(node, path, Kind::TooSmall(min)),
            _ => {}
        }
    }

    fn list(&mut self, node: &Node, shape: &Shape, each: &Shape, path: &str) {
        if !self.expect(node, path, "a list") {
            return;
        }
        let items = node.items().unwrap_or(&[]);
        if items.is_empty() && matches!(shape, Shape::ListOfSome(_)) {
            self.misfit(node, path, Kind::Empty);
        }
        for (index, item) in items.iter().enumerate() {
            self.fit(item, each, &format!("{path}[{index}]"));
        }
    }

    fn fields(&mut self, node: &Node, fields: &Fields, path: &str) {
        for field in fields.required {
            if node.entry(field).is_none() {
                // A fault about an absence points at the start of what lacks it.
                let mut parent = node.clone();
                parent.span = Span::at(node.span.start);
                self.misfit(&parent, path, Kind::Missing(field));
            }
        }
        for entry in node.entries().unwrap_or(&[]) {
            let key = entry.key.text().unwrap_or("?");
            let below = join(path, key);
            match fields.known.iter().find(|(name, _)| *name == key) {
                Some((_, shape)) => self.fit(&entry.value, shape, &below),
                None => match &fields.rest {
                    Rest::Refused => {
                        let nearest = nearest_name(key, fields.known.iter().map(|(name, _)| *name));
                        let kind = Kind::Unknown { field: key.to_owned(), nearest };
                        self.misfit(&entry.key, path, kind);
                    }
                    Rest::Allowed => {}
                    Rest::Each(shape) => self.fit(&entry.value, shape, &below),
                },
            }
        }
    }
}
