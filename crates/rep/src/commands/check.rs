//! `rep check`: judges skills, mends what can be mended safely.

mod points;
mod watch;

use std::path::PathBuf;

use clap::ValueEnum;
use indicatif::ProgressBar;
use rep_check::{Options, Profile, Report, render};
use rep_library::Progress;
use rep_library::check::fix::{FixedFile, plan_fixes};
use rep_library::check::{CheckSettings, check_paths};

use crate::exit::{Exit, Failure};
use crate::library::here;
use crate::output::Output;

/// Check skills and say what is wrong, where, and what to do
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(clap::Args)]
#[command(
    after_help = "Without --profile each file is judged by what it shows itself to be (spec_version: universal, x-personal-mcp: pmcp, *.uasp.yaml: uasp, else agentskills), leniently where half of all public skills would fail, and always by `security`.\n\nExamples:\n  rep check                               everything below this folder\n  rep check my-skill --profile claude-api as strict as an upload\n  rep check skills --format sarif > rep.sarif\n  rep check skills --diff                 what --fix would change"
)]
pub(crate) struct Args {
    /// Skill folders, folders above them, SKILL.md or `*.uasp.yaml` files
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<PathBuf>,
    /// Judge under this profile; may be given several times
    #[arg(long, value_name = "PROFILE", value_parser = profile_parser())]
    profile: Vec<Profile>,
    /// How to print the report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Mend what can be mended without changing the meaning
    #[arg(long)]
    fix: bool,
    /// Show what --fix would change, and change nothing
    #[arg(long, conflicts_with_all = ["fix", "watch"])]
    diff: bool,
    /// Only these rules; several with commas
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    select: Vec<String>,
    /// Not these rules; several with commas
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    ignore: Vec<String>,
    /// Take the printed UASP schema literally
    #[arg(long)]
    strict_schema: bool,
    /// Judge versions by the patterns the specifications print, not by SemVer
    #[arg(long)]
    seed_regex: bool,
    /// Fill in the checklists of Universal 2.1 instead of listing findings
    #[arg(long, conflicts_with_all = ["fix", "diff", "watch", "profile"])]
    checklist: bool,
    /// Check again whenever a file changes
    #[arg(long)]
    watch: bool,
    /// Read these settings instead of the nearest rep.yaml
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
}

/// The forms of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people, with the line at fault
    Text,
    /// For programs
    Json,
    /// For code scanning, SARIF 2.1.0
    Sarif,
    /// For GitHub workflow annotations
    Github,
}

fn profile_parser() -> impl clap::builder::TypedValueParser<Value = Profile> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    let names: Vec<&'static str> = Profile::all().iter().map(|profile| profile.name()).collect();
    PossibleValuesParser::new(names).map(|name| Profile::named(&name).expect("only profiles are possible values"))
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let is_json = args.format == Format::Json;
    let options = options(args).map_err(|failure| failure.json(is_json))?;
    if args.checklist {
        return points::print(&args.paths, args.format, output).map_err(|failure| failure.json(is_json));
    }
    if args.diff && args.format != Format::Text {
        let failure = Failure::unable("USAGE", "--diff prints a diff and knows no other format").json(is_json);
        return Err(failure.hint("leave out --format, or --diff"));
    }
    if args.diff {
        return diff(&args.paths, &options, output);
    }
    if args.watch {
        return watch::run(args, &options, output);
    }
    // A report has been printed by then, so a failure to write is told on stderr alone.
    once(args, &options, output)
}

/// Checks once, fixing first where that was asked for, and prints the report.
fn once(args: &Args, options: &Options, output: &mut Output) -> Result<Exit, Failure> {
    let failed = if args.fix { fix(&args.paths, options, output)? } else { Vec::new() };
    let report = check(&args.paths, options, output)?;
    print(&report, args.format, output);
    if let Some((last, others)) = failed.split_last() {
        for failure in others {
            output.failure(failure);
        }
        return Err(last.clone());
    }
    Ok(if report.summary().errors > 0 { Exit::Findings } else { Exit::Fine })
}

fn check(paths: &[PathBuf], options: &Options, output: &mut Output) -> Result<Report, Failure> {
    let bar = output.progress("checking", 0);
    let checked = check_paths(paths, options, &|progress| follow(&bar, progress))?;
    bar.finish_and_clear();
    output.warn_all(&checked.notes);
    Ok(checked.report)
}

fn follow(bar: &ProgressBar, progress: Progress) {
    match progress {
        Progress::Found => bar.inc_length(1),
        Progress::Done => bar.inc(1),
    }
}

/// Fixes what can be fixed safely. Returns what could not be written.
fn fix(paths: &[PathBuf], options: &Options, output: &mut Output) -> Result<Vec<Failure>, Failure> {
    let fixes = plan_fixes(paths, options)?;
    output.warn_all(&fixes.notes);
    let (mut written, mut failed) = (0, Vec::new());
    for (file, result) in fixes.write() {
        match result {
            Ok(()) => {
                written += 1;
                if output.is_verbose {
                    output.say(&format!("mended `{}`", file.shown));
                }
            }
            Err(error) => failed.push(error.into()),
        }
    }
    if written > 0 {
        output.say(&format!("mended {written} {}", if written == 1 { "file" } else { "files" }));
    }
    Ok(failed)
}

/// Prints what fixing would change.
fn diff(paths: &[PathBuf], options: &Options, output: &mut Output) -> Result<Exit, Failure> {
    let fixes = plan_fixes(paths, options)?;
    output.warn_all(&fixes.notes);
    output.data(&fixes.files.iter().map(FixedFile::diff).collect::<String>());
    if fixes.files.is_empty() {
        output.say("nothing to mend");
        return Ok(Exit::Fine);
    }
    Ok(Exit::Findings)
}

fn print(report: &Report, format: Format, output: &mut Output) {
    let text = match format {
        Format::Text if output.is_quiet && report.findings.is_empty() => String::new(),
        Format::Text => render::text(report, output.paint()),
        Format::Json => render::json(report),
        Format::Sarif => render::sarif(report),
        Format::Github => render::github(report),
    };
    output.data(&text);
}

fn options(args: &Args) -> Result<Options, Failure> {
    let settings = CheckSettings {
        file: args.settings.clone(),
        folder: here()?,
        profiles: args.profile.clone(),
        select: args.select.clone(),
        ignore: args.ignore.clone(),
        strict_schema: args.strict_schema,
        seed_regex: args.seed_regex,
    };
    Ok(settings.resolve()?)
}
