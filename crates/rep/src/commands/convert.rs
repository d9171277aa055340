//! `rep convert`: from Markdown to a structured skill, and back.

mod judge;
mod llm;

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use rep_library::find::{self, Found};
use rep_library::read;
use rep_model::{Skill, uasp};
use rep_uasp::convert::{Finished, finish};
use rep_uasp::{Document, Origin, docs, extract};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::library::LibraryArgs;
use crate::output::Output;
use crate::write;
use judge::{Judged, judge};
use llm::{Extracted, Help};

/// Convert a skill between Markdown and UASP
#[derive(clap::Args)]
#[command(
    after_help = "From Markdown, what a skill says is read out of it by rule and written as a complete `*.uasp.yaml`: typed, hashed, checked. Back, all twelve sections are documented, the specification's headings in the specification's order; the same skill gives the same bytes.\n\nExamples:\n  rep convert my-skill/SKILL.md --to uasp\n  rep convert my-skill --to uasp --out my-skill/my-skill.uasp.yaml\n  rep convert agent-browser.uasp.yaml --to markdown --out agent-browser.md"
)]
pub(crate) struct Args {
    /// A SKILL.md, a `*.uasp.yaml`, or the folder or name of a skill that has one
    file: String,
    /// The form to make
    #[arg(long, value_enum)]
    to: Form,
    /// What reads the Markdown
    #[arg(long, value_enum, default_value_t = Engine::Rules)]
    engine: Engine,
    #[command(flatten)]
    model: llm::ModelArgs,
    /// Write to this file instead of stdout
    #[arg(long, value_name = "F")]
    out: Option<PathBuf>,
    /// Replace a file that is there already
    #[arg(long)]
    force: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    library: LibraryArgs,
}

/// The forms a skill can be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// A structured skill
    Uasp,
    /// Documentation for people
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

/// What a conversion to UASP came to.
struct Conversion {
    finished: Finished,
    judged: Judged,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let result = match args.to {
        Form::Uasp => to_uasp(args, output),
        Form::Markdown => to_markdown(args, output),
    };
    result.map_err(|failure| failure.json(args.json))
}

fn to_uasp(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let skill = skill(&args.file, args, output)?;
    if skill.manifest.is_none() {
        let failure = Failure::unable("NOT_MARKDOWN", format!("`{}` has no SKILL.md to convert", args.file));
        return Err(failure.hint("a `*.uasp.yaml` is structured already; `--to markdown` makes documentation of it"));
    }
    let help = if args.engine == Engine::Hybrid { Help::Rules } else { Help::None };
    if args.model.prompt_only {
        output.text(&llm::question(&skill, help));
        return Ok(Exit::Fine);
    }
    let (document, told) = if args.engine == Engine::Rules && !args.model.is_wanted() {
        (extract::extract(&skill), None)
    } else {
        let errors = |value: &Value| convert_value(&skill, value).judged.errors_told();
        match llm::extract(&skill, &args.model, help, &errors, output)? {
            Extracted::Usable { document, told } => (document, told),
            Extracted::Unusable { reasons, told } => return unusable(args, &reasons, told, output),
        }
    };
    let conversion = convert(&skill, &document);
    if args.json {
        let mut result = result(&conversion);
        if let Some(told) = told {
            result["model"] = told;
        }
        output.json(&result);
    } else if !conversion.judged.is_valid() {
        let failure = Failure::findings("INVALID", format!("`{}` gives no valid UASP file", args.file));
        return Err(failure.hint(conversion.judged.error()));
    } else if args.out.is_none() {
        output.text(&conversion.finished.yaml);
    }
    if let Some(path) = args.out.as_deref().filter(|_| conversion.judged.is_valid()) {
        write::file(path, conversion.finished.yaml.as_bytes(), args.force)?;
        output.say(&format!("wrote `{}`", path.display()));
    }
    Ok(if conversion.judged.is_valid() { Exit::Fine } else { Exit::Findings })
}

/// Tells of an answer that cannot be used.
fn unusable(args: &Args, reasons: &[String], told: Option<Value>, output: &mut Output) -> Result<Exit, Failure> {
    let error = reasons.join("\n");
    if !args.json {
        let failure =
            Failure::findings("INVALID_ANSWER", format!("the model's answer for `{}` cannot be used", args.file));
        return Err(failure.hint(error));
    }
    let mut result = json!({ "valid": false, "error": error });
    if let Some(told) = told {
        result["model"] = told;
    }
    output.json(&result);
    Ok(Exit::Findings)
}

/// Finishes and judges what an engine made of a skill.
fn convert(skill: &Skill, document: &Document) -> Conversion {
    convert_value(skill, &document.value)
}

fn convert_value(skill: &Skill, document: &Value) -> Conversion {
    let finished = finish(document);
    let name = finished.value["meta"]["name"].as_str().unwrap_or("skill").to_owned();
    let judged = judge(&finished.yaml, &name, Some(&skill.tree));
    Conversion { finished, judged }
}

/// The result object of UASP §7.1.5.
fn result(conversion: &Conversion) -> Value {
    let judged = &conversion.judged;
    if !judged.is_valid() {
        return json!({ "valid": false, "error": judged.error(), "errors": judged.errors_json() });
    }
    json!({ "valid": true, "skill": conversion.finished.value, "warnings": judged.warnings_json() })
}

fn to_markdown(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let skill = skill(&args.file, args, output)?;
    let document = Document::of(&skill).filter(|document| document.origin == Origin::Authored);
    let Some(document) = document else {
        let failure = Failure::unable("NOT_STRUCTURED", format!("`{}` has no UASP file", args.file));
        return Err(failure.hint("documentation is made from a `*.uasp.yaml`; a SKILL.md is Markdown already"));
    };
    let text = docs::markdown(&document.value);
    match &args.out {
        None => output.text(&text),
        Some(path) => {
            write::file(path, text.as_bytes(), args.force)?;
            output.say(&format!("wrote `{}`", path.display()));
        }
    }
    Ok(Exit::Fine)
}

/// The skill a path or a name stands for.
fn skill(named: &str, args: &Args, output: &mut Output) -> Result<Skill, Failure> {
    let path = Path::new(named);
    let is_path = named.contains('/') || path.is_file() || named == "." || named == "..";
    if is_path && args.library.places.paths.is_empty() {
        return at(path);
    }
    let (catalog, index) = args.library.one(named, output)?;
    Ok(read::skill(&catalog.entries[index])?)
}

/// The one skill at a path.
fn at(path: &Path) -> Result<Skill, Failure> {
    let mut found: Vec<Found> = Vec::new();
    find::skills(path, |one| found.push(one))?;
    let shown = find::shown(path);
    match found.as_slice() {
        [only] => read_found(only),
        [] => Err(Failure::unable("NOT_A_SKILL", format!("`{shown}` holds no skill"))
            .hint(format!("name a SKILL.md, a `*{}`, or a folder that holds one", uasp::SUFFIX))),
        many => {
            Err(Failure::unable("AMBIGUOUS", format!("`{shown}` holds {} skills", many.len())).hint("name one of them"))
        }
    }
}

/// Reads a skill that was found.
fn read_found(found: &Found) -> Result<Skill, Failure> {
    let tree = if found.is_lone_file {
        read::lone_file(&found.path, &found.shown)
    } else {
        read::folder(&found.path, &found.shown, read::Extent::Folder)?
    };
    Ok(Skill::parse(tree).0)
}
