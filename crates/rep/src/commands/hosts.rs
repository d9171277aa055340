//! `rep hosts`: every known host, and what is known of it.

use anstyle::Style;
use rep_hosts::Takes;
use rep_library::hosts::{At, Collisions, Folder, KnownHost};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Show the hosts there are: where they look, what they read, and how a skill is written for them
#[derive(clap::Args)]
#[command(
    after_help = "Every fact has a source and the day it was looked at (--json, or one host).\n\nExamples:\n  rep hosts\n  rep hosts codex\n  rep hosts claude-code --json"
)]
pub(crate) struct Args {
    /// One host
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
        let hosts: Vec<Value> = chosen.iter().map(value).collect();
        match args.host {
            Some(_) => output.json(&hosts[0]),
            None => output.json(&json!({ "hosts": hosts })),
        }
        return Ok(Exit::Fine);
    }
    if let (Some(_), [host]) = (&args.host, chosen.as_slice()) {
        page(host, output);
        return Ok(Exit::Fine);
    }
    let width = chosen.iter().map(|host| host.id.len()).max().unwrap_or(0);
    for host in &chosen {
        let id = output.styled(Style::new().bold(), &format!("{:width$}", host.id));
        let takes = host.shape.map_or("", |shape| shape.takes.name());
        let places: Vec<String> = host.discovery.into_iter().flat_map(|host| host.folders).take(3).map(place).collect();
        output.data(&format!("{id}  {takes:10}  {:28}  {}\n", host.name, places.join(", ")));
    }
    output.say("`rep hosts HOST` says more; `rep list --host HOST` shows what it would list, `rep export --host HOST` writes for it");
    Ok(Exit::Fine)
}

/// A folder as people write it.
fn place(folder: &Folder) -> String {
    match folder.at {
        At::Machine => format!("/{}", folder.path.trim_start_matches('/')),
        At::Home | At::HomeWithout(_) => format!("~/{}", folder.path),
        At::Variable(name, _) | At::VariableOnly(name) => format!("${name}/{}", folder.path),
        At::EachIn(_, below) | At::Plugins(_, below) => format!("~/{below}/*/{}", folder.path),
        At::Upward | At::Here | At::Nested => folder.path.to_owned(),
    }
}

fn collisions(collisions: Collisions) -> &'static str {
    match collisions {
        Collisions::FirstWins => "the first one of a name wins",
        Collisions::AllListed => "all of one name are listed",
        Collisions::AnyWins => "one of a name is listed, at random",
    }
}

fn page(host: &KnownHost, output: &mut Output) {
    let title = output.styled(Style::new().bold(), host.name);
    let mut text = format!("{title}  ({})\n", host.id);
    if let Some(lists) = host.discovery {
        text.push_str("\nlooks in\n");
        for folder in lists.folders {
            text.push_str(&format!("  {:34}  {}, {}\n", place(folder), folder.source.text, folder.source.checked));
        }
        let (walk, order) = (&lists.walk, &lists.collisions);
        text.push_str(&format!("\ndepth       {} ({})\n", walk.value.depth_max, walk.source.text));
        text.push_str(&format!("names       {} ({})\n", collisions(order.value), order.source.text));
        let trust = if lists.asks_for_trust.value { "only in trusted projects" } else { "in every project" };
        text.push_str(&format!("projects    {trust} ({})\n", lists.asks_for_trust.source.text));
        for difference in lists.differs {
            text.push_str(&format!("note        {}\n", difference.text));
        }
    }
    if let Some(shape) = host.shape {
        let takes = match shape.takes {
            Takes::Folders => "folders, found where it looks",
            Takes::Upload => "an upload",
            Takes::Tools => "a JSON document with tools",
            Takes::Collection => "a folder that holds several skills",
        };
        text.push_str(&format!("\ntakes       {takes} ({}, {})\n", shape.source, shape.checked));
        if !shape.fields().is_empty() {
            text.push_str(&format!("reads       {}\n", shape.fields().join(", ")));
        }
        text.push_str(&format!("write       rep export --host {} SKILL\n", shape.id));
    }
    output.data(&text);
}

fn value(host: &KnownHost) -> Value {
    let mut value = json!({ "id": host.id, "name": host.name });
    if let Some(lists) = host.discovery {
        let one = |folder: &Folder| json!({ "path": place(folder), "source": folder.source.text, "checked": folder.source.checked });
        value["folders"] = lists.folders.iter().map(one).collect();
        value["depth"] = json!({ "value": lists.walk.value.depth_max, "source": lists.walk.source.text, "checked": lists.walk.source.checked });
        value["collisions"] = json!({
            "value": collisions(lists.collisions.value),
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
            "fields": shape.fields(),
            "source": shape.source,
            "checked": shape.checked,
        });
    }
    value
}
