//! `rep list`: which skills there are, and which copy wins.

use anstyle::{AnsiColor, Style};
use rep_check::render::{json_finding, visible};
use rep_library::hosts::Host;
use rep_library::{Catalog, CatalogEntry, Dependency, Status};
use rep_model::truncate::ellipsize;
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::library::LibraryArgs;
use crate::output::Output;

/// List the skills there are, and which copy of each wins
#[derive(clap::Args)]
#[command(
    after_help = "Looked for in this order, the first winning: the administrator's folders; the project's skills, .claude/skills, .github/skills, .agents/skills and other hosts' folders, also nested in a monorepo; the same in your home. Packages (.agent-packages, plugins) are called `package:skill`. A project's skills are `untrusted` until you `rep trust` it.\n\nWith --host, what that host would list by itself: amp, antigravity, claude-code, codex, copilot, cursor, factory, gemini, goose, kiro, opencode, vscode or windsurf. Facts and known differences are in the JSON's `host`.\n\nExamples:\n  rep list\n  rep list --path skills --json\n  rep list --precedence claude-code\n  rep list --host codex"
)]
pub(crate) struct Args {
    #[command(flatten)]
    library: LibraryArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let catalog = args.library.predict(output).map_err(|failure| failure.json(args.json))?;
    if args.json {
        let skills: Vec<Value> = catalog.entries.iter().map(|entry| value(&catalog, entry)).collect();
        let mut document = json!({ "skills": skills });
        if let Some(host) = args.library.host() {
            document["host"] = host_value(host);
        }
        output.json(&document);
        return Ok(Exit::Fine);
    }
    if catalog.entries.is_empty() {
        output.say("no skills found; `rep init NAME` makes one");
        return Ok(Exit::Fine);
    }
    let width = catalog.entries.iter().map(|entry| entry.qualified_name.chars().count()).max().unwrap_or(0).min(40);
    let mut text = String::new();
    for entry in &catalog.entries {
        text.push_str(&line(entry, width, output));
    }
    output.data(&text);
    let count = |status: Status| catalog.entries.iter().filter(|entry| entry.status == status).count();
    let all = [Status::Active, Status::Hidden, Status::Shadowed, Status::Invalid, Status::Untrusted, Status::Disabled];
    let parts: Vec<String> = all
        .into_iter()
        .filter(|status| count(*status) > 0)
        .map(|status| format!("{} {}", count(status), status.name()))
        .collect();
    for entry in catalog.entries.iter().filter(|entry| matches!(entry.status, Status::Active | Status::Hidden)) {
        for trouble in entry.dependencies.iter().filter_map(Dependency::trouble) {
            output.warn(&visible(&format!("`{}` {trouble}", entry.qualified_name)));
        }
    }
    output.say(&parts.join(", "));
    for difference in args.library.host().into_iter().flat_map(|host| host.differs) {
        output.say(&format!("note: {}", difference.text));
    }
    Ok(Exit::Fine)
}

fn line(entry: &CatalogEntry, width: usize, output: &Output) -> String {
    let style = status_style(entry.status);
    let name = output.styled(Style::new().bold(), &format!("{:width$}", visible(&entry.qualified_name)));
    let status = output.styled(style, &format!("{:9}", entry.status.name()));
    let about = if entry.reason.is_empty() { shortened(&entry.description) } else { entry.reason.clone() };
    format!("{name}  {status}  {:8}  {}\n", entry.scope.name(), visible(&about))
}

/// The colour of a status.
pub(super) fn status_style(status: Status) -> Style {
    match status {
        Status::Active => AnsiColor::Green.on_default(),
        Status::Hidden | Status::Disabled | Status::Shadowed => Style::new().dimmed(),
        Status::Untrusted => AnsiColor::Yellow.on_default(),
        Status::Invalid => AnsiColor::Red.on_default(),
    }
}

/// The most characters of a description in a listing.
const SHORT_MAX: usize = 80;

pub(super) fn shortened(text: &str) -> String {
    let (mut flat, mut length) = (String::new(), 0);
    for word in text.split_whitespace() {
        if length > 0 {
            flat.push(' ');
            length += 1;
        }
        flat.push_str(word);
        length += word.chars().count();
        // What follows would be cut off again.
        if length > SHORT_MAX {
            return ellipsize(&flat, SHORT_MAX - 1).into_owned();
        }
    }
    flat
}

/// What is known of a host, with where it comes from.
fn host_value(host: &Host) -> Value {
    let folders: Vec<Value> = host
        .folders
        .iter()
        .map(|folder| json!({ "path": folder.path, "source": folder.source.text, "checked": folder.source.checked }))
        .collect();
    let differs: Vec<Value> =
        host.differs.iter().map(|difference| json!({ "key": difference.key, "text": difference.text })).collect();
    json!({ "id": host.id, "name": host.name, "folders": folders, "differs": differs })
}

fn value(catalog: &Catalog, entry: &CatalogEntry) -> Value {
    let winner = entry.shadowed_by.and_then(|index| catalog.entries.get(index));
    json!({
        "name": entry.name,
        "qualified_name": entry.qualified_name,
        "description": entry.description,
        "scope": entry.scope.name(),
        "location": entry.location,
        "status": entry.status.name(),
        "reason": entry.reason,
        "shadowed_by": winner.map(|winner| &winner.location),
        "user_invocable": entry.is_user_invocable,
        "dependencies": dependencies(catalog, entry),
        "findings": entry.findings.iter().map(json_finding).collect::<Vec<_>>(),
    })
}

/// What a skill depends on, and what became of it.
pub(super) fn dependencies(catalog: &Catalog, entry: &CatalogEntry) -> Vec<Value> {
    let one = |dependency: &Dependency| {
        let location = dependency.entry.map(|index| &catalog.entries[index].location);
        json!({ "id": dependency.id, "status": dependency.state.name(), "location": location })
    };
    entry.dependencies.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_are_cut_at_eighty_characters_on_one_line() {
        assert_eq!(shortened("  a\n b\tc "), "a b c");
        assert_eq!(shortened(""), "");
        let fits = format!("{} {}", "x".repeat(39), "é".repeat(40));
        assert_eq!(shortened(&fits), fits);
        assert_eq!(shortened(&format!("{fits}y")), format!("{}…", fits.chars().take(79).collect::<String>()));
        assert_eq!(shortened(&format!("{fits} y")), format!("{}…", fits.chars().take(79).collect::<String>()));
    }
}
