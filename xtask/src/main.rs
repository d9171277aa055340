//! The repository's tasks, the same for developers and CI.
#![expect(clippy::disallowed_methods, reason = "tasks read and write the repository and start cargo")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "tasks print to the terminal")]

mod api_types;
mod deviations;
mod entry_points;
mod fuzz;
mod generate;
mod library;
mod new_rule;
mod schemas;
mod site;
mod tidy;
mod tools;
mod upcalls;
mod vocabulary;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use rep_test_support::synthetic_library::LibraryShape;

const HELP: &str = "usage: cargo xtask TASK

  ci               run all checks of CI: format, clippy, tests, documents, tidy, scaffolding, dependencies, spelling
  bless            rewrite the reports in the rules' pages and the generated documents; then read the diff
  gen [--check]    write docs/reference, schemas, and the rule pages to target/reference/rules;
                   with --check, fail if docs/reference or schemas are out of date
  new-rule NAME    write the two files of a rule and its line in the list
  library DIR COUNT [--mixed]
                   write a reproducible library of generated skills, for benchmarks and experiments
  tidy             check what the compiler does not: dependencies, file sizes, names and wording
  deny             check licenses, sources and advisories of dependencies with cargo-deny
  typos            check the spelling with typos
  site             build the documentation site into target/site with mdBook, and check its links
  install-tools [PROGRAM…]
                   install cargo-deny, typos and mdbook, or the named programs, into target/tools, as pinned for CI
  fuzz SECONDS [TARGET]
                   build the fuzz targets and run each, or one of them, for that long";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["ci"] => run_ci(),
        ["bless"] => bless_outputs(),
        ["gen"] => generate::write_documents(&repository_root()),
        ["gen", "--check"] => generate::check_documents(&repository_root()),
        ["new-rule-compiles"] => new_rule::check_scaffold_compiles(&repository_root()),
        ["new-rule", name] => new_rule::write_rule(&repository_root(), name),
        ["fuzz", seconds] => fuzz::run_fuzz_targets(&repository_root(), seconds, None),
        ["fuzz", seconds, target] => fuzz::run_fuzz_targets(&repository_root(), seconds, Some(target)),
        ["library", folder, count] => library::write_library(Path::new(folder), count, LibraryShape::Plain),
        ["library", folder, count, "--mixed"] => library::write_library(Path::new(folder), count, LibraryShape::Mixed),
        ["tidy"] => tidy::check_repository(&repository_root()),
        ["deny"] => tools::check_dependencies(&repository_root()),
        ["typos"] => tools::check_spelling(&repository_root()),
        ["site"] => site::build_site(&repository_root()),
        ["install-tools", programs @ ..] => tools::install_tools(&repository_root(), programs),
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

fn repository_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is in the repository").to_owned()
}

fn run_ci() -> Result<(), String> {
    run_cargo(&["fmt", "--all", "--check"])?;
    run_cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    run_cargo(&["test", "--workspace"])?;
    run_command(
        cargo_command()
            .args(["doc", "--workspace", "--no-deps", "--document-private-items"])
            .env("RUSTDOCFLAGS", "-D warnings"),
    )?;
    generate::check_documents(&repository_root())?;
    tidy::check_repository(&repository_root())?;
    new_rule::check_scaffold_compiles(&repository_root())?;
    tools::check_installed(&repository_root())
}

fn bless_outputs() -> Result<(), String> {
    run_command(cargo_command().args(["test", "--quiet", "-p", "rep-check", "--test", "pages"]).env("REP_BLESS", "1"))?;
    generate::write_documents(&repository_root())
}

pub(crate) fn run_cargo(arguments: &[&str]) -> Result<(), String> {
    run_command(cargo_command().args(arguments))
}

/// Returns cargo without the variables that describe this package. Build scripts such as *ring*'s depend on them, so
/// crates would be compiled again whenever tasks and hand-run builds alternate.
pub(crate) fn cargo_command() -> Command {
    let mut command = Command::new("cargo");
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    names.filter(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")).for_each(|name| {
        command.env_remove(name);
    });
    command
}

pub(crate) fn run_command(command: &mut Command) -> Result<(), String> {
    command.current_dir(command.get_current_dir().map_or_else(repository_root, Path::to_owned));
    println!("$ {command:?}");
    let status = command.status().map_err(|error| format!("could not start {command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} failed")) }
}
