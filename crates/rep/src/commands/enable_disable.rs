//! `rep disable` and `rep enable`: switch a skill off and on without uninstalling it.

use rep_library::decisions::{DisableScope, UserDecisions};

use crate::exit::{Exit, Failure};
use crate::library::{LibraryArgs, decisions_file, home_folder, missing_skill};
use crate::output::Output;

/// Disable a skill without uninstalling it
///
/// A disabled skill is still listed, but it is not given to a model and cannot run.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep disable glossary                # in this project
  rep disable glossary --user         # in all projects")]
pub(crate) struct DisableArgs {
    /// The skill: a name or `package:name`
    name: String,
    /// Disable it in all projects
    #[arg(long)]
    user: bool,
    #[command(flatten)]
    library: LibraryArgs,
}

/// Enable a skill that was disabled
///
/// Use `--user` for a skill that was disabled with `--user`. If a skill is inactive for another reason, `rep why`
/// explains it.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep enable glossary
  rep enable glossary --user")]
pub(crate) struct EnableArgs {
    /// The skill: a name or `package:name`
    name: String,
    /// Enable it in all projects
    #[arg(long)]
    user: bool,
    #[command(flatten)]
    library: LibraryArgs,
}

pub(crate) fn disable_skill(args: &DisableArgs, output: &mut Output) -> Result<Exit, Failure> {
    let catalog = args.library.discover_catalog(output)?;
    if !catalog.entries.iter().any(|entry| entry.qualified_name == args.name) {
        return Err(missing_skill(&catalog, &args.name));
    }
    let project = args.library.project_folder()?;
    let reach = if args.user { DisableScope::User } else { DisableScope::Project(&project) };
    let place = describe_scope(args.user);
    let is_changed = change_decisions(|decisions| decisions.disable_skill(reach, &args.name))?;
    output.print_message(&if is_changed {
        format!("disabled `{}` {place}", args.name)
    } else {
        format!("`{}` was already disabled {place}", args.name)
    });
    Ok(Exit::Fine)
}

pub(crate) fn enable_skill(args: &EnableArgs, output: &mut Output) -> Result<Exit, Failure> {
    let project = args.library.project_folder()?;
    let reach = if args.user { DisableScope::User } else { DisableScope::Project(&project) };
    let place = describe_scope(args.user);
    if change_decisions(|decisions| decisions.enable_skill(reach, &args.name))? {
        output.print_message(&format!("enabled `{}` {place}", args.name));
        return Ok(Exit::Fine);
    }
    let failure = Failure::unable("NOT_DISABLED", format!("`{}` is not disabled {place}", args.name));
    Err(failure.hint(format!("run `rep why {}` to see why it is missing", args.name)))
}

fn describe_scope(is_user: bool) -> &'static str {
    if is_user { "for this user" } else { "in this project" }
}

/// Changes the user's decisions, and writes them if anything changed.
fn change_decisions(with: impl FnOnce(&mut UserDecisions) -> bool) -> Result<bool, Failure> {
    let file = decisions_file(home_folder().as_deref())?;
    let mut decisions = UserDecisions::read(&file)?;
    let is_changed = with(&mut decisions);
    if is_changed {
        decisions.write(&file)?;
    }
    Ok(is_changed)
}
