//! `rep outdated`: whether the sources of installed skills have something else by now.

use rep_check::render::visible;
use serde_json::{Value, json};

use super::remove::installed;
use crate::exit::{Exit, Failure};
use crate::installed::{Scope, ScopeArgs};
use crate::output::Output;
use crate::sources;

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
    let scope = Scope::of(&args.scope)?;
    let lock = scope.lock()?;
    let names = if args.names.is_empty() { lock.names() } else { args.names.clone() };
    let mut all = Vec::new();
    for name in &names {
        let skill = installed(&lock, name, &scope)?;
        let standing = sources::standing(name, &skill, &scope, output);
        let source = skill.origin.url.clone().unwrap_or_else(|| skill.origin.source.clone());
        all.push((name, source, standing));
    }
    let is_fine = all.iter().all(|(_, _, standing)| matches!(standing, sources::Standing::Current));
    if args.json {
        let one = |(name, source, standing): &(&String, String, sources::Standing)| json!({ "name": name, "state": standing.name(), "source": source, "why": standing.why() });
        output.json(&json!({ "scope": scope.name(), "skills": all.iter().map(one).collect::<Vec<Value>>() }));
        return Ok(if is_fine { Exit::Fine } else { Exit::Findings });
    }
    for (name, source, standing) in &all {
        let why = if standing.why().is_empty() { String::new() } else { format!("  {}", visible(standing.why())) };
        output.data(&format!("{}  {}  {}{why}\n", visible(name), standing.name(), visible(source)));
    }
    if names.is_empty() {
        output.say(&format!("nothing is installed: `{}` names no skill", scope.lock_file.display()));
    } else if !is_fine {
        output.say("`rep install SOURCE` installs what the source has by now");
    }
    Ok(if is_fine { Exit::Fine } else { Exit::Findings })
}
