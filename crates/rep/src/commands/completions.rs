//! `rep completions`: generates a completion script for a shell.
//!
//! The script is generated from the same definitions that parse the arguments, so it lists every command and flag.

use clap::ValueEnum;
use clap_complete::Shell;

use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Generate a completion script for your shell
///
/// Prints the script to stdout. Load it in your shell's startup file, or write it to the directory where your shell
/// looks for completions.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  source <(rep completions bash)         # in ~/.bashrc
  rep completions zsh > _rep             # in a directory of $fpath
  rep completions fish > rep.fish        # in ~/.config/fish/completions
  rep completions powershell > rep.ps1   # to run in $PROFILE")]
pub(crate) struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: ShellName,
}

/// The supported shells. The tests load the script into each of them except PowerShell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ShellName {
    /// Bash 4.4 or later
    Bash,
    /// Zsh
    Zsh,
    /// Fish
    Fish,
    /// PowerShell
    #[value(name = "powershell")]
    PowerShell,
}

impl From<ShellName> for Shell {
    fn from(shell: ShellName) -> Self {
        match shell {
            ShellName::Bash => Shell::Bash,
            ShellName::Zsh => Shell::Zsh,
            ShellName::Fish => Shell::Fish,
            ShellName::PowerShell => Shell::PowerShell,
        }
    }
}

#[expect(clippy::unnecessary_wraps, reason = "every command has the same shape")]
pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(Shell::from(args.shell), &mut crate::command_line(), "rep", &mut script);
    output.write_bytes(&script);
    Ok(Exit::Fine)
}
