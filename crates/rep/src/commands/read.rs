//! `rep read`: prints a skill as on activation, or one of its files.

use rep_library::prompt::{self, FileRefusal};

use crate::exit::{Exit, Failure};
use crate::library::LibraryArgs;
use crate::output::Output;

/// Print a skill's instructions, or one of its files
///
/// Prints what an agent receives when it activates the skill: the body, the directory and a list of resources.
/// Files outside the skill's directory are refused.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep read changelog-notes
  rep read changelog-notes references/entry-kinds.md")]
pub(crate) struct Args {
    /// The skill: a name, `package:name`, or a path
    skill: String,
    /// A file in the skill's directory
    file: Option<String>,
    #[command(flatten)]
    library: LibraryArgs,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let (catalog, index) = args.library.find_skill(&args.skill, output)?;
    let entry = &catalog.entries[index];
    let Some(file) = &args.file else {
        output.write_text(&prompt::activate_skill(entry)?);
        return Ok(Exit::Fine);
    };
    match prompt::read_bundled_file(entry, file)? {
        Ok(bytes) => {
            output.write_bytes(&bytes);
            Ok(Exit::Fine)
        }
        Err(FileRefusal::Outside) => {
            let failure = Failure::refused("OUTSIDE", format!("`{file}` is outside the skill's directory"));
            Err(failure.hint("only files in the skill's directory can be read"))
        }
        Err(FileRefusal::Missing) => {
            Err(Failure::unable("FILE_NOT_FOUND", format!("skill `{}` has no file `{file}`", entry.qualified_name))
                .hint(format!("run `rep read {}` to see its files", entry.qualified_name)))
        }
    }
}
