//! How a command ends.

use std::borrow::Cow;
use std::process::ExitCode;

use rep_runtime::{CallError, ErrorKind};

/// The exit codes, which scripts depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Fine.
    Fine,
    /// Checks failed, or nothing was found.
    Findings,
    /// The work could not be done: usage, unreadable input, broken configuration.
    Unable,
    /// The policy refused.
    Refused,
    /// The skill's own run failed.
    Failed,
    /// Somebody asked for the end.
    Interrupted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(match exit {
            Exit::Fine => 0,
            Exit::Findings => 1,
            Exit::Unable => 2,
            Exit::Refused => 3,
            Exit::Failed => 4,
            Exit::Interrupted => 130,
        })
    }
}

/// Why a command gave up: what happened, and what to do.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// A stable word for programs.
    pub(crate) code: Cow<'static, str>,
    /// One lower-case phrase.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) hints: Vec<String>,
    /// Whether the command answers in JSON, so that its failure does too.
    pub(crate) is_json: bool,
    /// Whether the same command may succeed another time.
    pub(crate) is_retriable: bool,
}

impl Failure {
    /// Work that could not be done.
    pub(crate) fn unable(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            exit: Exit::Unable,
            code: Cow::Borrowed(code),
            message: message.into(),
            hints: Vec::new(),
            is_json: false,
            is_retriable: false,
        }
    }

    /// Work that may not be done.
    pub(crate) fn refused(code: &'static str, message: impl Into<String>) -> Self {
        Self { exit: Exit::Refused, ..Self::unable(code, message) }
    }

    /// Something that was judged and found wanting.
    pub(crate) fn findings(code: &'static str, message: impl Into<String>) -> Self {
        Self { exit: Exit::Findings, ..Self::unable(code, message) }
    }

    /// Adds a remedy.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Says whether it may pass.
    pub(crate) fn retriable(mut self, is_retriable: bool) -> Self {
        self.is_retriable = is_retriable;
        self
    }

    /// Lets the failure be told as JSON on stdout.
    pub(crate) fn json(mut self, is_json: bool) -> Self {
        self.is_json = is_json;
        self
    }
}

impl From<rep_storage::StorageError> for Failure {
    fn from(error: rep_storage::StorageError) -> Self {
        CallError::from(error).into()
    }
}

impl From<rep_runtime::session::SessionError> for Failure {
    fn from(error: rep_runtime::session::SessionError) -> Self {
        CallError::from(error).into()
    }
}

impl From<rep_runtime::task::TaskError> for Failure {
    fn from(error: rep_runtime::task::TaskError) -> Self {
        CallError::from(error).into()
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        let exit = match error.kind {
            ErrorKind::NotFound => Exit::Findings,
            ErrorKind::Unable => Exit::Unable,
            ErrorKind::Refused => Exit::Refused,
        };
        let code = Cow::Owned(error.code.as_str().to_owned());
        let hints = error.remedy.into_iter().collect();
        Failure { exit, code, message: error.message, hints, is_json: false, is_retriable: false }
    }
}

impl From<rep_library::LibraryError> for Failure {
    fn from(error: rep_library::LibraryError) -> Self {
        let failure = Failure::unable("UNREADABLE", error.to_string());
        match error.hint() {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

impl From<rep_library::settings::SettingsError> for Failure {
    fn from(error: rep_library::settings::SettingsError) -> Self {
        match error {
            rep_library::settings::SettingsError::Unreadable(error) => error.into(),
            rep_library::settings::SettingsError::Invalid { message, remedy } => {
                Failure::unable("BROKEN_SETTINGS", message).hint(remedy)
            }
        }
    }
}
