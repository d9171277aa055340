//! `rep trust` and `rep untrust`: decide whether a project's skills may be disclosed and run.

use std::path::PathBuf;

use rep_check::render::escape_invisible;
use rep_library::decisions::SkillFileChange;
use rep_library::trust::{self, ProjectTrust};

use crate::exit::{Exit, Failure};
use crate::library::{decisions_file, home_folder, working_folder};
use crate::output::Output;

/// The maximum number of diff lines printed per file.
const LINES_MAX: usize = 400;

/// Trust a project's skills as they are now
///
/// Until you trust a project, its skills are listed but never given to a model or run. Trust is bound to the path
/// and to the content of each skill: a skill that changes is untrusted again.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep trust
  rep trust --diff                    # what changed since you trusted it
  rep trust ../site
  rep trust signer team --key team.key.pub --for 'github:acme/*' --require")]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct TrustArgs {
    #[command(subcommand)]
    command: Option<TrustCommand>,
    /// The project [default: the enclosing repository]
    dir: Option<PathBuf>,
    /// Show what changed since the project was trusted, without trusting it
    #[arg(long)]
    diff: bool,
}

#[derive(clap::Subcommand)]
enum TrustCommand {
    Signer(super::trust_signer::Args),
}

/// Stop trusting a project's skills
///
/// The skills stay in place and are listed as `untrusted`. Exits with 1 if the project was not trusted.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  rep untrust")]
pub(crate) struct UntrustArgs {
    /// The project [default: the enclosing repository]
    dir: Option<PathBuf>,
}

fn resolve_project(dir: Option<&PathBuf>) -> Result<PathBuf, Failure> {
    match dir {
        Some(dir) if dir.is_dir() => Ok(dir.clone()),
        Some(dir) => Err(Failure::unable("UNREADABLE", format!("`{}` is not a directory", dir.display()))),
        None => Ok(rep_library::find_project_folder(&working_folder()?)),
    }
}

pub(crate) fn trust_project(args: &TrustArgs, output: &mut Output) -> Result<Exit, Failure> {
    if let Some(TrustCommand::Signer(signer)) = &args.command {
        return super::trust_signer::run(signer, output);
    }
    let project = resolve_project(args.dir.as_ref())?;
    let mut trust = ProjectTrust::open(&project, &decisions_file(home_folder().as_deref())?)?;
    if args.diff {
        return show_changes(&trust, output);
    }
    let skills = trust.trust_skills()?;
    for skill in &skills {
        let entry = &trust.catalog.entries[skill.index];
        if let Some(reason) = &skill.refused {
            output.warn(&format!("`{}` was not trusted: {reason}", escape_invisible(&entry.qualified_name)));
            continue;
        }
        output.write_data(&escape_invisible(&format!("{}  {}", entry.qualified_name, entry.folder.display())));
        output.write_data("\n");
    }
    let count = skills.iter().filter(|skill| skill.refused.is_none()).count();
    output.print_message(&format!(
        "trusted {count} {} in `{}`",
        if count == 1 { "skill" } else { "skills" },
        project.display()
    ));
    Ok(Exit::Fine)
}

pub(crate) fn untrust_project(args: &UntrustArgs, output: &mut Output) -> Result<Exit, Failure> {
    let project = resolve_project(args.dir.as_ref())?;
    if !trust::untrust_project(&project, &decisions_file(home_folder().as_deref())?)? {
        output.print_message(&format!("`{}` was not trusted", project.display()));
        return Ok(Exit::Findings);
    }
    output.print_message(&format!("removed the trust in `{}`", project.display()));
    Ok(Exit::Fine)
}

/// Prints the changes in each skill since the project was trusted.
fn show_changes(trust: &ProjectTrust, output: &mut Output) -> Result<Exit, Failure> {
    let changed = trust.list_changes().map_err(|never| {
        let name = &trust.catalog.entries[never.index].qualified_name;
        Failure::unable("NOT_TRUSTED", format!("there is nothing to compare `{}` with", escape_invisible(name)))
            .hint("its project was never trusted; review the skill, then run `rep trust`")
    })?;
    for (index, changes) in &changed {
        output.write_data(&render_changes(&trust.catalog.entries[*index].qualified_name, changes));
    }
    let count = changed.len();
    if count == 0 {
        output.print_message("nothing has changed since the project was trusted");
        return Ok(Exit::Fine);
    }
    let skills = if count == 1 { "skill" } else { "skills" };
    output.print_message(&format!(
        "{count} {skills} added or changed since the project was trusted; run `rep trust` to accept the changes"
    ));
    Ok(Exit::Findings)
}

/// Renders changes as a unified diff, without control characters.
pub(super) fn render_changes(name: &str, changes: &[SkillFileChange]) -> String {
    let mut text = String::new();
    for change in changes {
        let diff = change.render_diff(name);
        let lines: Vec<&str> = diff.lines().collect();
        for line in lines.iter().take(LINES_MAX) {
            text.push_str(&escape_invisible(&line.replace('\t', "    ")));
            text.push('\n');
        }
        if lines.len() > LINES_MAX {
            let path = format!("{name}/{}", change.path);
            text.push_str(&format!("… {} more lines of `{}`\n", lines.len() - LINES_MAX, escape_invisible(&path)));
        }
    }
    text
}
