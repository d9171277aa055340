//! One command as an argument vector: a typed template, and values that stay what they are. UASP §5.6, §5.7, §9.4.
//!
//! No shell comes between. The syntax is taken apart once; each value then becomes exactly one word (or, where a slot takes
//! several, one word for each item of a list), is never looked at again, never split, and never changes which other words
//! there are. A value that a program could take for a flag is refused in a plain position: one that starts with `-`, unless
//! the syntax shows `--` before it, it is `-` alone, or it is a number for an argument that is declared as one.
//!
//! Where things go: arguments where the syntax shows them, else behind its words in the order they are declared; flags
//! where the syntax shows them, else at its `[options]`, else before its `--`, else at the end, those of every command last.

use crate::error::ErrorCode;
use rep_model::Document;
use rep_model::suggestion::nearest_names;
use rep_model::uasp::{Argument, Command, Template};
use serde_json::{Map, Value};

pub(crate) mod argument;
mod bind;
mod template;

use argument::Parameter;
pub(crate) use argument::fits;
use bind::Binder;

/// A command's words, the program first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Never empty.
    pub words: Vec<Word>,
}

impl Bound {
    /// The words as they are.
    pub fn argv(&self) -> Vec<&str> {
        self.words.iter().map(|word| word.text.as_str()).collect()
    }
}

/// One word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// What it says.
    pub text: String,
    /// Whether it stands in the syntax itself, so that no caller had a say in it.
    pub is_literal: bool,
}

/// Why no argument vector can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindError {
    /// `INVALID_ARGUMENT` where the caller can mend it, `INVALID_COMMAND` where the author must.
    pub code: ErrorCode,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub remedy: String,
}

impl BindError {
    fn argument(name: &str, what: impl AsRef<str>, remedy: impl Into<String>) -> Self {
        let message = format!("the argument `{name}` {}", what.as_ref());
        Self { code: ErrorCode::InvalidArgument, message, remedy: remedy.into() }
    }

    fn command(message: impl Into<String>) -> Self {
        let remedy = "mend its `syntax`; `rep check` shows where it stands".to_owned();
        Self { code: ErrorCode::InvalidCommand, message: message.into(), remedy }
    }
}

/// Looks up a variable of the caller's environment.
pub type Lookup<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Makes the words of a command of arguments. `variable` is asked for flags that name an `env`.
pub fn bind(
    document: &Document,
    name: &str,
    arguments: &Map<String, Value>,
    variable: &Lookup<'_>,
) -> Result<Bound, BindError> {
    tried(document, name, |binder| binder.bind(arguments, variable))
}

/// The arguments that words stand for, as a step of a workflow writes them behind the command's name.
pub fn arguments_of(document: &Document, name: &str, words: &[String]) -> Result<Map<String, Value>, BindError> {
    tried(document, name, |binder| binder.read(words))
}

/// The most ways to write one command.
const WAYS_MAX: usize = 64;

/// Tries every way the author wrote a command, and tells about the first where none fits.
fn tried<T>(
    document: &Document,
    name: &str,
    work: impl Fn(Binder<'_>) -> Result<T, BindError>,
) -> Result<T, BindError> {
    let unknown = Command::default();
    let command = document.command(name).unwrap_or(&unknown);
    let syntax = command.syntax.as_deref().unwrap_or_default();
    let lines: Vec<&str> = syntax.lines().map(str::trim).filter(|line| !line.is_empty()).take(WAYS_MAX).collect();
    let Some(program) = lines.first().and_then(|line| line.trim_start_matches("$ ").split_whitespace().next()) else {
        return Err(BindError::command(format!("the command `{name}` has no `syntax`")));
    };
    let variants = command.variants.iter().take(WAYS_MAX).filter_map(|variant| variant.syntax.as_deref());
    let variants = variants.map(|variant| match variant.split_whitespace().next() {
        Some(first) if first == program => variant.to_owned(),
        _ => format!("{program} {variant}"),
    });
    let mut first = None;
    let ways = lines.iter().map(|line| ((*line).to_owned(), false)).chain(variants.map(|variant| (variant, true)));
    for (line, is_variant) in ways {
        let done = Binder::new(document, name, command, &line, is_variant).and_then(&work);
        match done {
            Ok(done) => return Ok(done),
            Err(error) => first = first.or(Some(error)),
        }
    }
    Err(first.unwrap_or_else(|| BindError::command(format!("the command `{name}` has no `syntax`"))))
}

/// The words of a template: its arguments in the order they are declared, else in that of its `usage`.
pub fn bind_template(
    document: &Document,
    name: &str,
    arguments: &Map<String, Value>,
    variable: &Lookup<'_>,
) -> Result<Vec<String>, BindError> {
    let unknown = Template::default();
    let binder = Binder::of_template(document, name, document.template(name).unwrap_or(&unknown));
    let bound = binder.bind(arguments, variable)?;
    Ok(bound.words.into_iter().skip(1).map(|word| word.text).collect())
}

/// An argument or flag, as clients are told it.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// The name it is given by.
    pub name: String,
    /// What it takes, as JSON Schema.
    pub schema: Map<String, Value>,
    /// Whether it must be given.
    pub is_needed: bool,
}

/// The arguments and flags a command or template declares, in order.
pub fn described(document: &Document, arguments: &[Argument], flags: &[Argument]) -> Vec<Described> {
    let all = arguments.iter().map(|one| (one, false)).chain(flags.iter().map(|one| (one, true)));
    let described = all.filter_map(|(one, is_flag)| {
        let parameter = Parameter::of(one, document, is_flag, false)?;
        let mut schema = Map::new();
        let about = one.description.as_deref().or(one.purpose.as_deref());
        schema.extend(about.map(|about| ("description".to_owned(), about.into())));
        schema.extend(parameter.schema());
        Some(Described { name: parameter.name().to_owned(), is_needed: parameter.is_needed(), schema })
    });
    described.collect()
}

/// The names nearest to one that is not there, the nearest first.
pub fn nearest(document: &Document, name: &str) -> Vec<String> {
    const NEAREST_MAX: usize = 3;
    const LOOKED_AT_MAX: usize = 2000;
    let aliases = document.sections.commands.iter().flat_map(Command::names);
    let all = document.runnable_names().into_iter().chain(aliases.map(str::to_owned));
    let all: Vec<String> = all.take(LOOKED_AT_MAX).collect();
    let near = nearest_names(name, all.iter().map(String::as_str), NEAREST_MAX, 0.7);
    near.into_iter().map(str::to_owned).collect()
}

/// A variable the section `environment` speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// What it is where the caller's environment has none.
    pub default: Option<String>,
    /// Whether its value must not be seen.
    pub is_secret: bool,
    /// Whether nothing runs without it.
    pub is_required: bool,
}

/// The variables a skill's programs want, once each.
pub fn variables(document: &Document) -> Vec<Variable> {
    let mut all: Vec<Variable> = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for entry in &document.sections.environment {
        let name = entry.name.as_deref().unwrap_or_default().trim();
        if name.is_empty() || !seen.insert(name) {
            continue;
        }
        let default = entry.default.as_ref().filter(|value| !value.is_object() && !value.is_array());
        all.push(Variable {
            name: name.to_owned(),
            default: default.map(argument::plain),
            is_secret: entry.is_secret == Some(true) || is_secret_name(name),
            is_required: entry.is_required == Some(true),
        });
    }
    all
}

/// Whether a variable's name says that its value is a credential.
pub fn is_secret_name(name: &str) -> bool {
    const SIGNS: [&str; 19] = [
        "key",
        "apikey",
        "token",
        "secret",
        "password",
        "passwd",
        "passphrase",
        "credential",
        "credentials",
        "keys",
        "tokens",
        "pass",
        "pwd",
        "pat",
        "auth",
        "cookie",
        "cookies",
        "webhook",
        "dsn",
    ];
    // Grown together with what it is of: PGPASSWORD, GITHUBTOKEN.
    const ENDS: [&str; 6] = ["password", "passwd", "passphrase", "secret", "token", "apikey"];
    if matches!(name, "PWD" | "OLDPWD") {
        return false;
    }
    let is_sign = |word: &str| SIGNS.contains(&word) || ENDS.iter().any(|end| word.ends_with(end));
    name.to_lowercase().split(|letter: char| !letter.is_alphanumeric()).any(is_sign)
}

/// Whether a value is a credential whatever its variable is called: an address with a password, a private key, or a token in
/// the form of a service that is well known.
pub fn is_secret_value(value: &str) -> bool {
    const BEGINNINGS: [&str; 12] =
        ["ghp_", "gho_", "ghs_", "ghu_", "github_pat_", "glpat-", "sk-", "xoxb-", "xoxp-", "AKIA", "eyJ", "hf_"];
    let has_password = value.split_once("://").is_some_and(|(_, rest)| {
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        authority
            .rsplit_once('@')
            .is_some_and(|(user, _)| user.split_once(':').is_some_and(|(_, word)| !word.is_empty()))
    });
    let is_token = value.len() >= 20 && BEGINNINGS.iter().any(|beginning| value.starts_with(beginning));
    has_password || is_token || value.contains("-----BEGIN ")
}

/// Makes texts the values of a command's arguments: numbers where a number is wanted.
fn read_as(parameter: &Parameter, texts: &[String]) -> Value {
    if parameter.is_list {
        texts.iter().map(|text| parameter.read(text)).collect()
    } else {
        texts.first().map_or(Value::Null, |text| parameter.read(text))
    }
}

#[cfg(test)]
mod tests;
