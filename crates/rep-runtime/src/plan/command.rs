//! Plans commands: their words, and what the skill declares.
//!
//! Permissions and safety are read from the `*.uasp.yaml` itself, or from the frontmatter of the SKILL.md
//! next to it; a section in the file takes precedence. A program always needs confirmation
//! ([`Risk::Program`]), because starting a program is a permission. Secrets are always redacted; personal
//! data is redacted if `safety.redact.pii` is true.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::command::{self, BindError, BoundCommand, VariableLookup};
use crate::error::ErrorCode;
use crate::request::{self, RequestError};
use rep_model::provenance::DeclaredProvenance;
use rep_model::yaml::{YamlNode, core};
use rep_model::{ResolvedSkillPath, SkillDocument, resolve_skill_path};
use serde_json::{Map, Value};

use super::{
    CommandProgram, HostRule, IgnoredDeclaration, Plan, PlannedCommand, PlannedWork, Redaction, Risk, RunLimits,
    SecretNeed, StartFolder, declarations,
};
use rep_permissions::glob::Glob;

/// The prefix of template names.
const TEMPLATES_PREFIX: &str = "templates.";
/// The maximum size of a variable that is passed on.
const VARIABLE_BYTES_MAX: usize = 64 << 10;

/// A command to plan, with its arguments and context.
pub struct CommandPlanInput<'a> {
    /// The skill, by its qualified name.
    pub skill: &'a str,
    /// The digest of the files that run.
    pub digest: &'a str,
    /// The skill's directory, absolute.
    pub folder: &'a Path,
    /// The frontmatter next to it, if there is one.
    pub front: Option<&'a YamlNode>,
    /// The UASP file, if the author wrote one.
    pub file: Option<&'a YamlNode>,
    /// The structured skill.
    pub document: &'a SkillDocument,
    /// The command's path or alias, or `templates.NAME`.
    pub name: &'a str,
    /// The directory that patterns are relative to, absolute.
    pub workspace: &'a Path,
    /// The arguments.
    pub arguments: &'a Map<String, Value>,
    /// Looks up the caller's environment.
    pub variable: &'a VariableLookup<'a>,
    /// Returns whether a path is a file of the skill.
    pub is_file: &'a dyn Fn(&str) -> bool,
}

/// The reason why a command cannot be planned: a code, the problem and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CommandError {
    /// The code for programs.
    pub code: ErrorCode,
    /// The problem.
    pub message: String,
    /// The remedy.
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

/// Additional permissions that the caller grants for one call.
#[derive(Clone, Debug, Default)]
pub struct PermissionOverride {
    /// Patterns of files to read.
    pub read: Vec<String>,
    /// Patterns of files to create, change and remove.
    pub write: Vec<String>,
    /// Hosts to connect to.
    pub connect: Vec<String>,
    /// Whether other programs may be started.
    pub may_spawn: bool,
}

impl Plan {
    /// Plans a command. Accesses no files.
    pub fn from_command(call: &CommandPlanInput<'_>) -> Result<Plan, CommandError> {
        let asked = call.document.find_command(call.name);
        if let Some(command) = asked.filter(|command| request::is_request_command(call.document, command)) {
            return Plan::from_request(call, command);
        }
        let (name, program, arguments) = resolve_program_and_arguments(call)?;
        let mut ignored = Vec::new();
        let (variables, secrets) = collect_plan_variables(call, &mut ignored)?;
        let start = StartFolder::Workspace;
        let work = PlannedWork::Command(PlannedCommand {
            program,
            arguments,
            stdin: Vec::new(),
            variables,
            start,
            files: None,
        });
        let mut plan = call.build_plan(name, work);
        plan.confirm.insert(Risk::Program);
        plan.secrets = secrets;
        plan.ignored.extend(ignored);
        Ok(plan)
    }

    /// Adds the permissions granted for this call.
    pub fn apply_overrides(&mut self, overrides: &PermissionOverride) -> Result<(), CommandError> {
        let refuse = |option: &str, value: &str, why: String| {
            CommandError::new(
                ErrorCode::Usage,
                format!("`{option} {value}` grants nothing: {why}"),
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

impl CommandPlanInput<'_> {
    /// Builds the plan of a command, with the declarations that apply to all commands of its skill.
    pub(super) fn build_plan(&self, name: String, work: PlannedWork) -> Plan {
        self.declarations().build_plan(name, work, Value::Object(self.arguments.clone()))
    }

    /// Returns where the skill's declarations are read from.
    pub(super) fn declarations(&self) -> DeclarationSource<'_> {
        DeclarationSource {
            skill: self.skill,
            digest: self.digest,
            folder: self.folder,
            front: self.front,
            file: self.file,
            workspace: self.workspace,
        }
    }
}

/// A skill whose declarations apply to a run.
#[derive(Clone, Copy, Debug)]
pub struct DeclarationSource<'a> {
    /// The skill, by its qualified name.
    pub skill: &'a str,
    /// The digest of the files that run.
    pub digest: &'a str,
    /// The skill's directory, absolute.
    pub folder: &'a Path,
    /// The frontmatter, if there is one.
    pub front: Option<&'a YamlNode>,
    /// The UASP file, if the author wrote one.
    pub file: Option<&'a YamlNode>,
    /// The directory that patterns are relative to, absolute.
    pub workspace: &'a Path,
}

impl<'a> DeclarationSource<'a> {
    /// Finds a section: the UASP file takes precedence over the frontmatter.
    pub(super) fn find_section(&self, field: &str) -> Option<&'a YamlNode> {
        self.file.filter(|file| file.get(field).is_some()).or(self.front)
    }

    /// Builds a plan with the declarations of the skill.
    pub(super) fn build_plan(&self, name: String, work: PlannedWork, input: Value) -> Plan {
        let (permissions, ignored) =
            self.find_section("permissions").map(declarations::parse_permissions_node).unwrap_or_default();
        let safety = self.find_section("safety").map(declarations::parse_safety_node);
        let confirm = safety
            .map_or_else(|| BTreeSet::from([Risk::DestructiveWrites, Risk::ExternalNetwork]), |safety| safety.confirm);
        let is_pii = self.find_section("safety").is_some_and(|root| {
            let pii = root.get("safety").and_then(|safety| safety.get("redact")?.get("pii"));
            pii.and_then(core::classify_scalar) == Some(core::CoreScalar::Bool(true))
        });
        Plan {
            confinement: super::Confinement::Sandboxed,
            skill: self.skill.to_owned(),
            digest: self.digest.to_owned(),
            folder: self.folder.to_owned(),
            tool: name,
            work,
            workspace: self.workspace.to_owned(),
            input,
            permissions,
            confirm,
            prompt: None,
            redaction: Redaction { secrets: true, pii: is_pii },
            secrets: Vec::new(),
            limits: RunLimits::default(),
            ignored,
            provenance: self
                .find_section("provenance")
                .and_then(|root| DeclaredProvenance::from_node(root.get("provenance")?)),
            callees: Vec::new(),
        }
    }
}

/// Resolves the command's path, its program and its arguments.
fn resolve_program_and_arguments(
    call: &CommandPlanInput<'_>,
) -> Result<(String, CommandProgram, Vec<String>), CommandError> {
    if let Some(command) = call.document.find_command(call.name) {
        let name = &command.path;
        if command.syntax.as_deref().is_some_and(is_http_syntax) {
            let message = format!("the command `{name}` is an HTTP request, not a program");
            let remedy = "to send it, set `type: api` or `type: hybrid` in `meta`";
            return Err(CommandError::new(ErrorCode::Unsupported, message, remedy));
        }
        let bound = command::bind_command(call.document, name, call.arguments, call.variable)?;
        let (program, arguments) = split_program(&bound, call)?;
        return Ok((name.to_string(), program, arguments));
    }
    let template = call.name.strip_prefix(TEMPLATES_PREFIX).and_then(|name| call.document.find_template(name));
    let Some(template) = template else { return Err(unknown_path_error(call)) };
    let name = &template.name;
    let arguments = command::bind_template(call.document, name, call.arguments, call.variable)?;
    let is_filled = |text: &&str| !text.trim().is_empty();
    let path = template.path.as_deref().filter(is_filled);
    let program = match (path, template.inline.as_deref().filter(is_filled)) {
        (Some(path), _) => CommandProgram::File(path_inside_skill(path).ok_or_else(|| outside_skill_error(path))?),
        (None, Some(inline)) => CommandProgram::Inline(inline.to_owned()),
        (None, None) => {
            let message = format!("the template `{name}` has neither `path` nor `inline`");
            return Err(CommandError::new(ErrorCode::InvalidCommand, message, "give it a script"));
        }
    };
    Ok((call.name.to_owned(), program, arguments))
}

/// Returns whether a syntax is an HTTP request line.
fn is_http_syntax(syntax: &str) -> bool {
    const METHODS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
    let mut words = syntax.split_whitespace();
    let is_method = words.next().is_some_and(|word| METHODS.contains(&word));
    is_method && words.next().is_some_and(|word| word.starts_with('/') || word.contains("://"))
}

/// The error for an unknown path, with the wording of the specification.
fn unknown_path_error(call: &CommandPlanInput<'_>) -> CommandError {
    let path =
        if call.name.starts_with(TEMPLATES_PREFIX) { call.name.to_owned() } else { format!("commands.{}", call.name) };
    let near = command::find_nearest_names(call.document, call.name);
    let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
    let remedy = if !near.is_empty() {
        format!("did you mean {}?", near.join(", "))
    } else if call.document.runnable_names().is_empty() {
        "it has no commands to run".to_owned()
    } else {
        format!("`rep query {}:commands` lists its commands", call.skill)
    };
    CommandError::new(ErrorCode::PathNotFound, format!("Path '{path}' not found in skill '{}'", call.skill), remedy)
}

/// Normalizes a path inside the skill.
fn path_inside_skill(path: &str) -> Option<String> {
    match resolve_skill_path("", path) {
        ResolvedSkillPath::Inside(path) if !path.is_empty() && !path.chars().any(char::is_control) => Some(path),
        _ => None,
    }
}

fn outside_skill_error(path: &str) -> CommandError {
    let message = format!("`{path}` is not a file of the skill");
    CommandError::new(ErrorCode::InvalidCommand, message, "name a file inside the skill, or a program without a path")
}

/// Splits bound words into program and arguments. A first word with a `/` is a file of the skill. So is any
/// later word that is written in the syntax and is the path of a skill file; it is made absolute, because the
/// command starts in the workspace.
fn split_program(
    bound: &BoundCommand,
    call: &CommandPlanInput<'_>,
) -> Result<(CommandProgram, Vec<String>), CommandError> {
    let (first, rest) = bound.words.split_first().ok_or_else(|| outside_skill_error(""))?;
    let program = if first.text.contains('/') {
        CommandProgram::File(path_inside_skill(&first.text).ok_or_else(|| outside_skill_error(&first.text))?)
    } else {
        CommandProgram::Named(first.text.clone())
    };
    let arguments = rest.iter().map(|word| {
        // A plain word, such as a subcommand, is not a path.
        let is_path = word.is_literal && word.text.contains(['/', '.']) && !word.text.starts_with('-');
        let own = path_inside_skill(&word.text).filter(|path| is_path && (call.is_file)(path));
        match own {
            Some(path) => call.folder.join(path).to_string_lossy().into_owned(),
            None => word.text.clone(),
        }
    });
    Ok((program, arguments.collect()))
}

type VariablesAndSecrets = (Vec<(String, String)>, Vec<SecretNeed>);

/// Collects the variables and secrets of the section `environment`. Variables that control how programs are
/// loaded are not passed on.
fn collect_plan_variables(
    call: &CommandPlanInput<'_>,
    ignored: &mut Vec<IgnoredDeclaration>,
) -> Result<VariablesAndSecrets, CommandError> {
    let mut plain = Vec::new();
    let mut secrets: BTreeMap<String, bool> = BTreeMap::new();
    for variable in command::collect_variables(call.document) {
        let reason = match declarations::check_variable_name(&variable.name) {
            Err(reason) => Some(reason),
            Ok(()) if variable.name.to_uppercase().ends_with("_PROXY") => {
                Some("the sandbox controls network access".to_owned())
            }
            Ok(()) => None,
        };
        if let Some(reason) = reason {
            ignored.push(IgnoredDeclaration { field: "environment", value: variable.name, reason });
            continue;
        }
        if variable.is_secret {
            secrets.insert(variable.name, !variable.is_required);
            continue;
        }
        let given = (call.variable)(&variable.name).filter(|value| !value.is_empty());
        // A variable that the author did not mark as secret may still contain one, such as a database address
        // with a password.
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
    let declared = call.front.map(declarations::parse_secrets_node).transpose();
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
