//! Opens a runtime for a command, asks the user at the terminal, and reports how a run went.

use std::io::{self, BufRead, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anstyle::AnsiColor;
use indicatif::{ProgressBar, ProgressDrawTarget};
use parking_lot::{Mutex, MutexGuard};
use rep_library::request::WorkspaceError;
use rep_library::{Catalog, LibraryOptions};
use rep_runtime::secret::Keyring;
use rep_runtime::{
    Confinement, ExecutableSkill, Outcome, Plan, Prompter, PrompterAnswer, RunConfirmation, RunReply, RunVerdict,
    Runtime, RuntimeOptions, RuntimePaths,
};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::library::{LibraryArgs, cache_folder, data_folder, user_settings_file};
use crate::output::Output;

/// The maximum size of the arguments.
const INPUT_BYTES_MAX: u64 = 8 << 20;

/// Returns the paths where the runtime stores data for this user.
pub(crate) fn runtime_paths() -> RuntimePaths {
    RuntimePaths { data: data_folder().ok(), settings: user_settings_file().ok(), cache: cache_folder() }
}

/// Opens a runtime in a workspace, for skills that were found with these options.
pub(crate) fn open_runtime_in(library: LibraryOptions, workspace: PathBuf, confinement: Confinement) -> Runtime {
    Runtime::open(runtime_paths(), runtime_options(library, workspace, confinement))
}

/// Returns the options of a runtime that belongs to this user.
pub(crate) fn runtime_options(library: LibraryOptions, workspace: PathBuf, confinement: Confinement) -> RuntimeOptions {
    RuntimeOptions {
        library,
        workspace,
        confinement,
        environment: std::env::vars_os().collect(),
        user: describe_user(),
        keyring: find_keyring(),
    }
}

/// Opens a runtime for a command that runs or inspects skills of a library.
pub(crate) fn open_runtime(
    library: &LibraryArgs,
    workspace: Option<&Path>,
    no_sandbox: bool,
) -> Result<Runtime, Failure> {
    let confinement = if no_sandbox { Confinement::Unconfined } else { Confinement::Sandboxed };
    Ok(open_runtime_in(library.resolve_options()?, self::resolve_workspace(workspace, library)?, confinement))
}

/// Opens a runtime for commands that only read stored data.
pub(crate) fn open_stored_runtime() -> Runtime {
    open_runtime_in(LibraryOptions::default(), PathBuf::new(), Confinement::Sandboxed)
}

/// Returns the directory that patterns are relative to: the named one, or the project around the working directory.
/// The path is absolute, with links resolved.
pub(crate) fn resolve_workspace(given: Option<&Path>, library: &LibraryArgs) -> Result<PathBuf, Failure> {
    let folder = given.map_or_else(|| library.project_folder(), |folder| Ok(folder.to_owned()))?;
    let resolved = rep_library::request::resolve_workspace(&folder);
    resolved.map_err(|error| Failure::unable(WorkspaceError::CODE, error.to_string()))
}

/// Opens the keyring of this session, if there is a bus to reach it.
fn find_keyring() -> Option<Keyring> {
    let is_named = std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some_and(|address| !address.is_empty());
    let is_there = || {
        let folder = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        folder.is_some_and(|folder| folder.join("bus").exists())
    };
    // A user at the terminal can unlock the keyring; a program must not wait for that.
    (is_named || is_there()).then(|| Keyring { is_attended: io::stderr().is_terminal() })
}

/// Returns the user's name for the audit log.
pub(crate) fn describe_user() -> String {
    let user = std::env::var("USER").ok().filter(|user| !user.is_empty());
    let number = rep_storage::platform::user_id();
    user.map_or_else(|| format!("uid {number}"), |user| format!("{user} (uid {number})"))
}

/// Finds the skill that a word names, as `SKILL` or `SKILL:TOOL`, and loads it for inspection.
pub(crate) fn find_skill(
    library: &LibraryArgs,
    word: &str,
    output: &mut Output,
) -> Result<(Catalog, ExecutableSkill, Option<usize>), Failure> {
    let whole = match library.find_any_skill(word, output) {
        Ok((catalog, index)) => {
            let skill = ExecutableSkill::inspect(&catalog.entries[index])?;
            skill.require_tools()?;
            return Ok((catalog, skill, None));
        }
        Err(failure) => failure,
    };
    let Some((skill, tool)) = word.rsplit_once(':').filter(|(skill, tool)| !skill.is_empty() && !tool.is_empty())
    else {
        return Err(whole);
    };
    let (catalog, index) = library.find_any_skill(skill, output)?;
    let skill = ExecutableSkill::inspect(&catalog.entries[index])?;
    let tool = skill.tool_index(tool)?;
    Ok((catalog, skill, Some(tool)))
}

/// Reads the arguments, up to the size limit: JSON, `@FILE`, or `-` for stdin. `option` is the flag that gave them.
pub(crate) fn read_arguments(given: Option<&str>, option: &str) -> Result<Value, Failure> {
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

/// Whether a user is at a terminal.
fn is_attended() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// A function that is called when a run starts.
type OnStart<'a> = Box<dyn FnOnce(&Plan) + Send + 'a>;

/// Asks the user at the terminal, and shows a spinner during a run.
pub(crate) struct TerminalPrompter<'a> {
    output: Mutex<&'a mut Output>,
    bar: Mutex<ProgressBar>,
    /// Called once when the run starts.
    on_start: Mutex<Option<OnStart<'a>>>,
    /// What the user can do without a terminal.
    remedy: &'static str,
}

impl<'a> TerminalPrompter<'a> {
    pub(crate) fn new(output: &'a mut Output) -> Self {
        Self {
            output: Mutex::new(output),
            bar: Mutex::new(ProgressBar::hidden()),
            on_start: Mutex::new(None),
            remedy: "pass `--yes` or run it in a terminal",
        }
    }

    /// Sets the remedy for a command that has no `--yes`.
    pub(crate) fn with_remedy(mut self, remedy: &'static str) -> Self {
        self.remedy = remedy;
        self
    }

    /// Returns the output between two runs, after removing the spinner.
    pub(crate) fn output(&self) -> MutexGuard<'_, &'a mut Output> {
        self.bar.lock().finish_and_clear();
        self.output.lock()
    }

    /// Sets the function to call when the run starts.
    pub(crate) fn when_started(self, then: impl FnOnce(&Plan) + Send + 'a) -> Self {
        *self.on_start.lock() = Some(Box::new(then));
        self
    }
}

impl Drop for TerminalPrompter<'_> {
    fn drop(&mut self) {
        self.bar.lock().finish_and_clear();
    }
}

impl Prompter for TerminalPrompter<'_> {
    fn confirm(&self, question: &RunConfirmation) -> PrompterAnswer {
        if !is_attended() {
            return PrompterAnswer::Unavailable { remedy: self.remedy.to_owned() };
        }
        let mut output = self.output.lock();
        output.print_always(question.render_text().trim_end());
        output.print_always("[y]es, [a]lways until something here changes, [N]o:");
        let mut line = String::new();
        let read = io::stdin().lock().read_line(&mut line);
        match line.trim().to_ascii_lowercase().as_str() {
            _ if read.is_err() => PrompterAnswer::No,
            "y" | "yes" => PrompterAnswer::Yes,
            "a" | "always" => PrompterAnswer::Always,
            _ => PrompterAnswer::No,
        }
    }

    fn run_started(&self, plan: &Plan) {
        if let Some(started) = self.on_start.lock().take() {
            started(plan);
        }
        let output = self.output.lock();
        if !output.is_watched() || !io::stderr().is_terminal() {
            return;
        }
        let target = format!("{}:{}", plan.skill, plan.tool);
        let bar = ProgressBar::new_spinner().with_message(format!("running {target} (Ctrl-C stops it)"));
        bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        bar.enable_steady_tick(Duration::from_millis(100));
        *self.bar.lock() = bar;
    }
}

/// Asks for a line on the terminal. Returns `None` without a terminal.
pub(crate) fn ask_line(question: &str, output: &mut Output) -> Option<String> {
    /// The maximum length of an answer.
    const BYTES_MAX: u64 = 64 << 10;
    if !is_attended() {
        return None;
    }
    output.print_always(question);
    let mut line = String::new();
    io::stdin().lock().take(BYTES_MAX).read_line(&mut line).ok().filter(|read| *read > 0)?;
    Some(line.trim_end_matches(['\n', '\r']).to_owned())
}

/// Reports declarations that grant nothing.
pub(crate) fn report_ignored(plan: &Plan, output: &mut Output) {
    for ignored in &plan.ignored {
        let text = format!("ignoring invalid permission in `{}`: {ignored}", plan.skill);
        match ignored.field {
            // Common and harmless: most programs work without these variables.
            "environment" if output.is_verbose => output.print_message(&text),
            "environment" => {}
            _ => output.warn(&text),
        }
    }
}

/// Reports details of a run other than its result: denials, truncated output, and secrets that could not be
/// redacted.
pub(crate) fn report_details(name: &str, outcome: &Outcome, output: &mut Output) {
    if !outcome.log_text.trim().is_empty() {
        output.print_message(&attribute_lines(outcome.log_text.trim_end(), name));
    }
    for note in &outcome.notes {
        output.warn(note);
    }
    for denial in &outcome.denials {
        let remedy = match &denial.suggestion {
            Some(text) => format!("; to allow it: {text}"),
            None => format!(" ({} does not allow it)", denial.declaration()),
        };
        output.warn(&format!("`{name}` was denied: {} {}{remedy}", denial.action, denial.target));
    }
    if outcome.denials_omitted > 0 {
        output.warn(&format!("`{name}` was denied {} more operations", outcome.denials_omitted));
    }
    if outcome.is_truncated {
        output.warn(&format!("`{name}` wrote more output than the limit; the rest was discarded"));
    }
    for secret in &outcome.unredacted {
        output.warn(&format!("the secret `{secret}` is too short to redact from the output of `{name}`"));
    }
}

/// Reports the names of the secrets that a run received.
pub(crate) fn report_secrets(name: &str, outcome: &Outcome, output: &mut Output) {
    if !outcome.secrets.is_empty() {
        output.print_message(&format!("`{name}` received the secrets: {}", outcome.secrets.join(", ")));
    }
}

/// Prefixes lines of a tool's output that look like messages of `rep` with the tool's name.
fn attribute_lines(said: &str, name: &str) -> String {
    let is_like_ours = |line: &str| {
        let line = line.trim_start().to_lowercase();
        ["error", "help", "hint", "note", "warning"]
            .iter()
            .any(|label| line.strip_prefix(label).is_some_and(|rest| rest.trim_start().starts_with([':', '['])))
    };
    let own = |line: &str| if is_like_ours(line) { format!("{name} says: {line}") } else { line.to_owned() };
    said.split('\n').map(own).collect::<Vec<_>>().join("\n")
}

/// Reports why a run has no result, and the remedy.
pub(crate) fn report_error(outcome: &Outcome, output: &mut Output) {
    if let RunReply::Error(error) = &outcome.reply {
        output.print_labelled("error", AnsiColor::Red, &format!("{}: {}", error.code, error.message));
        if let Some(remedy) = error.more.get("remedy").and_then(Value::as_str) {
            output.print_labelled("help", AnsiColor::Cyan, remedy);
        }
    }
}

/// Reports which layers confined a run, if `--verbose` is given.
pub(crate) fn report_layers(name: &str, outcome: &Outcome, output: &mut Output) {
    if outcome.is_executed && output.is_verbose {
        let layers: Vec<String> =
            outcome.layers.iter().map(|layer| format!("{} ({})", layer.name, layer.state)).collect();
        output.print_message(&format!("ran `{name}` in {} ms, confined by {}", outcome.duration_ms, layers.join(", ")));
    }
}

/// Warns that no permissions are enforced.
pub(crate) fn warn_unconfined(output: &mut Output) {
    let warning = "running WITHOUT a sandbox: the tool has all your permissions";
    output.print_labelled("warning", AnsiColor::Red, warning);
}

/// Returns the exit code of a run.
pub(crate) fn verdict_to_exit(verdict: RunVerdict) -> Exit {
    match verdict {
        RunVerdict::Succeeded => Exit::Fine,
        RunVerdict::Refused => Exit::Refused,
        RunVerdict::Failed => Exit::Failed,
        RunVerdict::Interrupted => Exit::Interrupted,
    }
}
