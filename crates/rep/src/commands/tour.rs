//! `rep tour`: the commands at work on bundled skills, in a scratch folder that goes away afterwards.

mod files;

use std::path::Path;

use anstyle::{AnsiColor, Style};

use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::{run_words, write};

/// See the commands at work on bundled examples
#[derive(clap::Args)]
#[command(
    after_help = "Takes two minutes to read and needs nothing installed. Works in a scratch folder and leaves nothing behind.\n\nExample:\n  rep tour"
)]
pub(crate) struct Args {}

/// One stop: what to look at, and the command that shows it.
struct Stop {
    words: &'static str,
    command: &'static [&'static str],
}

/// The stop that runs a tool, and so leaves a record.
const RUN: &[&str] = &[
    "rep",
    "run",
    "skills/disk-tidy:find-clutter",
    "--input",
    r#"{"folder": "data"}"#,
    "--workspace",
    "skills/disk-tidy",
    "--yes",
];

const STOPS: &[Stop] = &[
    Stop {
        words: "Three skills with faults. Every finding has a place, a reason to believe it, and a remedy.",
        command: &["rep", "check", "faulty"],
    },
    Stop {
        words: "Each finding names a rule, and each rule has a page. The examples on it are run as its tests.",
        command: &["rep", "explain", "yaml-value-unquoted"],
    },
    Stop {
        words: "What can be mended without changing the meaning is mended on request. First, what would change:",
        command: &["rep", "check", "faulty", "--diff"],
    },
    Stop {
        words: "Then the change itself, and what is left for the author:",
        command: &["rep", "check", "faulty/leaky", "--fix"],
    },
    Stop {
        words: "The same skill can be judged as strictly as a host would: here, an upload to the Claude API.",
        command: &["rep", "check", "skills/csv-profile", "--profile", "claude-api"],
    },
    Stop {
        words: "The reference tool's commands answer byte for byte as it does.",
        command: &["rep", "validate", "skills/changelog-notes"],
    },
    Stop {
        words: "Tools come from the frontmatter; tools.json is only a copy, and a stale one is found.",
        command: &["rep", "tools", "skills/csv-profile"],
    },
    Stop {
        words: "A structured skill's version is a hash of its content; comments and layout do not count.",
        command: &["rep", "hash", "skills/http-status/http-status.uasp.yaml", "--json"],
    },
    Stop {
        words: "Which skills are there, and what is a model told of them? Only the frontmatter is read for that.",
        command: &["rep", "list", "--path", "skills"],
    },
    Stop {
        words: "Which skill fits a request? By declared triggers, with every point explained.",
        command: &["rep", "select", "what is in this csv?", "--file", "sales.csv", "--path", "skills"],
    },
    Stop {
        words: "One exact answer instead of the whole file. This skill is Markdown; every value names the line it was read from.",
        command: &["rep", "query", "changelog-notes:constraints", "--path", "skills"],
    },
    Stop {
        words: "What may a skill's tools do? What it declares, and nothing else.",
        command: &["rep", "policy", "skills/disk-tidy", "--workspace", "skills/disk-tidy"],
    },
    Stop {
        words: "So run one. The kernel holds it to that: it sees the files it declared, no network, and starts no program.",
        command: RUN,
    },
    Stop { words: "And five dialects in good order:", command: &["rep", "check", "skills"] },
];

pub(crate) fn run(_args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let scratch =
        tempfile::tempdir().map_err(|error| Failure::unable("UNWRITABLE", format!("no scratch folder: {error}")))?;
    for (path, text) in files::FILES {
        write::create(&scratch.path().join(path), text)?;
    }
    std::env::set_current_dir(scratch.path())
        .map_err(|error| Failure::unable("UNREADABLE", format!("no scratch folder: {error}")))?;
    for (index, stop) in STOPS.iter().enumerate() {
        let number = format!("{}/{}", index + 1, STOPS.len());
        let heading = output.styled(AnsiColor::Cyan.on_default().bold(), &format!("{number}  {}", stop.words));
        let prompt = output.styled(Style::new().bold(), &format!("$ {}", stop.command.join(" ")));
        output.data(&format!("{heading}\n\n{prompt}\n"));
        if stop.command == RUN {
            apart(scratch.path(), output)?;
        } else {
            run_words(stop.command, output)?;
        }
        output.data("\n");
    }
    output.data("That was the tour. `rep check` in a folder of your own skills is the next step.\n");
    // The scratch folder cannot be removed while it is the working folder on every system; leave it first.
    let _ = std::env::set_current_dir(std::env::temp_dir());
    Ok(Exit::Fine)
}

/// Runs the tool in a process of its own, whose record goes away with the scratch folder: a tour is nothing to be kept.
fn apart(scratch: &Path, output: &mut Output) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::unable("UNSTARTABLE", format!("the tool could not be run: {error}"));
    let program = std::env::current_exe().map_err(failed)?;
    let ran = std::process::Command::new(program)
        .args(&RUN[1..])
        .env("XDG_DATA_HOME", scratch.join("data"))
        .env("XDG_CACHE_HOME", scratch.join("cache"))
        .output()
        .map_err(failed)?;
    output.bytes(&ran.stdout);
    // Where this system has no sandbox, the refusal is worth seeing too.
    output.say(String::from_utf8_lossy(&ran.stderr).trim_end());
    Ok(())
}
