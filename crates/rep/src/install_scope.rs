//! The `--scope` and `--project` options: which installed skills a command works on, and how it reaches sources.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;
use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget};
use parking_lot::Mutex;
use rep_audit::AuditLog;
use rep_check::render::escape_invisible;
use rep_library::find_project_folder;
use rep_library::hosts::{DiscoveryHost, HOSTS};
use rep_library::settings::{SYSTEM_SETTINGS_FILE, SourceSettings, SourceSettingsFile, load_source_settings};
use rep_net::oci::CredentialFiles;
use rep_package::InstallScope;
use rep_package::client::{FetchEvent, FetchProgress, SourceClient, SourceClientOptions, SourceEvent, SourceRecorder};
use rep_package::signers::TrustedSigners;
use rep_package::source_rules::{SourceRuleSet, SourceRules};

use crate::exit::Failure;
use crate::library::{cache_folder, data_folder, home_folder, signers_file, user_settings_file, working_folder};
use crate::output::Output;
use crate::terminal::describe_user;

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
    open_client(is_offline, None)
}

/// Returns the same client for a command whose output may be watched. It shows on a terminal what is being fetched.
pub(crate) fn open_watched_client(is_offline: bool, output: &Output) -> Result<SourceClient, Failure> {
    open_client(is_offline, output.is_watched().then(fetch_progress))
}

/// Returns what shows a spinner while something is fetched, with the number of bytes that arrived.
fn fetch_progress() -> FetchProgress {
    let current: Mutex<(ProgressBar, String)> = Mutex::new((ProgressBar::hidden(), String::new()));
    FetchProgress(Arc::new(move |event| {
        let mut shown = current.lock();
        let (bar, message) = &mut *shown;
        match event {
            FetchEvent::Started(what) => {
                bar.finish_and_clear();
                *message = escape_invisible(&format!("fetching {what}")).into_owned();
                *bar = ProgressBar::new_spinner().with_message(message.clone());
                bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
                bar.tick();
                bar.enable_steady_tick(Duration::from_millis(100));
            }
            FetchEvent::Received(progress) if progress.received_bytes == 0 => {}
            FetchEvent::Received(progress) => {
                let whole = progress.total_bytes.map_or_else(String::new, |total| format!(" of {}", HumanBytes(total)));
                bar.set_message(format!("{message}  {}{whole}", HumanBytes(progress.received_bytes)));
            }
            FetchEvent::Ended => bar.finish_and_clear(),
        }
    }))
}

fn open_client(is_offline: bool, progress: Option<FetchProgress>) -> Result<SourceClient, Failure> {
    let credentials = CredentialFiles::from_environment(|name| std::env::var_os(name));
    // Without a home directory, nobody is trusted.
    let signers = signers_file().map_or_else(|_| Ok(TrustedSigners::default()), |file| TrustedSigners::read(&file))?;
    let (rules, recorder) = (load_source_rules()?, source_recorder());
    let options =
        SourceClientOptions { cache: cache_folder(), credentials, signers, rules, recorder, progress, is_offline };
    Ok(SourceClient::new(options)?)
}

/// Loads the rules for sources: those of the administrator, then those of the user. `REP_SYSTEM_SETTINGS` names one more
/// file of an administrator, which can only narrow what the others allow.
pub(crate) fn load_source_rules() -> Result<SourceRules, Failure> {
    let variable = std::env::var_os("REP_SYSTEM_SETTINGS").filter(|value| !value.is_empty()).map(PathBuf::from);
    let mut files = vec![(PathBuf::from(SYSTEM_SETTINGS_FILE), SourceSettingsFile::System)];
    files.extend(variable.map(|file| (file, SourceSettingsFile::System)));
    files.extend(user_settings_file().ok().map(|file| (file, SourceSettingsFile::User)));
    let mut sets = Vec::new();
    for (path, kind) in files {
        let found = load_source_settings(&path, kind)?;
        if found != SourceSettings::default() {
            let SourceSettings { allow, deny, mirrors, proxy } = found;
            sets.push(SourceRuleSet { origin: path.display().to_string(), allow, deny, mirrors, proxy });
        }
    }
    Ok(SourceRules::new(sets)?)
}

/// Returns what records the use of sources in the audit log. Without a home directory, nothing is recorded.
fn source_recorder() -> Option<SourceRecorder> {
    let log = AuditLog::for_runs(&data_folder().ok()?);
    let who = describe_user();
    Some(SourceRecorder(Arc::new(move |event: &SourceEvent<'_>| {
        let SourceEvent { action, source, revision, message } = event;
        log.record_source(action.as_str(), source, revision, message, &who, std::time::SystemTime::now())
            .map_err(|error| error.to_string())
    })))
}
