//! The outcome of a run: a result, an error or a task, and metadata about the run.
//!
//! Stdout contains only the result, or an envelope (Universal 2.1 §9). Metadata about the run (layers,
//! denials, duration) is reported separately, because the result must match the tool's schema exactly. Output
//! that looks like an envelope is treated as one, unless the tool's `output_schema` mentions a `status` and
//! accepts the output. If a tool exits with a failure, its output is never treated as a result.

use serde_json::{Map, Value, json};

use crate::error::{Audience, ErrorCode};
use crate::plan::{Plan, PlannedTool};
use crate::schema::{SchemaCheck, SchemaViolation, validate_value};
use rep_permissions::redact::Redactor;
use rep_sandbox::{Denial, KillReason, ProcessExit, SandboxError, SandboxLayer, SandboxOutcome};

/// How a run ended, for exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunVerdict {
    /// The tool returned a result, or a task that continues.
    Succeeded,
    /// Nothing was run.
    Refused,
    /// The tool failed.
    Failed,
    /// The run was cancelled.
    Interrupted,
}

/// An error of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolError {
    /// A stable code: `INVALID_ARGUMENT`, `TIMEOUT`, …, or one defined by the tool.
    pub code: ErrorCode,
    /// What happened, for people and models.
    pub message: String,
    /// Whether the same call may succeed later.
    pub is_retriable: bool,
    /// Further details.
    pub more: Box<Map<String, Value>>,
    /// Who may see the message.
    pub audience: Audience,
}

/// Fields of an error that a tool may not set: the remedy and the denials come from the host.
const HOST_FIELDS: [&str; 7] = ["code", "message", "retriable", "remedy", "denied", "denied_omitted", "tool_code"];

impl ToolError {
    /// Creates an error that a retry will not fix.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let audience = Audience::Caller;
        Self { code, message: message.into(), is_retriable: false, more: Box::default(), audience }
    }

    /// Hides the message from clients.
    #[must_use]
    pub fn for_operator(mut self) -> Self {
        self.audience = Audience::Operator;
        self
    }

    /// Marks an error that a retry may fix.
    #[must_use]
    pub fn retriable(mut self) -> Self {
        self.is_retriable = true;
        self
    }

    /// Adds a detail.
    #[must_use]
    pub fn with_detail(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.more.insert(key.to_owned(), value.into());
        self
    }

    /// Returns the `error` field of an envelope.
    pub fn to_json(&self) -> Value {
        let mut fields = Map::new();
        fields.insert("code".to_owned(), self.code.as_str().into());
        fields.insert("message".to_owned(), self.message.clone().into());
        fields.insert("retriable".to_owned(), self.is_retriable.into());
        fields.extend(self.more.iter().map(|(key, value)| (key.clone(), value.clone())));
        Value::Object(fields)
    }

    /// Reads the error from a tool's envelope.
    fn from_envelope(error: &Map<String, Value>) -> Option<Self> {
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
            return Some(Self { code: ErrorCode::ToolFailed, ..own.with_detail("tool_code", code) });
        }
        Some(own)
    }
}

/// The reply of a tool.
#[derive(Clone, Debug, PartialEq)]
pub enum RunReply {
    /// An object that matches the tool's schema.
    Result(Value),
    /// A task that continues: the whole envelope.
    Task(Value),
    /// No result.
    Error(ToolError),
}

/// A run that finished or was never started.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The reply of the tool.
    pub reply: RunReply,
    /// The verdict, for exit codes.
    pub verdict: RunVerdict,
    /// Whether anything was started.
    pub is_executed: bool,
    /// What the tool wrote to stderr, and to stdout besides the result.
    pub log_text: String,
    /// How the process exited, if it was started.
    pub exit: Option<ProcessExit>,
    /// Why it was killed.
    pub killed: Option<KillReason>,
    /// Whether its output was truncated.
    pub is_truncated: bool,
    /// Actions that were denied, each once, up to a limit.
    pub denials: Vec<Denial>,
    /// The number of further denials beyond the limit.
    pub denials_omitted: u64,
    /// The sandbox layers that confined it.
    pub layers: Vec<SandboxLayer>,
    /// The files that were committed to the workspace.
    pub written: Vec<String>,
    /// Files that another process changed during the run, and how each conflict was resolved.
    pub conflicts: Vec<String>,
    /// Further observations, such as leftovers of runs that were killed.
    pub notes: Vec<String>,
    /// The duration in milliseconds.
    pub duration_ms: u64,
    /// Secrets that are too short to be redacted.
    pub unredacted: Vec<String>,
    /// The names of the secrets it received.
    pub secrets: Vec<String>,
}

impl Outcome {
    /// Creates the outcome of a run that was not started.
    pub fn not_started(error: ToolError) -> Self {
        Self {
            reply: RunReply::Error(error),
            verdict: RunVerdict::Refused,
            is_executed: false,
            log_text: String::new(),
            exit: None,
            killed: None,
            is_truncated: false,
            denials: Vec::new(),
            denials_omitted: 0,
            layers: Vec::new(),
            written: Vec::new(),
            conflicts: Vec::new(),
            notes: Vec::new(),
            duration_ms: 0,
            unredacted: Vec::new(),
            secrets: Vec::new(),
        }
    }

    /// Returns the document that is printed to stdout.
    pub fn to_json(&self) -> Value {
        match &self.reply {
            RunReply::Result(value) | RunReply::Task(value) => value.clone(),
            RunReply::Error(error) => json!({ "status": "error", "error": error.to_json() }),
        }
    }

    /// Returns the metadata of the run as JSON.
    pub fn metadata_json(&self) -> Value {
        let (code, signal) = match self.exit {
            Some(ProcessExit::Code(code)) => (Some(code), None),
            Some(ProcessExit::Signal(signal)) => (None, Some(signal)),
            None => (None, None),
        };
        let layers = self.layers.iter().map(|layer| json!({ "name": layer.name, "state": layer.state }));
        json!({
            "executed": self.is_executed,
            "duration_ms": self.duration_ms,
            "exit_code": code,
            "signal": signal,
            "killed": self.killed.map(kill_reason_name),
            "truncated": self.is_truncated,
            "layers": layers.collect::<Vec<Value>>(),
            "denials": render_denials(&self.denials),
            "denials_omitted": self.denials_omitted,
            "written": self.written,
            "conflicts": self.conflicts,
            "unredacted_secrets": self.unredacted,
            "secrets": self.secrets,
        })
    }
}

const fn kill_reason_name(killed: KillReason) -> &'static str {
    match killed {
        KillReason::Timeout => "timeout",
        KillReason::Cancelled => "cancelled",
        KillReason::Output => "output",
        KillReason::Memory => "memory",
    }
}

/// Renders denials as JSON.
fn render_denials(denials: &[Denial]) -> Vec<Value> {
    let one = |denial: &Denial| {
        json!({
            "action": denial.action,
            "target": denial.target,
            "declaration": denial.declaration(),
            "suggestion": denial.suggestion,
        })
    };
    denials.iter().map(one).collect()
}

/// How much of a failed tool's log goes into its error.
const LOG_CHARS_MAX: usize = 2000;

/// Concludes a tool run. `result` is the part of stdout with the result, `stray` the rest of stdout.
pub(crate) fn conclude_tool_run(
    plan: &Plan,
    tool: &PlannedTool,
    ended: SandboxOutcome,
    result: &[u8],
    stray: &[u8],
    redactor: &Redactor,
) -> Outcome {
    let is_cut = ended.is_truncated;
    // Shortening a path can join the parts of a secret, and can split a secret that contains a path.
    let clean = |text: &str| redactor.redact_text(&relativize_paths(&redactor.redact_text(text), plan));
    let said = clean(&redactor.redact_output(&[stray, &ended.stderr].concat(), is_cut));
    let (reply, verdict) = match parse_reply(plan, tool, &ended, result) {
        Ok(reply) => (reply, RunVerdict::Succeeded),
        Err(error) if ended.kill_reason == Some(KillReason::Cancelled) => {
            (RunReply::Error(error), RunVerdict::Interrupted)
        }
        Err(error) => (RunReply::Error(add_error_details(error, &said, clean)), RunVerdict::Failed),
    };
    build_outcome(plan, ended, said, (reply, verdict), redactor)
}

/// Concludes a command run: its output and exit code as they are. A nonzero exit is an error with the same
/// fields.
pub(crate) fn conclude_command_run(plan: &Plan, ended: SandboxOutcome, redactor: &Redactor) -> Outcome {
    let is_cut = ended.is_truncated;
    let stdout = redactor.redact_output(&ended.stdout, is_cut);
    let stderr = redactor.redact_output(&ended.stderr, is_cut);
    let code = match ended.exit {
        ProcessExit::Code(code) => code,
        // The same convention as in shells.
        ProcessExit::Signal(signal) => 128 + signal,
    };
    let error = match ended.kill_reason {
        Some(killed) => Some(kill_error(plan, killed)),
        None if code != 0 => Some(ToolError::new(ErrorCode::CommandFailed, "Command execution failed")),
        None => None,
    };
    let verdict = match (&error, ended.kill_reason) {
        (None, _) => RunVerdict::Succeeded,
        (Some(_), Some(KillReason::Cancelled)) => RunVerdict::Interrupted,
        (Some(_), _) => RunVerdict::Failed,
    };
    let reply = match error {
        None => RunReply::Result(json!({ "stdout": stdout, "stderr": stderr, "returncode": code })),
        Some(error) => RunReply::Error(
            error.with_detail("stdout", stdout).with_detail("stderr", stderr).with_detail("returncode", code),
        ),
    };
    build_outcome(plan, ended, String::new(), (reply, verdict), redactor)
}

/// Concludes a script run like a command run, with the denials in the result as well. The script ran in a private
/// copy of its skill, so paths of that copy are made relative.
pub(crate) fn conclude_script_run(plan: &Plan, ended: SandboxOutcome, redactor: &Redactor) -> Outcome {
    let mut outcome = conclude_command_run(plan, ended, redactor);
    let denied = render_denials(&outcome.denials);
    let copy = format!("{}/", plan.folder.display());
    // Shortening a path can join the parts of a secret.
    let clean = |text: &str| redactor.redact_text(&text.replace(&copy, ""));
    let fields = match &mut outcome.reply {
        RunReply::Result(Value::Object(fields)) => fields,
        RunReply::Error(error) => {
            if error.code == ErrorCode::CommandFailed {
                let how = match outcome.exit {
                    Some(ProcessExit::Signal(signal)) => format!("was killed by {}", signal_name(signal)),
                    Some(ProcessExit::Code(code)) => format!("exited with code {code}"),
                    None => "failed".to_owned(),
                };
                error.message = format!("`{}` {how}", plan.tool);
            }
            error.more.as_mut()
        }
        RunReply::Result(_) | RunReply::Task(_) => return outcome,
    };
    for name in ["stdout", "stderr"] {
        if let Some(Value::String(text)) = fields.get_mut(name) {
            *text = clean(text);
        }
    }
    fields.entry("denied").or_insert_with(|| denied.into());
    if outcome.denials_omitted > 0 {
        fields.insert("denied_omitted".to_owned(), outcome.denials_omitted.into());
    }
    outcome
}

/// Concludes a request: the server's response, or the error.
pub(crate) fn conclude_request(
    plan: &Plan,
    reply: Result<Value, ToolError>,
    denials: Vec<Denial>,
    killed: Option<KillReason>,
    duration_ms: u64,
    redactor: &Redactor,
) -> Outcome {
    let (reply, verdict) = match reply {
        Ok(value) => (RunReply::Result(value), RunVerdict::Succeeded),
        Err(error) if killed == Some(KillReason::Cancelled) => (RunReply::Error(error), RunVerdict::Interrupted),
        Err(error) => (RunReply::Error(error), RunVerdict::Failed),
    };
    let mut ended = build_exchange_ending(verdict == RunVerdict::Succeeded, duration_ms);
    ended.kill_reason = killed;
    ended.denials = denials;
    build_outcome(plan, ended, String::new(), (reply, verdict), redactor)
}

/// Builds the end of an exchange over the network, for which no process was started.
pub(crate) fn build_exchange_ending(is_answered: bool, duration_ms: u64) -> SandboxOutcome {
    SandboxOutcome {
        exit: ProcessExit::Code(i32::from(!is_answered)),
        kill_reason: None,
        stdout: Vec::new(),
        stderr: Vec::new(),
        is_truncated: false,
        denials: Vec::new(),
        denials_omitted: 0,
        layers: vec![SandboxLayer { name: "hosts", state: "enforced".to_owned() }],
        written: Vec::new(),
        duration_ms,
        conflicts: Vec::new(),
        notes: Vec::new(),
    }
}

/// Concludes a conversation with an MCP server. Calls that the server never received count as refused.
pub(crate) fn conclude_server_call(
    plan: &Plan,
    ended: SandboxOutcome,
    reply: Result<Value, ToolError>,
    redactor: &Redactor,
) -> Outcome {
    let clean = |text: &str| redactor.redact_text(&relativize_paths(&redactor.redact_text(text), plan));
    let said = clean(&redactor.redact_output(&ended.stderr, ended.is_truncated));
    let (reply, verdict) = match reply {
        Ok(value) => (RunReply::Result(value), RunVerdict::Succeeded),
        Err(error) => {
            let verdict = match error.code {
                ErrorCode::Cancelled => RunVerdict::Interrupted,
                ErrorCode::ToolNotFound | ErrorCode::InvalidArgument | ErrorCode::ConfirmationRequired => {
                    RunVerdict::Refused
                }
                _ => RunVerdict::Failed,
            };
            (RunReply::Error(add_error_details(error, &said, clean)), verdict)
        }
    };
    build_outcome(plan, ended, said, (reply, verdict), redactor)
}

/// Builds the outcome of a run and redacts all of it.
fn build_outcome(
    plan: &Plan,
    ended: SandboxOutcome,
    said: String,
    (reply, verdict): (RunReply, RunVerdict),
    redactor: &Redactor,
) -> Outcome {
    let clean = |text: &str| redactor.redact_text(&relativize_paths(&redactor.redact_text(text), plan));
    let denials: Vec<Denial> = ended
        .denials
        .into_iter()
        // A tool may read its own directory; a path to it in the trace is not a denial.
        .filter(|denial| denial.action != "read" || !plan.workspace.join(&denial.target).starts_with(&plan.folder))
        .map(|mut denial| {
            if matches!(denial.action, "connect" | "resolve") {
                denial.target = redactor.redact_host_name(&denial.target);
                denial.suggestion = denial.suggestion.as_deref().map(|text| redactor.redact_host_name(text));
            }
            denial.target = clean(&denial.target);
            denial.suggestion = denial.suggestion.as_deref().map(clean);
            denial
        })
        .collect();
    let reply = match reply {
        RunReply::Error(error) if !denials.is_empty() => {
            let error = error.with_detail("denied", render_denials(&denials));
            RunReply::Error(match ended.denials_omitted {
                0 => error,
                more => error.with_detail("denied_omitted", more),
            })
        }
        other => other,
    };
    let conflicts: Vec<String> = ended.conflicts.iter().map(|conflict| clean(conflict)).collect();
    let (reply, verdict) = apply_conflicts(reply, verdict, &conflicts);
    let (reply, verdict) = redact_reply(reply, verdict, redactor);
    Outcome {
        reply,
        verdict,
        is_executed: true,
        log_text: said,
        exit: Some(ended.exit),
        killed: ended.kill_reason,
        is_truncated: ended.is_truncated,
        denials,
        denials_omitted: ended.denials_omitted,
        layers: ended.layers,
        written: ended.written.iter().map(|file| clean(file)).collect(),
        conflicts,
        notes: ended.notes.iter().map(|note| clean(note)).collect(),
        duration_ms: ended.duration_ms,
        unredacted: redactor.too_short().to_vec(),
        secrets: Vec::new(),
    }
}

/// Turns a result into an error if a file it wrote is in conflict: the user must resolve the conflict first.
fn apply_conflicts(reply: RunReply, verdict: RunVerdict, conflicts: &[String]) -> (RunReply, RunVerdict) {
    if conflicts.is_empty() {
        return (reply, verdict);
    }
    let listed: Vec<Value> = conflicts.iter().map(|conflict| conflict.as_str().into()).collect();
    match reply {
        RunReply::Result(value) | RunReply::Task(value) => {
            let error = ToolError::new(ErrorCode::Conflict, conflicts.join("; "));
            let remedy = "compare the files and keep the version you want; the tool's result is in `result`";
            let error =
                error.with_detail("conflicts", listed).with_detail("result", value).with_detail("remedy", remedy);
            (RunReply::Error(error), RunVerdict::Failed)
        }
        RunReply::Error(error) => (RunReply::Error(error.with_detail("conflicts", listed)), verdict),
    }
}

/// Creates the outcome of a run that the sandbox could not start.
pub(crate) fn outcome_from_sandbox_error(error: &SandboxError, redactor: &Redactor) -> Outcome {
    let told = redactor.redact_text(&error.to_string());
    match error {
        SandboxError::Unavailable { remedy, .. } => {
            let remedy = redactor.redact_text(remedy);
            Outcome::not_started(ToolError::new(ErrorCode::SandboxUnavailable, told).with_detail("remedy", remedy))
        }
        SandboxError::Unstartable { .. } => Outcome::not_started(ToolError::new(ErrorCode::RuntimeUnavailable, told)),
        SandboxError::Rejected(_) => Outcome {
            verdict: RunVerdict::Failed,
            is_executed: true,
            ..Outcome::not_started(ToolError::new(ErrorCode::PermissionDenied, told))
        },
    }
}

/// Redacts a reply. If a secret still appears in the rendered JSON, because it spans JSON punctuation, the
/// whole result is withheld.
fn redact_reply(reply: RunReply, verdict: RunVerdict, redactor: &Redactor) -> (RunReply, RunVerdict) {
    let reply = match reply {
        RunReply::Result(value) => RunReply::Result(redactor.redact_value(value)),
        RunReply::Task(value) => RunReply::Task(redactor.redact_value(value)),
        RunReply::Error(error) => RunReply::Error(ToolError {
            code: ErrorCode::parse(&redactor.redact_text(error.code.as_str())),
            message: redactor.redact_text(&error.message),
            is_retriable: error.is_retriable,
            more: redactor.redact_fields(*error.more).into(),
            audience: error.audience,
        }),
    };
    let printed = match &reply {
        RunReply::Result(value) | RunReply::Task(value) => value.clone(),
        RunReply::Error(error) => error.to_json(),
    };
    if redactor.contains_secret(printed.to_string().as_bytes())
        || redactor.contains_secret(format!("{printed:#}").as_bytes())
    {
        let error = ToolError::new(ErrorCode::ResultWithheld, "the result contains a secret that cannot be redacted");
        return (RunReply::Error(error), RunVerdict::Failed);
    }
    (reply, verdict)
}

/// Parses the reply of a tool. Checks the most serious problems first: killed, failed, not an object, schema
/// mismatch.
fn parse_reply(plan: &Plan, tool: &PlannedTool, ended: &SandboxOutcome, result: &[u8]) -> Result<RunReply, ToolError> {
    if let Some(killed) = ended.kill_reason {
        return Err(kill_error(plan, killed));
    }
    let parsed = std::str::from_utf8(result).map_err(|_| "it is not UTF-8".to_owned()).and_then(|text| {
        let text = text.trim();
        if text.is_empty() {
            return Err(String::new());
        }
        serde_json::from_str::<Value>(text).map_err(|error| error.to_string())
    });
    let own = parsed.as_ref().ok().and_then(parse_envelope);
    match (ended.exit, own) {
        // A tool that says why it failed is believed.
        (ProcessExit::Code(code), Some(ToolEnvelope::Error(error))) if code != 0 => return Err(error),
        (ProcessExit::Code(0), Some(envelope)) if !is_declared_result(tool, parsed.as_ref().ok()) => {
            return match envelope {
                ToolEnvelope::Error(error) => Err(error),
                ToolEnvelope::Task => Ok(RunReply::Task(parsed.unwrap_or_default())),
            };
        }
        (ProcessExit::Code(0), _) => {}
        (ProcessExit::Code(code), _) => {
            return Err(ToolError::new(ErrorCode::ToolFailed, format!("the tool exited with code {code}"))
                .with_detail("exit_code", code));
        }
        (ProcessExit::Signal(signal), _) => {
            let name = signal_name(signal);
            return Err(ToolError::new(ErrorCode::ToolCrashed, format!("the tool was killed by {name}"))
                .with_detail("signal", name));
        }
    }
    let invalid = |message: String| ToolError::new(ErrorCode::InvalidResult, message);
    let value = parsed.map_err(|reason| match reason.as_str() {
        "" => invalid("the tool exited without a result".to_owned()),
        reason => invalid(format!("the tool's output is not JSON: {reason}")),
    })?;
    if !value.is_object() {
        return Err(invalid(format!("the result is {}, not an object", json_kind_name(&value))));
    }
    match tool.output_schema.as_ref().map_or(SchemaCheck::Valid, |schema| validate_value(schema, &value)) {
        SchemaCheck::Valid => Ok(RunReply::Result(value)),
        SchemaCheck::Violations(misfits) => {
            Err(schema_violation_error(ErrorCode::InvalidResult, "the result does not match `output_schema`", &misfits))
        }
        SchemaCheck::UnusableSchema(reason) => Err(invalid(format!("`output_schema` cannot be used: {reason}"))),
    }
}

/// Creates the error for values that do not match a schema.
pub(crate) fn schema_violation_error(code: ErrorCode, what: &str, misfits: &[SchemaViolation]) -> ToolError {
    let told = misfits.iter().map(|misfit| match misfit.pointer.as_str() {
        "" => misfit.message.clone(),
        pointer => format!("`{pointer}`: {}", misfit.message),
    });
    let told: Vec<String> = told.collect();
    let listed: Vec<Value> =
        misfits.iter().map(|misfit| json!({ "pointer": misfit.pointer, "message": misfit.message })).collect();
    ToolError::new(code, format!("{what}: {}", told.join("; "))).with_detail("misfits", listed)
}

pub(crate) fn kill_error(plan: &Plan, killed: KillReason) -> ToolError {
    let limits = &plan.limits;
    match killed {
        KillReason::Timeout => {
            let time = std::time::Duration::from_millis(limits.timeout_ms);
            ToolError::new(ErrorCode::Timeout, format!("the tool timed out after {time:?}")).retriable()
        }
        KillReason::Cancelled => ToolError::new(ErrorCode::Cancelled, "the run was cancelled").retriable(),
        KillReason::Output => {
            ToolError::new(ErrorCode::OutputTooLarge, format!("the tool wrote more than {} bytes", limits.output_bytes))
        }
        KillReason::Memory => ToolError::new(
            ErrorCode::ResourceExhausted,
            format!("the tool used more than {} MiB of memory", limits.memory_bytes >> 20),
        ),
    }
}

/// An envelope written by a tool.
enum ToolEnvelope {
    Error(ToolError),
    Task,
}

fn parse_envelope(value: &Value) -> Option<ToolEnvelope> {
    let field = |name: &str| value.get(name).and_then(Value::as_object);
    match value.get("status")?.as_str()? {
        "error" => ToolError::from_envelope(field("error")?).map(ToolEnvelope::Error),
        "async" => {
            let id = field("task")?.get("id")?.as_str()?;
            (!id.is_empty()).then_some(ToolEnvelope::Task)
        }
        _ => None,
    }
}

/// Returns whether the tool declares results with a `status` and this value is one of them. A schema that
/// accepts anything says nothing about envelopes.
fn is_declared_result(tool: &PlannedTool, value: Option<&Value>) -> bool {
    fn mentions_status(schema: &Value) -> bool {
        match schema {
            Value::Object(fields) => {
                let own = fields.get("properties").and_then(Value::as_object);
                own.is_some_and(|own| own.contains_key("status"))
                    || ["allOf", "anyOf", "oneOf", "$defs", "definitions", "then", "else", "if"]
                        .iter()
                        .filter_map(|key| fields.get(*key))
                        .any(mentions_status)
                    || fields.values().any(|field| field.is_object() && mentions_status(field))
            }
            Value::Array(items) => items.iter().any(mentions_status),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        }
    }
    let (Some(schema), Some(value)) = (&tool.output_schema, value) else { return false };
    mentions_status(schema) && validate_value(schema, value) == SchemaCheck::Valid
}

/// Adds the end of a failed tool's log, with paths relative to the skill.
fn add_error_details(mut error: ToolError, said: &str, clean: impl Fn(&str) -> String) -> ToolError {
    error.message = clean(&error.message);
    for value in error.more.values_mut() {
        if let Value::String(text) = value {
            *text = clean(text);
        }
    }
    let is_silent = matches!(
        error.code,
        ErrorCode::ToolFailed | ErrorCode::ToolCrashed | ErrorCode::InvalidResult | ErrorCode::ServerFailed
    );
    if is_silent && !error.more.contains_key("type") && !said.trim().is_empty() {
        let said = said.trim();
        let skipped = said.chars().count().saturating_sub(LOG_CHARS_MAX);
        let last: String = said.chars().skip(skipped).collect();
        error.more.insert("stderr".to_owned(), last.into());
    }
    error
}

/// Makes paths of the skill and of the workspace in a text relative.
fn relativize_paths(text: &str, plan: &Plan) -> String {
    let mut folders: Vec<String> =
        [&plan.folder, &plan.workspace].iter().map(|folder| folder.display().to_string()).collect();
    // The longer path first, because one may contain the other.
    folders.sort_by_key(|folder| std::cmp::Reverse(folder.len()));
    let mut text = text.to_owned();
    for folder in folders.iter().filter(|folder| folder.len() > 1) {
        text = text.replace(&format!("file://{folder}/"), "").replace(&format!("{folder}/"), "");
        text = replace_folder_with_dot(&text, folder);
    }
    text
}

/// Replaces a directory that is named alone with a dot. `/work` does not match in `/workshop`.
fn replace_folder_with_dot(text: &str, folder: &str) -> String {
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

fn json_kind_name(value: &Value) -> &'static str {
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
    // The numbers of Linux, which is the only system that runs tools.
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        31 => "SIGSYS",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        other => return format!("signal {other}"),
    };
    name.to_owned()
}
