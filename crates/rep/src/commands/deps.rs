//! `rep deps`: lists a skill's package dependencies, and installs them on request.

use std::io::{self, BufRead, IsTerminal};

use rep_check::render::escape_invisible;
use rep_permissions::HostRule;
use rep_runtime::environment::InstallError;
use rep_runtime::{ExecutableSkill, PackageInstall, PackageInstallError, PackageRequest, Runtime, ToolDependencies};
use rep_sandbox::interrupt;
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::library::LibraryArgs;
use crate::output::Output;
use crate::terminal::{self, find_skill};

/// Show a skill's package dependencies, or install them
///
/// Nothing is installed unless you pass `--install`. Packages from pip and npm are then installed into a separate
/// environment that only this skill's tools use. The installer runs in the sandbox. System packages are listed for
/// you to install.
#[expect(clippy::struct_excessive_bools, reason = "each is a separate flag")]
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep deps csv-profile
  rep deps csv-profile:profile --json
  rep deps csv-profile --install --yes")]
pub(crate) struct Args {
    /// The skill, or one of its tools: `skill`, `package:skill` or a path, optionally with `:tool`
    #[arg(value_name = "SKILL[:TOOL]")]
    skill: String,
    /// Install the pip and npm packages into an isolated environment
    #[arg(long)]
    install: bool,
    /// Use this package index instead of the configured one
    #[arg(long, value_name = "URL", requires = "install")]
    index: Vec<String>,
    /// Allow the installer to connect to this host too; repeatable
    ///
    /// Needed if an index stores its files on another host, or is in a private network.
    #[arg(long, value_name = "HOST[:PORT]", requires = "install")]
    reach: Vec<String>,
    /// Allow pip to build packages from source, which runs their code in the sandbox
    #[arg(long, requires = "install")]
    allow_build: bool,
    /// Install without asking
    #[arg(long, requires = "install")]
    yes: bool,
    #[command(flatten)]
    library: LibraryArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    report_dependencies(args, output).map_err(|failure| failure.json(args.json))
}

fn report_dependencies(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let (_, skill, tool) = find_skill(&args.library, &args.skill, output)?;
    let tools = skill.list_dependencies(tool)?;
    let installed = if args.install { Some(install_packages(args, &skill, tool, output)?) } else { None };
    if args.json {
        let tools: Vec<Value> = tools.iter().map(ToolDependencies::to_json).collect();
        let mut document = json!({ "skill": skill.name, "tools": tools });
        if let Some(installed) = installed {
            document["installed"] = installed.into();
        }
        output.write_json(&document);
        return Ok(Exit::Fine);
    }
    let mut count = 0;
    for tool in &tools {
        let mut line = |kind: &str, text: &str| {
            let words = format!("{}  {kind}  {text}", tool.tool);
            output.write_data(&format!("{}\n", escape_invisible(&words)));
        };
        for (kind, names) in [("pip", &tool.pip), ("npm", &tool.npm), ("system", &tool.system)] {
            count += names.len();
            for name in names {
                line(kind, name);
            }
        }
        if let Some(notes) = &tool.notes {
            line("notes", notes);
        }
    }
    if installed.is_none() {
        output.print_message(&format!("{count} declared, none installed"));
    }
    Ok(Exit::Fine)
}

/// Installs the declared packages, separately for each runtime.
fn install_packages(
    args: &Args,
    skill: &ExecutableSkill,
    tool: Option<usize>,
    output: &mut Output,
) -> Result<Vec<Value>, Failure> {
    let bad = |error: &dyn std::fmt::Display| Failure::unable("USAGE", format!("--reach: {error}"));
    let hosts: Result<Vec<HostRule>, _> = args.reach.iter().map(|host| HostRule::parse(host)).collect();
    let request = PackageRequest {
        tool,
        indexes: args.index.clone(),
        hosts: hosts.map_err(|error| bad(&error))?,
        allow_build: args.allow_build,
    };
    let runtime = terminal::open_runtime(&args.library, None, false)?;
    let mut installed = Vec::new();
    for install in runtime.plan_packages(skill, &request).map_err(install_failure)? {
        let folder = match install.installed_folder() {
            Some(folder) => folder,
            None => install_for_runtime(args, &runtime, &install, output)?,
        };
        let (name, packages) = (install.runtime.name(), &install.packages);
        output.print_message(&format!("installed for {name}: {}", escape_invisible(&packages.join(", "))));
        installed.push(json!({ "runtime": name, "packages": packages, "folder": folder }));
    }
    if installed.is_empty() {
        output.print_message("nothing to install: no Python tool declares `pip`, and no Node tool declares `npm`");
    }
    Ok(installed)
}

/// Installs the packages of one runtime, if the user agrees.
fn install_for_runtime(
    args: &Args,
    runtime: &Runtime,
    install: &PackageInstall,
    output: &mut Output,
) -> Result<String, Failure> {
    if let Some(objection) = runtime.package_objection(install)? {
        return Err(Failure::refused("POLICY_DENIED", objection).hint("`policy.deny` in your rep.yaml denies it"));
    }
    let hosts = install.installer_hosts();
    let from = if hosts.is_empty() { "local directories, without network".to_owned() } else { hosts.join(", ") };
    let question = format!("`{}` needs these packages: {}\nfrom: {from}", install.skill, install.packages.join(", "));
    if !args.yes {
        ask_consent(&question, output)?;
    }
    runtime.install_packages(install, &interrupt::cancel_on_interrupt()).map_err(install_failure)
}

/// Asks on a terminal. Fails if there is none, or if the user declines.
fn ask_consent(question: &str, output: &mut Output) -> Result<(), Failure> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        let failure =
            Failure::refused("CONFIRMATION_REQUIRED", "installing packages needs confirmation; nothing was installed");
        return Err(failure.hint("pass `--yes` or run it in a terminal"));
    }
    output.print_always(&render_visible_lines(question));
    output.print_always("install this? [y]es, [N]o:");
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    match line.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" if read.is_ok() => Ok(()),
        _ => Err(Failure::refused("DECLINED", "nothing was installed")),
    }
}

/// Renders untrusted text that may span several lines.
fn render_visible_lines(text: &str) -> String {
    text.lines().map(escape_invisible).collect::<Vec<_>>().join("\n")
}

/// Converts an installation error to a failure with hints.
fn install_failure(error: PackageInstallError) -> Failure {
    let error = match error {
        PackageInstallError::Call(error) => return error.into(),
        PackageInstallError::Install(error) => error,
    };
    let message = render_visible_lines(&error.to_string());
    match error {
        InstallError::Package(_) => Failure::refused("INVALID_PACKAGE", message),
        InstallError::Sandbox(rep_sandbox::SandboxError::Unavailable { remedy, .. }) => {
            Failure::refused("SANDBOX_UNAVAILABLE", message).hint(remedy)
        }
        InstallError::Sandbox(_) => Failure { exit: Exit::Failed, ..Failure::unable("INSTALL_FAILED", message) },
        InstallError::Failed { denials, .. } => {
            let failure = Failure { exit: Exit::Failed, ..Failure::unable("INSTALL_FAILED", message) };
            denials.iter().fold(failure, |failure, denial| {
                let remedy = match denial.action {
                    "connect" => {
                        "; allow it with `--reach` (for an index in a private network, pass its address and port)"
                    }
                    _ => "",
                };
                failure.hint(format!("the installer was denied: {} {}{remedy}", denial.action, denial.target))
            })
        }
        InstallError::Index(_) => {
            Failure::unable("INVALID_INDEX", message).hint("pass another index with `--index URL`")
        }
        InstallError::Installer(_) | InstallError::Storage(_) => Failure::unable("UNINSTALLABLE", message),
    }
}
