//! `rep tour`: runs commands on bundled skills, in a temporary directory that is deleted afterwards.

mod files;

use std::path::Path;

use anstyle::{AnsiColor, Style};

use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::{run_command_line, write};

/// Take a two-minute tour on bundled examples
///
/// Runs the main commands in a temporary directory, which is deleted afterwards. Nothing needs to be installed.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  rep tour")]
pub(crate) struct Args {}

/// One stop of the tour: an explanation, and the command that shows it.
struct TourStop {
    words: &'static str,
    command: &'static [&'static str],
}

/// The command that runs a tool, and so leaves a record.
const RUN_COMMAND: &[&str] = &[
    "rep",
    "run",
    "skills/disk-tidy:find-clutter",
    "--input",
    r#"{"folder": "data"}"#,
    "--workspace",
    "skills/disk-tidy",
    "--yes",
];

const TOUR_STOPS: &[TourStop] = &[
    TourStop {
        words: "Three skills with problems. Every finding shows where it is, what is wrong, and how to fix it.",
        command: &["rep", "check", "faulty"],
    },
    TourStop {
        words: "Each finding names a rule, and each rule has a page. Its examples are also its tests.",
        command: &["rep", "explain", "yaml-value-unquoted"],
    },
    TourStop {
        words: "Findings that can be fixed without changing the meaning are fixed on request. First, the diff:",
        command: &["rep", "check", "faulty", "--diff"],
    },
    TourStop {
        words: "Then apply the fixes. The rest is left for the author:",
        command: &["rep", "check", "faulty/leaky", "--fix"],
    },
    TourStop {
        words: "A skill can be checked as strictly as a host does: here, for an upload to the Claude API.",
        command: &["rep", "check", "skills/csv-profile", "--profile", "claude-api"],
    },
    TourStop {
        words: "The reference tool's commands print exactly what it prints, byte for byte.",
        command: &["rep", "validate", "skills/changelog-notes"],
    },
    TourStop {
        words: "Tools are declared in the frontmatter; tools.json is only a copy, and a stale copy is reported.",
        command: &["rep", "tools", "skills/csv-profile"],
    },
    TourStop {
        words: "A structured skill's version is a hash of its content; comments and layout do not count.",
        command: &["rep", "hash", "skills/http-status/http-status.uasp.yaml", "--json"],
    },
    TourStop {
        words: "Which skills are available, and what does a model see of them? Only the frontmatter is read.",
        command: &["rep", "list", "--path", "skills"],
    },
    TourStop {
        words: "Which skill matches a request? Declared triggers decide, and every point is explained.",
        command: &["rep", "select", "what is in this csv?", "--file", "sales.csv", "--path", "skills"],
    },
    TourStop {
        words: "One exact answer instead of the whole file. This skill is Markdown; each value cites its source line.",
        command: &["rep", "query", "changelog-notes:constraints", "--path", "skills"],
    },
    TourStop {
        words: "What are a skill's tools allowed to do? Only what the skill declares.",
        command: &["rep", "policy", "skills/disk-tidy", "--workspace", "skills/disk-tidy"],
    },
    TourStop {
        words: "Run one. The kernel enforces it: only the declared files, no network, and no other programs.",
        command: RUN_COMMAND,
    },
    TourStop { words: "Finally, valid skills in five dialects:", command: &["rep", "check", "skills"] },
];

pub(crate) fn run(_args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let scratch = tempfile::tempdir()
        .map_err(|error| Failure::unable("UNWRITABLE", format!("could not create a temporary directory: {error}")))?;
    for (path, text) in files::FILES {
        write::create_file(&scratch.path().join(path), text)?;
    }
    std::env::set_current_dir(scratch.path())
        .map_err(|error| Failure::unable("UNREADABLE", format!("could not create a temporary directory: {error}")))?;
    for (index, stop) in TOUR_STOPS.iter().enumerate() {
        let number = format!("{}/{}", index + 1, TOUR_STOPS.len());
        let heading = output.style_text(AnsiColor::Cyan.on_default().bold(), &format!("{number}  {}", stop.words));
        let prompt = output.style_text(Style::new().bold(), &format!("$ {}", stop.command.join(" ")));
        output.write_data(&format!("{heading}\n\n{prompt}\n"));
        if stop.command == RUN_COMMAND {
            run_in_separate_process(scratch.path(), output)?;
        } else {
            run_command_line(stop.command, output)?;
        }
        output.write_data("\n");
    }
    output.write_data("End of the tour. Next, run `rep check` in a directory with your own skills.\n");
    // Some systems cannot remove the working directory, so leave it first.
    let _ = std::env::set_current_dir(std::env::temp_dir());
    Ok(Exit::Fine)
}

/// Runs the tool in a separate process, so that its record is deleted with the temporary directory.
fn run_in_separate_process(scratch: &Path, output: &mut Output) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::unable("UNSTARTABLE", format!("could not run the tool: {error}"));
    let program = std::env::current_exe().map_err(failed)?;
    let ran = std::process::Command::new(program)
        .args(&RUN_COMMAND[1..])
        .env("XDG_DATA_HOME", scratch.join("data"))
        .env("XDG_CACHE_HOME", scratch.join("cache"))
        .output()
        .map_err(failed)?;
    output.write_bytes(&ran.stdout);
    // Without a sandbox, the refusal is shown instead.
    output.print_message(String::from_utf8_lossy(&ran.stderr).trim_end());
    Ok(())
}
