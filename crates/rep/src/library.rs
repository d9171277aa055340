//! The options that say which library a command works on, shared by every command that needs one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use rep_library::hosts::{HOSTS, Host, View};
use rep_library::{Catalog, LibraryError, LookupError, Options, Precedence, TrustWanted, project_of};

use crate::exit::Failure;
use crate::output::Output;
use rep_library::settings;

/// Where the skills to work on are.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Places {
    /// Use exactly these skills, trusted, instead of discovery: folders, trees, SKILL.md or `*.uasp.yaml` files
    #[arg(long = "path", value_name = "P")]
    pub(crate) paths: Vec<PathBuf>,
    /// The project to discover skills in [default: the repository around this folder]
    #[arg(long, value_name = "D")]
    project: Option<PathBuf>,
    /// The home to discover personal skills in
    #[arg(long, value_name = "D")]
    home: Option<PathBuf>,
    /// The administrator's folder of skills
    #[arg(long, value_name = "D")]
    managed: Option<PathBuf>,
    /// Trust the project's skills for this call
    #[arg(long)]
    trust: bool,
    /// Which scope wins where a name is taken twice
    #[arg(long, value_enum, default_value_t = Order::ProjectFirst)]
    precedence: Order,
}

/// Which skills to work on.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct LibraryArgs {
    #[command(flatten)]
    pub(crate) places: Places,
    /// See what this host itself would list: its folders, order and rules, from the folder this is called in
    #[arg(long, value_name = "HOST", conflicts_with_all = ["paths", "precedence"])]
    host: Option<String>,
}

/// The orders of scopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Order {
    /// Managed, project, personal
    ProjectFirst,
    /// Managed, personal, project
    ClaudeCode,
}

impl LibraryArgs {
    /// The skills of these places, seen by nobody in particular.
    pub(crate) fn of(places: &Places) -> Self {
        Self { places: places.clone(), host: None }
    }

    /// The project the options name, or the one around the working folder.
    pub(crate) fn project(&self) -> Result<PathBuf, Failure> {
        match &self.places.project {
            Some(project) => Ok(project.clone()),
            None => Ok(project_of(&here()?)),
        }
    }

    /// The options of the library.
    pub(crate) fn options(&self) -> Result<Options, Failure> {
        let project = self.project()?;
        let mut extra = settings::project_roots(&project)?;
        if let Ok(file) = user_settings_file() {
            extra.extend(settings::user_roots(&file, home().as_deref())?);
        }
        Ok(Options {
            paths: self.places.paths.clone(),
            project: Some(project),
            // Decisions are the user's own, whichever home is looked through.
            // Without a home there is nowhere anything could have been decided.
            decisions: decisions_file(home().as_deref()).ok(),
            home: self.places.home.clone().or_else(home),
            managed: self.places.managed.clone(),
            precedence: match self.places.precedence {
                Order::ProjectFirst => Precedence::ProjectFirst,
                Order::ClaudeCode => Precedence::ClaudeCode,
            },
            trust: if self.places.trust { TrustWanted::Given } else { TrustWanted::Needed },
            extra,
            cache: cache_folder(),
            host: self.host.as_deref().map(|name| self.view(name)).transpose()?,
        })
    }

    /// The view of the host that was asked for.
    pub(crate) fn view(&self, name: &str) -> Result<View, Failure> {
        let host = Host::find(name).ok_or_else(|| {
            let failure = Failure::unable("UNKNOWN_HOST", format!("there is no host `{name}` in the table"));
            let all: Vec<&str> = HOSTS.iter().map(|host| host.id).collect();
            match Host::near(name) {
                Some(near) => failure.hint(format!("did you mean `{near}`?")),
                None => failure.hint(format!("one of {}", all.join(", "))),
            }
        })?;
        let here = here()?;
        let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let project = self.places.project.as_ref().map(absolute);
        let variable = |name: &&str| {
            let value = std::env::var_os(name).filter(|value| !value.is_empty())?;
            Some(((*name).to_owned(), PathBuf::from(value)))
        };
        Ok(View {
            host,
            // A host is started somewhere: here, or in the project that was named where this is elsewhere.
            folder: match &project {
                Some(project) if !here.starts_with(project) => project.clone(),
                _ => here.clone(),
            },
            repository: project.or_else(|| Some(project_of(&here)).filter(|folder| folder.join(".git").exists())),
            // A home that is named is not this user's, whose variables say nothing of it.
            variables: match self.places.home {
                Some(_) => BTreeMap::new(),
                None => host.variables().iter().filter_map(variable).collect(),
            },
            is_prediction: false,
        })
    }

    /// Discovers for looking at: with a host, what it would list by its own trust, and not by the user's decisions here.
    pub(crate) fn predict(&self, output: &mut Output) -> Result<Catalog, Failure> {
        let mut options = self.options()?;
        if let Some(view) = &mut options.host {
            view.is_prediction = true;
        }
        Ok(discover(&options, output)?)
    }

    /// The host whose view was asked for.
    pub(crate) fn host(&self) -> Option<&'static Host> {
        self.host.as_deref().and_then(Host::find)
    }

    /// Discovers, and says what was left out.
    pub(crate) fn discover(&self, output: &mut Output) -> Result<Catalog, Failure> {
        Ok(discover(&self.options()?, output)?)
    }

    /// Discovers and finds one skill by name, qualified name or path. What could be either is a name first: a folder
    /// that happens to be called like a skill must not stand in for it.
    pub(crate) fn one(&self, skill: &str, output: &mut Output) -> Result<(Catalog, usize), Failure> {
        if self.places.paths.is_empty() && (skill.contains('/') || skill == "." || skill == "..") {
            return self.at_path(skill, output);
        }
        let catalog = self.discover(output)?;
        match catalog.find(skill) {
            Ok(index) => Ok((catalog, index)),
            Err(error) => self.path_or(error, skill, output),
        }
    }

    /// Takes a word that is the name of no skill for a path, where it is one.
    fn path_or(&self, error: LookupError, word: &str, output: &mut Output) -> Result<(Catalog, usize), Failure> {
        let is_unknown = matches!(error, LookupError::Unknown { .. });
        if is_unknown && self.places.paths.is_empty() && Path::new(word).exists() {
            return self.at_path(word, output);
        }
        Err(error.into())
    }

    fn at_path(&self, path: &str, output: &mut Output) -> Result<(Catalog, usize), Failure> {
        let mut args = self.clone();
        args.places.paths.push(PathBuf::from(path));
        let catalog = args.discover(output)?;
        match catalog.entries.len() {
            1 => Ok((catalog, 0)),
            0 => Err(Failure::unable("NOT_A_SKILL", format!("`{path}` holds no skill")).hint("`rep check` says why")),
            count => {
                Err(Failure::unable("AMBIGUOUS", format!("`{path}` holds {count} skills")).hint("name one of them"))
            }
        }
    }
}

/// Discovers, and says what was left out.
pub(crate) fn discover(options: &Options, output: &mut Output) -> Result<Catalog, LibraryError> {
    let catalog = Catalog::discover(options)?;
    if options.paths.is_empty() && options.host.is_none() {
        for root in options.extra.iter().filter(|root| !root.path.is_dir()) {
            output.warn(&format!("the settings name `{}`, which is no folder", root.path.display()));
        }
    }
    output.warn_all(&catalog.notes);
    Ok(catalog)
}

impl LibraryArgs {
    /// Discovers and finds one skill whatever its status: the one in force first, else the first copy.
    pub(crate) fn any(&self, skill: &str, output: &mut Output) -> Result<(Catalog, usize), Failure> {
        if self.places.paths.is_empty() && (skill.contains('/') || skill == "." || skill == "..") {
            return self.one(skill, output);
        }
        let catalog = self.discover(output)?;
        match catalog.find_any(skill) {
            Ok(index) => Ok((catalog, index)),
            Err(error) => self.path_or(error, skill, output),
        }
    }
}

/// Why a name was not found, with the nearest one.
pub(crate) fn missing(catalog: &Catalog, name: &str) -> Failure {
    catalog.lookup_error(name).into()
}

/// The working folder.
pub(crate) fn here() -> Result<PathBuf, Failure> {
    std::env::current_dir().map_err(|error| Failure::unable("UNREADABLE", format!("no working folder: {error}")))
}

/// The user's home, where the environment names one.
pub(crate) fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
}

/// Where what can be made anew is kept, where the environment names a place.
pub(crate) fn cache_folder() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = cache.or_else(|| home().map(|home| home.join(".cache")));
    folder.map(|folder| folder.join("repertoire"))
}

/// Where the user's decisions are kept.
pub(crate) fn decisions_file(home: Option<&Path>) -> Result<PathBuf, Failure> {
    Ok(config_folder(home)?.join("decisions.json"))
}

/// Where what the runtime keeps for the user lies: approvals, secrets, the record of runs, tasks.
pub(crate) fn data_folder() -> Result<PathBuf, Failure> {
    let data = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    match data.or_else(|| home().map(|home| home.join(".local/share"))) {
        Some(folder) => Ok(folder.join("repertoire")),
        None => Err(Failure::unable("NO_HOME", "there is no home folder to keep records in").hint("set HOME")),
    }
}

/// The user's own settings.
pub(crate) fn user_settings_file() -> Result<PathBuf, Failure> {
    Ok(config_folder(home().as_deref())?.join("rep.yaml"))
}

fn config_folder(home: Option<&Path>) -> Result<PathBuf, Failure> {
    let config = std::env::var_os("XDG_CONFIG_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let folder = config.or_else(|| home.map(|home| home.join(".config")));
    match folder {
        Some(folder) => Ok(folder.join("repertoire")),
        None => Err(Failure::unable("NO_HOME", "there is no home folder to keep decisions in").hint("set HOME")),
    }
}
