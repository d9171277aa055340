//! Why skills could not be moved.

use rep_library::LibraryError;

use crate::files::FilesError;
use crate::lock::LockError;
use crate::place::PlaceError;

/// Why skills could not be moved, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackageErrorCode {
    /// A name or a source fits several skills.
    Ambiguous,
    /// The lock file cannot be used.
    BrokenLock,
    /// Another skill of the name is in the way.
    Collision,
    /// A file holds, or is named like, a credential.
    Credential,
    /// What was fetched is not what its index says.
    DigestMismatch,
    /// Two skills have the same name.
    Duplicate,
    /// Something could not be fetched.
    FetchFailed,
    /// An archive cannot be opened.
    InvalidArchive,
    /// An index cannot be read.
    InvalidIndex,
    /// A skill has errors.
    InvalidSkill,
    /// None of the hosts has a folder in this scope.
    NoFolder,
    /// There is no home to keep records in.
    NoHome,
    /// There is no skill.
    NotASkill,
    /// A skill is not in the lock file.
    NotInstalled,
    /// A skill was installed by another tool.
    NotOurs,
    /// A folder is outside the project.
    Outside,
    /// A source has no skill of the name.
    SkillNotFound,
    /// What would be written is there already.
    TargetExists,
    /// A source has too many skills.
    TooMany,
    /// There is no host of the name.
    UnknownHost,
    /// There is no source of the name.
    UnknownSource,
    /// Something could not be read.
    Unreadable,
    /// Something could not be written.
    Unwritable,
    /// Replacing a skill would overwrite what somebody changed.
    WouldOverwrite,
    /// Removing a skill would remove what somebody changed.
    WouldRemove,
}

impl PackageErrorCode {
    /// The word in results.
    pub const fn as_str(self) -> &'static str {
        match self {
            PackageErrorCode::Ambiguous => "AMBIGUOUS",
            PackageErrorCode::BrokenLock => "BROKEN_LOCK",
            PackageErrorCode::Collision => "COLLISION",
            PackageErrorCode::Credential => "CREDENTIAL",
            PackageErrorCode::DigestMismatch => "DIGEST_MISMATCH",
            PackageErrorCode::Duplicate => "DUPLICATE",
            PackageErrorCode::FetchFailed => "FETCH_FAILED",
            PackageErrorCode::InvalidArchive => "INVALID_ARCHIVE",
            PackageErrorCode::InvalidIndex => "INVALID_INDEX",
            PackageErrorCode::InvalidSkill => "INVALID_SKILL",
            PackageErrorCode::NoFolder => "NO_FOLDER",
            PackageErrorCode::NoHome => "NO_HOME",
            PackageErrorCode::NotASkill => "NOT_A_SKILL",
            PackageErrorCode::NotInstalled => "NOT_INSTALLED",
            PackageErrorCode::NotOurs => "NOT_OURS",
            PackageErrorCode::Outside => "OUTSIDE",
            PackageErrorCode::SkillNotFound => "SKILL_NOT_FOUND",
            PackageErrorCode::TooMany => "TOO_MANY",
            PackageErrorCode::UnknownHost => "UNKNOWN_HOST",
            PackageErrorCode::UnknownSource => "UNKNOWN_SOURCE",
            PackageErrorCode::Unreadable => "UNREADABLE",
            PackageErrorCode::TargetExists | PackageErrorCode::Unwritable => "UNWRITABLE",
            PackageErrorCode::WouldOverwrite | PackageErrorCode::WouldRemove => "CHANGED",
        }
    }
}

/// Why skills could not be moved. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PackageError {
    /// The code for programs.
    pub code: PackageErrorCode,
    /// The message for people.
    pub message: String,
    /// What would help.
    pub remedy: Option<String>,
}

impl PackageError {
    /// An error without a remedy.
    pub fn new(code: PackageErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), remedy: None }
    }

    /// With what would help.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

impl From<LibraryError> for PackageError {
    fn from(error: LibraryError) -> Self {
        let remedy = error.hint().map(str::to_owned);
        Self { remedy, ..Self::new(PackageErrorCode::Unreadable, error.to_string()) }
    }
}

impl From<FilesError> for PackageError {
    fn from(error: FilesError) -> Self {
        Self::new(PackageErrorCode::Unreadable, error.to_string())
    }
}

impl From<LockError> for PackageError {
    fn from(error: LockError) -> Self {
        Self::new(PackageErrorCode::BrokenLock, error.to_string())
            .remedy("mend it, or take it away: then nothing counts as installed")
    }
}

impl From<PlaceError> for PackageError {
    fn from(error: PlaceError) -> Self {
        let made = Self::new(PackageErrorCode::Unwritable, error.to_string());
        match error {
            PlaceError::Exists(_) => made.remedy("somebody else put it there meanwhile; look at it, and try again"),
            PlaceError::Failed { .. } => made.remedy("nothing was changed; see to the folder, and try again"),
            PlaceError::Unfit { .. } => made,
        }
    }
}
