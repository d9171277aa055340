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
#[derive(Clone, Debug)]
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

    /// Adds remedies, of which there may be none.
    pub(crate) fn hints(mut self, hints: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.hints.extend(hints.into_iter().map(Into::into));
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
            WriteError::Link(_) => Some("change the file it leads to"),
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
        let hints = error.remedy.into_iter().collect();
        Failure { exit, code, message: error.message, hints, is_json: false, is_retriable: false }
    }
}

impl From<rep_runtime::trial::selection::SelectionError> for Failure {
    fn from(error: rep_runtime::trial::selection::SelectionError) -> Self {
        use rep_runtime::trial::selection::SelectionError;
        let message = error.to_string();
        match error {
            SelectionError::Lookup(error) => error.into(),
            SelectionError::Library(error) => error.into(),
            SelectionError::Call(error) => error.into(),
            SelectionError::NoSkill(_) => {
                Failure::unable("NOT_A_SKILL", message).hint("name a skill's folder, or a folder above skills")
            }
            SelectionError::NoCase { nearest, known, .. } => {
                let cases = match known.as_slice() {
                    [] => "there are no cases at all".to_owned(),
                    known => format!("the cases are {}", known.join(", ")),
                };
                Failure::unable("CASE_NOT_FOUND", message).hint(did_you_mean(nearest.as_deref(), &cases))
            }
            SelectionError::AmbiguousCase { .. } => Failure::unable("AMBIGUOUS", message)
                .hint("name the skill with --skill, or the case by the stem of its file"),
        }
    }
}

impl From<rep_library::LibraryError> for Failure {
    fn from(error: rep_library::LibraryError) -> Self {
        Failure::unable("UNREADABLE", error.to_string()).hints(error.hint())
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

impl From<rep_library::LookupError> for Failure {
    fn from(error: rep_library::LookupError) -> Self {
        use rep_library::LookupError;
        let message = error.to_string();
        match error {
            LookupError::Ambiguous { .. } => Failure::unable("AMBIGUOUS", message).hint("name the package too"),
            LookupError::NotCallable { name, .. } => {
                Failure::unable("SKILL_NOT_FOUND", message).hint(format!("`rep why {name}` says more"))
            }
            LookupError::Unknown { nearest, .. } => Failure::unable("SKILL_NOT_FOUND", message)
                .hint(did_you_mean(nearest.as_deref(), "`rep list` shows the skills there are")),
        }
    }
}

impl From<rep_library::hosts::UnknownHost> for Failure {
    fn from(error: rep_library::hosts::UnknownHost) -> Self {
        Failure::unable("UNKNOWN_HOST", error.to_string()).hint(did_you_mean(error.nearest, "`rep hosts` lists them"))
    }
}

/// The hint for a name that does not exist.
pub(crate) fn did_you_mean(nearest: Option<&str>, otherwise: &str) -> String {
    nearest.map_or_else(|| otherwise.to_owned(), |near| format!("did you mean `{near}`?"))
}

impl From<rep_library::check::CheckSettingsError> for Failure {
    fn from(error: rep_library::check::CheckSettingsError) -> Self {
        use rep_library::check::CheckSettingsError;
        let message = error.to_string();
        match error {
            CheckSettingsError::Settings(error) => error.into(),
            CheckSettingsError::UnknownRule { nearest, .. } => {
                Failure::unable("UNKNOWN_RULE", message).hint(nearest.map_or_else(
                    || "`rep explain` lists the rules".to_owned(),
                    |near| format!("did you mean `{near}`?"),
                ))
            }
        }
    }
}

impl From<rep_library::check::fix::FixError> for Failure {
    fn from(error: rep_library::check::fix::FixError) -> Self {
        use rep_library::check::fix::FixError;
        let message = error.to_string();
        match error {
            FixError::Unwritable(error) => error.into(),
            FixError::BehindLink { folder, .. } => Failure::unable("UNWRITABLE", message)
                .hint(format!("name the folder itself: `rep check --fix {}`", folder.display())),
        }
    }
}

impl From<rep_library::convert::ConvertError> for Failure {
    fn from(error: rep_library::convert::ConvertError) -> Self {
        use rep_library::convert::ConvertError;
        use rep_model::uasp::SUFFIX;
        let message = error.to_string();
        let unable = |code: &'static str, hint: String| Failure::unable(code, message.clone()).hint(hint);
        match error {
            ConvertError::Unreadable(error) => error.into(),
            ConvertError::Unwritable(error) => crate::write::unwritable(error),
            ConvertError::BrokenMarkdown { help, .. } => unable("UNREADABLE", help),
            ConvertError::NotASkill { .. } => {
                unable("NOT_A_SKILL", format!("name a SKILL.md, a `*{SUFFIX}`, or a folder that holds one"))
            }
            ConvertError::NotMarkdown { .. } => unable(
                "NOT_MARKDOWN",
                format!("a `*{SUFFIX}` is structured already; `--to markdown` makes a SKILL.md of it"),
            ),
            ConvertError::Invalid { errors, .. } => Failure::findings("INVALID", message)
                .hints(errors.iter().take(5).map(|error| format!("{}: {}", error.line(), error.help))),
            ConvertError::Foreign(_) => unable("EXISTS", "--force replaces it".to_owned()),
            ConvertError::Edited(_) => {
                unable("EDITED", "`rep convert --check` shows what differs; --force replaces the file".to_owned())
            }
            ConvertError::InvalidYaml(path) => {
                unable("INVALID_YAML", format!("`rep check {}` says where", path.display()))
            }
        }
    }
}

impl From<rep_net::model::settings::ModelSettingsError> for Failure {
    fn from(error: rep_net::model::settings::ModelSettingsError) -> Self {
        use rep_net::model::settings::ModelSettingsError;
        let message = error.to_string();
        match error {
            ModelSettingsError::Invalid { .. } => {
                Failure::unable("BROKEN_SETTINGS", message).hint("mend it, or leave it out")
            }
            ModelSettingsError::NoServer => Failure::unable("NO_MODEL", message).hints([
                "REP_LLM_URL names an address, REP_LLM_API=openai or anthropic the company's own",
                "--prompt-only and --answer convert with a model that is elsewhere",
            ]),
            ModelSettingsError::NoModel => {
                Failure::unable("NO_MODEL", message).hint("REP_LLM_MODEL or --model names one")
            }
            ModelSettingsError::KeyMissing { .. } => Failure::refused("SECRET_MISSING", message)
                .hint("set the variable; a key is never read from a file or a flag"),
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
            Code::Credential | Code::DigestMismatch | Code::Outside => Exit::Refused,
            _ => Exit::Unable,
        };
        let flag = match error.code {
            Code::Collision => Some("--force replaces it; or give one of the two another name"),
            Code::NotInstalled => Some("--scope says whose skills are meant"),
            Code::Outside => Some("put a folder in the place of the link, or install with --scope personal"),
            Code::TargetExists => Some("--force replaces it; --out names another folder"),
            Code::WouldOverwrite => Some("keep the changes elsewhere; --force overwrites them"),
            Code::WouldRemove => Some("keep what is yours elsewhere; --force removes it"),
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
            ExportError::Unwritable(error) => crate::write::unwritable(error),
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
        let message = error.to_string();
        match error {
            ToolsFileError::Library(error) => error.into(),
            ToolsFileError::Unwritable(error) => error.into(),
            ToolsFileError::NotOneSkill { .. } => {
                Failure::unable("NOT_A_SKILL", message).hint("name a folder with a SKILL.md")
            }
            ToolsFileError::Unreadable { shown, .. } => {
                Failure::unable("UNREADABLE", message).hint(format!("`rep check {shown}` says more"))
            }
            ToolsFileError::NoTools { .. } => {
                Failure::unable("NO_TOOLS", message).hint("add `tools` to SKILL.md; it is what tools.json is made from")
            }
        }
    }
}
