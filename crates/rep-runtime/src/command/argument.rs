//! The arguments and flags of a command, their types, and the conversion of JSON values to words.

use rep_model::SkillDocument;
use rep_model::uasp::UaspArgument;
use serde_json::{Map, Value};

use super::BindError;

/// The maximum number of words for one argument.
const ITEMS_MAX: usize = 10_000;
/// The maximum length of a word that a program can receive, with room for what the kernel adds.
pub(super) const WORD_BYTES_MAX: usize = 128 << 10;

/// The type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParameterKind {
    /// Text, a number or a boolean: no type is declared.
    Any,
    Text,
    Int,
    Number,
    Bool,
    /// Any JSON value, as one word of JSON.
    Json,
}

/// An argument or flag.
#[derive(Clone, Debug)]
pub(crate) struct CommandParameter {
    /// The keys it may be given by; the first one is its name.
    pub(crate) keys: Vec<String>,
    pub(super) kind: ParameterKind,
    pub(crate) is_list: bool,
    /// The allowed values; empty for any.
    pub(crate) values: Vec<String>,
    /// The format of a reference: `@e{n}`.
    pub(super) format: Option<String>,
    pub(crate) default: Option<Value>,
    /// The variable that provides its value if it is not given.
    pub(super) env: Option<String>,
    /// Whether the author marks it as required; `None` if unspecified.
    pub(crate) is_required: Option<bool>,
    /// Its spelling, if it is a flag.
    pub(super) spelling: Option<String>,
    /// Whether it applies to every command.
    pub(super) is_global: bool,
    /// Whether its definition has a type.
    pub(crate) is_typed: bool,
}

impl CommandParameter {
    /// Returns the name used in messages.
    pub(crate) fn name(&self) -> &str {
        self.keys.first().map_or("", String::as_str)
    }

    /// Creates a parameter that the syntax shows but no definition declares.
    pub(super) fn from_syntax(keys: Vec<String>, values: Vec<String>, is_list: bool) -> Self {
        Self {
            keys,
            kind: ParameterKind::Any,
            is_list,
            values,
            format: None,
            default: None,
            env: None,
            is_required: None,
            spelling: None,
            is_global: false,
            is_typed: false,
        }
    }

    /// Reads a definition of `args`, `flags` or `global_flags`.
    pub(crate) fn from_definition(
        definition: &UaspArgument,
        document: &SkillDocument,
        is_flag: bool,
        is_global: bool,
    ) -> Option<Self> {
        let name = definition.name.as_deref()?.trim();
        let (long, short) = (definition.long.as_deref(), definition.short.as_deref());
        let is_flag = is_flag || name.starts_with('-');
        let mut keys = Vec::new();
        for key in [Some(name), long, short].into_iter().flatten().map(str::trim).filter(|key| !key.is_empty()) {
            keys.push(key.to_owned());
            let bare = key.trim_start_matches('-');
            if is_flag && bare != key && !bare.is_empty() {
                keys.push(bare.to_owned());
            }
        }
        let word = definition.kind.as_deref().unwrap_or_default().trim().to_lowercase();
        let (kind, is_list) = parse_kind(&word);
        let dashed = || if name.chars().count() == 1 { format!("-{name}") } else { format!("--{name}") };
        Some(Self {
            kind,
            is_list,
            values: definition.values.iter().map(render_scalar).collect(),
            format: (word == "ref").then(|| find_reference_format(name, document)).flatten(),
            default: definition.default.clone(),
            env: definition.env.as_deref().map(|name| name.trim().to_owned()),
            is_required: definition.is_required,
            spelling: is_flag.then(|| if name.starts_with('-') { name.to_owned() } else { dashed() }),
            is_global,
            is_typed: !word.is_empty(),
            keys,
        })
    }

    /// Returns its JSON Schema. Unspecified properties are omitted.
    pub(super) fn to_json_schema(&self) -> Map<String, Value> {
        let kind = match self.kind {
            ParameterKind::Text => Some("string"),
            ParameterKind::Int => Some("integer"),
            ParameterKind::Number => Some("number"),
            ParameterKind::Bool => Some("boolean"),
            ParameterKind::Any | ParameterKind::Json => None,
        };
        let mut one = Map::new();
        one.extend(kind.map(|kind| ("type".to_owned(), kind.into())));
        if !self.values.is_empty() {
            one.insert("enum".to_owned(), self.values.iter().map(|value| self.parse_text(value)).collect());
        }
        let mut schema = one;
        if self.is_list {
            let items = std::mem::take(&mut schema);
            schema.insert("type".to_owned(), "array".into());
            schema.insert("items".to_owned(), Value::Object(items));
        }
        schema.extend(self.default.clone().map(|default| ("default".to_owned(), default)));
        schema
    }

    /// Returns whether it must be given: the author requires it, and it has no default.
    pub(super) fn is_needed(&self) -> bool {
        self.is_required == Some(true) && self.default.is_none() && self.env.is_none()
    }

    /// Converts a value to words; none if it must be omitted.
    pub(super) fn to_words(&self, value: &Value) -> Result<Vec<String>, BindError> {
        self.map_items(value, |item| self.to_word(item))
    }

    /// Converts a value to texts: one, or one per list item.
    pub(crate) fn to_texts(&self, value: &Value) -> Result<Vec<String>, BindError> {
        self.map_items(value, |item| self.to_text(item))
    }

    fn map_items(
        &self,
        value: &Value,
        one: impl Fn(&Value) -> Result<String, BindError>,
    ) -> Result<Vec<String>, BindError> {
        let refuse = |what: String, remedy: &str| Err(BindError::invalid_argument(self.name(), what, remedy));
        if !self.is_list {
            return Ok(vec![one(value)?]);
        }
        let Some(items) = value.as_array() else {
            return refuse(
                format!("is {}, not a list", render_short_value(value)),
                "write a list with one item per word",
            );
        };
        if items.len() > ITEMS_MAX {
            return refuse(format!("has more than {ITEMS_MAX} items"), "give fewer");
        }
        items.iter().map(one).collect()
    }

    /// Converts a value to one word of an argument vector.
    fn to_word(&self, value: &Value) -> Result<String, BindError> {
        let word = self.to_text(value)?;
        let refuse = |what: String, remedy: &str| Err(BindError::invalid_argument(self.name(), what, remedy));
        if word.contains('\0') {
            return refuse("contains a NUL byte, which no program can receive".to_owned(), "remove it");
        }
        if word.len() >= WORD_BYTES_MAX {
            return refuse(format!("has {} bytes, more than a program can receive", word.len()), "pass a file instead");
        }
        Ok(word)
    }

    /// Converts a value to text, if it has the declared type and is one of the allowed values.
    fn to_text(&self, value: &Value) -> Result<String, BindError> {
        let refuse = |what: String, remedy: &str| Err(BindError::invalid_argument(self.name(), what, remedy));
        let wrong = |kind: &str, remedy: &str| refuse(format!("is {}, not {kind}", render_short_value(value)), remedy);
        let word = match (self.kind, value) {
            (ParameterKind::Text | ParameterKind::Any, Value::String(text)) => text.clone(),
            (ParameterKind::Any, Value::Number(_) | Value::Bool(_)) | (ParameterKind::Bool, Value::Bool(_)) => {
                render_scalar(value)
            }
            (ParameterKind::Number, Value::Number(number)) => number.to_string(),
            (ParameterKind::Int, Value::Number(number)) => match format_whole_number(number) {
                Some(text) => text,
                None => return wrong("a whole number", "write a whole number"),
            },
            (ParameterKind::Json, value) => value.to_string(),
            (ParameterKind::Text, _) if !self.values.is_empty() => render_scalar(value),
            (ParameterKind::Text, _) => return wrong("text", "write it in quotes"),
            (ParameterKind::Int, _) => return wrong("a whole number", "write a whole number, without quotes"),
            (ParameterKind::Number, _) => return wrong("a number", "write a number, without quotes"),
            (ParameterKind::Bool, _) => return wrong("true or false", "write true or false, without quotes"),
            (ParameterKind::Any, _) => return wrong("one word", "write text, a number, true or false"),
        };
        if !self.values.is_empty() && !self.values.contains(&word) {
            let remedy = format!("use one of {}", self.values.join(", "));
            return refuse(format!("is {}, which is not one of its values", render_short_value(value)), &remedy);
        }
        if let Some(format) = self.format.as_ref().filter(|format| !matches_format(format, &word)) {
            return refuse(
                format!("is {}, which does not match `{format}`", render_short_value(value)),
                "use a reference returned by a command",
            );
        }
        Ok(word)
    }

    /// Parses the text of a variable or workflow step as a JSON value of this type.
    pub(crate) fn parse_text(&self, text: &str) -> Value {
        let number = || text.parse::<serde_json::Number>().ok().map(Value::Number);
        match self.kind {
            ParameterKind::Int | ParameterKind::Number => number(),
            ParameterKind::Bool => match text.to_lowercase().as_str() {
                "1" | "true" | "yes" | "on" => Some(Value::Bool(true)),
                "" | "0" | "false" | "no" | "off" => Some(Value::Bool(false)),
                _ => None,
            },
            ParameterKind::Json => serde_json::from_str(text).ok(),
            ParameterKind::Any | ParameterKind::Text => None,
        }
        .unwrap_or_else(|| Value::String(text.to_owned()))
    }
}

/// Parses the name of a type, and whether it is a list.
fn parse_kind(word: &str) -> (ParameterKind, bool) {
    let inner = word
        .strip_suffix("[]")
        .or_else(|| ["array<", "list<", "array[", "list["].iter().find_map(|start| word.strip_prefix(start)));
    if let Some(inner) = inner {
        return (parse_kind(inner.trim_end_matches(['>', ']'])).0, true);
    }
    match word {
        "array" | "list" => (ParameterKind::Any, true),
        "strings" => (ParameterKind::Text, true),
        "int" | "integer" => (ParameterKind::Int, false),
        "number" | "float" | "double" | "decimal" => (ParameterKind::Number, false),
        "bool" | "boolean" | "switch" => (ParameterKind::Bool, false),
        "object" | "json" | "map" | "dict" => (ParameterKind::Json, false),
        "" | "any" => (ParameterKind::Any, false),
        _ => (ParameterKind::Text, false),
    }
}

/// Finds the format of the entity that a reference refers to: the one with its name, otherwise the only one
/// with a format.
fn find_reference_format(name: &str, document: &SkillDocument) -> Option<String> {
    let entities = document.sections.state.entities.iter();
    let formed: Vec<(&str, &str)> =
        entities.filter_map(|entity| Some((entity.name.as_deref()?, entity.format.as_deref()?))).collect();
    let own = formed.iter().find(|(entity, _)| *entity == name);
    let only = || formed.first().filter(|_| formed.len() == 1);
    own.or_else(only).map(|(_, format)| (*format).to_owned())
}

/// Returns whether a word matches a format: `{n}` matches digits, any other `{…}` matches non-blank
/// characters.
pub(crate) fn matches_format(format: &str, word: &str) -> bool {
    const FORMAT_CHARS_MAX: usize = 256;
    if format.chars().count() > FORMAT_CHARS_MAX {
        return format == word;
    }
    let pieces = parse_format(format);
    // The positions in the format that the characters so far can reach; `true` marks a reachable one.
    let mut places = vec![false; pieces.len() + 1];
    places[0] = true;
    for letter in word.chars() {
        let mut next = vec![false; pieces.len() + 1];
        for (at, piece) in pieces.iter().enumerate() {
            let is_fit = match piece {
                FormatPart::Letter(own) => *own == letter,
                FormatPart::Digits => letter.is_ascii_digit(),
                FormatPart::Any => !letter.is_whitespace(),
            };
            let goes_on = !matches!(piece, FormatPart::Letter(_)) && places[at + 1];
            next[at + 1] |= is_fit && (places[at] || goes_on);
        }
        places = next;
    }
    places[pieces.len()]
}

/// A part of a format.
enum FormatPart {
    Letter(char),
    Digits,
    Any,
}

fn parse_format(format: &str) -> Vec<FormatPart> {
    let mut pieces = Vec::new();
    let mut rest = format;
    while let Some(letter) = rest.chars().next() {
        let slot = rest.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        if let Some((name, after)) = slot {
            pieces.push(if name == "n" { FormatPart::Digits } else { FormatPart::Any });
            rest = after;
        } else {
            pieces.push(FormatPart::Letter(letter));
            rest = &rest[letter.len_utf8()..];
        }
    }
    pieces
}

/// Formats a number without a fraction.
fn format_whole_number(number: &serde_json::Number) -> Option<String> {
    if number.is_i64() || number.is_u64() {
        return Some(number.to_string());
    }
    let value = number.as_f64().filter(|value| value.fract() == 0.0 && value.abs() < 9e15)?;
    Some(format!("{value:.0}"))
}

/// Renders a scalar as it is written.
pub(super) fn render_scalar(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Renders a value for a message.
fn render_short_value(value: &Value) -> String {
    const SHOWN_CHARS_MAX: usize = 60;
    rep_model::truncate::truncate_with_ellipsis(&value.to_string(), SHOWN_CHARS_MAX).into_owned()
}
