//! Extracts flags documented outside of a call: option tables, list items, help output, and code in sentences.

use std::collections::BTreeSet;

use super::blocks::{MarkdownBlock, MarkdownBlockKind, ProseText};
use super::clauses::clean_text;
use super::commands::{CodeSnippet, ProgramCall};
use super::lexicon::is_verb;
use super::syntax::{self, ExtractedFlag};
use super::words::WordList;

/// The sentence number of text that applies to every command.
pub(super) const ALL_COMMANDS: usize = usize::MAX;

/// Collects the flags of tables, list items and help output.
pub(super) fn collect_listed_flags(blocks: &[MarkdownBlock]) -> Vec<ExtractedFlag> {
    let mut found = Vec::new();
    for block in blocks {
        let flags = match &block.kind {
            MarkdownBlockKind::Table => collect_table_flags(block),
            MarkdownBlockKind::Code(language) if matches!(language.as_str(), "" | "text" | "txt" | "plaintext") => {
                collect_help_flags(block)
            }
            MarkdownBlockKind::Item(_) => parse_item_flag(block).into_iter().collect(),
            _ => Vec::new(),
        };
        let heading = block.heading.map_or("", |heading| blocks[heading].prose.text.as_str());
        let near = if is_about_all_commands(&WordList::parse(heading)) { Some(ALL_COMMANDS) } else { block.heading };
        found.extend(flags.into_iter().map(|flag| ExtractedFlag { near, is_listed: true, ..flag }));
    }
    found
}

/// Finds the columns of a table that contain the default, the short form and the description.
pub(super) fn find_table_columns(table: &MarkdownBlock) -> [Option<usize>; 3] {
    let titles: Vec<String> = table.rows.iter().take(1).flatten().map(|title| title.text.to_lowercase()).collect();
    let column = |names: &[&str]| (1..titles.len()).find(|at| names.iter().any(|name| titles[*at].contains(name)));
    let side = [&["default"][..], &["short", "alias"], &["type"], &["required", "optional", "example"]].map(column);
    [side[0], side[1], (1..titles.len()).rev().find(|at| !side.contains(&Some(*at)))]
}

pub(super) fn parse_default_cell(cell: Option<&ProseText>) -> Option<&str> {
    let given = cell?.text.trim_matches(['`', ' ', '"']);
    let is_none = matches!(given.to_lowercase().as_str(), "" | "-" | "—" | "–" | "none" | "n/a");
    Some(given).filter(|given| !is_none && !given.contains(' '))
}

fn collect_table_flags(block: &MarkdownBlock) -> Vec<ExtractedFlag> {
    let [default, short, purpose] = find_table_columns(block);
    let rows = block.rows.iter().skip(1).filter_map(|row| {
        let cell = |column: Option<usize>| column.and_then(|column| row.get(column));
        let codes = |column| cell(column).into_iter().flat_map(|cell| cell.codes_in(0..cell.text.len()));
        let names: Vec<&str> = codes(Some(0)).chain(codes(short).take(1)).collect();
        let said = cell(purpose).map_or("", |cell| cell.text.as_str());
        let mut flag = parse_flag(&names, said, parse_default_cell(cell(default)), row[0].line_at(0))?;
        let values: Vec<&str> = codes(purpose).collect();
        if said.starts_with('`') && values.len() > 1 && values.iter().all(|value| value.len() < 16) {
            flag.value = Some(format!("{{{}}}", values.join(",")));
        }
        Some(flag)
    });
    rows.collect()
}

/// Collects the options of help output: `-o, --output <file>   Where to write`.
fn collect_help_flags(block: &MarkdownBlock) -> Vec<ExtractedFlag> {
    let lines = (block.prose.line_at(0)..).zip(block.prose.text.lines()).take(2_000);
    let options = lines.filter_map(|(line, text)| Some((line, text.trim().split_once("  ")?)));
    options.filter_map(|(line, (code, purpose))| parse_flag(&[code], purpose, None, line)).collect()
}

/// Parses the flag at the start of an item: `` - `-o`, `--output <file>`: Where to write ``.
fn parse_item_flag(block: &MarkdownBlock) -> Option<ExtractedFlag> {
    let (names, said) = split_leading_codes(&block.prose.text);
    parse_flag(&names, said.trim_start_matches([' ', '-', '—', '–', ':', ')']), None, block.line)
}

/// Splits a text into the code at its start and the text after it.
pub(super) fn split_leading_codes(text: &str) -> (Vec<&str>, String) {
    let pieces: Vec<&str> = text.split('`').collect();
    let is_gap = |gap: &&&str| gap.chars().all(|letter| " ,/|".contains(letter));
    let count = pieces.iter().step_by(2).take_while(is_gap).count();
    let codes = pieces.iter().skip(1).step_by(2).take(count).copied().collect();
    (codes, pieces.get(count * 2..).unwrap_or_default().join("`"))
}

fn parse_flag(codes: &[&str], purpose: &str, default: Option<&str>, line: usize) -> Option<ExtractedFlag> {
    let words = codes.iter().flat_map(|code| code.split_whitespace());
    let words: Vec<String> = words.map(|word| word.trim_end_matches(',').to_owned()).collect();
    let call = syntax::parse_call(&words);
    let mut flags = call.flags.into_iter();
    let mut flag = flags.next().filter(|_| call.arguments.first() != words.first())?;
    for other in flags {
        flag.value = flag.value.or(other.value);
        flag.add_alias(other.name);
    }
    let mut lists = purpose.split('(').skip(1).filter_map(|rest| rest.split(')').next().map(str::to_owned));
    let choice = lists.find(|list| !syntax::parse_alternatives(list).is_empty());
    flag.value = choice.or(flag.value).or(call.arguments.into_iter().next());
    let said = find_default(purpose).filter(|said| flag.value.is_some() || !is_verb(said));
    flag.default = default.or(said).map(str::to_owned);
    // A flag whose description mentions numbers, dates or files takes a value, even if the text does not show it.
    let marks = ["yyyy", "comma-separated", "path to", "file", "number of", "max ", "url", "domain"];
    let is_said = marks.iter().any(|mark| purpose.to_lowercase().contains(mark));
    let is_valued = flag.default.as_deref().is_some_and(|default| !matches!(default, "true" | "false"));
    if is_valued || is_said {
        flag.value = flag.value.or(Some(flag.name.clone()));
    }
    let purpose = Some(clean_text(purpose)).filter(|text| !text.is_empty());
    Some(ExtractedFlag { purpose, line, ..flag })
}

/// Finds the default value: `(default: 5)`, or the code before `(default)`.
pub(super) fn find_default(text: &str) -> Option<&str> {
    if let Some((before, _)) = text.split_once("` (default)") {
        return before.rsplit('`').next();
    }
    let (lower, marks) = (text.to_ascii_lowercase(), ["default: ", "defaults to ", "default is ", "default "]);
    let at = marks.iter().find_map(|mark| Some(lower.find(mark)? + mark.len()))?;
    let value = text[at..].trim_start_matches(['=', ' ']).split([')', ',', ';', ' ']).next()?;
    Some(value.trim_matches(['`', '"', '.', ':'])).filter(|value| !matches!(*value, "" | "no" | "none"))
}

/// Collects flags that only occur in a sentence: `--select state:modified` and `-X METHOD` name a flag with its value.
pub(super) fn collect_mentioned_flags(snippets: &[CodeSnippet<'_>], calls: &[ProgramCall]) -> Vec<ExtractedFlag> {
    let known: BTreeSet<&str> = calls.iter().flat_map(|call| &call.rest).map(String::as_str).collect();
    let codes = snippets.iter().filter(|(code, call)| call.sentence > 0 && code.starts_with('-')).take(100);
    let flags = codes.flat_map(|(code, call)| {
        let words: Vec<String> = code.split(' ').map(str::to_owned).collect();
        let (line, near, is_listed) = (call.line, Some(call.sentence), call.sentence == ALL_COMMANDS);
        syntax::parse_call(&words).flags.into_iter().map(move |flag| ExtractedFlag { line, near, is_listed, ..flag })
    });
    flags.filter(|flag| !known.contains(flag.name.as_str())).collect()
}

/// Returns whether a text is about every command.
pub(super) fn is_about_all_commands(words: &WordList<'_>) -> bool {
    let all = ["global", "globally", "every", "all", "any", "each", "common"];
    let commands = ["command", "commands", "subcommand", "subcommands", "call", "calls", "flag", "flags", "options"];
    words.contains_any(0..words.len(), &all) && words.contains_any(0..words.len(), &commands)
}
