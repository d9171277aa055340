//! Parses documents that contain commands and their expected output.
//!
//! A `console` fence contains commands on lines that start with `$ `, each followed by its output. In the output,
//! `...` within a line matches any text on that line, and `...` on a separate line matches any number of lines. A
//! backslash at the end of a command continues it on the next line. Words after `console`, separated by commas, are
//! options: `exit=3` is the exit code of the last command (default 0), and `no-run` skips the block, for the reason
//! that follows. A fence with `file=PATH` in its info string is a file for later commands.

use std::ops::Range;

/// A fenced block of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentBlock {
    /// Commands and their output.
    Console(ConsoleBlock),
    /// A file for the commands after it.
    File {
        /// The path of the file.
        path: String,
        /// The content of the file.
        text: String,
    },
    /// Any other fence.
    Other {
        /// The line of the fence.
        line: usize,
        /// The content of the fence.
        text: String,
    },
}

/// A `console` fence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsoleBlock {
    /// The line of the fence.
    pub line: usize,
    /// The exit code of the last command.
    pub exit_code: i32,
    /// The reason why the block is skipped, for a block with `no-run`. Empty if the document gives no reason.
    pub skip_reason: Option<String>,
    /// The commands in order.
    pub commands: Vec<ConsoleCommand>,
}

/// One command of a console block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsoleCommand {
    /// The line of the command.
    pub line: usize,
    /// The command without the prompt.
    pub command: String,
    /// The expected output.
    pub output: String,
    /// The range of the output in the document.
    pub range: Range<usize>,
}

/// Finds the fenced blocks of a document.
pub fn parse_document(text: &str) -> Vec<DocumentBlock> {
    let mut blocks = Vec::new();
    let mut open: Option<(&str, &str, usize, usize)> = None;
    let mut at = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let start = at;
        at += line.len();
        let bare = line.trim_end();
        match open {
            Some((fence, info, from, number)) if bare == fence => {
                blocks.push(parse_block(info, &text[from..start], from, number));
                open = None;
            }
            None if bare.starts_with("```") => {
                let info = bare.trim_start_matches('`');
                open = Some((&bare[..bare.len() - info.len()], info, at, index + 1));
            }
            Some(_) | None => {}
        }
    }
    blocks
}

fn parse_block(info: &str, text: &str, from: usize, line: usize) -> DocumentBlock {
    if let Some(path) = info.split_whitespace().find_map(|word| word.strip_prefix("file=")) {
        return DocumentBlock::File { path: path.to_owned(), text: text.to_owned() };
    }
    let (words, reason) = info.split_once(char::is_whitespace).unwrap_or((info, ""));
    let mut words = words.split(',');
    if words.next() != Some("console") {
        return DocumentBlock::Other { line, text: text.to_owned() };
    }
    let mut console =
        ConsoleBlock { line, exit_code: 0, skip_reason: None, commands: parse_commands(text, from, line) };
    for word in words {
        if word == "no-run" {
            console.skip_reason = Some(reason.trim().to_owned());
        } else if let Some(code) = word.strip_prefix("exit=").and_then(|code| code.parse().ok()) {
            console.exit_code = code;
        }
    }
    DocumentBlock::Console(console)
}

fn parse_commands(text: &str, from: usize, fence_line: usize) -> Vec<ConsoleCommand> {
    let mut commands: Vec<ConsoleCommand> = Vec::new();
    let mut at = from;
    let mut is_continued = false;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        at += line.len();
        let bare = line.trim_end_matches('\n');
        match commands.last_mut() {
            Some(last) if is_continued => {
                last.command.push('\n');
                last.command.push_str(bare);
                last.range = at..at;
                is_continued = bare.ends_with('\\');
            }
            last => {
                if let Some(command) = bare.strip_prefix("$ ") {
                    is_continued = command.ends_with('\\');
                    let (command, line) = (command.to_owned(), fence_line + 1 + index);
                    commands.push(ConsoleCommand { line, command, output: String::new(), range: at..at });
                } else if let Some(last) = last {
                    last.output.push_str(line);
                    last.range.end = at;
                }
            }
        }
    }
    commands
}

/// Whether a command printed what a document shows.
pub fn matches_output(shown: &str, printed: &str) -> bool {
    let shown: Vec<&str> = shown.lines().map(str::trim_end).collect();
    let printed: Vec<&str> = printed.lines().map(str::trim_end).collect();
    matches_lines(&shown, &printed)
}

fn matches_lines(shown: &[&str], printed: &[&str]) -> bool {
    match shown {
        [] => printed.is_empty(),
        ["...", rest @ ..] => (0..=printed.len()).any(|skipped| matches_lines(rest, &printed[skipped..])),
        [first, rest @ ..] => {
            printed.split_first().is_some_and(|(line, others)| matches_line(first, line) && matches_lines(rest, others))
        }
    }
}

/// Updates the output that a document shows: lines that still match are preserved, other lines are replaced by the
/// printed ones, and omitted parts stay omitted. Returns the whole output if that is not possible.
pub fn update_output(shown: &str, printed: &str) -> String {
    let lines: Vec<&str> = printed.lines().map(str::trim_end).collect();
    let mut updated: Vec<&str> = Vec::new();
    let mut next = 0;
    for line in shown.lines().map(str::trim_end) {
        if line == "..." {
            updated.push(line);
            continue;
        }
        let is_behind_gap = updated.last() == Some(&"...");
        let rest = lines.get(next..).unwrap_or_default();
        let found = rest.iter().position(|printed| matches_line(line, printed));
        if let Some(at) = found.filter(|at| is_behind_gap || *at == 0) {
            updated.push(line);
            next += at + 1;
        } else {
            let at = if is_behind_gap { find_most_similar(line, rest) } else { 0 };
            updated.extend(rest.get(at));
            next += at + 1;
        }
    }
    let updated: String = updated.iter().map(|line| format!("{line}\n")).collect();
    let whole = || lines.iter().map(|line| format!("{line}\n")).collect();
    if shown.contains("...\n") && matches_output(&updated, printed) { updated } else { whole() }
}

/// Finds the line that shares the most words with another.
fn find_most_similar(line: &str, lines: &[&str]) -> usize {
    let words: Vec<&str> = line.split_whitespace().collect();
    let shared = |other: &str| other.split_whitespace().filter(|word| words.contains(word)).count();
    let best = lines.iter().enumerate().rev().max_by_key(|(_, other)| shared(other));
    best.map_or(0, |(at, _)| at)
}

fn matches_line(shown: &str, printed: &str) -> bool {
    let Some((start, mut parts)) = shown.split_once("...") else { return shown == printed };
    let Some(mut rest) = printed.strip_prefix(start) else { return false };
    while let Some((part, more)) = parts.split_once("...") {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
        parts = more;
    }
    rest.ends_with(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_console_block_is_cut_into_commands_and_their_output() {
        let text = "Text.\n\n```console,exit=3\n$ rep a\none\ntwo\n$ rep b \\\n  --c\n```\n";
        let blocks = parse_document(text);
        let [DocumentBlock::Console(console)] = blocks.as_slice() else { panic!("{blocks:?}") };
        assert_eq!((console.line, console.exit_code, &console.skip_reason), (3, 3, &None));
        let [first, second] = console.commands.as_slice() else { panic!("{console:?}") };
        assert_eq!((first.line, first.command.as_str(), first.output.as_str()), (4, "rep a", "one\ntwo\n"));
        assert_eq!(&text[first.range.clone()], "one\ntwo\n");
        assert_eq!((second.command.as_str(), second.output.as_str()), ("rep b \\\n  --c", ""));
        assert_eq!(&text[second.range.start..], "```\n");
    }

    #[test]
    fn files_reasons_and_other_fences_are_told_apart() {
        let text =
            "````md file=a/SKILL.md\n```\nx\n```\n````\n```console,no-run asks a model\n$ rep x\n```\n```sh\nls\n```\n";
        let blocks = parse_document(text);
        let [DocumentBlock::File { path, text }, DocumentBlock::Console(console), DocumentBlock::Other { line: 9, .. }] =
            blocks.as_slice()
        else {
            panic!("{blocks:?}")
        };
        assert_eq!((path.as_str(), text.as_str()), ("a/SKILL.md", "```\nx\n```\n"));
        assert_eq!(console.skip_reason.as_deref(), Some("asks a model"));
    }

    #[test]
    fn three_dots_stand_for_what_varies() {
        assert!(matches_output("a\n", "a\n"));
        assert!(matches_output("took ... ms, ... files\n", "took 12 ms, 3 files\n"));
        assert!(matches_output("a\n...\nz\n", "a\nb\nc\nz\n"));
        assert!(matches_output("...\n", ""));
        assert!(!matches_output("took ... ms\n", "took 12 s\n"));
        assert!(!matches_output("a\n", "a\nb\n"));
        assert!(!matches_output("a\n...\nz\n", "a\nb\n"));
    }

    #[test]
    fn an_updated_output_keeps_what_the_document_leaves_out() {
        let printed = "start 1\nnoise\nerror: the file is missing\nmore noise\nend\n";
        assert_eq!(
            update_output("start ...\n...\nerror: the file is not there\n...\n", printed),
            "start ...\n...\nerror: the file is missing\n...\n"
        );
        assert_eq!(update_output("begin\n...\nend\n", printed), "start 1\n...\nend\n");
        assert_eq!(update_output("old\n", "new\nlines\n"), "new\nlines\n");
        assert_eq!(update_output("", "new\n"), "new\n");
    }
}
