//! `rep check`: judges skills, mends what can be mended safely.

mod fix;
mod points;
mod run;
mod watch;

use std::path::PathBuf;

use clap::ValueEnum;
use rep_check::{Options, Profile, Report, nearest, render, rule};

use crate::exit::{Exit, Failure};
use crate::output::Output;
use rep_library::settings;

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
        return fix::diff(&args.paths, &options, output);
    }
    if args.watch {
        return watch::run(args, &options, output);
    }
    // A report has been printed by then, so a failure to write is told on stderr alone.
    once(args, &options, output)
}

/// Checks once, mending first where that was asked for, and prints the report.
fn once(args: &Args, options: &Options, output: &mut Output) -> Result<Exit, Failure> {
    let mut failed = Vec::new();
    if args.fix {
        let (mended, failures) = fix::fix(&args.paths, options, output)?;
        failed = failures;
        if mended > 0 {
            output.say(&format!("mended {mended} {}", if mended == 1 { "file" } else { "files" }));
        }
    }
    let report = run::check(&args.paths, options, output)?;
    print(&report, args.format, output);
    let last = failed.pop();
    for failure in &failed {
        output.failure(failure);
    }
    if let Some(failure) = last {
        return Err(failure);
    }
    Ok(if report.summary().errors > 0 { Exit::Findings } else { Exit::Fine })
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
    let here = std::env::current_dir()
        .map_err(|error| Failure::unable("UNREADABLE", format!("no working folder: {error}")))?;
    let mut options = settings::load(args.settings.as_deref(), &here)?;
    if !args.profile.is_empty() {
        options.profiles.clone_from(&args.profile);
    }
    for name in args.select.iter().chain(&args.ignore) {
        if rule(name).is_none() {
            let failure = Failure::unable("UNKNOWN_RULE", format!("there is no rule `{name}`"));
            return Err(match nearest(name) {
                Some(near) => failure.hint(format!("did you mean `{near}`?")),
                None => failure.hint("`rep explain` lists the rules"),
            });
        }
    }
    options.select.clone_from(&args.select);
    options.ignore.extend(args.ignore.iter().cloned());
    options.strict_schema |= args.strict_schema;
    options.seed_regex = args.seed_regex;
    Ok(options)
}
