//! Parses the command lines of frequent commands without the options of all others.
//!
//! Building the complete command line takes longer than many commands run. A line that does not parse here is parsed
//! again by the complete definition, which alone prints help and errors.

use std::ffi::OsString;

use clap::{ArgMatches, Args as _, FromArgMatches};

use crate::{Cli, Command, GlobalArgs, commands};

/// A frequent command: its name, how its options are added, and how they are read.
type FrequentCommand =
    (&'static str, fn(clap::Command) -> clap::Command, fn(&mut ArgMatches) -> Result<Command, clap::Error>);

macro_rules! frequent_commands {
    ($($name:literal => $variant:ident($module:ident),)*) => {
        &[$((
            $name,
            commands::$module::Args::augment_args,
            |matches| commands::$module::Args::from_arg_matches_mut(matches).map(Command::$variant),
        ),)*]
    };
}

const FREQUENT_COMMANDS: &[FrequentCommand] = frequent_commands! {
    "ask" => Ask(ask),
    "check" => Check(check),
    "exec" => Exec(exec),
    "hash" => Hash(hash),
    "list" => List(list),
    "policy" => Policy(policy),
    "prompt" => Prompt(prompt),
    "query" => Query(query),
    "read" => Read(read),
    "read-properties" => ReadProperties(read_properties),
    "run" => Run(run),
    "scan" => Scan(scan),
    "search" => Search(search),
    "select" => Select(select),
    "show" => Show(show),
    "state" => State(state),
    "to-prompt" => ToPrompt(to_prompt),
    "tools" => Tools(tools),
    "validate" => Validate(validate),
    "why" => Why(why),
};

/// Parses the words after the program's name, if they start with a frequent command and are correct.
pub(crate) fn parse(words: &[OsString]) -> Option<Cli> {
    let first = words.first()?.to_str()?;
    let (name, add_options, read_options) = FREQUENT_COMMANDS.iter().find(|(name, _, _)| *name == first)?;
    let root = GlobalArgs::augment_args(clap::Command::new("rep").no_binary_name(true));
    let root = root.disable_help_flag(true).disable_help_subcommand(true).disable_version_flag(true);
    let mut matches = root.subcommand(add_options(clap::Command::new(*name))).try_get_matches_from(words).ok()?;
    let (_, mut options) = matches.remove_subcommand()?;
    let command = read_options(&mut options).ok()?;
    Some(Cli { command, global: GlobalArgs::from_arg_matches_mut(&mut matches).ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_those_of_the_complete_command_line() {
        let complete = crate::command_line();
        for (name, add_options, _) in FREQUENT_COMMANDS {
            let known = complete.find_subcommand(name).expect("the command exists");
            let own = add_options(clap::Command::new(*name));
            let describe = |command: &clap::Command| -> Vec<String> {
                command.get_arguments().map(|argument| format!("{argument:?}")).collect()
            };
            assert_eq!(describe(&own), describe(known), "{name}");
            assert_eq!(own.get_groups().count(), known.get_groups().count(), "{name}");
        }
    }

    #[test]
    fn a_line_with_an_error_or_help_is_left_to_the_complete_command_line() {
        let parse = |words: &[&str]| parse(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert!(parse(&["list", "--json", "-q"]).is_some_and(|cli| cli.global.quiet));
        for words in [&["list", "--help"][..], &["list", "--no-such"], &["tour"], &["-q", "list"], &[], &["run"]] {
            assert!(parse(words).is_none(), "{words:?}");
        }
    }
}
