//! `rep hosts`: lists the known hosts, and what is known about each.

use anstyle::Style;
use rep_check::{HostLimit, list_host_limits};
use rep_hosts::{HostInput, ProfileFact};
use rep_library::hosts::{FolderBase, HostFolder, KnownHost, NameCollisions};
use rep_mcp::ClientHost;
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Show supported hosts and where they look for skills
///
/// Prints the directories, compatibility level, fields and limits of each host, its requests and approvals, and its
/// MCP settings. Each fact has a source and the date it was checked; pass a host or `--json` to see them.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep hosts
  rep hosts codex
  rep hosts claude-api
  rep hosts claude-code --json")]
pub(crate) struct Args {
    /// Show only this host
    host: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let chosen = match &args.host {
        None => KnownHost::all(),
        Some(name) => vec![KnownHost::find(name).map_err(|error| Failure::from(error).json(args.json))?],
    };
    if args.json {
        let hosts: Vec<Value> = chosen.iter().map(host_to_json).collect();
        match args.host {
            Some(_) => output.write_json(&hosts[0]),
            None => output.write_json(&json!({ "hosts": hosts })),
        }
        return Ok(Exit::Fine);
    }
    if let (Some(_), [host]) = (&args.host, chosen.as_slice()) {
        print_host_page(host, output);
        return Ok(Exit::Fine);
    }
    let width = chosen.iter().map(|host| host.id.len()).max().unwrap_or(0);
    for host in &chosen {
        let id = output.style_text(Style::new().bold(), &format!("{:width$}", host.id));
        let takes = host.shape.map_or("", |shape| shape.takes.name());
        let level = host.shape.map_or("", |shape| shape.profile().level.name());
        let places: Vec<String> =
            host.discovery.into_iter().flat_map(|host| host.folders).take(3).map(render_folder).collect();
        output.write_data(&format!("{id}  {level}  {takes:10}  {:28}  {}\n", host.name, places.join(", ")));
    }
    output.print_message("run `rep hosts HOST` for details, or `rep list --host HOST` to see the skills that it lists");
    Ok(Exit::Fine)
}

/// Renders a directory as users write it.
fn render_folder(folder: &HostFolder) -> String {
    match folder.at {
        FolderBase::Machine => format!("/{}", folder.path.trim_start_matches('/')),
        FolderBase::Home | FolderBase::HomeWithout(_) => format!("~/{}", folder.path),
        FolderBase::Variable(name, _) | FolderBase::VariableOnly(name) => format!("${name}/{}", folder.path),
        FolderBase::EachIn(_, below) | FolderBase::Plugins(_, below) | FolderBase::PluginFolders(below) => {
            format!("~/{below}/*/{}", folder.path)
        }
        FolderBase::ProjectPackages(_) => format!("{}/*/skills", folder.path),
        FolderBase::Upward | FolderBase::Here | FolderBase::Nested => folder.path.to_owned(),
    }
}

fn describe_collisions(collisions: NameCollisions) -> &'static str {
    match collisions {
        NameCollisions::FirstWins => "the first skill with a name wins",
        NameCollisions::AllListed => "all skills with the same name are listed",
        NameCollisions::AnyWins => "one skill per name is listed, at random",
    }
}

fn print_host_page(host: &KnownHost, output: &mut Output) {
    let title = output.style_text(Style::new().bold(), host.name);
    let mut text = format!("{title}  ({})\n", host.id);
    if let Some(lists) = host.discovery {
        text.push_str("\nlooks in\n");
        for folder in lists.folders {
            text.push_str(&format!(
                "  {:34}  {}, {}\n",
                render_folder(folder),
                folder.source.text,
                folder.source.checked
            ));
        }
        let (walk, order) = (&lists.walk, &lists.collisions);
        text.push_str(&format!("\ndepth       {} ({})\n", walk.value.depth_max, walk.source.text));
        text.push_str(&format!("names       {} ({})\n", describe_collisions(order.value), order.source.text));
        let trust = if lists.asks_for_trust.value { "only in trusted projects" } else { "in every project" };
        text.push_str(&format!("projects    {trust} ({})\n", lists.asks_for_trust.source.text));
        for difference in lists.differs {
            text.push_str(&format!("note        {}\n", difference.text));
        }
    }
    if let Some(shape) = host.shape {
        let takes = match shape.takes {
            HostInput::Folders => "directories where it looks for skills",
            HostInput::Upload => "an upload",
            HostInput::Tools => "a JSON document with tools",
            HostInput::Collection => "a directory with several skills",
        };
        text.push_str(&format!("\ntakes       {takes} ({}, {})\n", shape.source, shape.checked));
        if !shape.frontmatter_fields().is_empty() {
            text.push_str(&format!("reads       {}\n", shape.frontmatter_fields().join(", ")));
        }
        text.push_str(&format!("write       rep export --host {} SKILL\n", shape.id));
        let profile = shape.profile();
        let (level, reason) = (profile.level.name(), profile.reason);
        text.push_str(&format!("level       {level}: {reason} ({}, {})\n", shape.source, shape.checked));
        text.push_str(&render_limits(host.id));
        text.push_str(&render_facts(profile.facts));
    }
    if let Some(client) = ClientHost::find(host.id) {
        text.push_str(&format!("\nMCP         {} ({}, {})\n", client.file, client.source, client.checked));
        text.push_str(&format!("print       rep serve --print-config {}\n", client.id));
    }
    output.write_data(&text);
}

fn render_limits(host: &str) -> String {
    let line = |limit: &HostLimit| {
        let past = if limit.is_current { "" } else { " (no longer enforced)" };
        format!("  {} {}{past} ({}, {})\n", limit.value, limit.subject, limit.source, limit.checked_date)
    };
    let lines: String = list_host_limits(host).map(line).collect();
    if lines.is_empty() { lines } else { format!("\nlimits\n{lines}") }
}

fn render_facts(facts: &[ProfileFact]) -> String {
    let line = |fact: &ProfileFact| {
        let past = if fact.is_current { "" } else { " (no longer)" };
        format!("  {:14}{}{past} ({}, {})\n", fact.topic.name(), fact.text, fact.source, fact.checked)
    };
    let lines: String = facts.iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("\nfacts\n{lines}") }
}

fn host_to_json(host: &KnownHost) -> Value {
    let mut value = json!({ "id": host.id, "name": host.name });
    if let Some(lists) = host.discovery {
        let one = |folder: &HostFolder| json!({ "path": render_folder(folder), "source": folder.source.text, "checked": folder.source.checked });
        value["folders"] = lists.folders.iter().map(one).collect();
        value["depth"] = json!({ "value": lists.walk.value.depth_max, "source": lists.walk.source.text, "checked": lists.walk.source.checked });
        value["collisions"] = json!({
            "value": describe_collisions(lists.collisions.value),
            "source": lists.collisions.source.text,
            "checked": lists.collisions.source.checked,
        });
        value["asks_for_trust"] = json!({
            "value": lists.asks_for_trust.value,
            "source": lists.asks_for_trust.source.text,
            "checked": lists.asks_for_trust.source.checked,
        });
        value["differs"] = lists.differs.iter().map(|difference| difference.text).collect();
    }
    if let Some(shape) = host.shape {
        value["export"] = json!({
            "id": shape.id,
            "takes": shape.takes.name(),
            "fields": shape.frontmatter_fields(),
            "source": shape.source,
            "checked": shape.checked,
        });
        add_profile(host, shape, &mut value);
    }
    if let Some(client) = ClientHost::find(host.id) {
        value["mcp"] = json!({
            "file": client.file,
            "format": client.format.name(),
            "source": client.source,
            "checked": client.checked,
        });
    }
    value
}

/// Adds the level, the limits and the facts of a host.
fn add_profile(host: &KnownHost, shape: &rep_hosts::ProjectionHost, value: &mut Value) {
    let profile = shape.profile();
    value["level"] = json!({
        "value": profile.level.name(),
        "reason": profile.reason,
        "source": shape.source,
        "checked": shape.checked,
    });
    let limit = |limit: &HostLimit| {
        json!({
            "subject": limit.subject,
            "value": limit.value,
            "is_current": limit.is_current,
            "source": limit.source,
            "checked": limit.checked_date,
        })
    };
    value["limits"] = list_host_limits(host.id).map(limit).collect();
    let fact = |fact: &ProfileFact| {
        json!({
            "topic": fact.topic.name(),
            "text": fact.text,
            "is_current": fact.is_current,
            "source": fact.source,
            "checked": fact.checked,
        })
    };
    value["facts"] = profile.facts.iter().map(fact).collect();
}
