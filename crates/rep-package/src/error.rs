//! The error type of this crate.

use rep_library::LibraryError;
use rep_net::git::{GitError, GitErrorKind};
use rep_net::oci::{OciError, OciErrorKind};

use crate::atomic_dir::AtomicDirError;
use crate::files::FilesError;
use crate::lock::LockError;

/// The codes of package errors, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackageErrorCode {
    /// A name or source matches several skills.
    Ambiguous,
    /// A signature is wrong.
    BadSignature,
    /// The lock file is invalid.
    BrokenLock,
    /// Another skill with the same name exists.
    Collision,
    /// A file contains a credential, or has the name of one.
    Credential,
    /// The rules of the user or of the administrator do not allow the source.
    DeniedSource,
    /// Fetched content does not match the digest in its index.
    DigestMismatch,
    /// Two skills have the same name.
    Duplicate,
    /// A download failed.
    FetchFailed,
    /// An archive cannot be opened.
    InvalidArchive,
    /// An artifact in a registry cannot be read.
    InvalidArtifact,
    /// An index cannot be read.
    InvalidIndex,
    /// The rules for sources are invalid.
    InvalidRules,
    /// A signer, a key or a certificate cannot be used.
    InvalidSigner,
    /// A skill has errors.
    InvalidSkill,
    /// None of the hosts has a skill directory in this scope.
    NoFolder,
    /// No home directory exists to store records in.
    NoHome,
    /// No skill was found.
    NotASkill,
    /// A skill is not in the lock file.
    NotInstalled,
    /// A skill was installed by another tool.
    NotOurs,
    /// A directory is outside the project.
    Outside,
    /// The repository has no such branch, tag or commit.
    NoReference,
    /// Something is not in the cache, and nothing may be fetched.
    Offline,
    /// The address of a source is not allowed.
    RefusedSource,
    /// A skill is not signed by those who must sign it.
    SignatureRequired,
    /// A skill is signed by someone else than the installed version.
    SignerChanged,
    /// The source does not contain the named skill.
    SkillNotFound,
    /// The target exists.
    TargetExists,
    /// A source has too many skills.
    TooMany,
    /// The host is unknown.
    UnknownHost,
    /// The server wants credentials that are not stored.
    Unauthorized,
    /// The source does not exist.
    UnknownSource,
    /// A file or directory could not be read.
    Unreadable,
    /// A file or directory could not be written.
    Unwritable,
    /// Another installed skill requires this one.
    Required,
    /// Skills require versions of one skill that no single version satisfies.
    VersionConflict,
    /// Replacing a skill would overwrite local changes.
    WouldOverwrite,
    /// Removing a skill would remove local changes.
    WouldRemove,
}

impl PackageErrorCode {
    /// Returns the name in JSON results.
    pub const fn as_str(self) -> &'static str {
        match self {
            PackageErrorCode::Ambiguous => "AMBIGUOUS",
            PackageErrorCode::BadSignature => "BAD_SIGNATURE",
            PackageErrorCode::BrokenLock => "BROKEN_LOCK",
            PackageErrorCode::Collision => "COLLISION",
            PackageErrorCode::Credential => "CREDENTIAL",
            PackageErrorCode::DeniedSource => "SOURCE_DENIED",
            PackageErrorCode::DigestMismatch => "DIGEST_MISMATCH",
            PackageErrorCode::Duplicate => "DUPLICATE",
            PackageErrorCode::FetchFailed => "FETCH_FAILED",
            PackageErrorCode::InvalidArchive => "INVALID_ARCHIVE",
            PackageErrorCode::InvalidArtifact => "INVALID_ARTIFACT",
            PackageErrorCode::InvalidIndex => "INVALID_INDEX",
            PackageErrorCode::InvalidRules => "BROKEN_SETTINGS",
            PackageErrorCode::InvalidSigner => "INVALID_SIGNER",
            PackageErrorCode::InvalidSkill => "INVALID_SKILL",
            PackageErrorCode::NoFolder => "NO_FOLDER",
            PackageErrorCode::NoHome => "NO_HOME",
            PackageErrorCode::NotASkill => "NOT_A_SKILL",
            PackageErrorCode::NotInstalled => "NOT_INSTALLED",
            PackageErrorCode::NotOurs => "NOT_OURS",
            PackageErrorCode::Outside => "OUTSIDE",
            PackageErrorCode::NoReference => "NO_REFERENCE",
            PackageErrorCode::Offline => "OFFLINE",
            PackageErrorCode::RefusedSource => "REFUSED_SOURCE",
            PackageErrorCode::Required => "REQUIRED",
            PackageErrorCode::SignatureRequired => "SIGNATURE_REQUIRED",
            PackageErrorCode::SignerChanged => "SIGNER_CHANGED",
            PackageErrorCode::SkillNotFound => "SKILL_NOT_FOUND",
            PackageErrorCode::TooMany => "TOO_MANY",
            PackageErrorCode::UnknownHost => "UNKNOWN_HOST",
            PackageErrorCode::Unauthorized => "UNAUTHORIZED",
            PackageErrorCode::UnknownSource => "UNKNOWN_SOURCE",
            PackageErrorCode::Unreadable => "UNREADABLE",
            PackageErrorCode::TargetExists | PackageErrorCode::Unwritable => "UNWRITABLE",
            PackageErrorCode::VersionConflict => "VERSION_CONFLICT",
            PackageErrorCode::WouldOverwrite | PackageErrorCode::WouldRemove => "CHANGED",
        }
    }
}

/// The reason why a package operation failed. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PackageError {
    /// The code for programs.
    pub code: PackageErrorCode,
    /// The message for people.
    pub message: String,
    /// What the user can do.
    pub remedy: Option<String>,
}

impl PackageError {
    /// Creates an error without a remedy.
    pub fn new(code: PackageErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), remedy: None }
    }

    /// Adds a remedy.
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

impl From<GitError> for PackageError {
    fn from(error: GitError) -> Self {
        let code = match error.kind {
            GitErrorKind::Refused => PackageErrorCode::RefusedSource,
            GitErrorKind::Unauthorized => PackageErrorCode::Unauthorized,
            GitErrorKind::NotFound => PackageErrorCode::UnknownSource,
            GitErrorKind::NoReference => PackageErrorCode::NoReference,
            GitErrorKind::NoPath => PackageErrorCode::NotASkill,
            GitErrorKind::NotInstalled | GitErrorKind::TooLarge | GitErrorKind::Failed => PackageErrorCode::FetchFailed,
        };
        Self { remedy: error.remedy, ..Self::new(code, error.message) }
    }
}

impl From<OciError> for PackageError {
    fn from(error: OciError) -> Self {
        let code = match error.kind {
            OciErrorKind::Unauthorized => PackageErrorCode::Unauthorized,
            OciErrorKind::NotFound => PackageErrorCode::UnknownSource,
            OciErrorKind::Mismatch => PackageErrorCode::DigestMismatch,
            OciErrorKind::Invalid => PackageErrorCode::InvalidArtifact,
            OciErrorKind::Failed => PackageErrorCode::FetchFailed,
        };
        Self { remedy: error.remedy, ..Self::new(code, error.message) }
    }
}

impl From<LockError> for PackageError {
    fn from(error: LockError) -> Self {
        Self::new(PackageErrorCode::BrokenLock, error.to_string())
            .remedy("fix or delete it; without it, no skills are recorded as installed")
    }
}

impl From<AtomicDirError> for PackageError {
    fn from(error: AtomicDirError) -> Self {
        let made = Self::new(PackageErrorCode::Unwritable, error.to_string());
        match error {
            AtomicDirError::Exists(_) => made.remedy("another process created it meanwhile; review it and try again"),
            AtomicDirError::Failed { .. } => made.remedy("nothing was changed; check the directory and try again"),
            AtomicDirError::Unsupported { .. } => made,
        }
    }
}
