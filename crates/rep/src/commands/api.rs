//! `rep api`: the library and the runtime for programs in other languages.

use rep_api::ApiOptions;
use rep_library::request::LibraryRequest;
use rep_library::{CatalogAudience, LibraryOptions};
use rep_runtime::Confinement;

use crate::exit::{Exit, Failure};
use crate::library::{LibraryArgs, LibraryPlaces, user_folders, working_folder};
use crate::terminal::{runtime_options, runtime_paths};

/// Answer requests of a program: JSON-RPC on stdio
///
/// Each line of stdin is one JSON-RPC 2.0 request, each line of stdout one answer. Methods have the names of commands:
/// `list`, `read`, `search`, `query`, `run_script` and others. The library stays open, so answers are fast. The process
/// ends with its input.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep api --path skills               # started by a program
  echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\"}' | rep api")]
pub(crate) struct Args {
    #[command(flatten)]
    library: LibraryPlaces,

    /// Answer for a model: only active skills exist
    #[arg(long)]
    for_model: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let library = LibraryArgs::from_places(&args.library);
    let audience = if args.for_model { CatalogAudience::Models } else { CatalogAudience::People };
    let options = ApiOptions {
        library: LibraryRequest { audience, ..library.request()? },
        user: user_folders(),
        working_folder: working_folder()?,
        paths: runtime_paths(),
        runtime: runtime_options(LibraryOptions::default(), std::path::PathBuf::new(), Confinement::Sandboxed),
        version: env!("CARGO_PKG_VERSION"),
    };
    rep_api::serve(std::io::stdin(), std::io::stdout(), options);
    Ok(Exit::Fine)
}
