//! `rep list`: lists the skills, and which copy of each is used.

use std::path::PathBuf;

use anstyle::{AnsiColor, Style};
use rep_check::render::escape_invisible;
use rep_library::discovery::find_unlisted_skills;
use rep_library::documents::list_document;
use rep_library::validation::list_version_warnings;
use rep_library::{CatalogEntry, Dependency, SkillStatus};
use rep_model::truncate::truncate_with_ellipsis;

use crate::exit::{Exit, Failure};
use crate::library::{self, LibraryArgs, working_folder};
use crate::output::Output;

/// List available skills, and which copy of each is used
///
/// Skills are discovered in the managed, project and personal directories of all known hosts, and in installed
/// packages. If several have the same name, the scope decides. Project skills are `untrusted` until you run `rep
/// trust`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep list
  rep list --path skills --json
  rep list --precedence claude-code
  rep list --host codex               # what Codex itself would list")]
pub(crate) struct Args {
    #[command(flatten)]
    library: LibraryArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let catalog = args.library.predict_catalog(output).map_err(|failure| failure.json(args.json))?;
    let is_complete = args.library.places.paths.is_empty() && args.library.host().is_none();
    let unlisted = if is_complete { find_unlisted_skills(&working_folder()?, &catalog) } else { Vec::new() };
    if !unlisted.is_empty() {
        output.print_message(&describe_unlisted(&unlisted));
    }
    let misnamed = catalog.find_misnamed_files();
    if !misnamed.is_empty() {
        output.print_message(&describe_misnamed(&misnamed));
    }
    if args.json {
        for entry in &catalog.entries {
            library::report_version_warnings(&list_version_warnings(&entry.findings), output);
        }
        output.write_json(&list_document(&catalog, args.library.host()));
        return Ok(Exit::Fine);
    }
    if catalog.entries.is_empty() {
        if unlisted.is_empty() && misnamed.is_empty() {
            output.print_message("no skills found; create one with `rep init NAME`");
        }
        return Ok(Exit::Fine);
    }
    let width = catalog.entries.iter().map(|entry| entry.qualified_name.chars().count()).max().unwrap_or(0).min(40);
    let mut text = String::new();
    for entry in &catalog.entries {
        text.push_str(&render_entry(entry, width, output));
    }
    output.write_data(&text);
    let count = |status: SkillStatus| catalog.entries.iter().filter(|entry| entry.status == status).count();
    let all = [
        SkillStatus::Active,
        SkillStatus::Hidden,
        SkillStatus::Shadowed,
        SkillStatus::Invalid,
        SkillStatus::Untrusted,
        SkillStatus::Disabled,
    ];
    let parts: Vec<String> = all
        .into_iter()
        .filter(|status| count(*status) > 0)
        .map(|status| format!("{} {}", count(status), status.name()))
        .collect();
    for entry in
        catalog.entries.iter().filter(|entry| matches!(entry.status, SkillStatus::Active | SkillStatus::Hidden))
    {
        for trouble in entry.dependencies.iter().filter_map(Dependency::describe_problem) {
            output.warn(&escape_invisible(&format!("`{}` {trouble}", entry.qualified_name)));
        }
    }
    for entry in &catalog.entries {
        library::report_version_warnings(&list_version_warnings(&entry.findings), output);
    }
    output.print_message(&parts.join(", "));
    for difference in args.library.host().into_iter().flat_map(|host| host.differs) {
        output.print_message(&format!("note: {}", difference.text));
    }
    Ok(Exit::Fine)
}

/// The maximum number of unlisted skills in a message.
const UNLISTED_MAX: usize = 3;

/// Says why directories whose main file is misnamed are not listed, and how to fix them.
fn describe_misnamed(files: &[PathBuf]) -> String {
    let shown: Vec<String> = files
        .iter()
        .take(UNLISTED_MAX)
        .map(|file| format!("`{}`", escape_invisible(&file.display().to_string())))
        .collect();
    let (shown, more) = (shown.join(", "), count_more(files.len()));
    format!("not listed, because hosts look for `SKILL.md`: {shown}{more}; rename the file")
}

/// Returns how many of `count` names a message leaves out.
fn count_more(count: usize) -> String {
    match count.saturating_sub(UNLISTED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    }
}

/// Says why skills in the working directory are not listed, and how to list them.
fn describe_unlisted(names: &[String]) -> String {
    if let [name] = names {
        let name = escape_invisible(name);
        return format!(
            "`{name}` is not listed, because hosts do not search this directory; use `rep list --path {name}`, or move \
             it to `skills/{name}`"
        );
    }
    let shown: Vec<String> =
        names.iter().take(UNLISTED_MAX).map(|name| format!("`{}`", escape_invisible(name))).collect();
    format!(
        "{}{} are not listed, because hosts do not search this directory; use `rep list --path .`, or move them to \
         `skills/`",
        shown.join(", "),
        count_more(names.len())
    )
}

fn render_entry(entry: &CatalogEntry, width: usize, output: &Output) -> String {
    let style = status_style(entry.status);
    let name = output.style_text(Style::new().bold(), &format!("{:width$}", escape_invisible(&entry.qualified_name)));
    let status = output.style_text(style, &format!("{:9}", entry.status.name()));
    let about = if entry.reason.is_empty() { shorten_description(&entry.description) } else { entry.reason.clone() };
    format!("{name}  {status}  {:8}  {}\n", entry.scope.name(), escape_invisible(&about))
}

/// Returns the color of a status.
pub(super) fn status_style(status: SkillStatus) -> Style {
    match status {
        SkillStatus::Active => AnsiColor::Green.on_default(),
        SkillStatus::Hidden | SkillStatus::Disabled | SkillStatus::Shadowed => Style::new().dimmed(),
        SkillStatus::Untrusted => AnsiColor::Yellow.on_default(),
        SkillStatus::Invalid => AnsiColor::Red.on_default(),
    }
}

/// The maximum number of characters of a description in a listing.
const SHORT_CHARS_MAX: usize = 80;

pub(super) fn shorten_description(text: &str) -> String {
    let (mut flat, mut length) = (String::new(), 0);
    for word in text.split_whitespace() {
        if length > 0 {
            flat.push(' ');
            length += 1;
        }
        flat.push_str(word);
        length += word.chars().count();
        // The rest would be cut off anyway.
        if length > SHORT_CHARS_MAX {
            return truncate_with_ellipsis(&flat, SHORT_CHARS_MAX - 1).into_owned();
        }
    }
    flat
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_are_cut_at_eighty_characters_on_one_line() {
        assert_eq!(shorten_description("  a\n b\tc "), "a b c");
        assert_eq!(shorten_description(""), "");
        let fits = format!("{} {}", "x".repeat(39), "é".repeat(40));
        assert_eq!(shorten_description(&fits), fits);
        assert_eq!(shorten_description(&format!("{fits}y")), format!("{}…", fits.chars().take(79).collect::<String>()));
        assert_eq!(
            shorten_description(&format!("{fits} y")),
            format!("{}…", fits.chars().take(79).collect::<String>())
        );
    }
}
