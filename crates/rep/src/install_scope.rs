//! The `--scope` and `--project` options: which installed skills a command works on, and how it reaches sources.

use std::path::PathBuf;

use clap::ValueEnum;
use rep_library::find_project_folder;
use rep_library::hosts::{DiscoveryHost, HOSTS};
use rep_net::oci::CredentialFiles;
use rep_package::InstallScope;
use rep_package::client::{SourceClient, SourceClientOptions};
use rep_package::signers::TrustedSigners;

use crate::exit::Failure;
use crate::library::{cache_folder, data_folder, home_folder, signers_file, working_folder};

/// Which installed skills to work on.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct ScopeArgs {
    /// Use the project's skills, or your own
    #[arg(long, value_enum, default_value_t = ScopeChoice::Project)]
    scope: ScopeChoice,
    /// The project [default: the enclosing repository]
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
}

/// The scopes that skills are installed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeChoice {
    /// The project, for everyone who works on it
    Project,
    /// Your own skills, in all projects
    Personal,
}

impl ScopeArgs {
    /// Resolves the options to a project or a home directory.
    pub(crate) fn resolve(&self) -> Result<InstallScope, Failure> {
        let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        if self.scope == ScopeChoice::Project {
            let base = match &self.project {
                Some(project) if project.is_dir() => absolute(project.clone()),
                Some(project) => {
                    return Err(Failure::unable("UNREADABLE", format!("`{}` is not a directory", project.display())));
                }
                None => find_project_folder(&working_folder()?),
            };
            return Ok(InstallScope::for_project(base, data_folder().ok().map(|folder| folder.join("install"))));
        }
        let Some(base) = home_folder() else {
            return Err(Failure::unable("NO_HOME", "no home directory to install skills in").hint("set HOME"));
        };
        let names = HOSTS.iter().flat_map(DiscoveryHost::environment_variables);
        let value = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let variables = names.filter_map(|name| Some((name.to_owned(), value(name)?))).collect();
        Ok(InstallScope::for_home(absolute(base), &data_folder()?, variables)?)
    }
}

/// Returns the client that fetches skills for this user.
pub(crate) fn open_source_client(is_offline: bool) -> Result<SourceClient, Failure> {
    let credentials = CredentialFiles::from_environment(|name| std::env::var_os(name));
    // Without a home directory, nobody is trusted.
    let signers = signers_file().map_or_else(|_| Ok(TrustedSigners::default()), |file| TrustedSigners::read(&file))?;
    Ok(SourceClient::new(SourceClientOptions { cache: cache_folder(), credentials, signers, is_offline })?)
}
