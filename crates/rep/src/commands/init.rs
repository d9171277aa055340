//! `rep init`: writes a skill that passes its own checks and tests.

use std::path::PathBuf;

use clap::ValueEnum;
use rep_check::Profile;
use rep_check::scaffold::{self, ToolLanguage};

use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::write;

/// Create a skill that passes its own checks and tests
///
/// Writes a new directory with the skill's name. The default is a plain SKILL.md as described on agentskills.io;
/// options select another dialect, add a tool, or write a structured UASP file.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep init release-notes
  rep init csv-import --tool python      # Universal 2.1, with a Python tool
  rep init house-style --profile pmcp
  rep init headlines --profile aam       # with tests
  rep init status-codes --uasp           # a *.uasp.yaml file")]
pub(crate) struct Args {
    /// The name of the skill and of its directory
    name: String,
    /// The dialect to write
    #[arg(long, value_name = "PROFILE", value_parser = ["agentskills", "universal", "aam", "pmcp", "uasp"])]
    profile: Option<String>,
    /// Add a tool in this language; implies `--profile universal`
    #[arg(long, value_enum)]
    tool: Option<ToolLanguageChoice>,
    /// Write a `*.uasp.yaml` file instead of a SKILL.md
    #[arg(long)]
    uasp: bool,
}

/// The languages of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ToolLanguageChoice {
    /// `scripts/main.py`
    Python,
    /// `scripts/main.mjs`
    Node,
    /// `scripts/main.sh`
    Bash,
}

impl From<ToolLanguageChoice> for ToolLanguage {
    fn from(tool: ToolLanguageChoice) -> Self {
        match tool {
            ToolLanguageChoice::Python => ToolLanguage::Python,
            ToolLanguageChoice::Node => ToolLanguage::Node,
            ToolLanguageChoice::Bash => ToolLanguage::Bash,
        }
    }
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    check_name(&args.name)?;
    let folder = PathBuf::from(&args.name);
    if folder.exists() {
        let failure = Failure::unable("EXISTS", format!("`{}` already exists", args.name));
        return Err(failure.hint("choose another name, or edit the existing directory"));
    }
    let profile = resolve_profile(args)?;
    let files = scaffold::build_skill_files(&args.name, profile, args.tool.map(ToolLanguage::from));
    for (path, text) in &files {
        if let Err(failure) = write::create_file(&folder.join(path), text) {
            // Do not leave half a skill behind. The directory did not exist before.
            let _ = std::fs::remove_dir_all(&folder);
            return Err(failure);
        }
    }
    for (path, _) in &files {
        output.write_data(&format!("{}/{path}\n", args.name));
    }
    let name = &args.name;
    let has_tests = args.tool.is_some() || files.iter().any(|(path, _)| path.starts_with("tests/"));
    let test = if has_tests { format!(" and `rep test {name}`") } else { String::new() };
    output.print_message(&format!("next: write the description and the steps, then `rep check {name}`{test}"));
    Ok(Exit::Fine)
}

fn resolve_profile(args: &Args) -> Result<Profile, Failure> {
    let named = args.profile.as_deref().and_then(Profile::from_name);
    let clash = |one: &str, two: &str| {
        Err(Failure::unable("USAGE", format!("{one} and {two} cannot be used together")).hint("omit one of them"))
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

/// Accepts only names that every host accepts.
fn check_name(name: &str) -> Result<(), Failure> {
    scaffold::check_name(name).map_err(|error| {
        let hint = match &error.suggestion {
            Some(suggestion) => format!("{}: `{suggestion}`", error.help),
            None => error.help.to_owned(),
        };
        Failure::unable("BAD_NAME", format!("`{name}` {}", error.message)).hint(hint)
    })
}
