//! `rep export`: the same skill in a host's shape.

use std::path::{Path, PathBuf};

use anstyle::AnsiColor;
use rep_check::{Level, Options, Profile, check, tools};
use rep_hosts::hosts::{self, About, Unfit};
use rep_hosts::{Form, HOSTS, Host, Loss, Made, MadeContent, Projection, Source, Takes, Wanted, Weight};
use rep_library::read;
use rep_model::{Skill, SkillTree};
use rep_package::place::{Bytes, Existing, Placed, place};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::library::{LibraryArgs, Places};
use crate::output::Output;

/// The largest file that goes into an archive.
const FILE_BYTES_MAX: u64 = 64 << 20;

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

/// A skill as it was read.
struct Taken {
    name: String,
    folder: PathBuf,
    skill: Skill,
    tools: Vec<Value>,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    export(args, output).map_err(|failure| failure.json(args.json))
}

fn export(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let host = Host::named(&args.host).ok_or_else(|| unknown(&args.host))?;
    if args.zip && host.takes != Takes::Upload {
        let failure =
            Failure::unable("USAGE", format!("--zip is for uploads, and `{}` takes {}", host.id, host.takes.name()));
        return Err(failure.hint("`rep pack SKILL` packs a skill into one file"));
    }
    let mut taken: Vec<Taken> = Vec::new();
    for skill in &args.skills {
        let one = take(args, skill, output)?;
        if let Some(other) = taken.iter().find(|other| other.name == one.name) {
            let message =
                format!("`{}` and `{}` are both called `{}`", other.folder.display(), one.folder.display(), one.name);
            return Err(Failure::unable("DUPLICATE", message).hint("export them one by one"));
        }
        taken.push(one);
    }
    let sources: Vec<Source<'_>> =
        taken.iter().map(|taken| Source { name: &taken.name, skill: &taken.skill, tools: &taken.tools }).collect();
    let wanted = Wanted {
        unfit: if args.loose { Unfit::Loosen } else { Unfit::Refuse },
        about: About {
            name: args.name.clone().unwrap_or_default(),
            description: args.about.clone().unwrap_or_default(),
            owner: args.owner.clone().unwrap_or_default(),
            version: String::new(),
        },
    };
    let mut projection = host.project(&sources, &wanted);
    if host.takes == Takes::Upload {
        accepted(host, &taken, &mut projection);
    }
    for loss in &projection.losses {
        tell(loss, output);
    }
    match &projection.form {
        Form::Document(document) => written(args, document, &projection, output),
        Form::Folder(_) if projection.is_refused() => {
            if args.json {
                output.json(&json!({ "host": host.id, "written": [], "losses": losses(&projection) }));
            }
            output.say("nothing was written");
            Ok(Exit::Findings)
        }
        Form::Folder(files) => folders(args, host, &taken, files, &projection, output),
    }
}

fn unknown(word: &str) -> Failure {
    let failure = Failure::unable("UNKNOWN_HOST", format!("there is no host `{word}`"));
    let ids = HOSTS.iter().map(|host| host.id);
    let near = ids.map(|id| (strsim::jaro_winkler(word, id), id)).max_by(|one, two| one.0.total_cmp(&two.0));
    match near {
        Some((score, id)) if score > 0.75 => failure.hint(format!("did you mean `{id}`? `rep hosts` lists them")),
        _ => failure.hint("`rep hosts` lists them"),
    }
}

/// Reads a skill and judges it: what is wrong in itself is not written anywhere.
fn take(args: &Args, word: &str, output: &mut Output) -> Result<Taken, Failure> {
    let (catalog, index) = LibraryArgs::of(&args.places).one(word, output)?;
    let entry = &catalog.entries[index];
    let shown = entry.folder.to_string_lossy().into_owned();
    let tree = read::folder(&entry.folder, &shown, read::Extent::Folder)?;
    let (skill, faults) = Skill::parse(tree);
    let report = check(&skill, faults, &Options::default());
    let errors: Vec<_> = report.findings.iter().filter(|finding| finding.level == Level::Error).collect();
    if let Some(first) = errors.first() {
        let message = format!("`{word}` has {} and is not exported: {}", counted(errors.len(), "error"), first.message);
        return Err(Failure::findings("INVALID_SKILL", message).hint(format!("`rep check {shown}` shows them all")));
    }
    let name = skill.name().unwrap_or(&entry.name).to_owned();
    let tools = tools::effective_tools(&skill).tools;
    Ok(Taken { name, folder: entry.folder.clone(), skill, tools })
}

fn counted(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}

/// Judges what would be uploaded by the rules of the host it is for.
fn accepted(host: &Host, taken: &[Taken], projection: &mut Projection) {
    let Form::Folder(files) = &projection.form else { return };
    let Some(profile) = Profile::named(host.id) else { return };
    let options = Options { profiles: vec![profile], ..Options::default() };
    let mut found = Vec::new();
    for one in taken {
        let below = format!("{}/", one.name);
        let mut tree = SkillTree { shown: one.name.clone(), folder: one.name.clone(), ..SkillTree::default() };
        for file in files {
            let Some(path) = file.path.strip_prefix(&below) else { continue };
            let entry = match &file.content {
                MadeContent::Bytes(bytes) => rep_model::Entry::File {
                    size_bytes: bytes.len() as u64,
                    is_executable: file.is_executable,
                    content: rep_model::Content::Bytes(bytes.clone()),
                },
                MadeContent::Same(_, from) => match one.skill.tree.entries.get(from) {
                    Some(entry) => entry.clone(),
                    None => continue,
                },
            };
            tree.entries.insert(path.to_owned(), entry);
        }
        let (skill, faults) = Skill::parse(tree);
        for finding in check(&skill, faults, &options).findings {
            if finding.level == Level::Error {
                let loss =
                    Loss::new(Weight::Refused, format!("{}/{}", one.name, finding.rule.name), finding.message.clone());
                found.push(loss.help(finding.help.clone()));
            }
        }
    }
    projection.losses.extend(found);
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

/// Writes the folders of a projection: each as a whole.
fn folders(
    args: &Args,
    host: &Host,
    taken: &[Taken],
    files: &[Made],
    projection: &Projection,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from("dist"));
    let existing = if args.force { Existing::Replace } else { Existing::Refuse };
    let placed = |file: &Made, path: &str| Placed {
        path: path.to_owned(),
        content: match &file.content {
            MadeContent::Bytes(bytes) => Bytes::Here(bytes.clone()),
            MadeContent::Same(index, from) => Bytes::Of(taken[*index].folder.join(from)),
        },
        is_executable: file.is_executable,
    };
    let mut targets: Vec<PathBuf> = Vec::new();
    if host.id == "well-known" {
        targets.push(published(taken, files, &out, existing)?);
    } else if host.takes == Takes::Collection {
        let all: Vec<Placed> = files.iter().map(|file| placed(file, &file.path)).collect();
        let target = out.join(args.name.as_deref().unwrap_or_default());
        put(&all, &target, existing)?;
        targets.push(target);
    } else {
        for one in taken {
            let below = format!("{}/", one.name);
            let own = files.iter().filter_map(|file| Some(placed(file, file.path.strip_prefix(&below)?)));
            let target = out.join(&one.name);
            put(&own.collect::<Vec<Placed>>(), &target, existing)?;
            targets.push(target);
            if args.zip {
                let packed = rep_archive::write_zip(&contents(files, &below, &below, taken)?);
                let bytes =
                    packed.map_err(|error| Failure::unable("UNWRITABLE", format!("`{}`: {error}", one.name)))?;
                let file = out.join(format!("{}.zip", one.name));
                crate::write::file(&file, &bytes, args.force)?;
                targets.push(file);
            }
        }
    }
    let request = (host.takes == Takes::Upload).then(|| {
        let names: Vec<String> = taken.iter().map(|one| format!("<id of {}>", one.name)).collect();
        hosts::request(&names.iter().map(String::as_str).collect::<Vec<&str>>())
    });
    if args.json {
        let written: Vec<String> = targets.iter().map(|target| target.display().to_string()).collect();
        let mut document = json!({ "host": host.id, "written": written, "losses": losses(projection) });
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

/// The files of one skill with their bytes, each below a folder.
fn contents(files: &[Made], own: &str, below: &str, taken: &[Taken]) -> Result<Vec<(String, Vec<u8>, bool)>, Failure> {
    let mut found = Vec::new();
    for file in files {
        let Some(path) = file.path.strip_prefix(own) else { continue };
        let bytes = match &file.content {
            MadeContent::Bytes(bytes) => bytes.clone(),
            MadeContent::Same(index, from) => read::bytes(&taken[*index].folder.join(from), FILE_BYTES_MAX)?,
        };
        found.push((format!("{below}{path}"), bytes, file.is_executable));
    }
    found.sort_by(|one, two| one.0.cmp(&two.0));
    Ok(found)
}

/// Writes the index of skills and what it names: an archive each, or the SKILL.md where that is all there is.
fn published(taken: &[Taken], files: &[Made], out: &Path, existing: Existing) -> Result<PathBuf, Failure> {
    let (mut all, mut index) = (Vec::new(), Vec::new());
    for one in taken {
        let held = contents(files, &format!("{}/", one.name), "", taken)?;
        let is_archive = held.len() > 1;
        let (path, bytes) = if is_archive {
            let packed = rep_archive::write_tar_gz(&held);
            let bytes = packed.map_err(|error| Failure::unable("UNWRITABLE", format!("`{}`: {error}", one.name)))?;
            (format!("{}.tar.gz", one.name), bytes)
        } else {
            (format!("{}/SKILL.md", one.name), held.into_iter().next().map(|(_, bytes, _)| bytes).unwrap_or_default())
        };
        let description = one.skill.front().and_then(rep_model::Frontmatter::description).map_or("", |text| text.value);
        let digest = rep_package::files::digest_of(&bytes);
        index.push(hosts::Published { name: &one.name, description, url: path.clone(), is_archive, digest });
        all.push(Placed { path, content: Bytes::Here(bytes), is_executable: false });
    }
    let text = format!("{:#}\n", hosts::index(&index));
    all.push(Placed { path: "index.json".to_owned(), content: Bytes::Here(text.into_bytes()), is_executable: false });
    let target = out.join(".well-known/agent-skills");
    put(&all, &target, existing)?;
    Ok(target)
}

fn put(files: &[Placed], target: &Path, existing: Existing) -> Result<(), Failure> {
    place(files, target, existing).map_err(|error| {
        let failure = Failure::unable("UNWRITABLE", error.to_string());
        match error {
            rep_package::place::PlaceError::Exists(_) => {
                failure.hint("--force replaces it; --out names another folder")
            }
            _ => failure,
        }
    })
}
