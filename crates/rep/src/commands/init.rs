//! `rep init`: writes a skill that passes its own checks and tests.

use std::path::PathBuf;

use clap::ValueEnum;
use rep_check::Profile;
use rep_check::scaffold::{self, ToolLanguage};

use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::write;

/// Write a new skill that passes its own checks and tests
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  rep init release-notes\n  rep init csv-profile --tool python     Universal 2.1 with a tool\n  rep init style-guide --profile pmcp\n  rep init slugify --profile aam         with tests\n  rep init http-status --uasp            a structured *.uasp.yaml"
)]
pub(crate) struct Args {
    /// The skill's name, which is also its folder
    name: String,
    /// The dialect to write
    #[arg(long, value_name = "PROFILE", value_parser = ["agentskills", "universal", "aam", "pmcp", "uasp"])]
    profile: Option<String>,
    /// Add a tool in this language; implies Universal 2.1
    #[arg(long, value_enum)]
    tool: Option<Tool>,
    /// Write a structured `*.uasp.yaml` instead of a SKILL.md
    #[arg(long)]
    uasp: bool,
}

/// The runtimes tools may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Tool {
    /// `scripts/main.py`
    Python,
    /// `scripts/main.mjs`
    Node,
    /// `scripts/main.sh`
    Bash,
}

impl From<Tool> for ToolLanguage {
    fn from(tool: Tool) -> Self {
        match tool {
            Tool::Python => ToolLanguage::Python,
            Tool::Node => ToolLanguage::Node,
            Tool::Bash => ToolLanguage::Bash,
        }
    }
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    check_name(&args.name)?;
    let folder = PathBuf::from(&args.name);
    if folder.exists() {
        let failure = Failure::unable("EXISTS", format!("`{}` exists already", args.name));
        return Err(failure.hint("choose another name, or work in that folder"));
    }
    let profile = profile(args)?;
    let files = scaffold::skill_files(&args.name, profile, args.tool.map(ToolLanguage::from));
    for (path, text) in &files {
        if let Err(failure) = write::create(&folder.join(path), text) {
            // Half a skill is worse than none, and the folder was not there before.
            let _ = std::fs::remove_dir_all(&folder);
            return Err(failure);
        }
    }
    for (path, _) in &files {
        output.data(&format!("{}/{path}\n", args.name));
    }
    let name = &args.name;
    let has_tests = args.tool.is_some() || files.iter().any(|(path, _)| path.starts_with("tests/"));
    let test = if has_tests { format!(" and `rep test {name}`") } else { String::new() };
    output.say(&format!("next: write the description and the steps, then `rep check {name}`{test}"));
    Ok(Exit::Fine)
}

fn profile(args: &Args) -> Result<Profile, Failure> {
    let named = args.profile.as_deref().and_then(Profile::named);
    let clash = |one: &str, two: &str| {
        Err(Failure::unable("USAGE", format!("{one} and {two} contradict each other")).hint("leave one of them out"))
    };
    match (named, args.tool, args.uasp) {
        (None | Some(Profile::Uasp), None, true) => Ok(Profile::Uasp),
        (_, Some(_), true) => clash("--tool", "--uasp"),
        (Some(_), None, true) => clash("--profile", "--uasp"),
        (None | Some(Profile::Universal), Some(_), false) => Ok(Profile::Universal),
        (Some(_), Some(_), false) => clash("--profile", "--tool"),
        (Some(profile), None, false) => Ok(profile),
        (None, None, false) => Ok(Profile::AgentSkills),
    }
}

/// Only names every host takes.
fn check_name(name: &str) -> Result<(), Failure> {
    scaffold::check_name(name).map_err(|error| {
        let hint = match &error.suggestion {
            Some(suggestion) => format!("{}: `{suggestion}`", error.help),
            None => error.help.to_owned(),
        };
        Failure::unable("BAD_NAME", format!("`{name}` {}", error.message)).hint(hint)
    })
}
