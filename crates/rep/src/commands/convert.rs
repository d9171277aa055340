//! `rep convert`: converts Markdown to a structured skill, and back.

mod batch;
mod engine;
mod explain;
mod llm;
mod subject;
mod sync_check;

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use rep_convert::convert::{self, ConversionReport, DoubtfulHandling, build_model_prompt, render_html_report};
use rep_convert::docs;
use rep_library::convert::{ConversionTarget, ConvertError, SkillSource};
use rep_library::discovery::SkillLocation;
use rep_model::DocumentOrigin;
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::library::LibraryArgs;
use crate::output::Output;
use crate::write;
use engine::convert_skill;
use subject::find_subjects;

/// Convert skills between Markdown and UASP
///
/// To UASP, facts are extracted from SKILL.md by rules, or by a model with `--engine`. To Markdown, the result
/// converts back to the same facts. `--check` reports UASP files that no longer match their Markdown; manual edits
/// are preserved.
#[expect(clippy::struct_excessive_bools, reason = "each is a separate flag")]
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep convert skills/changelog-notes --to uasp
  rep convert skills/changelog-notes --to uasp --beside --report report.html
  rep convert skills/changelog-notes --explain      # the rule behind each fact
  rep convert --check skills/changelog-notes # for CI
  rep convert --all --path skills --to uasp --out-dir structured
  rep convert skills/git-worktrees --to markdown --out SKILL.md
  rep convert skills/changelog-notes --to uasp --prompt-only > prompt.txt")]
pub(crate) struct Args {
    /// SKILL.md or `*.uasp.yaml` files, skill directories or names
    #[arg(value_name = "FILE", required_unless_present = "is_all")]
    files: Vec<String>,
    /// The target format
    #[arg(long, value_enum, value_name = "FORMAT", required_unless_present_any = ["is_check", "is_explained"])]
    to: Option<ConvertFormatChoice>,
    /// How to extract facts from Markdown
    #[arg(long, value_enum, default_value_t = EngineChoice::Rules)]
    engine: EngineChoice,
    /// Write to this file instead of stdout (`-` for stdout)
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write NAME.uasp.yaml files to this directory; skips files that are up to date
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    out_dir: Option<PathBuf>,
    /// Write each file to its skill's directory
    #[arg(long = "beside", conflicts_with_all = ["out", "out_dir"])]
    is_beside: bool,
    /// Replace existing files
    #[arg(long = "force")]
    is_forced: bool,
    /// Write the source of every value to this file: `.json`, or `.html` for people
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Show the rule behind each value
    ///
    /// Printed to stdout, or to stderr if the converted file goes to stdout. Without `--to`, nothing is converted.
    #[arg(long = "explain", conflicts_with_all = ["is_check", "prompt_only"])]
    is_explained: bool,
    /// Include facts from low-confidence rules, marked for review
    #[arg(long = "include-doubtful", conflicts_with = "is_check")]
    with_doubtful: bool,
    /// Convert all skills of the library, or below `--path`
    #[arg(long = "all")]
    is_all: bool,
    /// Write nothing; exit with 1 if a UASP file does not match its Markdown
    #[arg(long = "check", conflicts_with_all = ["to", "report", "is_forced", "is_beside"])]
    is_check: bool,
    /// With `--check`, record that the files match their Markdown as it is
    #[arg(long = "accept", requires = "is_check")]
    is_accepted: bool,
    /// Print one JSON document
    #[arg(long = "json")]
    is_json: bool,
    #[command(flatten)]
    library: LibraryArgs,
    // Last, because its heading applies to all options after it.
    #[command(flatten)]
    model: llm::ModelArgs,
}

/// The target formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ConvertFormatChoice {
    /// A structured `*.uasp.yaml` file
    Uasp,
    /// A SKILL.md file
    Markdown,
}

/// The engines that extract facts from Markdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum EngineChoice {
    /// Rules; no model, and the same result every time
    Rules,
    /// A language model
    Llm,
    /// A language model that corrects the result of the rules
    Hybrid,
}

impl Args {
    /// Returns the chosen engine. Some options imply a model.
    fn chosen_engine(&self) -> EngineChoice {
        if self.engine == EngineChoice::Rules && self.model.wants_model() { EngineChoice::Llm } else { self.engine }
    }

    /// Returns how low-confidence facts are handled.
    fn doubtful_handling(&self) -> DoubtfulHandling {
        if self.with_doubtful { DoubtfulHandling::Include } else { DoubtfulHandling::LeaveOut }
    }

    /// Returns the output file, unless the output goes to stdout.
    fn out_file(&self) -> Option<&Path> {
        self.out.as_deref().filter(|path| *path != Path::new("-"))
    }

    /// Returns where the UASP files of skills are.
    fn conversion_target(&self) -> ConversionTarget {
        match (self.out_file(), &self.out_dir) {
            (Some(file), _) => ConversionTarget::File(file.to_owned()),
            (None, Some(folder)) => ConversionTarget::Folder(folder.clone()),
            (None, None) => ConversionTarget::Beside,
        }
    }
}

impl From<EngineChoice> for convert::ConversionEngine {
    fn from(engine: EngineChoice) -> Self {
        match engine {
            EngineChoice::Rules => convert::ConversionEngine::Rules,
            EngineChoice::Llm => convert::ConversionEngine::Llm,
            EngineChoice::Hybrid => convert::ConversionEngine::Hybrid,
        }
    }
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    run_conversion(args, output).map_err(|failure| failure.json(args.is_json))
}

fn run_conversion(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let subjects = find_subjects(args, output)?;
    if args.is_check {
        return Ok(sync_check::check_sync(args, &subjects, output));
    }
    if args.with_doubtful && args.chosen_engine() != EngineChoice::Rules {
        let failure = Failure::unable("USAGE", "--include-doubtful applies to rules, not to a model");
        return Err(failure.hint("omit the option; the model sees low-confidence facts anyway and decides"));
    }
    if args.to.is_none() {
        return explain::explain_skills(args, &subjects, output);
    }
    let is_many = subjects.is_sweep || subjects.found.len() > 1 || args.out_dir.is_some() || args.is_beside;
    match (args.to, subjects.found.as_slice()) {
        (Some(ConvertFormatChoice::Markdown), [one]) => convert_to_markdown(args, one, output),
        (Some(ConvertFormatChoice::Markdown), many) => {
            let failure =
                Failure::unable("AMBIGUOUS", format!("{} skills match, but the output is one file", many.len()));
            Err(failure.hint("name one of them"))
        }
        (_, [one]) if !is_many => convert_to_uasp(args, one, output),
        (_, []) => Err(Failure::unable("NOT_A_SKILL", "no skill to convert")
            .hint("pass a SKILL.md, or a directory of skills with --path")),
        (_, many) => batch::convert_batch(args, many, subjects.is_sweep, output),
    }
}

fn convert_to_uasp(args: &Args, found: &SkillLocation, output: &mut Output) -> Result<Exit, Failure> {
    if args.model.prompt_only {
        let source = SkillSource::read_markdown(found)?;
        output.write_text(&build_model_prompt(&source.skill, args.chosen_engine().into()));
        return Ok(Exit::Fine);
    }
    let converted = match convert_skill(found, args, output) {
        Ok(converted) => converted,
        Err(error) => match error.answer_error().filter(|_| args.is_json) {
            None => return Err(error.into()),
            Some(answer) => {
                let engine = convert::ConversionEngine::from(args.chosen_engine()).as_str();
                output.write_json(&json!({ "valid": false, "error": answer.reasons.join("\n"), "engine": engine }));
                return Ok(Exit::Findings);
            }
        },
    };
    let report = &converted.conversion.report;
    if let Some(path) = &args.report {
        write_report(path, &[report], args.is_forced)?;
    }
    if let Some(path) = args.out_file().filter(|_| report.is_valid()) {
        write::write_result(path, converted.conversion.text.as_bytes(), args.is_forced)?;
        output.print_message(&format!("wrote `{}`", path.display()));
    }
    if args.is_json {
        let mut result = if args.is_explained { report.to_explained_json() } else { report.to_json() };
        if let Some(model) = &converted.model {
            result["model"] = model.clone();
        }
        output.write_json(&result);
    }
    if !report.is_valid() && args.is_json {
        return Ok(Exit::Findings);
    }
    if !report.is_valid() {
        return Err(ConvertError::Invalid { shown: found.shown.clone(), errors: report.errors.clone() }.into());
    }
    if args.out_file().is_none() && !args.is_json {
        output.write_text(&converted.conversion.text);
    }
    if args.is_explained && !args.is_json {
        let table = explain::render_table(report);
        match args.out_file() {
            Some(_) => output.write_text(&table),
            None => output.print_always(table.trim_end()),
        }
    }
    report_conversion(report, output);
    Ok(Exit::Fine)
}

/// Reports the result: the specification's checklist, and what a person must review.
fn report_conversion(report: &ConversionReport, output: &mut Output) {
    let mut lines = vec![format!("{} values, {} to review", report.items.len(), report.doubt_count())];
    lines.extend(report.checklist.iter().map(|point| {
        let mark = point.state.mark();
        format!("{mark} {}: {}", point.title, point.note)
    }));
    lines.extend(report.left_out_notice());
    output.print_message(&lines.join("\n"));
    for warning in &report.warnings {
        output.warn(&warning.to_line());
    }
}

/// Writes a report in the format that its file extension selects.
fn write_report(path: &Path, reports: &[&ConversionReport], is_forced: bool) -> Result<(), Failure> {
    let text = match (path.extension().and_then(|end| end.to_str()), reports) {
        (Some("json"), [one]) => format!("{:#}\n", one.to_json()),
        (Some("json"), many) => {
            format!("{:#}\n", serde_json::Value::Array(many.iter().map(|report| report.to_json()).collect()))
        }
        (Some("html"), [one]) => render_html_report(one),
        (Some("html"), many) => {
            let failure =
                Failure::unable("USAGE", format!("an HTML report shows one skill, but {} are converted", many.len()));
            return Err(failure.hint("use the extension .json, or convert one skill"));
        }
        _ => {
            let failure = Failure::unable("USAGE", format!("`{}` has no supported report extension", path.display()));
            return Err(failure.hint("use the extension .json or .html"));
        }
    };
    write::write_result(path, text.as_bytes(), is_forced)
}

fn convert_to_markdown(args: &Args, found: &SkillLocation, output: &mut Output) -> Result<Exit, Failure> {
    if args.is_explained || args.with_doubtful {
        let failure =
            Failure::unable("USAGE", "--explain and --include-doubtful apply only to conversions from Markdown");
        return Err(failure.hint("use them with `--to uasp`"));
    }
    let source = SkillSource::read(found)?;
    let document =
        rep_convert::document_from_skill(&source.skill).filter(|document| document.origin == DocumentOrigin::Authored);
    let Some(document) = document else {
        let failure = Failure::unable("NOT_STRUCTURED", format!("`{}` has no UASP file", found.shown));
        return Err(failure.hint("create a `*.uasp.yaml` file first with `--to uasp`"));
    };
    let text = docs::write_skill_md(&document);
    if args.is_json {
        output.write_json(&json!({ "markdown": text }));
    }
    match args.out_file() {
        None if !args.is_json => output.write_text(&text),
        None => {}
        Some(path) => {
            write::write_result(path, text.as_bytes(), args.is_forced)?;
            output.print_message(&format!("wrote `{}`", path.display()));
        }
    }
    Ok(Exit::Fine)
}
