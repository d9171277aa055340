//! `rep check`: checks skills, and applies safe fixes.

mod checklist_report;
mod watch;

use std::path::PathBuf;

use clap::ValueEnum;
use indicatif::ProgressBar;
use rep_check::fix::FixApplicability;
use rep_check::{CheckReport, Profile, render};
use rep_library::SkillProgress;
use rep_library::check::fix::{FixedFile, plan_fixes};
use rep_library::check::{CheckGroup, CheckSettings, check_groups};

use crate::exit::{Exit, Failure};
use crate::library::working_folder;
use crate::output::Output;

/// Check skills and report what to fix
///
/// Each file is checked against the profile that matches its format, and against the fast security rules. To check
/// as strictly as a host does, name its profile. Exits with 1 if there is an error; `-q` prints errors only.
#[expect(clippy::struct_excessive_bools, reason = "each is a separate flag")]
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep check                        # the current directory
  rep check skills/changelog-notes --profile claude-api
  rep check skills --format sarif > rep.sarif
  rep check skills --diff          # preview the fixes
  rep check skills --fix")]
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
    /// Read settings from this file instead of the rep.yaml of each path and above it
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
}

/// The report formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CheckReportFormat {
    /// For people, with the source line
    Text,
    /// One JSON document
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// GitHub workflow annotations
    Github,
}

fn profile_parser() -> impl clap::builder::TypedValueParser<Value = Profile> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    let names: Vec<&'static str> = Profile::all().iter().map(|profile| profile.name()).collect();
    PossibleValuesParser::new(names).map(|name| Profile::from_name(&name).expect("only profiles are possible values"))
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let is_json = args.format == CheckReportFormat::Json;
    let groups = resolve_groups(args).map_err(|failure| failure.json(is_json))?;
    if args.checklist {
        return checklist_report::print_checklists(&args.paths, args.format, output)
            .map_err(|failure| failure.json(is_json));
    }
    if args.diff && args.format != CheckReportFormat::Text {
        let failure = Failure::unable("USAGE", "--diff does not support --format").json(is_json);
        return Err(failure.hint("omit --format or --diff"));
    }
    if args.diff {
        return print_fix_diff(&groups, output);
    }
    if args.watch {
        return watch::watch_and_check(args, &groups, output);
    }
    // The report is already printed, so a write failure goes to stderr only.
    check_once(args, &groups, output)
}

/// Checks once, after applying fixes if requested, and prints the report.
fn check_once(args: &Args, groups: &[CheckGroup], output: &mut Output) -> Result<Exit, Failure> {
    let failed = if args.fix { apply_fixes(groups, output)? } else { Vec::new() };
    let report = check_with_progress(groups, output)?;
    print_report(&report, args.format, output);
    if let Some((last, others)) = failed.split_last() {
        for failure in others {
            output.print_failure(failure);
        }
        return Err(last.clone());
    }
    Ok(if report.count_findings().errors > 0 { Exit::Findings } else { Exit::Fine })
}

fn check_with_progress(groups: &[CheckGroup], output: &mut Output) -> Result<CheckReport, Failure> {
    let bar = output.progress_bar("checking", 0);
    let checked = check_groups(groups, &|progress| update_progress(&bar, progress))?;
    bar.finish_and_clear();
    output.warn_all(&checked.notes);
    Ok(checked.report)
}

fn update_progress(bar: &ProgressBar, progress: SkillProgress) {
    match progress {
        SkillProgress::Found => bar.inc_length(1),
        SkillProgress::Done => bar.inc(1),
    }
}

/// Applies the safe fixes. Returns the files that could not be written.
fn apply_fixes(groups: &[CheckGroup], output: &mut Output) -> Result<Vec<Failure>, Failure> {
    let (mut written, mut failed) = (0, Vec::new());
    for group in groups {
        let fixes = plan_fixes(&group.paths, &group.options, FixApplicability::Safe)?;
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
fn print_fix_diff(groups: &[CheckGroup], output: &mut Output) -> Result<Exit, Failure> {
    let mut has_fixes = false;
    for group in groups {
        let fixes = plan_fixes(&group.paths, &group.options, FixApplicability::Safe)?;
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

fn print_report(report: &CheckReport, format: CheckReportFormat, output: &mut Output) {
    let text = match format {
        CheckReportFormat::Text if output.is_quiet => render::render_errors(report, output.paint()),
        CheckReportFormat::Text => render::render_text(report, output.paint()),
        CheckReportFormat::Json => render::render_json(report),
        CheckReportFormat::Sarif => render::render_sarif(report),
        CheckReportFormat::Github => render::render_github(report),
    };
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
        ..CheckSettings::default()
    };
    Ok(settings.resolve_each(&args.paths)?)
}
