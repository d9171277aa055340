//! `rep man`: writes a man page for `rep` and for every command.
//!
//! The pages are generated from the definitions that parse the arguments. They contain no date, so the same version
//! always gives the same bytes.

use std::io;
use std::path::PathBuf;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::write;

/// The preamble that `roff` puts before everything it renders, to preserve apostrophes. A page needs it only once.
const PREAMBLE: &str = ".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n";

/// Write a man page for every command to a directory
///
/// Existing pages of `rep` are replaced. The directory is created if it does not exist.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep man man1
  rep man ~/.local/share/man/man1     # then: man rep-check")]
pub(crate) struct Args {
    /// The directory to write to
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let mut root = crate::command_line().mut_subcommands(|command| command.disable_help_subcommand(true));
    root.build();
    let mut pages = Vec::new();
    let mut commands = vec![root];
    while let Some(command) = commands.pop() {
        commands.extend(command.get_subcommands().filter(|command| !command.is_hide_set()).cloned());
        let (name, text) = render_page(command)
            .map_err(|error| Failure::unable("UNWRITABLE", format!("could not render a man page: {error}")))?;
        pages.push((name, text));
    }
    for (name, text) in &pages {
        write::replace_file(&args.directory.join(name), text)?;
    }
    output.print_message(&format!("wrote {} man pages to `{}`", pages.len(), args.directory.display()));
    Ok(Exit::Fine)
}

/// Renders a command's page. Returns its file name and text.
fn render_page(command: Command) -> io::Result<(String, String)> {
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let notes = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    let has_subcommands = command.get_subcommands().any(|command| !command.is_hide_set());
    let man = Man::new(command);
    let mut page = Vec::new();
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if has_subcommands {
        man.render_subcommands_section(&mut page)?;
    }
    if !notes.is_empty() {
        render_lines("EXIT STATUS", &notes, &mut page)?;
    }
    if !examples.is_empty() {
        render_lines("EXAMPLES", &examples, &mut page)?;
    }
    let sections = String::from_utf8(page).map_err(io::Error::other)?.replace(PREAMBLE, "");
    let file_name = man.get_filename();
    let name = file_name.trim_end_matches(".1");
    // Written here, because clap_mangen omits the quotes of an empty date, which shifts all fields after it.
    let title = format!(".TH {name} 1 \"\" \"rep {}\" \"Repertoire\"\n", env!("CARGO_PKG_VERSION"));
    Ok((file_name, format!("{PREAMBLE}{title}{sections}")))
}

/// Renders a section whose lines are preserved. The first line of the text is its heading, which `title` replaces.
fn render_lines(title: &str, text: &str, page: &mut Vec<u8>) -> io::Result<()> {
    let mut roff = Roff::new();
    roff.control("SH", [title]).control("nf", []);
    for line in text.lines().skip(1) {
        roff.text([roman(line)]);
    }
    roff.control("fi", []);
    roff.to_writer(page)
}
