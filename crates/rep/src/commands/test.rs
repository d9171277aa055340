//! `rep test`: runs the tests that skills ship, each in a copy of its skill, in the sandbox.

mod evals;
mod report;
mod watch;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rep_library::LibraryOptions;
use rep_runtime::Confinement;
use rep_runtime::skill_test::junit;
use rep_runtime::skill_test::report::TestReport;
use rep_runtime::skill_test::run::{TestEvent, TestResult, TestStatus, TestSubject};
use rep_runtime::skill_test::selection::{self, TestSubjects, TestTarget};
use rep_sandbox::Cancel;
use rep_sandbox::interrupt;

use crate::exit::{Exit, Failure};
use crate::library::{self, LibraryArgs, cache_folder};
use crate::output::Output;
use crate::{terminal, write};

/// Run the tests that skills ship
///
/// Runs `tests/cases/*.yaml` and `evaluation.smoke_tests`. Each case runs in the sandbox, in a temporary copy of
/// its skill. Tests run code: a path you name is trusted, a skill found by name must be trusted. Exits with 1 if a
/// test fails.
#[expect(clippy::struct_excessive_bools, reason = "each is a separate flag")]
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep test                            # all skills in this directory
  rep test slugify --case 01-stdin    # one case, by file stem or name
  rep test skills --junit results.xml
  rep test skills --evals --out results --agent cat")]
pub(crate) struct Args {
    /// A skill name, or a path [default: the skills in the current directory]
    #[arg(value_name = "SKILL|PATH")]
    target: Option<String>,
    /// Test only the skill with this name
    #[arg(long, value_name = "NAME")]
    skill: Option<String>,
    /// Run only this case: the stem of its file, or its name
    #[arg(long, value_name = "STEM")]
    case: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Also write the results to this file, as `JUnit` XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// How many cases run in parallel [default: the number of cores]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Run again whenever a file changes
    #[arg(long)]
    watch: bool,
    /// Run without the sandbox, with all your permissions
    #[arg(long)]
    no_sandbox: bool,
    /// Run the prompts in `evals/evals.json` with an agent instead, with and without the skill
    #[arg(long, requires = "agent", conflicts_with_all = ["case", "junit", "watch", "jobs", "no_sandbox"])]
    evals: bool,
    /// The directory for the results of `--evals`; each run gets its own subdirectory [default: evals-out]
    #[arg(long, value_name = "DIR", requires = "evals")]
    out: Option<PathBuf>,
    /// The agent for `--evals` and its arguments; must be the last option
    ///
    /// It reads the prompt from stdin and finds the skill in `REP_EVAL_SKILL`. It runs as you, outside the sandbox.
    #[arg(long, value_name = "COMMAND", requires = "evals", num_args = 1.., allow_hyphen_values = true)]
    agent: Vec<String>,
    #[command(flatten)]
    library: LibraryArgs,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    if args.no_sandbox {
        terminal::warn_unconfined(output);
    }
    let cancel = interrupt::cancel_on_interrupt();
    if args.evals {
        return evals::run_skill_evals(args, &cancel, output).map_err(|failure| failure.json(args.json));
    }
    if args.watch {
        return watch::watch_and_test(args, &cancel, output);
    }
    test_once(args, &cancel, output).map(|(exit, _)| exit)
}

/// Runs the requested tests once. Also returns the directories of the skills.
fn test_once(args: &Args, cancel: &Cancel, output: &mut Output) -> Result<(Exit, Vec<PathBuf>), Failure> {
    let as_json = |failure: Failure| failure.json(args.json);
    let begun = Instant::now();
    let TestSubjects { mut subjects, failures: left_out, .. } = find_test_subjects(args, output).map_err(as_json)?;
    if let Some(case) = &args.case {
        selection::narrow_to_test(&mut subjects, case).map_err(|error| as_json(error.into()))?;
    }
    report_notes(&subjects, output);
    let mut report = TestReport::new(&subjects);
    report.results = left_out.into_iter().map(|(name, error)| TestResult::skill_error(&name, error.into())).collect();
    if !args.json {
        report.results.iter().for_each(|row| output.write_data(&report::render_result(row, output)));
    }
    report.results.extend(run_all_tests(args, &subjects, cancel, output));
    report.duration_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    report.is_interrupted = cancel.is_cancelled();
    if args.json {
        output.write_json(&report.to_json());
    } else {
        report::print_summary(&report, output);
    }
    if let Some(file) = &args.junit {
        // The report is already printed, so a write failure goes to stderr only.
        write::write_file(file, &junit::render_report(&report))?;
    }
    let folders = subjects.into_iter().map(|subject| subject.folder).collect();
    Ok((report::report_exit(&report), folders))
}

/// Finds the skills to test.
fn find_test_subjects(args: &Args, output: &mut Output) -> Result<TestSubjects, Failure> {
    let temporary = std::env::var_os("TMPDIR").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let copies = selection::copies_folder(cache_folder().as_deref(), temporary.as_deref());
    let target = TestTarget { target: args.target.as_deref(), skill: args.skill.as_deref() };
    let mut discover = |options: &LibraryOptions| library::discover_catalog(options, output);
    let found = selection::find_subjects(&args.library.resolve_options()?, target, &copies, &mut discover)?;
    output.warn_all(&found.notes);
    Ok(found)
}

/// Prints the notes about the tests of each skill.
fn report_notes(subjects: &[TestSubject], output: &mut Output) {
    for subject in subjects {
        subject.tests.notes.iter().for_each(|note| output.warn(&format!("`{}`: {note}", subject.name)));
    }
}

/// Runs all tests, and prints each result in order.
fn run_all_tests(args: &Args, subjects: &[TestSubject], cancel: &Cancel, output: &mut Output) -> Vec<TestResult> {
    let confinement = if args.no_sandbox { Confinement::Unconfined } else { Confinement::Sandboxed };
    let runtime = terminal::open_runtime_in(LibraryOptions::default(), PathBuf::new(), confinement);
    let workers = args.jobs.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let bar = create_progress_bar(subjects.iter().map(|subject| subject.due_tests().len()).sum(), output);
    let results = runtime.run_tests(subjects, workers, cancel, &mut |event| match event {
        TestEvent::Finished => bar.inc(1),
        TestEvent::NextInOrder(row) => {
            if !args.json && (row.status != TestStatus::Pass || !output.is_quiet) {
                let text = report::render_result(row, output);
                bar.suspend(|| output.write_data(&text));
            }
        }
    });
    bar.finish_and_clear();
    results
}

fn create_progress_bar(count: usize, output: &Output) -> ProgressBar {
    if !output.is_watched() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(count as u64), ProgressDrawTarget::stderr_with_hz(10));
    let style = ProgressStyle::with_template("testing {bar:30} {pos}/{len} cases (Ctrl-C stops)")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style);
    bar
}
