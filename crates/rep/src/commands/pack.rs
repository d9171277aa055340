//! `rep pack`: a skill as one file.

use std::path::PathBuf;

use rep_check::{Level, Options, check};
use rep_library::read;
use rep_model::Skill;
use rep_package::files;

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
    let entry = &catalog.entries[index];
    let shown = entry.folder.to_string_lossy().into_owned();
    let is_lone = entry.skill.tree.is_lone_file;
    let tree = if is_lone {
        read::lone_file(&entry.location, &shown)
    } else {
        read::folder(&entry.folder, &shown, read::Extent::Folder)?
    };
    let (skill, faults) = Skill::parse(tree);
    let findings = check(&skill, faults, &Options::default()).findings;
    if let Some(first) = findings.iter().find(|finding| finding.level == Level::Error) {
        let failure = Failure::findings("INVALID_SKILL", format!("`{}` was not packed: {}", args.skill, first.message));
        return Err(failure.hint(format!("`rep check {shown}` shows all that is wrong")));
    }
    let name = skill.name().unwrap_or(&entry.name).to_owned();
    let found = if is_lone {
        files::some(
            &entry.folder,
            &rep_runtime::executable_skill::named_files(entry, rep_convert::document_of(&skill).as_ref()),
        )?
    } else {
        files::read(&entry.folder)?
    };
    if let Some(path) = files::credential(&found) {
        let message = format!("`{}` was not packed: `{path}` holds or is named like a credential", args.skill);
        return Err(Failure::refused("CREDENTIAL", message).hint("put it somewhere else than into the skill's folder"));
    }
    let packed = files::packed(&found, &name);
    let bytes =
        rep_archive::write_zip(&packed).map_err(|error| Failure::unable("UNWRITABLE", format!("`{name}`: {error}")))?;
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from(format!("{name}.skill")));
    write::file(&out, &bytes, args.force)?;
    output.data(&format!("{}\n", out.display()));
    output.say(&format!("{} files, {} bytes, {}", packed.len(), bytes.len(), files::digest_of(&bytes)));
    Ok(Exit::Fine)
}
