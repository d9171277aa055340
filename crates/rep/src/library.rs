//! The options that say which library a command works on, shared by every command that needs one.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::ValueEnum;
use rep_library::hosts::{HOSTS, Host, View};
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
        let project = self.project.as_ref().map(absolute);
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
            variables: match self.home {
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
        told(&options, output)
    }

    /// The host whose view was asked for.
    pub(crate) fn host(&self) -> Option<&'static Host> {
        self.host.as_deref().and_then(Host::find)
    }

    /// Discovers, and says what was left out.
    pub(crate) fn discover(&self, output: &mut Output) -> Result<Catalog, Failure> {
        told(&self.options()?, output)
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

/// Discovers, and says what was left out.
fn told(options: &Options, output: &mut Output) -> Result<Catalog, Failure> {
    let catalog = Catalog::discover(options)?;
    for note in &catalog.notes {
        output.warn(note);
    }
    Ok(catalog)
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
