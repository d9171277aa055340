//! What a run came to: a result, an error or a task, and what is known about how it went.
//!
//! On stdout stands the result alone, or an envelope (Universal 2.1 §9). How the run went (layers, denials, duration) is
//! told beside it and never mixed in, because a result is exactly what the tool's contract says. An output that looks like an
//! envelope is one, unless the tool's own `output_schema` speaks of a `status` and accepts it; where a tool ended with a
//! failure, its output is never taken for a result.

use serde_json::{Map, Value, json};

use crate::error::{Audience, ErrorCode};
use crate::plan::{Plan, Tool};
use crate::schema::{Fit, Misfit, fit};
use rep_permissions::redact::Redactor;
use rep_sandbox::{Denial, Ended, Exit, Killed, Layer, SandboxError};

/// How a run ended, for programs that look at exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A result, or a task that goes on.
    Fine,
    /// Nothing was run.
    Refused,
    /// The tool failed.
    Failed,
    /// Somebody asked it to end.
    Interrupted,
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolError {
    /// A stable word: `INVALID_ARGUMENT`, `TIMEOUT`, …, or the tool's own.
    pub code: ErrorCode,
    /// What happened, for people and models.
    pub message: String,
    /// Whether the same call may succeed another time.
    pub is_retriable: bool,
    /// What else is known.
    pub more: Box<Map<String, Value>>,
    /// Who may see the message.
    pub audience: Audience,
}

/// Fields of an error that are not a tool's to fill: what would allow a run, and what it was denied.
const HOST_FIELDS: [&str; 6] = ["code", "message", "retriable", "remedy", "denied", "tool_code"];

impl ToolError {
    /// An error that another try will not mend.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let audience = Audience::Caller;
        Self { code, message: message.into(), is_retriable: false, more: Box::default(), audience }
    }

    /// Keeps the message from clients.
    #[must_use]
    pub fn for_operator(mut self) -> Self {
        self.audience = Audience::Operator;
        self
    }

    /// Marks an error that another try may mend.
    #[must_use]
    pub fn retriable(mut self) -> Self {
        self.is_retriable = true;
        self
    }

    /// Adds what else is known.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.more.insert(key.to_owned(), value.into());
        self
    }

    /// The `error` of an envelope.
    pub fn value(&self) -> Value {
        let mut fields = Map::new();
        fields.insert("code".to_owned(), self.code.as_str().into());
        fields.insert("message".to_owned(), self.message.clone().into());
        fields.insert("retriable".to_owned(), self.is_retriable.into());
        fields.extend(self.more.iter().map(|(key, value)| (key.clone(), value.clone())));
        Value::Object(fields)
    }

    /// The error of a tool's own envelope.
    fn of(error: &Map<String, Value>) -> Option<Self> {
        let text = |key: &str| error.get(key).and_then(Value::as_str);
        let (code, message) = (text("code")?, text("message")?);
        let more = error.iter().filter(|(key, _)| !HOST_FIELDS.contains(&key.as_str()));
        let own = Self {
            code: ErrorCode::parse(code),
            message: message.to_owned(),
            is_retriable: error.get("retriable").and_then(Value::as_bool).unwrap_or(false),
            more: Box::new(more.map(|(key, value)| (key.clone(), value.clone())).collect()),
            audience: Audience::Caller,
        };
        if own.code.is_host_only() {
            return Some(Self { code: ErrorCode::ToolFailed, ..own.with("tool_code", code) });
        }
        Some(own)
    }
}

/// What a tool gave.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// An object that fits the contract.
    Result(Value),
    /// A task that goes on: the whole envelope.
    Task(Value),
    /// None.
    Error(ToolError),
}

/// A run that is over, or was never begun.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What the tool gave.
    pub reply: Reply,
    /// For programs.
    pub verdict: Verdict,
    /// Whether anything was started.
    pub is_executed: bool,
    /// What the tool said on stderr, and on stdout besides the result.
    pub said: String,
    /// How it ended, where it was started.
    pub exit: Option<Exit>,
    /// Why it was ended.
    pub killed: Option<Killed>,
    /// Whether it wrote more than is read.
    pub is_truncated: bool,
    /// What it tried and may not.
    pub denials: Vec<Denial>,
    /// What held it.
    pub layers: Vec<Layer>,
    /// The files that were taken over.
    pub written: Vec<String>,
    /// What somebody else changed while it ran, and what became of that.
    pub conflicts: Vec<String>,
    /// What was found besides: what runs left that were ended by force.
    pub notes: Vec<String>,
    /// How long it took.
    pub duration_ms: u64,
    /// Secrets that are too short to be taken out.
    pub unredacted: Vec<String>,
    /// The names of the secrets it was handed.
    pub secrets: Vec<String>,
}

impl Outcome {
    /// A run that was not begun.
    pub fn refused(error: ToolError) -> Self {
        Self {
            reply: Reply::Error(error),
            verdict: Verdict::Refused,
            is_executed: false,
            said: String::new(),
            exit: None,
            killed: None,
            is_truncated: false,
            denials: Vec::new(),
            layers: Vec::new(),
            written: Vec::new(),
            conflicts: Vec::new(),
            notes: Vec::new(),
            duration_ms: 0,
            unredacted: Vec::new(),
            secrets: Vec::new(),
        }
    }

    /// What stands on stdout.
    pub fn value(&self) -> Value {
        match &self.reply {
            Reply::Result(value) | Reply::Task(value) => value.clone(),
            Reply::Error(error) => json!({ "status": "error", "error": error.value() }),
        }
    }

    /// How the run went, for programs.
    pub fn metadata(&self) -> Value {
        let (code, signal) = match self.exit {
            Some(Exit::Code(code)) => (Some(code), None),
            Some(Exit::Signal(signal)) => (None, Some(signal)),
            None => (None, None),
        };
        let layers = self.layers.iter().map(|layer| json!({ "name": layer.name, "state": layer.state }));
        json!({
            "executed": self.is_executed,
            "duration_ms": self.duration_ms,
            "exit_code": code,
            "signal": signal,
            "killed": self.killed.map(killed_name),
            "truncated": self.is_truncated,
            "layers": layers.collect::<Vec<Value>>(),
            "denials": denied(&self.denials),
            "written": self.written,
            "conflicts": self.conflicts,
            "unredacted_secrets": self.unredacted,
            "secrets": self.secrets,
        })
    }
}

const fn killed_name(killed: Killed) -> &'static str {
    match killed {
        Killed::Timeout => "timeout",
        Killed::Cancelled => "cancelled",
        Killed::Output => "output",
        Killed::Memory => "memory",
    }
}

/// Denials for programs.
fn denied(denials: &[Denial]) -> Vec<Value> {
    let one =
        |denial: &Denial| json!({ "action": denial.action, "target": denial.target, "suggestion": denial.suggestion });
    denials.iter().map(one).collect()
}

/// How much of what a failed tool said goes into its error.
const SAID_CHARS_MAX: usize = 2000;

/// Judges a run that is over. `result` is what stands for the result, `stray` what else stood on stdout.
pub(crate) fn judge(
    plan: &Plan,
    tool: &Tool,
    ended: Ended,
    result: &[u8],
    stray: &[u8],
    redactor: &Redactor,
) -> Outcome {
    let is_cut = ended.is_truncated;
    // Shorter paths can bring the parts of a secret together, and can tear one apart that holds a path.
    let clean = |text: &str| redactor.text(&relative(&redactor.text(text), plan));
    let said = clean(&redactor.output(&[stray, &ended.stderr].concat(), is_cut));
    let (reply, verdict) = match read(plan, tool, &ended, result) {
        Ok(reply) => (reply, Verdict::Fine),
        Err(error) if ended.killed == Some(Killed::Cancelled) => (Reply::Error(error), Verdict::Interrupted),
        Err(error) => (Reply::Error(described(error, &said, clean)), Verdict::Failed),
    };
    concluded(plan, ended, said, (reply, verdict), redactor)
}

/// What a program came to: what it wrote and its exit code, as it is. A program that ended badly is an error that holds the same.
pub(crate) fn ran(plan: &Plan, ended: Ended, redactor: &Redactor) -> Outcome {
    let is_cut = ended.is_truncated;
    let stdout = redactor.output(&ended.stdout, is_cut);
    let stderr = redactor.output(&ended.stderr, is_cut);
    let code = match ended.exit {
        Exit::Code(code) => code,
        // As shells count.
        Exit::Signal(signal) => 128 + signal,
    };
    let error = match ended.killed {
        Some(killed) => Some(ended_by_us(plan, killed)),
        None if code != 0 => Some(ToolError::new(ErrorCode::CommandFailed, "Command execution failed")),
        None => None,
    };
    let verdict = match (&error, ended.killed) {
        (None, _) => Verdict::Fine,
        (Some(_), Some(Killed::Cancelled)) => Verdict::Interrupted,
        (Some(_), _) => Verdict::Failed,
    };
    let reply = match error {
        None => Reply::Result(json!({ "stdout": stdout, "stderr": stderr, "returncode": code })),
        Some(error) => Reply::Error(error.with("stdout", stdout).with("stderr", stderr).with("returncode", code)),
    };
    concluded(plan, ended, String::new(), (reply, verdict), redactor)
}

/// What a request came to: what the server answered, or why there is no answer.
pub(crate) fn answered(
    plan: &Plan,
    reply: Result<Value, ToolError>,
    denials: Vec<Denial>,
    killed: Option<Killed>,
    duration_ms: u64,
    redactor: &Redactor,
) -> Outcome {
    let (reply, verdict) = match reply {
        Ok(value) => (Reply::Result(value), Verdict::Fine),
        Err(error) if killed == Some(Killed::Cancelled) => (Reply::Error(error), Verdict::Interrupted),
        Err(error) => (Reply::Error(error), Verdict::Failed),
    };
    let ended = Ended {
        exit: Exit::Code(i32::from(verdict != Verdict::Fine)),
        killed,
        stdout: Vec::new(),
        stderr: Vec::new(),
        is_truncated: false,
        denials,
        layers: vec![Layer { name: "hosts", state: "enforced".to_owned() }],
        written: Vec::new(),
        duration_ms,
        conflicts: Vec::new(),
        notes: Vec::new(),
    };
    concluded(plan, ended, String::new(), (reply, verdict), redactor)
}

/// Puts together how a run went. What must not leave is taken out of all of it.
fn concluded(
    plan: &Plan,
    ended: Ended,
    said: String,
    (reply, verdict): (Reply, Verdict),
    redactor: &Redactor,
) -> Outcome {
    let clean = |text: &str| redactor.text(&relative(&redactor.text(text), plan));
    let denials: Vec<Denial> = ended
        .denials
        .into_iter()
        // A tool reads its own folder; its path in a trace is not something it was denied.
        .filter(|denial| denial.action != "read" || !plan.workspace.join(&denial.target).starts_with(&plan.folder))
        .map(|mut denial| {
            denial.target = clean(&denial.target);
            denial.suggestion = denial.suggestion.as_deref().map(clean);
            denial
        })
        .collect();
    let reply = match reply {
        Reply::Error(error) if !denials.is_empty() => Reply::Error(error.with("denied", denied(&denials))),
        other => other,
    };
    let conflicts: Vec<String> = ended.conflicts.iter().map(|conflict| clean(conflict)).collect();
    let (reply, verdict) = conflicting(reply, verdict, &conflicts);
    let (reply, verdict) = cleaned(reply, verdict, redactor);
    Outcome {
        reply,
        verdict,
        is_executed: true,
        said,
        exit: Some(ended.exit),
        killed: ended.killed,
        is_truncated: ended.is_truncated,
        denials,
        layers: ended.layers,
        written: ended.written.iter().map(|file| clean(file)).collect(),
        conflicts,
        notes: ended.notes,
        duration_ms: ended.duration_ms,
        unredacted: redactor.too_short().to_vec(),
        secrets: Vec::new(),
    }
}

/// A result is none where a file it speaks of is not what the tool made it: somebody must look first.
fn conflicting(reply: Reply, verdict: Verdict, conflicts: &[String]) -> (Reply, Verdict) {
    if conflicts.is_empty() {
        return (reply, verdict);
    }
    let listed: Vec<Value> = conflicts.iter().map(|conflict| conflict.as_str().into()).collect();
    match reply {
        Reply::Result(value) | Reply::Task(value) => {
            let error = ToolError::new(ErrorCode::Conflict, conflicts.join("; "));
            let remedy = "compare what is there, and keep what you want; the tool's own result is in `result`";
            let error = error.with("conflicts", listed).with("result", value).with("remedy", remedy);
            (Reply::Error(error), Verdict::Failed)
        }
        Reply::Error(error) => (Reply::Error(error.with("conflicts", listed)), verdict),
    }
}

/// The outcome of a run that could not be.
pub(crate) fn unavailable(error: &SandboxError, redactor: &Redactor) -> Outcome {
    let told = redactor.text(&error.to_string());
    match error {
        SandboxError::Unavailable { remedy, .. } => {
            let remedy = redactor.text(remedy);
            Outcome::refused(ToolError::new(ErrorCode::SandboxUnavailable, told).with("remedy", remedy))
        }
        SandboxError::Unstartable { .. } => Outcome::refused(ToolError::new(ErrorCode::RuntimeUnavailable, told)),
        SandboxError::Rejected(_) => Outcome {
            verdict: Verdict::Failed,
            is_executed: true,
            ..Outcome::refused(ToolError::new(ErrorCode::PermissionDenied, told))
        },
    }
}

/// Takes out of a reply what must not leave. Should a secret still stand in what would be printed, because it goes
/// across the marks of JSON itself, nothing is printed.
fn cleaned(reply: Reply, verdict: Verdict, redactor: &Redactor) -> (Reply, Verdict) {
    let reply = match reply {
        Reply::Result(value) => Reply::Result(redactor.value(value)),
        Reply::Task(value) => Reply::Task(redactor.value(value)),
        Reply::Error(error) => Reply::Error(ToolError {
            code: ErrorCode::parse(&redactor.text(error.code.as_str())),
            message: redactor.text(&error.message),
            is_retriable: error.is_retriable,
            more: redactor.fields(*error.more).into(),
            audience: error.audience,
        }),
    };
    let printed = match &reply {
        Reply::Result(value) | Reply::Task(value) => value.clone(),
        Reply::Error(error) => error.value(),
    };
    if redactor.finds(printed.to_string().as_bytes()) || redactor.finds(format!("{printed:#}").as_bytes()) {
        let error =
            ToolError::new(ErrorCode::ResultWithheld, "the result holds a secret that cannot be taken out of it");
        return (Reply::Error(error), Verdict::Failed);
    }
    (reply, verdict)
}

/// Reads what a tool gave, in the order of what is worse: an end by us, a failure, no object, no fit.
fn read(plan: &Plan, tool: &Tool, ended: &Ended, result: &[u8]) -> Result<Reply, ToolError> {
    if let Some(killed) = ended.killed {
        return Err(ended_by_us(plan, killed));
    }
    let parsed = std::str::from_utf8(result).map_err(|_| "it is not UTF-8".to_owned()).and_then(|text| {
        let text = text.trim();
        if text.is_empty() {
            return Err(String::new());
        }
        serde_json::from_str::<Value>(text).map_err(|error| error.to_string())
    });
    let own = parsed.as_ref().ok().and_then(envelope);
    match (ended.exit, own) {
        // A tool that says why it failed is believed.
        (Exit::Code(code), Some(Envelope::Error(error))) if code != 0 => return Err(error),
        (Exit::Code(0), Some(envelope)) if !is_declared(tool, parsed.as_ref().ok()) => {
            return match envelope {
                Envelope::Error(error) => Err(error),
                Envelope::Task => Ok(Reply::Task(parsed.unwrap_or_default())),
            };
        }
        (Exit::Code(0), _) => {}
        (Exit::Code(code), _) => {
            return Err(ToolError::new(ErrorCode::ToolFailed, format!("the tool ended with exit code {code}"))
                .with("exit_code", code));
        }
        (Exit::Signal(signal), _) => {
            let name = signal_name(signal);
            return Err(
                ToolError::new(ErrorCode::ToolCrashed, format!("the tool was ended by {name}")).with("signal", name)
            );
        }
    }
    let invalid = |message: String| ToolError::new(ErrorCode::InvalidResult, message);
    let value = parsed.map_err(|reason| match reason.as_str() {
        "" => invalid("the tool ended without a result".to_owned()),
        reason => invalid(format!("the tool's output is not JSON: {reason}")),
    })?;
    if !value.is_object() {
        return Err(invalid(format!("the result is {}, and not an object", kind(&value))));
    }
    match tool.output_schema.as_ref().map_or(Fit::Fits, |schema| fit(schema, &value)) {
        Fit::Fits => Ok(Reply::Result(value)),
        Fit::Misfits(misfits) => {
            Err(misfit(ErrorCode::InvalidResult, "the result does not fit `output_schema`", &misfits))
        }
        Fit::Broken(reason) => Err(invalid(format!("`output_schema` cannot be used: {reason}"))),
    }
}

/// An error about values that do not fit.
pub(crate) fn misfit(code: ErrorCode, what: &str, misfits: &[Misfit]) -> ToolError {
    let told = misfits.iter().map(|misfit| match misfit.pointer.as_str() {
        "" => misfit.message.clone(),
        pointer => format!("`{pointer}`: {}", misfit.message),
    });
    let told: Vec<String> = told.collect();
    let listed: Vec<Value> =
        misfits.iter().map(|misfit| json!({ "pointer": misfit.pointer, "message": misfit.message })).collect();
    ToolError::new(code, format!("{what}: {}", told.join("; "))).with("misfits", listed)
}

pub(crate) fn ended_by_us(plan: &Plan, killed: Killed) -> ToolError {
    let limits = &plan.limits;
    match killed {
        Killed::Timeout => {
            let time = std::time::Duration::from_millis(limits.timeout_ms);
            ToolError::new(ErrorCode::Timeout, format!("the tool was ended after {time:?}")).retriable()
        }
        Killed::Cancelled => ToolError::new(ErrorCode::Cancelled, "the run was cancelled").retriable(),
        Killed::Output => {
            ToolError::new(ErrorCode::OutputTooLarge, format!("the tool wrote more than {} bytes", limits.output_bytes))
        }
        Killed::Memory => ToolError::new(
            ErrorCode::ResourceExhausted,
            format!("the tool used more than {} MiB of memory", limits.memory_bytes >> 20),
        ),
    }
}

/// A tool's own envelope.
enum Envelope {
    Error(ToolError),
    Task,
}

fn envelope(value: &Value) -> Option<Envelope> {
    let field = |name: &str| value.get(name).and_then(Value::as_object);
    match value.get("status")?.as_str()? {
        "error" => ToolError::of(field("error")?).map(Envelope::Error),
        "async" => {
            let id = field("task")?.get("id")?.as_str()?;
            (!id.is_empty()).then_some(Envelope::Task)
        }
        _ => None,
    }
}

/// Whether a tool declares that its results have a `status`, and this is one of them. A schema that accepts anything says
/// nothing about envelopes.
fn is_declared(tool: &Tool, value: Option<&Value>) -> bool {
    fn speaks_of_status(schema: &Value) -> bool {
        match schema {
            Value::Object(fields) => {
                let own = fields.get("properties").and_then(Value::as_object);
                own.is_some_and(|own| own.contains_key("status"))
                    || ["allOf", "anyOf", "oneOf", "$defs", "definitions", "then", "else", "if"]
                        .iter()
                        .filter_map(|key| fields.get(*key))
                        .any(speaks_of_status)
                    || fields.values().any(|field| field.is_object() && speaks_of_status(field))
            }
            Value::Array(items) => items.iter().any(speaks_of_status),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        }
    }
    let (Some(schema), Some(value)) = (&tool.output_schema, value) else { return false };
    speaks_of_status(schema) && fit(schema, value) == Fit::Fits
}

/// Adds what a failed tool said last, and shows its paths as its author knows them.
fn described(mut error: ToolError, said: &str, clean: impl Fn(&str) -> String) -> ToolError {
    error.message = clean(&error.message);
    for value in error.more.values_mut() {
        if let Value::String(text) = value {
            *text = clean(text);
        }
    }
    let is_silent = matches!(error.code, ErrorCode::ToolFailed | ErrorCode::ToolCrashed | ErrorCode::InvalidResult);
    if is_silent && !error.more.contains_key("type") && !said.trim().is_empty() {
        let said = said.trim();
        let skipped = said.chars().count().saturating_sub(SAID_CHARS_MAX);
        let last: String = said.chars().skip(skipped).collect();
        error.more.insert("stderr".to_owned(), last.into());
    }
    error
}

/// A text in which paths of the skill and of the workspace are relative.
fn relative(text: &str, plan: &Plan) -> String {
    let mut folders: Vec<String> =
        [&plan.folder, &plan.workspace].iter().map(|folder| folder.display().to_string()).collect();
    // The longer one first, where one lies in the other.
    folders.sort_by_key(|folder| std::cmp::Reverse(folder.len()));
    let mut text = text.to_owned();
    for folder in folders.iter().filter(|folder| folder.len() > 1) {
        text = text.replace(&format!("file://{folder}/"), "").replace(&format!("{folder}/"), "");
        text = without(&text, folder);
    }
    text
}

/// A text in which a folder that is named alone is a dot. `/work` is not named in `/workshop`.
fn without(text: &str, folder: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(folder) {
        let (before, after) = (&rest[..at], &rest[at + folder.len()..]);
        let goes_on = |character: char| character.is_alphanumeric() || "-_.".contains(character);
        let is_longer = after.chars().next().is_some_and(goes_on) || before.chars().next_back().is_some_and(goes_on);
        out.push_str(before);
        out.push_str(if is_longer { folder } else { "." });
        rest = after;
    }
    out + rest
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGHUP => "SIGHUP",
        libc::SIGINT => "SIGINT",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGILL => "SIGILL",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGKILL => "SIGKILL",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGTERM => "SIGTERM",
        libc::SIGSYS => "SIGSYS",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGXFSZ => "SIGXFSZ",
        other => return format!("signal {other}"),
    };
    name.to_owned()
}
