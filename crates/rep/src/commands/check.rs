//! `rep check`: checks skills, and applies safe fixes.

mod checklist_report;
mod filter;
mod watch;

use std::path::PathBuf;

use clap::ValueEnum;
use indicatif::ProgressBar;
use rep_check::fix::FixApplicability;
use rep_check::render::{ReportFormat, ReportRenderer};
use rep_check::{Level, Profile, ReportOverview, ReportSummary};
use rep_library::SkillProgress;
use rep_library::check::fix::{FixedFile, plan_fixes};
use rep_library::check::{CheckCacheSettings, CheckGroup, CheckSettings, CompactReport, check_groups};
use rep_storage::platform::FileMarks;

use crate::exit::{Exit, Failure};
use crate::library::{cache_folder, working_folder};
use crate::output::Output;

/// Check skills and report what to fix
///
/// Each file is checked against the profile that matches its format, and against the fast security rules. To check
/// as strictly as a host does, name its profile. Exits with 1 if there is an error. `-q` prints errors only, `-v` all
/// notes. A baseline hides known findings.
#[expect(clippy::struct_excessive_bools, reason = "each is a separate flag")]
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep check                        # the current directory
  rep check skills/changelog-notes --profile claude-api
  rep check skills --format sarif > rep.sarif
  rep check skills --diff          # preview the fixes
  rep check skills --fix
  rep check skills --baseline rep-baseline.json --write-baseline
  rep check skills --since main    # in a git repository")]
pub(crate) struct Args {
    /// Skill directories, directories of skills, SKILL.md or `*.uasp.yaml` files
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<PathBuf>,
    /// Check against this profile; repeatable
    ///
    /// Without it, the profile follows from the file: `spec_version` selects universal, `x-personal-mcp` selects
    /// pmcp, a map-valued `compatibility` selects aam, `*.uasp.yaml` selects uasp, and anything else agentskills.
    /// Rules that most public skills break are then reported at a lower level.
    #[arg(long, value_name = "PROFILE", value_parser = profile_parser())]
    profile: Vec<Profile>,
    /// The output format
    #[arg(long, value_enum, default_value_t = CheckReportFormat::Text)]
    format: CheckReportFormat,
    /// Apply the fixes that do not change the meaning
    #[arg(long)]
    fix: bool,
    /// With --fix or --diff, also apply the fixes that may change the meaning; review them
    #[arg(long)]
    unsafe_fixes: bool,
    /// Show what `--fix` would change without changing it
    #[arg(long, conflicts_with_all = ["fix", "watch"])]
    diff: bool,
    /// Run only these rules; separate several with commas
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    select: Vec<String>,
    /// Skip these rules; separate several with commas
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    ignore: Vec<String>,
    /// Apply the published UASP schema literally
    #[arg(long)]
    strict_schema: bool,
    /// Check versions with the patterns printed in the specifications instead of SemVer
    #[arg(long)]
    seed_regex: bool,
    /// Fill in the Universal 2.1 checklists instead of listing findings
    #[arg(long, conflicts_with_all = ["fix", "diff", "watch", "profile"])]
    checklist: bool,
    /// Check again whenever a file changes
    #[arg(long)]
    watch: bool,
    /// Do not report the findings that this file lists
    ///
    /// A finding is known by its rule, its file and the text it is about, so it stays known when its line moves.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write the current findings to the baseline, and remove those that no longer occur
    #[arg(long, requires = "baseline", conflicts_with_all = ["since", "watch", "diff", "checklist"])]
    write_baseline: bool,
    /// Skip the skills and files that match this pattern, as in `.gitignore`; repeatable
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,
    /// Report only what is in files that changed since this commit, branch or tag
    #[arg(long, value_name = "REF", conflicts_with = "checklist")]
    since: Option<String>,
    /// Exit with 1 if there is a finding of this level or above
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t = FailLevel::Error)]
    fail_on: FailLevel,
    /// Exit with 1 if there are more warnings than this
    #[arg(long, value_name = "N")]
    max_warnings: Option<usize>,
    /// Count the findings of each rule: in text instead of the findings, in JSON beside them
    #[arg(long, conflicts_with_all = ["diff", "checklist"])]
    statistics: bool,
    /// Check everything again, and do not remember the results
    #[arg(long)]
    no_cache: bool,
    /// Read settings from this file instead of the rep.yaml of each path and above it
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
}

/// The report formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CheckReportFormat {
    /// For people, with the source line
    Text,
    /// One line for each finding
    Concise,
    /// One JSON document
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// GitHub workflow annotations
    Github,
    /// JUnit XML, with one case for each finding
    Junit,
    /// GitLab code quality report
    Gitlab,
}

/// The lowest level that makes a check fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailLevel {
    /// Errors
    Error,
    /// Errors and warnings
    Warning,
    /// Any finding
    Info,
    /// Nothing
    Never,
}

impl FailLevel {
    /// Whether a report with these counts fails.
    fn is_reached(self, summary: ReportSummary) -> bool {
        match self {
            FailLevel::Error => summary.errors > 0,
            FailLevel::Warning => summary.errors + summary.warnings > 0,
            FailLevel::Info => summary.errors + summary.warnings + summary.infos > 0,
            FailLevel::Never => false,
        }
    }
}

fn profile_parser() -> impl clap::builder::TypedValueParser<Value = Profile> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    let names: Vec<&'static str> = Profile::all().iter().map(|profile| profile.name()).collect();
    PossibleValuesParser::new(names).map(|name| Profile::from_name(&name).expect("only profiles are possible values"))
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let is_json = matches!(args.format, CheckReportFormat::Json | CheckReportFormat::Gitlab);
    check_usage(args).map_err(|failure| failure.json(is_json))?;
    let groups = resolve_groups(args).map_err(|failure| failure.json(is_json))?;
    if args.checklist {
        return checklist_report::print_checklists(&args.paths, args.format, output)
            .map_err(|failure| failure.json(is_json));
    }
    if args.diff {
        return print_fix_diff(args, &groups, output);
    }
    if args.watch {
        return watch::watch_and_check(args, &groups, output);
    }
    check_once(args, &groups, output)
}

/// Refuses combinations of options that have no meaning.
fn check_usage(args: &Args) -> Result<(), Failure> {
    if args.diff && args.format != CheckReportFormat::Text {
        let failure = Failure::unable("USAGE", "--diff does not support --format");
        return Err(failure.hint("omit --format or --diff"));
    }
    if args.statistics && !matches!(args.format, CheckReportFormat::Text | CheckReportFormat::Json) {
        let failure = Failure::unable("USAGE", "--statistics supports only the formats text and json");
        return Err(failure.hint("omit --format or --statistics"));
    }
    if args.unsafe_fixes && !args.fix && !args.diff {
        let failure = Failure::unable("USAGE", "--unsafe-fixes has no effect without --fix or --diff");
        return Err(failure.hint("add --diff to see what would change"));
    }
    Ok(())
}

/// Checks once, after applying fixes if requested, and prints the report.
fn check_once(args: &Args, groups: &[CheckGroup], output: &mut Output) -> Result<Exit, Failure> {
    let is_json = matches!(args.format, CheckReportFormat::Json | CheckReportFormat::Gitlab);
    let as_json = |failure: Failure| failure.json(is_json);
    let mut filter = filter::ReportFilter::prepare(args).map_err(as_json)?;
    let failed = if args.fix { apply_fixes(args, groups, output).map_err(as_json)? } else { Vec::new() };
    let mut report = check_with_progress(args, groups, output).map_err(as_json)?;
    filter.apply(args, &mut report, output).map_err(as_json)?;
    let mut overview = report.overview();
    overview.wants_statistics = args.statistics;
    overview.is_shortened = args.select.is_empty() && !output.is_verbose;
    print_report(args, &report, &overview, output);
    // The report is already printed, so a write failure goes to stderr only.
    if let Some((last, others)) = failed.split_last() {
        for failure in others {
            output.print_failure(failure);
        }
        return Err(last.clone());
    }
    Ok(if is_failure(args, &overview, output) { Exit::Findings } else { Exit::Fine })
}

/// Whether the findings make the check fail.
fn is_failure(args: &Args, overview: &ReportOverview, output: &mut Output) -> bool {
    let warnings = overview.summary.warnings;
    let exceeded = args.max_warnings.filter(|max| warnings > *max);
    if let Some(max) = exceeded {
        output.print_message(&format!("{warnings} warnings; at most {max} are allowed"));
    }
    exceeded.is_some() || args.fail_on.is_reached(overview.summary)
}

fn check_with_progress(args: &Args, groups: &[CheckGroup], output: &mut Output) -> Result<CompactReport, Failure> {
    let cache = if args.no_cache { None } else { cache_settings() };
    let bar = output.progress_bar("checking", 0);
    let (report, notes) = check_groups(groups, cache.as_ref(), &|progress| update_progress(&bar, progress))?;
    bar.finish_and_clear();
    output.warn_all(&notes);
    Ok(report)
}

/// Returns where results are cached. They depend on the program itself, so it is part of the key.
fn cache_settings() -> Option<CheckCacheSettings> {
    let program = std::env::current_exe().and_then(std::fs::metadata).ok()?;
    let program = FileMarks::from_metadata(&program);
    let identity = (program.size_bytes, program.number, program.modified);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(CheckCacheSettings {
        folder: cache_folder()?.join("check"),
        build: format!("{} {identity:?}", env!("CARGO_PKG_VERSION")),
        now_ns: i128::try_from(now.as_nanos()).ok()?,
    })
}

fn update_progress(bar: &ProgressBar, progress: SkillProgress) {
    match progress {
        SkillProgress::Found => bar.inc_length(1),
        SkillProgress::Done => bar.inc(1),
    }
}

/// Returns the fixes to apply.
fn chosen_fixes(args: &Args) -> FixApplicability {
    if args.unsafe_fixes { FixApplicability::Unsafe } else { FixApplicability::Safe }
}

/// Applies the fixes. Returns the files that could not be written.
fn apply_fixes(args: &Args, groups: &[CheckGroup], output: &mut Output) -> Result<Vec<Failure>, Failure> {
    let (mut written, mut failed) = (0, Vec::new());
    for group in groups {
        let fixes = plan_fixes(&group.paths, &group.options, chosen_fixes(args))?;
        output.warn_all(&fixes.notes);
        for (file, result) in fixes.write_files() {
            match result {
                Ok(()) => {
                    written += 1;
                    if output.is_verbose {
                        output.print_message(&format!("fixed `{}`", file.shown));
                    }
                }
                Err(error) => failed.push(error.into()),
            }
        }
    }
    if written > 0 {
        output.print_message(&format!("fixed {written} {}", if written == 1 { "file" } else { "files" }));
    }
    Ok(failed)
}

/// Prints the diff of the fixes.
fn print_fix_diff(args: &Args, groups: &[CheckGroup], output: &mut Output) -> Result<Exit, Failure> {
    let mut has_fixes = false;
    for group in groups {
        let fixes = plan_fixes(&group.paths, &group.options, chosen_fixes(args))?;
        output.warn_all(&fixes.notes);
        output.write_data(&fixes.files.iter().map(FixedFile::render_diff).collect::<String>());
        has_fixes |= !fixes.files.is_empty();
    }
    if !has_fixes {
        output.print_message("nothing to fix");
        return Ok(Exit::Fine);
    }
    Ok(Exit::Findings)
}

/// The minimum number of bytes that are written at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// Prints the report finding by finding, so that a large one is never in memory as a whole.
fn print_report(args: &Args, report: &CompactReport, overview: &ReportOverview, output: &mut Output) {
    let format = match args.format {
        CheckReportFormat::Text if args.statistics => ReportFormat::Statistics,
        CheckReportFormat::Text if output.is_quiet => ReportFormat::ErrorText,
        CheckReportFormat::Text => ReportFormat::Text,
        CheckReportFormat::Concise => ReportFormat::Concise,
        CheckReportFormat::Json => ReportFormat::Json,
        CheckReportFormat::Sarif => ReportFormat::Sarif,
        CheckReportFormat::Github => ReportFormat::Github,
        CheckReportFormat::Junit => ReportFormat::Junit,
        CheckReportFormat::Gitlab => ReportFormat::Gitlab,
    };
    let root = working_folder().map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default();
    let mut renderer = ReportRenderer::new(format, output.paint(), overview, &root);
    let mut text = renderer.render_start();
    report.for_each(|finding| {
        if args.format == CheckReportFormat::Concise && output.is_quiet && finding.level != Level::Error {
            return;
        }
        text.push_str(&renderer.render_finding(finding));
        if text.len() >= CHUNK_BYTES {
            output.write_data(&text);
            text.clear();
        }
    });
    text.push_str(&renderer.render_end());
    output.write_data(&text);
}

/// Resolves the settings of each path: a `rep.yaml` applies to what is below it, wherever the command is run.
fn resolve_groups(args: &Args) -> Result<Vec<CheckGroup>, Failure> {
    let settings = CheckSettings {
        file: args.settings.clone(),
        folder: working_folder()?,
        profiles: args.profile.clone(),
        select: args.select.clone(),
        ignore: args.ignore.clone(),
        strict_schema: args.strict_schema,
        seed_regex: args.seed_regex,
        exclude: args.exclude.clone(),
        working_folder: working_folder()?,
        ..CheckSettings::default()
    };
    Ok(settings.resolve_each(&args.paths)?)
}
