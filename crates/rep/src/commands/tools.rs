//! `rep tools`: the tools a skill really has.

use std::path::PathBuf;

use rep_check::render::visible;
use rep_check::tools;
use rep_library::{find, read};
use rep_model::Skill;
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::library::LibraryArgs;
use crate::output::Output;
use crate::write;

/// Show the effective tools of a skill, or regenerate its tools.json
#[derive(clap::Args)]
#[command(
    after_help = "Tools come from the frontmatter; tools.json counts only where the frontmatter has none, and is stale where the two differ.\n\nExamples:\n  rep tools csv-profile\n  rep tools csv-profile --write     the same bytes every time"
)]
pub(crate) struct Args {
    /// The skill: a name, `package:name`, or its folder
    #[arg(value_name = "SKILL")]
    skill: String,
    #[command(flatten)]
    library: LibraryArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Write tools.json from the frontmatter
    #[arg(long)]
    write: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    tools(args, output).map_err(|failure| failure.json(args.json))
}

fn tools(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let path = PathBuf::from(&args.skill);
    // A folder is read as it is, good or bad; a name is looked up among the skills there are.
    let folder = if args.library.places.paths.is_empty() && (args.skill.contains('/') || path.exists()) {
        folder(&path)?
    } else {
        let (catalog, index) = args.library.one(&args.skill, output)?;
        catalog.entries[index].folder.clone()
    };
    let shown = find::shown(&folder);
    let tree = read::folder(&folder, &shown, read::Extent::Folder)?;
    let (skill, faults) = Skill::parse(tree);
    if skill.front().is_none() {
        let reason = faults.first().map_or("it has no readable SKILL.md", |fault| fault.message.as_str());
        let failure = Failure::unable("UNREADABLE", format!("`{shown}`: {reason}"));
        return Err(failure.hint(format!("`rep check {shown}` says more")));
    }
    if args.write {
        return regenerate(&skill, &folder, args, output);
    }
    let effective = tools::effective_tools(&skill);
    if args.json {
        let value = json!({ "source": effective.source.name(), "stale": effective.stale, "tools": effective.tools });
        output.json(&value);
        return Ok(Exit::Fine);
    }
    for tool in &effective.tools {
        let field = |name: &str| tool.get(name).and_then(serde_json::Value::as_str).unwrap_or("?");
        let runtime = tool.pointer("/implementation/runtime").and_then(serde_json::Value::as_str).unwrap_or("?");
        output.data(&format!("{}\n", visible(&format!("{}  ({runtime})  {}", field("name"), field("description")))));
    }
    let count = effective.tools.len();
    output.say(&format!("{count} {}, from {}", if count == 1 { "tool" } else { "tools" }, effective.source.name()));
    if effective.stale {
        output.warn(&format!("tools.json is stale; `rep tools {shown} --write` regenerates it"));
    }
    Ok(Exit::Fine)
}

fn folder(path: &std::path::Path) -> Result<PathBuf, Failure> {
    let mut found = Vec::new();
    find::skills(path, |skill| found.push(skill))?;
    let given = found.iter().find(|skill| skill.shown == find::shown(path)).or(found.first());
    match (given, found.len()) {
        (Some(skill), count) if !skill.is_lone_file && (count == 1 || skill.shown == find::shown(path)) => {
            Ok(skill.path.clone())
        }
        _ => Err(Failure::unable("NOT_A_SKILL", format!("`{}` is not one skill folder", find::shown(path)))
            .hint("name a folder with a SKILL.md")),
    }
}

fn regenerate(skill: &Skill, folder: &std::path::Path, args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let path = folder.join("tools.json");
    let shown = find::shown(&path);
    let effective = tools::effective_tools(skill);
    if effective.source != tools::ToolSource::Frontmatter {
        let failure =
            Failure::unable("NO_TOOLS", format!("the frontmatter of `{}` declares no tools", find::shown(folder)));
        return Err(failure.hint("add `tools` to SKILL.md; it is what tools.json is made from"));
    }
    let text = tools::tools_json(&effective.tools);
    match skill.tree.bytes("tools.json") {
        Some(bytes) if bytes == text.as_bytes() => output.say(&format!("`{shown}` is fresh")),
        Some(bytes) => {
            write::replace(&path, bytes, &text)?;
            output.say(&format!("wrote `{shown}`"));
        }
        None => {
            write::create(&path, &text)?;
            output.say(&format!("wrote `{shown}`"));
        }
    }
    if args.json {
        output.data(&text);
    }
    Ok(Exit::Fine)
}
