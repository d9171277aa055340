//! The options that select a library, shared by every command that needs one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use rep_library::hosts::{DiscoveryHost, HostView};
use rep_library::{
    Catalog, CatalogAudience, CatalogEntry, LibraryError, LibraryOptions, LookupError, SkillStatus, find_project_folder,
};

use crate::exit::Failure;
use crate::output::Output;
use rep_library::request::{LibraryRequest, UserFolders};
use rep_library::validation::SkillViolation;

/// Where the skills to work on are.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct LibraryPlaces {
    /// Use only the skills at this path, and trust them; repeatable
    ///
    /// A skill directory, a directory of skills, a SKILL.md or a `*.uasp.yaml` file.
    #[arg(long = "path", help_heading = "Library options", value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Discover project skills here [default: the enclosing repository]
    #[arg(long, help_heading = "Library options", value_name = "DIR")]
    project: Option<PathBuf>,
    /// Discover personal skills in this home directory [default: $HOME]
    #[arg(long, help_heading = "Library options", value_name = "DIR")]
    home: Option<PathBuf>,
    /// Discover managed skills, installed by an administrator, here
    #[arg(long, help_heading = "Library options", value_name = "DIR")]
    managed: Option<PathBuf>,
    /// Trust the project's skills for this command only
    #[arg(long, help_heading = "Library options")]
    trust: bool,
    /// Which scope wins if several skills have the same name
    #[arg(long, help_heading = "Library options", value_enum, default_value_t = PrecedenceChoice::ProjectFirst)]
    precedence: PrecedenceChoice,
    /// Load skills that their dialect calls invalid; for authors
    #[arg(long, global = true, help_heading = "Global options")]
    lenient: bool,
}

/// Which skills to work on.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct LibraryArgs {
    #[command(flatten)]
    pub(crate) places: LibraryPlaces,
    /// Discover skills as this host does: its directories, order and rules
    #[arg(long, help_heading = "Library options", value_name = "HOST", conflicts_with_all = ["paths", "precedence"])]
    host: Option<String>,
}

/// The precedence orders of scopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PrecedenceChoice {
    /// Managed, then project, then personal
    ProjectFirst,
    /// Managed, then personal, then project
    ClaudeCode,
}

impl LibraryArgs {
    /// The skills in these places, without a host's view.
    pub(crate) fn from_places(places: &LibraryPlaces) -> Self {
        Self { places: places.clone(), host: None }
    }

    /// Returns the project that the options name, or the one around the working directory.
    pub(crate) fn project_folder(&self) -> Result<PathBuf, Failure> {
        match &self.places.project {
            Some(project) => Ok(project.clone()),
            None => Ok(find_project_folder(&working_folder()?)),
        }
    }

    /// Resolves the arguments to library options.
    pub(crate) fn resolve_options(&self) -> Result<LibraryOptions, Failure> {
        let options = self.request()?.resolve(&user_folders())?;
        Ok(LibraryOptions { host: self.host.as_deref().map(|name| self.host_view(name)).transpose()?, ..options })
    }

    /// Returns what the arguments ask for, without the view of a host.
    pub(crate) fn request(&self) -> Result<LibraryRequest, Failure> {
        Ok(LibraryRequest {
            paths: self.places.paths.clone(),
            project: self.project_folder()?,
            home: self.places.home.clone(),
            managed: self.places.managed.clone(),
            is_personal_first: self.places.precedence == PrecedenceChoice::ClaudeCode,
            is_trusted: self.places.trust,
            is_lenient: self.places.lenient,
            audience: CatalogAudience::People,
        })
    }

    /// Returns the view of the named host.
    pub(crate) fn host_view(&self, name: &str) -> Result<HostView, Failure> {
        let host = DiscoveryHost::find_named(name)
            .map_err(|error| Failure::unable("UNKNOWN_HOST", error.to_string()).hint(error.remedy()))?;
        let here = working_folder()?;
        let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let project = self.places.project.as_ref().map(absolute);
        let variable = |name: &&str| {
            let value = std::env::var_os(name).filter(|value| !value.is_empty())?;
            Some(((*name).to_owned(), PathBuf::from(value)))
        };
        Ok(HostView {
            host,
            // The host starts in the working directory, or in the named project if that is elsewhere.
            folder: match &project {
                Some(project) if !here.starts_with(project) => project.clone(),
                _ => here.clone(),
            },
            repository: project
                .or_else(|| Some(find_project_folder(&here)).filter(|folder| folder.join(".git").exists())),
            // The environment describes the current user's home, so it does not apply to a home that was named.
            variables: match self.places.home {
                Some(_) => BTreeMap::new(),
                None => host.environment_variables().iter().filter_map(variable).collect(),
            },
            is_prediction: false,
        })
    }

    /// Discovers skills for display. With a host, predicts what the host would list by its own trust rules, not by
    /// the user's decisions here.
    pub(crate) fn predict_catalog(&self, output: &mut Output) -> Result<Catalog, Failure> {
        let mut options = self.resolve_options()?;
        if let Some(view) = &mut options.host {
            view.is_prediction = true;
        }
        Ok(discover_catalog(&options, output)?)
    }

    /// Returns the host that `--host` names.
    pub(crate) fn host(&self) -> Option<&'static DiscoveryHost> {
        self.host.as_deref().and_then(DiscoveryHost::find)
    }

    /// Discovers the skills and warns about what was left out.
    pub(crate) fn discover_catalog(&self, output: &mut Output) -> Result<Catalog, Failure> {
        Ok(discover_catalog(&self.resolve_options()?, output)?)
    }

    /// Whether a word names a skill by its path, whatever the library contains.
    pub(crate) fn is_path(&self, skill: &str) -> bool {
        self.places.paths.is_empty() && (skill.contains('/') || skill == "." || skill == "..")
    }

    /// Discovers skills and finds one by name, qualified name or path. A word that could be either is a name first,
    /// so that a directory cannot replace a skill of the same name.
    pub(crate) fn find_skill(&self, skill: &str, output: &mut Output) -> Result<(Catalog, usize), Failure> {
        if self.is_path(skill) {
            return refuse_invalid(self.find_at_path(skill, output)?);
        }
        let catalog = self.discover_catalog(output)?;
        match catalog.find_callable(skill) {
            Ok(index) => Ok((catalog, index)),
            Err(error) => refuse_invalid(self.find_at_path_or(error, skill, output)?),
        }
    }

    /// Treats a word that does not name a skill as a path, if the path exists.
    fn find_at_path_or(
        &self,
        error: LookupError,
        word: &str,
        output: &mut Output,
    ) -> Result<(Catalog, usize), Failure> {
        let is_unknown = matches!(error, LookupError::Unknown { .. });
        if is_unknown && self.places.paths.is_empty() && Path::new(word).exists() {
            return self.find_at_path(word, output);
        }
        Err(error.into())
    }

    fn find_at_path(&self, path: &str, output: &mut Output) -> Result<(Catalog, usize), Failure> {
        let mut args = self.clone();
        args.places.paths.push(PathBuf::from(path));
        let catalog = args.discover_catalog(output)?;
        match catalog.entries.len() {
            1 => Ok((catalog, 0)),
            0 => Err(Failure::unable("NOT_A_SKILL", format!("`{path}` does not contain a skill"))
                .hint("run `rep check` to see why")),
            count => {
                Err(Failure::unable("AMBIGUOUS", format!("`{path}` contains {count} skills")).hint("name one of them"))
            }
        }
    }
}

/// Refuses a skill that was found by its path and is invalid. A path is trusted, but not more valid than a name.
fn refuse_invalid((catalog, index): (Catalog, usize)) -> Result<(Catalog, usize), Failure> {
    let entry = &catalog.entries[index];
    match entry.status {
        SkillStatus::Invalid => Err(entry.lookup_error(entry.qualified_name.clone()).into()),
        _ => Ok((catalog, index)),
    }
}

/// Returns the failure for a skill that cannot be run because of its status.
pub(crate) fn uncallable_skill(entry: &CatalogEntry) -> Failure {
    entry.lookup_error(entry.qualified_name.clone()).into()
}

/// Discovers the skills and warns about what was left out.
pub(crate) fn discover_catalog(options: &LibraryOptions, output: &mut Output) -> Result<Catalog, LibraryError> {
    let catalog = Catalog::discover(options)?;
    if options.paths.is_empty() && options.host.is_none() {
        for root in options.extra.iter().filter(|root| !root.path.is_dir()) {
            output.warn(&format!("`{}` in the settings is not a directory", root.path.display()));
        }
    }
    output.warn_all(&catalog.notes);
    Ok(catalog)
}

impl LibraryArgs {
    /// Discovers skills and finds one with any status: the active copy, or else the first copy.
    pub(crate) fn find_any_skill(&self, skill: &str, output: &mut Output) -> Result<(Catalog, usize), Failure> {
        if self.is_path(skill) {
            return self.find_at_path(skill, output);
        }
        let catalog = self.discover_catalog(output)?;
        match catalog.find_any(skill) {
            Ok(index) => Ok((catalog, index)),
            Err(error) => self.find_at_path_or(error, skill, output),
        }
    }
}

/// Warns about declared UASP versions that are not the hash of the content (UASP §9.2).
pub(crate) fn report_version_warnings(warnings: &[SkillViolation], output: &mut Output) {
    for warning in warnings {
        output.warn(&warning.to_line());
    }
}

/// Returns the failure for an unknown skill, with the nearest name.
pub(crate) fn missing_skill(catalog: &Catalog, name: &str) -> Failure {
    catalog.lookup_error(name).into()
}

/// Returns the user's places. Without a home directory, no decisions can have been stored.
pub(crate) fn user_folders() -> UserFolders {
    UserFolders {
        home: home_folder(),
        decisions: decisions_file(home_folder().as_deref()).ok(),
        settings: user_settings_file().ok(),
        cache: cache_folder(),
    }
}

/// Returns the working directory.
pub(crate) fn working_folder() -> Result<PathBuf, Failure> {
    std::env::current_dir()
        .map_err(|error| Failure::unable("UNREADABLE", format!("could not determine the working directory: {error}")))
}

/// Returns the user's home directory, if the environment names one.
pub(crate) fn home_folder() -> Option<PathBuf> {
    std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
}

/// Returns the cache directory, if the environment names one.
pub(crate) fn cache_folder() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = cache.or_else(|| home_folder().map(|home| home.join(".cache")));
    folder.map(|folder| folder.join("repertoire"))
}

/// Returns the file with the user's decisions.
pub(crate) fn decisions_file(home: Option<&Path>) -> Result<PathBuf, Failure> {
    Ok(config_folder(home)?.join("decisions.json"))
}

/// Returns the file with the signers that the user trusts.
pub(crate) fn signers_file() -> Result<PathBuf, Failure> {
    Ok(config_folder(home_folder().as_deref())?.join(rep_package::signers::SIGNERS_FILE))
}

/// Returns the directory for runtime data of the user: approvals, secrets, the audit log and tasks.
pub(crate) fn data_folder() -> Result<PathBuf, Failure> {
    let data = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    match data.or_else(|| home_folder().map(|home| home.join(".local/share"))) {
        Some(folder) => Ok(folder.join("repertoire")),
        None => Err(Failure::unable("NO_HOME", "no home directory to store records in").hint("set HOME")),
    }
}

/// Returns the user's settings file.
pub(crate) fn user_settings_file() -> Result<PathBuf, Failure> {
    Ok(config_folder(home_folder().as_deref())?.join("rep.yaml"))
}

fn config_folder(home: Option<&Path>) -> Result<PathBuf, Failure> {
    let config = std::env::var_os("XDG_CONFIG_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let folder = config.or_else(|| home.map(|home| home.join(".config")));
    match folder {
        Some(folder) => Ok(folder.join("repertoire")),
        None => Err(Failure::unable("NO_HOME", "no home directory to store decisions in").hint("set HOME")),
    }
}
