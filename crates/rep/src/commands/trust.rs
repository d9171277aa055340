//! `rep trust` and `rep untrust`: whether a project's skills may be disclosed and run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rep_check::render::visible;
use rep_library::store::{self, Change, Contents, Decisions, Side, Texts};
use rep_library::{Catalog, CatalogEntry, Options, Scope, TrustWanted};
use similar::TextDiff;

use crate::exit::{Exit, Failure};
use crate::library::{decisions_file, here, home};
use crate::output::Output;
use rep_library::settings;

/// The most lines of one file's difference that are shown.
const LINES_MAX: usize = 400;

/// Trust the skills of a project as they are
#[derive(clap::Args)]
#[command(
    after_help = "Until then a project's skills are listed and never disclosed. Trust is bound to the folder's real path and to the content of each skill: one that changes is untrusted again, and --diff shows what changed since.\n\nExamples:\n  rep trust\n  rep trust --diff      what changed; trusts nothing\n  rep trust ~/work/site"
)]
pub(crate) struct TrustArgs {
    /// The project [default: the repository around this folder]
    dir: Option<PathBuf>,
    /// Show what changed since the project was trusted, and trust nothing
    #[arg(long)]
    diff: bool,
}

/// Take the trust in a project's skills back
#[derive(clap::Args)]
#[command(after_help = "Example:\n  rep untrust")]
pub(crate) struct UntrustArgs {
    /// The project [default: the repository around this folder]
    dir: Option<PathBuf>,
}

fn project(dir: Option<&PathBuf>) -> Result<PathBuf, Failure> {
    match dir {
        Some(dir) if dir.is_dir() => Ok(dir.clone()),
        Some(dir) => Err(Failure::unable("UNREADABLE", format!("`{}` is no folder", dir.display()))),
        None => Ok(rep_library::project_of(&here()?)),
    }
}

/// The skills of a project that need trust, trusted or not.
fn skills(project: &Path) -> Result<Catalog, Failure> {
    let options = Options {
        project: Some(project.to_owned()),
        trust: TrustWanted::Given,
        extra: settings::project_roots(project)?,
        ..Options::default()
    };
    let mut catalog = Catalog::discover(&options)?;
    catalog.entries.retain(|entry| entry.scope != Scope::Managed);
    Ok(catalog)
}

pub(crate) fn trust(args: &TrustArgs, output: &mut Output) -> Result<Exit, Failure> {
    let project = project(args.dir.as_ref())?;
    let catalog = skills(&project)?;
    let file = decisions_file(home().as_deref())?;
    let mut decisions = Decisions::read(&file)?;
    if args.diff {
        return show(&project, &catalog, &decisions, &file, output);
    }
    let (mut digests, mut kept) = (BTreeMap::new(), Vec::new());
    for entry in &catalog.entries {
        let contents = Contents::read(&entry.folder, Texts::Kept);
        if let Some(reason) = &contents.unfit {
            output.warn(&format!("`{}` was not trusted: {reason}", visible(&entry.qualified_name)));
            continue;
        }
        digests.insert(store::inside(&project, &entry.folder), contents.digest());
        output.data(&visible(&format!("{}  {}", entry.qualified_name, entry.folder.display())));
        output.data("\n");
        kept.push(contents);
    }
    let count = digests.len();
    decisions.trust(&project, digests);
    decisions.write(&file)?;
    decisions.keep(&file, &kept)?;
    output.say(&format!(
        "trusted {count} {} of `{}` as they are",
        if count == 1 { "skill" } else { "skills" },
        project.display()
    ));
    Ok(Exit::Fine)
}

pub(crate) fn untrust(args: &UntrustArgs, output: &mut Output) -> Result<Exit, Failure> {
    let project = project(args.dir.as_ref())?;
    let file = decisions_file(home().as_deref())?;
    let mut decisions = Decisions::read(&file)?;
    if !decisions.untrust(&project) {
        output.say(&format!("`{}` was not trusted", project.display()));
        return Ok(Exit::Findings);
    }
    decisions.write(&file)?;
    decisions.keep(&file, &[])?;
    output.say(&format!("`{}` is no longer trusted", project.display()));
    Ok(Exit::Fine)
}

/// Shows what changed in each skill since the project was trusted.
fn show(
    project: &Path,
    catalog: &Catalog,
    decisions: &Decisions,
    file: &Path,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let mut changed = 0;
    for entry in &catalog.entries {
        match decisions.changes(file, project, &entry.folder) {
            None => {
                let failure = format!("there is nothing to compare `{}` with", visible(&entry.qualified_name));
                return Err(Failure::unable("NOT_TRUSTED", failure)
                    .hint("its project was never trusted; look at the skill itself, then `rep trust`"));
            }
            Some(changes) if changes.is_empty() => {}
            Some(changes) => {
                changed += 1;
                output.data(&differences(entry, &changes));
            }
        }
    }
    if changed == 0 {
        output.say("nothing changed since it was trusted");
        return Ok(Exit::Fine);
    }
    let skills = if changed == 1 { "skill" } else { "skills" };
    output.say(&format!("{changed} {skills} changed, or came, since; `rep trust` trusts them as they are"));
    Ok(Exit::Findings)
}

/// Changes as a unified diff, without anything that could steer a terminal.
pub(super) fn differences(entry: &CatalogEntry, changes: &[Change]) -> String {
    let mut text = String::new();
    for change in changes {
        let path = format!("{}/{}", entry.qualified_name, change.path);
        let side = |side: &Option<Side>, prefix: &str| match side {
            Some(_) => format!("{prefix}/{path}"),
            None => "/dev/null".to_owned(),
        };
        let (from, to) = (side(&change.before, "a"), side(&change.after, "b"));
        let diff = match (&change.before, &change.after) {
            (Some(Side::Mark(_)), _) | (_, Some(Side::Mark(_))) => marks(change, &from, &to),
            (before, after) => {
                let words = |side: &Option<Side>| match side {
                    Some(Side::Text(text)) => text.clone(),
                    Some(Side::Mark(_)) | None => String::new(),
                };
                let (before, after) = (words(before), words(after));
                if before == after {
                    format!("{from}: what may be done with the file changed, not its text\n")
                } else {
                    TextDiff::from_lines(&before, &after).unified_diff().header(&from, &to).to_string()
                }
            }
        };
        let lines: Vec<&str> = diff.lines().collect();
        for line in lines.iter().take(LINES_MAX) {
            text.push_str(&visible(&line.replace('\t', "    ")));
            text.push('\n');
        }
        if lines.len() > LINES_MAX {
            text.push_str(&format!("… {} more lines of `{}`\n", lines.len() - LINES_MAX, visible(&path)));
        }
    }
    text
}

/// A change that cannot be shown line by line.
fn marks(change: &Change, from: &str, to: &str) -> String {
    let word = |side: &Option<Side>| match side {
        None => "not there".to_owned(),
        Some(Side::Text(_)) => "text".to_owned(),
        Some(Side::Mark(mark)) => mark.clone(),
    };
    format!("--- {from}\n+++ {to}\n-{}\n+{}\n", word(&change.before), word(&change.after))
}
