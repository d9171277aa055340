//! Asking an agent: a program of the user's, named by the user, that reads a prompt and answers it.
//!
//! It is no part of a skill and runs as the user, outside of any sandbox: an agent has its own credentials and its own walls.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::interpreter::{self, Search};
use crate::plan::{Limits, Permissions};
use rep_sandbox::{Cancel, Exit, Guarding, Job, Killed, unconfined};

/// The variable that holds the skill's folder; it is not set where the agent is to do without.
pub const SKILL: &str = "REP_EVAL_SKILL";
/// The variable that holds the file an agent may write `{"total_tokens": …}` to.
pub const TIMING: &str = "REP_EVAL_TIMING";

/// What an agent is asked.
pub struct Asked<'a> {
    /// The prompt, on stdin.
    pub prompt: &'a str,
    /// The skill it has, where it has one.
    pub skill: Option<&'a Path>,
    /// The folder it starts in, absolute.
    pub folder: &'a Path,
    /// The file it may write its tokens to.
    pub timing: &'a Path,
    /// How long it may take, in seconds.
    pub timeout_s: u64,
}

/// What it answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// Its answer.
    pub text: String,
    /// What it said besides.
    pub said: String,
    /// Whether it ended by itself, and well.
    pub is_fine: bool,
    /// Whether somebody asked for the end.
    pub is_interrupted: bool,
    /// How long it took.
    pub duration_ms: u64,
}

/// Asks. The words are the program, by its name or its absolute path, and its arguments; no shell comes between.
pub fn ask(words: &[String], asked: &Asked<'_>, search: &Search, cancel: &Cancel) -> Result<Answered, String> {
    let Some(name) = words.first() else { return Err("no agent is named".to_owned()) };
    let program = if name.starts_with('/') {
        PathBuf::from(name)
    } else {
        let found = interpreter::on_path(name, search).into_iter().next();
        found.ok_or_else(|| format!("there is no `{name}` on the PATH"))?
    };
    let is_ours = |key: &OsString| key == SKILL || key == TIMING;
    let mut env: Vec<(OsString, OsString)> = search.env.iter().filter(|(key, _)| !is_ours(key)).cloned().collect();
    env.extend(asked.skill.map(|skill| (SKILL.into(), skill.into())));
    env.push((TIMING.into(), asked.timing.into()));
    let job = Job {
        program,
        argv: words.iter().map(OsString::from).collect(),
        env,
        stdin: asked.prompt.as_bytes().to_vec(),
        workspace: asked.folder.to_owned(),
        readable: Vec::new(),
        own: None,
        hidden: Vec::new(),
        given: Vec::new(),
        guarding: Guarding::default(),
        permissions: Permissions::default(),
        limits: Limits::default().with_timeout(asked.timeout_s),
        channel: None,
    };
    let ended = unconfined::run(job, cancel).map_err(|error| error.to_string())?;
    Ok(Answered {
        text: String::from_utf8_lossy(&ended.stdout).into_owned(),
        said: String::from_utf8_lossy(&ended.stderr).into_owned(),
        is_fine: ended.exit == Exit::Code(0) && ended.killed.is_none(),
        is_interrupted: ended.killed == Some(Killed::Cancelled),
        duration_ms: ended.duration_ms,
    })
}
