//! Help: the overview, the groups, the help of every command, and every example in it.
//!
//! Examples run in a copy of the bundled example skills, with `bash`, as a reader would run them. No example is only parsed:
//! - An address on the internet is replaced by a server on this machine (`SUBSTITUTES`).
//! - A server is started, and stopped as soon as it listens (`SERVERS`).
//! - An example that asks in a terminal must be refused without one, with the message that says so (`NEEDS_TERMINAL`).

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rep_test_support::{ProgramRun, ScratchFolder};

use super::serve_http::listening;
use super::{Watching, rep, run};

const GROUPS: [&str; 6] = ["Author", "Find", "Run", "Serve", "Package", "Govern"];

/// Headings that help may have. Anything else outside the first paragraphs would be prose that nobody counts.
const HEADINGS: [&str; 9] = [
    "Usage:",
    "Arguments:",
    "Commands:",
    "Options:",
    "Model options:",
    "Library options:",
    "Global options:",
    "Example:",
    "Examples:",
];

/// Constructions that a manual does not use.
const BANNED: [&str; 12] = [
    "mend",
    "mends",
    "whoever",
    "stands",
    "lies",
    "in vain",
    "judge",
    "judged",
    "tell",
    "told",
    "hold against",
    "is no",
];

/// Parts of examples that the test replaces: what the reader has of his own, or what is not on this machine.
const TASK: &str = "task_0123456789abcdef";
const INDEX: &str = "https://skills.example";

/// Examples that serve until they are stopped, with the address they are given here: any free port.
const SERVERS: &[(&str, &str)] = &[
    ("rep serve --http", "rep serve --http 127.0.0.1:0"),
    (
        "rep serve --http --from oci://registry.example/team/all:stable",
        "rep serve --http 127.0.0.1:0 --from oci://127.0.0.1:1/team/all:stable",
    ),
    ("rep serve --http 0.0.0.0:8300 --token-file tokens.txt", "rep serve --http 127.0.0.1:0 --token-file tokens.txt"),
];

/// Examples that ask in a terminal, with what they say without one.
const NEEDS_TERMINAL: &[(&str, &str)] = &[("rep policy disk-tidy:save-list --approve", "terminal")];

/// Examples that an editor starts. Without one they end at once, with 1.
const NEEDS_EDITOR: &[&str] = &["rep lsp"];

/// Examples that need a registry, which does not run here. Without one they end with 2.
const NEEDS_REGISTRY: &[&str] = &[
    "rep push glossary oci://127.0.0.1:1/team/glossary:1.0.0",
    "rep push glossary oci://127.0.0.1:1/team/glossary --key team.key",
    "rep push glossary slugify oci://127.0.0.1:1/team/all --collection team",
];

const KEY: &str = "rep key new --out team.key";
const TRUSTED: &str = "rep trust signer team --key team.key.pub --for '*'";

/// What a reader did before the examples of a command.
const BEFORE: &[(&str, &[&str])] = &[
    ("token revoke", &["rep token new laptop"]),
    ("audit", &["rep run csv-profile:profile --input @arguments.json"]),
    ("check", &[COMMITTED]),
    ("enable", &["rep disable glossary", "rep disable glossary --user"]),
    ("install", &["rep pack ../team-skills/glossary"]),
    ("outdated", INSTALLED),
    ("pin", INSTALLED),
    ("remove", INSTALLED),
    ("sbom", INSTALLED),
    ("secrets rm", &["printf %s secret | rep secrets set OCR_API_KEY"]),
    ("sync", INSTALLED),
    ("unpin", INSTALLED),
    ("update", INSTALLED),
    ("push", &[KEY]),
    ("sign", &[KEY]),
    ("trust", &[KEY]),
    ("trust signer", &[KEY]),
    ("verify", &[INSTALLED[0], KEY, "rep sign glossary --key team.key", TRUSTED]),
];
const COMMITTED: &str =
    "git init -q -b main && git add -A && git -c user.name=Ada -c user.email=ada@example.org commit -q -m start";
const INSTALLED: &[&str] = &[
    "rep install ../team-skills --skill glossary --skill slugify --host claude-code --host codex --yes",
    "rep install ../team-skills --skill slugify --scope personal --yes",
];

/// Every command, as the completions list them: they come from the definitions that parse the arguments.
fn commands() -> BTreeSet<String> {
    let script = run(&ScratchFolder::new(), &["completions", "fish"]).stdout;
    let names = script.lines().filter_map(|line| {
        let (_, rest) = line.split_once("__fish_rep_needs_command\" -f -a \"")?;
        Some(rest.split_once('"')?.0.to_owned())
    });
    let names: BTreeSet<String> = names.collect();
    assert!(names.len() >= 40 && names.contains("check") && names.contains("help"), "{names:?}");
    names
}

/// Every command and subcommand with its long help.
fn helps() -> BTreeMap<String, String> {
    let scratch = ScratchFolder::new();
    let mut all = BTreeMap::new();
    let mut waiting: Vec<String> = commands().into_iter().collect();
    while let Some(command) = waiting.pop() {
        let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let found = run(&scratch, &words);
        assert_eq!((found.code, &*found.stderr), (0, ""), "{command}");
        let nested = rows(&found.stdout, "Commands:").into_iter().filter(|(name, _)| name != "help");
        waiting.extend(nested.map(|(name, _)| format!("{command} {name}")));
        all.insert(command, found.stdout);
    }
    all
}

/// The rows below a heading: a name and its summary.
fn rows(text: &str, heading: &str) -> Vec<(String, String)> {
    let lines = text.lines().skip_while(|line| !line.starts_with(heading)).skip(1);
    let lines = lines.skip_while(|line| line.is_empty()).take_while(|line| !line.is_empty());
    let row = |line: &str| {
        let (name, summary) = line.trim().split_once(' ').expect("a row has a summary");
        (name.to_owned(), summary.trim().to_owned())
    };
    lines.map(row).collect()
}

/// The examples of a help text.
fn examples(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| !matches!(*line, "Example:" | "Examples:")).skip(1);
    lines.map(|line| line.trim().to_owned()).collect()
}

/// An example without its comment.
fn code(example: &str) -> &str {
    example.split("  #").next().unwrap_or(example).split(" # ").next().unwrap_or(example).trim_end()
}

#[test]
fn the_overview_shows_the_most_used_commands_first_and_all_others_by_group() {
    let scratch = ScratchFolder::new();
    let found = run(&scratch, &["--help"]);
    let trimmed: Vec<&str> = found.stdout.lines().map(str::trim_end).collect();
    insta::assert_snapshot!(trimmed.join("\n"), @r#"
    Check, find, run, serve and package agent skills

    Usage: rep [OPTIONS] <COMMAND>

    Most used commands:
      init     Create a skill that passes its own checks and tests
      check    Check skills and report what to fix
      explain  Explain a rule, or list all rules
      test     Run the tests that skills ship
      list     List available skills, and which copy of each is used
      search   Search skills by their text, best match first
      run      Run one of a skill's tools or scripts in the sandbox
      serve    Serve skills over MCP, on stdio or HTTP
      install  Install skills where your hosts look for them
      convert  Convert skills between Markdown and UASP

    More commands, by group:
      Author   scan, schema, tools, hash, validate, read-properties, to-prompt, api,
               lsp, tour, completions, man
      Find     show, select, query, ask, why, eval-triggers
      Run      exec, workflow, state, tasks, deps
      Serve    token, prompt, read
      Package  remove, sync, update, outdated, verify, pin, unpin, pack, push, key,
               sign, sbom, cache, hosts, export, import
      Govern   trust, untrust, enable, disable, policy, secrets, audit

    Run rep help COMMAND for a command, rep help GROUP for a group.

    Options:
          --color <WHEN>
              When to use color: auto, always or never

              [default: auto]

      -q, --quiet
              Print errors and results only

      -v, --verbose
              Print more details

          --lenient
              Load skills that their dialect calls invalid; for authors

      -h, --help
              Print help (`-h` prints a summary)

      -V, --version
              Print version

    Exit codes:
      0    Success
      1    Findings: a check or test failed, or nothing was found
      2    The work could not be done: wrong usage, input or configuration
      3    Refused: permission, trust, confirmation or a missing secret
      4    The skill's own code failed
      130  Interrupted
    "#);
    assert_eq!(run(&scratch, &["help"]).stdout, found.stdout);
    // The summary has the same commands, and leaves out the exit codes.
    let brief = run(&scratch, &["-h"]).stdout;
    assert_eq!(rows(&brief, "Most used"), rows(&found.stdout, "Most used"));
    assert!(!brief.contains("Exit codes") && brief.lines().count() < found.stdout.lines().count(), "{brief}");
    let bare = run(&scratch, &[]);
    assert_eq!((bare.code, bare.stdout, bare.stderr), (2, String::new(), brief));
}

#[test]
fn every_command_is_in_exactly_one_group_and_in_the_overview() {
    let scratch = ScratchFolder::new();
    let mut grouped = Vec::new();
    for group in GROUPS {
        let listed = rows(&run(&scratch, &["help", group]).stdout, &format!("{group}:"));
        assert!(listed.len() >= 3, "{group}: {listed:?}");
        grouped.extend(listed.into_iter().map(|(name, _)| name));
    }
    let mut all = commands();
    // `help` is how groups are shown, and in none of them.
    assert!(all.remove("help"));
    let count = grouped.len();
    assert_eq!(grouped.into_iter().collect::<BTreeSet<String>>(), all);
    assert_eq!(count, all.len(), "a command is in two groups");
    let overview = run(&scratch, &["--help"]).stdout;
    let words: BTreeSet<&str> = overview.split(|c: char| !c.is_ascii_lowercase() && c != '-').collect();
    for name in &all {
        assert!(words.contains(name.as_str()), "{name} is not in the overview");
    }
}

#[test]
fn help_of_a_group_lists_its_commands_whatever_the_case() {
    let scratch = ScratchFolder::new();
    let found = run(&scratch, &["help", "govern"]);
    insta::assert_snapshot!(found.stdout, @r#"
    Govern: Control which skills are used and what they can do

      trust    Trust a project's skills as they are now
      untrust  Stop trusting a project's skills
      enable   Enable a skill that was disabled
      disable  Disable a skill without uninstalling it
      policy   Show what a skill's tools are allowed to do
      secrets  Manage the secrets that skills can use
      audit    Show what ran, who ran it, and how it ended
    "#);
    for spelling in ["Govern", "GOVERN"] {
        assert_eq!(run(&scratch, &["help", spelling]).stdout, found.stdout);
    }
}

#[test]
fn help_of_a_command_is_its_long_help() {
    let scratch = ScratchFolder::new();
    for command in [&["check"][..], &["audit", "verify"], &["help"]] {
        let short = run(&scratch, &[command, &["--help"]].concat());
        let long = run(&scratch, &[&["help"], command].concat());
        assert_eq!((long.code, long.stdout), (0, short.stdout), "{command:?}");
    }
    // These two are a command and a group.
    for (command, group) in [("run", "Run"), ("serve", "Serve")] {
        let found = run(&scratch, &["help", command]).stdout;
        let own = run(&scratch, &[command, "--help"]).stdout;
        let rest = found.strip_prefix(own.trim_end()).expect("the command comes first");
        assert!(rows(rest, &format!("{group}:")).iter().any(|(name, _)| name == command), "{found}");
    }
    let unknown = run(&scratch, &["help", "chekc"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("did you mean `check`?"), "{unknown:?}");
}

#[test]
fn every_help_starts_with_an_imperative_and_has_at_most_60_words_of_prose() {
    for (command, help) in helps() {
        let first = help.lines().next().unwrap_or_default();
        let verb = first.split(' ').next().unwrap_or_default();
        assert!(verb.starts_with(|c: char| c.is_ascii_uppercase()) && !verb.ends_with('s'), "{command}: {first}");
        assert!(!first.ends_with('.') && first.len() <= 60, "{command}: {first}");
        let prose: Vec<&str> = help.lines().take_while(|line| !line.starts_with("Usage:")).collect();
        let words = prose.join(" ").split_whitespace().count();
        assert!(words <= 60, "{command}: {words} words\n{help}");
        for line in help.lines().skip(prose.len()).filter(|line| !line.is_empty() && !line.starts_with(' ')) {
            let is_heading = HEADINGS.contains(&line) || line.starts_with("Usage: rep ");
            assert!(is_heading, "{command}: prose after the usage: {line}");
        }
        assert!(!examples(&help).is_empty(), "{command} has no example");
    }
}

#[test]
fn every_help_fits_80_columns_and_is_in_plain_english() {
    let scratch = ScratchFolder::new();
    let mut all = helps();
    for words in [&["--help"][..], &["-h"], &["help", "author"], &["help", "find"], &["help", "package"]] {
        all.insert(words.join(" "), run(&scratch, words).stdout);
    }
    for command in commands() {
        all.insert(format!("{command} -h"), run(&scratch, &[&command, "-h"]).stdout);
    }
    for (command, help) in all {
        for line in help.lines() {
            assert!(line.chars().count() <= 80, "{command}: {line}");
        }
        let text = help.to_lowercase();
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect::<Vec<_>>();
        let text = format!(" {} ", words.join(" "));
        for banned in BANNED {
            assert!(!text.contains(&format!(" {banned} ")), "{command}: {banned:?} in\n{help}");
        }
    }
}

#[test]
fn every_example_of_every_help_works() {
    let mut failures = Vec::new();
    let mut special: BTreeSet<&str> = SERVERS.iter().chain(NEEDS_TERMINAL).map(|(example, _)| *example).collect();
    for (command, help) in helps() {
        let scratch = project();
        let name = command.split(' ').next().unwrap_or_default();
        let before = BEFORE.iter().find(|(of, _)| *of == command).map_or(&[][..], |(_, before)| before);
        for line in before {
            let found = shell(&scratch, line);
            assert_eq!(found.code, 0, "before `rep {command}`: {line}: {found:?}");
        }
        let task = if name == "tasks" { detached(&scratch) } else { String::new() };
        let server = help.contains(INDEX).then(|| listening(&scratch, &["--path", "../team-skills"]));
        for example in examples(&help) {
            let code = code(&example);
            special.remove(code);
            if let Some((_, served)) = SERVERS.iter().find(|(of, _)| *of == code) {
                serve(&scratch, served);
                continue;
            }
            let address = server.as_ref().map_or(String::new(), |(_, address)| format!("http://{address}"));
            let found = shell(&scratch, &example.replace(TASK, &task).replace(INDEX, &address));
            let is_right = match NEEDS_TERMINAL.iter().find(|(of, _)| *of == code) {
                Some((_, words)) => found.code == 3 && found.stderr.contains(words),
                None if NEEDS_REGISTRY.contains(&code) => found.code == 2 && found.stderr.contains("the registry"),
                None => found.code == i32::from(NEEDS_EDITOR.contains(&code)),
            };
            if !is_right {
                failures.push(format!("rep {command} --help: {example}\n{found:?}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert!(special.is_empty(), "these examples are in no help: {special:?}");
}

/// A project with the bundled examples as its skills, trusted, and the files that examples name.
fn project() -> ScratchFolder {
    let scratch = ScratchFolder::new();
    let bundled = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let work = scratch.work_folder();
    for copy in ["skills", "../site/skills"] {
        copy_tree(&bundled, &work.join(copy));
    }
    // Only skills with a SKILL.md can be installed.
    for skill in ["csv-profile", "glossary", "slugify"] {
        copy_tree(&bundled.join(skill), &work.join("../team-skills").join(skill));
    }
    for folder in [".git", "../site/.git"] {
        std::fs::create_dir_all(work.join(folder)).expect("the folder can be made");
    }
    std::fs::copy(bundled.join("csv-profile/data/harvest.csv"), work.join("harvest.csv"))
        .expect("the file can be copied");
    std::fs::copy(bundled.join("sql-review/data/queries.sql"), work.join("queries.sql"))
        .expect("the file can be copied");
    scratch.write_file("arguments.json", "{\"path\": \"harvest.csv\"}");
    scratch.write_file("file.json", "{\"file\": \"queries.sql\"}");
    scratch.write_file("tokens.txt", "a-token-of-many-characters\n");
    let labelled = "{\"query\": \"profile this csv\", \"skills\": [\"csv-profile\"], \"should_trigger\": true}\n";
    scratch.write_file("queries.jsonl", labelled);
    scratch.write_file("triggers.json", "[{\"query\": \"profile this csv\", \"should_trigger\": true}]");
    let eval = "{\"skill_name\": \"glossary\", \"evals\": [{\"id\": 1, \"prompt\": \"What is a sprint?\"}]}";
    scratch.write_file("skills/glossary/evals/evals.json", eval);
    let trusted = run(&scratch, &["trust"]);
    assert_eq!(trusted.code, 0, "{trusted:?}");
    scratch
}

fn copy_tree(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("the folder can be made");
    for entry in std::fs::read_dir(from).expect("the folder can be read") {
        let entry = entry.expect("the folder can be read");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("the entry can be read").is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("the file can be copied");
        }
    }
}

/// The search path with the binary under test first.
fn search_path() -> String {
    let folder = rep().parent().expect("the binary is in a folder").to_string_lossy().into_owned();
    format!("{folder}:{}", std::env::var("PATH").unwrap_or_default())
}

/// Runs a line as a reader would, in bash.
fn shell(scratch: &ScratchFolder, line: &str) -> ProgramRun {
    let script = format!("set -o pipefail\n{line}\n");
    scratch.run_with_environment(
        Path::new("bash"),
        &["-c", &script],
        &[("PATH", &search_path()), ("TOKEN", "of many characters")],
    )
}

/// A task in the background, by its ID.
fn detached(scratch: &ScratchFolder) -> String {
    let found = shell(scratch, "rep run csv-profile:profile --input @arguments.json --detach");
    super::json(&found)["task"]["id"].as_str().unwrap_or_else(|| panic!("no task: {found:?}")).to_owned()
}

/// Starts a server, and stops it once it listens.
fn serve(scratch: &ScratchFolder, line: &str) {
    let mut child = Watching(
        Command::new("bash")
            .args(["-c", &format!("exec {line}")])
            .current_dir(scratch.work_folder())
            .env("HOME", scratch.work_folder().with_file_name("home"))
            .env("PATH", search_path())
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_DATA_HOME")
            .env_remove("XDG_CACHE_HOME")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("bash can be started"),
    );
    let stderr = BufReader::new(child.0.stderr.take().expect("stderr is a pipe"));
    let is_listening = stderr.lines().map_while(Result::ok).any(|line| line.contains("listening on "));
    assert!(is_listening, "{line} ended before it listened");
}
