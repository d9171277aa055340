//! `rep tools`: the tools a skill really has.

use std::path::PathBuf;

use rep_check::render::visible;
use rep_library::tools_file::{SkillTools, skill_folder};
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::library::LibraryArgs;
use crate::output::Output;

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
        skill_folder(&path)?
    } else {
        let (catalog, index) = args.library.one(&args.skill, output)?;
        catalog.entries[index].folder.clone()
    };
    let tools = SkillTools::load(&folder)?;
    if args.write {
        let file = tools.write()?;
        output.say(&if file.is_written {
            format!("wrote `{}`", file.shown)
        } else {
            format!("`{}` is fresh", file.shown)
        });
        if args.json {
            output.data(&file.text);
        }
        return Ok(Exit::Fine);
    }
    let (shown, effective) = (&tools.shown, &tools.effective);
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
