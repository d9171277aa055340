//! Extracts the commands of a skill: UASP's `commands` and `global_flags`, by UASP §7.1 rule 4.
//!
//! Commands that are shown as wrong, or that the text forbids, are not extracted.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::blocks::{MarkdownBlock, MarkdownBlockKind, ProseText};
use super::clauses::clean_text;
use super::draft::DocumentDraft;
use super::lexicon::LEXICON;
use super::names::{to_name_or, to_slug};
use super::roles::{self, BlockContext};
use super::sentences::split_sentences;
use super::shell::{self, SimpleShellCommand};
use super::syntax::{self, CallSyntax, ExtractedFlag, merge_flags, remove_empty_fields};
use super::words::WordList;
use super::{endpoints, flags, programs, rules, tables};

/// A call of a program as written in the text.
#[derive(Clone, Debug, Default)]
pub(super) struct ProgramCall {
    /// The program: `git`, `python scripts/x.py`, `npx playwright`.
    pub(super) program: String,
    pub(super) rest: Vec<String>,
    pub(super) comment: Option<String>,
    returns: Option<String>,
    pub(super) line: usize,
    section: Option<usize>,
    /// The number of the sentence that mentions it, or a value for text about every command; 0 if it is shown as code.
    pub(super) sentence: usize,
}

/// Code in a sentence or a table, and the call that it may be.
pub(super) type CodeSnippet<'a> = (&'a str, ProgramCall);

struct ExtractedCommand {
    program: String,
    path: Vec<String>,
    calls: Vec<ProgramCall>,
    /// The flags that are documented separately from the calls.
    flags: Vec<ExtractedFlag>,
}

/// The words that may name subcommands, by the program and the words before them.
type SubcommandWords<'a> = BTreeMap<(&'a str, &'a [String]), BTreeSet<&'a str>>;

pub(super) fn is_shell_language(language: &str) -> bool {
    LEXICON.shells.contains(language)
}

/// Extracts the commands and flags of a skill. Returns every call, so that callers can see how a file is started.
pub(super) fn extract_commands(
    blocks: &[MarkdownBlock],
    places: &[BlockContext],
    tools: &[String],
    draft: &mut DocumentDraft,
) -> Vec<ProgramCall> {
    let snippets = collect_snippets(blocks, places);
    let mut known: BTreeSet<String> = tools.iter().cloned().collect();
    let mut calls = collect_code_block_calls(blocks, places, &known);
    known.extend(calls.iter().map(|call| call.program.clone()));
    calls.extend(snippets.iter().filter_map(|snippet| parse_inline_call(snippet, &known)));
    // Functions that scripts define are not programs.
    let lines = blocks.iter().filter(|block| block.language().is_some()).flat_map(|block| block.prose.text.lines());
    let defined: BTreeSet<&str> = lines.filter_map(shell::parse_function_name).collect();
    calls.retain(|call| !defined.contains(call.program.as_str()));
    let (mut commands, mut globals) = group_commands(&calls);
    for flag in flags::collect_listed_flags(blocks)
        .into_iter()
        .take(2_000)
        .chain(flags::collect_mentioned_flags(&snippets, &calls))
    {
        let is_near = |call: &ProgramCall| flag.near == if flag.is_listed { call.section } else { Some(call.sentence) };
        let mut owners = commands.iter_mut().filter(|command| command.calls.iter().any(is_near));
        match (owners.next(), owners.next()) {
            (Some(owner), None) => owner.flags.push(flag),
            _ => globals.push(flag),
        }
    }
    // The main tool of the skill: its commands need not repeat its name.
    let programs = || commands.iter().map(|command| &command.program);
    let is_most = |program: &&String| programs().filter(|other| other == program).count() * 2 > commands.len().max(6);
    let is_main = |program: &&String| programs::known_command_depth(program).is_none() && is_most(program);
    let main = programs().find(|program| tools.contains(program)).or_else(|| programs().take(200).find(is_main));
    for command in &commands {
        add_command(command, main == Some(&command.program), &globals, draft);
    }
    endpoints::extract_endpoints(blocks, places, &snippets, draft);
    if !draft.commands.entries.is_empty() {
        for flag in merge_flags(globals.iter().take(2_000)) {
            let doubt = (!flag.is_listed).then_some("seen only once; it may belong to a single command");
            draft.global_flags.add_with_doubt(&rules::FLAG_GLOBAL, flag.line, doubt, flag.to_json());
        }
    }
    calls
}

fn collect_code_block_calls(
    blocks: &[MarkdownBlock],
    places: &[BlockContext],
    known: &BTreeSet<String>,
) -> Vec<ProgramCall> {
    let mut found = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        let Some((script, needs_known)) = parse_script_block(block) else { continue };
        let lead = index.checked_sub(1).map(|before| &blocks[before]).filter(|lead| lead.language().is_none());
        let is_bad_lead =
            |lead: &MarkdownBlock| split_sentences(&lead.prose).len() == 1 && is_marked_bad(&lead.prose.text);
        if places[index].is_wrong() || lead.is_some_and(is_bad_lead) {
            continue;
        }
        for simple in shell::split_commands(&script) {
            let (line, section) = (block.line + 1 + simple.line, block.heading);
            let call = ProgramCall { comment: simple.comment.clone(), line, section, ..ProgramCall::default() };
            let is_bad = simple.comment.as_deref().is_some_and(is_marked_bad);
            found.extend(parse_program_call(&simple, needs_known, known, call).filter(|_| !is_bad));
        }
    }
    found
}

/// Returns the script in a code block with its line positions, and whether only known programs count in it.
fn parse_script_block(block: &MarkdownBlock) -> Option<(String, bool)> {
    let (text, language) = (&block.prose.text, block.language()?);
    let is_plain = matches!(language, "" | "text" | "txt" | "plaintext") && !text.contains(['├', '└', '│', '→']);
    if !is_plain && !is_shell_language(language) {
        return None;
    }
    // If some lines have a prompt, the others are output.
    let has_prompts = text.lines().any(|line| line.trim_start().starts_with("$ "));
    let lines = text.lines().map(str::trim_start).map(|line| match (line.strip_prefix("$ "), line.split_once("  ")) {
        (Some(command), _) => command.to_owned(),
        (None, _) if has_prompts && !line.starts_with('#') => String::new(),
        (None, Some((call, about))) if is_plain && about.trim_start().starts_with(char::is_uppercase) => {
            format!("{call} # {about}")
        }
        _ => line.to_owned(),
    });
    // If every line has the form of a call, the program need not be known.
    let is_program = |line: &str| line.split(' ').next().is_some_and(programs::is_program_name);
    let is_call = |line: &str| line.is_empty() || line.starts_with('#') || is_program(line) && line.contains(" -");
    Some((lines.collect::<Vec<_>>().join("\n"), is_plain && !text.lines().map(str::trim).all(is_call)))
}

fn is_marked_bad(text: &str) -> bool {
    let words = WordList::parse(text);
    let is_label = |index| matches!(words.lower_at(index), "bad" | "wrong" | "incorrect" | "anti-pattern");
    let is_wrong = |index| is_label(index) || LEXICON.never_headings.match_length_at(&words, index).is_some();
    roles::has_bad_mark(text) || (0..3).any(is_wrong)
}

fn parse_program_call(
    simple: &SimpleShellCommand,
    needs_known: bool,
    known: &BTreeSet<String>,
    call: ProgramCall,
) -> Option<ProgramCall> {
    let is_set = |word: &str| word.split_once('=').is_some_and(|(name, _)| is_identifier(name));
    let lead = simple.words.iter().take_while(|word| LEXICON.shell_leads.contains(word) || is_set(word)).count();
    let words = &simple.words[lead..];
    let (first, next) =
        (strip_placeholder_folder(words.first()?), words.get(1).map_or("", |next| strip_placeholder_folder(next)));
    let is_tool = known.contains(first);
    let is_script = programs::is_script_file(first) && first.contains('/');
    let starts_script = LEXICON.starters.contains(first) && programs::is_script_file(next);
    let is_known = is_tool || programs::known_command_depth(first).is_some() || is_script || starts_script;
    // Output and prose are not commands.
    let is_prose = LEXICON.english_words.contains(first) || words.last().is_some_and(|last| last.ends_with([':', '!']));
    // Search and inspection commands count if they start a line and have arguments.
    let is_taught = LEXICON.inspecting_programs.contains(first) && !simple.is_piped && words.len() > 2;
    let is_other = LEXICON.plumbing.contains(first) && !is_tool && !is_taught || next == "=";
    if !programs::is_program_name(first) || is_other || !is_known && (needs_known || is_prose) {
        return None;
    }
    let (program, count) = split_program(first, words)?;
    let rest = words[count..].to_vec();
    (!simple.is_piped || !rest.is_empty()).then_some(ProgramCall { program, rest, ..call })
}

pub(super) fn is_identifier(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// Returns the program that `python scripts/x.py`, `python -m x` or `npx x` starts, and the number of words that name
/// it.
fn split_program(first: &str, words: &[String]) -> Option<(String, usize)> {
    let is_option = |word: &&String| word.starts_with('-') && *word != "-m" || first == "uv" && *word == "run";
    let at = 1 + words[1..].iter().take_while(is_option).count();
    let next = words.get(at).map_or("", |next| strip_placeholder_folder(next));
    match first {
        _ if !LEXICON.starters.contains(first) => Some((first.to_owned(), 1)),
        _ if next == "-m" => Some((format!("{first} -m {}", words.get(at + 1)?), at + 2)),
        "uv" if at > 1 && programs::is_script_file(next) => Some((format!("uv run {next}"), at + 1)),
        "npx" | "uvx" | "bunx" | "pnpx" if !next.is_empty() => Some((format!("{first} {next}"), at + 1)),
        _ if programs::is_script_file(next) => Some((format!("{first} {next}"), at + 1)),
        _ => (matches!(first, "bun" | "deno" | "uv") && at < words.len()).then(|| (first.to_owned(), 1)),
    }
}

/// Removes the skill directory from a path, which a text can only name with a placeholder: `<skill-dir>/scripts/x.sh`.
fn strip_placeholder_folder(word: &str) -> &str {
    let parts = word.trim_matches('"').split_once('/');
    parts.filter(|(folder, _)| folder.starts_with(['$', '<', '{'])).map_or(word, |(_, rest)| rest)
}

fn collect_snippets<'a>(blocks: &'a [MarkdownBlock], places: &[BlockContext]) -> Vec<CodeSnippet<'a>> {
    let mut found = Vec::new();
    let mut sentence = 0;
    for (block, _) in blocks.iter().zip(places).filter(|(_, place)| !place.is_wrong() && !place.is_example) {
        let call = ProgramCall { line: block.line, section: block.heading, ..ProgramCall::default() };
        if block.kind == MarkdownBlockKind::Table {
            collect_table_snippets(block, &call, &mut found);
        } else if block.is_item() && is_plain_call(&block.prose.text) {
            found.push((block.prose.text.as_str(), call));
        } else if block.is_prose() {
            for range in split_sentences(&block.prose) {
                sentence += 1;
                let words = WordList::parse(&block.prose.text[range.clone()]);
                let (line, comment) = (block.prose.line_at(range.start), describe_code(&words));
                let sentence = if flags::is_about_all_commands(&words) { flags::ALL_COMMANDS } else { sentence };
                let call = ProgramCall { comment, line, sentence, ..call.clone() };
                let codes = block.prose.codes_in(range).filter(|_| !LEXICON.never_headings.occurs_in(&words));
                found.extend(codes.map(|code| (code, call.clone())));
            }
        }
    }
    found
}

/// Returns whether an item is a command line without code formatting: `- git clone https://…`.
fn is_plain_call(text: &str) -> bool {
    let mut words = text.split(' ');
    let is_known = words.next().is_some_and(|first| programs::known_command_depth(first).is_some());
    let is_shaped = |word: &str| syntax::is_flag(word) || word.contains('/') || word.starts_with(['<', '{', '@']);
    is_known && !text.contains('`') && !text.ends_with(['.', ':']) && words.any(is_shaped)
}

/// Collects the code of a table. Columns of things to avoid are not commands, and columns of actions do not describe
/// them.
fn collect_table_snippets<'a>(block: &'a MarkdownBlock, call: &ProgramCall, found: &mut Vec<CodeSnippet<'a>>) {
    let mut titles = block.rows.iter().take(1).flatten();
    let (given, wrong) = (titles.position(|title| title.text.trim() == "Returns"), tables::find_wrong_column(block));
    let says = |cell: &ProseText| cell.text.split('`').step_by(2).any(|text| text.contains(char::is_alphabetic));
    for row in block.rows.iter().skip(1) {
        let returns = given.and_then(|column| row.get(column)).map(|cell| clean_text(&cell.text));
        for (column, cell) in row.iter().enumerate().filter(|(column, _)| Some(*column) != wrong) {
            let is_said = |(at, cell): &(usize, &ProseText)| *at != column && Some(*at) != given && says(cell);
            let comment = row.iter().enumerate().find(is_said).filter(|_| wrong.is_none());
            let comment = comment.map(|(_, cell)| cell.text.clone());
            let call = ProgramCall { comment, returns: returns.clone(), line: cell.line_at(0), ..call.clone() };
            let codes = cell.codes_in(0..cell.text.len());
            found.extend(codes.map(|code| (code, call.clone())));
        }
    }
}

/// Returns the description that a sentence gives of its code, if it is about nothing else.
fn describe_code(words: &WordList<'_>) -> Option<String> {
    let marks = [' ', ':', '-', '—', '–', '(', ')', '/', ',', '→'];
    let says = |piece: &str| piece.contains(char::is_alphabetic);
    let (codes, rest) = flags::split_leading_codes(words.text);
    let (lead, behind) = (words.text.split('`').next()?, words.text.rsplit('`').next()?);
    let about = match rest.as_str() {
        rest if !codes.is_empty() => rest,
        _ if !says(behind) && lead.trim_end().ends_with(marks) => lead,
        _ if words.has_phrase_at(0, "use  to") || words.has_phrase_at(0, "run  to") => words.slice(3..words.len()),
        whole => Some(whole).filter(|_| words.is_imperative(0))?,
    };
    let about = clean_text(about.trim_matches(marks));
    let is_led = matches!(WordList::parse(&about).lower_at(0), "if" | "when" | "run" | "then" | "and" | "or");
    ((4..160).contains(&about.len()) && !is_led).then_some(about)
}

fn parse_inline_call((code, call): &CodeSnippet<'_>, known: &BTreeSet<String>) -> Option<ProgramCall> {
    let simple = shell::split_commands(code).into_iter().next().filter(|simple| simple.words.len() > 1)?;
    let is_likely = simple.words[1..].iter().any(|word| syntax::is_flag(word) || word.starts_with('<'));
    parse_program_call(&simple, !is_likely, known, call.clone())
}

/// Groups calls into commands, and collects the flags before any subcommand.
fn group_commands(calls: &[ProgramCall]) -> (Vec<ExtractedCommand>, Vec<ExtractedFlag>) {
    let mut below = SubcommandWords::new();
    for (call, length) in calls.iter().flat_map(|call| [(call, 0), (call, 1), (call, 2)]) {
        if let Some(word) = call.rest.get(length).filter(|word| is_literal(word)) {
            below.entry((&call.program, &call.rest[..length])).or_default().insert(word);
        }
    }
    let (mut commands, mut globals) = (Vec::<ExtractedCommand>::new(), Vec::new());
    let mut places = BTreeMap::new();
    for call in calls {
        let Some(call) = take_global_flags(call.clone(), &below, &mut globals) else { continue };
        let (program, path) = (call.program.clone(), find_subcommands(&call, &below));
        let place = *places.entry((program.clone(), path.clone())).or_insert(commands.len());
        if place == commands.len() {
            commands.push(ExtractedCommand { program, path, calls: Vec::new(), flags: Vec::new() });
        }
        commands[place].calls.push(call);
    }
    (commands, globals)
}

fn is_literal(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_ascii_lowercase())
        && word.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_:".contains(letter))
}

/// Removes the flags before the subcommand of a call, if it has one.
fn take_global_flags(
    mut call: ProgramCall,
    below: &SubcommandWords<'_>,
    globals: &mut Vec<ExtractedFlag>,
) -> Option<ProgramCall> {
    if call.rest.iter().take(2).any(|word| word.starts_with(['<', '[']) && word.contains("command")) {
        return None;
    }
    let Some(firsts) = below.get(&(call.program.as_str(), &[][..])) else { return Some(call) };
    let end = call.rest.iter().position(|word| firsts.contains(word.as_str())).unwrap_or(call.rest.len());
    let lead = syntax::parse_call(&call.rest[..end]);
    if lead.flags.is_empty() || !lead.arguments.is_empty() {
        return Some(call);
    }
    let (line, is_listed) = (call.line, end == call.rest.len());
    let purpose = call.comment.clone().filter(|_| is_listed);
    let is_check = |flag: &ExtractedFlag| purpose.is_none() && matches!(flag.name.as_str(), "-v" | "-V" | "--version");
    let flags = lead.flags.into_iter().filter(|flag| !is_check(flag));
    globals.extend(flags.map(|flag| ExtractedFlag { line, is_listed, purpose: purpose.clone(), ..flag }));
    call.rest.drain(..end);
    Some(call).filter(|_| !is_listed)
}

fn find_subcommands(call: &ProgramCall, below: &SubcommandWords<'_>) -> Vec<String> {
    let (program, rest) = (call.program.as_str(), &call.rest);
    let is_verb = |word: &str| LEXICON.command_verbs.contains(word);
    let behind = |length: usize| below.get(&(program, &rest[..length]));
    let is_sub = |index: usize, word: &str| match index {
        0 => true,
        1 if behind(1).is_some_and(|words| words.len() > 1) => true,
        1 => is_verb(word) || behind(2).is_some_and(|words| words.iter().any(|word| is_verb(word))),
        _ => is_verb(word),
    };
    let is_group = rest
        .first()
        .is_some_and(|first| LEXICON.command_groups.is_whole_text(&WordList::parse(&format!("{program} {first}"))));
    let depth = programs::known_command_depth(program).map(|depth| depth + usize::from(is_group));
    let is_named = |(index, word): &(usize, &String)| is_literal(word) && (depth.is_some() || is_sub(*index, word));
    let path = rest.iter().take(depth.unwrap_or(3)).enumerate().take_while(is_named);
    path.map(|(_, word)| word.clone()).collect()
}

fn add_command(command: &ExtractedCommand, is_main: bool, globals: &[ExtractedFlag], draft: &mut DocumentDraft) {
    let ExtractedCommand { program, path, calls, .. } = command;
    let behind = |call: &ProgramCall| syntax::parse_call(&call.rest[path.len().min(call.rest.len())..]);
    let with_place = |call: &ProgramCall| CallSyntax { is_mention: call.sentence > 0, ..behind(call) };
    let mut read: Vec<CallSyntax> = calls.iter().take(40).map(with_place).collect();
    // Complete calls show the order of arguments.
    read.sort_by_key(|call| call.is_mention);
    let (mut syntax, mut arguments, mut flags) =
        syntax::build_syntax_template(&join_command_line(program, path), &read, &command.flags);
    // Some programs have no common argument form, so only complete calls are used.
    if LEXICON.freeform_programs.contains(program) {
        syntax = join_command_line(program, &calls[0].rest).replace('\n', " ");
        arguments.clear();
    }
    // The description of a listed flag applies wherever the flag is used.
    for flag in &mut flags {
        let listed = globals.iter().find(|other| other.name == flag.name && other.value.is_some());
        flag.merge_from(listed.cloned().unwrap_or_default());
    }
    let comment = calls.iter().find_map(|call| call.comment.as_deref()).unwrap_or_default();
    let (description, aliases) = comment.split_once("(alias").unwrap_or((comment, ""));
    let aliases = aliases.trim_start_matches("es").trim_matches([':', ' ', ')']).split(", ");
    let returns =
        calls.iter().find_map(|call| call.returns.clone().or_else(|| parse_return_text(call.comment.as_deref()?)));
    let value = remove_empty_fields(json!({
        "syntax": syntax, "description": clean_text(description), "returns": returns, "args": arguments,
        "aliases": aliases.filter(|name| !name.is_empty()).collect::<Vec<_>>(),
        "flags": flags.iter().map(ExtractedFlag::to_json).collect::<Vec<_>>(), "variants": list_variants(command),
    }));
    draft.commands.add(&rules::COMMAND_CALL, &build_dotted_key(command, is_main), calls[0].line, None, value);
}

/// Returns the return value that a description states: `Returns the text of an element`.
pub(super) fn parse_return_text(description: &str) -> Option<String> {
    let (verb, rest) = description.split_once(' ')?;
    let is_said = matches!(verb.to_lowercase().as_str(), "returns" | "return" | "prints" | "outputs");
    (is_said && rest.len() > 2).then(|| rest.to_owned())
}

fn build_dotted_key(command: &ExtractedCommand, is_main: bool) -> String {
    let program = command.program.rsplit([' ', '/']).next().unwrap_or_default();
    let stem = program.rsplit_once('.').map_or(program, |(stem, _)| stem);
    let lead = Some(to_name_or(stem, "command")).filter(|_| !is_main || command.path.is_empty());
    let path = command.path.iter().map(|word| to_slug(word));
    lead.into_iter().chain(path).collect::<Vec<_>>().join(".")
}

pub(super) fn join_command_line(program: &str, words: &[String]) -> String {
    std::iter::once(program).chain(words.iter().map(String::as_str)).collect::<Vec<_>>().join(" ")
}

/// Lists the distinct forms of a command; empty if there is only one.
fn list_variants(command: &ExtractedCommand) -> Vec<Value> {
    let mut seen = BTreeSet::new();
    let ways = command.calls.iter().filter(|call| call.sentence == 0 || call.rest.len() > command.path.len());
    let ways = ways.filter(|call| seen.insert(&call.rest)).take(20);
    let way =
        |call: &ProgramCall| json!({ "syntax": join_command_line(&call.program, &call.rest), "purpose": call.comment });
    let found: Vec<Value> = ways.map(|call| remove_empty_fields(way(call))).collect();
    if found.len() > 1 { found } else { Vec::new() }
}
