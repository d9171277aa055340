//! `rep trust` and `rep untrust`: whether a project's skills may be disclosed and run.

use std::path::PathBuf;

use rep_check::render::visible;
use rep_library::CatalogEntry;
use rep_library::store::Change;
use rep_library::trust::{self, ProjectTrust};

use crate::exit::{Exit, Failure};
use crate::library::{decisions_file, here, home};
use crate::output::Output;

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

pub(crate) fn trust(args: &TrustArgs, output: &mut Output) -> Result<Exit, Failure> {
    let project = project(args.dir.as_ref())?;
    let mut trust = ProjectTrust::open(&project, &decisions_file(home().as_deref())?)?;
    if args.diff {
        return show(&trust, output);
    }
    let skills = trust.trust()?;
    for skill in &skills {
        let entry = &trust.catalog.entries[skill.index];
        if let Some(reason) = &skill.refused {
            output.warn(&format!("`{}` was not trusted: {reason}", visible(&entry.qualified_name)));
            continue;
        }
        output.data(&visible(&format!("{}  {}", entry.qualified_name, entry.folder.display())));
        output.data("\n");
    }
    let count = skills.iter().filter(|skill| skill.refused.is_none()).count();
    output.say(&format!(
        "trusted {count} {} of `{}` as they are",
        if count == 1 { "skill" } else { "skills" },
        project.display()
    ));
    Ok(Exit::Fine)
}

pub(crate) fn untrust(args: &UntrustArgs, output: &mut Output) -> Result<Exit, Failure> {
    let project = project(args.dir.as_ref())?;
    if !trust::untrust(&project, &decisions_file(home().as_deref())?)? {
        output.say(&format!("`{}` was not trusted", project.display()));
        return Ok(Exit::Findings);
    }
    output.say(&format!("`{}` is no longer trusted", project.display()));
    Ok(Exit::Fine)
}

/// Shows what changed in each skill since the project was trusted.
fn show(trust: &ProjectTrust, output: &mut Output) -> Result<Exit, Failure> {
    let changed = trust.changes().map_err(|never| {
        let name = &trust.catalog.entries[never.index].qualified_name;
        Failure::unable("NOT_TRUSTED", format!("there is nothing to compare `{}` with", visible(name)))
            .hint("its project was never trusted; look at the skill itself, then `rep trust`")
    })?;
    for (index, changes) in &changed {
        output.data(&differences(&trust.catalog.entries[*index], changes));
    }
    let count = changed.len();
    if count == 0 {
        output.say("nothing changed since it was trusted");
        return Ok(Exit::Fine);
    }
    let skills = if count == 1 { "skill" } else { "skills" };
    output.say(&format!("{count} {skills} changed, or came, since; `rep trust` trusts them as they are"));
    Ok(Exit::Findings)
}

/// Changes as a unified diff, without anything that could steer a terminal.
pub(super) fn differences(entry: &CatalogEntry, changes: &[Change]) -> String {
    let mut text = String::new();
    for change in changes {
        let diff = change.diff(&entry.qualified_name);
        let lines: Vec<&str> = diff.lines().collect();
        for line in lines.iter().take(LINES_MAX) {
            text.push_str(&visible(&line.replace('\t', "    ")));
            text.push('\n');
        }
        if lines.len() > LINES_MAX {
            let path = format!("{}/{}", entry.qualified_name, change.path);
            text.push_str(&format!("… {} more lines of `{}`\n", lines.len() - LINES_MAX, visible(&path)));
        }
    }
    text
}
