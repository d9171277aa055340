//! What a run of a command needs: its words, and what the skill declares.
//!
//! Permissions and safety stand in the `*.uasp.yaml` itself, or in the frontmatter of the SKILL.md beside it; the file's own
//! section goes first. A program is always confirmed ([`Risk::Program`]): which programs a skill may start is a
//! permission. Secrets are always taken out of what leaves; personal data where `safety.redact.pii` is true.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::command::{self, BindError, Bound, Lookup};
use crate::error::ErrorCode;
use crate::request::{self, RequestError};
use rep_model::yaml::{Node, core};
use rep_model::{Document, Resolved, resolve};
use serde_json::{Map, Value};

use super::{
    Command, HostRule, Ignored, Limits, Plan, Program, Redaction, Risk, SecretNeed, StartFolder, Work, declared,
};
use rep_permissions::glob::Glob;

/// What stands before a template's name.
const TEMPLATES: &str = "templates.";
/// The most bytes of a variable that are handed on.
const VARIABLE_BYTES_MAX: usize = 64 << 10;

/// A command somebody wants to run.
pub struct CommandCall<'a> {
    /// The skill, by its qualified name.
    pub skill: &'a str,
    /// The digest of what runs.
    pub digest: &'a str,
    /// The skill's folder, absolute.
    pub folder: &'a Path,
    /// The frontmatter beside it, where there is one.
    pub front: Option<&'a Node>,
    /// The UASP file, where its author wrote one.
    pub file: Option<&'a Node>,
    /// The skill in sections.
    pub document: &'a Document,
    /// The command's path or alias, or `templates.NAME`.
    pub name: &'a str,
    /// The folder patterns are relative to, absolute.
    pub workspace: &'a Path,
    /// The arguments.
    pub arguments: &'a Map<String, Value>,
    /// The caller's environment.
    pub variable: &'a Lookup<'a>,
    /// Whether a path inside the skill is one of its files.
    pub is_file: &'a dyn Fn(&str) -> bool,
}

/// Why a command has no plan: a word for programs, what is wrong, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CommandError {
    /// The word for programs.
    pub code: ErrorCode,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub remedy: String,
}

impl CommandError {
    pub(super) fn new(code: ErrorCode, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { code, message: message.into(), remedy: remedy.into() }
    }
}

impl From<BindError> for CommandError {
    fn from(error: BindError) -> Self {
        Self { code: error.code, message: error.message, remedy: error.remedy }
    }
}

impl From<RequestError> for CommandError {
    fn from(error: RequestError) -> Self {
        Self { code: error.code, message: error.message, remedy: error.remedy }
    }
}

/// What somebody lends a run: permissions for one call.
#[derive(Clone, Debug, Default)]
pub struct PermissionOverride {
    /// Patterns of files to read.
    pub read: Vec<String>,
    /// Patterns of files to make, change and remove.
    pub write: Vec<String>,
    /// Hosts to connect to.
    pub connect: Vec<String>,
    /// Whether other programs may be started.
    pub may_spawn: bool,
}

impl Plan {
    /// Works out what a command needs. Touches nothing.
    pub fn of_command(call: &CommandCall<'_>) -> Result<Plan, CommandError> {
        let asked = call.document.find_command(call.name);
        if let Some(command) = asked.filter(|command| request::is_request(call.document, command)) {
            return Plan::of_request(call, command);
        }
        let (name, program, arguments) = words(call)?;
        let mut ignored = Vec::new();
        let (variables, secrets) = variables(call, &mut ignored)?;
        let start = StartFolder::Workspace;
        let work = Work::Command(Command { program, arguments, stdin: Vec::new(), variables, start, files: None });
        let mut plan = call.declared(name, work);
        plan.confirm.insert(Risk::Program);
        plan.secrets = secrets;
        plan.ignored.extend(ignored);
        Ok(plan)
    }

    /// Adds what somebody lends for this call.
    pub fn lend(&mut self, overrides: &PermissionOverride) -> Result<(), CommandError> {
        let refuse = |option: &str, value: &str, why: String| {
            CommandError::new(
                ErrorCode::Usage,
                format!("`{option} {value}` lends nothing: {why}"),
                "patterns are relative to the workspace",
            )
        };
        for (option, patterns, into) in [
            ("--allow-read", &overrides.read, &mut self.permissions.read),
            ("--allow-write", &overrides.write, &mut self.permissions.write),
        ] {
            for pattern in patterns {
                into.push(Glob::parse(pattern).map_err(|bad| refuse(option, pattern, bad.to_string()))?);
            }
            into.sort();
            into.dedup();
        }
        for host in &overrides.connect {
            let rule = HostRule::parse(host).map_err(|bad| refuse("--allow-connect", host, bad.to_string()))?;
            self.permissions.outbound.push(rule);
        }
        self.permissions.outbound.sort();
        self.permissions.outbound.dedup();
        self.permissions.allow_subprocess |= overrides.may_spawn;
        Ok(())
    }
}

impl CommandCall<'_> {
    /// Where a section stands: the file's own goes first.
    pub(super) fn section(&self, field: &str) -> Option<&Node> {
        self.file.filter(|file| file.get(field).is_some()).or(self.front)
    }

    /// The plan of what a command does, with what its skill declares for all of them.
    pub(super) fn declared(&self, name: String, work: Work) -> Plan {
        let (permissions, ignored) = self.section("permissions").map(declared::permissions_in).unwrap_or_default();
        let safety = self.section("safety").map(declared::safety_in);
        let confirm = safety
            .map_or_else(|| BTreeSet::from([Risk::DestructiveWrites, Risk::ExternalNetwork]), |safety| safety.confirm);
        let is_pii = self.section("safety").is_some_and(|root| {
            let pii = root.get("safety").and_then(|safety| safety.get("redact")?.get("pii"));
            pii.and_then(core::scalar) == Some(core::Scalar::Bool(true))
        });
        Plan {
            confinement: super::Confinement::Sandboxed,
            skill: self.skill.to_owned(),
            digest: self.digest.to_owned(),
            folder: self.folder.to_owned(),
            tool: name,
            work,
            workspace: self.workspace.to_owned(),
            input: Value::Object(self.arguments.clone()),
            permissions,
            confirm,
            prompt: None,
            redaction: Redaction { secrets: true, pii: is_pii },
            secrets: Vec::new(),
            limits: Limits::default(),
            ignored,
        }
    }
}

/// The path of what runs, its program and its arguments.
fn words(call: &CommandCall<'_>) -> Result<(String, Program, Vec<String>), CommandError> {
    if let Some(command) = call.document.find_command(call.name) {
        let name = &command.path;
        if command.syntax.as_deref().is_some_and(is_request) {
            let message = format!("the command `{name}` is an HTTP request, and no program");
            let remedy = "say `type: api` or `type: hybrid` in its `meta`, and it is sent";
            return Err(CommandError::new(ErrorCode::Unsupported, message, remedy));
        }
        let bound = command::bind(call.document, name, call.arguments, call.variable)?;
        let (program, arguments) = started(&bound, call)?;
        return Ok((name.to_string(), program, arguments));
    }
    let template = call.name.strip_prefix(TEMPLATES).and_then(|name| call.document.template(name));
    let Some(template) = template else { return Err(unknown(call)) };
    let name = &template.name;
    let arguments = command::bind_template(call.document, name, call.arguments, call.variable)?;
    let is_filled = |text: &&str| !text.trim().is_empty();
    let path = template.path.as_deref().filter(is_filled);
    let program = match (path, template.inline.as_deref().filter(is_filled)) {
        (Some(path), _) => Program::File(inside(path).ok_or_else(|| outside(path))?),
        (None, Some(inline)) => Program::Inline(inline.to_owned()),
        (None, None) => {
            let message = format!("the template `{name}` has neither `path` nor `inline`");
            return Err(CommandError::new(ErrorCode::InvalidCommand, message, "give it a script"));
        }
    };
    Ok((call.name.to_owned(), program, arguments))
}

/// Whether a syntax is a line of HTTP.
fn is_request(syntax: &str) -> bool {
    const METHODS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
    let mut words = syntax.split_whitespace();
    let is_method = words.next().is_some_and(|word| METHODS.contains(&word));
    is_method && words.next().is_some_and(|word| word.starts_with('/') || word.contains("://"))
}

/// The error for a path that leads to nothing, in the specification's words.
fn unknown(call: &CommandCall<'_>) -> CommandError {
    let path = if call.name.starts_with(TEMPLATES) { call.name.to_owned() } else { format!("commands.{}", call.name) };
    let near = command::nearest(call.document, call.name);
    let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
    let remedy = if !near.is_empty() {
        format!("did you mean {}?", near.join(", "))
    } else if call.document.runnable_names().is_empty() {
        "it has no commands to run".to_owned()
    } else {
        format!("`rep query {}:commands` shows what there is", call.skill)
    };
    CommandError::new(ErrorCode::PathNotFound, format!("Path '{path}' not found in skill '{}'", call.skill), remedy)
}

/// A path as one inside the skill.
fn inside(path: &str) -> Option<String> {
    match resolve("", path) {
        Resolved::Inside(path) if !path.is_empty() && !path.chars().any(char::is_control) => Some(path),
        _ => None,
    }
}

fn outside(path: &str) -> CommandError {
    let message = format!("`{path}` is no file of the skill");
    CommandError::new(ErrorCode::InvalidCommand, message, "name a file inside the skill, or a program without a path")
}

/// The program and arguments of bound words. A first word with a `/` is a file of the skill, and so is a word further on that
/// stands in the syntax itself and is the path of one: it is made absolute, as the command starts in the workspace.
fn started(bound: &Bound, call: &CommandCall<'_>) -> Result<(Program, Vec<String>), CommandError> {
    let (first, rest) = bound.words.split_first().ok_or_else(|| outside(""))?;
    let program = if first.text.contains('/') {
        Program::File(inside(&first.text).ok_or_else(|| outside(&first.text))?)
    } else {
        Program::Named(first.text.clone())
    };
    let arguments = rest.iter().map(|word| {
        // A plain word, such as a subcommand, is no path.
        let is_path = word.is_literal && word.text.contains(['/', '.']) && !word.text.starts_with('-');
        let own = inside(&word.text).filter(|path| is_path && (call.is_file)(path));
        match own {
            Some(path) => call.folder.join(path).to_string_lossy().into_owned(),
            None => word.text.clone(),
        }
    });
    Ok((program, arguments.collect()))
}

type Variables = (Vec<(String, String)>, Vec<SecretNeed>);

/// What the section `environment` hands on: plain variables, and secrets. What steers programs is not handed on.
fn variables(call: &CommandCall<'_>, ignored: &mut Vec<Ignored>) -> Result<Variables, CommandError> {
    let mut plain = Vec::new();
    let mut secrets: BTreeMap<String, bool> = BTreeMap::new();
    for variable in command::variables(call.document) {
        let reason = match declared::variable(&variable.name) {
            Err(reason) => Some(reason),
            Ok(()) if variable.name.to_uppercase().ends_with("_PROXY") => {
                Some("the way to the network is the sandbox's own".to_owned())
            }
            Ok(()) => None,
        };
        if let Some(reason) = reason {
            ignored.push(Ignored { field: "environment", value: variable.name, reason });
            continue;
        }
        if variable.is_secret {
            secrets.insert(variable.name, !variable.is_required);
            continue;
        }
        let given = (call.variable)(&variable.name).filter(|value| !value.is_empty());
        // What its author did not call a secret may hold one all the same, as the address of a database does.
        if given.as_deref().is_some_and(command::is_secret_value) {
            secrets.insert(variable.name, !variable.is_required);
            continue;
        }
        let value = given.or(variable.default);
        match value.filter(|value| value.len() <= VARIABLE_BYTES_MAX && !value.contains('\0')) {
            Some(value) => plain.push((variable.name, value)),
            None if variable.is_required => {
                let message = format!("`{}` needs the variable `{}`, which is not set", call.skill, variable.name);
                return Err(CommandError::new(
                    ErrorCode::VariableMissing,
                    message,
                    format!("set {} in the environment", variable.name),
                ));
            }
            None => {}
        }
    }
    let declared = call.front.map(declared::secrets_in).transpose();
    let declared =
        declared.map_err(|error| CommandError::new(ErrorCode::InvalidSkill, error.to_string(), error.remedy))?;
    for need in declared.unwrap_or_default() {
        secrets.entry(need.name).and_modify(|known| *known &= need.is_optional).or_insert(need.is_optional);
    }
    let secrets = secrets.into_iter().map(|(name, is_optional)| SecretNeed { name, is_optional }).collect();
    Ok((plain, secrets))
}

#[cfg(test)]
mod tests;
