//! Infers the arguments and flags of a command from its calls: names, types, and a common syntax template.
//!
//! Follows the type inference of UASP §7.1 rule 4: `<url>` string, `<port>` int, `--flag` bool, `@ref` ref, few values
//! enum.

use serde_json::{Value, json};

use super::lexicon::LEXICON;
use super::names::to_name_or;

/// A flag or an environment variable, and where it was found.
#[derive(Clone, Debug, Default)]
pub(super) struct ExtractedFlag {
    /// `--depth`, or `-d` if it has no long name.
    pub(super) name: String,
    pub(super) short: Option<String>,
    /// The placeholder, the choice or the example of its value; `None` if it takes no value.
    pub(super) value: Option<String>,
    pub(super) purpose: Option<String>,
    pub(super) default: Option<String>,
    pub(super) is_required: bool,
    pub(super) line: usize,
    /// The number of the section that lists it, or else of its sentence.
    pub(super) near: Option<usize>,
    /// Whether the text lists it, and does not just show or mention it.
    pub(super) is_listed: bool,
}

impl ExtractedFlag {
    pub(super) fn to_json(&self) -> Value {
        let values = self.list_choices();
        let number = self.default.as_ref().and_then(|default| default.parse::<i64>().ok());
        let kind = match &self.value {
            _ if !values.is_empty() => "enum",
            _ if number.is_some() => "int",
            Some(value) => infer_value_type(value),
            None => "bool",
        };
        remove_empty_fields(json!({
            "name": self.name, "short": self.short, "type": kind, "values": values, "purpose": self.purpose,
            "default": if kind == "int" { json!(number) } else { json!(self.default) },
        }))
    }

    fn list_choices(&self) -> Vec<String> {
        parse_alternatives(self.value.as_deref().unwrap_or_default())
    }

    /// Renders the flag as part of a syntax: `--format <json|csv>`.
    fn render_syntax(&self) -> String {
        let Some(value) = &self.value else { return self.name.clone() };
        let values = self.list_choices();
        let named = if value.starts_with('<') { value } else { &self.name };
        let slot = if values.is_empty() { to_name_or(named, "value") } else { values.join("|") };
        format!("{} <{slot}>", self.name)
    }

    /// Merges another description of the same flag: `--format json|csv` is more complete than `--format json`.
    pub(super) fn merge_from(&mut self, other: ExtractedFlag) {
        if self.value.is_none() || self.list_choices().is_empty() && !other.list_choices().is_empty() {
            self.value = other.value;
        }
        self.short = self.short.take().or(other.short);
        self.purpose = self.purpose.take().or(other.purpose);
        self.default = self.default.take().or(other.default);
        self.is_listed = true;
    }

    /// Adds another name of the flag; the long name comes first.
    pub(super) fn add_alias(&mut self, mut other: String) {
        if !self.name.starts_with("--") && other.starts_with("--") {
            std::mem::swap(&mut self.name, &mut other);
        }
        self.short = Some(other).filter(|other| !other.starts_with("--")).or(self.short.take());
    }
}

/// Removes the empty fields of an object.
pub(super) fn remove_empty_fields(mut object: Value) -> Value {
    let says = |value: &Value| !value.is_null() && *value != json!("") && *value != json!([]);
    object.as_object_mut().into_iter().for_each(|fields| fields.retain(|_, value| says(value)));
    object
}

/// The arguments of a call, after the words that name the command.
#[derive(Default)]
pub(super) struct CallSyntax {
    pub(super) arguments: Vec<String>,
    pub(super) flags: Vec<ExtractedFlag>,
    pub(super) is_mention: bool,
}

pub(super) fn parse_call(words: &[String]) -> CallSyntax {
    let mut call = CallSyntax::default();
    let mut words = words.iter().map(String::as_str).peekable();
    while let Some(whole) = words.next() {
        let is_optional = whole.starts_with('[');
        let word = whole.trim_start_matches('[').trim_end_matches(']');
        let (named, given) = word.split_once('=').map_or((word, None), |(named, given)| (named, Some(given)));
        let mut names = named.trim_end_matches(',').split(['|', ',', '/']).map(str::to_owned);
        // `npm run build -- --watch` passes its flags on.
        let hands_on = word == "--" && words.peek().is_some_and(|next| is_flag(next));
        if !hands_on && matches!(word, "--" | "..." | "\\") {
            break;
        }
        if !names.clone().all(|name| is_flag(&name)) {
            call.arguments.extend(Some(whole.to_owned()).filter(|_| !hands_on));
            continue;
        }
        let (name, value) = (names.next().unwrap_or_default(), given.map(str::to_owned));
        let mut flag = ExtractedFlag { name, value, is_required: !is_optional, ..ExtractedFlag::default() };
        names.for_each(|name| flag.add_alias(name));
        if let Some(next) = words.peek().filter(|_| given.is_none() && !whole.ends_with(']')) {
            // The bracket in `[--style a|b]` closes the group, and the one in `--style [a|b]` belongs to the value.
            let inner = if next.starts_with('[') { next } else { next.trim_end_matches(']') };
            if takes_value(&flag.name, inner) || is_optional && inner.len() < next.len() {
                flag.value = Some(inner.to_owned());
                words.next();
            }
        }
        if !is_flag_bundle(&flag.name) {
            call.flags.push(flag);
        }
    }
    call
}

pub(super) fn is_flag(word: &str) -> bool {
    let bare = word.trim_start_matches('-');
    let name = bare.split('=').next().unwrap_or_default();
    (1..=2).contains(&(word.len() - bare.len()))
        && name.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter))
}

fn takes_value(flag: &str, next: &str) -> bool {
    let is_open = next.starts_with('[') && parse_alternatives(next).is_empty();
    let is_other = is_flag(next) || matches!(next, "..." | "--") || is_open || is_flag_bundle(flag);
    let is_switch = LEXICON.switches.contains(flag) || flag.starts_with("--no-");
    // `-q TEXT` and `--json a,b` have a value, although such flags mostly have none.
    let is_metavariable = next.len() > 1 && next.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_');
    !is_other && (!is_switch || next.starts_with('<') || next.contains(',') || flag.len() == 2 && is_metavariable)
}

/// Returns whether a word combines several short flags: `-fsSL`, `-xzf`.
fn is_flag_bundle(name: &str) -> bool {
    let letters = name.trim_start_matches('-');
    !name.starts_with("--")
        && (2..=5).contains(&letters.len())
        && (letters.contains(|letter: char| letter.is_ascii_uppercase()) || LEXICON.flag_bundles.contains(letters))
}

pub(super) fn infer_value_type(example: &str) -> &'static str {
    let bare = example.trim_matches(['<', '>', '[', ']', '"', '\'', ' ']);
    // `<port>` and `N` name a type, and `80` is a value.
    let is_slot = example.starts_with(['<', '[']) || bare.chars().all(|letter| letter.is_ascii_uppercase());
    let lower = bare.to_ascii_lowercase();
    let is_number = is_slot && lower.split(['-', '_', ' ']).any(|part| LEXICON.number_names.contains(part));
    if is_number || bare.parse::<i64>().is_ok() {
        return "int";
    }
    if bare.starts_with('@') || is_slot && lower == "ref" { "ref" } else { "string" }
}

/// Returns the placeholder name for a positional word that is a placeholder or clearly an example value.
fn infer_placeholder_name(word: &str) -> Option<String> {
    let bare = word.trim_matches(['[', ']']);
    let ending = bare.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_file = (1..=5).contains(&ending.len()) && ending.chars().all(char::is_alphanumeric);
    let named = match bare.chars().next().unwrap_or_default() {
        _ if word.starts_with('[') || bare.starts_with(['<', '{', '$']) || !parse_alternatives(bare).is_empty() => bare,
        '@' if bare.len() > 1 && !bare.contains('/') => "ref",
        '"' | '\'' => "text",
        _ if bare.contains("://") => "url",
        _ if bare.parse::<f64>().is_ok() => "number",
        _ if is_file || bare.contains('/') => "file",
        _ => return None,
    };
    Some(to_name_or(named, "value"))
}

/// Builds the common template, arguments and flags of all calls of a command and of its separately listed flags.
pub(super) fn build_syntax_template(
    command: &str,
    calls: &[CallSyntax],
    apart: &[ExtractedFlag],
) -> (String, Vec<Value>, Vec<ExtractedFlag>) {
    // A mention in prose may omit required arguments.
    let has_firm = calls.iter().any(|call| !call.is_mention);
    let is_firm = |call: &&CallSyntax| !call.is_mention || !has_firm && call.arguments.len() + call.flags.len() > 0;
    let firm: Vec<&CallSyntax> = calls.iter().filter(is_firm).collect();
    let mut syntax = command.to_owned();
    let mut arguments: Vec<Value> = Vec::new();
    for position in 0..calls.iter().map(|call| call.arguments.len()).max().unwrap_or(0).min(12) {
        let words: Vec<&String> = calls.iter().filter_map(|call| call.arguments.get(position)).collect();
        let is_always = firm.iter().all(|call| call.arguments.len() > position);
        // A placeholder is more informative than a value.
        let shown = words.iter().find(|word| word.starts_with(['<', '[', '{'])).unwrap_or(&words[0]);
        let found = infer_placeholder_name(shown);
        if found.is_none() && is_always && words.iter().all(|word| *word == words[0]) {
            syntax = format!("{syntax} {shown}");
            continue;
        }
        let base = found.unwrap_or_else(|| "value".to_owned());
        let taken = arguments.iter().filter(|known| known["name"].to_string()[1..].starts_with(&base)).count();
        let argument = if taken > 0 { format!("{base}{}", taken + 1) } else { base };
        let is_required = is_always && !shown.starts_with('[');
        let values = parse_alternatives(shown);
        let (kind, slot) =
            if values.is_empty() { (infer_value_type(shown), argument.clone()) } else { ("enum", values.join("|")) };
        syntax = if is_required { format!("{syntax} <{slot}>") } else { format!("{syntax} [{slot}]") };
        arguments.push(remove_empty_fields(
            json!({ "name": argument, "type": kind, "required": is_required, "values": values }),
        ));
    }
    let mut flags = merge_flags(calls.iter().flat_map(|call| call.flags.iter().take(60)).chain(apart));
    for flag in &mut flags {
        let has = |call: &&CallSyntax| call.flags.iter().any(|own| own.name == flag.name && own.is_required);
        flag.is_required = !firm.is_empty() && firm.iter().all(has);
        let shown = flag.render_syntax();
        syntax = if flag.is_required { format!("{syntax} {shown}") } else { format!("{syntax} [{shown}]") };
    }
    (syntax, arguments, flags)
}

pub(super) fn merge_flags<'a>(flags: impl Iterator<Item = &'a ExtractedFlag>) -> Vec<ExtractedFlag> {
    let mut merged: Vec<ExtractedFlag> = Vec::new();
    let is_same =
        |one: &ExtractedFlag, other: &ExtractedFlag| one.name == other.name || one.short.as_ref() == Some(&other.name);
    for flag in flags {
        match merged.iter_mut().find(|known| is_same(known, flag) || is_same(flag, known)) {
            Some(known) => known.merge_from(flag.clone()),
            None => merged.push(flag.clone()),
        }
    }
    merged
}

/// Returns the values that a word lists: `<a|b>`, `{a,b}`, `(a|b)`, `a|b`. Empty if it lists none, or types:
/// `<file|url>`.
pub(super) fn parse_alternatives(word: &str) -> Vec<String> {
    let is_bracketed = word.starts_with(['<', '[', '{', '(']);
    let separator = if word.contains('|') { '|' } else { ',' };
    let is_list = word.starts_with('{') && word.ends_with('}') || separator == '|' && !word.contains("||");
    let inner = word.trim_matches(['<', '[', '{', '(', '>', ']', '}', ')']);
    // Outside of brackets, only plain words are values.
    let marks = if is_bracketed { "-_.:/+@*" } else { "-_.+" };
    let is_part = |letter: char| letter.is_alphanumeric() || marks.contains(letter);
    let is_value = |value: &&str| (1..=40).contains(&value.len()) && value.chars().all(is_part);
    let values: Vec<&str> = inner.split(separator).map(|value| value.trim().trim_matches(['"', '\''])).collect();
    let is_kinds = values.iter().all(|value| LEXICON.value_kinds.contains(&value.to_lowercase()));
    let is_found = is_list && values.len() > 1 && values.iter().all(is_value) && !is_kinds;
    values.into_iter().filter(|_| is_found).map(str::to_owned).collect()
}
