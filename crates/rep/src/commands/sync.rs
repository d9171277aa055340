//! `rep sync`: makes every place equal to the lock file.

use rep_check::render::escape_invisible;
use rep_package::sync::{SyncOptions, SyncState, SyncedSkill, sync_skills};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::install_scope::{ScopeArgs, open_watched_client};
use crate::output::Output;

/// Restore installed skills as the lock file records them
///
/// Content that differs from the lock file is refused, even behind the same tag. The lock file is never written. With
/// `--check`, nothing is written, and the exit code is 1 if a place differs.
#[expect(clippy::struct_excessive_bools, reason = "each is a separate flag")]
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep sync
  rep sync --check --json
  rep sync --prune --offline")]
pub(crate) struct Args {
    #[command(flatten)]
    scope: ScopeArgs,
    /// Only compare; exit with 1 if a place differs
    #[arg(long, conflicts_with = "force")]
    check: bool,
    /// Remove what rep placed here for skills that the lock file no longer names
    #[arg(long)]
    prune: bool,
    /// Fetch nothing; use other places and the cache
    #[arg(long)]
    offline: bool,
    /// Replace files that were changed since they were installed
    #[arg(long)]
    force: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    sync_scope(args, output).map_err(|failure| failure.json(args.json))
}

fn sync_scope(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let scope = args.scope.resolve()?;
    let client = open_watched_client(args.offline, output)?;
    let options = SyncOptions { is_check: args.check, is_pruned: args.prune, is_forced: args.force };
    let all = sync_skills(options, &scope, &client, &mut |note| output.warn(note))?;
    let mut exit =
        if args.check && all.iter().any(|one| one.state != SyncState::Current) { Exit::Findings } else { Exit::Fine };
    let failures = all.iter().filter_map(|one| match &one.state {
        SyncState::Failed(error) => Some(Failure::from(error.clone())),
        SyncState::Current | SyncState::Restored(_) | SyncState::Pruned => None,
    });
    for failure in failures {
        // A refusal is more important than what could not be read.
        if exit != Exit::Refused {
            exit = failure.exit;
        }
        output.print_failure(&failure);
    }
    if args.json {
        output.write_json(&json!({
            "scope": scope.name(),
            "check": args.check,
            "skills": all.iter().map(skill_json).collect::<Vec<Value>>(),
        }));
        return Ok(exit);
    }
    for one in &all {
        let why = match &one.state {
            SyncState::Restored(why) if args.check => format!("  {why}"),
            SyncState::Failed(error) => format!("  {}", error.message),
            _ if one.places.is_empty() => String::new(),
            _ => format!("  {}", one.places.join(", ")),
        };
        let state = match &one.state {
            SyncState::Restored(_) if args.check => "differs",
            SyncState::Pruned if args.check => "extra",
            state => state.as_str(),
        };
        output.write_data(&format!("{}\n", escape_invisible(&format!("{}  {state}{why}", one.name))));
    }
    if all.is_empty() {
        output.print_message(&format!("nothing is installed: `{}` lists no skills", scope.lock_file.display()));
    }
    Ok(exit)
}

fn skill_json(one: &SyncedSkill) -> Value {
    let (why, error) = match &one.state {
        SyncState::Restored(why) => (why.as_str(), Value::Null),
        SyncState::Failed(error) => (error.message.as_str(), json!(error.code.as_str())),
        SyncState::Current | SyncState::Pruned => ("", Value::Null),
    };
    json!({ "name": one.name, "state": one.state.as_str(), "why": why, "code": error, "places": one.places })
}
