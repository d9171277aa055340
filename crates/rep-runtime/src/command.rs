//! Binds one command to an argument vector: a typed template and unmodified values. UASP §5.6, §5.7, §9.4.
//!
//! No shell is involved. The syntax is parsed once. Each value then becomes exactly one word (or one word per
//! list item, if a slot takes several). A value is never parsed again, never split, and never changes which
//! other words there are. A value that a program could mistake for a flag is refused in a positional slot:
//! one that starts with `-`, unless the syntax shows `--` before it, it is just `-`, or it is a number for an
//! argument declared as one.
//!
//! Placement: arguments go where the syntax shows them, otherwise after its words in the order of
//! declaration. Flags go where the syntax shows them, otherwise at its `[options]`, otherwise before its
//! `--`, otherwise at the end, global flags last.

use crate::error::ErrorCode;
use rep_model::SkillDocument;
use rep_model::suggestion::nearest_names;
use rep_model::uasp::{UaspArgument, UaspCommand, UaspTemplate};
use serde_json::{Map, Value};

pub(crate) mod argument;
mod binder;
mod template;

use argument::CommandParameter;
pub(crate) use argument::matches_format;
use binder::CommandBinder;

/// The words of a command, starting with the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundCommand {
    /// The words; never empty.
    pub words: Vec<CommandWord>,
}

impl BoundCommand {
    /// Returns the words.
    pub fn argv(&self) -> Vec<&str> {
        self.words.iter().map(|word| word.text.as_str()).collect()
    }
}

/// One word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandWord {
    /// The text of the word.
    pub text: String,
    /// Whether it is part of the syntax itself, so that no caller influenced it.
    pub is_literal: bool,
}

/// The reason why no argument vector can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindError {
    /// `INVALID_ARGUMENT` if the caller can fix it, `INVALID_COMMAND` if the author must.
    pub code: ErrorCode,
    /// The problem.
    pub message: String,
    /// The remedy.
    pub remedy: String,
}

impl BindError {
    fn invalid_argument(name: &str, what: impl AsRef<str>, remedy: impl Into<String>) -> Self {
        let message = format!("the argument `{name}` {}", what.as_ref());
        Self { code: ErrorCode::InvalidArgument, message, remedy: remedy.into() }
    }

    fn invalid_command(message: impl Into<String>) -> Self {
        let remedy = "fix its `syntax`; `rep check` shows where it is".to_owned();
        Self { code: ErrorCode::InvalidCommand, message: message.into(), remedy }
    }
}

/// Looks up a variable of the caller's environment.
pub type VariableLookup<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Builds the words of a command from arguments. `variable` is queried for flags that name an `env`.
pub fn bind_command(
    document: &SkillDocument,
    name: &str,
    arguments: &Map<String, Value>,
    variable: &VariableLookup<'_>,
) -> Result<BoundCommand, BindError> {
    try_each_syntax(document, name, |binder| binder.build_command(arguments, variable))
}

/// Parses the words of a workflow step after the command's name into arguments.
pub fn parse_step_arguments(
    document: &SkillDocument,
    name: &str,
    words: &[String],
) -> Result<Map<String, Value>, BindError> {
    try_each_syntax(document, name, |binder| binder.parse_step_words(words))
}

/// The maximum number of syntax variants of a command.
const SYNTAXES_MAX: usize = 64;

/// Tries every syntax variant of a command, and returns the error of the first one if none matches.
fn try_each_syntax<T>(
    document: &SkillDocument,
    name: &str,
    work: impl Fn(CommandBinder<'_>) -> Result<T, BindError>,
) -> Result<T, BindError> {
    let unknown = UaspCommand::default();
    let command = document.get_command(name).unwrap_or(&unknown);
    let syntax = command.syntax.as_deref().unwrap_or_default();
    let lines: Vec<&str> = syntax.lines().map(str::trim).filter(|line| !line.is_empty()).take(SYNTAXES_MAX).collect();
    let Some(program) = lines.first().and_then(|line| line.trim_start_matches("$ ").split_whitespace().next()) else {
        return Err(BindError::invalid_command(format!("the command `{name}` has no `syntax`")));
    };
    let variants = command.variants.iter().take(SYNTAXES_MAX).filter_map(|variant| variant.syntax.as_deref());
    let variants = variants.map(|variant| match variant.split_whitespace().next() {
        Some(first) if first == program => variant.to_owned(),
        _ => format!("{program} {variant}"),
    });
    let mut first = None;
    let ways = lines.iter().map(|line| ((*line).to_owned(), false)).chain(variants.map(|variant| (variant, true)));
    for (line, is_variant) in ways {
        let done = CommandBinder::new(document, name, command, &line, is_variant).and_then(&work);
        match done {
            Ok(done) => return Ok(done),
            Err(error) => first = first.or(Some(error)),
        }
    }
    Err(first.unwrap_or_else(|| BindError::invalid_command(format!("the command `{name}` has no `syntax`"))))
}

/// Builds the words of a template: its arguments in the order of declaration, otherwise in that of its
/// `usage`.
pub fn bind_template(
    document: &SkillDocument,
    name: &str,
    arguments: &Map<String, Value>,
    variable: &VariableLookup<'_>,
) -> Result<Vec<String>, BindError> {
    let unknown = UaspTemplate::default();
    let binder = CommandBinder::from_template(document, name, document.find_template(name).unwrap_or(&unknown));
    let bound = binder.build_command(arguments, variable)?;
    Ok(bound.words.into_iter().skip(1).map(|word| word.text).collect())
}

/// An argument or flag as described to clients.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterDescription {
    /// The argument name.
    pub name: String,
    /// Its JSON Schema.
    pub schema: Map<String, Value>,
    /// Whether it is required.
    pub is_needed: bool,
}

/// Describes the arguments and flags that a command or template declares, in order.
pub fn describe_parameters(
    document: &SkillDocument,
    arguments: &[UaspArgument],
    flags: &[UaspArgument],
) -> Vec<ParameterDescription> {
    let all = arguments.iter().map(|one| (one, false)).chain(flags.iter().map(|one| (one, true)));
    let described = all.filter_map(|(one, is_flag)| {
        let parameter = CommandParameter::from_definition(one, document, is_flag, false)?;
        let mut schema = Map::new();
        let about = one.description.as_deref().or(one.purpose.as_deref());
        schema.extend(about.map(|about| ("description".to_owned(), about.into())));
        schema.extend(parameter.to_json_schema());
        Some(ParameterDescription { name: parameter.name().to_owned(), is_needed: parameter.is_needed(), schema })
    });
    described.collect()
}

/// Returns the names nearest to an unknown name, nearest first.
pub fn find_nearest_names(document: &SkillDocument, name: &str) -> Vec<String> {
    const NEAREST_MAX: usize = 3;
    const LOOKED_AT_MAX: usize = 2000;
    let aliases = document.sections.commands.iter().flat_map(UaspCommand::names);
    let all = document.runnable_names().into_iter().chain(aliases.map(str::to_owned));
    let all: Vec<String> = all.take(LOOKED_AT_MAX).collect();
    let near = nearest_names(name, all.iter().map(String::as_str), NEAREST_MAX, 0.7);
    near.into_iter().map(str::to_owned).collect()
}

/// A variable declared in the section `environment`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredVariable {
    /// Its name.
    pub name: String,
    /// The default value.
    pub default: Option<String>,
    /// Whether its value is a secret.
    pub is_secret: bool,
    /// Whether nothing runs without it.
    pub is_required: bool,
}

/// Collects the variables that a skill's programs use, without duplicates.
pub fn collect_variables(document: &SkillDocument) -> Vec<DeclaredVariable> {
    let mut all: Vec<DeclaredVariable> = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for entry in &document.sections.environment {
        let name = entry.name.as_deref().unwrap_or_default().trim();
        if name.is_empty() || !seen.insert(name) {
            continue;
        }
        let default = entry.default.as_ref().filter(|value| !value.is_object() && !value.is_array());
        all.push(DeclaredVariable {
            name: name.to_owned(),
            default: default.map(argument::render_scalar),
            is_secret: entry.is_secret == Some(true) || is_secret_name(name),
            is_required: entry.is_required == Some(true),
        });
    }
    all
}

/// Returns whether a variable's name indicates a credential.
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
    // Suffixes without a separator: PGPASSWORD, GITHUBTOKEN.
    const ENDS: [&str; 6] = ["password", "passwd", "passphrase", "secret", "token", "apikey"];
    if matches!(name, "PWD" | "OLDPWD") {
        return false;
    }
    let is_sign = |word: &str| SIGNS.contains(&word) || ENDS.iter().any(|end| word.ends_with(end));
    name.to_lowercase().split(|letter: char| !letter.is_alphanumeric()).any(is_sign)
}

/// Returns whether a value is a credential regardless of its variable's name: an address with a password, a
/// private key, or a token in the format of a well-known service.
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

/// Converts texts to the value of an argument: numbers if a number is expected.
fn parse_argument_texts(parameter: &CommandParameter, texts: &[String]) -> Value {
    if parameter.is_list {
        texts.iter().map(|text| parameter.parse_text(text)).collect()
    } else {
        texts.first().map_or(Value::Null, |text| parameter.parse_text(text))
    }
}

#[cfg(test)]
mod tests;
