//! `rep scan`: shows what skills do, and what is dangerous about it.

use std::path::PathBuf;

use clap::ValueEnum;
use rep_check::CheckReport;
use rep_check::render::{self, ColourMode, ReportFormat};
use rep_library::SkillProgress;
use rep_library::check::CheckSettings;
use rep_library::documents::scan_document;
use rep_library::scan::{ScanVerdict, ScannedSkill, scan_groups};
use rep_scan::{Capabilities, CapabilityKind};

use crate::exit::{Exit, Failure};
use crate::library::working_folder;
use crate::output::Output;

/// Show what skills do, and what is dangerous about it
///
/// Reads scripts, code in Markdown, hooks and archives without running anything. The verdict is `block` if there is an
/// error, `review` if there is a warning, and else `clear`. Allow comments in a skill do not count. Exits with 1 if a
/// skill is blocked.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep scan                         # the current directory
  rep scan skills/csv-profile
  rep scan skills --json
  rep scan skills --format sarif > rep.sarif")]
pub(crate) struct Args {
    /// Skill directories, or directories of skills
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<PathBuf>,
    /// Print one JSON document
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// The output format
    #[arg(long, value_enum, default_value_t = ScanReportFormat::Text)]
    format: ScanReportFormat,
    /// Read settings from this file instead of the rep.yaml of each path and above it
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
}

/// The report formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ScanReportFormat {
    /// For people
    Text,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// GitHub workflow annotations
    Github,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    scan(args, output).map_err(|failure| failure.json(args.json))
}

fn scan(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let settings = CheckSettings { file: args.settings.clone(), folder: working_folder()?, ..CheckSettings::default() };
    let groups = settings.resolve_each(&args.paths)?;
    let bar = output.progress_bar("scanning", 0);
    let scanned = scan_groups(&groups, &|progress| match progress {
        SkillProgress::Found => bar.inc_length(1),
        SkillProgress::Done => bar.inc(1),
    })?;
    bar.finish_and_clear();
    output.warn_all(&scanned.notes);
    let is_blocked = scanned.skills.iter().any(|skill| skill.verdict() == ScanVerdict::Block);
    if args.json {
        output.write_json(&scan_document(&scanned.skills));
    } else if args.format == ScanReportFormat::Text {
        let text: String = scanned.skills.iter().map(|skill| render_skill(skill, output)).collect();
        output.write_data(&text);
        output.print_message(&summarize(&scanned.skills));
    } else {
        let mut report = CheckReport { skills: scanned.skills.len(), ..CheckReport::default() };
        report.findings.extend(scanned.skills.into_iter().flat_map(|skill| skill.findings));
        report.sort_findings();
        output.write_data(&match args.format {
            ScanReportFormat::Sarif => render::render_report(&report, ReportFormat::Sarif, ColourMode::Plain),
            ScanReportFormat::Text | ScanReportFormat::Github => {
                render::render_report(&report, ReportFormat::Github, ColourMode::Plain)
            }
        });
    }
    Ok(if is_blocked { Exit::Findings } else { Exit::Fine })
}

fn summarize(skills: &[ScannedSkill]) -> String {
    let count = |verdict| skills.iter().filter(|skill| skill.verdict() == verdict).count();
    format!(
        "{} blocked, {} to review, {} clear",
        count(ScanVerdict::Block),
        count(ScanVerdict::Review),
        count(ScanVerdict::Clear)
    )
}

/// The maximum number of arguments of one kind in the text.
const SHOWN_MAX: usize = 8;

fn render_skill(skill: &ScannedSkill, output: &Output) -> String {
    let mut text = format!("{}: {}\n", render::escape_invisible(&skill.shown), skill.verdict().name());
    for line in describe(&skill.capabilities()) {
        text.push_str(&format!("  {}\n", render::escape_invisible(&line)));
    }
    let mut report = CheckReport { skills: 1, findings: skill.findings.clone() };
    report.sort_findings();
    if !report.findings.is_empty() {
        text.push_str(&render::render_report(&report, ReportFormat::Text, output.paint()));
    }
    text.push('\n');
    text
}

/// What a skill does, in plain words.
fn describe(capabilities: &Capabilities) -> Vec<String> {
    let line = |(kind, words): (CapabilityKind, &str)| {
        let all: Vec<&str> = capabilities.arguments(kind).collect();
        let shown: Vec<String> = all.iter().take(SHOWN_MAX).map(|argument| format!("`{argument}`")).collect();
        let more = if all.len() > SHOWN_MAX { format!(" and {} more", all.len() - SHOWN_MAX) } else { String::new() };
        (!all.is_empty()).then(|| format!("{words} {}{more}", shown.join(", ")))
    };
    let kinds = [
        (CapabilityKind::Read, "reads"),
        (CapabilityKind::Write, "writes"),
        (CapabilityKind::Connect, "connects to"),
        (CapabilityKind::Spawn, "starts"),
        (CapabilityKind::Env, "reads the variables"),
        (CapabilityKind::Secrets, "reads the secrets"),
    ];
    kinds.into_iter().filter_map(line).collect()
}
