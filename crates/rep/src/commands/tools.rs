//! `rep tools`: prints the effective tools of a skill, regenerates tools.json, and asks MCP servers for theirs.

use std::path::PathBuf;

use rep_check::render::escape_invisible;
use rep_library::tools_file::{SkillTools, find_skill_folder};

use crate::exit::{Exit, Failure};
use crate::library::LibraryArgs;
use crate::output::Output;

mod servers;

/// Show a skill's tools, or regenerate its tools.json
///
/// Tools are declared in the frontmatter. A tools.json file is used only if the frontmatter declares no tools, and
/// is reported as stale if the two differ. `--mcp` asks the MCP servers of rep.yaml for their tools, which come last.
#[expect(clippy::option_option, reason = "a flag whose value is optional, as clap parses it")]
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep tools csv-profile
  rep tools csv-profile --json
  rep tools skills/csv-profile --write
  rep tools --mcp")]
pub(crate) struct Args {
    /// The skill: a name, `package:name`, or its directory
    #[arg(value_name = "SKILL", required_unless_present = "mcp")]
    skill: Option<String>,
    #[command(flatten)]
    library: LibraryArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Write tools.json from the frontmatter
    #[arg(long)]
    write: bool,
    /// Ask MCP servers for their tools: one, all of rep.yaml, or those that the skill requires
    #[arg(long, value_name = "SERVER", num_args = 0..=1, conflicts_with = "write")]
    mcp: Option<Option<String>>,
    /// Ask servers of the project or the skill without confirmation
    #[arg(long, requires = "mcp")]
    yes: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    show_tools(args, output).map_err(|failure| failure.json(args.json))
}

fn show_tools(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let Some(skill) = &args.skill else { return servers::show_server_tools(args, output) };
    let path = PathBuf::from(skill);
    // A directory is read as it is, valid or not; a name is looked up in the library.
    let folder = if args.library.places.paths.is_empty() && (skill.contains('/') || path.exists()) {
        find_skill_folder(&path)?
    } else {
        let (catalog, index) = args.library.find_skill(skill, output)?;
        catalog.entries[index].folder.clone()
    };
    let tools = SkillTools::load(&folder)?;
    if args.write {
        let file = tools.write_file()?;
        output.print_message(&if file.is_written {
            format!("wrote `{}`", file.shown)
        } else {
            format!("`{}` is up to date", file.shown)
        });
        if args.json {
            output.write_data(&file.text);
        }
        return Ok(Exit::Fine);
    }
    let (shown, effective) = (&tools.shown, &tools.effective);
    let catalog = match &args.mcp {
        Some(_) => Some(servers::ask_skill_servers(args, skill, &effective.tools, output)?),
        None => None,
    };
    let exit = catalog.as_ref().map_or(Exit::Fine, |catalog| catalog.exit);
    if args.json {
        let mut value = tools.to_json();
        if let Some(catalog) = catalog {
            value["servers"] = catalog.servers;
        }
        output.write_json(&value);
        return Ok(exit);
    }
    for tool in &effective.tools {
        let field = |name: &str| tool.get(name).and_then(serde_json::Value::as_str).unwrap_or("?");
        let runtime = tool.pointer("/implementation/runtime").and_then(serde_json::Value::as_str).unwrap_or("?");
        output.write_data(&format!(
            "{}\n",
            escape_invisible(&format!("{}  ({runtime})  {}", field("name"), field("description")))
        ));
    }
    let count = effective.tools.len();
    output.print_message(&format!(
        "{count} {}, from {}",
        if count == 1 { "tool" } else { "tools" },
        effective.source.name()
    ));
    if effective.stale {
        output.warn(&format!("tools.json is stale; regenerate it with `rep tools {shown} --write`"));
    }
    if let Some(catalog) = catalog {
        catalog.print_lines(output);
    }
    Ok(exit)
}
