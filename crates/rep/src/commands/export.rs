//! `rep export`: writes skills in a host's format.

use std::path::PathBuf;

use anstyle::AnsiColor;
use rep_hosts::hosts::{CollectionInfo, ToolNaming, UnfitToolPolicy};
use rep_hosts::{HostInput, Loss, LossSeverity, Projection, ProjectionOptions, ProjectionOutput};
use rep_package::atomic_dir::OnExistingFolder;
use rep_package::export::{Export, ExportSource, ExportTarget, find_host};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::library::{LibraryArgs, LibraryPlaces};
use crate::output::Output;

/// Export skills in a host's format
///
/// Writes a directory, or JSON for API hosts such as `mcp` and `openai`. The source is not changed. Anything the
/// format cannot express is reported on stderr. `rep hosts` lists the hosts.
#[expect(clippy::struct_excessive_bools, reason = "each is a separate flag")]
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep export --host claude-api csv-profile --out dist
  rep export --host openai csv-profile > tools.json
  rep export --host well-known glossary style-guide --out public
  rep export --host claude-marketplace --name team glossary --out market")]
pub(crate) struct Args {
    /// The skills: names, `package:name`, or paths
    #[arg(value_name = "SKILL", required = true)]
    skills: Vec<String>,
    /// The host
    #[arg(long, value_name = "HOST")]
    host: String,
    /// The directory to write to, or the file for JSON [default: `dist`, or stdout]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace an earlier export
    #[arg(long)]
    force: bool,
    /// Also write NAME.zip for each skill, for uploads
    #[arg(long)]
    zip: bool,
    /// Export tools that do not fit the host's strict schema subset, without `strict`
    #[arg(long)]
    loose: bool,
    /// The names of tools for `mcp`: `qualified` is `SKILL__TOOL`, `plain` the author's name, `auto` the author's name if no
    /// other tool has it
    #[arg(long, value_name = "STYLE", value_parser = ToolNaming::WORDS, default_value = "qualified")]
    tool_names: String,
    /// The name of the collection
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The description of the collection
    #[arg(long, value_name = "TEXT", requires = "name")]
    about: Option<String>,
    /// The owner of the collection
    #[arg(long, value_name = "OWNER", requires = "name")]
    owner: Option<String>,
    #[command(flatten)]
    places: LibraryPlaces,
    /// Print what was written and lost as one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    export_skills(args, output).map_err(|failure| failure.json(args.json))
}

fn export_skills(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let host = find_host(&args.host)?;
    if args.zip && host.takes != HostInput::Upload {
        let failure =
            Failure::unable("USAGE", format!("--zip is for uploads, but `{}` takes {}", host.id, host.takes.name()));
        return Err(failure.hint("use `rep pack SKILL` to pack a skill into one file"));
    }
    if args.tool_names != "qualified" && host.id != "mcp" {
        let message = format!("--tool-names is for `mcp`; `{}` has names of its own", host.id);
        return Err(Failure::unable("USAGE", message).hint("use `--host mcp`, or leave it out"));
    }
    let mut sources = Vec::new();
    for skill in &args.skills {
        let (catalog, index) = LibraryArgs::from_places(&args.places).find_skill(skill, output)?;
        sources.push(ExportSource::load(&catalog.entries[index], skill)?);
    }
    let wanted = ProjectionOptions {
        unfit: if args.loose { UnfitToolPolicy::Loosen } else { UnfitToolPolicy::Refuse },
        about: CollectionInfo {
            name: args.name.clone().unwrap_or_default(),
            description: args.about.clone().unwrap_or_default(),
            owner: args.owner.clone().unwrap_or_default(),
            version: String::new(),
        },
        tool_naming: ToolNaming::parse(&args.tool_names).unwrap_or_default(),
    };
    let export = Export::new(host, sources, &wanted)?;
    let projection = &export.projection;
    for loss in &projection.losses {
        report_loss(loss, output);
    }
    match &projection.form {
        ProjectionOutput::Document(document) => write_document(args, document, projection, output),
        ProjectionOutput::Folder(_) if projection.has_refusal() => {
            if args.json {
                output.write_json(&json!({ "host": host.id, "written": [], "losses": losses_to_json(projection) }));
            }
            output.print_message("nothing was written");
            Ok(Exit::Findings)
        }
        ProjectionOutput::Folder(_) => write_folders(args, &export, output),
    }
}

fn report_loss(loss: &Loss, output: &mut Output) {
    match loss.weight {
        LossSeverity::Note => output.print_message(&format!("note: {loss}")),
        LossSeverity::Narrowed => output.warn(&loss.to_string()),
        LossSeverity::Refused => output.print_labelled("error", AnsiColor::Red, &loss.to_string()),
    }
    if let Some(help) = loss.help.as_ref().filter(|help| !help.is_empty() && loss.weight != LossSeverity::Note) {
        output.print_labelled("help", AnsiColor::Cyan, help);
    }
}

fn losses_to_json(projection: &Projection) -> Vec<Value> {
    let one = |loss: &Loss| json!({ "level": loss.weight.level(), "at": loss.at, "message": loss.message, "help": loss.help });
    projection.losses.iter().map(one).collect()
}

fn write_document(
    args: &Args,
    document: &Value,
    projection: &Projection,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let mut document = document.clone();
    if args.json {
        document["losses"] = losses_to_json(projection).into();
    }
    match &args.out {
        None => output.write_json(&document),
        Some(file) => crate::write::write_file(file, &format!("{document:#}\n"))?,
    }
    Ok(if projection.has_refusal() { Exit::Findings } else { Exit::Fine })
}

/// Writes the directories of an export, and prints their paths.
fn write_folders(args: &Args, export: &Export, output: &mut Output) -> Result<Exit, Failure> {
    let targets = export.write_folders(&ExportTarget {
        folder: args.out.clone().unwrap_or_else(|| PathBuf::from("dist")),
        existing: if args.force { OnExistingFolder::Replace } else { OnExistingFolder::Refuse },
        collection: args.name.clone().unwrap_or_default(),
        is_zipped: args.zip,
    })?;
    if args.json {
        let written: Vec<String> = targets.iter().map(|target| target.display().to_string()).collect();
        let mut document =
            json!({ "host": export.host.id, "written": written, "losses": losses_to_json(&export.projection) });
        if let Some(request) = export.build_upload_request() {
            document["request"] = request;
        }
        if let Some(calls) = export.describe_upload_calls() {
            document["calls"] = calls;
            document["notes"] = rep_hosts::hosts::describe_header_notes().into();
        }
        output.write_json(&document);
        return Ok(Exit::Fine);
    }
    for target in &targets {
        output.write_data(&format!("{}\n", target.display()));
    }
    if let Some(script) = export.render_upload_script() {
        output.print_message(&format!("to upload and use the skills, run this where the directories are:\n{script}"));
    }
    Ok(Exit::Fine)
}
