//! Exit codes, and the conversion of library errors into failures with hints.

use std::borrow::Cow;
use std::process::ExitCode;

use rep_library::validation::{SkillViolation, VALIDATION_FAILED_MESSAGE, VIOLATIONS_SHOWN_MAX, describe_violations};
use rep_model::suggestion::suggest_name_or;
use rep_runtime::{CallError, ErrorKind};

/// The exit codes. Scripts depend on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Success.
    Fine,
    /// A check failed, or nothing was found.
    Findings,
    /// The command could not do its work: bad usage, unreadable input or broken configuration.
    Unable,
    /// The policy refused the call.
    Refused,
    /// The skill's own run failed.
    Failed,
    /// The user interrupted the command.
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

/// The reason why a command failed, with hints.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// A stable error code for programs.
    pub(crate) code: Cow<'static, str>,
    /// The message: one lower-case phrase.
    pub(crate) message: String,
    /// The hints: what the user can do.
    pub(crate) hints: Vec<String>,
    /// Details for programs, such as the violations of an invalid skill.
    pub(crate) details: Vec<serde_json::Value>,
    /// Whether the failure is printed as JSON, because the command prints JSON.
    pub(crate) is_json: bool,
    /// Whether the same command may succeed later.
    pub(crate) is_retriable: bool,
}

impl Failure {
    /// A failure of a command that could not do its work.
    pub(crate) fn unable(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            exit: Exit::Unable,
            code: Cow::Borrowed(code),
            message: message.into(),
            hints: Vec::new(),
            details: Vec::new(),
            is_json: false,
            is_retriable: false,
        }
    }

    /// A failure of a command that was refused.
    pub(crate) fn refused(code: &'static str, message: impl Into<String>) -> Self {
        Self { exit: Exit::Refused, ..Self::unable(code, message) }
    }

    /// A failure of a check.
    pub(crate) fn findings(code: &'static str, message: impl Into<String>) -> Self {
        Self { exit: Exit::Findings, ..Self::unable(code, message) }
    }

    /// A failure because a skill is invalid.
    pub(crate) fn invalid_skill(name: &str, violations: &[SkillViolation]) -> Self {
        let failure = Self::unable("VALIDATION_FAILED", VALIDATION_FAILED_MESSAGE);
        let details = violations.iter().map(SkillViolation::to_json).collect();
        Self { details, ..failure.hints(describe_violations(name, violations)) }
    }

    /// Adds a hint.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds any number of hints.
    pub(crate) fn hints(mut self, hints: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.hints.extend(hints.into_iter().map(Into::into));
        self
    }

    /// Sets whether the same command may succeed later.
    pub(crate) fn retriable(mut self, is_retriable: bool) -> Self {
        self.is_retriable = is_retriable;
        self
    }

    /// Sets whether the failure is printed as JSON on stdout.
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

impl From<rep_storage::WriteError> for Failure {
    fn from(error: rep_storage::WriteError) -> Self {
        use rep_storage::WriteError;
        let code = match &error {
            WriteError::Exists(_) => "EXISTS",
            WriteError::Changed(_) => "CHANGED",
            WriteError::Link(_) | WriteError::Folder(_) | WriteError::Special(_) | WriteError::Failed { .. } => {
                "UNWRITABLE"
            }
        };
        let hint = match &error {
            WriteError::Link(_) => Some("change the link's target instead"),
            WriteError::Changed(_) => Some("run the command again"),
            WriteError::Exists(_) | WriteError::Folder(_) | WriteError::Special(_) | WriteError::Failed { .. } => None,
        };
        Failure::unable(code, error.to_string()).hints(hint)
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
        let violations = error.violations.iter();
        let shown = violations.clone().take(VIOLATIONS_SHOWN_MAX).map(SkillViolation::to_line);
        let hints = shown.chain(error.remedy).collect();
        let details = violations.map(SkillViolation::to_json).collect();
        Failure { exit, code, message: error.message, hints, details, is_json: false, is_retriable: false }
    }
}

impl From<rep_runtime::skill_test::selection::SelectionError> for Failure {
    fn from(error: rep_runtime::skill_test::selection::SelectionError) -> Self {
        use rep_runtime::skill_test::selection::SelectionError;
        let message = error.to_string();
        match error {
            SelectionError::Lookup(error) => error.into(),
            SelectionError::Library(error) => error.into(),
            SelectionError::Call(error) => error.into(),
            SelectionError::NoSkill(_) => Failure::unable("NOT_A_SKILL", message)
                .hint("pass a skill directory, or a directory that contains skills"),
            SelectionError::NoCase { nearest, known, .. } => {
                let cases = match known.as_slice() {
                    [] => "the skill has no cases".to_owned(),
                    known => format!("the cases are {}", known.join(", ")),
                };
                Failure::unable("CASE_NOT_FOUND", message).hint(suggest_name_or(nearest.as_deref(), &cases))
            }
            SelectionError::AmbiguousCase { .. } => {
                Failure::unable("AMBIGUOUS", message).hint("pass --skill, or the stem of the case's file")
            }
        }
    }
}

impl From<rep_library::LibraryError> for Failure {
    fn from(error: rep_library::LibraryError) -> Self {
        Failure::unable(rep_library::LibraryError::CODE, error.to_string()).hints(error.hint())
    }
}

impl From<rep_library::settings::SettingsError> for Failure {
    fn from(error: rep_library::settings::SettingsError) -> Self {
        Failure::unable(error.code(), error.to_string()).hints(error.remedy())
    }
}

impl From<rep_library::LookupError> for Failure {
    fn from(error: rep_library::LookupError) -> Self {
        let details = error.violations().iter().map(SkillViolation::to_json).collect();
        Failure { details, ..Failure::unable(error.code(), error.to_string()).hints(error.hints()) }
    }
}

impl From<rep_library::hosts::UnknownHost> for Failure {
    fn from(error: rep_library::hosts::UnknownHost) -> Self {
        Failure::unable("UNKNOWN_HOST", error.to_string())
            .hint(suggest_name_or(error.nearest, "run `rep hosts` to see all hosts"))
    }
}

impl From<rep_library::check::CheckSettingsError> for Failure {
    fn from(error: rep_library::check::CheckSettingsError) -> Self {
        Failure::unable(error.code(), error.to_string()).hints(error.remedy())
    }
}

impl From<rep_library::check::PatternError> for Failure {
    fn from(error: rep_library::check::PatternError) -> Self {
        Failure::unable("USAGE", error.to_string()).hint(rep_library::check::PatternError::REMEDY)
    }
}

impl From<rep_library::check::CheckError> for Failure {
    fn from(error: rep_library::check::CheckError) -> Self {
        match error {
            rep_library::check::CheckError::Unreadable(error) => error.into(),
            rep_library::check::CheckError::Pattern(error) => error.into(),
        }
    }
}

impl From<rep_library::check::BaselineError> for Failure {
    fn from(error: rep_library::check::BaselineError) -> Self {
        use rep_library::check::BaselineError;
        let (is_missing, message) = (error.is_missing(), error.to_string());
        match error {
            BaselineError::Unreadable(_) if is_missing => {
                Failure::unable("UNREADABLE", message).hint("create it with `--write-baseline`")
            }
            BaselineError::Unreadable(error) => error.into(),
            BaselineError::Invalid { .. } => Failure::unable("INVALID_BASELINE", message)
                .hint("restore the file, or remove it and create it again with `--write-baseline`"),
            BaselineError::TooNew { .. } => Failure::unable("INVALID_BASELINE", message).hint("update rep"),
        }
    }
}

impl From<rep_net::git::GitError> for Failure {
    fn from(error: rep_net::git::GitError) -> Self {
        Failure::unable("GIT", error.message.clone()).hints(error.remedy)
    }
}

impl From<rep_library::check::fix::FixError> for Failure {
    fn from(error: rep_library::check::fix::FixError) -> Self {
        use rep_library::check::fix::FixError;
        let message = error.to_string();
        match error {
            FixError::Unwritable(error) => error.into(),
            FixError::BehindLink { folder, .. } => Failure::unable("UNWRITABLE", message)
                .hint(format!("pass the directory itself: `rep check --fix {}`", folder.display())),
        }
    }
}

impl From<rep_library::convert::ConvertError> for Failure {
    fn from(error: rep_library::convert::ConvertError) -> Self {
        use rep_library::convert::ConvertError;
        use rep_model::uasp::FILE_SUFFIX;
        let message = error.to_string();
        let unable = |code: &'static str, hint: String| Failure::unable(code, message.clone()).hint(hint);
        match error {
            ConvertError::Unreadable(error) => error.into(),
            ConvertError::Unwritable(error) => crate::write::write_failure(error),
            ConvertError::BrokenMarkdown { help, .. } => unable("UNREADABLE", help),
            ConvertError::NotASkill { .. } => unable(
                "NOT_A_SKILL",
                format!("pass a SKILL.md or `*{FILE_SUFFIX}` file, or a directory that contains one"),
            ),
            ConvertError::NotMarkdown { .. } => unable(
                "NOT_MARKDOWN",
                format!("a `*{FILE_SUFFIX}` file is already structured; convert it to a SKILL.md with `--to markdown`"),
            ),
            ConvertError::Invalid { errors, .. } => Failure::findings("INVALID", message)
                .hints(errors.iter().take(5).map(|error| format!("{}: {}", error.to_line(), error.help))),
            ConvertError::Foreign(_) => unable("EXISTS", "pass --force to replace it".to_owned()),
            ConvertError::Edited(_) => unable(
                "EDITED",
                "run `rep convert --check` to see the differences, or pass --force to replace the file".to_owned(),
            ),
            ConvertError::InvalidYaml(path) => {
                unable("INVALID_YAML", format!("run `rep check {}` to see where", path.display()))
            }
        }
    }
}

impl From<rep_net::model::settings::ModelSettingsError> for Failure {
    fn from(error: rep_net::model::settings::ModelSettingsError) -> Self {
        use rep_net::model::settings::ModelSettingsError;
        let message = error.to_string();
        match error {
            ModelSettingsError::Invalid { .. } => Failure::unable("BROKEN_SETTINGS", message).hint("fix or remove it"),
            ModelSettingsError::NoServer => Failure::unable("NO_MODEL", message).hints([
                "set REP_LLM_URL, or set REP_LLM_API to `openai` or `anthropic` to use the vendor's own server",
                "use --prompt-only and --answer to convert with a model that rep cannot reach",
            ]),
            ModelSettingsError::NoModel => {
                Failure::unable("NO_MODEL", message).hint("set REP_LLM_MODEL or pass --model")
            }
            ModelSettingsError::KeyMissing { .. } => Failure::refused("SECRET_MISSING", message)
                .hint("set the variable; keys are never read from files or flags"),
        }
    }
}

impl From<rep_net::model::extraction::ExtractionError> for Failure {
    fn from(error: rep_net::model::extraction::ExtractionError) -> Self {
        use rep_net::model::extraction::ExtractionError;
        match error {
            ExtractionError::Answer(error) => {
                Failure::findings("INVALID_ANSWER", error.to_string()).hints(error.reasons)
            }
            ExtractionError::Model(error) => {
                Failure::unable(error.code.as_str(), error.message).retriable(error.is_retriable).hints(error.remedy)
            }
        }
    }
}

impl From<rep_package::PackageError> for Failure {
    fn from(error: rep_package::PackageError) -> Self {
        use rep_package::PackageErrorCode as Code;
        let exit = match error.code {
            Code::InvalidSkill => Exit::Findings,
            Code::BadSignature
            | Code::Credential
            | Code::DeniedSource
            | Code::DigestMismatch
            | Code::Outside
            | Code::SignatureRequired
            | Code::SignerChanged
            | Code::Unauthorized => Exit::Refused,
            _ => Exit::Unable,
        };
        let flag = match error.code {
            Code::Collision => Some("pass --force to replace it, or rename one of the two"),
            Code::NotInstalled => Some("pass --scope to select project or personal skills"),
            Code::Outside => Some("replace the link with a directory, or install with --scope personal"),
            Code::TargetExists => Some("pass --force to replace it, or --out to write to another directory"),
            Code::WouldOverwrite => Some("save your changes elsewhere, then pass --force to overwrite them"),
            Code::WouldRemove => Some("save your files elsewhere, then pass --force to remove them"),
            _ => None,
        };
        let hint = error.remedy.or_else(|| flag.map(str::to_owned));
        Failure { exit, ..Failure::unable(error.code.as_str(), error.message).hints(hint) }
    }
}

impl From<rep_package::export::ExportError> for Failure {
    fn from(error: rep_package::export::ExportError) -> Self {
        use rep_package::export::ExportError;
        match error {
            ExportError::Package(error) => error.into(),
            ExportError::Unwritable(error) => crate::write::write_failure(error),
        }
    }
}

impl From<rep_library::content_version::ContentVersionError> for Failure {
    fn from(error: rep_library::content_version::ContentVersionError) -> Self {
        use rep_library::content_version::ContentVersionError;
        match error {
            ContentVersionError::Library(error) => error.into(),
            ContentVersionError::Unwritable(error) => error.into(),
            ContentVersionError::Unfit { code, message, help } => Failure::unable(code.as_str(), message).hints(help),
        }
    }
}

impl From<rep_library::tools_file::ToolsFileError> for Failure {
    fn from(error: rep_library::tools_file::ToolsFileError) -> Self {
        use rep_library::tools_file::ToolsFileError;
        match error {
            ToolsFileError::Unwritable(error) => error.into(),
            error => Failure::unable(error.code(), error.to_string()).hints(error.remedy()),
        }
    }
}
