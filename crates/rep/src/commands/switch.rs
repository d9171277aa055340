//! `rep disable` and `rep enable`: switches a skill off and on without uninstalling it.

use rep_library::store::{Decisions, Reach};

use crate::exit::{Exit, Failure};
use crate::library::{LibraryArgs, decisions_file, home, missing};
use crate::output::Output;

/// Switch a skill off without uninstalling it
#[derive(clap::Args)]
#[command(
    after_help = "A disabled skill is listed, and neither disclosed nor called.\n\nExamples:\n  rep disable pdf-forms           in this project\n  rep disable pdf-forms --user    everywhere"
)]
pub(crate) struct DisableArgs {
    /// The skill: a name or `package:name`
    name: String,
    /// Everywhere, not only in this project
    #[arg(long)]
    user: bool,
    #[command(flatten)]
    library: LibraryArgs,
}

/// Switch a disabled skill on again
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  rep enable pdf-forms\n  rep enable pdf-forms --user")]
pub(crate) struct EnableArgs {
    /// The skill: a name or `package:name`
    name: String,
    /// Everywhere, not only in this project
    #[arg(long)]
    user: bool,
    #[command(flatten)]
    library: LibraryArgs,
}

pub(crate) fn disable(args: &DisableArgs, output: &mut Output) -> Result<Exit, Failure> {
    let catalog = args.library.discover(output)?;
    if !catalog.entries.iter().any(|entry| entry.qualified_name == args.name) {
        return Err(missing(&catalog, &args.name));
    }
    let project = args.library.project()?;
    let reach = if args.user { Reach::User } else { Reach::Project(&project) };
    let place = place(args.user);
    let is_changed = change(|decisions| decisions.disable(reach, &args.name))?;
    output.say(&if is_changed {
        format!("`{}` is off {place}", args.name)
    } else {
        format!("`{}` was off {place} already", args.name)
    });
    Ok(Exit::Fine)
}

pub(crate) fn enable(args: &EnableArgs, output: &mut Output) -> Result<Exit, Failure> {
    let project = args.library.project()?;
    let reach = if args.user { Reach::User } else { Reach::Project(&project) };
    let place = place(args.user);
    if change(|decisions| decisions.enable(reach, &args.name))? {
        output.say(&format!("`{}` is on {place}", args.name));
        return Ok(Exit::Fine);
    }
    let failure = Failure::unable("NOT_DISABLED", format!("`{}` was not switched off {place}", args.name));
    Err(failure.hint(format!("`rep why {}` says why it is missing", args.name)))
}

fn place(is_user: bool) -> &'static str {
    if is_user { "for this user" } else { "in this project" }
}

/// Changes the decisions, and writes them where that changed anything.
fn change(with: impl FnOnce(&mut Decisions) -> bool) -> Result<bool, Failure> {
    let file = decisions_file(home().as_deref())?;
    let mut decisions = Decisions::read(&file)?;
    let is_changed = with(&mut decisions);
    if is_changed {
        decisions.write(&file)?;
    }
    Ok(is_changed)
}
