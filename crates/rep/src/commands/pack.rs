//! `rep pack`: packs a skill into one file.

use std::path::PathBuf;

use rep_package::pack;

use crate::exit::{Exit, Failure};
use crate::library::{LibraryArgs, LibraryPlaces};
use crate::output::Output;
use crate::write;

/// Pack a skill into a single file
///
/// Writes a zip archive with the skill's directory inside. The same skill always gives the same bytes. `evals/` and
/// files such as .git, `node_modules` and `__pycache__` are left out. A signed skill is packed whole.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep pack glossary
  rep pack skills/glossary --out dist/glossary.zip")]
pub(crate) struct Args {
    /// The skill: a name, `package:name`, or a path
    skill: String,
    /// The file to write [default: NAME.skill]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    places: LibraryPlaces,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let (catalog, index) = LibraryArgs::from_places(&args.places).find_skill(&args.skill, output)?;
    let packed = pack::pack_skill(&catalog.entries[index], &args.skill)?;
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from(format!("{}.skill", packed.name)));
    write::write_result(&out, &packed.bytes, args.force)?;
    output.write_data(&format!("{}\n", out.display()));
    output.print_message(&format!("{} files, {} bytes, {}", packed.files, packed.bytes.len(), packed.digest));
    Ok(Exit::Fine)
}
