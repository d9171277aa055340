//! The plan of a run: what it needs, as its skill declares it. A plan is pure and printable, and grants
//! nothing.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::request::BoundRequest;
use rep_model::frontmatter::Frontmatter;
use rep_model::provenance::DeclaredProvenance;
use rep_model::{ResolvedSkillPath, resolve_skill_path};
use serde_json::Value;

pub mod command;
pub mod declarations;
pub mod description;
mod plan_json;
mod request;
mod script;
pub mod server;

use rep_permissions::limits::TIMEOUT_S_MAX;
pub use rep_permissions::{HostRule, RunLimits, RunPermissions};

/// The runtime of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolRuntime {
    /// `handler(args, ctx)` in a Python file.
    Python,
    /// `handler(args, ctx)` in a JavaScript file.
    Node,
    /// JSON on stdin, JSON on stdout.
    Bash,
}

impl ToolRuntime {
    /// Returns the word used in the specification.
    pub const fn name(self) -> &'static str {
        match self {
            ToolRuntime::Python => "python",
            ToolRuntime::Node => "node",
            ToolRuntime::Bash => "bash",
        }
    }
}

/// A kind of action that needs confirmation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Risk {
    /// Files are changed or removed.
    DestructiveWrites,
    /// Something is sent to a host.
    ExternalNetwork,
    /// The tool always asks for confirmation.
    Always,
    /// A program of this machine is started on behalf of the skill.
    Program,
    /// A tool of an MCP server is called, or a server that the user did not declare is asked for its tools.
    ForeignTool,
}

/// What is redacted from a run's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redaction {
    /// Values of secrets.
    pub secrets: bool,
    /// Personal data, recognized by its format.
    pub pii: bool,
}

/// A secret that a skill declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretNeed {
    /// The variable name.
    pub name: String,
    /// Whether the tool runs without it.
    pub is_optional: bool,
}

/// A tool of a skill: a function in a file, or a script, with schemas.
#[derive(Clone, Debug)]
pub struct PlannedTool {
    /// The runtime.
    pub runtime: ToolRuntime,
    /// The file, relative to the skill.
    pub entrypoint: String,
    /// The function in the file; `handler` by default.
    pub handler: String,
    /// The schema of the arguments.
    pub input_schema: Value,
    /// The schema of the result.
    pub output_schema: Option<Value>,
    /// The host's TypeScript runner, if the entrypoint needs one: `true`, or the name of a program.
    pub typescript_runner: Option<String>,
    /// The packages it needs, from the registry of its runtime.
    pub dependencies: Vec<String>,
}

/// A program and its arguments. No shell is involved: each word is one argument, whatever it contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedCommand {
    /// The program as the skill names it: a program name, or a file of the skill.
    pub program: CommandProgram,
    /// Its arguments, without the program name.
    pub arguments: Vec<String>,
    /// Its standard input.
    pub stdin: Vec<u8>,
    /// Variables it receives besides the usual ones. They contain no secrets.
    pub variables: Vec<(String, String)>,
    /// The directory it starts in.
    pub start: StartFolder,
    /// The files of its skill that are visible, if that is not the whole directory.
    pub files: Option<Vec<String>>,
}

/// The program that a command starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandProgram {
    /// A program name, searched in the directories of `PATH`.
    Named(String),
    /// A file of the skill, relative to it, run according to its first line.
    File(String),
    /// A script embedded in the skill's text, run according to its first line.
    Inline(String),
}

impl CommandProgram {
    /// Returns the name of the program.
    pub fn name(&self) -> &str {
        match self {
            CommandProgram::Named(name) | CommandProgram::File(name) => name,
            CommandProgram::Inline(_) => "inline",
        }
    }

    /// Returns the text of an embedded script.
    pub fn inline_text(&self) -> Option<&str> {
        match self {
            CommandProgram::Inline(text) => Some(text),
            CommandProgram::Named(_) | CommandProgram::File(_) => None,
        }
    }
}

impl PlannedCommand {
    /// Returns the words of the command line, starting with the program name.
    pub fn argv(&self) -> Vec<&str> {
        std::iter::once(self.program.name()).chain(self.arguments.iter().map(String::as_str)).collect()
    }
}

/// The directory that a command starts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartFolder {
    /// The workspace.
    Workspace,
    /// The skill's directory.
    Skill,
    /// A copy of the skill's directory that was made for this run. The program may change it, and finds the
    /// interpreters of tools on its path.
    OwnCopy,
}

/// What a run does.
#[derive(Clone, Debug)]
pub enum PlannedWork {
    /// Calls a tool.
    Tool(PlannedTool),
    /// Starts a program.
    Command(PlannedCommand),
    /// Runs a script that the skill bundles.
    Script(PlannedCommand),
    /// Sends a request.
    Request(Box<BoundRequest>),
    /// Converses with an MCP server.
    Server(Box<server::PlannedServerCall>),
}

impl PlannedWork {
    /// Returns the tool to call, if there is one.
    pub fn tool(&self) -> Option<&PlannedTool> {
        match self {
            PlannedWork::Tool(tool) => Some(tool),
            PlannedWork::Command(_) | PlannedWork::Script(_) | PlannedWork::Request(_) | PlannedWork::Server(_) => None,
        }
    }

    /// Returns the tool to call for modification, if there is one.
    pub fn tool_mut(&mut self) -> Option<&mut PlannedTool> {
        match self {
            PlannedWork::Tool(tool) => Some(tool),
            PlannedWork::Command(_) | PlannedWork::Script(_) | PlannedWork::Request(_) | PlannedWork::Server(_) => None,
        }
    }
}

/// Whether the kernel enforces what a run may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Confinement {
    /// The sandbox is active.
    #[default]
    Sandboxed,
    /// The sandbox is off: the run can do whatever its user can.
    Unconfined,
}

impl Confinement {
    /// Returns whether the sandbox is active.
    pub const fn is_sandboxed(self) -> bool {
        matches!(self, Confinement::Sandboxed)
    }
}

/// The plan of a run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Whether the permissions are enforced.
    pub confinement: Confinement,
    /// The skill, by its qualified name.
    pub skill: String,
    /// The digest of the skill's directory.
    pub digest: String,
    /// The skill's directory, absolute.
    pub folder: PathBuf,
    /// The tool, the command or the test.
    pub tool: String,
    /// The work to do.
    pub work: PlannedWork,
    /// The directory that patterns are relative to, absolute.
    pub workspace: PathBuf,
    /// The arguments.
    pub input: Value,
    /// The permissions.
    pub permissions: RunPermissions,
    /// The kinds of action that need confirmation.
    pub confirm: BTreeSet<Risk>,
    /// The author's confirmation prompt.
    pub prompt: Option<String>,
    /// What is redacted from the output.
    pub redaction: Redaction,
    /// The declared secrets.
    pub secrets: Vec<SecretNeed>,
    /// The resource limits.
    pub limits: RunLimits,
    /// Declarations that grant nothing, with the reason.
    pub ignored: Vec<IgnoredDeclaration>,
    /// The declared provenance of the skill, for the audit record.
    pub provenance: Option<DeclaredProvenance>,
    /// What the tools that it calls by name may do and it may not, one line for each. Every call is decided by itself.
    pub callees: Vec<String>,
}

/// A declaration that grants nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredDeclaration {
    /// The field: `permissions.filesystem.read`.
    pub field: &'static str,
    /// The value of the field.
    pub value: String,
    /// Why it grants nothing.
    pub reason: String,
}

impl fmt::Display for IgnoredDeclaration {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` in `{}` grants nothing: {}", self.value, self.field, self.reason)
    }
}

/// The reason why no plan can be made: the field, the problem and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` {message}")]
pub struct PlanError {
    /// The field: `implementation.entrypoint`.
    pub field: String,
    /// The problem.
    pub message: String,
    /// The remedy.
    pub remedy: String,
}

impl PlanError {
    pub(crate) fn new(field: impl Into<String>, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into(), remedy: remedy.into() }
    }
}

/// A tool to plan, with its arguments and context.
#[derive(Clone, Debug)]
pub struct ToolPlanInput<'a> {
    /// The skill, by its qualified name.
    pub skill: &'a str,
    /// The digest of the skill's directory.
    pub digest: &'a str,
    /// The skill's directory, absolute.
    pub folder: &'a Path,
    /// The frontmatter of the skill.
    pub front: &'a Frontmatter,
    /// The tool, one of the skill's effective tools.
    pub tool: &'a Value,
    /// The directory that patterns are relative to, absolute.
    pub workspace: &'a Path,
    /// The arguments.
    pub input: Value,
}

impl Plan {
    /// Plans a tool call. Accesses no files: whether the entrypoint exists is checked when it runs.
    pub fn from_tool(call: ToolPlanInput<'_>) -> Result<Plan, PlanError> {
        let tool = call.tool;
        let name = find_text(tool, "name").ok_or_else(|| missing_field_error("name", "give the tool a name"))?;
        let runtime = parse_runtime(tool)?;
        let (entrypoint, typescript_runner) = parse_entrypoint(tool, runtime, call.front)?;
        let (permissions, ignored) = declarations::parse_permissions(call.front);
        let safety = declarations::parse_safety(call.front);
        let mut confirm = safety.confirm;
        confirm.extend(declarations::parse_confirmation(tool)?);
        Ok(Plan {
            confinement: Confinement::Sandboxed,
            skill: call.skill.to_owned(),
            digest: call.digest.to_owned(),
            folder: call.folder.to_owned(),
            tool: name.to_owned(),
            work: PlannedWork::Tool(PlannedTool {
                runtime,
                entrypoint,
                handler: parse_handler(tool)?,
                input_schema: parse_schema(tool, "input_schema")?.ok_or_else(|| {
                    missing_field_error("input_schema", "declare the arguments: `input_schema: {type: object, …}`")
                })?,
                output_schema: parse_schema(tool, "output_schema")?,
                typescript_runner,
                dependencies: declarations::parse_dependencies(tool, runtime),
            }),
            workspace: call.workspace.to_owned(),
            input: call.input,
            permissions,
            confirm,
            prompt: tool.pointer("/confirmation/prompt").and_then(Value::as_str).map(str::to_owned),
            redaction: safety.redaction,
            secrets: declarations::parse_secrets(call.front)?,
            limits: parse_limits(tool)?,
            ignored,
            provenance: DeclaredProvenance::from_frontmatter(call.front),
            callees: Vec::new(),
        })
    }

    /// Returns the kinds of action that need confirmation and that this run can actually perform.
    pub fn effective_risks(&self) -> BTreeSet<Risk> {
        let is_real = |risk: &Risk| match risk {
            Risk::DestructiveWrites => !self.permissions.write.is_empty(),
            Risk::ExternalNetwork => !self.permissions.outbound.is_empty(),
            Risk::Always | Risk::Program | Risk::ForeignTool => true,
        };
        self.confirm.iter().copied().filter(is_real).collect()
    }
}

fn missing_field_error(field: &str, remedy: &str) -> PlanError {
    PlanError::new(field, "is missing", remedy)
}

fn find_text<'a>(tool: &'a Value, field: &str) -> Option<&'a str> {
    tool.get(field).and_then(Value::as_str).filter(|text| !text.is_empty())
}

fn parse_runtime(tool: &Value) -> Result<ToolRuntime, PlanError> {
    const FIELD: &str = "implementation.runtime";
    const REMEDY: &str = "use `python`, `node` or `bash`";
    let word = tool.pointer("/implementation/runtime").ok_or_else(|| missing_field_error(FIELD, REMEDY))?;
    match word.as_str() {
        Some("python") => Ok(ToolRuntime::Python),
        Some("node") => Ok(ToolRuntime::Node),
        Some("bash") => Ok(ToolRuntime::Bash),
        _ => Err(PlanError::new(FIELD, format!("is {word}, which is not a supported runtime"), REMEDY)),
    }
}

/// Reads the entrypoint of a tool, and the TypeScript runner it needs.
fn parse_entrypoint(
    tool: &Value,
    runtime: ToolRuntime,
    front: &Frontmatter,
) -> Result<(String, Option<String>), PlanError> {
    const FIELD: &str = "implementation.entrypoint";
    let written = tool.pointer("/implementation/entrypoint").and_then(Value::as_str).unwrap_or_default();
    if written.is_empty() {
        return Err(missing_field_error(FIELD, "name the file the tool starts with, relative to the skill"));
    }
    let refuse = |message: String, remedy: &str| Err(PlanError::new(FIELD, message, remedy));
    let path = match resolve_skill_path("", written) {
        ResolvedSkillPath::Inside(path) if !path.is_empty() && !path.chars().any(char::is_control) => path,
        _ => return refuse(format!("is `{written}`, which is not inside the skill"), "use a path inside the skill"),
    };
    let has = |ending: &&str| path.ends_with(ending);
    let endings: &[&str] = match runtime {
        ToolRuntime::Python => &[".py"],
        ToolRuntime::Node => &[".js", ".mjs"],
        ToolRuntime::Bash => &[".sh"],
    };
    if endings.iter().any(has) {
        return Ok((path, None));
    }
    let message = format!("is `{written}`, which the runtime `{}` cannot run", runtime.name());
    if runtime != ToolRuntime::Node || !has(&".ts") {
        return refuse(message, &format!("use a file that ends with `{}`", endings.join("` or `")));
    }
    match declarations::find_typescript_runner(front) {
        Some(runner) => Ok((path, Some(runner))),
        None => refuse(message, "compile it to `.js`, or set `typescript_runner` in the `config` of a host override"),
    }
}

/// Reads the name of the handler function. Only identifiers are allowed, because the shims look it up by
/// name.
fn parse_handler(tool: &Value) -> Result<String, PlanError> {
    const FIELD: &str = "implementation.handler";
    let Some(value) = tool.pointer("/implementation/handler").filter(|value| !value.is_null()) else {
        return Ok("handler".to_owned());
    };
    let is_name = |name: &&str| {
        let is_letter = |letter: char| letter.is_alphabetic() || letter == '_' || letter == '$';
        name.chars().count() <= 128
            && name.chars().next().is_some_and(is_letter)
            && name.chars().all(|letter| is_letter(letter) || letter.is_numeric())
    };
    match value.as_str().filter(is_name) {
        Some(name) => Ok(name.to_owned()),
        None => Err(PlanError::new(FIELD, format!("is {value}, which is not a function name"), "name the function")),
    }
}

fn parse_schema(tool: &Value, field: &str) -> Result<Option<Value>, PlanError> {
    match tool.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(schema @ Value::Object(_)) => Ok(Some(schema.clone())),
        Some(_) => Err(PlanError::new(field, "is not an object", "write a JSON Schema")),
    }
}

fn parse_limits(tool: &Value) -> Result<RunLimits, PlanError> {
    const FIELD: &str = "implementation.timeout_seconds";
    let Some(value) = tool.pointer("/implementation/timeout_seconds").filter(|value| !value.is_null()) else {
        return Ok(RunLimits::default());
    };
    // In JSON Schema `5.0` is an integer too.
    let whole = value.as_u64().or_else(|| {
        let number = value.as_f64().filter(|number| number.fract() == 0.0 && (1.0..=1e9).contains(number))?;
        format!("{number:.0}").parse().ok()
    });
    match whole {
        Some(seconds @ 1..=TIMEOUT_S_MAX) => Ok(RunLimits::default().with_timeout(seconds)),
        Some(seconds) if seconds > TIMEOUT_S_MAX => {
            Err(PlanError::new(FIELD, format!("is {seconds}, more than a day"), "use a shorter time"))
        }
        _ => Err(PlanError::new(FIELD, format!("is {value}"), "use a whole number of seconds, 1 or more")),
    }
}

#[cfg(test)]
mod tests;
