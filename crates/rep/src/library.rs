//! The options that say which library a command works on, shared by every command that needs one.

use std::path::PathBuf;

use clap::ValueEnum;
use rep_library::store::Decisions;
use rep_library::{Catalog, CatalogEntry, Options, Precedence, TrustWanted, disclose, project_of};

use crate::exit::Failure;
use crate::output::Output;

/// Which skills to work on.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct LibraryArgs {
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

/// The orders of scopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Order {
    /// Managed, project, personal
    ProjectFirst,
    /// Managed, personal, project
    ClaudeCode,
}

impl LibraryArgs {
    /// The project the options name, or the one around the working folder.
    pub(crate) fn project(&self) -> Result<PathBuf, Failure> {
        match &self.project {
            Some(project) => Ok(project.clone()),
            None => Ok(project_of(&here()?)),
        }
    }

    /// The options of the library.
    pub(crate) fn options(&self) -> Result<Options, Failure> {
        Ok(Options {
            paths: self.paths.clone(),
            project: Some(self.project()?),
            // Decisions are the user's own, whichever home is looked through.
            decisions: match decisions_file(home().as_deref()) {
                Ok(file) => Decisions::read(&file)?,
                // Without a home there is nowhere anything could have been decided.
                Err(_) => Decisions::default(),
            },
            home: self.home.clone().or_else(home),
            managed: self.managed.clone(),
            precedence: match self.precedence {
                Order::ProjectFirst => Precedence::ProjectFirst,
                Order::ClaudeCode => Precedence::ClaudeCode,
            },
            trust: if self.trust { TrustWanted::Given } else { TrustWanted::Needed },
            extra: Vec::new(),
        })
    }

    /// Discovers, and says what was left out.
    pub(crate) fn discover(&self, output: &mut Output) -> Result<Catalog, Failure> {
        let catalog = Catalog::discover(&self.options()?)?;
        for note in &catalog.notes {
            output.warn(note);
        }
        Ok(catalog)
    }

    /// Discovers and finds one skill by name, qualified name or path.
    pub(crate) fn one(&self, skill: &str, output: &mut Output) -> Result<(Catalog, usize), Failure> {
        let mut args = self.clone();
        if self.paths.is_empty() && disclose::is_path(skill) {
            args.paths.push(PathBuf::from(skill));
            let catalog = args.discover(output)?;
            return match catalog.entries.len() {
                1 => Ok((catalog, 0)),
                0 => {
                    Err(Failure::unable("NOT_A_SKILL", format!("`{skill}` holds no skill"))
                        .hint("`rep check` says why"))
                }
                count => {
                    Err(Failure::unable("AMBIGUOUS", format!("`{skill}` holds {count} skills"))
                        .hint("name one of them"))
                }
            };
        }
        let catalog = args.discover(output)?;
        match catalog.get(skill).map(|entry| entry.qualified_name.clone()) {
            Some(name) => {
                let index = catalog.entries.iter().position(|entry| entry.qualified_name == name);
                Ok((catalog, index.unwrap_or(0)))
            }
            None => Err(missing(&catalog, skill)),
        }
    }
}

impl LibraryArgs {
    /// Discovers and finds one skill whatever its status: the one in force first, else the first copy.
    pub(crate) fn any(&self, skill: &str, output: &mut Output) -> Result<(Catalog, usize), Failure> {
        if self.paths.is_empty() && disclose::is_path(skill) {
            return self.one(skill, output);
        }
        let catalog = self.discover(output)?;
        let named = |entry: &CatalogEntry| entry.qualified_name == skill || entry.name == skill;
        let winner = catalog.get(skill).map(|entry| &entry.location);
        let index = match winner {
            Some(location) => catalog.entries.iter().position(|entry| entry.location == *location),
            None => catalog.entries.iter().position(named),
        };
        match index {
            Some(index) => Ok((catalog, index)),
            None => Err(missing(&catalog, skill)),
        }
    }
}

/// Why a name was not found, with the nearest one.
pub(crate) fn missing(catalog: &Catalog, name: &str) -> Failure {
    let held: Option<&CatalogEntry> =
        catalog.entries.iter().find(|entry| entry.qualified_name == name || entry.name == name);
    if let Some(entry) = held {
        let failure =
            Failure::unable("SKILL_NOT_FOUND", format!("skill `{name}` is {}: {}", entry.status.name(), entry.reason));
        return failure.hint(format!("`rep why {name}` says more"));
    }
    let failure = Failure::unable("SKILL_NOT_FOUND", format!("there is no skill `{name}`"));
    let scored = catalog.entries.iter().map(|entry| (strsim::jaro_winkler(name, &entry.name), &entry.qualified_name));
    match scored.filter(|(score, _)| *score > 0.75).max_by(|one, two| one.0.total_cmp(&two.0)) {
        Some((_, near)) => failure.hint(format!("did you mean `{near}`?")),
        None => failure.hint("`rep list` shows the skills there are"),
    }
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
pub(crate) fn decisions_file(home: Option<&std::path::Path>) -> Result<PathBuf, Failure> {
    let config = std::env::var_os("XDG_CONFIG_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let folder = config.or_else(|| home.map(|home| home.join(".config")));
    match folder {
        Some(folder) => Ok(folder.join("repertoire/decisions.json")),
        None => Err(Failure::unable("NO_HOME", "there is no home folder to keep decisions in").hint("set HOME")),
    }
}
