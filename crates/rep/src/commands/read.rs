//! `rep read`: a skill on activation, or one of its files.

use rep_library::disclose::{self, Refusal};

use crate::exit::{Exit, Failure};
use crate::library::LibraryArgs;
use crate::output::Output;

/// Print a skill as it is activated, or one of its files
#[derive(clap::Args)]
#[command(
    after_help = "Resources are listed and not read. A file must lie inside the skill's folder, links resolved.\n\nExamples:\n  rep read pdf-processing\n  rep read pdf-processing references/forms.md"
)]
pub(crate) struct Args {
    /// The skill: a name, `package:name`, or a path
    skill: String,
    /// One bundled file, relative to the skill's folder
    file: Option<String>,
    #[command(flatten)]
    library: LibraryArgs,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let (catalog, index) = args.library.one(&args.skill, output)?;
    let entry = &catalog.entries[index];
    let Some(file) = &args.file else {
        output.text(&disclose::activate(entry)?);
        return Ok(Exit::Fine);
    };
    match disclose::file(entry, file)? {
        Ok(bytes) => {
            output.bytes(&bytes);
            Ok(Exit::Fine)
        }
        Err(Refusal::Outside) => {
            let failure = Failure::refused("OUTSIDE", format!("`{file}` is not inside the skill's folder"));
            Err(failure.hint("only files of the skill itself are given out"))
        }
        Err(Refusal::Missing) => {
            Err(Failure::unable("FILE_NOT_FOUND", format!("skill `{}` has no file `{file}`", entry.qualified_name))
                .hint(format!("`rep read {}` lists its files", entry.qualified_name)))
        }
    }
}
