//! Runs a granted plan and says what came of it: schema, interpreter, job, run, result.
//!
//! Private to the crate: only [`crate::Runtime`] runs a grant, because only it records the start and the end.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread;

use crate::channel::{self, Caller};
use crate::environment;
use crate::error::ErrorCode;
use crate::grant::Granted;
use crate::interpreter::{self, Search};
use crate::outcome::{self, Outcome, ToolError};
use crate::plan::{Confinement, Plan, Tool, Work};
use crate::shim;
use rep_permissions::redact::Redactor;
use rep_permissions::resolver::Resolver;
use rep_sandbox::{CHANNEL_FD, Cancel, Ended, Guarding, Job, SandboxError};

mod command;
mod request;
mod tool;

/// What a run needs besides its plan.
pub(crate) struct ExecuteOptions<'a> {
    /// Where interpreters are looked for.
    pub(crate) search: &'a Search,
    /// Where environments with installed packages are kept; without it, none is used.
    pub(crate) environments: Option<&'a Path>,
    /// Who answers calls of other tools; without one, a tool that tries gets a clear error.
    pub(crate) caller: Option<&'a Caller<'a>>,
    /// Values that must not leave besides the tool's own secrets: those of the tools that called it.
    pub(crate) hidden: &'a [(String, String)],
    /// Folders that are never shown, whatever is granted.
    pub(crate) unseen: &'a [PathBuf],
    /// Where runs are noted while they go on; one of the folders that are never shown.
    pub(crate) register: Option<&'a Path>,
}

impl ExecuteOptions<'_> {
    /// How names that others trust are held: no tool writes where the caller's programs are looked for.
    fn guarding(&self) -> Guarding {
        let (held, home) = (interpreter::folders(self.search), interpreter::home(self.search));
        Guarding { held, home, register: self.register.map(Path::to_owned), is_for_packages: false }
    }
}

/// Executes a plan that was granted, confined as the grant says. `secrets` are the values the skill declared, by name; they reach
/// the tool's process and nothing else.
pub(crate) fn execute(
    granted: &Granted,
    secrets: &[(String, String)],
    options: &ExecuteOptions<'_>,
    cancel: &Cancel,
) -> Outcome {
    match granted.confinement() {
        Confinement::Sandboxed => execute_with(granted, secrets, options, cancel, rep_sandbox::run),
        Confinement::Unconfined => execute_with(granted, secrets, options, cancel, rep_sandbox::unconfined::run),
    }
}

/// The same with the given sandbox, so that tests can look at the job.
pub(crate) fn execute_with(
    granted: &Granted,
    secrets: &[(String, String)],
    options: &ExecuteOptions<'_>,
    cancel: &Cancel,
    run: impl FnOnce(Job, &Cancel) -> Result<Ended, SandboxError>,
) -> Outcome {
    let plan = granted.plan();
    let own = if plan.redaction.secrets { secrets } else { &[] };
    let redactor = Redactor::new(&[own, options.hidden].concat(), plan.redaction.pii);
    let outcome = match &plan.work {
        Work::Tool(tool) => call(plan, tool, secrets, options, cancel, &redactor, run),
        Work::Command(command) => {
            let job = match command::prepared(plan, command, secrets, options) {
                Ok(job) => job,
                Err(error) => return Outcome::refused(clean(error, &redactor)),
            };
            match run(job, cancel) {
                Ok(ended) => outcome::ran(plan, ended, &redactor),
                Err(error) => outcome::unavailable(&error, &redactor),
            }
        }
        Work::Request(request) => request::send(plan, request, secrets, Resolver::system(), cancel, &redactor),
    };
    let handed = if outcome.is_executed { secrets } else { &[] };
    Outcome { secrets: handed.iter().map(|(name, _)| name.clone()).collect(), ..outcome }
}

/// Calls a tool.
fn call(
    plan: &Plan,
    tool: &Tool,
    secrets: &[(String, String)],
    options: &ExecuteOptions<'_>,
    cancel: &Cancel,
    redactor: &Redactor,
    run: impl FnOnce(Job, &Cancel) -> Result<Ended, SandboxError>,
) -> Outcome {
    let prepared = tool::accepts(plan, tool).and_then(|()| tool::prepared(plan, tool, secrets, options));
    let (mut job, start) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => return Outcome::refused(clean(error, redactor)),
    };
    let ended = match options.caller {
        None => run(job, cancel),
        Some(caller) => match UnixStream::pair() {
            Ok((ours, theirs)) => {
                job.channel = Some(OwnedFd::from(theirs));
                job.env.push(("REP_CHANNEL".into(), CHANNEL_FD.to_string().into()));
                served(job, &ours, caller, cancel, run)
            }
            Err(error) => return Outcome::refused(ToolError::new(ErrorCode::RuntimeUnavailable, error.to_string())),
        },
    };
    match ended {
        Ok(mut ended) => {
            let stdout = std::mem::take(&mut ended.stdout);
            let (result, stray) = shim::apart(&stdout, start.frame.as_deref());
            environment::hinted(outcome::judge(plan, tool, ended, result, &stray, redactor), &plan.skill, tool)
        }
        Err(error) => outcome::unavailable(&error, redactor),
    }
}

/// Runs a job while calls of other tools are answered beside it. When the run is over, so is the channel.
fn served(
    job: Job,
    ours: &UnixStream,
    caller: &Caller<'_>,
    cancel: &Cancel,
    run: impl FnOnce(Job, &Cancel) -> Result<Ended, SandboxError>,
) -> Result<Ended, SandboxError> {
    let is_over = Cancel::default();
    thread::scope(|scope| {
        scope.spawn(|| channel::serve(ours, caller, &is_over));
        let ended = run(job, cancel);
        is_over.cancel();
        // Whoever still holds the other end has nothing to ask any more.
        let _ = ours.shutdown(std::net::Shutdown::Both);
        ended
    })
}

fn clean(error: ToolError, redactor: &Redactor) -> ToolError {
    ToolError { message: redactor.text(&error.message), more: redactor.fields(*error.more).into(), ..error }
}

/// Where programs are looked for inside: the folder of the one that runs, then the system's.
fn search_path(own: Option<&Path>) -> OsString {
    let mut path = OsString::new();
    for folder in own.iter().filter(|folder| folder.is_absolute()) {
        path.push(folder);
        path.push(":");
    }
    path.push("/usr/local/bin:/usr/bin:/bin");
    path
}

/// Variables every run has. `HOME` and `TMPDIR` are the sandbox's to set: only it knows where its private folder is.
fn common(plan: &Plan, folder: &Path) -> [(OsString, OsString); 5] {
    [
        ("LANG".into(), "C.UTF-8".into()),
        ("PYTHONDONTWRITEBYTECODE".into(), "1".into()),
        ("REP_SKILL".into(), folder.into()),
        ("REP_WORKSPACE".into(), plan.workspace.clone().into()),
        ("REP_TOOL".into(), format!("{}:{}", plan.skill, plan.tool).into()),
    ]
}

/// Adds the secrets. One whose name is taken would steer the program that is to hold it, and is left out.
fn add_secrets(all: &mut Vec<(OsString, OsString)>, secrets: &[(String, String)]) {
    let is_free = |name: &str| !all.iter().any(|(taken, _)| taken == name) && !name.contains(['=', '\0']);
    let named: Vec<(OsString, OsString)> = secrets
        .iter()
        .filter(|(name, value)| is_free(name) && !value.contains('\0'))
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    all.extend(named);
}
