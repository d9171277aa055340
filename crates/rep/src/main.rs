//! The command line: the only room that prints, exits, reads arguments, environment, clock and disk.
//!
//! A command is one file in `commands/`: an `Args` whose doc comment is its help, and a `run`
//! that decides in the libraries and prints here. Reading skill folders is
//! the business of `rep-library`; writing lives in `write`.
#![expect(clippy::disallowed_methods, reason = "this room touches the disk and the environment for all others")]

mod commands;
mod exit;
mod installed;
mod library;
mod output;
mod sources;
mod terminal;
mod write;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::exit::{Exit, Failure};
use crate::output::{Choice, Output};

/// The toolchain for agent skills: reads every dialect, says what is wrong, and mends what it can
#[derive(Parser)]
#[command(name = "rep", version, arg_required_else_help = true, propagate_version = false)]
#[command(
    after_help = "Start here:\n  rep tour              two minutes on bundled examples\n  rep check             judge the skills below this folder\n  rep explain RULE      what a finding means\n\nExit codes: 0 fine, 1 findings, 2 could not do the work, 3 refused, 4 the skill's own run failed, 130 interrupted."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// When to colour what people read
    #[arg(long, global = true, value_enum, default_value_t = Choice::Auto, value_name = "WHEN")]
    color: Choice,
    /// Say less
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Say more
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    verbose: bool,
}

#[derive(Subcommand)]
enum Command {
    Init(commands::init::Args),
    Check(commands::check::Args),
    Explain(commands::explain::Args),
    Validate(commands::validate::Args),
    ReadProperties(commands::read_properties::Args),
    ToPrompt(commands::to_prompt::Args),
    Hash(commands::hash::Args),
    Tools(commands::tools::Args),
    List(commands::list::Args),
    Show(commands::show::Args),
    Prompt(commands::prompt::Args),
    Read(commands::read::Args),
    Search(commands::search::Args),
    EvalTriggers(commands::eval_triggers::Args),
    Select(commands::select::Args),
    Query(commands::query::Args),
    Ask(commands::ask::Args),
    State(commands::state::Args),
    Exec(commands::exec::Args),
    Workflow(commands::workflow::Args),
    Run(commands::run::Args),
    Test(commands::test::Args),
    Policy(commands::policy::Args),
    Audit(commands::audit::Args),
    Secrets(commands::secrets::Args),
    Tasks(commands::tasks::Args),
    Deps(commands::deps::Args),
    Hosts(commands::hosts::Args),
    Export(commands::export::Args),
    Import(commands::import::Args),
    Serve(commands::serve::Args),
    Install(commands::install::Args),
    Remove(commands::remove::Args),
    Outdated(commands::outdated::Args),
    Verify(commands::verify::Args),
    Pack(commands::pack::Args),
    Convert(commands::convert::Args),
    Trust(commands::trust::TrustArgs),
    Untrust(commands::trust::UntrustArgs),
    Why(commands::why::Args),
    Disable(commands::switch::DisableArgs),
    Enable(commands::switch::EnableArgs),
    Tour(commands::tour::Args),
}

fn main() -> ExitCode {
    // In the first process of a sandbox this does not return.
    rep_sandbox::init();
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let Some(exit) = plainly(&words) {
        return exit;
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are answers, everything else is a usage error; clap knows which stream.
            let code = if error.use_stderr() { 2 } else { 0 };
            // Nothing can be told to somebody who closed the stream.
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    let mut output = Output::new(cli.color, cli.quiet, cli.verbose);
    let result = dispatch(cli.command, &mut output);
    ended(result, &mut output)
}

/// Answers the shortest command lines without building the whole command tree, which costs more than they do: scripts
/// call the reference tool's commands once per skill. Anything with a flag goes the long way.
fn plainly(words: &[OsString]) -> Option<ExitCode> {
    let (command, rest) = words.split_first()?;
    let is_flag = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
    if (command == "--version" || command == "-V") && rest.is_empty() {
        Output::new(Choice::Never, false, false).data(concat!("rep ", env!("CARGO_PKG_VERSION"), "\n"));
        return Some(ExitCode::SUCCESS);
    }
    if rest.is_empty() || rest.iter().any(is_flag) {
        return None;
    }
    let mut output = Output::new(Choice::Auto, false, false);
    let paths = || rest.iter().map(PathBuf::from).collect::<Vec<PathBuf>>();
    let result = match (command.to_str()?, rest) {
        ("validate", [path]) => commands::validate::run(&commands::validate::Args::of(path.into()), &mut output),
        ("read-properties", [path]) => {
            commands::read_properties::run(&commands::read_properties::Args::of(path.into()), &mut output)
        }
        ("to-prompt", _) => commands::to_prompt::run(&commands::to_prompt::Args::of(paths()), &mut output),
        _ => return None,
    };
    Some(ended(result, &mut output))
}

/// The exit code of a command that has run, with its failure told.
fn ended(result: Result<Exit, Failure>, output: &mut Output) -> ExitCode {
    if let Some(error) = output.failed.take() {
        output.failure(&Failure::unable("UNWRITABLE", format!("could not write the output: {error}")));
        return Exit::Unable.into();
    }
    match result {
        Ok(exit) => exit.into(),
        Err(failure) => {
            output.failure(&failure);
            failure.exit.into()
        }
    }
}

fn dispatch(command: Command, output: &mut Output) -> Result<Exit, Failure> {
    match command {
        Command::Init(args) => commands::init::run(&args, output),
        Command::Check(args) => commands::check::run(&args, output),
        Command::Explain(args) => commands::explain::run(&args, output),
        Command::Validate(args) => commands::validate::run(&args, output),
        Command::ReadProperties(args) => commands::read_properties::run(&args, output),
        Command::ToPrompt(args) => commands::to_prompt::run(&args, output),
        Command::Hash(args) => commands::hash::run(&args, output),
        Command::Tools(args) => commands::tools::run(&args, output),
        Command::List(args) => commands::list::run(&args, output),
        Command::Show(args) => commands::show::run(&args, output),
        Command::Prompt(args) => commands::prompt::run(&args, output),
        Command::Read(args) => commands::read::run(&args, output),
        Command::Search(args) => commands::search::run(&args, output),
        Command::EvalTriggers(args) => commands::eval_triggers::run(&args, output),
        Command::Select(args) => commands::select::run(&args, output),
        Command::Query(args) => commands::query::run(&args, output),
        Command::Ask(args) => commands::ask::run(&args, output),
        Command::State(args) => commands::state::run(&args, output),
        Command::Exec(args) => commands::exec::run(&args, output),
        Command::Workflow(args) => commands::workflow::run(&args, output),
        Command::Run(args) => commands::run::run(&args, output),
        Command::Test(args) => commands::test::run(&args, output),
        Command::Policy(args) => commands::policy::run(&args, output),
        Command::Audit(args) => commands::audit::run(&args, output),
        Command::Secrets(args) => commands::secrets::run(&args, output),
        Command::Tasks(args) => commands::tasks::run(&args, output),
        Command::Deps(args) => commands::deps::run(&args, output),
        Command::Hosts(args) => commands::hosts::run(&args, output),
        Command::Export(args) => commands::export::run(&args, output),
        Command::Import(args) => commands::import::run(&args, output),
        Command::Serve(args) => commands::serve::run(&args, output),
        Command::Install(args) => commands::install::run(&args, output),
        Command::Remove(args) => commands::remove::run(&args, output),
        Command::Outdated(args) => commands::outdated::run(&args, output),
        Command::Verify(args) => commands::verify::run(&args, output),
        Command::Pack(args) => commands::pack::run(&args, output),
        Command::Convert(args) => commands::convert::run(&args, output),
        Command::Trust(args) => commands::trust::trust(&args, output),
        Command::Untrust(args) => commands::trust::untrust(&args, output),
        Command::Why(args) => commands::why::run(&args, output),
        Command::Disable(args) => commands::switch::disable(&args, output),
        Command::Enable(args) => commands::switch::enable(&args, output),
        Command::Tour(args) => commands::tour::run(&args, output),
    }
}

/// Runs a command line of ours inside this process, as the tour does.
fn run_words(words: &[&str], output: &mut Output) -> Result<Exit, Failure> {
    let cli = Cli::try_parse_from(words).map_err(|error| Failure::unable("USAGE", error.to_string()))?;
    dispatch(cli.command, output)
}
