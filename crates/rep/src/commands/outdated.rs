//! `rep outdated`: whether the sources of installed skills have something else by now.

use rep_check::render::visible;
use rep_package::source::{SourceComparison, SourceState, compare_with_sources};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::installed::ScopeArgs;
use crate::output::Output;

/// Compare installed skills with their sources
#[derive(clap::Args)]
#[command(
    after_help = "Folders, archives and working copies are read again, indexes are fetched. Exit 1 where a source has another version, no longer has the skill, or cannot be asked.\n\nExamples:\n  rep outdated\n  rep outdated --scope personal --json"
)]
pub(crate) struct Args {
    /// Only these skills
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    outdated(args, output).map_err(|failure| failure.json(args.json))
}

fn outdated(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let scope = args.scope.resolve()?;
    let all = compare_with_sources(&args.names, &scope, &mut |note| output.warn(note))?;
    let is_fine = all.iter().all(|one| one.state == SourceState::Current);
    if args.json {
        let one = |one: &SourceComparison| json!({ "name": one.name, "state": one.state.as_str(), "source": one.source, "why": one.state.reason() });
        output.json(&json!({ "scope": scope.name(), "skills": all.iter().map(one).collect::<Vec<Value>>() }));
        return Ok(if is_fine { Exit::Fine } else { Exit::Findings });
    }
    for one in &all {
        let why = one.state.reason();
        let why = if why.is_empty() { String::new() } else { format!("  {}", visible(why)) };
        output.data(&format!("{}  {}  {}{why}\n", visible(&one.name), one.state.as_str(), visible(&one.source)));
    }
    if all.is_empty() {
        output.say(&format!("nothing is installed: `{}` names no skill", scope.lock_file.display()));
    } else if !is_fine {
        output.say("`rep install SOURCE` installs what the source has by now");
    }
    Ok(if is_fine { Exit::Fine } else { Exit::Findings })
}
