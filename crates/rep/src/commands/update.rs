//! `rep update`: shows what the sources of installed skills have now, and installs it.

use std::io::{self, BufRead, IsTerminal};
use std::time::SystemTime;

use rep_check::render::escape_invisible;
use rep_library::decisions::{SkillFileChange, SkillFileState};
use rep_package::InstallScope;
use rep_package::capabilities::AddedCapability;
use rep_package::client::SourceClient;
use rep_package::install::{InstallOptions, install_skills};
use rep_package::resolve::resolve_requirements;
use rep_package::update::{AvailableUpdate, SkillUpdate, UpdateState, find_updates};
use serde_json::{Value, json};

use super::install::{SignerQuestion, check_offered};
use super::trust::render_changes;
use crate::exit::{Exit, Failure};
use crate::install_scope::{ScopeArgs, open_watched_client};
use crate::output::Output;

/// Update installed skills to what their sources have now
///
/// Shows the difference of each file and asks first. Hosts, and whether they get a copy or a link, stay as they are.
/// Files that you changed are not overwritten, and pinned skills are skipped.
#[expect(clippy::struct_excessive_bools, reason = "each is a separate flag")]
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep update --diff
  rep update glossary --yes")]
pub(crate) struct Args {
    /// Update only these skills
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Only show what would change; exit with 1 if something would
    #[arg(long)]
    diff: bool,
    /// Do not ask for confirmation
    #[arg(short, long)]
    yes: bool,
    /// Replace changed files, and install skills with errors other than security errors
    #[arg(long)]
    force: bool,
    /// Update a skill even if its signer is another one than that of the installed version
    #[arg(long)]
    accept_signer: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    update_scope(args, output).map_err(|failure| failure.json(args.json))
}

fn update_scope(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let scope = args.scope.resolve()?;
    let client = open_watched_client(false, output)?;
    let all = find_updates(&args.names, &scope, &client, &mut |note| output.warn(note))?;
    if !args.json {
        report_updates(&all, output);
    }
    let available: Vec<&AvailableUpdate> = all.iter().filter_map(available_update).collect();
    let is_unread = all.iter().any(|one| matches!(one.state, UpdateState::Gone | UpdateState::Unknown(_)));
    let exit = if is_unread { Exit::Findings } else { Exit::Fine };
    if args.diff || available.is_empty() {
        if args.json {
            write_json(&all, &[], &scope, output);
        }
        return Ok(if available.is_empty() { exit } else { Exit::Findings });
    }
    confirm_update(args, available.len(), output)?;
    let updated = install_updates(args, &available, &scope, &client, output)?;
    if args.json {
        write_json(&all, &updated, &scope, output);
    } else {
        output.print_message(&format!("updated {}", updated.join(", ")));
        if !scope.is_personal {
            output.print_message("changed project skills are untrusted; run `rep trust` to use them");
        }
    }
    Ok(exit)
}

fn available_update(one: &SkillUpdate) -> Option<&AvailableUpdate> {
    match &one.state {
        UpdateState::Available(update) => Some(update),
        UpdateState::Current | UpdateState::Pinned | UpdateState::Gone | UpdateState::Unknown(_) => None,
    }
}

fn confirm_update(args: &Args, count: usize, output: &mut Output) -> Result<(), Failure> {
    if args.yes {
        return Ok(());
    }
    if args.json || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        let message = "updates need a confirmation, and nobody can be asked here";
        return Err(Failure::refused("CONFIRMATION_REQUIRED", message).hint("review them with --diff, then pass --yes"));
    }
    let skills = if count == 1 { "this skill" } else { "these skills" };
    output.print_always(&format!("update {skills}? [y/N]"));
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    if read.is_ok() && matches!(line.trim(), "y" | "Y" | "yes") {
        return Ok(());
    }
    Err(Failure { exit: Exit::Interrupted, ..Failure::unable("STOPPED", "nothing was updated") })
}

/// Installs the updates where the skills are installed. Returns their names.
fn install_updates(
    args: &Args,
    available: &[&AvailableUpdate],
    scope: &InstallScope,
    client: &SourceClient,
    output: &mut Output,
) -> Result<Vec<String>, Failure> {
    let mut offered = Vec::new();
    for update in available {
        check_offered(&update.offered, args.force, output)?;
        offered.push(update.offered.clone());
    }
    let names: Vec<String> = offered.iter().map(|one| one.name.clone()).collect();
    let mut offered = resolve_requirements(offered, scope, client, &mut |note| output.warn(note))?;
    let is_asked = !args.yes && !args.json && io::stdin().is_terminal() && io::stderr().is_terminal();
    let mut signers = SignerQuestion { scope, client, is_accepted: args.accept_signer, is_asked };
    for one in &mut offered {
        signers.accept(one, output)?;
    }
    for one in offered.iter().filter(|one| !names.contains(&one.name)) {
        check_offered(one, args.force, output)?;
    }
    let options = InstallOptions { hosts: Vec::new(), copies: false, is_forced: args.force };
    install_skills(&offered, &options, scope, SystemTime::now())?;
    for one in &offered {
        client.content().store(&one.files);
    }
    Ok(offered.into_iter().map(|one| one.name).collect())
}

fn report_updates(all: &[SkillUpdate], output: &mut Output) {
    for one in all {
        let why = match &one.state {
            UpdateState::Unknown(error) => format!("  {}", error.message),
            UpdateState::Available(update) => update
                .revisions
                .as_ref()
                .map_or_else(String::new, |(old, new)| format!("  {} → {}", shorten(old), shorten(new))),
            UpdateState::Current | UpdateState::Pinned | UpdateState::Gone => String::new(),
        };
        let line = format!("{}  {}  {}{why}", one.name, one.state.as_str(), one.source);
        output.write_data(&format!("{}\n", escape_invisible(&line)));
        if let Some(update) = available_update(one) {
            output.write_data(&render_changes(&one.name, &update.changes));
            for added in &update.added {
                output.write_data(&format!("{}\n", escape_invisible(&format!("  new: {}", added.describe()))));
            }
        }
    }
}

/// Returns the first digits of a commit or a digest.
fn shorten(revision: &str) -> &str {
    let bare = revision.strip_prefix("sha256:").unwrap_or(revision);
    bare.get(..10).unwrap_or(bare)
}

fn write_json(all: &[SkillUpdate], updated: &[String], scope: &InstallScope, output: &mut Output) {
    let one = |one: &SkillUpdate| {
        let why = match &one.state {
            UpdateState::Unknown(error) => error.message.as_str(),
            _ => "",
        };
        let state = if updated.contains(&one.name) { "updated" } else { one.state.as_str() };
        let changes = available_update(one).map(|update| update.changes.as_slice()).unwrap_or_default();
        json!({
            "name": one.name,
            "state": state,
            "source": one.source,
            "why": why,
            "files": changes.iter().map(change_json).collect::<Vec<Value>>(),
            "capabilities_added": available_update(one)
                .map(|update| update.added.iter().map(AddedCapability::to_json).collect::<Vec<Value>>())
                .unwrap_or_default(),
        })
    };
    output.write_json(&json!({
        "scope": scope.name(),
        "skills": all.iter().map(one).collect::<Vec<Value>>(),
    }));
}

fn change_json(change: &SkillFileChange) -> Value {
    let kind = match (&change.before, &change.after) {
        (None, _) => "added",
        (_, None) => "removed",
        (Some(SkillFileState::Text(_) | SkillFileState::Fingerprint(_)), Some(_)) => "changed",
    };
    json!({ "path": change.path, "change": kind })
}
