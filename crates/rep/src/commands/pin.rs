//! `rep pin` and `rep unpin`: hold installed skills at what is installed.

use rep_check::render::escape_invisible;
use rep_package::update::{PinChange, change_pins};
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::install_scope::ScopeArgs;
use crate::output::Output;

/// Hold installed skills at what is installed
///
/// `rep update` skips a pinned skill until you run `rep unpin`. `rep sync` and `rep outdated` work as before.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  rep pin glossary")]
pub(crate) struct PinArgs {
    #[command(flatten)]
    names: PinnedNames,
}

/// Let `rep update` change installed skills again
///
/// The opposite of `rep pin`.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  rep unpin glossary")]
pub(crate) struct UnpinArgs {
    #[command(flatten)]
    names: PinnedNames,
}

#[derive(clap::Args)]
struct PinnedNames {
    /// The installed skills
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn pin_skills(args: &PinArgs, output: &mut Output) -> Result<Exit, Failure> {
    change_names(&args.names, PinChange::Pin, output).map_err(|failure| failure.json(args.names.json))
}

pub(crate) fn unpin_skills(args: &UnpinArgs, output: &mut Output) -> Result<Exit, Failure> {
    change_names(&args.names, PinChange::Unpin, output).map_err(|failure| failure.json(args.names.json))
}

fn change_names(args: &PinnedNames, change: PinChange, output: &mut Output) -> Result<Exit, Failure> {
    let scope = args.scope.resolve()?;
    let changed = change_pins(&args.names, change, &scope)?;
    if args.json {
        output.write_json(&json!({ "scope": scope.name(), "changed": changed }));
        return Ok(Exit::Fine);
    }
    let state = if change == PinChange::Pin { "pinned" } else { "unpinned" };
    for name in &args.names {
        let note = if changed.contains(name) { "" } else { " already" };
        output.write_data(&format!("{}{note} {state}\n", escape_invisible(name)));
    }
    Ok(Exit::Fine)
}
