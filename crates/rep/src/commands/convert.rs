//! `rep convert`: from Markdown to a structured skill, and back.

mod batch;
mod engine;
mod llm;
mod step;
mod subject;

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use rep_convert::convert::{self, Report, model_prompt, page};
use rep_convert::docs;
use rep_library::convert::{ConvertError, SkillSource, Target};
use rep_library::find::Found;
use rep_model::Origin;
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::library::LibraryArgs;
use crate::output::Output;
use crate::write;
use engine::convert_one;
use subject::subjects;

/// Convert skills between Markdown and UASP
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(clap::Args)]
#[command(
    after_help = "To UASP, what a SKILL.md says is read out of it and written as a complete `*.uasp.yaml`: typed, hashed, checked, every value with its source line in the report. To Markdown, all twelve sections become a SKILL.md that converts back to the same facts. The same skill gives the same bytes.\n\nA converted file says in its first line which Markdown it was made from. `--check` fails where the Markdown says something else by now; what was improved by hand is left in peace.\n\nExamples:\n  rep convert my-skill --to uasp\n  rep convert my-skill --to uasp --beside --report report.html\n  rep convert --all --path skills --to uasp --out-dir structured\n  rep convert --check skills/*                          for CI: is every UASP file in step?\n  rep convert --check my-skill --accept                 it is, I have looked\n  REP_LLM_URL=http://127.0.0.1:8080/v1 rep convert my-skill --to uasp --engine llm --model qwen2.5-coder\n  rep convert my-skill --to uasp --prompt-only | some-model | rep convert my-skill --to uasp --answer -\n  rep convert agent-browser.uasp.yaml --to markdown --out agent-browser/SKILL.md"
)]
pub(crate) struct Args {
    /// SKILL.md or `*.uasp.yaml` files, folders or names of skills
    #[arg(value_name = "FILE", required_unless_present = "is_all")]
    files: Vec<String>,
    /// The form to make
    #[arg(long, value_enum, required_unless_present = "is_check")]
    to: Option<Form>,
    /// What reads the Markdown
    #[arg(long, value_enum, default_value_t = Engine::Rules)]
    engine: Engine,
    /// Write to this file instead of stdout
    #[arg(long, value_name = "F")]
    out: Option<PathBuf>,
    /// Write `NAME.uasp.yaml` files into this folder, and leave alone what is in step
    #[arg(long, value_name = "D", conflicts_with = "out")]
    out_dir: Option<PathBuf>,
    /// Write each file into its skill's own folder
    #[arg(long = "beside", conflicts_with_all = ["out", "out_dir"])]
    is_beside: bool,
    /// Replace files that are there already
    #[arg(long = "force")]
    is_forced: bool,
    /// Say where every value comes from in this file: `.json`, or `.html` for people
    #[arg(long, value_name = "F")]
    report: Option<PathBuf>,
    /// Every skill of the library, or below --path
    #[arg(long = "all")]
    is_all: bool,
    /// Write nothing, and exit 1 where a UASP file is out of step with its Markdown
    #[arg(long = "check", conflicts_with_all = ["to", "report", "is_forced", "is_beside"])]
    is_check: bool,
    /// With --check: note in the files that they are in step with their Markdown as it is
    #[arg(long = "accept", requires = "is_check")]
    is_accepted: bool,
    /// Print one JSON document
    #[arg(long = "json")]
    is_json: bool,
    #[command(flatten)]
    library: LibraryArgs,
    // Last, because its heading holds for all that follows.
    #[command(flatten)]
    model: llm::ModelArgs,
}

/// The forms a skill can be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// A structured skill
    Uasp,
    /// A SKILL.md
    Markdown,
}

/// What can read Markdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Engine {
    /// Rules: no model, the same result every time
    Rules,
    /// A language model
    Llm,
    /// A language model that corrects what the rules found
    Hybrid,
}

impl Args {
    /// The engine that is asked for; some options speak of a model by themselves.
    fn engine(&self) -> Engine {
        if self.engine == Engine::Rules && self.model.is_wanted() { Engine::Llm } else { self.engine }
    }

    /// Where the UASP files of skills are.
    fn target(&self) -> Target {
        match (&self.out, &self.out_dir) {
            (Some(file), _) => Target::File(file.clone()),
            (None, Some(folder)) => Target::Folder(folder.clone()),
            (None, None) => Target::Beside,
        }
    }
}

impl From<Engine> for convert::Engine {
    fn from(engine: Engine) -> Self {
        match engine {
            Engine::Rules => convert::Engine::Rules,
            Engine::Llm => convert::Engine::Llm,
            Engine::Hybrid => convert::Engine::Hybrid,
        }
    }
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    choose(args, output).map_err(|failure| failure.json(args.is_json))
}

fn choose(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let subjects = subjects(args, output)?;
    if args.is_check {
        return Ok(step::check(args, &subjects, output));
    }
    let is_many = subjects.is_sweep || subjects.found.len() > 1 || args.out_dir.is_some() || args.is_beside;
    match (args.to, subjects.found.as_slice()) {
        (Some(Form::Markdown), [one]) => to_markdown(args, one, output),
        (Some(Form::Markdown), many) => {
            let failure = Failure::unable("AMBIGUOUS", format!("{} skills are meant, and one is written", many.len()));
            Err(failure.hint("name one of them"))
        }
        (_, [one]) if !is_many => to_uasp(args, one, output),
        (_, []) => Err(Failure::unable("NOT_A_SKILL", "there is no skill to convert")
            .hint("name a SKILL.md, or the folder above many with --path")),
        (_, many) => batch::convert(args, many, subjects.is_sweep, output),
    }
}

fn to_uasp(args: &Args, found: &Found, output: &mut Output) -> Result<Exit, Failure> {
    if args.model.prompt_only {
        let source = SkillSource::read_markdown(found)?;
        output.text(&model_prompt(&source.skill, args.engine().into()));
        return Ok(Exit::Fine);
    }
    let converted = match convert_one(found, args, output) {
        Ok(converted) => converted,
        Err(error) => match error.answer().filter(|_| args.is_json) {
            None => return Err(error.into()),
            Some(answer) => {
                let engine = convert::Engine::from(args.engine()).as_str();
                output.json(&json!({ "valid": false, "error": answer.reasons.join("\n"), "engine": engine }));
                return Ok(Exit::Findings);
            }
        },
    };
    let report = &converted.conversion.report;
    if let Some(path) = &args.report {
        write_report(path, &[report], args.is_forced)?;
    }
    if let Some(path) = args.out.as_deref().filter(|_| report.is_valid()) {
        write::file(path, converted.conversion.text.as_bytes(), args.is_forced)?;
        output.say(&format!("wrote `{}`", path.display()));
    }
    if args.is_json {
        let mut result = report.json();
        if let Some(model) = &converted.model {
            result["model"] = model.clone();
        }
        output.json(&result);
    }
    if !report.is_valid() && args.is_json {
        return Ok(Exit::Findings);
    }
    if !report.is_valid() {
        return Err(ConvertError::Invalid { shown: found.shown.clone(), errors: report.errors.clone() }.into());
    }
    if args.out.is_none() && !args.is_json {
        output.text(&converted.conversion.text);
    }
    tell(report, output);
    Ok(Exit::Fine)
}

/// Says what came of it: the specification's checklist, and what is left for a person.
fn tell(report: &Report, output: &mut Output) {
    let mut lines = vec![format!("{} values, {} to review", report.items.len(), report.doubts())];
    lines.extend(report.checklist.iter().map(|point| {
        let mark = point.state.mark();
        format!("{mark} {}: {}", point.title, point.note)
    }));
    output.say(&lines.join("\n"));
    for warning in &report.warnings {
        output.warn(&warning.line());
    }
}

/// Writes a report in the form its file's name asks for.
fn write_report(path: &Path, reports: &[&Report], is_forced: bool) -> Result<(), Failure> {
    let text = match (path.extension().and_then(|end| end.to_str()), reports) {
        (Some("json"), [one]) => format!("{:#}\n", one.json()),
        (Some("json"), many) => {
            format!("{:#}\n", serde_json::Value::Array(many.iter().map(|report| report.json()).collect()))
        }
        (Some("html"), [one]) => page(one),
        (Some("html"), many) => {
            let failure = Failure::unable("USAGE", format!("a page shows one skill, and these are {}", many.len()));
            return Err(failure.hint("give the report the ending .json, or convert one skill"));
        }
        _ => {
            let failure = Failure::unable("USAGE", format!("`{}` is no name for a report", path.display()));
            return Err(failure.hint("give it the ending .json or .html"));
        }
    };
    write::file(path, text.as_bytes(), is_forced)
}

fn to_markdown(args: &Args, found: &Found, output: &mut Output) -> Result<Exit, Failure> {
    let source = SkillSource::read(found)?;
    let document = rep_convert::document_of(&source.skill).filter(|document| document.origin == Origin::Authored);
    let Some(document) = document else {
        let failure = Failure::unable("NOT_STRUCTURED", format!("`{}` has no UASP file", found.shown));
        return Err(failure.hint("a SKILL.md is made from a `*.uasp.yaml`; `--to uasp` makes that one"));
    };
    let text = docs::skill_md(&document);
    if args.is_json {
        output.json(&json!({ "markdown": text }));
    }
    match &args.out {
        None if !args.is_json => output.text(&text),
        None => {}
        Some(path) => {
            write::file(path, text.as_bytes(), args.is_forced)?;
            output.say(&format!("wrote `{}`", path.display()));
        }
    }
    Ok(Exit::Fine)
}
