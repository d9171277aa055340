//! What a command takes: its arguments and flags, their types, and one JSON value made words.

use rep_model::Document;
use rep_model::uasp::Argument;
use serde_json::{Map, Value};

use super::BindError;

/// The most words one argument may become.
const ITEMS_MAX: usize = 10_000;
/// The longest word a program can be given, and room for what the kernel adds.
pub(super) const WORD_BYTES_MAX: usize = 128 << 10;

/// What a value must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Text, a number or a truth: nothing was said.
    Any,
    Text,
    Int,
    Number,
    Bool,
    /// Any JSON, as one word of JSON.
    Json,
}

/// One argument or flag.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    /// The keys it may be given by; the first is its name.
    pub(crate) keys: Vec<String>,
    pub(super) kind: Kind,
    pub(crate) is_list: bool,
    /// The only values it takes; any where empty.
    pub(crate) values: Vec<String>,
    /// What a reference looks like: `@e{n}`.
    pub(super) format: Option<String>,
    pub(crate) default: Option<Value>,
    /// The variable it comes from where it is not given.
    pub(super) env: Option<String>,
    /// Whether the author says that it is needed; `None` where he says nothing.
    pub(crate) is_required: Option<bool>,
    /// How it is written, where it is a flag.
    pub(super) spelling: Option<String>,
    /// Whether it belongs to every command.
    pub(super) is_global: bool,
    /// Whether its definition gives a type.
    pub(crate) is_typed: bool,
}

impl Parameter {
    /// The name it is told by.
    pub(crate) fn name(&self) -> &str {
        self.keys.first().map_or("", String::as_str)
    }

    /// One that the syntax shows and nobody declares.
    pub(super) fn implied(keys: Vec<String>, values: Vec<String>, is_list: bool) -> Self {
        Self {
            keys,
            kind: Kind::Any,
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
    pub(crate) fn of(definition: &Argument, document: &Document, is_flag: bool, is_global: bool) -> Option<Self> {
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
        let (kind, is_list) = kind(&word);
        let dashed = || if name.chars().count() == 1 { format!("-{name}") } else { format!("--{name}") };
        Some(Self {
            kind,
            is_list,
            values: definition.values.iter().map(plain).collect(),
            format: (word == "ref").then(|| format_of(name, document)).flatten(),
            default: definition.default.clone(),
            env: definition.env.as_deref().map(|name| name.trim().to_owned()),
            is_required: definition.is_required,
            spelling: is_flag.then(|| if name.starts_with('-') { name.to_owned() } else { dashed() }),
            is_global,
            is_typed: !word.is_empty(),
            keys,
        })
    }

    /// What it takes, as JSON Schema. What the author leaves open is left open.
    pub(super) fn schema(&self) -> Map<String, Value> {
        let kind = match self.kind {
            Kind::Text => Some("string"),
            Kind::Int => Some("integer"),
            Kind::Number => Some("number"),
            Kind::Bool => Some("boolean"),
            Kind::Any | Kind::Json => None,
        };
        let mut one = Map::new();
        one.extend(kind.map(|kind| ("type".to_owned(), kind.into())));
        if !self.values.is_empty() {
            one.insert("enum".to_owned(), self.values.iter().map(|value| self.read(value)).collect());
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

    /// Whether it must be given: the author says so, and nothing stands in for it.
    pub(super) fn is_needed(&self) -> bool {
        self.is_required == Some(true) && self.default.is_none() && self.env.is_none()
    }

    /// The words of a value; none where it must be left out.
    pub(super) fn words(&self, value: &Value) -> Result<Vec<String>, BindError> {
        self.each(value, |item| self.word(item))
    }

    /// The texts of a value: one, or one for each item of a list.
    pub(crate) fn texts(&self, value: &Value) -> Result<Vec<String>, BindError> {
        self.each(value, |item| self.text(item))
    }

    fn each(&self, value: &Value, one: impl Fn(&Value) -> Result<String, BindError>) -> Result<Vec<String>, BindError> {
        let refuse = |what: String, remedy: &str| Err(BindError::argument(self.name(), what, remedy));
        if !self.is_list {
            return Ok(vec![one(value)?]);
        }
        let Some(items) = value.as_array() else {
            return refuse(format!("is {}, and not a list", shown(value)), "write a list, with one item for one word");
        };
        if items.len() > ITEMS_MAX {
            return refuse(format!("has more than {ITEMS_MAX} items"), "give fewer");
        }
        items.iter().map(one).collect()
    }

    /// A value as one word of an argument vector.
    fn word(&self, value: &Value) -> Result<String, BindError> {
        let word = self.text(value)?;
        let refuse = |what: String, remedy: &str| Err(BindError::argument(self.name(), what, remedy));
        if word.contains('\0') {
            return refuse("holds a NUL, which no program can be given".to_owned(), "leave it out");
        }
        if word.len() >= WORD_BYTES_MAX {
            return refuse(format!("has {} bytes, more than a program can be given", word.len()), "hand over a file");
        }
        Ok(word)
    }

    /// A value as text, where it is of the declared type and one of the declared values.
    fn text(&self, value: &Value) -> Result<String, BindError> {
        let refuse = |what: String, remedy: &str| Err(BindError::argument(self.name(), what, remedy));
        let wrong = |kind: &str, remedy: &str| refuse(format!("is {}, and not {kind}", shown(value)), remedy);
        let word = match (self.kind, value) {
            (Kind::Text | Kind::Any, Value::String(text)) => text.clone(),
            (Kind::Any, Value::Number(_) | Value::Bool(_)) | (Kind::Bool, Value::Bool(_)) => plain(value),
            (Kind::Number, Value::Number(number)) => number.to_string(),
            (Kind::Int, Value::Number(number)) => match whole(number) {
                Some(text) => text,
                None => return wrong("a whole number", "write a whole number"),
            },
            (Kind::Json, value) => value.to_string(),
            (Kind::Text, _) if !self.values.is_empty() => plain(value),
            (Kind::Text, _) => return wrong("text", "write it in quotes"),
            (Kind::Int, _) => return wrong("a whole number", "write a whole number, without quotes"),
            (Kind::Number, _) => return wrong("a number", "write a number, without quotes"),
            (Kind::Bool, _) => return wrong("true or false", "write true or false, without quotes"),
            (Kind::Any, _) => return wrong("one word", "write text, a number, true or false"),
        };
        if !self.values.is_empty() && !self.values.contains(&word) {
            let remedy = format!("use one of {}", self.values.join(", "));
            return refuse(format!("is {}, which is none of its values", shown(value)), &remedy);
        }
        if let Some(format) = self.format.as_ref().filter(|format| !fits(format, &word)) {
            return refuse(format!("is {}, and not like `{format}`", shown(value)), "use one that a command gave you");
        }
        Ok(word)
    }

    /// A text, as a variable or a step of a workflow has it, as the JSON its type wants.
    pub(crate) fn read(&self, text: &str) -> Value {
        let number = || text.parse::<serde_json::Number>().ok().map(Value::Number);
        match self.kind {
            Kind::Int | Kind::Number => number(),
            Kind::Bool => match text.to_lowercase().as_str() {
                "1" | "true" | "yes" | "on" => Some(Value::Bool(true)),
                "" | "0" | "false" | "no" | "off" => Some(Value::Bool(false)),
                _ => None,
            },
            Kind::Json => serde_json::from_str(text).ok(),
            Kind::Any | Kind::Text => None,
        }
        .unwrap_or_else(|| Value::String(text.to_owned()))
    }
}

/// The type a word names, and whether it is a list of it.
fn kind(word: &str) -> (Kind, bool) {
    let inner = word
        .strip_suffix("[]")
        .or_else(|| ["array<", "list<", "array[", "list["].iter().find_map(|start| word.strip_prefix(start)));
    if let Some(inner) = inner {
        return (kind(inner.trim_end_matches(['>', ']'])).0, true);
    }
    match word {
        "array" | "list" => (Kind::Any, true),
        "strings" => (Kind::Text, true),
        "int" | "integer" => (Kind::Int, false),
        "number" | "float" | "double" | "decimal" => (Kind::Number, false),
        "bool" | "boolean" | "switch" => (Kind::Bool, false),
        "object" | "json" | "map" | "dict" => (Kind::Json, false),
        "" | "any" => (Kind::Any, false),
        _ => (Kind::Text, false),
    }
}

/// The form of the entity a reference refers to: the one of its name, else the only one that has a form.
fn format_of(name: &str, document: &Document) -> Option<String> {
    let entities = document.sections.state.entities.iter();
    let formed: Vec<(&str, &str)> =
        entities.filter_map(|entity| Some((entity.name.as_deref()?, entity.format.as_deref()?))).collect();
    let own = formed.iter().find(|(entity, _)| *entity == name);
    let only = || formed.first().filter(|_| formed.len() == 1);
    own.or_else(only).map(|(_, format)| (*format).to_owned())
}

/// Whether a word has a form: `{n}` stands for digits, any other `{…}` for letters that are no white space.
pub(crate) fn fits(format: &str, word: &str) -> bool {
    const FORMAT_CHARS_MAX: usize = 256;
    if format.chars().count() > FORMAT_CHARS_MAX {
        return format == word;
    }
    let pieces = form(format);
    // The places in the form that the letters so far may lead to; in one with `true`, a run of letters may go on.
    let mut places = vec![false; pieces.len() + 1];
    places[0] = true;
    for letter in word.chars() {
        let mut next = vec![false; pieces.len() + 1];
        for (at, piece) in pieces.iter().enumerate() {
            let is_fit = match piece {
                Shape::Letter(own) => *own == letter,
                Shape::Digits => letter.is_ascii_digit(),
                Shape::Any => !letter.is_whitespace(),
            };
            let goes_on = !matches!(piece, Shape::Letter(_)) && places[at + 1];
            next[at + 1] |= is_fit && (places[at] || goes_on);
        }
        places = next;
    }
    places[pieces.len()]
}

/// A piece of a form.
enum Shape {
    Letter(char),
    Digits,
    Any,
}

fn form(format: &str) -> Vec<Shape> {
    let mut pieces = Vec::new();
    let mut rest = format;
    while let Some(letter) = rest.chars().next() {
        let slot = rest.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        if let Some((name, after)) = slot {
            pieces.push(if name == "n" { Shape::Digits } else { Shape::Any });
            rest = after;
        } else {
            pieces.push(Shape::Letter(letter));
            rest = &rest[letter.len_utf8()..];
        }
    }
    pieces
}

/// A number without a fraction.
fn whole(number: &serde_json::Number) -> Option<String> {
    if number.is_i64() || number.is_u64() {
        return Some(number.to_string());
    }
    let value = number.as_f64().filter(|value| value.fract() == 0.0 && value.abs() < 9e15)?;
    Some(format!("{value:.0}"))
}

/// A scalar as it is written.
pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A value as a message shows it.
fn shown(value: &Value) -> String {
    const SHOWN_CHARS_MAX: usize = 60;
    rep_model::truncate::ellipsize(&value.to_string(), SHOWN_CHARS_MAX).into_owned()
}
