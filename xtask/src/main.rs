//! The chores of the repository, the same for people and for CI.
#![expect(clippy::disallowed_methods, reason = "chores read and write the repository and start cargo")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "chores talk on the terminal")]

mod fuzz;
mod generate;
mod library;
mod new_rule;
mod tidy;
mod tools;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use rep_test_support::library::Shape;

const HELP: &str = "usage: cargo xtask CHORE

  ci               everything CI does: format, clippy, tests, documents, tidy, scaffolding, dependencies, spelling
  bless            rewrite the reports in the rules' pages and the generated documents; then read the diff
  gen [--check]    write docs/reference, and the rule pages to target/reference/rules;
                   with --check, fail if docs/reference is out of date
  new-rule NAME    write the two files of a rule and its line in the list
  library DIR COUNT [--mixed]
                   write a library of generated skills, the same every time, for benchmarks and for trying things out
  tidy             check what no compiler checks
  deny             check licenses, sources and advisories of dependencies with cargo-deny
  typos            check the spelling with typos
  install-tools    install cargo-deny and typos into target/tools, in the versions that CI uses
  fuzz SECONDS [TARGET]
                   build the fuzz targets and run each, or one of them, for that long";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["ci"] => ci(),
        ["bless"] => bless(),
        ["gen"] => generate::write(&root()),
        ["gen", "--check"] => generate::check(&root()),
        ["new-rule-compiles"] => new_rule::compiles(&root()),
        ["new-rule", name] => new_rule::write(&root(), name),
        ["fuzz", seconds] => fuzz::fuzz(&root(), seconds, None),
        ["fuzz", seconds, target] => fuzz::fuzz(&root(), seconds, Some(target)),
        ["library", folder, count] => library::write(Path::new(folder), count, Shape::Plain),
        ["library", folder, count, "--mixed"] => library::write(Path::new(folder), count, Shape::Mixed),
        ["tidy"] => tidy::check(&root()),
        ["deny"] => tools::check_dependencies(&root()),
        ["typos"] => tools::check_spelling(&root()),
        ["install-tools"] => tools::install(&root()),
        _ => Err(HELP.to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the repository").to_owned()
}

fn ci() -> Result<(), String> {
    cargo(&["fmt", "--all", "--check"])?;
    cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    cargo(&["test", "--workspace"])?;
    run(Command::new("cargo")
        .args(["doc", "--workspace", "--no-deps", "--document-private-items"])
        .env("RUSTDOCFLAGS", "-D warnings"))?;
    generate::check(&root())?;
    tidy::check(&root())?;
    new_rule::compiles(&root())?;
    tools::check_installed(&root())
}

fn bless() -> Result<(), String> {
    run(Command::new("cargo").args(["test", "--quiet", "-p", "rep-check", "--test", "pages"]).env("REP_BLESS", "1"))?;
    generate::write(&root())
}

pub(crate) fn cargo(arguments: &[&str]) -> Result<(), String> {
    run(Command::new("cargo").args(arguments))
}

pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    command.current_dir(command.get_current_dir().map_or_else(root, Path::to_owned));
    println!("$ {command:?}");
    let status = command.status().map_err(|error| format!("could not start {command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} failed")) }
}
