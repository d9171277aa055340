//! The commands in `README.md` and `docs/`, run as a reader would run them, in a scratch copy of `examples/`.
//!
//! `REP_BLESS=1` writes what commands print into the documents; read the diff.

use std::fs;
use std::path::{Path, PathBuf};

use rep_test_support::{
    ConsoleBlock, ConsoleCommand, DocumentBlock, ProgramRun, ScratchFolder, is_program_installed, matches_output,
    parse_document, report_skipped, update_output,
};

use super::rep;

/// Where a reader's home directory and working directory seem to be.
const READERS_HOME: &str = "/home/me";
const READERS_WORK: &str = "/home/me/work";

/// What came of the commands of one document.
#[derive(Default)]
struct Reading {
    commands: usize,
    not_run: Vec<String>,
    faults: Vec<String>,
    /// Output that differs: where it is in the document, and what was printed.
    differences: Vec<(std::ops::Range<usize>, String)>,
}

#[test]
fn commands_in_documents_print_what_the_documents_show() {
    if !["python3", "node", "git"].into_iter().all(is_program_installed) {
        return;
    }
    let documents = documents();
    let readings: Vec<Reading> = std::thread::scope(|scope| {
        let reading = |document: &PathBuf| {
            let document = document.clone();
            scope.spawn(move || read_document(&document))
        };
        let threads: Vec<_> = documents.iter().map(reading).collect();
        threads.into_iter().map(|thread| thread.join().expect("reading a document does not panic")).collect()
    });
    let is_blessing = std::env::var_os("REP_BLESS").is_some();
    let mut faults = Vec::new();
    for (document, reading) in documents.iter().zip(&readings) {
        faults.extend_from_slice(&reading.faults);
        if is_blessing {
            bless(document, reading);
        } else {
            faults
                .extend(reading.differences.iter().map(|(range, printed)| difference(document, range.start, printed)));
        }
    }
    let commands: usize = readings.iter().map(|reading| reading.commands).sum();
    let not_run: Vec<&str> = readings.iter().flat_map(|reading| &reading.not_run).map(String::as_str).collect();
    let count = not_run.len();
    report_skipped(&format!(
        "{count} blocks of commands in documents, beside {commands} commands that ran:\n{}",
        not_run.join("\n")
    ));
    assert!(faults.is_empty(), "{}\n\n`REP_BLESS=1` writes what was printed into the documents", faults.join("\n\n"));
    assert!(commands > 60, "only {commands} commands were run");
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository exists")
}

/// The documents whose commands are run: those for users. Generated reference pages and dated notes are not among them.
fn documents() -> Vec<PathBuf> {
    let root = repository();
    let mut documents = vec![root.join("README.md"), root.join("docs/reference/exit-codes.md")];
    for folder in ["docs", "docs/guide"] {
        let entries = fs::read_dir(root.join(folder)).expect("the folder can be read");
        let files = entries.map(|entry| entry.expect("the entry can be read").path());
        documents.extend(files.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    }
    documents.sort();
    documents
}

fn read_document(document: &Path) -> Reading {
    let text = fs::read_to_string(document).expect("the document can be read");
    let name = name(document);
    let scratch = ScratchFolder::new();
    copy_folder(&repository().join("examples"), &scratch.work_folder().join("examples"));
    let mut reading = Reading::default();
    let mut folder = scratch.work_folder();
    for block in parse_document(&text) {
        match block {
            DocumentBlock::File { path, text } => {
                scratch.write_file(&path, text);
            }
            DocumentBlock::Other { line, text } => {
                let is_command = |line: &str| line.starts_with("rep ") || line.starts_with("$ rep ");
                if text.lines().any(is_command) {
                    reading.faults.push(format!("{name}:{line}: a command outside of a `console` block is not run"));
                }
            }
            DocumentBlock::Console(console) => match &console.skip_reason {
                Some(reason) if reason.is_empty() => {
                    reading.faults.push(format!("{name}:{}: `no-run` needs a reason", console.line));
                }
                Some(reason) => {
                    reading.not_run.push(format!("  {name}:{}: {reason}", console.line));
                    reading
                        .faults
                        .extend(misspelled(&scratch, &console).into_iter().map(|fault| format!("{name}:{fault}")));
                }
                None => run_block(&scratch, &mut folder, &name, &console, &mut reading),
            },
        }
    }
    reading
}

fn run_block(scratch: &ScratchFolder, folder: &mut PathBuf, name: &str, console: &ConsoleBlock, reading: &mut Reading) {
    for (index, command) in console.commands.iter().enumerate() {
        reading.commands += 1;
        if let Some(target) = command.command.strip_prefix("cd ") {
            *folder = folder.join(target.trim());
            continue;
        }
        let run = run_command(scratch, folder, command);
        let expected = if index + 1 == console.commands.len() { console.exit_code } else { 0 };
        let printed = as_the_reader_sees(scratch, &run.stdout);
        if run.code != expected {
            let (line, code) = (command.line, run.code);
            reading.faults.push(format!("{name}:{line}: exit code {code} instead of {expected}\n{printed}"));
        }
        if !matches_output(&command.output, &printed) {
            reading.differences.push((command.range.clone(), printed));
        }
    }
}

/// Runs a command line by the shell. What it prints, on stdout and stderr, is in `stdout`, in its order.
fn run_command(scratch: &ScratchFolder, folder: &Path, command: &ConsoleCommand) -> ProgramRun {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let programs = rep().parent().expect("the binary is in a folder").to_owned();
    let path = std::env::join_paths(std::iter::once(programs).chain(std::env::split_paths(&path))).expect("a PATH");
    let script = format!("exec 2>&1\ncd '{}'\n{}\n", folder.display(), command.command);
    scratch.run_with_environment(
        Path::new("sh"),
        &["-c", &script],
        &[("PATH", &path.to_string_lossy()), ("COLUMNS", "100")],
    )
}

/// Commands and flags of a block that is not run which `rep` does not have.
fn misspelled(scratch: &ScratchFolder, console: &ConsoleBlock) -> Vec<String> {
    let mut faults = Vec::new();
    for command in &console.commands {
        let words = command.command.split_whitespace().skip_while(|word| word.contains('=') && !word.starts_with('-'));
        let mut words = words.take_while(|word| !["|", ">", "&", "#", "&&"].contains(word));
        if words.next() != Some("rep") {
            continue;
        }
        let subcommand = words.next().unwrap_or_default();
        let help = scratch.run_program(rep(), &[subcommand, "--help"]);
        if help.code != 0 {
            faults.push(format!("{}: the command `{subcommand}` does not exist", command.line));
            continue;
        }
        // The words after `--` are those of another program.
        for flag in words.take_while(|word| *word != "--").filter(|word| word.starts_with("--")) {
            let flag = flag.split('=').next().unwrap_or(flag);
            if !help.stdout.contains(flag) {
                faults.push(format!("{}: `rep {subcommand}` has no flag `{flag}`", command.line));
            }
        }
    }
    faults
}

fn as_the_reader_sees(scratch: &ScratchFolder, printed: &str) -> String {
    let work = scratch.work_folder();
    let home = work.with_file_name("home");
    printed.replace(&*work.to_string_lossy(), READERS_WORK).replace(&*home.to_string_lossy(), READERS_HOME)
}

fn difference(document: &Path, at: usize, printed: &str) -> String {
    let text = fs::read_to_string(document).unwrap_or_default();
    let line = text[..at].lines().count();
    format!("{}:{line}: the command above printed something else:\n{printed}", name(document))
}

fn name(document: &Path) -> String {
    document.strip_prefix(repository()).unwrap_or(document).display().to_string()
}

/// Writes what commands printed into the document.
fn bless(document: &Path, reading: &Reading) {
    let mut text = fs::read_to_string(document).expect("the document can be read");
    for (range, printed) in reading.differences.iter().rev() {
        let updated = update_output(&text[range.clone()], printed);
        let lines = updated.lines().map(|line| format!("{}\n", without_what_varies(line)));
        text.replace_range(range.clone(), &lines.collect::<String>());
    }
    fs::write(document, text).expect("the document can be written");
}

/// A line with `...` for milliseconds, dates and user numbers.
fn without_what_varies(line: &str) -> String {
    let line = line.trim_end();
    let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    for index in 0..words.len() {
        let next = words.get(index + 1).map_or("", String::as_str).trim_end_matches([')', ',']);
        let is_number = |word: &str| !word.is_empty() && word.chars().all(|letter| letter.is_ascii_digit());
        let word = words[index].clone();
        let bare = word.trim_start_matches('(');
        let is_user = is_number(&word) && index > 0 && words[index - 1] == "uid";
        let is_date = word.len() >= 8 && word.starts_with("20") && word.matches('-').count() == 2;
        let is_time = word.contains(':') && word.split(['.', ':']).all(is_number);
        if is_number(bare) && next == "ms" {
            words[index] = word.replace(bare, "...");
        } else if is_user || is_date || is_time {
            "...".clone_into(&mut words[index]);
        }
    }
    words.join(" ")
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the folder can be made");
    for entry in fs::read_dir(from).expect("the folder can be read") {
        let entry = entry.expect("the entry can be read");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("the entry has a type").is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("the file can be copied");
        }
    }
}
