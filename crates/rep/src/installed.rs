//! Which installed skills a command is about.

use std::path::PathBuf;

use clap::ValueEnum;
use rep_library::hosts::{HOSTS, Host};
use rep_library::project_of;
use rep_package::InstallScope;

use crate::exit::Failure;
use crate::library::{data_folder, here, home};

/// Which installed skills are meant.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct ScopeArgs {
    /// Whose skills
    #[arg(long, value_enum, default_value_t = ScopeChoice::Project)]
    scope: ScopeChoice,
    /// The project [default: the repository around this folder]
    #[arg(long, value_name = "D")]
    project: Option<PathBuf>,
}

/// The scopes skills are installed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeChoice {
    /// The project's, for everybody who works on it
    Project,
    /// The user's own, in all projects
    Personal,
}

impl ScopeArgs {
    /// The project or the home that is meant.
    pub(crate) fn resolve(&self) -> Result<InstallScope, Failure> {
        let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        if self.scope == ScopeChoice::Project {
            let base = match &self.project {
                Some(project) if project.is_dir() => absolute(project.clone()),
                Some(project) => {
                    return Err(Failure::unable("UNREADABLE", format!("`{}` is no folder", project.display())));
                }
                None => project_of(&here()?),
            };
            return Ok(InstallScope::project(base, data_folder().ok().map(|folder| folder.join("install"))));
        }
        let Some(base) = home() else {
            return Err(Failure::unable("NO_HOME", "there is no home folder to install skills in").hint("set HOME"));
        };
        let names = HOSTS.iter().flat_map(Host::variables);
        let value = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let variables = names.filter_map(|name| Some((name.to_owned(), value(name)?))).collect();
        Ok(InstallScope::personal(absolute(base), &data_folder()?, variables)?)
    }
}
