//! `rep remove`: takes away what was installed, and nothing else.

use rep_check::render::visible;
use rep_package::remove::{RemoveOptions, remove as remove_skills};
use rep_package::scope::host_ids;
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::installed::ScopeArgs;
use crate::output::Output;

/// Remove installed skills
#[derive(clap::Args)]
#[command(
    after_help = "Only what the lock file says was installed is removed, and only while it is as it was (--force removes it nevertheless). With --host the skill stays for the other hosts.\n\nExamples:\n  rep remove pdf\n  rep remove pdf --host claude-code\n  rep remove pdf docx --scope personal"
)]
pub(crate) struct Args {
    /// The skills
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,
    /// Only for this host; may be given several times
    #[arg(long, value_name = "HOST")]
    host: Vec<String>,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Remove what was changed since, too
    #[arg(long)]
    force: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    remove(args, output).map_err(|failure| failure.json(args.json))
}

fn remove(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let scope = args.scope.resolve()?;
    let options = RemoveOptions { names: args.names.clone(), hosts: host_ids(&args.host)?, is_forced: args.force };
    let removal = remove_skills(&options, &scope)?;
    for path in &removal.kept {
        output.say(&format!("`{path}` stays: other hosts lead there"));
    }
    if args.json {
        output.json(&json!({ "scope": scope.name(), "removed": removal.removed }));
        return Ok(Exit::Fine);
    }
    for path in &removal.removed {
        output.data(&format!("{}\n", visible(path)));
    }
    output.say(&format!("removed {}", args.names.join(", ")));
    Ok(Exit::Fine)
}
