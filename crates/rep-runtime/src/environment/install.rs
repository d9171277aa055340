//! Installs packages: each command runs in the sandbox, and an environment is either complete or absent.
#![expect(clippy::disallowed_methods, reason = "this module creates and removes the directories of environments")]

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{EnvironmentLocation, InvalidPackageName, PackageEnvironment, PackageIndexSource, check_package_names};
use crate::interpreter::Interpreter;
use crate::plan::{RunLimits, RunPermissions, ToolRuntime};
use rep_permissions::glob::Glob;
use rep_sandbox::{
    Cancel, Denial, INJECTED_FILES_FOLDER, ProcessExit, ProtectionOptions, SandboxError, SandboxJob, SandboxOutcome,
};
use rep_storage::files::{self, StorageError};

/// The time limit of one step, in seconds.
const STEP_S_MAX: u64 = 900;
/// The maximum number of installer output lines that are reported.
const OUTPUT_LINES_MAX: usize = 12;
/// The name of the user's certificate file inside the sandbox.
const CERTIFICATES_FILE: &str = "certificates.pem";

/// The reason why nothing was installed. A failed installation leaves no files.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// A package name is not accepted.
    #[error(transparent)]
    Package(#[from] InvalidPackageName),
    /// No usable installer was found.
    #[error("cannot install packages: {0}")]
    Installer(String),
    /// An index cannot be used.
    #[error("{0}")]
    Index(String),
    /// The sandbox could not run the installer.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// The directory could not be created or written.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The installer failed.
    #[error("the installer failed ({how}):\n{said}")]
    Failed {
        /// How it ended.
        how: String,
        /// The end of its output.
        said: String,
        /// What it was denied.
        denials: Vec<Denial>,
    },
}

/// What to install, for which skill, and where.
#[derive(Clone, Copy)]
pub struct EnvironmentInstallSpec<'a> {
    /// The directory of all environments.
    pub root: &'a Path,
    /// The skill, by its qualified name.
    pub skill: &'a str,
    /// The runtime of the tool.
    pub runtime: ToolRuntime,
    /// The packages, as in the plan.
    pub packages: &'a [String],
    /// Whether packages may be built from source, which runs their code in the sandbox.
    pub may_build: bool,
}

/// An installation that is ready to run.
pub struct PreparedInstallation {
    pub(super) location: EnvironmentLocation,
    interpreter: Interpreter,
    source: PackageIndexSource,
    pub(super) steps: Vec<InstallStep>,
}

/// One command of an installation.
pub(super) struct InstallStep {
    argv: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    has_network: bool,
    may_start_programs: bool,
}

/// Prepares an installation. Writes nothing.
pub fn prepare_installation(
    order: EnvironmentInstallSpec<'_>,
    interpreter: Interpreter,
    source: PackageIndexSource,
) -> Result<PreparedInstallation, InstallError> {
    check_package_names(order.runtime, order.packages)?;
    let place = EnvironmentLocation::for_packages(order.root, order.skill, order.runtime, order.packages, &interpreter);
    let steps = match order.runtime {
        ToolRuntime::Python => plan_pip_steps(&place.env_folder(), &order, &source),
        ToolRuntime::Node => plan_npm_steps(&place.env_folder(), &order, &interpreter, &source)?,
        ToolRuntime::Bash => return Err(InstallError::Installer("bash has no packages".to_owned())),
    };
    Ok(PreparedInstallation { location: place, interpreter, source, steps })
}

impl PreparedInstallation {
    /// Returns the environment if it is already installed.
    pub fn find_installed(&self) -> Option<PackageEnvironment> {
        self.location.find_complete()
    }

    /// Returns the permissions of the installer, for the policy and for the confirmation.
    pub fn installer_permissions(&self) -> RunPermissions {
        RunPermissions {
            write: Glob::parse("env/**").into_iter().collect(),
            outbound: self.source.hosts.clone(),
            ..RunPermissions::default()
        }
    }

    pub(super) fn build_job(&self, step: &InstallStep) -> SandboxJob {
        let mut readable = self.interpreter.readable.clone();
        readable.extend(self.source.folders.iter().cloned());
        let package = self.source.npm.as_deref().and_then(|script| script.ancestors().nth(2));
        readable.extend(package.filter(|folder| !folder.starts_with("/usr")).map(Path::to_owned));
        let mut permissions = self.installer_permissions();
        if !step.has_network {
            permissions.outbound.clear();
        }
        permissions.allow_subprocess = step.may_start_programs;
        let limits = RunLimits { memory_bytes: 4 << 30, temporary_bytes: 2 << 30, ..RunLimits::default() };
        SandboxJob {
            hidden: Vec::new(),
            protection: ProtectionOptions { installs_packages: true, ..ProtectionOptions::default() },
            program: self.interpreter.program.clone(),
            argv: step.argv.clone(),
            env: step.env.clone(),
            stdin: Vec::new(),
            workspace: self.location.folder.clone(),
            readable,
            private_folder: None,
            injected_files: self
                .source
                .certificates
                .iter()
                .map(|bytes| (CERTIFICATES_FILE.to_owned(), bytes.clone()))
                .collect(),
            permissions,
            limits: limits.with_timeout(STEP_S_MAX),
            channel: None,
        }
    }
}

fn to_os_strings(list: &[&str]) -> Vec<OsString> {
    list.iter().map(OsString::from).collect()
}

fn base_variables() -> Vec<(OsString, OsString)> {
    vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()), ("LANG".into(), "C.UTF-8".into())]
}

/// Plans a venv and the pip command in it. Addresses are passed in the environment, because they may contain
/// passwords.
fn plan_pip_steps(env: &Path, order: &EnvironmentInstallSpec<'_>, source: &PackageIndexSource) -> Vec<InstallStep> {
    let own: OsString = env.join("bin/python").into();
    let mut make = vec![own.clone()];
    make.extend(to_os_strings(&["-I", "-m", "ensurepip", "--default-pip"]));
    let mut argv = vec![own];
    argv.extend(to_os_strings(&[
        "-I",
        "-m",
        "pip",
        "install",
        "--no-input",
        "--no-cache-dir",
        "--progress-bar",
        "off",
    ]));
    if !order.may_build {
        argv.extend(to_os_strings(&["--only-binary", ":all:"]));
    }
    argv.push("--".into());
    argv.extend(order.packages.iter().map(OsString::from));
    let mut variables = base_variables();
    let mut set = |name: &str, value: OsString| variables.push((name.into(), value));
    set("PIP_CONFIG_FILE", "/dev/null".into());
    set("PIP_DISABLE_PIP_VERSION_CHECK", "1".into());
    match source.indexes.split_first() {
        None => set("PIP_NO_INDEX", "1".into()),
        Some((first, more)) => {
            set("PIP_INDEX_URL", first.into());
            if !more.is_empty() {
                set("PIP_EXTRA_INDEX_URL", more.join(" ").into());
            }
        }
    }
    if !source.folders.is_empty() {
        let folders: Vec<String> = source.folders.iter().map(|folder| folder.to_string_lossy().into_owned()).collect();
        set("PIP_FIND_LINKS", folders.join(" ").into());
    }
    if source.certificates.is_some() {
        set("PIP_CERT", format!("{INJECTED_FILES_FOLDER}/{CERTIFICATES_FILE}").into());
    }
    vec![
        // Python bundles pip and starts a second Python to unpack it; neither needs the network.
        InstallStep { argv: make, env: base_variables(), has_network: false, may_start_programs: true },
        InstallStep { argv, env: variables, has_network: true, may_start_programs: order.may_build },
    ]
}

/// Creates the skeleton of a venv: a configuration file and a link to the interpreter. `venv` cannot do this,
/// because links cannot be created in the sandbox.
fn create_venv_skeleton(env: &Path, interpreter: &Interpreter) -> io::Result<()> {
    let program = &interpreter.program;
    let home = program.parent().unwrap_or(Path::new("/usr/bin"));
    let minor: Vec<&str> = interpreter.version.split('.').take(2).collect();
    fs::create_dir_all(env.join("bin"))?;
    fs::create_dir_all(env.join(format!("lib/python{}/site-packages", minor.join("."))))?;
    let text =
        format!("home = {}\ninclude-system-site-packages = false\nversion = {}\n", home.display(), interpreter.version);
    fs::write(env.join("pyvenv.cfg"), text)?;
    rep_storage::platform::create_link(program, &env.join("bin/python"))
}

/// Plans a directory with `node_modules`. Package scripts are never run, and package programs are not linked.
fn plan_npm_steps(
    env: &Path,
    order: &EnvironmentInstallSpec<'_>,
    interpreter: &Interpreter,
    source: &PackageIndexSource,
) -> Result<Vec<InstallStep>, InstallError> {
    let script = source.npm.as_ref().ok_or_else(|| InstallError::Installer("npm was not found".to_owned()))?;
    let mut argv = vec![interpreter.argv0.clone(), script.into()];
    argv.extend(to_os_strings(&[
        "install",
        "--ignore-scripts",
        "--no-bin-links",
        "--no-audit",
        "--no-fund",
        "--omit=dev",
    ]));
    argv.extend(to_os_strings(&["--no-update-notifier", "--no-progress", "--prefix"]));
    argv.extend([env.into(), "--".into()]);
    argv.extend(order.packages.iter().map(OsString::from));
    let mut variables = base_variables();
    variables.extend(source.indexes.first().map(|index| ("npm_config_registry".into(), index.into())));
    variables.push(("npm_config_ignore_scripts".into(), "true".into()));
    if source.certificates.is_some() {
        let file = format!("{INJECTED_FILES_FOLDER}/{CERTIFICATES_FILE}");
        variables.push(("NODE_EXTRA_CA_CERTS".into(), file.into()));
    }
    Ok(vec![InstallStep { argv, env: variables, has_network: true, may_start_programs: false }])
}

/// Removes a directory on drop unless the installation finished.
struct UnfinishedFolderGuard<'a> {
    folder: &'a PathBuf,
    is_complete: bool,
}

impl Drop for UnfinishedFolderGuard<'_> {
    fn drop(&mut self) {
        if !self.is_complete {
            // A directory that cannot be removed has no `ready.json` and is never used.
            let _ = fs::remove_dir_all(self.folder);
        }
    }
}

/// Installs the packages, one installer at a time. A complete environment is reused; an incomplete one is
/// created again.
pub fn install_environment(
    prepared: &PreparedInstallation,
    cancel: &Cancel,
    run: impl Fn(SandboxJob, &Cancel) -> Result<SandboxOutcome, SandboxError>,
) -> Result<PackageEnvironment, InstallError> {
    let place = &prepared.location;
    let _lock = files::lock_file(&place.folder)?;
    if let Some(environment) = place.find_complete() {
        return Ok(environment);
    }
    // The remains of a crash are not reused.
    let _ = fs::remove_dir_all(&place.folder);
    let mut unfinished = UnfinishedFolderGuard { folder: &place.folder, is_complete: false };
    files::create_containing_folder(&place.ready_file())?;
    if place.runtime == ToolRuntime::Python {
        create_venv_skeleton(&place.env_folder(), &prepared.interpreter)
            .map_err(|error| StorageError::new("create the environment", &place.folder, error))?;
    }
    for step in &prepared.steps {
        let ended = run(prepared.build_job(step), cancel)?;
        if ended.exit != ProcessExit::Code(0) || ended.kill_reason.is_some() {
            return Err(build_install_failure(&ended));
        }
    }
    files::replace_private(&place.ready_file(), place.content.to_string().as_bytes())?;
    unfinished.is_complete = true;
    place.find_complete().ok_or_else(|| InstallError::Installer("the installer produced no environment".to_owned()))
}

fn build_install_failure(ended: &SandboxOutcome) -> InstallError {
    let how = match (ended.kill_reason, ended.exit) {
        (Some(killed), _) => format!("ended: {killed:?}").to_lowercase(),
        (None, ProcessExit::Code(code)) => format!("exit code {code}"),
        (None, ProcessExit::Signal(signal)) => format!("signal {signal}"),
    };
    let all = [&ended.stdout[..], &ended.stderr[..]].concat();
    let text = String::from_utf8_lossy(&all);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let said = lines[lines.len().saturating_sub(OUTPUT_LINES_MAX)..].join("\n");
    InstallError::Failed { how, said, denials: ended.denials.clone() }
}
