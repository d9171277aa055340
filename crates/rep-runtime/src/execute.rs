//! Executes a granted plan: schema, interpreter, job, run, result.
//!
//! Private to the crate: only [`crate::Runtime`] runs a grant, because only it records the start and the end.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::thread;

use crate::channel::{self, NestedToolCaller};
use crate::environment;
use crate::error::ErrorCode;
use crate::grant::Granted;
use crate::interpreter::{self, InterpreterSearch};
use crate::outcome::{self, Outcome, ToolError};
use crate::plan::{Confinement, Plan, PlannedTool, PlannedWork};
use crate::shim;
use rep_permissions::redact::Redactor;
use rep_permissions::resolver::HostResolver;
use rep_sandbox::{CHANNEL_FD, Cancel, ProtectionOptions, SandboxChannel, SandboxError, SandboxJob, SandboxOutcome};
use rep_storage::platform::{LocalStream, OwnedStream, connect_streams};

mod command;
mod request;
mod server;
mod tool;

/// The options of an execution besides the plan.
pub(crate) struct ExecuteOptions<'a> {
    /// Where interpreters are searched.
    pub(crate) search: &'a InterpreterSearch,
    /// The directory of environments with installed packages; without it, none is used.
    pub(crate) environments: Option<&'a Path>,
    /// Answers nested tool calls; without it, a nested call gets an error.
    pub(crate) caller: Option<&'a NestedToolCaller<'a>>,
    /// Values that are redacted besides the tool's own secrets: those of the tools that called it.
    pub(crate) redacted_values: &'a [(String, String)],
    /// Directories that are always hidden, whatever is granted.
    pub(crate) hidden_folders: &'a [PathBuf],
    /// The directory of the registry of active runs; one of the hidden directories.
    pub(crate) run_registry: Option<&'a Path>,
}

impl ExecuteOptions<'_> {
    /// Returns how names that other programs trust are protected: no tool may write where the caller's
    /// programs are searched.
    fn build_guarding(&self) -> ProtectionOptions {
        let (held, home) = (interpreter::list_search_folders(self.search), interpreter::resolve_home(self.search));
        ProtectionOptions {
            program_folders: held,
            home,
            run_registry: self.run_registry.map(Path::to_owned),
            installs_packages: false,
        }
    }
}

/// Executes a granted plan, confined as the grant says. `secrets` are the values of the declared secrets, by
/// name; only the tool's process receives them.
pub(crate) fn execute_grant(
    granted: &Granted,
    secrets: &[(String, String)],
    options: &ExecuteOptions<'_>,
    cancel: &Cancel,
) -> Outcome {
    match granted.confinement() {
        Confinement::Sandboxed => execute_by(granted, secrets, options, cancel, rep_sandbox::run_confined_then),
        Confinement::Unconfined => {
            execute_by(granted, secrets, options, cancel, |job, cancel, when_launched: &mut dyn FnMut()| {
                when_launched();
                rep_sandbox::unconfined::run_unconfined(job, cancel)
            })
        }
    }
}

/// Executes a granted plan with the given sandbox, so that tests can inspect the job.
#[cfg(test)]
pub(crate) fn execute_grant_with(
    granted: &Granted,
    secrets: &[(String, String)],
    options: &ExecuteOptions<'_>,
    cancel: &Cancel,
    run: impl FnOnce(SandboxJob, &Cancel) -> Result<SandboxOutcome, SandboxError>,
) -> Outcome {
    execute_by(granted, secrets, options, cancel, |job, cancel, when_launched: &mut dyn FnMut()| {
        when_launched();
        run(job, cancel)
    })
}

/// Executes a granted plan with the given sandbox, which calls its last argument when the process was started.
fn execute_by(
    granted: &Granted,
    secrets: &[(String, String)],
    options: &ExecuteOptions<'_>,
    cancel: &Cancel,
    run: impl FnOnce(SandboxJob, &Cancel, &mut dyn FnMut()) -> Result<SandboxOutcome, SandboxError>,
) -> Outcome {
    let plan = granted.plan();
    let own = if plan.redaction.secrets { secrets } else { &[] };
    let redactor = Redactor::new(&[own, options.redacted_values].concat(), plan.redaction.pii);
    let outcome = match &plan.work {
        PlannedWork::Tool(tool) => call_tool(plan, tool, secrets, options, cancel, &redactor, run),
        PlannedWork::Command(command) | PlannedWork::Script(command) => {
            let job = match command::prepare_command_job(plan, command, secrets, options) {
                Ok(job) => job,
                Err(error) => {
                    // The path of the private copy means nothing to the caller.
                    let message = error.message.replace(&format!("{}/", plan.folder.display()), "");
                    return Outcome::not_started(redact_error(ToolError { message, ..error }, &redactor));
                }
            };
            match (run(job, cancel, &mut || {}), &plan.work) {
                (Ok(ended), PlannedWork::Script(_)) => outcome::conclude_script_run(plan, ended, &redactor),
                (Ok(ended), _) => outcome::conclude_command_run(plan, ended, &redactor),
                (Err(error), _) => outcome::outcome_from_sandbox_error(&error, &redactor),
            }
        }
        PlannedWork::Request(request) => {
            request::send_request(plan, request, secrets, HostResolver::system(), cancel, &redactor)
        }
        PlannedWork::Server(call) => {
            let run = |job, cancel: &_| run(job, cancel, &mut || {});
            server::converse(plan, call, secrets, options, cancel, &redactor, run)
        }
    };
    let handed = if outcome.is_executed { secrets } else { &[] };
    Outcome { secrets: handed.iter().map(|(name, _)| name.clone()).collect(), ..outcome }
}

/// Validates the arguments of a tool, which is also done when the tool is called.
pub(crate) fn check_input(plan: &Plan) -> Result<(), ToolError> {
    plan.work.tool().map_or(Ok(()), |tool| tool::check_arguments(plan, tool))
}

/// Calls a tool.
fn call_tool(
    plan: &Plan,
    tool: &PlannedTool,
    secrets: &[(String, String)],
    options: &ExecuteOptions<'_>,
    cancel: &Cancel,
    redactor: &Redactor,
    run: impl FnOnce(SandboxJob, &Cancel, &mut dyn FnMut()) -> Result<SandboxOutcome, SandboxError>,
) -> Outcome {
    let prepared =
        tracing::debug_span!("validate arguments").in_scope(|| tool::check_arguments(plan, tool)).and_then(|()| {
            tracing::debug_span!("find the interpreter")
                .in_scope(|| tool::prepare_tool_job(plan, tool, secrets, options))
        });
    let (mut job, start) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => return Outcome::not_started(redact_error(error, redactor)),
    };
    let ended = match options.caller {
        None => run(job, cancel, &mut || {}),
        Some(caller) => match connect_streams() {
            Ok((ours, theirs)) => {
                job.channel = Some(SandboxChannel::Descriptor(OwnedStream::from(theirs)));
                job.env.push(("REP_CHANNEL".into(), CHANNEL_FD.to_string().into()));
                run_with_channel(job, &ours, caller, cancel, run)
            }
            Err(error) => {
                return Outcome::not_started(ToolError::new(ErrorCode::RuntimeUnavailable, error.to_string()));
            }
        },
    };
    match ended {
        Ok(mut ended) => {
            let _phase = tracing::debug_span!("check the result").entered();
            let stdout = std::mem::take(&mut ended.stdout);
            let (result, stray) = shim::split_result(&stdout, start.frame.as_deref());
            environment::add_install_hint(
                outcome::conclude_tool_run(plan, tool, ended, result, &stray, redactor),
                &plan.skill,
                tool,
            )
        }
        Err(error) => outcome::outcome_from_sandbox_error(&error, redactor),
    }
}

/// Runs a job while answering nested tool calls. The channel is closed when the run is over. The thread that answers
/// starts after the sandbox, which is started faster by a process with a single thread.
fn run_with_channel(
    job: SandboxJob,
    ours: &LocalStream,
    caller: &NestedToolCaller<'_>,
    cancel: &Cancel,
    run: impl FnOnce(SandboxJob, &Cancel, &mut dyn FnMut()) -> Result<SandboxOutcome, SandboxError>,
) -> Result<SandboxOutcome, SandboxError> {
    let is_over = Cancel::default();
    let is_over = &is_over;
    thread::scope(|scope| {
        let mut is_answered = false;
        let ended = run(job, cancel, &mut || {
            if !std::mem::replace(&mut is_answered, true) {
                scope.spawn(|| channel::serve_requests(ours, caller, is_over));
            }
        });
        is_over.cancel();
        // A process that still has the other end open can make no further requests.
        let _ = ours.shutdown(std::net::Shutdown::Both);
        ended
    })
}

fn redact_error(error: ToolError, redactor: &Redactor) -> ToolError {
    ToolError {
        message: redactor.redact_text(&error.message),
        more: redactor.redact_fields(*error.more).into(),
        ..error
    }
}

/// Builds the search path inside the sandbox: the directory of the program, then the system's.
fn build_search_path(own: Option<&Path>) -> OsString {
    let mut path = OsString::new();
    for folder in own.iter().filter(|folder| folder.is_absolute()) {
        path.push(folder);
        path.push(":");
    }
    path.push("/usr/local/bin:/usr/bin:/bin");
    path
}

/// Returns the variables of every run. The sandbox sets `HOME` and `TMPDIR`, because only it knows its
/// private directory.
fn common_variables(plan: &Plan, folder: &Path) -> [(OsString, OsString); 5] {
    [
        ("LANG".into(), "C.UTF-8".into()),
        ("PYTHONDONTWRITEBYTECODE".into(), "1".into()),
        ("REP_SKILL".into(), folder.into()),
        ("REP_WORKSPACE".into(), plan.workspace.clone().into()),
        ("REP_TOOL".into(), format!("{}:{}", plan.skill, plan.tool).into()),
    ]
}

/// Adds the secrets. A secret whose name is already set would override a variable of the program, and is
/// omitted.
fn add_secrets(all: &mut Vec<(OsString, OsString)>, secrets: &[(String, String)]) {
    let is_free = |name: &str| !all.iter().any(|(taken, _)| taken == name) && !name.contains(['=', '\0']);
    let named: Vec<(OsString, OsString)> = secrets
        .iter()
        .filter(|(name, value)| is_free(name) && !value.contains('\0'))
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    all.extend(named);
}
