//! Installing: the commands, each in the sandbox, and an environment that is whole or not there.
#![expect(clippy::disallowed_methods, reason = "this room makes and removes the folders of environments")]

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{BadPackage, Environment, Place, Source, judge};
use crate::interpreter::Interpreter;
use crate::plan::{Limits, Permissions, ToolRuntime};
use rep_permissions::glob::Glob;
use rep_sandbox::{Cancel, Denial, Ended, Exit, GIVEN_FOLDER, Guarding, Job, SandboxError};
use rep_storage::files::{self, StorageError};

/// How long one step may take, in seconds.
const STEP_S_MAX: u64 = 900;
/// How much an installer says that is passed on, in lines.
const SAID_LINES_MAX: usize = 12;
/// What the user's certificates are called inside.
const CERTIFICATES: &str = "certificates.pem";

/// Why nothing was installed. Nothing is left of the try.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// A declaration that is not acted on.
    #[error(transparent)]
    Package(#[from] BadPackage),
    /// Nothing is known to install with.
    #[error("nothing can be installed: {0}")]
    Installer(String),
    /// An index cannot be used.
    #[error("{0}")]
    Index(String),
    /// The installer could not be held.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// The folder could not be kept.
    #[error(transparent)]
    Keep(#[from] StorageError),
    /// The installer failed.
    #[error("the installer failed ({how}):\n{said}")]
    Failed {
        /// How it ended.
        how: String,
        /// The end of what it said.
        said: String,
        /// What it tried and may not.
        denials: Vec<Denial>,
    },
}

/// What is to be installed, for whom, and where environments lie.
#[derive(Clone, Copy)]
pub struct Order<'a> {
    /// The folder of all environments.
    pub root: &'a Path,
    /// The skill, by its qualified name.
    pub skill: &'a str,
    /// What runs the tool.
    pub runtime: ToolRuntime,
    /// The packages, as the plan has them.
    pub packages: &'a [String],
    /// Whether packages may be built here, which runs code of theirs. It stays in the sandbox.
    pub may_build: bool,
}

/// An order that can be carried out.
pub struct Prepared {
    pub(super) place: Place,
    interpreter: Interpreter,
    source: Source,
    pub(super) steps: Vec<Step>,
}

/// One command of an installation.
pub(super) struct Step {
    argv: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    has_network: bool,
    may_start_programs: bool,
}

/// Works out how an order is carried out. Touches nothing.
pub fn prepare(order: Order<'_>, interpreter: Interpreter, source: Source) -> Result<Prepared, InstallError> {
    judge(order.runtime, order.packages)?;
    let place = Place::of(order.root, order.skill, order.runtime, order.packages, &interpreter);
    let steps = match order.runtime {
        ToolRuntime::Python => python(&place.env(), &order, &source),
        ToolRuntime::Node => node(&place.env(), &order, &interpreter, &source)?,
        ToolRuntime::Bash => return Err(InstallError::Installer("bash has no packages".to_owned())),
    };
    Ok(Prepared { place, interpreter, source, steps })
}

impl Prepared {
    /// The environment, where it is there already.
    pub fn whole(&self) -> Option<Environment> {
        self.place.whole()
    }

    /// What the installer may do, for who decides and for who is asked.
    pub fn permissions(&self) -> Permissions {
        Permissions {
            write: Glob::parse("env/**").into_iter().collect(),
            outbound: self.source.hosts.clone(),
            ..Permissions::default()
        }
    }

    pub(super) fn job(&self, step: &Step) -> Job {
        let mut readable = self.interpreter.readable.clone();
        readable.extend(self.source.folders.iter().cloned());
        let package = self.source.npm.as_deref().and_then(|script| script.ancestors().nth(2));
        readable.extend(package.filter(|folder| !folder.starts_with("/usr")).map(Path::to_owned));
        let mut permissions = self.permissions();
        if !step.has_network {
            permissions.outbound.clear();
        }
        permissions.allow_subprocess = step.may_start_programs;
        let limits = Limits { memory_bytes: 4 << 30, temporary_bytes: 2 << 30, ..Limits::default() };
        Job {
            hidden: Vec::new(),
            guarding: Guarding { is_for_packages: true, ..Guarding::default() },
            program: self.interpreter.program.clone(),
            argv: step.argv.clone(),
            env: step.env.clone(),
            stdin: Vec::new(),
            workspace: self.place.folder.clone(),
            readable,
            own: None,
            given: self.source.certificates.iter().map(|bytes| (CERTIFICATES.to_owned(), bytes.clone())).collect(),
            permissions,
            limits: limits.with_timeout(STEP_S_MAX),
            channel: None,
        }
    }
}

fn words(list: &[&str]) -> Vec<OsString> {
    list.iter().map(OsString::from).collect()
}

fn base() -> Vec<(OsString, OsString)> {
    vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()), ("LANG".into(), "C.UTF-8".into())]
}

/// A venv, and pip inside of it. Addresses go by the environment, because they may hold passwords.
fn python(env: &Path, order: &Order<'_>, source: &Source) -> Vec<Step> {
    let own: OsString = env.join("bin/python").into();
    let mut make = vec![own.clone()];
    make.extend(words(&["-I", "-m", "ensurepip", "--default-pip"]));
    let mut argv = vec![own];
    argv.extend(words(&["-I", "-m", "pip", "install", "--no-input", "--no-cache-dir", "--progress-bar", "off"]));
    if !order.may_build {
        argv.extend(words(&["--only-binary", ":all:"]));
    }
    argv.push("--".into());
    argv.extend(order.packages.iter().map(OsString::from));
    let mut variables = base();
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
        set("PIP_CERT", format!("{GIVEN_FOLDER}/{CERTIFICATES}").into());
    }
    vec![
        // Python brings pip along and starts a second python to unpack it; neither needs a network.
        Step { argv: make, env: base(), has_network: false, may_start_programs: true },
        Step { argv, env: variables, has_network: true, may_start_programs: order.may_build },
    ]
}

/// What makes a folder a venv: a file beside the folder of the program, and a link to the real one. Made here and not by
/// `venv`, because nothing makes links in the sandbox.
fn skeleton(env: &Path, interpreter: &Interpreter) -> io::Result<()> {
    let program = &interpreter.program;
    let home = program.parent().unwrap_or(Path::new("/usr/bin"));
    let minor: Vec<&str> = interpreter.version.split('.').take(2).collect();
    fs::create_dir_all(env.join("bin"))?;
    fs::create_dir_all(env.join(format!("lib/python{}/site-packages", minor.join("."))))?;
    let text =
        format!("home = {}\ninclude-system-site-packages = false\nversion = {}\n", home.display(), interpreter.version);
    fs::write(env.join("pyvenv.cfg"), text)?;
    std::os::unix::fs::symlink(program, env.join("bin/python"))
}

/// A folder with `node_modules`. Scripts of packages are never run, nor are their programs linked.
fn node(env: &Path, order: &Order<'_>, interpreter: &Interpreter, source: &Source) -> Result<Vec<Step>, InstallError> {
    let script = source.npm.as_ref().ok_or_else(|| InstallError::Installer("there is no npm".to_owned()))?;
    let mut argv = vec![interpreter.argv0.clone(), script.into()];
    argv.extend(words(&["install", "--ignore-scripts", "--no-bin-links", "--no-audit", "--no-fund", "--omit=dev"]));
    argv.extend(words(&["--no-update-notifier", "--no-progress", "--prefix"]));
    argv.extend([env.into(), "--".into()]);
    argv.extend(order.packages.iter().map(OsString::from));
    let mut variables = base();
    variables.extend(source.indexes.first().map(|index| ("npm_config_registry".into(), index.into())));
    variables.push(("npm_config_ignore_scripts".into(), "true".into()));
    if source.certificates.is_some() {
        let file = format!("{GIVEN_FOLDER}/{CERTIFICATES}");
        variables.push(("NODE_EXTRA_CA_CERTS".into(), file.into()));
    }
    Ok(vec![Step { argv, env: variables, has_network: true, may_start_programs: false }])
}

/// A folder that goes away unless it is kept.
struct Unfinished<'a> {
    folder: &'a PathBuf,
    is_kept: bool,
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if !self.is_kept {
            // What cannot be removed has no `ready.json`, and so is never used.
            let _ = fs::remove_dir_all(self.folder);
        }
    }
}

/// Installs, one installer at a time. What was there whole is used as it is; what was left unfinished is made anew.
pub fn install(
    prepared: &Prepared,
    cancel: &Cancel,
    run: impl Fn(Job, &Cancel) -> Result<Ended, SandboxError>,
) -> Result<Environment, InstallError> {
    let place = &prepared.place;
    let _lock = files::lock(&place.folder)?;
    if let Some(environment) = place.whole() {
        return Ok(environment);
    }
    // What a crash left is no beginning to build on.
    let _ = fs::remove_dir_all(&place.folder);
    let mut unfinished = Unfinished { folder: &place.folder, is_kept: false };
    files::folder_of(&place.ready())?;
    if place.runtime == ToolRuntime::Python {
        skeleton(&place.env(), &prepared.interpreter)
            .map_err(|error| StorageError::new("make the environment", &place.folder, error))?;
    }
    for step in &prepared.steps {
        let ended = run(prepared.job(step), cancel)?;
        if ended.exit != Exit::Code(0) || ended.killed.is_some() {
            return Err(failed(&ended));
        }
    }
    files::replace(&place.ready(), place.content.to_string().as_bytes())?;
    unfinished.is_kept = true;
    place.whole().ok_or_else(|| InstallError::Installer("the installer left nothing".to_owned()))
}

fn failed(ended: &Ended) -> InstallError {
    let how = match (ended.killed, ended.exit) {
        (Some(killed), _) => format!("ended: {killed:?}").to_lowercase(),
        (None, Exit::Code(code)) => format!("exit code {code}"),
        (None, Exit::Signal(signal)) => format!("signal {signal}"),
    };
    let all = [&ended.stdout[..], &ended.stderr[..]].concat();
    let text = String::from_utf8_lossy(&all);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let said = lines[lines.len().saturating_sub(SAID_LINES_MAX)..].join("\n");
    InstallError::Failed { how, said, denials: ended.denials.clone() }
}
