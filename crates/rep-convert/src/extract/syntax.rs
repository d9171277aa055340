//! Arguments and flags of a command, read from the ways it is called: names, types, and the template they share.
//!
//! Follows the type inference of UASP §7.1 rule 4: `<url>` string, `<port>` int, `--flag` bool, `@ref` ref, few values enum.

use serde_json::{Map, Value, json};

/// A flag as read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Flag {
    /// `--depth`, or `-d` where there is only that.
    pub(super) name: String,
    pub(super) short: Option<String>,
    /// The placeholder or the example of its value; `None` where it has none.
    pub(super) value: Option<String>,
    pub(super) purpose: Option<String>,
    pub(super) values: Vec<String>,
    pub(super) default: Option<String>,
    pub(super) is_required: bool,
}

impl Flag {
    pub(super) fn json(&self) -> Value {
        let mut map = Map::new();
        map.insert("name".to_owned(), json!(self.name));
        if let Some(short) = &self.short {
            map.insert("short".to_owned(), json!(short));
        }
        let values = match &self.value {
            Some(value) if self.values.is_empty() => alternatives(value),
            _ => self.values.clone(),
        };
        let kind = match &self.value {
            _ if values.len() > 1 || !self.values.is_empty() => "enum",
            _ if self.default.as_ref().is_some_and(|default| default.parse::<i64>().is_ok()) => "int",
            Some(value) => value_type(&self.name, value),
            None => "bool",
        };
        map.insert("type".to_owned(), json!(kind));
        if kind == "enum" {
            map.insert("values".to_owned(), json!(values));
        }
        if let Some(default) = &self.default {
            let number = default.parse::<i64>().ok().filter(|_| kind == "int");
            map.insert("default".to_owned(), number.map_or_else(|| json!(default), |number| json!(number)));
        }
        if let Some(purpose) = &self.purpose {
            map.insert("purpose".to_owned(), json!(purpose));
        }
        Value::Object(map)
    }

    /// The flag as a syntax shows it: `--format <json|csv>`.
    pub(super) fn shown(&self) -> String {
        let Some(value) = &self.value else { return self.name.clone() };
        let values = if self.values.is_empty() { alternatives(value) } else { self.values.clone() };
        let inner = value.trim_matches(['<', '>']);
        let slot = match values.len() {
            0 if value.starts_with('<') => slug(inner),
            0 => slug(self.name.trim_start_matches('-')),
            _ => values.join("|"),
        };
        format!("{} <{slot}>", self.name)
    }

    /// Takes over what another reading of the same flag knows.
    pub(super) fn learn(&mut self, other: Flag) {
        self.short = self.short.take().or(other.short);
        // `--format json|csv` knows more than `--format json`.
        let lists = |value: &Option<String>| value.as_deref().is_some_and(|value| alternatives(value).len() > 1);
        let is_better = lists(&other.value) && !lists(&self.value);
        self.value = if is_better { other.value } else { self.value.take().or(other.value) };
        self.purpose = self.purpose.take().or(other.purpose);
        self.default = self.default.take().or(other.default);
        if self.values.is_empty() && !lists(&self.value) {
            self.values = other.values;
        }
    }
}

/// A positional argument as read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Argument {
    pub(super) name: String,
    pub(super) kind: &'static str,
    pub(super) is_required: bool,
    pub(super) values: Vec<String>,
}

impl Argument {
    pub(super) fn json(&self) -> Value {
        let mut value = json!({ "name": self.name, "type": self.kind, "required": self.is_required });
        if !self.values.is_empty() {
            value["values"] = json!(self.values);
        }
        value
    }
}

/// One call, behind the words that name the command.
#[derive(Clone, Debug, Default)]
pub(super) struct Call {
    pub(super) arguments: Vec<String>,
    pub(super) flags: Vec<Flag>,
    /// Whether prose only mentions it: what it leaves out may still be required.
    pub(super) is_mention: bool,
}

/// Flags that take no value, whatever stands behind them.
const BARE: &[&str] = &[
    "--json",
    "--help",
    "--version",
    "--force",
    "--yes",
    "--verbose",
    "--quiet",
    "--dry-run",
    "--watch",
    "--all",
    "--global",
    "--save-dev",
    "--dev",
    "--headed",
    "--headless",
    "--full",
    "--recursive",
    "--rm",
    "--staged",
    "--cached",
    "--fix",
    "--check",
    "--strict",
    "--debug",
    "--interactive",
    "--compact",
    "--exact",
    "--abort",
    "--upgrade",
    "--release",
    "--amend",
    "--hard",
    "--soft",
    "--oneline",
    "--stat",
    "--quick",
    "--plain",
    "--draft",
    "--web",
    "--prune",
    "--tags",
    "-g",
    "-y",
    "-v",
    "-q",
    "-a",
    "-r",
    "-l",
    "-h",
    "-D",
    "-V",
    "-S",
    "-s",
    "-i",
    "-x",
    "-f",
    "-e",
    "-u",
    "-U",
];

/// The flags of git that take a value as a word of its own.
const OF_GIT: &[&str] = &[
    "-m",
    "-b",
    "-B",
    "-C",
    "-c",
    "-n",
    "-F",
    "-t",
    "-u",
    "--message",
    "--grep",
    "--since",
    "--until",
    "--author",
    "--format",
    "--pretty",
    "--depth",
    "--branch",
    "--file",
    "--onto",
    "--reason",
    "--mirror",
];

/// Reads the words behind a command's name.
pub(super) fn call(program: &str, words: &[String]) -> Call {
    let mut call = Call::default();
    let mut index = 0;
    while index < words.len() {
        let word = words[index].trim_start_matches('[').trim_end_matches(']');
        let is_optional = words[index].starts_with('[');
        if word == "--" || word == "..." || word == "\\" {
            break;
        }
        let names: Vec<&str> = word.split(['|', ',', '/']).collect();
        if names.len() == 2 && names.iter().all(|name| is_flag(name)) {
            // `-n|--dry-run` is one flag with two names.
            let long = usize::from(!names[0].starts_with("--"));
            let (name, short) = (names[long].to_owned(), Some(names[1 - long].to_owned()));
            call.flags.push(Flag { name, short, is_required: !is_optional, ..Flag::default() });
            index += 1;
            continue;
        }
        if !is_flag(word) {
            call.arguments.push(words[index].clone());
            index += 1;
            continue;
        }
        let (name, mut value) = match word.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None => (word.to_owned(), None),
        };
        // The bracket of `[--style a|b]` closes the group, that of `--style [a|b]` belongs to the value.
        let closed = words.get(index + 1).map(String::as_str);
        let next = closed.map(|next| if next.starts_with('[') { next } else { next.trim_end_matches(']') });
        let takes = value.is_none()
            && !words[index].ends_with(']')
            && next.is_some_and(|next| takes_value(program, &name, next) || is_optional && closed != Some(next));
        if takes {
            value = next.map(str::to_owned);
            index += 1;
        }
        if is_bundle(&name) {
            index += 1;
            continue;
        }
        call.flags.push(Flag { name, value, is_required: !is_optional, ..Flag::default() });
        index += 1;
    }
    call
}

/// Whether a word is a flag and no number or dash.
pub(super) fn is_flag(word: &str) -> bool {
    let bare = word.trim_start_matches('-');
    let dashes = word.len() - bare.len();
    let name = bare.split('=').next().unwrap_or_default();
    (1..=2).contains(&dashes)
        && name.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_')
        && name.len() <= 40
}

fn takes_value(program: &str, flag: &str, next: &str) -> bool {
    if program == "git" && !OF_GIT.contains(&flag) {
        return next.starts_with('<') && flag.len() == 2;
    }
    let is_choice = alternatives(next).len() > 1;
    if is_flag(next) || next == "..." || next == "--" || next.starts_with('[') && !is_choice {
        return false;
    }
    let is_shaped =
        next.starts_with(['<', '"', '\'', '{', '$', '#']) || next.parse::<f64>().is_ok() || next.contains("://");
    // `-rf` and `-fsSL` are several flags that take nothing.
    let is_bundle = !flag.starts_with("--") && flag.len() > 2;
    if BARE.contains(&flag) || flag.starts_with("--no-") || is_bundle {
        let is_list = next.contains(',') && !next.contains(' ');
        let is_given = is_shaped && next.starts_with('<') || is_list && flag == "--json";
        return (is_given || is_filled(program, flag, next)) && !is_bundle;
    }
    true
}

/// Whether a flag that mostly takes nothing has a value here: `-q TEXT`, `pip install -r requirements.txt`.
fn is_filled(program: &str, flag: &str, next: &str) -> bool {
    let runs = |names: &[&str]| program.split(' ').any(|word| names.contains(&word));
    // What these are told to be quiet, recursive or sure about stands behind the flag.
    if runs(&["rm", "cp", "mv", "ls", "grep", "rg", "docker", "podman", "pytest", "rsync", "scp", "chmod", "chown"]) {
        return false;
    }
    let is_slot = next.starts_with(|letter: char| letter.is_ascii_uppercase())
        && next.chars().all(|letter| letter.is_ascii_uppercase() || "_=|".contains(letter));
    match flag {
        "-r" => runs(&["pip", "pip3", "uv"]),
        "-q" | "-s" | "-i" | "-u" | "-e" | "-x" | "-l" | "-S" | "-U" => is_slot,
        _ => false,
    }
}

/// Whether a word is several short flags at once, as everyday tools take them: `-fsSL`, `-xzf`.
fn is_bundle(name: &str) -> bool {
    let letters = name.trim_start_matches('-');
    let is_short = !name.starts_with("--") && (2..=5).contains(&letters.len());
    is_short
        && (letters.contains(|letter: char| letter.is_ascii_uppercase())
            || matches!(letters, "rf" | "xzf" | "czf" | "it" | "la" | "al" | "rn" | "euo" | "ef" | "aux"))
}

/// The type of a value, by the name it has and by what it looks like.
pub(super) fn value_type(name: &str, example: &str) -> &'static str {
    let bare = example.trim_matches(['<', '>', '[', ']', '"', '\'', ' ']);
    let word = if example.starts_with(['<', '[']) { bare } else { name.trim_start_matches('-') };
    let numbers = [
        "port", "count", "ms", "n", "number", "num", "limit", "depth", "seconds", "timeout", "size", "width", "height",
        "index", "max", "min", "lines", "pages", "retries", "days", "hours", "minutes", "pid",
    ];
    let lower = word.to_ascii_lowercase();
    let is_named = lower.split(['-', '_', ' ']).any(|part| numbers.contains(&part));
    let is_slot = example.starts_with(['<', '[']);
    // `--jobs N` has its kind in capitals.
    let is_metavariable =
        bare.chars().all(|letter| letter.is_ascii_uppercase()) && numbers.contains(&bare.to_lowercase().as_str());
    if bare.parse::<i64>().is_ok() || is_named && is_slot || is_metavariable {
        "int"
    } else if bare.starts_with('@') || lower == "ref" {
        "ref"
    } else {
        "string"
    }
}

/// A positional word as a placeholder, where it is one or is plainly an example of one.
fn placeholder(word: &str) -> Option<(String, bool)> {
    let is_optional = word.starts_with('[');
    let bare = word.trim_matches(['[', ']']);
    let inner = bare.trim_end_matches("...").trim_matches(['<', '>', '{', '}']);
    if is_optional || bare.starts_with('<') || bare.starts_with('{') || alternatives(bare).len() > 1 {
        return Some((slug(inner), !is_optional));
    }
    if bare.starts_with('@') && bare.len() > 1 && !bare.contains('/') {
        return Some(("ref".to_owned(), true));
    }
    if bare.starts_with(['"', '\'']) {
        return Some(("text".to_owned(), true));
    }
    if bare.contains("://") {
        return Some(("url".to_owned(), true));
    }
    if bare.parse::<f64>().is_ok() {
        return Some(("number".to_owned(), true));
    }
    if let Some(name) = bare.strip_prefix('$') {
        let name = name.trim_matches(['{', '}', '"']);
        return Some((slug(&name.to_ascii_lowercase()), true));
    }
    let is_file = bare
        .rsplit('.')
        .next()
        .is_some_and(|end| end != bare && (1..=5).contains(&end.len()) && end.chars().all(char::is_alphanumeric));
    (is_file || bare.contains('/')).then(|| ("file".to_owned(), true))
}

fn slug(text: &str) -> String {
    let kept: String = text
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' })
        .collect();
    let trimmed = kept.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-");
    if trimmed.is_empty() { "value".to_owned() } else { trimmed }
}

/// The template, the arguments and the flags that several calls of one command share.
pub(super) fn template(name: &str, calls: &[Call]) -> (String, Vec<Argument>, Vec<Flag>) {
    let firm = firm(calls);
    let most = calls.iter().map(|call| call.arguments.len()).max().unwrap_or(0).min(12);
    let mut syntax = name.to_owned();
    let mut arguments: Vec<Argument> = Vec::new();
    for position in 0..most {
        let words: Vec<&str> =
            calls.iter().filter_map(|call| call.arguments.get(position)).map(String::as_str).collect();
        let is_always = firm.iter().all(|call| call.arguments.len() > position);
        let same = words.iter().all(|word| *word == words[0]);
        // What stands for a value says more than a value.
        let is_slot = |word: &&&str| word.starts_with(['<', '[', '{']) && word.ends_with(['>', ']', '}', '.']);
        let shown = words.iter().find(is_slot).unwrap_or(&words[0]);
        match placeholder(shown) {
            None if same && is_always => syntax = format!("{syntax} {shown}"),
            found => {
                let (mut argument, is_required) = found.unwrap_or_else(|| ("value".to_owned(), true));
                let taken =
                    arguments.iter().filter(|known| known.name.trim_end_matches(char::is_numeric) == argument).count();
                if taken > 0 {
                    argument = format!("{argument}{}", taken + 1);
                }
                let is_required = is_required && is_always;
                let values = alternatives(shown);
                let kind = if values.is_empty() { value_type(&argument, shown) } else { "enum" };
                let slot = if values.is_empty() { argument.clone() } else { values.join("|") };
                syntax = if is_required { format!("{syntax} <{slot}>") } else { format!("{syntax} [{slot}]") };
                arguments.push(Argument { name: argument, kind, is_required, values });
            }
        }
    }
    let flags = shared_flags(calls, &firm);
    for flag in &flags {
        let shown = flag.shown();
        syntax = if flag.is_required { format!("{syntax} {shown}") } else { format!("{syntax} [{shown}]") };
    }
    (syntax, arguments, flags)
}

/// The calls that show a command whole: those that prose only mentions are not among them, unless there are no others.
fn firm(calls: &[Call]) -> Vec<&Call> {
    let shown: Vec<&Call> = calls.iter().filter(|call| !call.is_mention).collect();
    if !shown.is_empty() {
        return shown;
    }
    let has_words = |call: &&Call| !(call.arguments.is_empty() && call.flags.is_empty());
    let full: Vec<&Call> = calls.iter().filter(has_words).collect();
    if full.is_empty() { calls.iter().collect() } else { full }
}

/// The flags of some calls, each once.
fn shared_flags(calls: &[Call], firm: &[&Call]) -> Vec<Flag> {
    let mut flags: Vec<Flag> = Vec::new();
    for call in calls {
        for flag in call.flags.iter().take(60) {
            match flags.iter_mut().find(|known| known.name == flag.name) {
                Some(known) => known.learn(flag.clone()),
                None => flags.push(flag.clone()),
            }
        }
    }
    for flag in &mut flags {
        flag.is_required =
            firm.iter().all(|call| call.flags.iter().any(|own| own.name == flag.name && own.is_required));
    }
    flags
}

/// Names of what a value is, which are no values themselves: `<file|url>`.
const KINDS: &[&str] = &[
    "file",
    "path",
    "url",
    "name",
    "id",
    "dir",
    "directory",
    "folder",
    "string",
    "text",
    "number",
    "int",
    "ref",
    "branch",
    "commit",
    "sha",
    "tag",
    "query",
    "glob",
    "pattern",
    "selector",
    "value",
    "key",
    "uri",
    "host",
    "port",
    "user",
    "email",
    "package",
    "module",
    "command",
    "regex",
    "hash",
    "version",
    "repo",
    "filename",
    "filepath",
];

/// The values a word lists: `<a|b>`, `{a,b}`, `(a|b)`, `a|b`. None where it lists nothing.
pub(super) fn alternatives(word: &str) -> Vec<String> {
    let open = ['<', '[', '{', '('];
    let separator = if word.contains('|') { '|' } else { ',' };
    let is_list = word.starts_with('{') && word.ends_with('}') || separator == '|' && !word.contains("||");
    let inner = word.trim_start_matches(open).trim_end_matches(['>', ']', '}', ')']);
    let values: Vec<String> =
        inner.split(separator).map(|value| value.trim().trim_matches(['"', '\'']).to_owned()).collect();
    let is_value = |value: &String| {
        !value.is_empty()
            && value.len() <= 40
            && value.chars().all(|letter| letter.is_alphanumeric() || "-_.:/+@*".contains(letter))
    };
    // Outside brackets, only plain words are values.
    let is_plain = word.starts_with(open) || values.iter().all(|value| !value.contains(['/', ':', '@', '*']));
    let is_kinds = values.iter().all(|value| KINDS.contains(&value.to_lowercase().as_str()));
    let is_found = is_list && is_plain && values.len() > 1 && values.iter().all(is_value) && !is_kinds;
    if is_found { values } else { Vec::new() }
}
