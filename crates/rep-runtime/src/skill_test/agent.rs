//! Runs an agent: a program that the user names, which reads a prompt and answers it.
//!
//! The agent is not part of a skill. It runs as the user, outside the sandbox, with its own credentials and
//! its own confinement.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::interpreter::{self, InterpreterSearch};
use crate::plan::{RunLimits, RunPermissions};
use rep_sandbox::{Cancel, KillReason, ProcessExit, ProtectionOptions, SandboxJob, unconfined};

/// The variable with the skill's directory; unset if the agent must work without the skill.
pub const SKILL_VARIABLE: &str = "REP_EVAL_SKILL";
/// The variable with the file that an agent may write `{"total_tokens": …}` to.
pub const TIMING_VARIABLE: &str = "REP_EVAL_TIMING";

/// A request to an agent.
pub struct AgentRequest<'a> {
    /// The prompt, passed on stdin.
    pub prompt: &'a str,
    /// The skill it may use, if any.
    pub skill: Option<&'a Path>,
    /// The working directory, absolute.
    pub folder: &'a Path,
    /// The file it may write its token count to.
    pub timing: &'a Path,
    /// The time limit, in seconds.
    pub timeout_s: u64,
}

/// The answer of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentAnswer {
    /// The answer on stdout.
    pub text: String,
    /// The output on stderr.
    pub stderr: String,
    /// Whether it exited successfully without being stopped.
    pub is_success: bool,
    /// Whether it was interrupted.
    pub is_interrupted: bool,
    /// The duration in milliseconds.
    pub duration_ms: u64,
}

/// Runs the agent. `words` are the program, by name or absolute path, and its arguments; no shell is
/// involved.
pub fn ask_agent(
    words: &[String],
    asked: &AgentRequest<'_>,
    search: &InterpreterSearch,
    cancel: &Cancel,
) -> Result<AgentAnswer, String> {
    let Some(name) = words.first() else { return Err("no agent is named".to_owned()) };
    let program = if name.starts_with('/') {
        PathBuf::from(name)
    } else {
        let found = interpreter::find_on_path(name, search).into_iter().next();
        found.ok_or_else(|| format!("`{name}` was not found on the PATH"))?
    };
    let is_ours = |key: &OsString| key == SKILL_VARIABLE || key == TIMING_VARIABLE;
    let mut env: Vec<(OsString, OsString)> = search.env.iter().filter(|(key, _)| !is_ours(key)).cloned().collect();
    env.extend(asked.skill.map(|skill| (SKILL_VARIABLE.into(), skill.into())));
    env.push((TIMING_VARIABLE.into(), asked.timing.into()));
    let job = SandboxJob {
        program,
        argv: words.iter().map(OsString::from).collect(),
        env,
        stdin: asked.prompt.as_bytes().to_vec(),
        workspace: asked.folder.to_owned(),
        readable: Vec::new(),
        private_folder: None,
        hidden: Vec::new(),
        injected_files: Vec::new(),
        protection: ProtectionOptions::default(),
        permissions: RunPermissions::default(),
        limits: RunLimits::default().with_timeout(asked.timeout_s),
        channel: None,
    };
    let ended = unconfined::run_unconfined(job, cancel).map_err(|error| error.to_string())?;
    Ok(AgentAnswer {
        text: String::from_utf8_lossy(&ended.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&ended.stderr).into_owned(),
        is_success: ended.exit == ProcessExit::Code(0) && ended.kill_reason.is_none(),
        is_interrupted: ended.kill_reason == Some(KillReason::Cancelled),
        duration_ms: ended.duration_ms,
    })
}
