//! `rep deps`: what a skill's tools need to have installed. Nothing is installed unless somebody asks for it.

use std::io::{self, BufRead, IsTerminal};

use rep_check::render::visible;
use rep_permissions::HostRule;
use rep_runtime::environment::InstallError;
use rep_runtime::{ExecutableSkill, PackageInstall, PackageInstallError, PackageRequest, Runtime, ToolDependencies};
use rep_sandbox::interrupt;
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::library::LibraryArgs;
use crate::output::Output;
use crate::terminal::{self, find_skill};

/// Show what a skill's tools say they need to have installed, and install it where asked
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(clap::Args)]
#[command(
    after_help = "Declarations are shown and not acted on. With --install, packages of pip (for python tools) and npm (for node tools) go into a folder of their own, which `rep run` reads; the installer runs in the sandbox, writes to that folder only, and reaches the hosts your configuration of pip or npm names. What is declared under `system` is for you.\n\nExamples:\n  rep deps pdf-forms\n  rep deps pdf-forms:fill --json\n  rep deps pdf-forms --install"
)]
pub(crate) struct Args {
    /// The skill, or one of its tools: a name, `package:name` or a path, and perhaps `:tool` behind it
    #[arg(value_name = "SKILL[:TOOL]")]
    skill: String,
    /// Install packages of pip and npm, in the sandbox, into a folder that only this skill's tools read
    #[arg(long)]
    install: bool,
    /// Take packages from this index instead of the configured one
    #[arg(long, value_name = "URL", requires = "install")]
    index: Vec<String>,
    /// Let the installer reach this host too: where files of an index lie, or the address of an index in a private network
    #[arg(long, value_name = "HOST[:PORT]", requires = "install")]
    reach: Vec<String>,
    /// Let pip build packages that come as source, which runs their code, in the sandbox
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
    deps(args, output).map_err(|failure| failure.json(args.json))
}

fn deps(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let (_, skill, tool) = find_skill(&args.library, &args.skill, output)?;
    let tools = skill.dependencies(tool)?;
    let installed = if args.install { Some(install(args, &skill, tool, output)?) } else { None };
    if args.json {
        let tools: Vec<Value> = tools.iter().map(ToolDependencies::to_json).collect();
        let mut document = json!({ "skill": skill.name, "tools": tools });
        if let Some(installed) = installed {
            document["installed"] = installed.into();
        }
        output.json(&document);
        return Ok(Exit::Fine);
    }
    let mut count = 0;
    for tool in &tools {
        let mut line = |kind: &str, text: &str| {
            let words = format!("{}  {kind}  {text}", tool.tool);
            output.data(&format!("{}\n", visible(&words)));
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
        output.say(&format!("{count} declared, none installed"));
    }
    Ok(Exit::Fine)
}

/// Installs what the tools declare, each runtime apart.
fn install(
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
    let runtime = terminal::runtime(&args.library, None, false)?;
    let mut installed = Vec::new();
    for install in runtime.plan_packages(skill, &request).map_err(install_failure)? {
        let folder = match install.installed_folder() {
            Some(folder) => folder,
            None => install_one(args, &runtime, &install, output)?,
        };
        let (name, packages) = (install.runtime.name(), &install.packages);
        output.say(&format!("installed for {name}: {}", visible(&packages.join(", "))));
        installed.push(json!({ "runtime": name, "packages": packages, "folder": folder }));
    }
    if installed.is_empty() {
        output.say("there is nothing to install: no python tool declares `pip`, and no node tool `npm`");
    }
    Ok(installed)
}

/// Installs the packages of one runtime, if the user agrees.
fn install_one(
    args: &Args,
    runtime: &Runtime,
    install: &PackageInstall,
    output: &mut Output,
) -> Result<String, Failure> {
    if let Some(objection) = runtime.package_objection(install)? {
        return Err(Failure::refused("POLICY_DENIED", objection).hint("`policy.deny` in your rep.yaml says so"));
    }
    let hosts = install.hosts();
    let from = if hosts.is_empty() { "folders of yours, without network".to_owned() } else { hosts.join(", ") };
    let question = format!("`{}` wants installed: {}\nfrom: {from}", install.skill, install.packages.join(", "));
    if !args.yes {
        consented(&question, output)?;
    }
    runtime.install_packages(install, &interrupt::on_interrupt()).map_err(install_failure)
}

/// Asks on a terminal; where there is none, the answer is no.
fn consented(question: &str, output: &mut Output) -> Result<(), Failure> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        let failure =
            Failure::refused("CONFIRMATION_REQUIRED", "nobody is there to be asked, and nothing was installed");
        return Err(failure.hint("`--yes` installs without asking"));
    }
    output.insist(&shown(question));
    output.insist("install this? [y]es, [N]o:");
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    match line.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" if read.is_ok() => Ok(()),
        _ => Err(Failure::refused("DECLINED", "nothing was installed")),
    }
}

/// Text of strangers over more than one line.
fn shown(text: &str) -> String {
    text.lines().map(visible).collect::<Vec<_>>().join("\n")
}

/// A failure with what helps.
fn install_failure(error: PackageInstallError) -> Failure {
    let error = match error {
        PackageInstallError::Call(error) => return error.into(),
        PackageInstallError::Install(error) => error,
    };
    let message = shown(&error.to_string());
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
                    "connect" => "; `--reach` lets it, for an index in a private network by its address and port",
                    _ => "",
                };
                failure.hint(format!("the installer was denied: {} {}{remedy}", denial.action, denial.target))
            })
        }
        InstallError::Index(_) => Failure::unable("INVALID_INDEX", message).hint("`--index URL` names another"),
        InstallError::Installer(_) | InstallError::Keep(_) => Failure::unable("UNINSTALLABLE", message),
    }
}
