//! `rep deps`: what a skill's tools need to have installed. Nothing is installed unless somebody asks for it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, BufRead, IsTerminal};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rep_audit::Audit;
use rep_check::render::visible;
use rep_runtime::environment::{self, InstallError, Order, Prepared};
use rep_runtime::interpreter::{self, Search};
use rep_runtime::plan::{HostRule, declared};
use rep_runtime::{ToolRuntime, Trust};
use rep_sandbox::interrupt;
use serde_json::{Value, json};

use crate::call::{self, Called, tool_name};
use crate::consent;
use crate::exit::{Exit, Failure};
use crate::library::{LibraryArgs, cache_folder, data_folder, environments};
use crate::output::Output;
use crate::runner::who;

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

const KINDS: [&str; 3] = ["pip", "npm", "system"];

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    deps(args, output).map_err(|failure| failure.json(args.json))
}

fn deps(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let called = call::find(&args.library, &args.skill, output)?;
    let tools = tools(&called);
    let installed = if args.install { Some(install(args, &called, output)?) } else { None };
    if args.json {
        let mut document = json!({ "skill": called.name, "tools": tools });
        if let Some(installed) = installed {
            document["installed"] = installed.into();
        }
        output.json(&document);
        return Ok(Exit::Fine);
    }
    let mut count = 0;
    for tool in &tools {
        let mut line = |kind: &str, text: &str| {
            let words = format!("{}  {kind}  {text}", tool_name(tool));
            output.data(&format!("{}\n", visible(&words)));
        };
        for kind in KINDS {
            for name in tool[kind].as_array().into_iter().flatten().filter_map(Value::as_str) {
                count += 1;
                line(kind, name);
            }
        }
        if let Some(notes) = tool["notes"].as_str() {
            line("notes", notes);
        }
    }
    if installed.is_none() {
        output.say(&format!("{count} declared, none installed"));
    }
    Ok(Exit::Fine)
}

/// Installs every list of the tools in question, and says what is there now.
fn install(args: &Args, called: &Called, output: &mut Output) -> Result<Vec<Value>, Failure> {
    if let Trust::Untrusted(reason) = &called.trust {
        let failure = Failure::refused("UNTRUSTED", format!("`{}` is not trusted: {reason}", called.name));
        return Err(failure.hint("read it, then `rep trust` it"));
    }
    let bad = |error: &dyn std::fmt::Display| Failure::unable("USAGE", format!("--reach: {error}"));
    let hosts: Result<Vec<HostRule>, _> = args.reach.iter().map(|host| HostRule::parse(host)).collect();
    let hosts = hosts.map_err(|error| bad(&error))?;
    let root = environments()?;
    // What lies in the workspace, where tools write, is not run.
    let workspace = call::workspace(None, &args.library)?;
    let search = Search {
        env: std::env::vars_os().map(|(name, value)| outside(name, value, &workspace)).collect(),
        cache: cache_folder().map(|folder| folder.join("interpreters.json")),
    };
    let mut installed = Vec::new();
    for (runtime, packages) in lists(called) {
        let interpreter = interpreter::find(runtime, &workspace, &search)
            .map_err(|error| Failure::unable("RUNTIME_UNAVAILABLE", error.to_string()))?;
        environment::judge(runtime, &packages).map_err(|error| told(error.into()))?;
        let source = environment::configured(runtime, &interpreter, &search, &args.index, &hosts).map_err(told)?;
        let order =
            Order { root: &root, skill: &called.name, runtime, packages: &packages, may_build: args.allow_build };
        let prepared = environment::prepare(order, interpreter, source).map_err(told)?;
        let environment = match prepared.whole() {
            Some(environment) => environment,
            None => one(args, called, &prepared, &packages, output)?,
        };
        let folder = environment.folder.display().to_string();
        output.say(&format!("installed for {}: {}", runtime.name(), visible(&packages.join(", "))));
        installed.push(json!({ "runtime": runtime.name(), "packages": packages, "folder": folder }));
    }
    if installed.is_empty() {
        output.say("there is nothing to install: no python tool declares `pip`, and no node tool `npm`");
    }
    Ok(installed)
}

/// A variable; the `PATH` without folders that lie in the workspace.
fn outside(name: OsString, value: OsString, workspace: &Path) -> (OsString, OsString) {
    if name != "PATH" {
        return (name, value);
    }
    let is_outside = |folder: &PathBuf| {
        let real = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.clone());
        !real.starts_with(workspace) || real.starts_with("/usr")
    };
    let kept = std::env::join_paths(std::env::split_paths(&value).filter(is_outside));
    (name, kept.unwrap_or_default())
}

/// The lists to install, each once.
fn lists(called: &Called) -> Vec<(ToolRuntime, Vec<String>)> {
    let indexes = called.tool.map_or_else(|| (0..called.tools.len()).collect(), |tool| vec![tool]);
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for tool in indexes.into_iter().map(|index| &called.tools[index]) {
        let runtime = match tool.pointer("/implementation/runtime").and_then(Value::as_str) {
            Some("python") => ToolRuntime::Python,
            Some("node") => ToolRuntime::Node,
            _ => continue,
        };
        let packages = declared::dependencies(tool, runtime);
        if !packages.is_empty() && seen.insert((runtime.name(), packages.clone())) {
            found.push((runtime, packages));
        }
    }
    found
}

/// Installs one list, if the policy, the user and the record let it.
fn one(
    args: &Args,
    called: &Called,
    prepared: &Prepared,
    packages: &[String],
    output: &mut Output,
) -> Result<environment::Environment, Failure> {
    let permissions = prepared.permissions();
    if let Some(objection) = consent::policy()?.objection(&called.name, &permissions) {
        return Err(Failure::refused("POLICY_DENIED", objection).hint("`policy.deny` in your rep.yaml says so"));
    }
    let hosts: Vec<String> = permissions.outbound.iter().map(ToString::to_string).collect();
    let from = if hosts.is_empty() { "folders of yours, without network".to_owned() } else { hosts.join(", ") };
    let question = format!("`{}` wants installed: {}\nfrom: {from}", called.name, packages.join(", "));
    if !args.yes {
        consented(&question, output)?;
    }
    let audit = Audit::at(&data_folder()?);
    let hosts: Vec<String> = permissions.outbound.iter().map(ToString::to_string).collect();
    audit.install(&called.name, packages, &hosts, &who(), SystemTime::now())?;
    let cancel = interrupt::on_interrupt();
    environment::install(prepared, &cancel, rep_sandbox::run).map_err(told)
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
fn told(error: InstallError) -> Failure {
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

/// The tools in question, with what they declare. What is not in the shape of the specification is left out.
fn tools(called: &Called) -> Vec<Value> {
    let indexes = called.tool.map_or_else(|| (0..called.tools.len()).collect(), |tool| vec![tool]);
    let tools = indexes.into_iter().map(|index| {
        let tool = &called.tools[index];
        let declared = |kind: &str| tool.pointer(&format!("/implementation/dependencies/{kind}"));
        let list = |kind: &str| -> Vec<Value> {
            let items = declared(kind).and_then(Value::as_array).into_iter().flatten();
            items.filter(|item| item.is_string()).cloned().collect()
        };
        json!({
            "name": tool_name(tool),
            "pip": list("pip"),
            "npm": list("npm"),
            "system": list("system"),
            "notes": declared("notes").and_then(Value::as_str),
        })
    });
    tools.collect()
}
