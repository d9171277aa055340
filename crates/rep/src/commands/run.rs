//! `rep run`: one tool call, and what came of it.
//!
//! On stdout stands the tool's result, or the error or async envelope, and nothing else. How the run went is told on
//! stderr, and as JSON in the file `--json-meta` names: a result is exactly what the tool's contract says.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use anstyle::AnsiColor;
use indicatif::{ProgressBar, ProgressDrawTarget};
use rep_library::{Catalog, CatalogEntry, Options, Status};
use rep_runtime::approval;
use rep_runtime::audit::{Audit, Ending};
use rep_runtime::detach::Detached;
use rep_runtime::interpreter::Search;
use rep_runtime::plan::Work;
use rep_runtime::sandbox::{self, Cancel, unconfined};
use rep_runtime::secret::Secret;
use rep_runtime::task::{State, Tasks, Watch};
use rep_runtime::{
    ExecuteOptions, Granted, KeepError, Outcome, Plan, Refusal, Reply, Runtime, ToolError, Verdict, execute, interrupt,
};
use serde_json::{Value, json};

use crate::call::{self, Called};
use crate::consent;
use crate::exit::{Exit, Failure};
use crate::library::{LibraryArgs, cache_folder, data_folder, environments, missing, user_settings_file};
use crate::output::Output;
use crate::write;

/// Run one tool of a skill in the sandbox
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(clap::Args)]
#[command(
    after_help = "The tool sees and does what its skill declares, and nothing else; where this system cannot enforce that, nothing is run. stdout holds the tool's result object, or the error or async envelope.\n\nExit codes: 0 a result, 2 the call could not be made, 3 refused, 4 the tool failed, 130 interrupted.\n\nExamples:\n  rep run csv-profile:profile --input '{\"path\": \"data.csv\"}'\n  rep run ./csv-profile:profile --input @arguments.json --workspace ~/data\n  rep run csv-profile:profile --dry-run\n  rep run csv-profile:profile --input @big.json --detach"
)]
pub(crate) struct Args {
    /// The skill and its tool: `skill:tool`, `package:skill:tool` or `path/to/skill:tool`
    #[arg(value_name = "SKILL:TOOL")]
    target: String,
    /// The arguments: JSON, `@FILE`, or `-` for stdin [default: {}]
    #[arg(long, value_name = "JSON|@FILE|-")]
    input: Option<String>,
    /// The folder the skill's patterns are relative to [default: the project around this folder]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Give consent where the skill asks for it. It is for this tool: one that this tool calls runs where it needs no
    /// consent or was approved with `rep policy SKILL:TOOL --approve`
    #[arg(long)]
    yes: bool,
    /// Print what would run, as JSON, and run nothing
    #[arg(long)]
    dry_run: bool,
    /// End the tool after this many seconds
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: Option<u64>,
    /// Run with nothing enforced: the tool can do whatever you can
    #[arg(long)]
    no_sandbox: bool,
    /// Answer at once with a task, and go on in the background; `rep tasks` follows it
    #[arg(long, conflicts_with_all = ["dry_run", "json_meta"])]
    detach: bool,
    /// Be the background process of a task
    #[arg(long, hide = true, conflicts_with_all = ["detach", "dry_run", "yes", "input"])]
    as_task: bool,
    /// Write how the run went to this file, as JSON
    #[arg(long, value_name = "FILE")]
    json_meta: Option<PathBuf>,
    #[command(flatten)]
    library: LibraryArgs,
}

/// The largest arguments.
const INPUT_BYTES_MAX: u64 = 8 << 20;
/// How deep tools may call tools.
const DEPTH_MAX: usize = 8;
/// How often tools may call tools in one run.
const CALLS_MAX: usize = 1000;
/// How much of what a tool that was called says is kept, and how many of its files and denials.
const SAID_BYTES_MAX: usize = 64 << 10;
const NOTED_MAX: usize = 100;

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    tool(args, output).map_err(|failure| failure.json(true))
}

fn tool(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let Some((skill, tool)) =
        args.target.rsplit_once(':').filter(|(skill, tool)| !skill.is_empty() && !tool.is_empty())
    else {
        let failure = Failure::unable("USAGE", format!("`{}` names no tool", args.target));
        return Err(failure.hint("write `skill:tool`; `rep tools SKILL` lists the tools there are"));
    };
    let (input, bound) = if args.as_task { handed()? } else { (input(args.input.as_deref())?, None) };
    let (catalog, index) = args.library.any(skill, output)?;
    let entry = &catalog.entries[index];
    if matches!(entry.status, Status::Shadowed | Status::Invalid) {
        return Err(missing(&catalog, skill));
    }
    let options = args.library.options()?;
    let called = if args.dry_run { Called::of(entry)? } else { Called::held(entry, &options)? };
    let runner = Runner::new(args, &options, &catalog)?;
    let mut plan = planned(&called, tool, &runner.workspace, input)?;
    plan.is_confined = !args.no_sandbox;
    if let Some(seconds) = args.timeout {
        plan.limits.timeout_ms = seconds * 1000;
        plan.limits.cpu_s = plan.limits.cpu_s.max(seconds);
    }
    for ignored in &plan.ignored {
        output.warn(&format!("`{}` declares in vain: {ignored}", called.name));
    }
    if args.dry_run {
        output.json(&plan.to_json());
        return Ok(Exit::Fine);
    }
    if args.no_sandbox {
        let warning = "running WITHOUT a sandbox: the tool can read, write and send whatever you can";
        output.label("warning", AnsiColor::Red, warning);
    }
    let secrets = consent::secrets(&plan.secrets)?;
    let decided = match bound {
        Some(bound) => consent::granted_as_bound(plan.clone(), called.trust.clone(), &secrets, &bound)?,
        None => consent::granted(plan.clone(), called.trust.clone(), &secrets, args.yes, output)?,
    };
    if args.detach && decided.is_ok() {
        return detached(&plan, output);
    }
    if output.is_verbose {
        passed_over(&plan, output);
    }
    let cancel = interrupt::on_interrupt();
    let task = if args.as_task && decided.is_ok() { Some(begin(&plan, &cancel, output)?) } else { None };
    let bar = progress(&args.target, output);
    let outcome = runner.run(decided, &plan, &secrets, entry, &cancel, &Chain::default());
    bar.finish_and_clear();
    if let Some(task) = task {
        return finish(&task, &outcome);
    }
    let below = runner.below.into_inner().unwrap_or_else(PoisonError::into_inner);
    tell(&args.target, &outcome, &below, output);
    if let Some(file) = &args.json_meta {
        let meta = metadata(&outcome, &below);
        write::put(file, &format!("{meta:#}\n"))?;
    }
    Ok(match outcome.verdict {
        Verdict::Fine => Exit::Fine,
        Verdict::Refused => Exit::Refused,
        Verdict::Failed => Exit::Failed,
        Verdict::Interrupted => Exit::Interrupted,
    })
}

/// Starts the same call again as a process of its own, which says the task it goes on as.
fn detached(plan: &Plan, output: &mut Output) -> Result<Exit, Failure> {
    let mut arguments: Vec<OsString> = Vec::new();
    let mut given = std::env::args_os().skip(1);
    while let Some(argument) = given.next() {
        match argument.to_str() {
            Some("--detach" | "--yes") => {}
            Some("--input") => drop(given.next()),
            Some(text) if text.starts_with("--input=") => {}
            _ => arguments.push(argument),
        }
    }
    // Behind `--` it would be a name.
    let end = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
    arguments.insert(end, OsString::from("--as-task"));
    // Whoever could be asked was asked, about this plan and no other.
    let handed = json!({ "input": plan.input, "binding": approval::binding(plan) });
    let failed = |error: std::io::Error| Failure::unable("UNSTARTABLE", format!("no task could be started: {error}"));
    let started = Detached::start(&arguments, handed.to_string().as_bytes()).map_err(failed)?;
    let answer: Value = serde_json::from_str(&started.line).unwrap_or_default();
    if answer["status"] == "async" {
        output.json(&answer);
        output.say(&format!("`rep tasks get {}` says how it goes", answer["task"]["id"].as_str().unwrap_or_default()));
        return Ok(Exit::Fine);
    }
    let (said, code) = started.end().map_err(failed)?;
    match serde_json::from_str(&said) {
        Ok(answer) => output.json(&answer),
        Err(_) => output.say(&said),
    }
    Ok(if code == 3 { Exit::Refused } else { Exit::Unable })
}

/// What a background process is handed on stdin: the arguments, and what was agreed to.
fn handed() -> Result<(Value, Option<String>), Failure> {
    let unfit = || Failure::unable("USAGE", "a background process is started by `rep run --detach` alone");
    let mut handed = input(Some("-"))?;
    let bound = handed.get("binding").and_then(Value::as_str).map(str::to_owned).ok_or_else(unfit)?;
    Ok((handed.get_mut("input").map(Value::take).ok_or_else(unfit)?, Some(bound)))
}

/// A call that goes on as a task.
struct Begun {
    tasks: Tasks,
    id: String,
    /// Ends the run when somebody wants the task cancelled.
    _watch: Watch,
}

/// Makes the task and says so on one line, for who waits for it.
fn begin(plan: &Plan, cancel: &Cancel, output: &mut Output) -> Result<Begun, Failure> {
    let folder = data_folder()?;
    let tasks = Tasks::open(&folder)?;
    let task = tasks.create(&plan.skill, &plan.tool, SystemTime::now())?;
    let watch = Watch::start(&folder, &task.id, cancel.clone())?;
    output.data(&format!("{}\n", json!({ "status": "async", "task": { "id": task.id, "status": "running" } })));
    Ok(Begun { tasks, id: task.id, _watch: watch })
}

/// Stores what became of a task.
fn finish(task: &Begun, outcome: &Outcome) -> Result<Exit, Failure> {
    let state = match outcome.verdict {
        Verdict::Fine => State::Done,
        Verdict::Interrupted => State::Cancelled,
        Verdict::Refused | Verdict::Failed => State::Failed,
    };
    task.tasks.finish(&task.id, state, Some(&outcome.value()), SystemTime::now())?;
    Ok(Exit::Fine)
}

/// The plan of a call, with every fault told with its remedy.
fn planned(called: &Called, tool: &str, workspace: &Path, input: Value) -> Result<Plan, Failure> {
    let index = called.position(tool)?;
    called.plan(index, workspace, input).map_err(|error| {
        Failure::unable("INVALID_TOOL", format!("`{}:{tool}`: {error}", called.name)).hint(error.remedy)
    })
}

/// The arguments, read with a bound.
fn input(given: Option<&str>) -> Result<Value, Failure> {
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
        failure.hint("--input takes JSON, `@FILE` or `-`")
    })
}

/// Runs tools of one library, and what they call.
struct Runner<'a> {
    args: &'a Args,
    options: &'a Options,
    catalog: &'a Catalog,
    workspace: PathBuf,
    search: Search,
    /// Where installed packages are kept.
    environments: Option<PathBuf>,
    /// The folders of rep itself, which no tool sees.
    unseen: Vec<PathBuf>,
    /// Where runs are noted while they go on.
    register: Option<PathBuf>,
    /// How often tools called tools.
    calls: AtomicUsize,
    /// What tools that were called came to, in the order they ended, as far as it is told.
    below: Mutex<Vec<(String, Outcome)>>,
}

/// Who called a tool, from the outermost on.
#[derive(Default)]
struct Chain {
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

impl<'a> Runner<'a> {
    fn new(args: &'a Args, options: &'a Options, catalog: &'a Catalog) -> Result<Self, Failure> {
        Ok(Self {
            args,
            options,
            catalog,
            workspace: call::workspace(args.workspace.as_deref(), &args.library)?,
            search: Search {
                env: std::env::vars_os().collect(),
                cache: cache_folder().map(|folder| folder.join("interpreters.json")),
            },
            environments: environments().ok(),
            unseen: own_folders(),
            register: data_folder().ok().map(|folder| folder.join("running")),
            calls: AtomicUsize::new(0),
            below: Mutex::default(),
        })
    }

    /// Runs what was granted, or tells why not; both are recorded. `chain` is who called it.
    fn run(
        &self,
        decided: Result<Granted, Refusal>,
        plan: &Plan,
        secrets: &BTreeMap<String, Secret>,
        entry: &CatalogEntry,
        cancel: &Cancel,
        chain: &Chain,
    ) -> Outcome {
        let audit = match data_folder() {
            Ok(folder) => Audit::at(&folder),
            Err(failure) => return Outcome::refused(ToolError::new(failure.code, failure.message)),
        };
        let unkept = |error: &KeepError| {
            let message = format!("the run could not be recorded, and was not made: {error}");
            Outcome::refused(ToolError::new("UNRECORDED", message))
        };
        let granted = match decided {
            Ok(granted) => granted,
            Err(refusal) => {
                if let Err(error) = audit.refused(plan, &refusal, &who(), SystemTime::now()) {
                    return unkept(&error);
                }
                return Outcome::refused(ToolError::new(refusal.code, refusal.message).with("remedy", refusal.remedy));
            }
        };
        let running = match audit.start(&granted, &who(), SystemTime::now()) {
            Ok(running) => running,
            Err(error) => return unkept(&error),
        };
        let values: Vec<(String, String)> =
            secrets.iter().map(|(name, secret)| (name.clone(), secret.expose().to_owned())).collect();
        let hidden = chain.hidden.clone();
        let chain = chain.and(plan, &values);
        let caller = |tool: &str, input: Value, cancel: &Cancel| self.call(entry, tool, input, cancel, &chain);
        let options = ExecuteOptions {
            search: &self.search,
            environments: self.environments.as_deref(),
            caller: Some(&caller),
            hidden: &hidden,
            unseen: &self.unseen,
            register: self.register.as_deref(),
        };
        let door = if granted.plan().is_confined { sandbox::run } else { unconfined::run };
        let outcome = execute(&granted, &values, &options, cancel, door);
        let (code, message) = match &outcome.reply {
            Reply::Result(_) => ("ok", None),
            Reply::Task(_) => ("async", None),
            Reply::Error(error) => (error.code.as_str(), Some(error.message.as_str())),
        };
        let ending = Ending {
            outcome: code,
            message,
            exit: outcome.exit.map(|exit| match exit {
                sandbox::Exit::Code(code) => format!("code {code}"),
                sandbox::Exit::Signal(signal) => format!("signal {signal}"),
            }),
            layers: &outcome.layers,
            denials: &outcome.denials,
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
        plan.is_confined = !self.args.no_sandbox;
        let name = name(&plan);
        if chain.names.contains(&name) {
            let message = format!("tools call each other in a circle: {} → {name}", chain.names.join(" → "));
            return Err(ToolError::new("CALL_CYCLE", message));
        }
        if chain.names.len() >= DEPTH_MAX {
            return Err(ToolError::new("CALL_TOO_DEEP", format!("tools call tools more than {DEPTH_MAX} deep")));
        }
        let secrets = consent::secrets(&plan.secrets).map_err(of_failure)?;
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

fn progress(target: &str, output: &Output) -> ProgressBar {
    if !output.is_watched() || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner().with_message(format!("running {target} (Ctrl-C ends it)"));
    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

/// The result on stdout, everything else on stderr.
fn tell(target: &str, outcome: &Outcome, below: &[(String, Outcome)], output: &mut Output) {
    let mut handed = BTreeSet::new();
    for (name, outcome) in below.iter().map(|(name, outcome)| (name.as_str(), outcome)).chain([(target, outcome)]) {
        if !outcome.said.trim().is_empty() {
            output.say(&attributed(outcome.said.trim_end(), name));
        }
        if !outcome.secrets.is_empty() && handed.insert((name, &outcome.secrets)) {
            output.say(&format!("`{name}` was handed: {}", outcome.secrets.join(", ")));
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
    output.json(&outcome.value());
    if let Reply::Error(error) = &outcome.reply {
        output.label("error", AnsiColor::Red, &format!("{}: {}", error.code, error.message));
        if let Some(remedy) = error.more.get("remedy").and_then(Value::as_str) {
            output.label("help", AnsiColor::Cyan, remedy);
        }
    }
    if outcome.is_executed && output.is_verbose {
        let layers: Vec<String> =
            outcome.layers.iter().map(|layer| format!("{} ({})", layer.name, layer.state)).collect();
        output.say(&format!("ran `{target}` in {} ms, held by {}", outcome.duration_ms, layers.join(", ")));
    }
}

/// Says where a virtual environment in the workspace would be used, were it elsewhere.
fn passed_over(plan: &Plan, output: &mut Output) {
    let is_python = matches!(&plan.work, Work::Tool(tool) if tool.runtime == Runtime::Python);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let first = std::env::split_paths(&path).map(|folder| folder.join("python3")).find(|program| program.is_file());
    if let Some(first) = first.filter(|first| is_python && first.starts_with(&plan.workspace)) {
        let first = first.display();
        output.say(&format!("`{first}` lies in the workspace, so the python it leads to runs, without packages there"));
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
    let lines = said.split('\n').map(own);
    lines.collect::<Vec<_>>().join("\n")
}

/// How a run went, with the runs below it.
fn metadata(outcome: &Outcome, below: &[(String, Outcome)]) -> Value {
    let mut meta = outcome.metadata();
    let calls = below.iter().map(|(name, outcome)| json!({ "tool": name, "run": outcome.metadata() }));
    meta["calls"] = calls.collect();
    meta
}
