//! `rep pack`: a skill as one file.

use std::path::PathBuf;

use rep_package::pack;

use crate::exit::{Exit, Failure};
use crate::library::{LibraryArgs, Places};
use crate::output::Output;
use crate::write;

/// Pack a skill into one file
#[derive(clap::Args)]
#[command(
    after_help = "The file is a zip whose files lie below the skill's name; the same skill gives the same bytes. Left out is what programs leave behind (.git, node_modules, __pycache__, *.pyc, .DS_Store) and `evals/`.\n\nExamples:\n  rep pack pdf-forms\n  rep pack ./skills/pdf-forms --out dist/pdf-forms.zip"
)]
pub(crate) struct Args {
    /// The skill: a name, `package:name` or a path
    skill: String,
    /// The file to write [default: NAME.skill]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace a file that is there
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    places: Places,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let (catalog, index) = LibraryArgs::of(&args.places).one(&args.skill, output)?;
    let packed = pack::pack(&catalog.entries[index], &args.skill)?;
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from(format!("{}.skill", packed.name)));
    write::file(&out, &packed.bytes, args.force)?;
    output.data(&format!("{}\n", out.display()));
    output.say(&format!("{} files, {} bytes, {}", packed.files, packed.bytes.len(), packed.digest));
    Ok(Exit::Fine)
}
