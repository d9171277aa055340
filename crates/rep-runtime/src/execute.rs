//! Runs a granted plan and says what came of it: schema, interpreter, job, run, result.
//!
//! Knows no sandbox: whoever calls hands in the door a [`Job`] goes through, and has decided before that it may.
#![expect(clippy::disallowed_methods, reason = "this room looks at the files it is about to run")]

use std::ffi::OsString;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread;

use crate::channel::{self, Caller};
use crate::environment;
use crate::grant::Granted;
use crate::interpreter::{self, Interpreter, Search};
use crate::outcome::{self, Outcome, ToolError};
use crate::plan::{Plan, Runtime};
use crate::redact::Redactor;
use crate::sandbox::{CHANNEL_FD, Cancel, Ended, Job, SandboxError};
use crate::schema::{self, Fit};
use crate::shim::{self, Start};
use crate::typescript;

/// What a run needs besides its plan.
pub struct ExecuteOptions<'a> {
    /// Where interpreters are looked for.
    pub search: &'a Search,
    /// Where environments with installed packages are kept; without it, none is used.
    pub environments: Option<&'a Path>,
    /// Who answers calls of other tools; without one, a tool that tries gets a clear error.
    pub caller: Option<&'a Caller<'a>>,
    /// Values that must not leave besides the tool's own secrets: those of the tools that called it.
    pub hidden: &'a [(String, String)],
    /// Folders that are never shown, whatever is granted.
    pub unseen: &'a [PathBuf],
}

/// Executes a plan that was granted. `secrets` are the values the skill declared, by name; they reach the tool's process
/// and nothing else. `run` is the sandbox.
pub fn execute(
    granted: &Granted,
    secrets: &[(String, String)],
    options: &ExecuteOptions<'_>,
    cancel: &Cancel,
    run: impl FnOnce(Job, &Cancel) -> Result<Ended, SandboxError>,
) -> Outcome {
    let plan = granted.plan();
    let own = if plan.redaction.secrets { secrets } else { &[] };
    let redactor = Redactor::new(&[own, options.hidden].concat(), plan.redaction.pii);
    if let Err(error) = accepts(plan) {
        return Outcome::refused(clean(error, &redactor));
    }
    let (mut job, start) = match prepared(plan, secrets, options) {
        Ok(prepared) => prepared,
        Err(error) => return Outcome::refused(clean(error, &redactor)),
    };
    let ended = match options.caller {
        None => run(job, cancel),
        Some(caller) => match UnixStream::pair() {
            Ok((ours, theirs)) => {
                job.channel = Some(OwnedFd::from(theirs));
                job.env.push(("REP_CHANNEL".into(), CHANNEL_FD.to_string().into()));
                served(job, &ours, caller, cancel, run)
            }
            Err(error) => return Outcome::refused(ToolError::new("RUNTIME_UNAVAILABLE", error.to_string())),
        },
    };
    match ended {
        Ok(mut ended) => {
            let stdout = std::mem::take(&mut ended.stdout);
            let (result, stray) = shim::apart(&stdout, start.frame.as_deref());
            environment::hinted(outcome::judge(plan, ended, result, &stray, &redactor), plan)
        }
        Err(error) => outcome::unavailable(&error, &redactor),
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

/// Holds the arguments against their schema.
fn accepts(plan: &Plan) -> Result<(), ToolError> {
    match schema::fit(&plan.input_schema, &plan.input) {
        Fit::Fits if plan.input.is_object() => Ok(()),
        Fit::Fits => Err(ToolError::new("INVALID_ARGUMENT", "the arguments are not an object")),
        Fit::Misfits(misfits) => {
            Err(outcome::misfit("INVALID_ARGUMENT", "the arguments do not fit `input_schema`", &misfits))
        }
        Fit::Broken(reason) => {
            Err(ToolError::new("INVALID_SCHEMA", format!("`input_schema` cannot be used: {reason}")))
        }
    }
}

fn clean(error: ToolError, redactor: &Redactor) -> ToolError {
    ToolError { message: redactor.text(&error.message), more: redactor.fields(*error.more).into(), ..error }
}

fn prepared(
    plan: &Plan,
    secrets: &[(String, String)],
    options: &ExecuteOptions<'_>,
) -> Result<(Job, Start), ToolError> {
    let (folder, entrypoint) = entrypoint(plan)?;
    let interpreter = interpreter::find(plan.runtime, &plan.workspace, options.search).map_err(|error| {
        ToolError::new("RUNTIME_UNAVAILABLE", format!("{} tools cannot be run: {error}", plan.runtime.name()))
    })?;
    let more = match &plan.typescript_runner {
        Some(runner) => typescript::words(runner, &interpreter.version).map_err(|reason| {
            ToolError::new("RUNTIME_UNAVAILABLE", format!("`{}` cannot be run: {reason}", plan.entrypoint))
        })?,
        None => &[],
    };
    let packages = options.environments.and_then(|root| environment::installed(root, plan, &interpreter));
    let interpreter = match &packages {
        Some(packages) => packages.entered(interpreter),
        None => interpreter,
    };
    let start = shim::start(plan.runtime, &interpreter, more, &entrypoint, &plan.handler);
    let mut stdin = plan.input.to_string().into_bytes();
    stdin.push(b'\n');
    let mut readable = interpreter.readable.clone();
    readable.push(folder.clone());
    let job = Job {
        program: interpreter.program.clone(),
        argv: start.argv.clone(),
        env: variables(plan, &folder, &interpreter, packages.as_ref(), secrets),
        stdin,
        workspace: plan.workspace.clone(),
        readable,
        given: start.given.clone(),
        permissions: plan.permissions.clone(),
        limits: plan.limits,
        hidden: options.unseen.to_vec(),
        channel: None,
    };
    Ok((job, start))
}

/// The skill's real folder and the file in it. Links that lead out are not followed.
fn entrypoint(plan: &Plan) -> Result<(PathBuf, PathBuf), ToolError> {
    let endings: &[&str] = match plan.runtime {
        Runtime::Python => &["py"],
        Runtime::Node if plan.typescript_runner.is_some() => &["js", "mjs", "cjs", "ts"],
        Runtime::Node => &["js", "mjs", "cjs"],
        Runtime::Bash => &["sh"],
    };
    let refuse =
        |what: &str| ToolError::new("INVALID_ENTRYPOINT", format!("the entrypoint `{}` {what}", plan.entrypoint));
    // The `.git` of a skill is no part of what was looked at and trusted.
    if plan.entrypoint.split('/').any(|part| part == ".git") {
        return Err(refuse("lies in `.git`"));
    }
    let folder = fs::canonicalize(&plan.folder).map_err(|error| refuse(&format!("is not there: {error}")))?;
    let file = fs::canonicalize(folder.join(&plan.entrypoint)).map_err(|_| refuse("is not there"))?;
    if !file.starts_with(&folder) {
        return Err(refuse("lies outside of the skill"));
    }
    if !file.is_file() {
        return Err(refuse("is no file"));
    }
    let ending = Path::new(&plan.entrypoint).extension().and_then(|ending| ending.to_str()).unwrap_or("");
    if !endings.contains(&ending) {
        return Err(refuse(&format!("does not end in .{}, as {} needs", endings.join(" or ."), plan.runtime.name())));
    }
    Ok((folder, file))
}

/// The whole environment of a tool. `HOME` and `TMPDIR` are the sandbox's to set: only it knows where its private folder is.
fn variables(
    plan: &Plan,
    folder: &Path,
    interpreter: &Interpreter,
    packages: Option<&environment::Environment>,
    secrets: &[(String, String)],
) -> Vec<(OsString, OsString)> {
    let mut path = OsString::new();
    let own = PathBuf::from(&interpreter.argv0).parent().map(Path::to_owned);
    for folder in own.iter().filter(|folder| folder.is_absolute()) {
        path.push(folder);
        path.push(":");
    }
    path.push("/usr/local/bin:/usr/bin:/bin");
    let mut all: Vec<(OsString, OsString)> = vec![
        ("PATH".into(), path),
        ("LANG".into(), "C.UTF-8".into()),
        ("PYTHONDONTWRITEBYTECODE".into(), "1".into()),
        ("REP_SKILL".into(), folder.into()),
        ("REP_WORKSPACE".into(), plan.workspace.clone().into()),
        ("REP_TOOL".into(), format!("{}:{}", plan.skill, plan.tool).into()),
    ];
    all.extend(packages.into_iter().flat_map(environment::Environment::variables));
    // A secret of such a name would steer the program that is to hold it.
    let is_free = |name: &str| !all.iter().any(|(taken, _)| taken == name) && !name.contains(['=', '\0']);
    let named: Vec<(OsString, OsString)> = secrets
        .iter()
        .filter(|(name, value)| is_free(name) && !value.contains('\0'))
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    all.extend(named);
    all
}
