//! The command line, and the only crate that prints, exits, and reads arguments, the environment, the clock and the
//! disk for the others.
//!
//! Each command is one file in `commands/`: an `Args` whose doc comment is the help, and a `run` function that
//! calls the libraries and prints the result. `rep-library` reads skill directories; `write` writes files.
#![expect(clippy::disallowed_methods, reason = "this crate accesses the disk and the environment for all others")]

mod commands;
mod exit;
mod frequent_commands;
mod install_scope;
mod library;
mod output;
mod terminal;
#[cfg(test)]
mod tests;
mod timings;
mod write;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{ArgAction, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::exit::{Exit, Failure};
use crate::output::{ColorMode, Output};

/// Check, find, run, serve and package agent skills
#[derive(Parser)]
#[command(name = "rep", version, arg_required_else_help = true, propagate_version = false)]
#[command(disable_help_flag = true, disable_help_subcommand = true, max_term_width = commands::help::HELP_WIDTH)]
#[command(after_long_help = "\
Exit codes:
  0    Success
  1    Findings: a check or test failed, or nothing was found
  2    The work could not be done: wrong usage, input or configuration
  3    Refused: permission, trust, confirmation or a missing secret
  4    The skill's own code failed
  130  Interrupted")]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    global: GlobalArgs,
}

/// The options of every command.
#[derive(clap::Args)]
#[group(skip)]
struct GlobalArgs {
    /// When to use color: auto, always or never
    #[arg(long, global = true, value_enum, default_value_t = ColorMode::Auto, value_name = "WHEN")]
    #[arg(help_heading = "Global options", hide_possible_values = true)]
    color: ColorMode,
    /// Print errors and results only
    #[arg(short, long, global = true, help_heading = "Global options")]
    quiet: bool,
    /// Print more details
    #[arg(short, long, global = true, conflicts_with = "quiet", help_heading = "Global options")]
    verbose: bool,
    /// Load skills that their dialect calls invalid; for authors
    #[arg(long, global = true, help_heading = "Global options")]
    lenient: bool,
    /// Print help (`-h` prints a summary)
    #[arg(short, long, global = true, action = ArgAction::Help, help_heading = "Global options")]
    help: Option<bool>,
}

#[derive(Subcommand)]
enum Command {
    Init(commands::init::Args),
    Check(commands::check::Args),
    Scan(commands::scan::Args),
    Explain(commands::explain::Args),
    Schema(commands::schema::Args),
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
    Token(commands::token::Args),
    Deps(commands::deps::Args),
    Hosts(commands::hosts::Args),
    Export(commands::export::Args),
    Import(commands::import::Args),
    Serve(commands::serve::Args),
    Api(commands::api::Args),
    Lsp(commands::lsp::Args),
    Install(commands::install::Args),
    Remove(commands::remove::Args),
    Outdated(commands::outdated::Args),
    Verify(commands::verify::Args),
    Sync(commands::sync::Args),
    Update(commands::update::Args),
    Pin(commands::pin::PinArgs),
    Unpin(commands::pin::UnpinArgs),
    Pack(commands::pack::Args),
    Push(commands::push::Args),
    Key(commands::key::Args),
    Sign(commands::sign::Args),
    Sbom(commands::sbom::Args),
    Cache(commands::cache::Args),
    Convert(commands::convert::Args),
    Trust(commands::trust::TrustArgs),
    Untrust(commands::trust::UntrustArgs),
    Why(commands::why::Args),
    Disable(commands::enable_disable::DisableArgs),
    Enable(commands::enable_disable::EnableArgs),
    Tour(commands::tour::Args),
    Completions(commands::completions::Args),
    Man(commands::man::Args),
    Help(commands::help::Args),
}

fn main() -> ExitCode {
    // Does not return in the first process of a sandbox.
    rep_sandbox::init();
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let Some(exit) = run_without_flags(&words) {
        return exit;
    }
    let cli = match frequent_commands::parse(&words).map_or_else(|| parse(std::env::args_os()), Ok) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version exit with success, everything else is a usage error. clap selects the stream.
            let code = if error.use_stderr() { 2 } else { 0 };
            // If the stream is closed, the error cannot be reported.
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    let mut output = Output::new(cli.global.color, cli.global.quiet, cli.global.verbose);
    let result = dispatch_command(cli.command, &mut output);
    finish_command(result, &mut output)
}

/// The definition of the command line, with its overview of commands.
fn command_line() -> clap::Command {
    let root = Cli::command();
    let overview = commands::help::render_overview_template(&root);
    root.help_template(overview)
}

fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let mut root = command_line();
    let mut matches = root.try_get_matches_from_mut(words)?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut root))
}

/// Runs the shortest command lines without building the whole command tree, which takes longer than the commands
/// themselves: scripts call the reference tool's commands once per skill. Returns `None` if there is any flag.
fn run_without_flags(words: &[OsString]) -> Option<ExitCode> {
    let (command, rest) = words.split_first()?;
    let is_flag = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
    if (command == "--version" || command == "-V") && rest.is_empty() {
        Output::new(ColorMode::Never, false, false).write_data(concat!("rep ", env!("CARGO_PKG_VERSION"), "\n"));
        return Some(ExitCode::SUCCESS);
    }
    if (command == "--version" && rest == ["--json"]) || (command == "--json" && rest == ["--version"]) {
        Output::new(ColorMode::Never, false, false).write_data(&format!("{:#}\n", version_document()));
        return Some(ExitCode::SUCCESS);
    }
    if rest.iter().any(is_flag) {
        return None;
    }
    let mut output = Output::new(ColorMode::Auto, false, false);
    if rest.is_empty() {
        let command = command.to_str()?;
        let argument = match command {
            "validate" | "read-properties" => "SKILL_PATH",
            "to-prompt" => "SKILL_PATHS...",
            _ => return None,
        };
        return Some(commands::validate::report_missing_argument(command, argument, &mut output).into());
    }
    let paths = || rest.iter().map(PathBuf::from).collect::<Vec<PathBuf>>();
    let result = match (command.to_str()?, rest) {
        ("validate", [path]) => commands::validate::run(&commands::validate::Args::from_path(path.into()), &mut output),
        ("read-properties", [path]) => {
            commands::read_properties::run(&commands::read_properties::Args::from_path(path.into()), &mut output)
        }
        ("to-prompt", _) => commands::to_prompt::run(&commands::to_prompt::Args::from_paths(paths()), &mut output),
        _ => return None,
    };
    Some(finish_command(result, &mut output))
}

/// Describes this program: its version, and what a release says about its build.
fn version_document() -> serde_json::Value {
    serde_json::json!({
        "name": "rep",
        "version": env!("CARGO_PKG_VERSION"),
        "commit": option_env!("REP_COMMIT"),
        "build": option_env!("REP_BUILD"),
        "os": std::env::consts::OS,
        "arch": std::env::consts::ARCH,
        "libc": libc_name(),
        "sandbox": rep_sandbox::IS_SUPPORTED,
    })
}

/// Returns the C library that the program was built for, on systems that have several.
const fn libc_name() -> Option<&'static str> {
    if cfg!(target_env = "musl") {
        Some("musl")
    } else if cfg!(target_env = "gnu") {
        Some("gnu")
    } else {
        None
    }
}

/// Reports a failure, and returns the exit code of the command.
fn finish_command(result: Result<Exit, Failure>, output: &mut Output) -> ExitCode {
    if let Some(error) = output.write_error.take() {
        output.print_failure(&Failure::unable("UNWRITABLE", format!("could not write the output: {error}")));
        return Exit::Unable.into();
    }
    match result {
        Ok(exit) => exit.into(),
        Err(failure) => {
            output.print_failure(&failure);
            failure.exit.into()
        }
    }
}

fn dispatch_command(command: Command, output: &mut Output) -> Result<Exit, Failure> {
    match command {
        Command::Init(args) => commands::init::run(&args, output),
        Command::Check(args) => commands::check::run(&args, output),
        Command::Explain(args) => commands::explain::run(&args, output),
        Command::Schema(args) => commands::schema::run(&args, output),
        Command::Scan(args) => commands::scan::run(&args, output),
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
        Command::Token(args) => commands::token::run(&args, output),
        Command::Deps(args) => commands::deps::run(&args, output),
        Command::Hosts(args) => commands::hosts::run(&args, output),
        Command::Export(args) => commands::export::run(&args, output),
        Command::Import(args) => commands::import::run(&args, output),
        Command::Serve(args) => commands::serve::run(&args, output),
        Command::Api(args) => commands::api::run(&args),
        Command::Lsp(args) => Ok(commands::lsp::run(&args, output)),
        Command::Install(args) => commands::install::run(&args, output),
        Command::Remove(args) => commands::remove::run(&args, output),
        Command::Outdated(args) => commands::outdated::run(&args, output),
        Command::Verify(args) => commands::verify::run(&args, output),
        Command::Sync(args) => commands::sync::run(&args, output),
        Command::Update(args) => commands::update::run(&args, output),
        Command::Pin(args) => commands::pin::pin_skills(&args, output),
        Command::Unpin(args) => commands::pin::unpin_skills(&args, output),
        Command::Pack(args) => commands::pack::run(&args, output),
        Command::Push(args) => commands::push::run(&args, output),
        Command::Key(args) => commands::key::run(&args, output),
        Command::Sign(args) => commands::sign::run(&args, output),
        Command::Sbom(args) => commands::sbom::run(&args, output),
        Command::Cache(args) => commands::cache::run(&args, output),
        Command::Convert(args) => commands::convert::run(&args, output),
        Command::Trust(args) => commands::trust::trust_project(&args, output),
        Command::Untrust(args) => commands::trust::untrust_project(&args, output),
        Command::Why(args) => commands::why::run(&args, output),
        Command::Disable(args) => commands::enable_disable::disable_skill(&args, output),
        Command::Enable(args) => commands::enable_disable::enable_skill(&args, output),
        Command::Tour(args) => commands::tour::run(&args, output),
        Command::Completions(args) => commands::completions::run(&args, output),
        Command::Man(args) => commands::man::run(&args, output),
        Command::Help(args) => commands::help::run(&args, output),
    }
}

/// Runs a `rep` command line inside this process, for the tour.
fn run_command_line(words: &[&str], output: &mut Output) -> Result<Exit, Failure> {
    let cli = parse(words.iter().map(OsString::from)).map_err(|error| Failure::unable("USAGE", error.to_string()))?;
    dispatch_command(cli.command, output)
}
