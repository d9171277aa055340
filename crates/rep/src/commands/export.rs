//! `rep export`: the same skill in a host's shape.

use std::path::PathBuf;

use anstyle::AnsiColor;
use rep_hosts::hosts::{About, Unfit};
use rep_hosts::{Form, Loss, Projection, Takes, Wanted, Weight};
use rep_package::export::{Export, ExportSource, ExportTarget, find_host};
use rep_package::place::Existing;
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::library::{LibraryArgs, Places};
use crate::output::Output;

/// Write skills in the shape of a host
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(clap::Args)]
#[command(
    after_help = "The source is never touched, and the same source gives the same bytes. What the shape loses is told on stderr; what cannot be expressed is refused (exit 1). `rep hosts` lists the hosts.\n\nA folder for claude-api, claude-code, codex, copilot, vscode, cursor, gemini-cli, goose, opencode, amp, agent-plugins, claude-marketplace and well-known; JSON on stdout for mcp, openai, anthropic, gemini and openapi.\n\nExamples:\n  rep export --host claude-api pdf-forms --out dist\n  rep export --host openai csv-profile > tools.json\n  rep export --host claude-marketplace --name my-skills ./skills/* --out dist\n  rep export --host well-known ./skills/* --out public     serve this folder, and `rep install https://HOST` finds them"
)]
pub(crate) struct Args {
    /// The skills: names, `package:name`, or paths
    #[arg(value_name = "SKILL", required = true)]
    skills: Vec<String>,
    /// The host
    #[arg(long, value_name = "HOST")]
    host: String,
    /// The folder to write to; for JSON, a file [default: `dist`, or stdout]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace what an export left there before
    #[arg(long)]
    force: bool,
    /// Write NAME.zip beside each folder, for an upload
    #[arg(long)]
    zip: bool,
    /// Write tools that do not fit the host's strict subset without `strict`, instead of refusing them
    #[arg(long)]
    loose: bool,
    /// The name of a collection
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// What a collection says of itself
    #[arg(long, value_name = "TEXT", requires = "name")]
    about: Option<String>,
    /// Who makes a collection
    #[arg(long, value_name = "OWNER", requires = "name")]
    owner: Option<String>,
    #[command(flatten)]
    places: Places,
    /// Print what was written and what is lost as one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    export(args, output).map_err(|failure| failure.json(args.json))
}

fn export(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let host = find_host(&args.host)?;
    if args.zip && host.takes != Takes::Upload {
        let failure =
            Failure::unable("USAGE", format!("--zip is for uploads, and `{}` takes {}", host.id, host.takes.name()));
        return Err(failure.hint("`rep pack SKILL` packs a skill into one file"));
    }
    let mut sources = Vec::new();
    for skill in &args.skills {
        let (catalog, index) = LibraryArgs::of(&args.places).one(skill, output)?;
        sources.push(ExportSource::load(&catalog.entries[index], skill)?);
    }
    let wanted = Wanted {
        unfit: if args.loose { Unfit::Loosen } else { Unfit::Refuse },
        about: About {
            name: args.name.clone().unwrap_or_default(),
            description: args.about.clone().unwrap_or_default(),
            owner: args.owner.clone().unwrap_or_default(),
            version: String::new(),
        },
    };
    let export = Export::new(host, sources, &wanted)?;
    let projection = &export.projection;
    for loss in &projection.losses {
        tell(loss, output);
    }
    match &projection.form {
        Form::Document(document) => written(args, document, projection, output),
        Form::Folder(_) if projection.is_refused() => {
            if args.json {
                output.json(&json!({ "host": host.id, "written": [], "losses": losses(projection) }));
            }
            output.say("nothing was written");
            Ok(Exit::Findings)
        }
        Form::Folder(_) => folders(args, &export, output),
    }
}

fn tell(loss: &Loss, output: &mut Output) {
    match loss.weight {
        Weight::Note => output.say(&format!("note: {loss}")),
        Weight::Narrowed => output.warn(&loss.to_string()),
        Weight::Refused => output.label("error", AnsiColor::Red, &loss.to_string()),
    }
    if let Some(help) = loss.help.as_ref().filter(|help| !help.is_empty() && loss.weight != Weight::Note) {
        output.label("help", AnsiColor::Cyan, help);
    }
}

fn losses(projection: &Projection) -> Vec<Value> {
    let one = |loss: &Loss| json!({ "level": loss.weight.level(), "at": loss.at, "message": loss.message, "help": loss.help });
    projection.losses.iter().map(one).collect()
}

fn written(args: &Args, document: &Value, projection: &Projection, output: &mut Output) -> Result<Exit, Failure> {
    let mut document = document.clone();
    if args.json {
        document["losses"] = losses(projection).into();
    }
    match &args.out {
        None => output.json(&document),
        Some(file) => crate::write::put(file, &format!("{document:#}\n"))?,
    }
    Ok(if projection.is_refused() { Exit::Findings } else { Exit::Fine })
}

/// Writes the folders of an export, and says where.
fn folders(args: &Args, export: &Export, output: &mut Output) -> Result<Exit, Failure> {
    let targets = export.write(&ExportTarget {
        folder: args.out.clone().unwrap_or_else(|| PathBuf::from("dist")),
        existing: if args.force { Existing::Replace } else { Existing::Refuse },
        collection: args.name.clone().unwrap_or_default(),
        is_zipped: args.zip,
    })?;
    let request = export.request();
    if args.json {
        let written: Vec<String> = targets.iter().map(|target| target.display().to_string()).collect();
        let mut document = json!({ "host": export.host.id, "written": written, "losses": losses(&export.projection) });
        if let Some(request) = request {
            document["request"] = request;
        }
        output.json(&document);
        return Ok(Exit::Fine);
    }
    for target in &targets {
        output.data(&format!("{}\n", target.display()));
    }
    if let Some(request) = request {
        output.say(&format!("upload each folder, then attach them to a request:\n{request:#}"));
    }
    Ok(Exit::Fine)
}
