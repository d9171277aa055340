//! A runtime for a command, the user at the terminal who is asked, and how a run is reported.

use std::io::{self, BufRead, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anstyle::AnsiColor;
use indicatif::{ProgressBar, ProgressDrawTarget};
use parking_lot::{Mutex, MutexGuard};
use rep_library::{Catalog, Options};
use rep_runtime::secret::Keyring;
use rep_runtime::{
    Answer, Confinement, ExecutableSkill, Outcome, Paths, Plan, Prompter, Question, Reply, Runtime, RuntimeOptions,
    Verdict,
};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::library::{LibraryArgs, cache_folder, data_folder, user_settings_file};
use crate::output::Output;

/// The largest arguments.
const INPUT_BYTES_MAX: u64 = 8 << 20;

/// Where the runtime stores things for this user.
fn paths() -> Paths {
    Paths { data: data_folder().ok(), settings: user_settings_file().ok(), cache: cache_folder() }
}

/// A runtime in a workspace, for skills that were found with these options.
pub(crate) fn runtime_in(library: Options, workspace: PathBuf, confinement: Confinement) -> Runtime {
    let options = RuntimeOptions {
        library,
        workspace,
        confinement,
        environment: std::env::vars_os().collect(),
        user: user(),
        keyring: keyring(),
    };
    Runtime::open(paths(), options)
}

/// A runtime for a command that runs, or looks at, skills of a library.
pub(crate) fn runtime(library: &LibraryArgs, workspace: Option<&Path>, no_sandbox: bool) -> Result<Runtime, Failure> {
    let confinement = if no_sandbox { Confinement::Unconfined } else { Confinement::Sandboxed };
    Ok(runtime_in(library.options()?, self::workspace(workspace, library)?, confinement))
}

/// A runtime for commands that only look at what is stored.
pub(crate) fn stored() -> Runtime {
    runtime_in(Options::default(), PathBuf::new(), Confinement::Sandboxed)
}

/// The directory patterns are relative to: the one that is named, or the project around the working directory. Absolute, links
/// resolved.
pub(crate) fn workspace(given: Option<&Path>, library: &LibraryArgs) -> Result<PathBuf, Failure> {
    let folder = given.map_or_else(|| library.project(), |folder| Ok(folder.to_owned()))?;
    let real = std::fs::canonicalize(&folder).ok().filter(|real| real.is_dir());
    real.ok_or_else(|| Failure::unable("UNREADABLE", format!("the workspace `{}` is no folder", folder.display())))
}

/// The keyring of this session, if there is a bus to reach it by.
fn keyring() -> Option<Keyring> {
    let is_named = std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some_and(|address| !address.is_empty());
    let is_there = || {
        let folder = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        folder.is_some_and(|folder| folder.join("bus").exists())
    };
    // A person who types can unlock it; a program must not wait for somebody.
    (is_named || is_there()).then(|| Keyring { is_attended: io::stderr().is_terminal() })
}

/// Who runs, for the audit log.
fn user() -> String {
    let user = std::env::var("USER").ok().filter(|user| !user.is_empty());
    let number = rustix::process::getuid().as_raw();
    user.map_or_else(|| format!("uid {number}"), |user| format!("{user} (uid {number})"))
}

/// Finds what a word names: a skill, or `SKILL:TOOL`. Loaded to be looked at.
pub(crate) fn find_skill(
    library: &LibraryArgs,
    word: &str,
    output: &mut Output,
) -> Result<(Catalog, ExecutableSkill, Option<usize>), Failure> {
    let whole = match library.any(word, output) {
        Ok((catalog, index)) => {
            let skill = ExecutableSkill::inspect(&catalog.entries[index])?;
            skill.tools()?;
            return Ok((catalog, skill, None));
        }
        Err(failure) => failure,
    };
    let Some((skill, tool)) = word.rsplit_once(':').filter(|(skill, tool)| !skill.is_empty() && !tool.is_empty())
    else {
        return Err(whole);
    };
    let (catalog, index) = library.any(skill, output)?;
    let skill = ExecutableSkill::inspect(&catalog.entries[index])?;
    let tool = skill.tool_index(tool)?;
    Ok((catalog, skill, Some(tool)))
}

/// The arguments, read with a bound: JSON, `@FILE`, or `-` for stdin. `option` is how they were given.
pub(crate) fn arguments(given: Option<&str>, option: &str) -> Result<Value, Failure> {
    let unreadable =
        |what: &str, error: &io::Error| Failure::unable("UNREADABLE", format!("could not read {what}: {error}"));
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
        Some("-") => bounded(&mut io::stdin().lock(), "stdin")?,
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

/// Whether somebody sits at a terminal.
fn is_attended() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// What is done when a run starts.
type OnStart<'a> = Box<dyn FnOnce(&Plan) + Send + 'a>;

/// Asks the user at the terminal, and shows that a run goes on.
pub(crate) struct TerminalPrompter<'a> {
    output: Mutex<&'a mut Output>,
    bar: Mutex<ProgressBar>,
    /// Called once when the run starts.
    started: Mutex<Option<OnStart<'a>>>,
}

impl<'a> TerminalPrompter<'a> {
    pub(crate) fn new(output: &'a mut Output) -> Self {
        Self { output: Mutex::new(output), bar: Mutex::new(ProgressBar::hidden()), started: Mutex::new(None) }
    }

    /// The output, between two runs: what shows that one goes on is taken away.
    pub(crate) fn output(&self) -> MutexGuard<'_, &'a mut Output> {
        self.bar.lock().finish_and_clear();
        self.output.lock()
    }

    /// Does something when the run starts.
    pub(crate) fn when_started(self, then: impl FnOnce(&Plan) + Send + 'a) -> Self {
        *self.started.lock() = Some(Box::new(then));
        self
    }
}

impl Drop for TerminalPrompter<'_> {
    fn drop(&mut self) {
        self.bar.lock().finish_and_clear();
    }
}

impl Prompter for TerminalPrompter<'_> {
    fn confirm(&self, question: &Question) -> Answer {
        if !is_attended() {
            return Answer::Unavailable { remedy: "run it on a terminal, or give consent with --yes".to_owned() };
        }
        let mut output = self.output.lock();
        output.insist(question.text().trim_end());
        output.insist("[y]es, [a]lways while nothing of this changes, [N]o:");
        let mut line = String::new();
        let read = io::stdin().lock().read_line(&mut line);
        match line.trim().to_ascii_lowercase().as_str() {
            _ if read.is_err() => Answer::No,
            "y" | "yes" => Answer::Yes,
            "a" | "always" => Answer::Always,
            _ => Answer::No,
        }
    }

    fn run_started(&self, plan: &Plan) {
        if let Some(started) = self.started.lock().take() {
            started(plan);
        }
        let output = self.output.lock();
        if !output.is_watched() || !io::stderr().is_terminal() {
            return;
        }
        let target = format!("{}:{}", plan.skill, plan.tool);
        let bar = ProgressBar::new_spinner().with_message(format!("running {target} (Ctrl-C ends it)"));
        bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        bar.enable_steady_tick(Duration::from_millis(100));
        *self.bar.lock() = bar;
    }
}

/// Asks for a line on the terminal; `None` if there is none.
pub(crate) fn ask_line(question: &str, output: &mut Output) -> Option<String> {
    /// The longest answer.
    const BYTES_MAX: u64 = 64 << 10;
    if !is_attended() {
        return None;
    }
    output.insist(question);
    let mut line = String::new();
    io::stdin().lock().take(BYTES_MAX).read_line(&mut line).ok().filter(|read| *read > 0)?;
    Some(line.trim_end_matches(['\n', '\r']).to_owned())
}

/// Reports declarations that grant nothing.
pub(crate) fn report_ignored(plan: &Plan, output: &mut Output) {
    for ignored in &plan.ignored {
        let text = format!("`{}` declares in vain: {ignored}", plan.skill);
        match ignored.field {
            // Common and harmless: most programs do well without.
            "environment" if output.is_verbose => output.say(&text),
            "environment" => {}
            _ => output.warn(&text),
        }
    }
}

/// Reports how a run went besides what it gave: what it was denied, and what could not be read or redacted.
pub(crate) fn report_details(name: &str, outcome: &Outcome, output: &mut Output) {
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

/// Reports which secrets a run was handed, by their names.
pub(crate) fn report_secrets(name: &str, outcome: &Outcome, output: &mut Output) {
    if !outcome.secrets.is_empty() {
        output.say(&format!("`{name}` was handed: {}", outcome.secrets.join(", ")));
    }
}

/// What a tool wrote, with its name before lines that look like ours.
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

/// Reports why there is no result, and what to do.
pub(crate) fn report_error(outcome: &Outcome, output: &mut Output) {
    if let Reply::Error(error) = &outcome.reply {
        output.label("error", AnsiColor::Red, &format!("{}: {}", error.code, error.message));
        if let Some(remedy) = error.more.get("remedy").and_then(Value::as_str) {
            output.label("help", AnsiColor::Cyan, remedy);
        }
    }
}

/// Reports which layers confined a run, with `-v`.
pub(crate) fn report_layers(name: &str, outcome: &Outcome, output: &mut Output) {
    if outcome.is_executed && output.is_verbose {
        let layers: Vec<String> =
            outcome.layers.iter().map(|layer| format!("{} ({})", layer.name, layer.state)).collect();
        output.say(&format!("ran `{name}` in {} ms, held by {}", outcome.duration_ms, layers.join(", ")));
    }
}

/// Warns that nothing will be enforced.
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
