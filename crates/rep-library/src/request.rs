//! What a caller asks for when it opens a library, and the user's places that complete it.
//!
//! The command line and `rep api` take the same options. Both resolve them here, so that the same options open the same
//! library.

use std::path::{Path, PathBuf};

use crate::catalog::{CatalogAudience, LibraryOptions, Precedence, TrustRequirement};
use crate::settings::{self, SettingsError};
use crate::validation::ValidationMode;

/// The workspace is not a directory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the workspace `{}` is not a directory", path.display())]
pub struct WorkspaceError {
    path: PathBuf,
}

impl WorkspaceError {
    /// The stable code for programs.
    pub const CODE: &'static str = "UNREADABLE";
}

/// Returns the absolute path of a workspace, with links resolved.
pub fn resolve_workspace(folder: &Path) -> Result<PathBuf, WorkspaceError> {
    let real = std::fs::canonicalize(folder).ok().filter(|real| real.is_dir());
    real.ok_or_else(|| WorkspaceError { path: folder.to_owned() })
}

/// The user's own places, as the environment names them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserFolders {
    /// The home directory.
    pub home: Option<PathBuf>,
    /// The file with the decisions about trust and disabled skills.
    pub decisions: Option<PathBuf>,
    /// The user's `rep.yaml`.
    pub settings: Option<PathBuf>,
    /// The directory for what can be computed again.
    pub cache: Option<PathBuf>,
}

/// The options that a caller may give.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LibraryRequest {
    /// Use only the skills at these paths, and trust them.
    pub paths: Vec<PathBuf>,
    /// The project. Its settings can name more directories.
    pub project: PathBuf,
    /// Discover personal skills in this home directory instead of the user's.
    pub home: Option<PathBuf>,
    /// Discover managed skills here.
    pub managed: Option<PathBuf>,
    /// Whether personal skills take precedence over those of the project, as in Claude Code.
    pub is_personal_first: bool,
    /// Trust the project's skills for this library only.
    pub is_trusted: bool,
    /// Load skills that their dialect calls invalid.
    pub is_lenient: bool,
    /// Who uses the library.
    pub audience: CatalogAudience,
}

impl LibraryRequest {
    /// Creates a request for the skills of a project, with default options.
    pub fn for_project(project: PathBuf) -> Self {
        Self {
            paths: Vec::new(),
            project,
            home: None,
            managed: None,
            is_personal_first: false,
            is_trusted: false,
            is_lenient: false,
            audience: CatalogAudience::People,
        }
    }

    /// Completes the request with the settings of the project and of the user.
    pub fn resolve(&self, user: &UserFolders) -> Result<LibraryOptions, SettingsError> {
        let mut extra = settings::project_roots(&self.project)?;
        if let Some(file) = &user.settings {
            extra.extend(settings::user_roots(file, user.home.as_deref())?);
        }
        Ok(LibraryOptions {
            paths: self.paths.clone(),
            is_without_discovery: false,
            project: Some(self.project.clone()),
            // Decisions belong to the current user, even if another home directory is named.
            decisions: user.decisions.clone(),
            home: self.home.clone().or_else(|| user.home.clone()),
            managed: self.managed.clone(),
            precedence: if self.is_personal_first { Precedence::ClaudeCode } else { Precedence::ProjectFirst },
            trust: if self.is_trusted { TrustRequirement::Waived } else { TrustRequirement::Required },
            validation: if self.is_lenient { ValidationMode::Lenient } else { ValidationMode::Enforced },
            extra,
            cache: user.cache.clone(),
            host: None,
            audience: self.audience,
        })
    }
}
