//! The commands a skill teaches: UASP's `commands` and `global_flags`, by UASP §7.1 rule 4.
//!
//! Read from shell blocks, from inline code, from tables and from the `run:` lines of pipelines. What is shown as
//! wrong, and what a text forbids, is no command of the skill.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::blocks::{Block, Kind, Prose};
use super::contrasts;
use super::draft::Draft;
use super::endpoints;
use super::flags;
use super::programs;
use super::sections::Place;
use super::shell::{self, Simple};
use super::syntax::{self, Call, Flag};
use super::words::Words;

/// One call as it stands in the text.
#[derive(Clone, Debug)]
pub(super) struct Invocation {
    /// What is started: `git`, `python scripts/x.py`, `npx playwright`.
    pub(super) program: String,
    /// The words behind it.
    pub(super) rest: Vec<String>,
    pub(super) comment: Option<String>,
    /// What it gives back, where a table says so.
    pub(super) returns: Option<String>,
    pub(super) line: usize,
    /// Whether prose only mentions it.
    pub(super) is_mention: bool,
}

/// Whether a language is one of a shell.
pub(super) fn is_shell(language: &str) -> bool {
    matches!(
        language,
        "bash"
            | "sh"
            | "shell"
            | "zsh"
            | "console"
            | "terminal"
            | "shell-session"
            | "shellsession"
            | "fish"
            | "powershell"
            | "ps1"
            | "cmd"
            | "bat"
    )
}

/// Reads the commands and flags of a skill. Returns every call, for whoever wants to know how a file is started.
pub(super) fn read(blocks: &[Block], places: &[Place], tools: &[String], draft: &mut Draft) -> Vec<Invocation> {
    let mut found = invocations(blocks, places, tools);
    found.extend(mentioned(blocks, places, tools, &found));
    let defined = functions(blocks);
    found.retain(|call| !defined.contains(call.program.as_str()));
    let mut listed = flags::listed(blocks, places, tools);
    let groups = group(&found);
    let mut globals: Vec<(usize, Flag)> = Vec::new();
    let main = main_program(&groups, tools);
    let all: usize = groups.iter().map(|group| group.commands.len()).sum();
    for group in &groups {
        // `git -C` in a skill about something else is git's.
        let is_most = group.commands.len() * 2 > all;
        let is_own = is_most || main.is_none() && programs::known_depth(&group.program).is_none();
        if is_own || main.as_deref() == Some(group.program.as_str()) {
            globals.extend(group.globals.iter().cloned());
        }
    }
    let named: usize = groups.iter().map(|group| group.commands.len()).sum();
    for group in &groups {
        let is_main = main.as_deref() == Some(group.program.as_str());
        for (path, calls) in &group.commands {
            // The options of a skill with a single command are that command's.
            let is_own = named == 1 && programs::known_depth(&group.program).is_none();
            let is_taken = is_main && group.commands.len() == 1 || is_own;
            let own = if is_taken { std::mem::take(&mut listed) } else { Vec::new() };
            write(group, path, calls, is_main, own, &listed, draft);
        }
    }
    endpoints::read(blocks, places, draft);
    globals.extend(listed);
    globals.extend(flags::mentioned(blocks, places, &found));
    if !draft.commands.entries.is_empty() {
        write_globals(globals, &found, draft);
    }
    found
}

/// The functions the shell blocks of a skill define, which are no programs.
fn functions(blocks: &[Block]) -> BTreeSet<&str> {
    let shells = blocks
        .iter()
        .filter(|block| block.language().is_some_and(|language| is_shell(language) || language.is_empty()));
    shells.flat_map(|block| block.prose.text.lines()).filter_map(shell::defined).collect()
}

/// The calls in code blocks.
fn invocations(blocks: &[Block], places: &[Place], tools: &[String]) -> Vec<Invocation> {
    let mut found = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        let Some(language) = block.language() else { continue };
        if is_wrong(blocks, index, places[index]) {
            continue;
        }
        let text = &block.prose.text;
        let first = block.line + 1;
        if is_shell(language) {
            let prompts = text.lines().any(|line| line.trim_start().starts_with("$ "));
            take(text, first, Strictness { needs_prompt: prompts, needs_known: false }, tools, &mut found);
        } else if matches!(language, "yaml" | "yml") && text.contains("run:") {
            for (line, script) in pipeline_scripts(text) {
                take(&script, first + line, Strictness { needs_prompt: false, needs_known: false }, tools, &mut found);
            }
        } else if matches!(language, "" | "text" | "txt" | "plaintext") && !text.contains(['├', '└', '│', '→'])
        {
            let prompts = text.lines().any(|line| line.trim_start().starts_with("$ "));
            let commented = with_comments(text);
            take(&commented, first, Strictness { needs_prompt: prompts, needs_known: true }, tools, &mut found);
        }
    }
    found
}

/// Help that is printed, with what it says of a command as a comment: `tool init <dir>   Create a project`.
fn with_comments(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let bare = line.trim_end();
        let gap = bare.trim_start().find("  ").map(|at| at + bare.len() - bare.trim_start().len());
        match gap.map(|gap| (&bare[..gap], bare[gap..].trim_start())) {
            Some((call, about)) if about.starts_with(char::is_uppercase) => format!("{call} # {about}"),
            _ => bare.to_owned(),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// How sure a line must be to count as a command.
#[derive(Clone, Copy)]
struct Strictness {
    /// Only lines behind `$ ` are commands, the others are what they print.
    needs_prompt: bool,
    /// Only programs that are known count.
    needs_known: bool,
}

fn take(text: &str, first_line: usize, strictness: Strictness, tools: &[String], found: &mut Vec<Invocation>) {
    let prepared: String = text
        .split_inclusive('\n')
        .map(|line| {
            let bare = line.trim_start();
            match bare.strip_prefix("$ ").or(bare.strip_prefix("> ").filter(|_| !strictness.needs_prompt)) {
                Some(command) => command,
                None if strictness.needs_prompt && !bare.starts_with('#') => "\n",
                None => line,
            }
        })
        .collect();
    for simple in shell::commands(&prepared) {
        let is_bad = simple.comment.as_deref().is_some_and(is_bad_comment);
        if let Some(invocation) = invocation(&simple, first_line, strictness.needs_known, tools).filter(|_| !is_bad) {
            found.push(invocation);
        }
    }
}

fn is_bad_comment(comment: &str) -> bool {
    let lower = comment.to_lowercase();
    ["bad", "wrong", "don't", "❌", "avoid", "never", "incorrect", "do not", "not recommended", "✗"]
        .iter()
        .any(|mark| lower.starts_with(mark))
}

/// Whether a block of code is shown as something not to do.
fn is_wrong(blocks: &[Block], index: usize, place: Place) -> bool {
    if place.is_forbidden || place.is_mistake {
        return true;
    }
    let Some(before) = index.checked_sub(1).and_then(|before| blocks.get(before)) else { return false };
    // A paragraph of rules says nothing of what stands below it, unless it ends by pointing there.
    let sentences = super::sentences::sentences(&before.prose);
    let is_lead = sentences.len() <= 1 || before.prose.text.trim_end().ends_with(':');
    let last = sentences.into_iter().next_back().filter(|_| is_lead);
    let text = last.map_or("", |range| before.prose.text[range].trim_start());
    let words = Words::of(text.get(..text.len().min(200)).unwrap_or_default());
    let bad = ["bad", "wrong", "don't", "never", "avoid", "incorrect", "anti-pattern"];
    before.language().is_none() && (text.starts_with('❌') || words.has(0..words.len().min(3), &bad))
}

/// The scripts of a pipeline: `run: npm ci`, and the lines below `run: |`.
fn pipeline_scripts(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut block: Option<usize> = None;
    for (number, line) in text.lines().enumerate() {
        let indent = line.len() - line.trim_start().len();
        if let Some(outer) = block {
            if line.trim().is_empty() || indent > outer {
                if let Some((_, script)) = found.last_mut() {
                    script.push_str(line.trim_start());
                    script.push('\n');
                }
                continue;
            }
            block = None;
        }
        let bare = line.trim_start().trim_start_matches("- ");
        if let Some(script) = bare.strip_prefix("run:") {
            let script = script.trim();
            if script.starts_with(['|', '>']) {
                block = Some(indent);
                found.push((number + 1, String::new()));
            } else {
                found.push((number, script.trim_matches(['"', '\'']).to_owned()));
            }
        }
    }
    found
}

/// Reads a simple command, if it is one of a program.
fn invocation(simple: &Simple, first_line: usize, needs_known: bool, tools: &[String]) -> Option<Invocation> {
    let mut words = simple.words.as_slice();
    loop {
        let first = words.first()?.as_str();
        let is_assignment = first.split_once('=').is_some_and(|(name, _)| is_name(name));
        let is_lead = matches!(
            first,
            "sudo"
                | "then"
                | "do"
                | "else"
                | "elif"
                | "if"
                | "while"
                | "until"
                | "!"
                | "time"
                | "exec"
                | "nohup"
                | "env"
                | "$"
                | "{"
        );
        if !is_assignment && !is_lead {
            break;
        }
        words = &words[1..];
    }
    let first = words[0].as_str();
    let is_tool = tools.iter().any(|tool| tool == first);
    let is_own_script = programs::is_script(first) && (first.starts_with("./") || first.starts_with("scripts/"));
    let is_known = is_tool || programs::known_depth(first).is_some() || is_own_script;
    if !programs::is_program(first) || (programs::is_plumbing(first) && !is_tool) || (needs_known && !is_known) {
        return None;
    }
    // Printed text and prose are no commands: nobody ends one with a full stop or calls a program `this`.
    let is_prose =
        words.last().is_some_and(|last| last.ends_with(['.', ':', '!']) && last.len() > 2 && !last.starts_with('.'))
            || matches!(first, "the" | "this" | "a" | "an" | "you" | "it" | "in" | "on" | "to" | "and" | "or");
    if (is_prose && !is_known)
        || words.get(1).is_some_and(|word| word == "=" || word.starts_with("()"))
        || first.ends_with("()")
    {
        return None;
    }
    let mut count = 1;
    let mut program = first.to_owned();
    if programs::is_starter(first) {
        let (started, used) = started(words)?;
        program = started;
        count = used;
    }
    if simple.is_piped && count == words.len() {
        return None;
    }
    Some(Invocation {
        program,
        rest: words[count..].to_vec(),
        comment: simple.comment.clone(),
        returns: None,
        line: first_line + simple.line,
        is_mention: false,
    })
}

pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// What `python scripts/x.py`, `python -m x` or `npx x` starts, and how many words say so.
fn started(words: &[String]) -> Option<(String, usize)> {
    let first = words[0].as_str();
    let mut index = 1;
    while words.get(index).is_some_and(|word| matches!(word.as_str(), "-y" | "--yes" | "-u" | "--bun")) {
        index += 1;
    }
    let next = words.get(index)?.as_str();
    if next == "-m" {
        let module = words.get(index + 1)?;
        return Some((format!("{first} -m {module}"), index + 2));
    }
    let is_package = matches!(first, "npx" | "uvx" | "bunx" | "pnpx") && !next.starts_with('-');
    if programs::is_script(next) || is_package {
        return Some((format!("{first} {next}"), index + 1));
    }
    let has_own = matches!(first, "bun" | "deno") && programs::is_program(next);
    has_own.then(|| (first.to_owned(), 1))
}

/// The calls in inline code and in tables.
fn mentioned(blocks: &[Block], places: &[Place], tools: &[String], seen: &[Invocation]) -> Vec<Invocation> {
    let mut known: Vec<String> = tools.to_vec();
    known.extend(seen.iter().map(|invocation| invocation.program.clone()));
    let known: BTreeSet<String> = known.into_iter().collect();
    let mut found = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        let place = places[index];
        if place.is_forbidden || place.is_mistake || place.is_example && !block.is_item() {
            continue;
        }
        match block.kind {
            Kind::Paragraph | Kind::Item(_) => {
                for range in super::sentences::sentences(&block.prose) {
                    let words = Words::of(&block.prose.text[range.clone()]);
                    if !forbids(&words) {
                        let comment = described(&block.prose, range.clone());
                        let line = block.prose.line_at(range.start);
                        let codes = block.prose.codes_in(range);
                        let calls = codes.filter_map(|code| inline(code, line, comment.clone(), &known, false));
                        found.extend(calls.map(|call| Invocation { is_mention: true, ..call }));
                    }
                }
            }
            Kind::Table => {
                let given = returns_column(block);
                let named = command_column(block);
                let against = contrasts::columns(block);
                for row in block.rows.iter().skip(1) {
                    let returns = given.and_then(|column| row.get(column)).map(|cell| cell.text.trim().to_owned());
                    let returns = returns.filter(|text| text.len() > 1);
                    // What not to do is no command of the skill, and what to do is not described by it.
                    let is_bad = |column: usize| against.is_some_and(|against| against.bad == column);
                    for (column, cell) in row.iter().enumerate().filter(|(column, _)| !is_bad(*column)) {
                        let mut others = row.iter().enumerate();
                        let other =
                            others.find(|(other, cell)| *other != column && Some(*other) != given && says(cell));
                        let comment = other.map(|(_, cell)| cell.text.clone()).filter(|_| against.is_none());
                        let line = cell.line_at(0);
                        let codes = cell.codes_in(0..cell.text.len());
                        let is_named = named == Some(column);
                        let calls = codes.filter_map(|code| inline(code, line, comment.clone(), &known, is_named));
                        found.extend(calls.map(|call| Invocation { returns: returns.clone(), ..call }));
                    }
                }
            }
            _ => {}
        }
    }
    found
}

/// Whether a cell says something, and is not code alone.
fn says(cell: &Prose) -> bool {
    cell.text.split('`').step_by(2).any(|text| text.contains(char::is_alphabetic))
}

/// The column of a table that says what a command gives back.
fn returns_column(block: &Block) -> Option<usize> {
    let titles = block.rows.first()?;
    titles
        .iter()
        .skip(1)
        .position(|title| matches!(title.text.to_lowercase().trim(), "returns" | "return value"))
        .map(|at| at + 1)
}

/// What a command gives back, where its description is about that: `Returns the text of an element`.
pub(super) fn returned(description: &str) -> Option<String> {
    let (verb, rest) = description.split_once(' ')?;
    let is_said = matches!(verb.to_lowercase().as_str(), "returns" | "return" | "prints" | "outputs");
    (is_said && rest.len() > 2).then(|| rest.to_owned())
}

/// Whether a sentence speaks against what it names.
pub(super) fn forbids(words: &Words<'_>) -> bool {
    words.text.starts_with('❌')
        || words.has(
            0..words.len(),
            &["never", "don't", "avoid", "not", "cannot", "instead", "shouldn't", "isn't", "deprecated"],
        )
}

/// What an item says about the code it names, before or behind it.
pub(super) fn described(prose: &Prose, range: std::ops::Range<usize>) -> Option<String> {
    let text = &prose.text[range];
    let rest = text.split('`').step_by(2).collect::<String>();
    let bare = |rest: &str| super::constraints::tidy(rest.trim_matches([' ', ':', '-', '—', '–', '(', ')', '/', ',']));
    let whole = bare(&with_words(text));
    let bare = bare(&rest);
    // Where the code was a word of the sentence, the sentence is none without it.
    let has_hole = bare.contains(" ,") || bare.contains(" .") || bare.contains(" ;");
    let ends = [
        "by",
        "after",
        "with",
        "of",
        "to",
        "the",
        "a",
        "an",
        "in",
        "before",
        "via",
        "from",
        "and",
        "or",
        "then",
        "run",
        "use",
        "using",
        "running",
        "execute",
        "call",
        "run again",
        "as",
        "for",
    ];
    // `Run … to ship` says what it is for.
    let told = ["Run to ", "Use to ", "Execute to ", "Run for ", "Use for "];
    let bare = told.iter().find_map(|lead| bare.strip_prefix(lead)).map_or(whole, str::to_owned);
    let is_cut = bare.rsplit(' ').next().is_some_and(|last| ends.contains(&last.to_lowercase().as_str()));
    let is_led = ["if ", "when ", "run ", "then "].iter().any(|lead| bare.to_lowercase().starts_with(lead));
    (bare.len() > 3 && bare.len() < 160 && !has_hole && !is_cut && !is_led).then_some(bare)
}

/// A sentence without the code it names, but for the code that is a word of it: `Prefer a / b for pages` needs both.
fn with_words(text: &str) -> String {
    let pieces: Vec<&str> = text.split('`').collect();
    let says = |piece: &&str| piece.contains(char::is_alphabetic);
    let last = pieces.iter().enumerate().step_by(2).rfind(|(_, piece)| says(piece)).map_or(0, |(at, _)| at);
    let marks = [':', '-', '—', '–', '→'];
    let (mut has_words, mut is_aside) = (false, false);
    let mut kept = String::new();
    for (at, piece) in pieces.iter().enumerate() {
        if at % 2 == 0 {
            has_words |= says(piece);
            kept.push_str(if is_aside { piece.trim_start().trim_start_matches(')') } else { piece });
            continue;
        }
        let (before, after) = (pieces[at - 1].trim_end(), pieces.get(at + 1).map_or("", |after| after.trim_start()));
        is_aside = before.ends_with('(') && after.starts_with(')');
        if is_aside {
            kept.truncate(kept.trim_end().len() - 1);
        } else if has_words && at < last && !before.ends_with(marks) && !after.starts_with(marks) {
            kept.push('`');
            kept.push_str(piece);
            kept.push('`');
        }
    }
    kept
}

/// The column of a table that lists commands of one program. Where the first words differ, they are commands of another
/// program, which the table leaves out.
fn command_column(block: &Block) -> Option<usize> {
    let (titles, rows) = block.rows.split_first()?;
    let names = ["command", "commands", "usage", "syntax"];
    let column = titles.iter().position(|title| names.contains(&title.text.to_lowercase().trim()))?;
    let cells = rows.iter().filter_map(|row| row.get(column));
    let codes = cells.flat_map(|cell| cell.codes_in(0..cell.text.len()));
    let first: BTreeSet<&str> = codes.filter_map(|code| code.split_once(' ')).map(|(first, _)| first).collect();
    (first.len() == 1).then_some(column)
}

/// The call some code makes; `is_named` where its place says that it is one, whatever the program.
fn inline(
    code: &str,
    line: usize,
    comment: Option<String>,
    known: &BTreeSet<String>,
    is_named: bool,
) -> Option<Invocation> {
    if code.contains('\n') || code.len() > 300 || !code.contains(' ') {
        return None;
    }
    let simple = shell::commands(code).into_iter().next()?;
    let tools: Vec<String> = simple.words.first().filter(|first| known.contains(*first)).cloned().into_iter().collect();
    let is_lower = code.starts_with(|letter: char| letter.is_ascii_lowercase());
    let mut found = invocation(&simple, line, !(is_named && is_lower), &tools)?;
    found.comment = comment;
    Some(found)
}

/// The calls of one program.
struct Group {
    program: String,
    /// Path of subcommands → its calls.
    commands: Vec<(Vec<String>, Vec<Invocation>)>,
    /// Flags that stand before any subcommand.
    globals: Vec<(usize, Flag)>,
}

fn group(found: &[Invocation]) -> Vec<Group> {
    let mut order: Vec<&str> = Vec::new();
    let mut by_program: BTreeMap<&str, Vec<&Invocation>> = BTreeMap::new();
    for invocation in found {
        let calls = by_program.entry(invocation.program.as_str()).or_default();
        if calls.is_empty() {
            order.push(invocation.program.as_str());
        }
        calls.push(invocation);
    }
    order.into_iter().map(|program| group_of(program, &by_program[program])).collect()
}

fn group_of(program: &str, calls: &[&Invocation]) -> Group {
    let is_literal = |word: &str| {
        word.starts_with(|letter: char| letter.is_ascii_lowercase())
            && word
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_' || letter == ':')
    };
    let first_words: BTreeSet<&str> =
        calls.iter().filter_map(|call| call.rest.first()).map(String::as_str).filter(|word| is_literal(word)).collect();
    let mut children: Children<'_> = BTreeMap::new();
    let mut gaps: BTreeSet<&[String]> = BTreeSet::new();
    for call in calls {
        for length in 1..=2 {
            if let Some(child) = call.rest.get(length).filter(|word| is_literal(word)) {
                children.entry(&call.rest[..length]).or_default().insert(child);
            }
            // Where one call has a gap, the words of the others fill it: `find <query>`, `find react`.
            if call.rest.get(length).is_some_and(|word| word.starts_with(['<', '[', '"', '{'])) {
                gaps.insert(&call.rest[..length]);
            }
        }
    }
    for (prefix, words) in &mut children {
        if gaps.contains(prefix) {
            words.retain(|word| programs::is_command_verb(word));
        }
    }
    let mut group = Group { program: program.to_owned(), commands: Vec::new(), globals: Vec::new() };
    let mut places: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    for call in calls {
        let mut call = (*call).clone();
        if !first_words.is_empty() && !take_globals(&mut call, &first_words, &mut group.globals) {
            continue;
        }
        let path = subcommands(program, &call.rest, &is_literal, &children);
        let place = *places.entry(path.clone()).or_insert_with(|| {
            group.commands.push((path, Vec::new()));
            group.commands.len() - 1
        });
        group.commands[place].1.push(call);
    }
    group
}

/// Which words were seen behind which.
type Children<'a> = BTreeMap<&'a [String], BTreeSet<&'a str>>;

/// Takes the flags off that stand before the subcommand. Returns whether a command is left.
fn take_globals(call: &mut Invocation, first_words: &BTreeSet<&str>, globals: &mut Vec<(usize, Flag)>) -> bool {
    let mut index = 0;
    let purpose = call.comment.clone();
    while let Some(word) = call.rest.get(index).filter(|word| syntax::is_flag(word)) {
        let (name, mut value) = word
            .split_once('=')
            .map_or((word.clone(), None), |(name, value)| (name.to_owned(), Some(value.to_owned())));
        index += 1;
        let next = call.rest.get(index).map_or("", String::as_str);
        let is_value = value.is_none()
            && !next.is_empty()
            && next != "..."
            && !syntax::is_flag(next)
            && !first_words.contains(next);
        if is_value {
            value = Some(next.to_owned());
            index += 1;
        }
        globals.push((call.line, Flag { name, value, ..Flag::default() }));
    }
    if index == 0 {
        // `tool [options] <command>` is every command.
        let is_place = |word: &&String| matches!(word.trim_matches(['[', ']', '<', '>']), "options" | "flags");
        let place = call.rest.iter().take_while(is_place).count();
        let is_command = |word: &String| word.starts_with(['<', '[']) && word.contains("command");
        let is_any = call.rest.get(place).is_some_and(is_command);
        if is_any {
            let flags = syntax::call(&call.program, &call.rest[place + 1..]).flags;
            globals.extend(flags.into_iter().map(|flag| (call.line, Flag { purpose: purpose.clone(), ..flag })));
        }
        return !is_any;
    }
    let is_alone = call.rest[index..].iter().all(|word| word == "...");
    if is_alone && let Some((_, flag)) = globals.last_mut() {
        let (purpose, other) = flags::purpose_and_twin(purpose.as_deref().unwrap_or_default(), &flag.name);
        // `php -v` that says nothing more is a check.
        if purpose.is_none() && matches!(flag.name.as_str(), "-v" | "-V" | "--version") {
            globals.pop();
            return false;
        }
        flag.purpose = purpose;
        if let Some(other) = other {
            flags::pair(flag, other);
        }
    }
    call.rest.drain(..index);
    !is_alone
}

/// The words behind a program that name the command.
fn subcommands(
    program: &str,
    rest: &[String],
    is_literal: &impl Fn(&str) -> bool,
    children: &Children<'_>,
) -> Vec<String> {
    let mut path: Vec<String> = Vec::new();
    let depth = programs::known_depth(program).filter(|_| !program.contains(' '));
    let most = match depth {
        Some(depth) => depth + usize::from(rest.first().is_some_and(|first| programs::is_group(program, first))),
        None => 3,
    };
    for (index, word) in rest.iter().take(most).enumerate() {
        if !is_literal(word) || word.len() > 40 || programs::is_script(word) {
            break;
        }
        let is_sub = match index {
            _ if depth.is_some() => true,
            // A lone word with an underscore is a file or a value: `bibtex my_report`.
            0 => !word.contains('_') || children.contains_key(&rest[..1]),
            1 => {
                let siblings = children.get(&rest[..1]).map_or(0, BTreeSet::len);
                let leads_on = children
                    .get(&rest[..2])
                    .is_some_and(|below| below.iter().any(|word| programs::is_command_verb(word)));
                let is_named = programs::is_command_verb(word) || siblings >= 2 || leads_on;
                let has_others =
                    children.get(&rest[..1]).is_some_and(|words| words.iter().any(|word| !programs::is_value(word)));
                is_named
                    && (!programs::is_value(word) || siblings >= 4 || siblings >= 2 && has_others && rest.len() > 2)
            }
            _ => programs::is_command_verb(word),
        };
        if !is_sub {
            break;
        }
        path.push(word.clone());
    }
    path
}

/// The program whose name its commands need not repeat: the tool the skill is about.
fn main_program(groups: &[Group], tools: &[String]) -> Option<String> {
    let allowed = groups.iter().find(|group| tools.contains(&group.program) && !group.commands.is_empty());
    let all: usize = groups.iter().map(|group| group.commands.len()).sum();
    let largest = groups.iter().max_by_key(|group| group.commands.len());
    let dominant = largest.filter(|group| {
        group.commands.len() >= 4 && group.commands.len() * 2 > all && programs::known_depth(&group.program).is_none()
    });
    allowed.or(dominant).map(|group| group.program.clone())
}

/// The key of a command: its dotted path.
fn key(group: &Group, path: &[String], is_main: bool) -> String {
    let mut parts: Vec<String> = Vec::new();
    if !is_main || path.is_empty() {
        let program = group.program.rsplit([' ', '/']).next().unwrap_or(&group.program);
        let stem = program.rsplit_once('.').map_or(program, |(stem, _)| stem);
        parts.push(super::names::slug(stem));
    }
    parts.extend(path.iter().map(|word| super::names::slug(word)));
    parts.retain(|part| !part.is_empty());
    if parts.is_empty() { "command".to_owned() } else { parts.join(".") }
}

fn write(
    group: &Group,
    path: &[String],
    calls: &[Invocation],
    is_main: bool,
    own: Vec<(usize, Flag)>,
    listed: &[(usize, Flag)],
    draft: &mut Draft,
) {
    let name = line_of(&group.program, path);
    let mut read: Vec<Call> = calls
        .iter()
        .take(40)
        .map(|call| Call {
            is_mention: call.is_mention,
            ..syntax::call(&call.program, &call.rest[path.len().min(call.rest.len())..])
        })
        .collect();
    // What is shown whole says in which order things stand.
    read.sort_by_key(|call| call.is_mention);
    let (mut syntax, mut arguments, mut flags) = syntax::template(&name, &read);
    if programs::is_freeform(&group.program) {
        syntax = line_of(&group.program, &calls[0].rest).replace('\n', " ");
        arguments.clear();
        flags.clear();
    }
    // What is listed of a flag is known wherever it is used.
    for flag in &mut flags {
        if let Some((_, other)) = listed.iter().find(|(_, other)| other.name == flag.name && other.value.is_some()) {
            flag.learn(other.clone());
        }
    }
    for (_, flag) in own {
        let known = flags.iter_mut().find(|known| known.name == flag.name || Some(&known.name) == flag.short.as_ref());
        if let Some(known) = known {
            known.learn(flag);
        } else {
            syntax = format!("{syntax} [{}]", flag.shown());
            flags.push(flag);
        }
    }
    let mut map = Map::new();
    map.insert("syntax".to_owned(), json!(syntax));
    let comment = calls.iter().find_map(|call| call.comment.clone());
    let (description, aliases) = comment.as_deref().map_or((None, Vec::new()), flags::without_aliases);
    let returns = calls.iter().find_map(|call| call.returns.clone());
    let returns = returns.or_else(|| calls.iter().find_map(|call| returned(call.comment.as_deref()?)));
    if let Some(description) = description {
        map.insert("description".to_owned(), json!(description));
    }
    if !aliases.is_empty() {
        map.insert("aliases".to_owned(), json!(aliases));
    }
    if !arguments.is_empty() {
        map.insert("args".to_owned(), arguments.iter().map(syntax::Argument::json).collect());
    }
    if !flags.is_empty() {
        map.insert("flags".to_owned(), flags.iter().map(Flag::json).collect());
    }
    if let Some(returns) = returns {
        map.insert("returns".to_owned(), json!(returns));
    }
    let variants = variants(group, path.len(), calls);
    if variants.len() > 1 {
        map.insert("variants".to_owned(), json!(variants));
    }
    draft.commands.add(&key(group, path, is_main), calls[0].line, None, Value::Object(map));
}

/// A program and its words as one line.
pub(super) fn line_of(program: &str, words: &[String]) -> String {
    std::iter::once(program).chain(words.iter().map(String::as_str)).collect::<Vec<_>>().join(" ")
}

/// The ways a command is called, each once, with the first thing that is said about it.
fn variants(group: &Group, path_length: usize, calls: &[Invocation]) -> Vec<Value> {
    let mut found: Vec<Value> = Vec::new();
    let has_whole = calls.iter().any(|call| !call.is_mention);
    let is_way = |call: &&Invocation| !has_whole || !call.is_mention || call.rest.len() > path_length;
    for one in calls.iter().take(60).filter(is_way).map(|call| variant(group, call)) {
        match found.iter_mut().find(|known| known["syntax"] == one["syntax"]) {
            Some(known) if known.get("purpose").is_none() => *known = one,
            Some(_) => {}
            None => found.push(one),
        }
    }
    found.truncate(20);
    found
}

fn variant(group: &Group, call: &Invocation) -> Value {
    let syntax = line_of(&group.program, &call.rest);
    match &call.comment {
        Some(comment) => json!({ "syntax": syntax, "purpose": comment }),
        None => json!({ "syntax": syntax }),
    }
}

fn write_globals(globals: Vec<(usize, Flag)>, found: &[Invocation], draft: &mut Draft) {
    let mut known: Vec<(usize, Flag)> = Vec::new();
    for (line, flag) in globals.into_iter().take(2_000) {
        match known.iter_mut().find(|(_, known)| known.name == flag.name || known.short.as_ref() == Some(&flag.name)) {
            Some((_, own)) => own.learn(flag),
            None => known.push((line, flag)),
        }
    }
    let is_empty = found.is_empty();
    for (line, flag) in known {
        draft.global_flags.add(line, is_empty.then_some("no command it belongs to was found"), flag.json());
    }
}
