//! `rep lsp`: a language server on stdin and stdout.

use rep_library::{LibraryOptions, settings};
use rep_lsp::{LanguageServerOptions, SessionEnd};

use crate::exit::Exit;
use crate::library::{decisions_file, home_folder, user_settings_file};
use crate::output::Output;

/// Serve an editor: findings, fixes and navigation
///
/// Speaks the Language Server Protocol on stdin and stdout; your editor starts it. Open files are checked as `rep check`
/// checks them, saved or not. The server runs no tool, opens no connection and writes no file.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  rep lsp                          # started by the editor")]
pub(crate) struct Args {
    /// Accepted for editors that pass it; stdin and stdout are the only transport
    #[arg(long, hide = true)]
    stdio: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Exit {
    let Args { stdio: _ } = args;
    // An author may edit a skill while the settings are broken, so the server starts without them.
    let extra = match user_settings_file() {
        Ok(file) => settings::user_roots(&file, home_folder().as_deref()).unwrap_or_else(|error| {
            output.warn(&format!("ignoring your rep.yaml: {error}"));
            Vec::new()
        }),
        Err(_) => Vec::new(),
    };
    let library = LibraryOptions {
        home: home_folder(),
        decisions: decisions_file(home_folder().as_deref()).ok(),
        extra,
        ..LibraryOptions::default()
    };
    match rep_lsp::serve(std::io::stdin(), std::io::stdout(), LanguageServerOptions { library }) {
        SessionEnd::Orderly => Exit::Fine,
        SessionEnd::Abrupt => Exit::Findings,
    }
}
