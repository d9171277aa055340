//! `rep sbom`: a bill of materials of installed skills.

use rep_package::sbom::build_sbom;

use crate::exit::{Exit, Failure};
use crate::install_scope::ScopeArgs;
use crate::output::Output;

/// Print a bill of materials of installed skills
///
/// A CycloneDX 1.6 document in JSON: each skill with its version, source, commit or manifest, digests of all files,
/// signer, and the skills it requires. The same lock file gives the same document.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep sbom
  rep sbom slugify --scope personal")]
pub(crate) struct Args {
    /// Only these skills
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Print JSON, which is the only format
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let print = |output: &mut Output| {
        let document = build_sbom(&args.names, &args.scope.resolve()?, env!("CARGO_PKG_VERSION"))?;
        output.write_json(&document);
        Ok(Exit::Fine)
    };
    print(output).map_err(|failure: Failure| failure.json(args.json))
}
