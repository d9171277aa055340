//! `rep test`: runs the tests skills ship, each in a copy of its skill, in the sandbox.

mod evals;
mod junit;
mod report;
mod subject;
mod watch;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rep_sandbox::Cancel;
use rep_sandbox::interrupt;

use crate::exit::{Exit, Failure};
use crate::library::LibraryArgs;
use crate::output::Output;
use crate::{terminal, write};

use rep_runtime::trial::run::{TestResult, TestStatus};
use rep_runtime::{Confinement, ToolError};
use report::Report;
use subject::{Found, Subject};

/// Run the tests skills ship
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(clap::Args)]
#[command(
    after_help = "Run are `tests/cases/*.yaml` (with `tests/test-config.json`) and `evaluation.smoke_tests`. Each case runs in a copy of its skill that is gone afterwards, in the sandbox: its files are there to read and to change, this machine's python3 and node are on the path, and of the network only what the skill declares.\n\nTests run code. A path that is named is trusted, and so are the skills below this folder where nothing is named, which get no secrets then; a skill that is found by its name must be trusted.\n\nExit codes: 0 all passed or there are none, 1 some failed, 2 the settings of tests are broken or nothing fits the call, 3 refused, 130 interrupted.\n\nExamples:\n  rep test                           every skill below this folder\n  rep test slugify --case 01-stdin   one case, by the stem of its file or by its name\n  rep test examples --junit out.xml  for a build server\n  rep test . --watch                 again whenever a file changes\n  rep test . --evals --out results --agent my-agent --print"
)]
pub(crate) struct Args {
    /// A skill by name, or a path to skills [default: the skills below this folder]
    #[arg(value_name = "SKILL|PATH")]
    target: Option<String>,
    /// Only the skill of this name, of those at the path or below this folder
    #[arg(long, value_name = "NAME")]
    skill: Option<String>,
    /// Only this case: the stem of its file, else its name
    #[arg(long, value_name = "STEM")]
    case: Option<String>,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
    /// Write the results to this file too, as `JUnit` XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// How many cases run at once [default: as many as there are cores]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Run again whenever a file of the skills changes
    #[arg(long)]
    watch: bool,
    /// Run with nothing enforced: tests can do whatever you can
    #[arg(long)]
    no_sandbox: bool,
    /// Ask an agent the prompts of `evals/evals.json` instead, each with the skill and without it
    #[arg(long, requires = "agent", conflicts_with_all = ["case", "junit", "watch", "jobs", "no_sandbox"])]
    evals: bool,
    /// Where the results of --evals go, in a folder of their own each time [default: evals-out]
    #[arg(long, value_name = "DIR", requires = "evals")]
    out: Option<PathBuf>,
    /// The agent of --evals and its arguments, last: it reads the prompt on stdin and finds the skill in
    /// `REP_EVAL_SKILL`. It
    /// runs as you, outside of the sandbox
    #[arg(long, value_name = "COMMAND", requires = "evals", num_args = 1.., allow_hyphen_values = true)]
    agent: Vec<String>,
    #[command(flatten)]
    library: LibraryArgs,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    if args.no_sandbox {
        terminal::warn_unconfined(output);
    }
    let cancel = interrupt::on_interrupt();
    if args.evals {
        return evals::run(args, &cancel, output).map_err(|failure| failure.json(args.json));
    }
    if args.watch {
        return watch::run(args, &cancel, output);
    }
    once(args, &cancel, output).map(|(exit, _)| exit)
}

/// Runs what was asked for once. Gives the folders of the skills besides.
fn once(args: &Args, cancel: &Cancel, output: &mut Output) -> Result<(Exit, Vec<PathBuf>), Failure> {
    let as_json = |failure: Failure| failure.json(args.json);
    let begun = Instant::now();
    let Found { mut subjects, left_out } = subject::find(args, output).map_err(as_json)?;
    if let Some(case) = &args.case {
        subject::narrow(&mut subjects, case).map_err(as_json)?;
    }
    for subject in &subjects {
        subject.notes().iter().for_each(|note| output.warn(&format!("`{}`: {note}", subject.test.name)));
    }
    let mut report = Report::of(&subjects);
    report.rows = left_out.into_iter().map(|(name, failure)| unloadable(&name, failure)).collect();
    if !args.json {
        report.rows.iter().for_each(|row| output.data(&report::text(row, output)));
    }
    report.rows.extend(attempted(args, &subjects, cancel, output));
    report.duration_ms = begun.elapsed().as_millis();
    report.is_interrupted = cancel.is_cancelled();
    if args.json {
        output.json(&report.json());
    } else {
        report.sum_up(output);
    }
    if let Some(file) = &args.junit {
        // The report has been printed by then, so that this is told on stderr alone.
        write::put(file, &junit::render(&report))?;
    }
    let folders = subjects.into_iter().map(|subject| subject.test.folder).collect();
    Ok((report.exit(), folders))
}

/// A skill that could not be loaded.
fn unloadable(skill: &str, failure: Failure) -> TestResult {
    let error = ToolError::new(rep_runtime::ErrorCode::parse(&failure.code), failure.message);
    TestResult::skill_error(
        skill,
        match failure.hints.into_iter().next() {
            Some(hint) => error.with("remedy", hint),
            None => error,
        },
    )
}

/// Runs every trial, and prints each row as soon as all before it are there: the order is the same however many run at once.
fn attempted(args: &Args, subjects: &[Subject], cancel: &Cancel, output: &mut Output) -> Vec<TestResult> {
    let confinement = if args.no_sandbox { Confinement::Unconfined } else { Confinement::Sandboxed };
    let runtime = terminal::runtime_in(rep_library::Options::default(), PathBuf::new(), confinement);
    let all: Vec<(usize, Option<usize>)> = subjects
        .iter()
        .enumerate()
        .flat_map(|(number, subject)| subject.due().into_iter().map(move |trial| (number, trial)))
        .collect();
    let workers = args.jobs.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let bar = progress(all.len(), output);
    let next = AtomicUsize::new(0);
    let (sender, receiver) = channel::<(usize, TestResult)>();
    let mut rows: Vec<TestResult> = Vec::new();
    thread::scope(|scope| {
        for _ in 0..workers.min(all.len()) {
            let sender = sender.clone();
            scope.spawn(|| {
                let sender = sender;
                while !cancel.is_cancelled() {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some((subject, trial)) = all.get(number) else { return };
                    let row = runtime.run_test(&subjects[*subject].test, *trial, cancel);
                    // The receiver goes on until every sender is gone.
                    let _ = sender.send((number, row));
                }
            });
        }
        drop(sender);
        let mut waiting = std::collections::BTreeMap::new();
        for (number, row) in receiver {
            bar.inc(1);
            waiting.insert(number, row);
            while let Some(row) = waiting.remove(&rows.len()) {
                if !args.json && (row.status != TestStatus::Pass || !output.is_quiet) {
                    let text = report::text(&row, output);
                    bar.suspend(|| output.data(&text));
                }
                rows.push(row);
            }
        }
        // Where somebody asked for the end, some were never begun.
        rows.extend(waiting.into_values());
    });
    bar.finish_and_clear();
    rows
}

fn progress(count: usize, output: &Output) -> ProgressBar {
    if !output.is_watched() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(count as u64), ProgressDrawTarget::stderr_with_hz(10));
    let style = ProgressStyle::with_template("testing {bar:30} {pos}/{len} cases (Ctrl-C ends)")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style);
    bar
}
