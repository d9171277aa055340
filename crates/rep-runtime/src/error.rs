//! Errors of a call: codes for programs, and who may see the message.
//!
//! Codes are an enum that callers can match; [`ErrorCode::Tool`] contains a code that a tool chose itself.
//! Whether a client of a server may see a message is a property of the error ([`Audience`]), set where the
//! error is created.

use std::fmt;

use rep_library::LibraryError;
use rep_library::settings::SettingsError;
use rep_library::validation::{SkillViolation, VALIDATION_FAILED_MESSAGE};
use rep_net::NetErrorCode;
use rep_storage::StorageError;
use serde_json::Value;

use crate::grant::RunRefusal;
use crate::outcome::ToolError;
use crate::plan::command::CommandError;
use crate::session::SessionError;
use crate::task::TaskError;

/// Declares the codes: variant, text, and whether only the host may use it.
macro_rules! error_codes {
    ($($(#[$doc:meta])* $variant:ident = $word:literal $(, $host:ident)?;)*) => {
        /// A stable error code for programs.
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum ErrorCode {
            $($(#[$doc])* $variant,)*
            /// A code defined by the tool.
            Tool(String),
        }

        impl ErrorCode {
            /// Returns the text used in results, records and failures.
            pub fn as_str(&self) -> &str {
                match self {
                    $(ErrorCode::$variant => $word,)*
                    ErrorCode::Tool(word) => word,
                }
            }

            /// Returns whether only the host may report this code. A tool that uses it is reported as failed.
            pub fn is_host_only(&self) -> bool {
                match self {
                    $(ErrorCode::$variant => error_codes!(@host $($host)?),)*
                    ErrorCode::Tool(_) => false,
                }
            }

            /// Parses a code; an unknown word becomes a tool-defined code.
            pub fn parse(word: &str) -> Self {
                match word {
                    $($word => ErrorCode::$variant,)*
                    other => ErrorCode::Tool(other.to_owned()),
                }
            }
        }
    };
    (@host host) => { true };
    (@host) => { false };
}

error_codes! {
    /// A run made too many nested tool calls.
    CallsTooMany = "CALLS_TOO_MANY", host;
    /// Tools call each other in a cycle.
    CallCycle = "CALL_CYCLE", host;
    /// Tool calls are nested too deeply.
    CallTooDeep = "CALL_TOO_DEEP", host;
    /// The run was cancelled.
    Cancelled = "CANCELLED", host;
    /// A command ended with a failure.
    CommandFailed = "COMMAND_FAILED";
    /// The run needs confirmation, and no prompt is available.
    ConfirmationRequired = "CONFIRMATION_REQUIRED", host;
    /// A file that the tool wrote was changed by another process in the meantime.
    Conflict = "CONFLICT", host;
    /// A connection could not be made.
    ConnectionFailed = "CONNECTION_FAILED";
    /// Confirmation was declined.
    Declined = "DECLINED", host;
    /// The skill is disabled.
    Disabled = "DISABLED", host;
    /// The arguments do not match their schema.
    InvalidArgument = "INVALID_ARGUMENT";
    /// A command cannot be parsed.
    InvalidCommand = "INVALID_COMMAND";
    /// The tool's entrypoint cannot be used.
    InvalidEntrypoint = "INVALID_ENTRYPOINT", host;
    /// The server's response cannot be parsed.
    InvalidResponse = "INVALID_RESPONSE";
    /// The result does not match its schema.
    InvalidResult = "INVALID_RESULT";
    /// A schema is not a valid JSON Schema.
    InvalidSchema = "INVALID_SCHEMA";
    /// The skill cannot be used.
    InvalidSkill = "INVALID_SKILL";
    /// State that a command requires is invalid or missing.
    InvalidState = "INVALID_STATE";
    /// A tool's declaration cannot be used.
    InvalidTool = "INVALID_TOOL";
    /// A module that the tool imports is not installed.
    ModuleNotFound = "MODULE_NOT_FOUND";
    /// The skill has no commands written by its author.
    NoCommands = "NO_COMMANDS";
    /// The base address of an API skill is unknown.
    NoBaseUrl = "NO_BASE_URL";
    /// No home directory to store records in.
    NoHome = "NO_HOME";
    /// The skill declares no tools.
    NoTools = "NO_TOOLS";
    /// The output exceeds its limit.
    OutputTooLarge = "OUTPUT_TOO_LARGE", host;
    /// A path in a skill does not exist.
    PathNotFound = "PATH_NOT_FOUND";
    /// The skill's declarations do not allow it.
    PermissionDenied = "PERMISSION_DENIED", host;
    /// The operator's policy does not allow it.
    PolicyDenied = "POLICY_DENIED", host;
    /// The tool ran out of memory, processes or time.
    ResourceExhausted = "RESOURCE_EXHAUSTED";
    /// The result contains a secret that cannot be redacted.
    ResultWithheld = "RESULT_WITHHELD", host;
    /// The interpreter of the tool is not installed.
    RuntimeUnavailable = "RUNTIME_UNAVAILABLE", host;
    /// This system cannot enforce the declared permissions.
    SandboxUnavailable = "SANDBOX_UNAVAILABLE", host;
    /// No MCP server has this name.
    ServerNotFound = "SERVER_NOT_FOUND";
    /// An MCP server could not be started, or ended during a call.
    ServerFailed = "SERVER_FAILED", host;
    /// A secret that the skill needs is not set.
    SecretMissing = "SECRET_MISSING", host;
    /// The skill changed after the decision that it may run.
    SkillChanged = "SKILL_CHANGED", host;
    /// No skill has this name.
    SkillNotFound = "SKILL_NOT_FOUND";
    /// The skill's files could not be read completely.
    SkillUnreadable = "SKILL_UNREADABLE", host;
    /// A file of the user could not be read or written.
    StorageFailed = "STORAGE_FAILED";
    /// The run took too long.
    Timeout = "TIMEOUT";
    /// No trusted connection could be made.
    TlsFailed = "TLS_FAILED";
    /// The tool crashed.
    ToolCrashed = "TOOL_CRASHED", host;
    /// The tool failed.
    ToolFailed = "TOOL_FAILED";
    /// No tool has this name.
    ToolNotFound = "TOOL_NOT_FOUND";
    /// The server redirected too often.
    TooManyRedirects = "TOO_MANY_REDIRECTS";
    /// A file could not be read.
    Unreadable = "UNREADABLE";
    /// The run could not be recorded and was not started.
    Unrecorded = "UNRECORDED", host;
    /// This form of command is not supported.
    Unsupported = "UNSUPPORTED";
    /// The skill is not trusted.
    Untrusted = "UNTRUSTED", host;
    /// The call is malformed.
    Usage = "USAGE";
    /// The settings cannot be used.
    BrokenSettings = "BROKEN_SETTINGS";
    /// The skill violates what its dialect calls hard, or its structure cannot be read.
    ValidationFailed = "VALIDATION_FAILED";
    /// An environment variable that the skill needs is not set.
    VariableMissing = "VARIABLE_MISSING";
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl From<NetErrorCode> for ErrorCode {
    fn from(code: NetErrorCode) -> Self {
        match code {
            NetErrorCode::PermissionDenied => ErrorCode::PermissionDenied,
            NetErrorCode::ConnectionFailed => ErrorCode::ConnectionFailed,
            NetErrorCode::TlsFailed => ErrorCode::TlsFailed,
            NetErrorCode::InvalidResponse => ErrorCode::InvalidResponse,
            NetErrorCode::TooManyRedirects => ErrorCode::TooManyRedirects,
            NetErrorCode::InvalidArgument => ErrorCode::InvalidArgument,
            NetErrorCode::OutputTooLarge => ErrorCode::OutputTooLarge,
            NetErrorCode::Timeout => ErrorCode::Timeout,
            NetErrorCode::Unavailable => ErrorCode::RuntimeUnavailable,
        }
    }
}

/// Who may see the message of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Everyone who made the call.
    Caller,
    /// Only the operator of this machine: the message may contain local paths.
    Operator,
}

/// The kind of failure, as exit codes and protocols distinguish them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The named item does not exist.
    NotFound,
    /// The operation could not be performed.
    Unable,
    /// The operation is not permitted.
    Refused,
}

/// The reason why a call failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CallError {
    /// The code for programs.
    pub code: ErrorCode,
    /// The kind of failure.
    pub kind: ErrorKind,
    /// The message for people.
    pub message: String,
    /// The remedy, if there is one.
    pub remedy: Option<String>,
    /// Who may see the message.
    pub audience: Audience,
    /// The violations of an invalid skill.
    pub violations: Vec<SkillViolation>,
}

impl CallError {
    /// Creates an error for an operation that could not be performed.
    pub fn unable(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            kind: ErrorKind::Unable,
            message: message.into(),
            remedy: None,
            audience: Audience::Caller,
            violations: Vec::new(),
        }
    }

    /// Creates the error for a skill that its dialect calls invalid. The locations are those of this machine, so only
    /// its operator may see them.
    pub(crate) fn validation_failed(skill: &str, violations: Vec<SkillViolation>) -> Self {
        let error = Self::unable(ErrorCode::ValidationFailed, VALIDATION_FAILED_MESSAGE);
        let error = error.with_remedy(format!("run `rep why {skill}` for details; `--lenient` loads it anyway"));
        Self { violations, ..error }.for_operator()
    }

    /// Creates an error for an operation that is not permitted.
    pub fn refused(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { kind: ErrorKind::Refused, ..Self::unable(code, message) }
    }

    /// Adds a remedy.
    #[must_use]
    pub fn with_remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// Hides the message from clients.
    #[must_use]
    pub fn for_operator(mut self) -> Self {
        self.audience = Audience::Operator;
        self
    }

    /// Creates the error for a skill whose files could not all be read.
    pub(crate) fn skill_unreadable(skill: &str, reason: &str) -> Self {
        let message = format!("could not read all files of `{skill}`: {reason}");
        Self::refused(ErrorCode::SkillUnreadable, message).for_operator()
    }
}

impl From<CallError> for ToolError {
    fn from(error: CallError) -> Self {
        let mut tool_error = ToolError { audience: error.audience, ..ToolError::new(error.code, error.message) };
        if !error.violations.is_empty() {
            let details: Vec<Value> = error.violations.iter().map(SkillViolation::to_json).collect();
            tool_error = tool_error.with_detail("details", details);
        }
        match error.remedy {
            Some(remedy) => tool_error.with_detail("remedy", remedy),
            None => tool_error,
        }
    }
}

impl From<RunRefusal> for CallError {
    fn from(refusal: RunRefusal) -> Self {
        Self::refused(refusal.code, refusal.message).with_remedy(refusal.remedy)
    }
}

impl From<CommandError> for CallError {
    fn from(error: CommandError) -> Self {
        let kind = match error.code {
            ErrorCode::PathNotFound => ErrorKind::NotFound,
            ErrorCode::Usage => ErrorKind::Unable,
            _ => ErrorKind::Refused,
        };
        let remedy = Some(error.remedy);
        Self {
            code: error.code,
            kind,
            message: error.message,
            remedy,
            audience: Audience::Caller,
            violations: Vec::new(),
        }
    }
}

impl From<LibraryError> for CallError {
    fn from(error: LibraryError) -> Self {
        let call_error = Self::unable(ErrorCode::Unreadable, error.to_string()).for_operator();
        match error.hint() {
            Some(hint) => call_error.with_remedy(hint),
            None => call_error,
        }
    }
}

impl From<SettingsError> for CallError {
    fn from(error: SettingsError) -> Self {
        match error {
            SettingsError::Unreadable(error) => error.into(),
            SettingsError::Invalid { message, remedy } => {
                Self::unable(ErrorCode::BrokenSettings, message).with_remedy(remedy).for_operator()
            }
        }
    }
}

impl From<StorageError> for CallError {
    fn from(error: StorageError) -> Self {
        Self::unable(ErrorCode::StorageFailed, error.to_string()).for_operator()
    }
}

impl From<SessionError> for CallError {
    fn from(error: SessionError) -> Self {
        Self::unable(ErrorCode::StorageFailed, error.to_string()).for_operator()
    }
}

impl From<TaskError> for CallError {
    fn from(error: TaskError) -> Self {
        Self::unable(ErrorCode::StorageFailed, error.to_string()).for_operator()
    }
}

/// Compares codes with the text that users see, for tests.
#[cfg(test)]
impl PartialEq<&str> for ErrorCode {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}
