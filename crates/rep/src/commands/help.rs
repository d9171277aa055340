//! `rep help`: prints the overview of all commands, a group of commands, or one command.
//!
//! The groups are a table here. The one-line summaries come from the commands themselves.

use std::ffi::OsString;

use clap::Command;
use clap::builder::StyledStr;
use rep_model::suggestion::{nearest_name, suggest_name_or};

use crate::exit::{Exit, Failure};
use crate::output::Output;

/// The maximum width of help text.
pub(crate) const HELP_WIDTH: usize = 80;

/// The commands that the overview shows first, in the order in which an author needs them.
const MOST_USED: &[&str] =
    &["init", "check", "explain", "test", "list", "search", "run", "serve", "install", "convert"];

/// A group of commands.
struct CommandGroup {
    name: &'static str,
    summary: &'static str,
    commands: &'static [&'static str],
}

/// Every command, in exactly one group.
const GROUPS: &[CommandGroup] = &[
    CommandGroup {
        name: "Author",
        summary: "Write, check and test skills",
        commands: &[
            "init",
            "check",
            "scan",
            "explain",
            "schema",
            "test",
            "convert",
            "tools",
            "hash",
            "validate",
            "read-properties",
            "to-prompt",
            "api",
            "lsp",
            "tour",
            "completions",
            "man",
        ],
    },
    CommandGroup {
        name: "Find",
        summary: "Discover skills, and get answers from them",
        commands: &["list", "search", "show", "select", "query", "ask", "why", "eval-triggers"],
    },
    CommandGroup {
        name: "Run",
        summary: "Run the tools and commands of skills in the sandbox",
        commands: &["run", "exec", "workflow", "state", "tasks", "deps"],
    },
    CommandGroup {
        name: "Serve",
        summary: "Give skills to agents and models",
        commands: &["serve", "token", "prompt", "read"],
    },
    CommandGroup {
        name: "Package",
        summary: "Install skills, and export them to hosts",
        commands: &[
            "install", "remove", "sync", "update", "outdated", "verify", "pin", "unpin", "pack", "push", "key", "sign",
            "sbom", "cache", "hosts", "export", "import",
        ],
    },
    CommandGroup {
        name: "Govern",
        summary: "Control which skills are used and what they can do",
        commands: &["trust", "untrust", "enable", "disable", "policy", "secrets", "audit"],
    },
];

/// Print help for a command or a group of commands
///
/// The groups are Author, Find, Run, Serve, Package and Govern, in upper or lower case. `run` and `serve` are both a
/// command and a group: their help shows both.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep help
  rep help check
  rep help govern
  rep help audit verify")]
pub(crate) struct Args {
    /// The group, or the command and its subcommand
    #[arg(value_name = "COMMAND|GROUP")]
    topic: Vec<String>,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let root = crate::command_line();
    let group = match args.topic.as_slice() {
        [name] => GROUPS.iter().find(|group| group.name.eq_ignore_ascii_case(name)),
        _ => None,
    };
    let is_command = args.topic.iter().try_fold(&root, |command, name| command.find_subcommand(name)).is_some();
    if !is_command && group.is_none() {
        return Err(unknown_topic(&root, &args.topic));
    }
    let mut parts = Vec::new();
    if is_command {
        parts.push(output.render_help(&render_command_help(&args.topic)));
    }
    if let Some(group) = group {
        parts.push(output.render_help(&render_group(&root, group)));
    }
    output.write_data(&parts.join("\n"));
    Ok(Exit::Fine)
}

/// Returns the help of an existing command, as `--help` prints it.
fn render_command_help(command: &[String]) -> StyledStr {
    let words = ["rep"].into_iter().chain(command.iter().map(String::as_str)).chain(["--help"]);
    match crate::parse(words.map(OsString::from)) {
        Err(help) => help.render(),
        Ok(_) => StyledStr::new(),
    }
}

/// Renders the help of `rep` itself, with its commands by group. clap fills in `{options}` and `{after-help}`.
pub(crate) fn render_overview_template(root: &Command) -> StyledStr {
    let styles = root.get_styles();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let mut text =
        format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{header}Most used commands:{header:#}\n");
    text.push_str(&render_rows(root, MOST_USED));
    text.push_str(&format!("\n{header}More commands, by group:{header:#}\n"));
    let width = GROUPS.iter().map(|group| group.name.len()).max().unwrap_or_default();
    for group in GROUPS {
        let rest: Vec<&str> = group.commands.iter().copied().filter(|name| !MOST_USED.contains(name)).collect();
        let lines = wrap_names(&rest, HELP_WIDTH - width - 4).join(&format!("\n{:1$}", "", width + 4));
        text.push_str(&format!("  {literal}{:width$}{literal:#}  {lines}\n", group.name));
    }
    text.push_str(&format!(
        "\nRun {literal}rep help COMMAND{literal:#} for a command, {literal}rep help GROUP{literal:#} for a group.\n\n\
         {header}Options:{header:#}\n{{options}}{{after-help}}"
    ));
    StyledStr::from(text)
}

/// Renders the commands of a group, with their summaries.
fn render_group(root: &Command, group: &CommandGroup) -> StyledStr {
    let header = root.get_styles().get_header();
    let rows = render_rows(root, group.commands);
    StyledStr::from(format!("{header}{}:{header:#} {}\n\n{rows}", group.name, group.summary))
}

/// Renders one line per command: its name and its summary.
fn render_rows(root: &Command, names: &[&str]) -> String {
    let literal = root.get_styles().get_literal();
    let width = names.iter().map(|name| name.len()).max().unwrap_or_default();
    let commands = names.iter().filter_map(|name| root.find_subcommand(name));
    let row = |command: &Command| {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        format!("  {literal}{:width$}{literal:#}  {about}\n", command.get_name())
    };
    commands.map(row).collect()
}

/// Joins names with commas, in lines of at most this width.
fn wrap_names(names: &[&str], width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for (index, name) in names.iter().enumerate() {
        let word = if index + 1 < names.len() { format!("{name},") } else { (*name).to_owned() };
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(&word),
            Some(line) if line.len() + 1 + word.len() <= width => line.push_str(&format!(" {word}")),
            _ => lines.push(word),
        }
    }
    lines
}

/// Returns the failure for a topic that is neither a command nor a group.
fn unknown_topic(root: &Command, topic: &[String]) -> Failure {
    let words = topic.join(" ");
    let commands = root.get_subcommands().map(Command::get_name);
    let names: Vec<&str> = commands.chain(GROUPS.iter().map(|group| group.name)).collect();
    let near = topic.first().filter(|_| topic.len() == 1).and_then(|word| nearest_name(word, names));
    let failure = Failure::unable("UNKNOWN_COMMAND", format!("`{words}` is not a command or a group of commands"));
    failure.hint(suggest_name_or(near, "run `rep help` to see all commands and groups"))
}
