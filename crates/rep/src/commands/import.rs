//! `rep import`: a skill that was written for a host, in its author's shape again.

use std::path::PathBuf;

use rep_hosts::hosts::restored_manifest;
use rep_library::{find, read};
use rep_model::{Entry, Skill};
use rep_package::place::{Bytes, Existing, Placed, place};

use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Put a skill that was exported for a host back into its author's shape
#[derive(clap::Args)]
#[command(
    after_help = "What `rep export --host claude-api` keeps in `metadata` goes back to where it came from. The folder that is read is never touched.\n\nExample:\n  rep import --host claude-api dist/pdf-forms --out skills"
)]
pub(crate) struct Args {
    /// The folder of the skill
    folder: PathBuf,
    /// The host it was written for
    #[arg(long, value_name = "HOST", value_parser = ["claude-api"])]
    host: String,
    /// The folder to write to
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Replace what is there
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let shown = find::shown(&args.folder);
    let tree = read::folder(&args.folder, &shown, read::Extent::Main)?;
    let (skill, faults) = Skill::parse(tree);
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else {
        let reason = faults.first().map_or("it has no readable SKILL.md", |fault| fault.message.as_str());
        return Err(Failure::unable("UNREADABLE", format!("`{shown}`: {reason}")));
    };
    let restored = restored_manifest(front, manifest.body());
    if restored.is_none() {
        output.say(&format!("nothing in `{shown}` came from elsewhere; it is copied as it is"));
    }
    let mut files = vec![Placed {
        path: "SKILL.md".to_owned(),
        content: Bytes::Here(restored.unwrap_or_else(|| manifest.source.text().as_bytes().to_vec())),
        is_executable: false,
    }];
    for (path, entry) in &skill.tree.entries {
        if let (Entry::File { is_executable, .. }, true) = (entry, path != manifest.file) {
            let content = Bytes::Of(args.folder.join(path));
            files.push(Placed { path: path.clone(), content, is_executable: *is_executable });
        }
    }
    let target = args.out.join(skill.name().unwrap_or("skill"));
    let existing = if args.force { Existing::Replace } else { Existing::Refuse };
    place(&files, &target, existing).map_err(|error| Failure::unable("UNWRITABLE", error.to_string()))?;
    output.data(&format!("{}\n", target.display()));
    Ok(Exit::Fine)
}
