//! `rep outdated`: reports installed skills whose source has changed.

use rep_check::render::escape_invisible;
use rep_package::capabilities::AddedCapability;
use rep_package::source::{SourceComparison, SourceState, compare_with_sources};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::install_scope::{ScopeArgs, open_watched_client};
use crate::output::Output;

/// Report installed skills whose source has changed
///
/// Reads the source of each installed skill again, and shows what the code of a new version needs in addition. Exits
/// with 1 if a source has a different version, no longer has the skill, or cannot be read.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep outdated
  rep outdated --scope personal --json")]
pub(crate) struct Args {
    /// Check only these skills
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    report_outdated(args, output).map_err(|failure| failure.json(args.json))
}

fn report_outdated(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let scope = args.scope.resolve()?;
    let client = open_watched_client(false, output)?;
    let all = compare_with_sources(&args.names, &scope, &client, &mut |note| output.warn(note))?;
    let is_fine = all.iter().all(|one| one.state == SourceState::Current);
    if args.json {
        let one = |one: &SourceComparison| {
            json!({
                "name": one.name,
                "state": one.state.as_str(),
                "source": one.source,
                "why": one.state.reason(),
                "capabilities_added": one.added.iter().map(AddedCapability::to_json).collect::<Vec<Value>>(),
            })
        };
        output.write_json(&json!({ "scope": scope.name(), "skills": all.iter().map(one).collect::<Vec<Value>>() }));
        return Ok(if is_fine { Exit::Fine } else { Exit::Findings });
    }
    for one in &all {
        let why = one.state.reason();
        let why = if why.is_empty() { String::new() } else { format!("  {}", escape_invisible(why)) };
        output.write_data(&format!(
            "{}  {}  {}{why}\n",
            escape_invisible(&one.name),
            one.state.as_str(),
            escape_invisible(&one.source)
        ));
        for added in &one.added {
            output.write_data(&format!("{}\n", escape_invisible(&format!("  new: {}", added.describe()))));
        }
    }
    if all.is_empty() {
        output.print_message(&format!("nothing is installed: `{}` lists no skills", scope.lock_file.display()));
    } else if !is_fine {
        output.print_message("run `rep install SOURCE` to install the current version");
    }
    Ok(if is_fine { Exit::Fine } else { Exit::Findings })
}
