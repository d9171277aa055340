//! `rep scan`: shows what skills do, and what is dangerous about it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::SystemTime;

use clap::ValueEnum;
use rep_audit::{AuditRunState, AuditedRun};
use rep_check::CheckReport;
use rep_check::render::{self, ColourMode, ReportFormat};
use rep_library::SkillProgress;
use rep_library::check::{CheckGroup, CheckSettings};
use rep_library::decisions::{SkillContents, TextRetention};
use rep_library::documents::scan_document;
use rep_library::scan::{DeclarationPlace, DeclarationPlan, ScanVerdict, ScannedSkill, plan_declarations, scan_groups};
use rep_runtime::permission_grants::{PermissionGrant, PermissionGrants};
use rep_runtime::{CallError, RecordFilter};
use rep_storage::atomic;
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::library::working_folder;
use crate::output::Output;
use crate::terminal;

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
  rep scan skills --format sarif > rep.sarif
  rep scan skills/csv-profile --declare
  rep scan skills/csv-profile --declare --write")]
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
    /// Print the smallest permissions that cover what each skill does, instead of the report
    #[arg(long, conflicts_with = "format")]
    declare: bool,
    /// Write the permissions: into a Universal skill, or into your own grants for this version of another skill
    ///
    /// Only adds what is missing. A blocked skill is refused. `rep policy SKILL` shows the result.
    #[arg(long, requires = "declare")]
    write: bool,
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
    if args.declare {
        return declare(args, &groups, output);
    }
    let bar = output.progress_bar("scanning", 0);
    let mut scanned = scan_groups(&groups, &|progress| match progress {
        SkillProgress::Found => bar.inc_length(1),
        SkillProgress::Done => bar.inc(1),
    })?;
    bar.finish_and_clear();
    output.warn_all(&scanned.notes);
    add_runs(&mut scanned.skills)?;
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

/// Adds what earlier runs of the same version did. Skills that never ran are not read again.
fn add_runs(skills: &mut [ScannedSkill]) -> Result<(), Failure> {
    let runs = terminal::open_stored_runtime().list_runs(&RecordFilter::default())?.runs;
    let mut by_digest: BTreeMap<&str, Vec<&AuditedRun>> = BTreeMap::new();
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for run in runs.iter().filter(|run| run.state != AuditRunState::Install) {
        names.extend(run.text_field("skill").rsplit(':').next());
        by_digest.entry(run.text_field("digest")).or_default().push(run);
    }
    for skill in skills.iter_mut().filter(|skill| names.contains(skill.name.as_str())) {
        let Some(folder) = &skill.folder else { continue };
        let digest = SkillContents::read(folder, TextRetention::DigestsOnly).digest();
        if let Some(of_skill) = by_digest.get(digest.as_str()) {
            let denials = of_skill.iter().flat_map(|run| run.denials()).collect();
            skill.add_runs(of_skill.len(), denials);
        }
    }
    Ok(())
}

/// Prints what skills would have to declare, and writes it if asked.
fn declare(args: &Args, groups: &[CheckGroup], output: &mut Output) -> Result<Exit, Failure> {
    let bar = output.progress_bar("scanning", 0);
    let (plans, notes) = plan_declarations(groups, &|progress| match progress {
        SkillProgress::Found => bar.inc_length(1),
        SkillProgress::Done => bar.inc(1),
    })?;
    bar.finish_and_clear();
    output.warn_all(&notes);
    let (mut documents, mut exit) = (Vec::new(), Exit::Fine);
    for plan in &plans {
        let written = args.write.then(|| write_declaration(plan)).transpose()?;
        if written.as_ref().is_some_and(|written| !written.is_done()) {
            exit = Exit::Findings;
        }
        if args.json {
            let mut document = plan.needed.to_json();
            document["name"] = plan.name.as_str().into();
            document["path"] = plan.shown.as_str().into();
            document["verdict"] = plan.verdict.name().into();
            document["written"] = written.as_ref().map_or(Value::Null, WrittenDeclaration::to_json);
            documents.push(document);
            continue;
        }
        output.write_data(&escape_lines(&format!("# {}\n{}", plan.shown, plan.needed.to_yaml())));
        for one in &plan.needed.impossible {
            output.print_message(&format!(
                "{}: `{}` ({}) cannot be declared: {}",
                plan.name,
                one.argument,
                one.kind.name(),
                one.reason
            ));
        }
        if let Some(written) = written {
            output.print_message(&format!("{}: {}", plan.name, written.describe()));
        }
    }
    if args.json {
        output.write_json(&json!({ "skills": documents }));
    }
    Ok(exit)
}

fn escape_lines(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", render::escape_invisible(line))).collect()
}

/// What became of a declaration.
enum WrittenDeclaration {
    /// It is in the manifest.
    Manifest(PathBuf),
    /// It is in the user's grants.
    Grants,
    /// Nothing was missing.
    Unchanged,
    /// It was not written, for a reason.
    Refused(String),
}

impl WrittenDeclaration {
    const fn is_done(&self) -> bool {
        !matches!(self, Self::Refused(_))
    }

    fn describe(&self) -> String {
        match self {
            Self::Manifest(file) => format!("declared in `{}`", file.display()),
            Self::Grants => {
                "granted to this version of the skill; `rep policy` shows it, and `--forget` revokes it".to_owned()
            }
            Self::Unchanged => "nothing to declare".to_owned(),
            Self::Refused(reason) => format!("not written: {reason}"),
        }
    }

    fn to_json(&self) -> Value {
        match self {
            Self::Manifest(file) => json!({ "to": "manifest", "file": file.to_string_lossy() }),
            Self::Grants => json!({ "to": "grants" }),
            Self::Unchanged => Value::Null,
            Self::Refused(reason) => json!({ "error": reason }),
        }
    }
}

fn write_declaration(plan: &DeclarationPlan) -> Result<WrittenDeclaration, Failure> {
    if plan.verdict == ScanVerdict::Block {
        let reason = "the scan blocks the skill; remove what it reports first".to_owned();
        return Ok(WrittenDeclaration::Refused(reason));
    }
    Ok(match &plan.place {
        DeclarationPlace::Nowhere(reason) => WrittenDeclaration::Refused(reason.clone()),
        DeclarationPlace::Manifest { after: None, .. } => WrittenDeclaration::Unchanged,
        DeclarationPlace::Manifest { file, before, after: Some(after) } => {
            atomic::update_file(file, before, after.as_bytes())?;
            WrittenDeclaration::Manifest(file.clone())
        }
        DeclarationPlace::Grants { .. } if plan.needed.is_empty() => WrittenDeclaration::Unchanged,
        DeclarationPlace::Grants { digest } => {
            let grant =
                PermissionGrant { permissions: plan.needed.permissions.clone(), secrets: plan.needed.secrets.clone() };
            let file = terminal::open_stored_runtime().grants_file()?;
            PermissionGrants::store(&file, &plan.name, digest, &grant, SystemTime::now()).map_err(CallError::from)?;
            WrittenDeclaration::Grants
        }
    })
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

fn render_skill(skill: &ScannedSkill, output: &Output) -> String {
    let mut text = format!("{}: {}\n", render::escape_invisible(&skill.shown), skill.verdict().name());
    for line in skill.describe() {
        text.push_str(&format!("  {}\n", render::escape_invisible(&line)));
    }
    if let Some(runs) = &skill.runs {
        text.push_str(&format!("  ran {} {}\n", runs.count, if runs.count == 1 { "time" } else { "times" }));
        for denied in &runs.denied {
            text.push_str(&format!("  {}\n", render::escape_invisible(&denied.describe())));
        }
    }
    let mut report = CheckReport { skills: 1, findings: skill.findings.clone() };
    report.sort_findings();
    if !report.findings.is_empty() {
        text.push_str(&render::render_report(&report, ReportFormat::Text, output.paint()));
    }
    text.push('\n');
    text
}
