//! Running what was granted: recorded before and after, and told. The only way from a grant to a process.
//!
//! [`Runner`] runs one grant; [`Tools`] lets a tool call others on the way, each planned and decided on its own.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use anstyle::AnsiColor;
use indicatif::{ProgressBar, ProgressDrawTarget};
use rep_audit::{Audit, RunEnding};
use rep_library::{Catalog, CatalogEntry, Options, Status};
use rep_runtime::channel::Caller;
use rep_runtime::interpreter::Search;
use rep_runtime::secret::Secret;
use rep_runtime::{ExecuteOptions, Granted, Outcome, Plan, Refusal, Reply, ToolError, Verdict, execute};
use rep_sandbox::{Cancel, unconfined};
use rep_storage::StorageError;
use serde_json::{Value, json};

use crate::call::Called;
use crate::consent;
use crate::exit::{Exit, Failure};
use crate::library::{cache_folder, data_folder, environments, user_settings_file};
use crate::output::Output;

/// The largest arguments.
const INPUT_BYTES_MAX: u64 = 8 << 20;
/// How deep tools may call tools.
const DEPTH_MAX: usize = 8;
/// How often tools may call tools in one run.
const CALLS_MAX: usize = 1000;
/// How much of what a tool that was called says is kept, and how many of its files and denials.
const SAID_BYTES_MAX: usize = 64 << 10;
const NOTED_MAX: usize = 100;

/// Runs what was granted on this machine, and records it.
pub(crate) struct Runner {
    search: Search,
    /// Where installed packages are kept.
    environments: Option<PathBuf>,
    /// The folders of rep itself, which nothing that runs sees.
    unseen: Vec<PathBuf>,
    /// Where runs are noted while they go on.
    register: Option<PathBuf>,
    /// The client that is run for, where it is not the user himself.
    client: Option<String>,
}

impl Runner {
    /// A runner with this process's environment.
    pub(crate) fn new() -> Self {
        Self {
            search: Search {
                env: std::env::vars_os().collect(),
                cache: cache_folder().map(|folder| folder.join("interpreters.json")),
            },
            environments: environments().ok(),
            unseen: own_folders(),
            register: data_folder().ok().map(|folder| folder.join("running")),
            client: None,
        }
    }

    /// A runner for a client of this user's.
    pub(crate) fn for_client(client: &str) -> Self {
        Self { client: Some(client.to_owned()), ..Self::new() }
    }

    /// Who runs it, for the record.
    fn who(&self) -> String {
        self.client.as_ref().map_or_else(who, |client| format!("{} for {client}", who()))
    }

    /// Where interpreters are looked for.
    pub(crate) fn search(&self) -> &Search {
        &self.search
    }

    /// Runs what was granted, or tells why not; both are recorded. `secrets` reach its process alone, `hidden` must not
    /// leave it either, and `caller` answers where it calls tools.
    pub(crate) fn run(
        &self,
        decided: Result<Granted, Refusal>,
        plan: &Plan,
        secrets: &[(String, String)],
        hidden: &[(String, String)],
        caller: Option<&Caller<'_>>,
        cancel: &Cancel,
    ) -> Outcome {
        let audit = match data_folder() {
            Ok(folder) => Audit::at(&folder),
            Err(failure) => return Outcome::refused(ToolError::new(failure.code, failure.message)),
        };
        let unkept = |error: &StorageError| {
            let message = format!("the run could not be recorded, and was not made: {error}");
            Outcome::refused(ToolError::new("UNRECORDED", message))
        };
        let granted = match decided {
            Ok(granted) => granted,
            Err(refusal) => {
                if let Err(error) =
                    audit.refused(&plan.audit_subject(), refusal.code, &refusal.message, &self.who(), SystemTime::now())
                {
                    return unkept(&error);
                }
                return Outcome::refused(ToolError::new(refusal.code, refusal.message).with("remedy", refusal.remedy));
            }
        };
        let running =
            match audit.start(&granted.plan().audit_subject(), granted.how().name(), &self.who(), SystemTime::now()) {
                Ok(running) => running,
                Err(error) => return unkept(&error),
            };
        let options = ExecuteOptions {
            search: &self.search,
            environments: self.environments.as_deref(),
            caller,
            hidden,
            unseen: &self.unseen,
            register: self.register.as_deref(),
        };
        let door = if granted.plan().is_confined { rep_sandbox::run } else { unconfined::run };
        let outcome = execute(&granted, secrets, &options, cancel, door);
        let (code, message) = match &outcome.reply {
            Reply::Result(_) => ("ok", None),
            Reply::Task(_) => ("async", None),
            Reply::Error(error) => (error.code.as_str(), Some(error.message.as_str())),
        };
        let ending = RunEnding {
            outcome: code,
            message,
            exit: outcome.exit.map(|exit| match exit {
                rep_sandbox::Exit::Code(code) => format!("code {code}"),
                rep_sandbox::Exit::Signal(signal) => format!("signal {signal}"),
            }),
            layers: outcome.layers.iter().map(|layer| (layer.name, layer.state.as_str())).collect(),
            denials: outcome.denials.iter().map(|denial| (denial.action, denial.target.as_str())).collect(),
            written: &outcome.written,
            duration_ms: outcome.duration_ms,
        };
        match running.end(&ending, SystemTime::now()) {
            Ok(()) => outcome,
            // What was done is done; that its end is not on record must be told all the same.
            Err(error) => {
                let said = format!("{}\nthe end of the run could not be recorded: {error}", outcome.said);
                Outcome { said, ..outcome }
            }
        }
    }
}

/// Runs tools of one library, and what they call.
pub(crate) struct Tools<'a> {
    options: &'a Options,
    catalog: &'a Catalog,
    /// The folder patterns are relative to.
    pub(crate) workspace: PathBuf,
    /// Whether what tools may do is enforced.
    is_confined: bool,
    runner: Runner,
    /// How often tools called tools.
    calls: AtomicUsize,
    /// What tools that were called came to, in the order they ended, as far as it is told.
    below: Mutex<Vec<(String, Outcome)>>,
}

/// Who called a tool, from the outermost on.
#[derive(Default)]
pub(crate) struct Chain {
    names: Vec<String>,
    /// The secrets of all of them: a tool may hand its own on, and they must not leave below it either.
    hidden: Vec<(String, String)>,
}

impl Chain {
    fn and(&self, plan: &Plan, secrets: &[(String, String)]) -> Self {
        let own = if plan.redaction.secrets { secrets } else { &[] };
        Self { names: [&self.names[..], &[name(plan)]].concat(), hidden: [&self.hidden[..], own].concat() }
    }
}

impl<'a> Tools<'a> {
    pub(crate) fn new(
        options: &'a Options,
        catalog: &'a Catalog,
        workspace: PathBuf,
        is_confined: bool,
        runner: Runner,
    ) -> Self {
        Self { options, catalog, workspace, is_confined, runner, calls: AtomicUsize::new(0), below: Mutex::default() }
    }

    /// What the tools that were called came to.
    pub(crate) fn below(self) -> Vec<(String, Outcome)> {
        self.below.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a tool that was granted, and what it calls. `chain` is who called it.
    pub(crate) fn run(
        &self,
        decided: Result<Granted, Refusal>,
        plan: &Plan,
        secrets: &BTreeMap<String, Secret>,
        entry: &CatalogEntry,
        cancel: &Cancel,
        chain: &Chain,
    ) -> Outcome {
        let values = exposed(secrets);
        let within = chain.and(plan, &values);
        let caller = |tool: &str, input: Value, cancel: &Cancel| self.call(entry, tool, input, cancel, &within);
        self.runner.run(decided, plan, &values, &chain.hidden, Some(&caller), cancel)
    }

    /// A call from inside a tool: of its own skill by the tool's name alone, of others by `skill:tool`. Every call is
    /// planned and decided on its own; nothing of the caller's grant goes over, and `--yes` was said to the caller alone.
    fn call(
        &self,
        caller: &CatalogEntry,
        target: &str,
        input: Value,
        cancel: &Cancel,
        chain: &Chain,
    ) -> Result<Value, ToolError> {
        if self.calls.fetch_add(1, Ordering::Relaxed) >= CALLS_MAX {
            return Err(ToolError::new("CALLS_TOO_MANY", format!("tools called tools more than {CALLS_MAX} times")));
        }
        let (entry, tool) = match target.rsplit_once(':') {
            None => (caller, target),
            Some((skill, tool)) => {
                let found = self.catalog.get(skill);
                let entry = found.filter(|entry| matches!(entry.status, Status::Active | Status::Hidden));
                let unknown = || ToolError::new("TOOL_NOT_FOUND", format!("there is no skill `{skill}` to call"));
                (entry.ok_or_else(unknown)?, tool)
            }
        };
        let of_failure = |failure: Failure| ToolError::new(failure.code, failure.message);
        let called = Called::held(entry, self.options).map_err(of_failure)?;
        let mut plan = planned(&called, tool, &self.workspace, input).map_err(of_failure)?;
        plan.is_confined = self.is_confined;
        let name = name(&plan);
        if chain.names.contains(&name) {
            let message = format!("tools call each other in a circle: {} → {name}", chain.names.join(" → "));
            return Err(ToolError::new("CALL_CYCLE", message));
        }
        if chain.names.len() >= DEPTH_MAX {
            return Err(ToolError::new("CALL_TOO_DEEP", format!("tools call tools more than {DEPTH_MAX} deep")));
        }
        let secrets = consent::secrets(&plan).map_err(of_failure)?;
        let decided = consent::granted_unasked(plan.clone(), called.trust.clone(), &secrets).map_err(of_failure)?;
        let outcome = self.run(decided, &plan, &secrets, entry, cancel, chain);
        let (reply, noted) = noted(outcome);
        self.below.lock().unwrap_or_else(PoisonError::into_inner).push((name, noted));
        match reply {
            Reply::Result(value) | Reply::Task(value) => Ok(value),
            // What the called tool was denied is for the user to know: it tells which files there are.
            Reply::Error(mut error) => {
                error.more.remove("denied");
                Err(error)
            }
        }
    }
}

/// The values of secrets, to be handed to a process.
pub(crate) fn exposed(secrets: &BTreeMap<String, Secret>) -> Vec<(String, String)> {
    secrets.iter().map(|(name, secret)| (name.clone(), secret.expose().to_owned())).collect()
}

/// The plan of a call, with every fault told with its remedy.
pub(crate) fn planned(called: &Called, tool: &str, workspace: &Path, input: Value) -> Result<Plan, Failure> {
    let index = called.position(tool)?;
    called.plan(index, workspace, input).map_err(|error| {
        Failure::unable("INVALID_TOOL", format!("`{}:{tool}`: {error}", called.name)).hint(error.remedy)
    })
}

/// The arguments, read with a bound: JSON, `@FILE`, or `-` for stdin. `option` is how they were given.
pub(crate) fn arguments(given: Option<&str>, option: &str) -> Result<Value, Failure> {
    let unreadable =
        |what: &str, error: &std::io::Error| Failure::unable("UNREADABLE", format!("could not read {what}: {error}"));
    let bounded = |reader: &mut dyn Read, what: &str| -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        reader.take(INPUT_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|error| unreadable(what, &error))?;
        if bytes.len() as u64 > INPUT_BYTES_MAX {
            let message = format!("the arguments are larger than {} MiB", INPUT_BYTES_MAX >> 20);
            return Err(Failure::unable("INVALID_ARGUMENT", message));
        }
        Ok(bytes)
    };
    let bytes = match given {
        None => return Ok(json!({})),
        Some("-") => bounded(&mut std::io::stdin().lock(), "stdin")?,
        Some(text) => match text.strip_prefix('@') {
            Some(file) => {
                let what = format!("`{file}`");
                let mut reader = std::fs::File::open(file).map_err(|error| unreadable(&what, &error))?;
                bounded(&mut reader, &what)?
            }
            None => text.as_bytes().to_vec(),
        },
    };
    serde_json::from_slice(&bytes).map_err(|error| {
        let failure = Failure::unable("INVALID_ARGUMENT", format!("the arguments are not JSON: {error}"));
        failure.hint(format!("{option} takes JSON, `@FILE` or `-`"))
    })
}

/// The reply of a tool that was called, and what is kept to be told of it.
fn noted(mut outcome: Outcome) -> (Reply, Outcome) {
    let mut start = outcome.said.len().saturating_sub(SAID_BYTES_MAX);
    while !outcome.said.is_char_boundary(start) {
        start += 1;
    }
    outcome.said.drain(..start);
    outcome.denials.truncate(NOTED_MAX);
    outcome.written.truncate(NOTED_MAX);
    let reply = std::mem::replace(&mut outcome.reply, Reply::Result(Value::Null));
    (reply, outcome)
}

/// Where rep keeps what it decides by and what it knows: not for tools to see.
fn own_folders() -> Vec<PathBuf> {
    let config = user_settings_file().ok().and_then(|file| file.parent().map(Path::to_owned));
    data_folder().ok().into_iter().chain(config).chain(cache_folder()).collect()
}

fn name(plan: &Plan) -> String {
    format!("{}:{}", plan.skill, plan.tool)
}

/// Who runs it, for the record.
pub(crate) fn who() -> String {
    let user = std::env::var("USER").ok().filter(|user| !user.is_empty());
    let number = rustix::process::getuid().as_raw();
    user.map_or_else(|| format!("uid {number}"), |user| format!("{user} (uid {number})"))
}

/// A sign of life while something runs that was granted.
pub(crate) fn progress(target: &str, decided: &Result<Granted, Refusal>, output: &Output) -> ProgressBar {
    if decided.is_err() || !output.is_watched() || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner().with_message(format!("running {target} (Ctrl-C ends it)"));
    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

/// Tells how a run went besides what it gave: what it was denied, and what could not be read or taken out.
pub(crate) fn tell_beside(name: &str, outcome: &Outcome, output: &mut Output) {
    if !outcome.said.trim().is_empty() {
        output.say(&attributed(outcome.said.trim_end(), name));
    }
    for note in &outcome.notes {
        output.warn(note);
    }
    for denial in &outcome.denials {
        let remedy = denial.suggestion.as_ref().map(|text| format!("; to allow it: {text}")).unwrap_or_default();
        output.warn(&format!("`{name}` was denied: {} {}{remedy}", denial.action, denial.target));
    }
    if outcome.is_truncated {
        output.warn(&format!("`{name}` wrote more than is read"));
    }
    for secret in &outcome.unredacted {
        output.warn(&format!("the secret `{secret}` is too short to be taken out of what `{name}` says"));
    }
}

/// Which secrets a run was handed, by their names.
pub(crate) fn tell_handed(name: &str, outcome: &Outcome, output: &mut Output) {
    if !outcome.secrets.is_empty() {
        output.say(&format!("`{name}` was handed: {}", outcome.secrets.join(", ")));
    }
}

/// What a tool said, with its name before lines that look like ours.
fn attributed(said: &str, name: &str) -> String {
    let is_like_ours = |line: &str| {
        let line = line.trim_start().to_lowercase();
        ["error", "help", "hint", "note", "warning"]
            .iter()
            .any(|label| line.strip_prefix(label).is_some_and(|rest| rest.trim_start().starts_with([':', '['])))
    };
    let own = |line: &str| if is_like_ours(line) { format!("{name} says: {line}") } else { line.to_owned() };
    said.split('\n').map(own).collect::<Vec<_>>().join("\n")
}

/// Why there is no result, and what to do.
pub(crate) fn tell_error(outcome: &Outcome, output: &mut Output) {
    if let Reply::Error(error) = &outcome.reply {
        output.label("error", AnsiColor::Red, &format!("{}: {}", error.code, error.message));
        if let Some(remedy) = error.more.get("remedy").and_then(Value::as_str) {
            output.label("help", AnsiColor::Cyan, remedy);
        }
    }
}

/// What held a run, for who wants to hear more.
pub(crate) fn tell_held(name: &str, outcome: &Outcome, output: &mut Output) {
    if outcome.is_executed && output.is_verbose {
        let layers: Vec<String> =
            outcome.layers.iter().map(|layer| format!("{} ({})", layer.name, layer.state)).collect();
        output.say(&format!("ran `{name}` in {} ms, held by {}", outcome.duration_ms, layers.join(", ")));
    }
}

/// Says aloud that nothing will be enforced.
pub(crate) fn warn_unconfined(output: &mut Output) {
    let warning = "running WITHOUT a sandbox: it can read, write and send whatever you can";
    output.label("warning", AnsiColor::Red, warning);
}

/// The exit code of a run.
pub(crate) fn exit(verdict: Verdict) -> Exit {
    match verdict {
        Verdict::Fine => Exit::Fine,
        Verdict::Refused => Exit::Refused,
        Verdict::Failed => Exit::Failed,
        Verdict::Interrupted => Exit::Interrupted,
    }
}
