//! Errors of methods: the code, message, remedy and exit code of the command that has the method's name.

use std::borrow::Cow;

use rep_library::answer::QueryError;
use rep_library::check::{CheckError, CheckSettingsError};
use rep_library::{LibraryError, LookupError};

use rep_library::request::WorkspaceError;
use rep_library::settings::SettingsError;
use rep_library::tools_file::ToolsFileError;
use rep_library::validation::{SkillViolation, VALIDATION_FAILED_MESSAGE, describe_violations};
use rep_runtime::{CallError, ErrorKind};
use serde_json::{Map, Value, json};

/// The exit codes of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitClass {
    Fine,
    Findings,
    Unable,
    Refused,
    Failed,
    Interrupted,
}

impl ExitClass {
    /// Returns the exit code of the command.
    pub(crate) const fn code(self) -> i32 {
        match self {
            ExitClass::Fine => 0,
            ExitClass::Findings => 1,
            ExitClass::Unable => 2,
            ExitClass::Refused => 3,
            ExitClass::Failed => 4,
            ExitClass::Interrupted => 130,
        }
    }

    /// Returns the word for clients.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            ExitClass::Fine => "fine",
            ExitClass::Findings => "findings",
            ExitClass::Unable => "unable",
            ExitClass::Refused => "refused",
            ExitClass::Failed => "failed",
            ExitClass::Interrupted => "interrupted",
        }
    }
}

/// The reason why a method has no result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ApiError {
    /// The number of JSON-RPC.
    number: i64,
    exit: ExitClass,
    code: Cow<'static, str>,
    message: String,
    hints: Vec<String>,
    is_retriable: bool,
    /// The violations of an invalid skill.
    details: Vec<Value>,
    /// What else is known about a run that failed.
    more: Box<Map<String, Value>>,
}

impl ApiError {
    /// The line is not JSON.
    pub(crate) const PARSE_ERROR: i64 = -32700;
    /// The JSON is not a message.
    pub(crate) const INVALID_REQUEST: i64 = -32600;
    /// The method does not exist.
    const METHOD_NOT_FOUND: i64 = -32601;
    /// A parameter is missing or has another type.
    const INVALID_PARAMS: i64 = -32602;
    /// The server has a bug.
    const INTERNAL_ERROR: i64 = -32603;
    /// The command failed. The data says why.
    const COMMAND_FAILED: i64 = -32000;
    /// The client cancelled the request.
    const CANCELLED: i64 = -32800;

    /// Creates the error of a command that could not do its work.
    pub(crate) fn unable(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self {
            number: Self::COMMAND_FAILED,
            exit: ExitClass::Unable,
            code: code.into(),
            message: message.into(),
            hints: Vec::new(),
            is_retriable: false,
            details: Vec::new(),
            more: Box::default(),
        }
    }

    /// A line that is not a request.
    pub(crate) fn invalid_request(number: i64, message: impl Into<String>) -> Self {
        Self { number, ..Self::unable("INVALID_REQUEST", message) }
    }

    /// A method that does not exist.
    pub(crate) fn unknown_method(method: &str, known: &[&str]) -> Self {
        let error = Self::unable("UNKNOWN_METHOD", format!("unknown method `{method}`"));
        Self { number: Self::METHOD_NOT_FOUND, ..error.hint(format!("the methods are {}", known.join(", "))) }
    }

    /// A parameter that is missing, unknown or of another type.
    pub(crate) fn invalid_params(message: impl Into<String>) -> Self {
        Self { number: Self::INVALID_PARAMS, ..Self::unable("INVALID_ARGUMENT", message) }
    }

    /// A request that the client cancelled.
    pub(crate) fn cancelled() -> Self {
        let error = Self::unable("CANCELLED", "the client cancelled the request");
        Self { number: Self::CANCELLED, exit: ExitClass::Interrupted, ..error }
    }

    /// A bug of the server.
    pub(crate) fn internal() -> Self {
        let error = Self::unable("INTERNAL_ERROR", "the request ended in a bug of `rep`");
        Self { number: Self::INTERNAL_ERROR, ..error.hint("the message is on stderr; please report it") }
    }

    /// A server that has too many requests to answer.
    pub(crate) fn busy() -> Self {
        let error = Self::unable("BUSY", "too many requests wait for an answer");
        Self { is_retriable: true, ..error.hint("send it again after some answers") }
    }

    /// An answer that is longer than a line may be.
    pub(crate) fn too_large() -> Self {
        let error = Self::unable("TOO_LARGE", format!("the answer exceeds {} MiB", crate::LINE_BYTES_MAX >> 20));
        error.hint("ask for less, for example one file or a smaller library")
    }

    /// A run that ended without a result. `error` is the `error` field of its envelope.
    pub(crate) fn failed_run(exit: ExitClass, error: &Value, meta: Value) -> Self {
        let text = |key: &str| error[key].as_str().unwrap_or_default().to_owned();
        let mut more = error.as_object().cloned().unwrap_or_default();
        more.retain(|key, _| !matches!(key.as_str(), "code" | "message" | "retriable" | "remedy"));
        more.insert("meta".to_owned(), meta);
        Self {
            exit,
            hints: error["remedy"].as_str().map(str::to_owned).into_iter().collect(),
            is_retriable: error["retriable"].as_bool().unwrap_or(false),
            more: Box::new(more),
            ..Self::unable(text("code"), text("message"))
        }
    }

    /// Sets the exit class.
    pub(crate) fn with_exit(mut self, exit: ExitClass) -> Self {
        self.exit = exit;
        self
    }

    /// Adds a line that says what to do.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Renders the error of a response.
    pub(crate) fn to_json(&self) -> Value {
        let mut data = json!({
            "code": self.code,
            "message": self.message,
            "retriable": self.is_retriable,
            "exit": self.exit.code(),
            "class": self.exit.name(),
        });
        if !self.hints.is_empty() {
            data["remedy"] = self.hints.join("\n").into();
        }
        if !self.details.is_empty() {
            data["details"] = self.details.clone().into();
        }
        for (key, value) in self.more.iter() {
            data[key] = value.clone();
        }
        json!({ "code": self.number, "message": self.message, "data": data })
    }
}

fn render_violations(violations: &[SkillViolation]) -> Vec<Value> {
    violations.iter().map(SkillViolation::to_json).collect()
}

impl From<LibraryError> for ApiError {
    fn from(error: LibraryError) -> Self {
        let hints = error.hint().map(str::to_owned).into_iter().collect();
        Self { hints, ..Self::unable(LibraryError::CODE, error.to_string()) }
    }
}

impl From<LookupError> for ApiError {
    fn from(error: LookupError) -> Self {
        let details = render_violations(error.violations());
        Self { hints: error.hints(), details, ..Self::unable(error.code(), error.to_string()) }
    }
}

impl From<SettingsError> for ApiError {
    fn from(error: SettingsError) -> Self {
        let hints = error.remedy().map(str::to_owned).into_iter().collect();
        Self { hints, ..Self::unable(error.code(), error.to_string()) }
    }
}

impl From<CheckError> for ApiError {
    fn from(error: CheckError) -> Self {
        match error {
            CheckError::Unreadable(error) => error.into(),
            CheckError::Pattern(error) => CheckSettingsError::Pattern(error).into(),
        }
    }
}

impl From<CheckSettingsError> for ApiError {
    fn from(error: CheckSettingsError) -> Self {
        Self { hints: error.remedy().into_iter().collect(), ..Self::unable(error.code(), error.to_string()) }
    }
}

impl From<ToolsFileError> for ApiError {
    fn from(error: ToolsFileError) -> Self {
        Self { hints: error.remedy().into_iter().collect(), ..Self::unable(error.code(), error.to_string()) }
    }
}

impl From<WorkspaceError> for ApiError {
    fn from(error: WorkspaceError) -> Self {
        Self::unable(WorkspaceError::CODE, error.to_string())
    }
}

impl From<QueryError> for ApiError {
    fn from(error: QueryError) -> Self {
        match error {
            QueryError::Unreadable(error) => error.into(),
            QueryError::Invalid { skill, violations } => Self {
                hints: describe_violations(&skill, &violations),
                details: render_violations(&violations),
                ..Self::unable("VALIDATION_FAILED", VALIDATION_FAILED_MESSAGE)
            },
            miss => Self::unable(miss.code().to_owned(), miss.message()).with_exit(ExitClass::Findings),
        }
    }
}

impl From<CallError> for ApiError {
    fn from(error: CallError) -> Self {
        let exit = match error.kind {
            ErrorKind::NotFound => ExitClass::Findings,
            ErrorKind::Unable => ExitClass::Unable,
            ErrorKind::Refused => ExitClass::Refused,
        };
        let code = error.code.as_str().to_owned();
        let details = render_violations(&error.violations);
        Self { exit, hints: error.remedy.into_iter().collect(), details, ..Self::unable(code, error.message) }
    }
}
