//! What a run needs, as its skill declares it: pure, printable, and no permission to do anything.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::request::Request;
use rep_model::frontmatter::Frontmatter;
use rep_model::{Resolved, resolve};
use serde_json::Value;

pub mod command;
pub mod declared;
mod request;
mod wire;
pub mod words;

use rep_permissions::limits::TIMEOUT_S_MAX;
pub use rep_permissions::{HostRule, Limits, Permissions};

/// What runs a tool.
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
    /// The word of the specification.
    pub const fn name(self) -> &'static str {
        match self {
            ToolRuntime::Python => "python",
            ToolRuntime::Node => "node",
            ToolRuntime::Bash => "bash",
        }
    }
}

/// A kind of action that wants somebody's consent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Risk {
    /// Files are changed or removed.
    DestructiveWrites,
    /// Something is sent to a host.
    ExternalNetwork,
    /// The tool asks for consent whatever it does.
    Always,
    /// A program of this machine is started in the skill's name.
    Program,
}

/// What leaves a run without what must not be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redaction {
    /// Values of secrets.
    pub secrets: bool,
    /// Personal data, by its shape.
    pub pii: bool,
}

/// A secret a skill declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretNeed {
    /// The variable.
    pub name: String,
    /// Whether the tool runs without it.
    pub is_optional: bool,
}

/// A tool of a skill: a function in a file, or a script, with contracts.
#[derive(Clone, Debug)]
pub struct Tool {
    /// What runs it.
    pub runtime: ToolRuntime,
    /// The file, relative to the skill.
    pub entrypoint: String,
    /// The function in it; `handler` where the skill names none.
    pub handler: String,
    /// The contract of the arguments.
    pub input_schema: Value,
    /// The contract of the result.
    pub output_schema: Option<Value>,
    /// The host's runner of TypeScript, where the entrypoint needs one: `true`, or a program's name.
    pub typescript_runner: Option<String>,
    /// The packages it wants beside it, from the registry of its runtime.
    pub dependencies: Vec<String>,
}

/// A program and its words. No shell comes between: each word is one argument, whatever it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The program as the skill names it: a name to look for, or a file of the skill.
    pub program: Program,
    /// Its arguments, without its own name.
    pub arguments: Vec<String>,
    /// What it reads.
    pub stdin: Vec<u8>,
    /// Variables it gets besides the usual ones. No secret is here.
    pub variables: Vec<(String, String)>,
    /// Where it starts.
    pub start: StartFolder,
    /// The files of its skill that come along, where that is not a whole folder.
    pub files: Option<Vec<String>>,
}

/// What a command starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// A name, looked for in the folders of `PATH`.
    Named(String),
    /// A file of the skill, relative to it, run as its first line says.
    File(String),
    /// A script that stands in the skill's own text, run as its first line says.
    Inline(String),
}

impl Program {
    /// What it is called by.
    pub fn name(&self) -> &str {
        match self {
            Program::Named(name) | Program::File(name) => name,
            Program::Inline(_) => "inline",
        }
    }

    /// The text of a script that stands in the skill.
    pub fn inline(&self) -> Option<&str> {
        match self {
            Program::Inline(text) => Some(text),
            Program::Named(_) | Program::File(_) => None,
        }
    }
}

impl Command {
    /// The words as a person would type them, the program's name first.
    pub fn argv(&self) -> Vec<&str> {
        std::iter::once(self.program.name()).chain(self.arguments.iter().map(String::as_str)).collect()
    }
}

/// The folder a command starts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartFolder {
    /// The workspace.
    Workspace,
    /// The skill's folder.
    Skill,
    /// The skill's folder, which is a copy made for this run alone: the program changes it as it likes, and finds the
    /// interpreters of tools on its path.
    OwnCopy,
}

/// What a run does.
#[derive(Clone, Debug)]
pub enum Work {
    /// Calls a tool.
    Tool(Tool),
    /// Starts a program.
    Command(Command),
    /// Asks a server.
    Request(Box<Request>),
}

impl Work {
    /// The tool that is called, where one is.
    pub fn tool(&self) -> Option<&Tool> {
        match self {
            Work::Tool(tool) => Some(tool),
            Work::Command(_) | Work::Request(_) => None,
        }
    }

    /// The same, to change it.
    pub fn tool_mut(&mut self) -> Option<&mut Tool> {
        match self {
            Work::Tool(tool) => Some(tool),
            Work::Command(_) | Work::Request(_) => None,
        }
    }
}

/// Whether the kernel enforces what a run may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Confinement {
    /// It does.
    #[default]
    Sandboxed,
    /// It does not: the run can do whatever its user can.
    Unconfined,
}

impl Confinement {
    /// Whether it does.
    pub const fn is_sandboxed(self) -> bool {
        matches!(self, Confinement::Sandboxed)
    }
}

/// What a run needs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Whether what it may do is enforced.
    pub confinement: Confinement,
    /// The skill, by its qualified name.
    pub skill: String,
    /// The digest of the skill's folder.
    pub digest: String,
    /// The skill's folder, absolute.
    pub folder: PathBuf,
    /// The tool, the command or the test.
    pub tool: String,
    /// What is done.
    pub work: Work,
    /// The folder patterns are relative to, absolute.
    pub workspace: PathBuf,
    /// The arguments.
    pub input: Value,
    /// What it may do.
    pub permissions: Permissions,
    /// The kinds of action that want consent.
    pub confirm: BTreeSet<Risk>,
    /// What is asked then, in the author's words.
    pub prompt: Option<String>,
    /// What must not leave the run.
    pub redaction: Redaction,
    /// The secrets it declares.
    pub secrets: Vec<SecretNeed>,
    /// How much it may use.
    pub limits: Limits,
    /// What was declared and grants nothing, with the reason.
    pub ignored: Vec<Ignored>,
}

/// A declaration that grants nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// The field: `permissions.filesystem.read`.
    pub field: &'static str,
    /// What stands there.
    pub value: String,
    /// Why it grants nothing.
    pub reason: String,
}

impl fmt::Display for Ignored {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` in `{}` grants nothing: {}", self.value, self.field, self.reason)
    }
}

/// Why no plan can be made: which field is wrong, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` {message}")]
pub struct PlanError {
    /// The field: `implementation.entrypoint`.
    pub field: String,
    /// What is wrong with it.
    pub message: String,
    /// What to do.
    pub remedy: String,
}

impl PlanError {
    pub(crate) fn new(field: impl Into<String>, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into(), remedy: remedy.into() }
    }
}

/// What somebody wants to run: a tool of a skill, where, and with which arguments.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    /// The skill, by its qualified name.
    pub skill: &'a str,
    /// The digest of the skill's folder.
    pub digest: &'a str,
    /// The skill's folder, absolute.
    pub folder: &'a Path,
    /// What the skill declares.
    pub front: &'a Frontmatter,
    /// The tool, one of the skill's effective ones.
    pub tool: &'a Value,
    /// The folder patterns are relative to, absolute.
    pub workspace: &'a Path,
    /// The arguments.
    pub input: Value,
}

impl Plan {
    /// Works out what a call needs. Touches nothing: whether the entrypoint is there is for who runs it to see.
    pub fn of(call: Call<'_>) -> Result<Plan, PlanError> {
        let tool = call.tool;
        let name = text(tool, "name").ok_or_else(|| missing("name", "give the tool a name"))?;
        let runtime = runtime(tool)?;
        let (entrypoint, typescript_runner) = entrypoint(tool, runtime, call.front)?;
        let (permissions, ignored) = declared::permissions(call.front);
        let safety = declared::safety(call.front);
        let mut confirm = safety.confirm;
        confirm.extend(declared::confirmation(tool)?);
        Ok(Plan {
            confinement: Confinement::Sandboxed,
            skill: call.skill.to_owned(),
            digest: call.digest.to_owned(),
            folder: call.folder.to_owned(),
            tool: name.to_owned(),
            work: Work::Tool(Tool {
                runtime,
                entrypoint,
                handler: handler(tool)?,
                input_schema: schema(tool, "input_schema")?.ok_or_else(|| {
                    missing("input_schema", "declare the arguments: `input_schema: {type: object, …}`")
                })?,
                output_schema: schema(tool, "output_schema")?,
                typescript_runner,
                dependencies: declared::dependencies(tool, runtime),
            }),
            workspace: call.workspace.to_owned(),
            input: call.input,
            permissions,
            confirm,
            prompt: tool.pointer("/confirmation/prompt").and_then(Value::as_str).map(str::to_owned),
            redaction: safety.redaction,
            secrets: declared::secrets(call.front)?,
            limits: limits(tool)?,
            ignored,
        })
    }

    /// The kinds of action that want consent and that this run can really do.
    pub fn risks(&self) -> BTreeSet<Risk> {
        let is_real = |risk: &Risk| match risk {
            Risk::DestructiveWrites => !self.permissions.write.is_empty(),
            Risk::ExternalNetwork => !self.permissions.outbound.is_empty(),
            Risk::Always | Risk::Program => true,
        };
        self.confirm.iter().copied().filter(is_real).collect()
    }
}

fn missing(field: &str, remedy: &str) -> PlanError {
    PlanError::new(field, "is missing", remedy)
}

fn text<'a>(tool: &'a Value, field: &str) -> Option<&'a str> {
    tool.get(field).and_then(Value::as_str).filter(|text| !text.is_empty())
}

fn runtime(tool: &Value) -> Result<ToolRuntime, PlanError> {
    const FIELD: &str = "implementation.runtime";
    const REMEDY: &str = "use `python`, `node` or `bash`";
    let word = tool.pointer("/implementation/runtime").ok_or_else(|| missing(FIELD, REMEDY))?;
    match word.as_str() {
        Some("python") => Ok(ToolRuntime::Python),
        Some("node") => Ok(ToolRuntime::Node),
        Some("bash") => Ok(ToolRuntime::Bash),
        _ => Err(PlanError::new(FIELD, format!("is {word}, which is no runtime"), REMEDY)),
    }
}

/// The file a tool starts with, and the runner it needs besides.
fn entrypoint(tool: &Value, runtime: ToolRuntime, front: &Frontmatter) -> Result<(String, Option<String>), PlanError> {
    const FIELD: &str = "implementation.entrypoint";
    let written = tool.pointer("/implementation/entrypoint").and_then(Value::as_str).unwrap_or_default();
    if written.is_empty() {
        return Err(missing(FIELD, "name the file the tool starts with, relative to the skill"));
    }
    let refuse = |message: String, remedy: &str| Err(PlanError::new(FIELD, message, remedy));
    let path = match resolve("", written) {
        Resolved::Inside(path) if !path.is_empty() && !path.chars().any(char::is_control) => path,
        _ => return refuse(format!("is `{written}`, which is no file of the skill"), "use a path inside the skill"),
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
    let message = format!("is `{written}`, which is not for the runtime `{}`", runtime.name());
    if runtime != ToolRuntime::Node || !has(&".ts") {
        return refuse(message, &format!("use a file that ends with `{}`", endings.join("` or `")));
    }
    match declared::typescript_runner(front) {
        Some(runner) => Ok((path, Some(runner))),
        None => refuse(message, "compile it to `.js`, or set `typescript_runner` in the `config` of a host override"),
    }
}

/// The function in the entrypoint. Only names, because the shims look it up by name.
fn handler(tool: &Value) -> Result<String, PlanError> {
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
        None => Err(PlanError::new(FIELD, format!("is {value}, which is no function's name"), "name the function")),
    }
}

fn schema(tool: &Value, field: &str) -> Result<Option<Value>, PlanError> {
    match tool.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(schema @ Value::Object(_)) => Ok(Some(schema.clone())),
        Some(_) => Err(PlanError::new(field, "is no object", "write a JSON Schema")),
    }
}

fn limits(tool: &Value) -> Result<Limits, PlanError> {
    const FIELD: &str = "implementation.timeout_seconds";
    let Some(value) = tool.pointer("/implementation/timeout_seconds").filter(|value| !value.is_null()) else {
        return Ok(Limits::default());
    };
    // In JSON Schema `5.0` is an integer too.
    let whole = value.as_u64().or_else(|| {
        let number = value.as_f64().filter(|number| number.fract() == 0.0 && (1.0..=1e9).contains(number))?;
        format!("{number:.0}").parse().ok()
    });
    match whole {
        Some(seconds @ 1..=TIMEOUT_S_MAX) => Ok(Limits::default().with_timeout(seconds)),
        Some(seconds) if seconds > TIMEOUT_S_MAX => {
            Err(PlanError::new(FIELD, format!("is {seconds}, more than a day"), "ask for less"))
        }
        _ => Err(PlanError::new(FIELD, format!("is {value}"), "use a whole number of seconds, 1 or more")),
    }
}

#[cfg(test)]
mod tests;
