//! `rep test`: runs the tests skills ship, each in a copy of its skill, in the sandbox.

mod evals;
mod report;
mod watch;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rep_library::Options;
use rep_runtime::Confinement;
use rep_runtime::trial::junit;
use rep_runtime::trial::report::TestReport;
use rep_runtime::trial::run::{TestEvent, TestResult, TestStatus, TestSubject};
use rep_runtime::trial::selection::{self, FoundSubjects, TestTarget};
use rep_sandbox::Cancel;
use rep_sandbox::interrupt;

use crate::exit::{Exit, Failure};
use crate::library::{self, LibraryArgs, cache_folder};
use crate::output::Output;
use crate::{terminal, write};

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
    let FoundSubjects { mut subjects, left_out, .. } = find(args, output).map_err(as_json)?;
    if let Some(case) = &args.case {
        selection::narrow(&mut subjects, case).map_err(|error| as_json(error.into()))?;
    }
    say_notes(&subjects, output);
    let mut report = TestReport::new(&subjects);
    report.results = left_out.into_iter().map(|(name, error)| TestResult::skill_error(&name, error.into())).collect();
    if !args.json {
        report.results.iter().for_each(|row| output.data(&report::text(row, output)));
    }
    report.results.extend(attempted(args, &subjects, cancel, output));
    report.duration_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    report.is_interrupted = cancel.is_cancelled();
    if args.json {
        output.json(&report.value());
    } else {
        report::sum_up(&report, output);
    }
    if let Some(file) = &args.junit {
        // The report has been printed by then, so that this is told on stderr alone.
        write::put(file, &junit::render(&report))?;
    }
    let folders = subjects.into_iter().map(|subject| subject.folder).collect();
    Ok((report::exit(&report), folders))
}

/// Finds the skills a call is about.
fn find(args: &Args, output: &mut Output) -> Result<FoundSubjects, Failure> {
    let temporary = std::env::var_os("TMPDIR").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let copies = selection::copies_folder(cache_folder().as_deref(), temporary.as_deref());
    let target = TestTarget { target: args.target.as_deref(), skill: args.skill.as_deref() };
    let mut discover = |options: &Options| library::discover(options, output);
    let found = selection::find_subjects(&args.library.options()?, target, &copies, &mut discover)?;
    output.warn_all(&found.notes);
    Ok(found)
}

/// Says what is worth a word about the tests of each skill.
fn say_notes(subjects: &[TestSubject], output: &mut Output) {
    for subject in subjects {
        subject.trials.notes.iter().for_each(|note| output.warn(&format!("`{}`: {note}", subject.name)));
    }
}

/// Runs every test, and prints each row in order.
fn attempted(args: &Args, subjects: &[TestSubject], cancel: &Cancel, output: &mut Output) -> Vec<TestResult> {
    let confinement = if args.no_sandbox { Confinement::Unconfined } else { Confinement::Sandboxed };
    let runtime = terminal::runtime_in(Options::default(), PathBuf::new(), confinement);
    let workers = args.jobs.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let bar = progress(subjects.iter().map(|subject| subject.due().len()).sum(), output);
    let results = runtime.run_tests(subjects, workers, cancel, &mut |event| match event {
        TestEvent::Over => bar.inc(1),
        TestEvent::Next(row) => {
            if !args.json && (row.status != TestStatus::Pass || !output.is_quiet) {
                let text = report::text(row, output);
                bar.suspend(|| output.data(&text));
            }
        }
    });
    bar.finish_and_clear();
    results
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
