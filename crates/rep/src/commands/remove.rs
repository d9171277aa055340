//! `rep remove`: removes installed skills, and nothing else.

use rep_check::render::escape_invisible;
use rep_package::remove::{RemoveOptions, remove_skills};
use rep_package::scope::resolve_host_ids;
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::install_scope::ScopeArgs;
use crate::output::Output;

/// Remove installed skills
///
/// Removes only what the lock file records. Files that were changed since are kept unless you pass `--force`. With
/// `--host`, the skill stays installed for other hosts.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep remove glossary --host claude-code
  rep remove glossary slugify
  rep remove slugify --scope personal")]
pub(crate) struct Args {
    /// The skills to remove
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,
    /// Remove only for this host; repeatable
    #[arg(long, value_name = "HOST")]
    host: Vec<String>,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Also remove files that were changed since the installation
    #[arg(long)]
    force: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    remove_from_scope(args, output).map_err(|failure| failure.json(args.json))
}

fn remove_from_scope(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let scope = args.scope.resolve()?;
    let options =
        RemoveOptions { names: args.names.clone(), hosts: resolve_host_ids(&args.host)?, is_forced: args.force };
    let removal = remove_skills(&options, &scope)?;
    for path in &removal.kept {
        output.print_message(&format!("kept `{path}`: other hosts link to it"));
    }
    if args.json {
        output.write_json(&json!({ "scope": scope.name(), "removed": removal.removed }));
        return Ok(Exit::Fine);
    }
    for path in &removal.removed {
        output.write_data(&format!("{}\n", escape_invisible(path)));
    }
    if !removal.removed.is_empty() {
        output.print_message(&format!("removed {}", args.names.join(", ")));
        for name in &removal.orphans {
            output.print_message(&format!("removed {name}, because no installed skill requires it any longer"));
        }
    }
    Ok(Exit::Fine)
}
