//! `rep cache`: lists and cleans what was fetched.

use rep_check::render::escape_invisible;
use rep_package::cache::{CacheEntry, clean_cache, list_cache};
use rep_storage::time::format_timestamp;
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::library::cache_folder;
use crate::output::Output;

/// List or clean what was fetched from other machines
///
/// The cache has git repositories, blobs of registries, and the contents of installed skills, with which `rep sync` works
/// offline. Everything in it can be fetched again.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep cache list
  rep cache clean --max-size 500M")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: CacheCommand,
}

#[derive(clap::Subcommand)]
enum CacheCommand {
    List(ListArgs),
    Clean(CleanArgs),
}

/// List what is cached, the oldest first
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  rep cache list --json")]
struct ListArgs {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Remove what is cached, the oldest first
///
/// Without `--max-size`, everything is removed. A repository that another command uses is kept.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep cache clean
  rep cache clean --max-size 500M")]
struct CleanArgs {
    /// Remove only as much as is needed to be below this size: bytes, or with `K`, `M` or `G`
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "0", hide_default_value = true)]
    max_size: u64,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Parses a size: bytes, or with `K`, `M` or `G`.
fn parse_size(text: &str) -> Result<u64, String> {
    let (digits, factor) = match text.chars().last() {
        Some('K' | 'k') => (&text[..text.len() - 1], 1 << 10),
        Some('M' | 'm') => (&text[..text.len() - 1], 1 << 20),
        Some('G' | 'g') => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    let number: u64 = digits.parse().map_err(|_| "write a size such as 500M".to_owned())?;
    number.checked_mul(factor).ok_or_else(|| "this size is too large".to_owned())
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let is_json = match &args.command {
        CacheCommand::List(args) => args.json,
        CacheCommand::Clean(args) => args.json,
    };
    manage_cache(args, is_json, output).map_err(|failure| failure.json(is_json))
}

fn manage_cache(args: &Args, is_json: bool, output: &mut Output) -> Result<Exit, Failure> {
    let folder = cache_folder().ok_or_else(|| Failure::unable("NO_HOME", "no home directory with a cache"))?;
    let folder = folder.join("packages");
    let (entries, removed) = match &args.command {
        CacheCommand::List(_) => (list_cache(&folder)?, None),
        CacheCommand::Clean(args) => {
            let (left, removed) = clean_cache(&folder, args.max_size)?;
            (left, Some(removed))
        }
    };
    let bytes: u64 = entries.iter().map(|entry| entry.size_bytes).sum();
    if is_json {
        let one = |one: &CacheEntry| json!({ "kind": one.kind.as_str(), "name": one.name, "bytes": one.size_bytes, "used": format_timestamp(one.used) });
        let mut document = json!({
            "folder": folder.to_string_lossy(),
            "bytes": bytes,
            "entries": entries.iter().map(one).collect::<Vec<Value>>(),
        });
        if let Some(removed) = removed {
            document["removed"] = json!(removed);
        }
        output.write_json(&document);
        return Ok(Exit::Fine);
    }
    if removed.is_none() {
        for one in &entries {
            let line = format!("{:8}  {:>12}  {}", one.kind.as_str(), one.size_bytes, one.name);
            output.write_data(&format!("{}\n", escape_invisible(&line)));
        }
    }
    let words = removed.map(|removed| format!("{removed} bytes removed, ")).unwrap_or_default();
    output.print_message(&format!("{words}{bytes} bytes in `{}`", folder.display()));
    Ok(Exit::Fine)
}
