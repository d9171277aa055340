//! Flags that are listed or mentioned apart from a call: tables of options, bullets, and code in sentences.

use std::collections::{BTreeMap, BTreeSet};

use super::blocks::{Block, Kind, Prose};
use super::commands::{Invocation, forbids};
use super::constraints::tidy;
use super::contrasts;
use super::sections::Place;
use super::sentences::sentences;
use super::syntax::{self, Flag};
use super::words::{Words, is_verb};

/// The flags of tables and bullets, each with its line.
pub(super) fn listed(blocks: &[Block], places: &[Place], _tools: &[String]) -> Vec<(usize, Flag)> {
    let mut found = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        if places[index].is_forbidden {
            continue;
        }
        match block.kind {
            Kind::Table if contrasts::columns(block).is_none() => {
                let columns = Columns::of(block.rows.first().map_or(&[], Vec::as_slice));
                for row in block.rows.iter().skip(1) {
                    let Some(first) = row.first() else { continue };
                    let said = row.get(columns.purpose).filter(|_| columns.purpose > 0);
                    let purpose = said.map(|cell| cell.text.as_str()).unwrap_or_default();
                    let mut codes: Vec<&str> = first.codes_in(0..first.text.len()).collect();
                    let cell = |column: Option<usize>| column.and_then(|column| row.get(column));
                    codes.extend(cell(columns.short).and_then(|cell| cell.codes_in(0..cell.text.len()).next()));
                    let default = columns.default.and_then(|column| row.get(column)).and_then(value_of);
                    let flag = flag(&codes, purpose, &values(said), default);
                    let is_switch = cell(columns.kind).is_some_and(|cell| cell.text.to_lowercase().contains("bool"));
                    // A switch takes no value, though it has a default.
                    let flag = flag.map(|flag| if is_switch { Flag { value: None, ..flag } } else { flag });
                    found.extend(flag.map(|flag| (first.line_at(0), flag)));
                }
            }
            Kind::Code(ref language) if matches!(language.as_str(), "" | "text" | "txt" | "plaintext") => {
                let first = block.prose.line_at(0);
                found.extend(printed_list(&block.prose.text).into_iter().map(|(line, flag)| (first + line, flag)));
            }
            Kind::Item(_) if block.prose.text.starts_with('`') => {
                let codes: Vec<&str> = leading_codes(&block.prose);
                let rest = block.prose.text.splitn(2 * codes.len() + 1, '`').last().unwrap_or_default();
                let purpose = tidy(rest.trim_start_matches([' ', '-', '—', '–', ':', ')']));
                found.extend(flag(&codes, &purpose, &[], None).map(|flag| (block.line, flag)));
            }
            _ => {}
        }
    }
    found
}

/// The options help prints, each with its line.
fn printed_list(text: &str) -> Vec<(usize, Flag)> {
    let mut found: Vec<(usize, &str, String)> = Vec::new();
    let mut column = None;
    for (number, line) in text.lines().enumerate().take(2_000) {
        let bare = line.trim();
        let indent = line.len() - line.trim_start().len();
        if let Some((code, purpose)) = printed(bare) {
            column = Some(indent);
            found.push((number, code, purpose.to_owned()));
        } else if let Some((_, _, purpose)) = found.last_mut().filter(|_| column.is_some_and(|own| indent > own + 3))
            && !bare.is_empty()
            && purpose.len() < 300
        {
            // A line that is set in goes on with what the option is for.
            purpose.push(' ');
            purpose.push_str(bare);
        } else {
            column = None;
        }
    }
    let flags = found.into_iter().map(|(line, code, purpose)| (line, flag(&[code], &purpose, &[], None)));
    flags.filter_map(|(line, flag)| flag.map(|flag| (line, flag))).collect()
}

/// An option as help prints it, and what it is for: `-o, --output <file>   Where to write`.
fn printed(line: &str) -> Option<(&str, &str)> {
    let (code, purpose) = line.split_once("  ").filter(|(code, _)| code.starts_with('-') && code.len() <= 80)?;
    let purpose = purpose.trim();
    purpose.starts_with(char::is_alphanumeric).then_some((code, purpose))
}

/// What the columns of a table of options are about.
struct Columns {
    /// The one that says what an option is for; the last where none says so.
    purpose: usize,
    default: Option<usize>,
    /// The ones that have the other name and the type of an option.
    short: Option<usize>,
    kind: Option<usize>,
}

impl Columns {
    fn of(titles: &[Prose]) -> Self {
        let titles: Vec<String> = titles.iter().map(|title| title.text.to_lowercase()).collect();
        let column = |words: &[&str]| {
            let speaks = |title: &String| words.iter().any(|word| title.contains(word));
            titles.iter().skip(1).position(speaks).map(|at| at + 1)
        };
        let default = column(&["default"]);
        let (short, kind) = (column(&["short", "alias"]), column(&["type"]));
        let side = [default, column(&["required", "optional"]), kind, short];
        let last = (1..titles.len()).rev().find(|at| !side.contains(&Some(*at)));
        let purpose = column(&["description", "purpose", "meaning", "effect", "what "]);
        Self { purpose: purpose.or(last).unwrap_or(titles.len().saturating_sub(1)), default, short, kind }
    }
}

/// What a cell of defaults holds, where it holds anything.
fn value_of(cell: &Prose) -> Option<String> {
    let text = cell.text.trim_matches(['`', ' ', '"']);
    let is_value = !text.is_empty()
        && !text.contains(' ')
        && !matches!(text.to_lowercase().as_str(), "-" | "—" | "–" | "none" | "n/a");
    is_value.then(|| text.to_owned())
}

/// The codes an item starts with: `-o`, `--output`.
fn leading_codes(prose: &Prose) -> Vec<&str> {
    let mut codes = Vec::new();
    let mut end = 0;
    for code in &prose.codes {
        if prose.text[end..code.start].trim_matches([' ', ',', '/', '|']).trim() != "" || codes.len() == 3 {
            break;
        }
        codes.push(prose.text[code.clone()].trim_matches('`'));
        end = code.end;
    }
    codes
}

fn values(cell: Option<&Prose>) -> Vec<String> {
    let Some(cell) = cell else { return Vec::new() };
    let codes: Vec<String> = cell.codes_in(0..cell.text.len()).map(str::to_owned).collect();
    let is_list = cell.text.starts_with('`')
        && codes.len() >= 2
        && codes.iter().all(|code| !code.contains([' ', '-', '=']) || code.len() < 16);
    if is_list { codes } else { Vec::new() }
}

/// A flag from the code that names it: `-o, --output <file>`.
fn flag(codes: &[&str], purpose: &str, values: &[String], default: Option<String>) -> Option<Flag> {
    let mut long: Option<String> = None;
    let mut short: Option<String> = None;
    let mut value: Option<String> = None;
    for code in codes {
        for word in code.split_whitespace() {
            // The brackets of `[--style a|b]` are not the flag's, the choices are not its names.
            let word = word.trim_end_matches(',');
            let word = if word.starts_with("[-") { &word[1..] } else { word };
            let names: Vec<&str> = word.split([',', '/', '|']).collect();
            let is_pair = names.len() > 1 && names.iter().all(|name| syntax::is_flag(name));
            for part in if is_pair { names } else { vec![word] } {
                let (name, own) = part.split_once('=').map_or((part, None), |(name, own)| (name, Some(own)));
                let name = name.trim_end_matches(']');
                if syntax::is_flag(name) {
                    let slot = if name.starts_with("--") { &mut long } else { &mut short };
                    slot.get_or_insert_with(|| name.to_owned());
                    value = value.or(own.map(str::to_owned));
                } else if long.is_some() || short.is_some() {
                    value = value.or(Some(part.to_owned()));
                } else {
                    return None;
                }
            }
        }
    }
    let value = value.map(|value| {
        let is_choice = syntax::alternatives(&value).len() > 1;
        if is_choice { value } else { value.trim_matches(['[', ']']).to_owned() }
    });
    let mut value = value.filter(|value| !value.is_empty());
    let name = long.clone().or(short.clone())?;
    let short = long.and(short);
    // `--submit` that says `default: preview` is a switch, which names what happens without it.
    let is_named = default.is_some() || value.is_some();
    let default = default.or_else(|| default_of(purpose)).filter(|default| is_named || !is_switch(&name, default));
    let values = if values.is_empty() { choices_in(purpose) } else { values.to_vec() };
    // A flag whose meaning lists numbers, dates or files wants a value, though the table does not show it.
    let lower = purpose.to_lowercase();
    let wants = default.as_deref().is_some_and(|default| !matches!(default, "true" | "false"))
        || ["yyyy", "comma-separated", "path to", "file", "number of", "max ", "url", "domain", "to file"]
            .iter()
            .any(|mark| lower.contains(mark));
    if value.is_none() && (wants || !values.is_empty()) {
        value = Some(name.trim_start_matches('-').to_owned());
    }
    let purpose = tidy(purpose);
    Some(Flag {
        name,
        short,
        value,
        purpose: Some(purpose).filter(|text| !text.is_empty()),
        values,
        default,
        is_required: false,
    })
}

/// Whether a flag is a deed that is done or not, and its default in words the other one.
fn is_switch(name: &str, default: &str) -> bool {
    const TAKING: &[&str] = &[
        "format",
        "output",
        "sort",
        "filter",
        "order",
        "limit",
        "count",
        "branch",
        "target",
        "model",
        "log",
        "report",
        "display",
        "view",
        "group",
        "name",
        "start",
        "end",
        "load",
        "save",
        "set",
        "select",
        "search",
        "query",
        "range",
        "scale",
        "size",
        "use",
        "import",
        "export",
        "include",
        "exclude",
        "input",
        "state",
        "style",
        "type",
        "mode",
        "level",
        "scope",
        "position",
        "profile",
        "project",
        "process",
        "value",
        "build",
        "test",
        "function",
        "cache",
        "record",
        "read",
        "write",
        "open",
        "host",
        "index",
        "transform",
        "encode",
        "render",
        "split",
        "match",
        "map",
    ];
    let bare = name.trim_start_matches('-');
    let is_word = default.chars().all(|letter| letter.is_ascii_lowercase());
    name.starts_with("--") && is_word && !bare.contains('-') && is_verb(bare) && !TAKING.contains(&bare)
}

/// The values a text lists: `one of json, yaml or table`, `(json|yaml)`.
fn choices_in(text: &str) -> Vec<String> {
    let bracketed = text.split('(').skip(1).filter_map(|rest| rest.split(')').next());
    let barred = bracketed.map(syntax::alternatives).find(|values| values.len() > 1);
    if let Some(values) = barred.filter(|values| values.iter().all(|value| !value.contains('/'))) {
        return values;
    }
    let lower = text.to_ascii_lowercase();
    let marks =
        ["one of: ", "one of ", "choices: ", "allowed values: ", "possible values: ", "valid values: ", "either "];
    let Some(at) = marks.iter().find_map(|mark| lower.find(mark).map(|at| at + mark.len())) else { return Vec::new() };
    let list = text.get(at..).unwrap_or_default().split(['.', ';', '(', ')', '\n']).next().unwrap_or_default();
    let parts = list.split([',', '|']).flat_map(|part| part.split(" or "));
    let values: Vec<String> = parts
        .map(|part| part.trim().trim_start_matches("or ").trim_matches(['`', '"', '\'', ' ']).to_owned())
        .filter(|part| !part.is_empty())
        .collect();
    let is_value = |value: &String| value.len() <= 40 && !value.contains(char::is_whitespace);
    if values.len() > 1 && values.iter().all(is_value) { values } else { Vec::new() }
}

/// `(default: 5)`, or the code before `(default)`.
fn default_of(purpose: &str) -> Option<String> {
    let lower = purpose.to_ascii_lowercase();
    if let Some(at) = lower.find("default: ").or(lower.find("default ")) {
        let rest = purpose.get(at + 8..)?.trim_start_matches([':', ' ', '=']);
        let value: String = rest.chars().take_while(|letter| !matches!(letter, ')' | ',' | ';' | ' ')).collect();
        let value = value.trim_matches(['`', '"', '.', ':']).to_owned();
        return Some(value).filter(|value| !matches!(value.as_str(), "" | "no" | "none" | "is"));
    }
    let at = lower.find("` (default)")?;
    let start = purpose[..at].rfind('`')?;
    Some(purpose[start + 1..at].to_owned())
}

/// Flags that only stand in a sentence.
pub(super) fn mentioned(blocks: &[Block], places: &[Place], found: &[Invocation]) -> Vec<(usize, Flag)> {
    let mut flags = Vec::new();
    let mut general: BTreeSet<String> = BTreeSet::new();
    let known: BTreeSet<&str> = found.iter().flat_map(|call| &call.rest).map(String::as_str).collect();
    for (index, block) in blocks.iter().enumerate().filter(|(_, block)| block.is_prose()) {
        let place = places[index];
        if place.is_forbidden || place.is_mistake || place.is_example {
            continue;
        }
        for range in sentences(&block.prose) {
            let words = Words::of(&block.prose.text[range.clone()]);
            if forbids(&words) {
                continue;
            }
            let is_general = is_general(&words);
            let line = block.prose.line_at(range.start);
            for code in block.prose.codes_in(range) {
                if code.starts_with("--") && syntax::is_flag(code) && !code.contains('=') && !known.contains(code) {
                    flags.push((line, Flag { name: code.to_owned(), ..Flag::default() }));
                    general.extend(is_general.then(|| code.to_owned()));
                }
            }
        }
    }
    // What is mentioned once belongs to what is spoken of there, which is not every command.
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (_, flag) in &flags {
        *counts.entry(flag.name.clone()).or_default() += 1;
    }
    flags.retain(|(_, flag)| general.contains(&flag.name) || counts[&flag.name] > 1);
    flags.truncate(100);
    flags
}

/// Whether a sentence speaks of every command.
fn is_general(words: &Words<'_>) -> bool {
    let all = ["global", "globally", "every", "all", "any", "each"];
    let commands =
        ["command", "commands", "subcommand", "subcommands", "call", "calls", "flag", "flags", "option", "options"];
    words.has(0..words.len(), &all) && words.has(0..words.len(), &commands)
}

/// What a comment says about a flag, and its other name in brackets: `Show help (-h)`.
pub(super) fn purpose_and_twin(comment: &str, name: &str) -> (Option<String>, Option<String>) {
    let mut purpose = comment.to_owned();
    let mut twin = None;
    if let Some(open) = comment.find("(-")
        && let Some(close) = comment[open..].find(')')
    {
        let inside = &comment[open + 1..open + close];
        if syntax::is_flag(inside) && inside != name {
            twin = Some(inside.to_owned());
            purpose = format!("{}{}", &comment[..open], &comment[open + close + 1..]);
        }
    }
    (Some(tidy(&purpose)).filter(|text| !text.is_empty()), twin)
}

/// Puts two names of one flag together.
pub(super) fn pair(flag: &mut Flag, other: String) {
    if other.starts_with("--") {
        flag.short = Some(std::mem::replace(&mut flag.name, other));
    } else {
        flag.short = Some(other);
    }
}

/// A comment without the aliases it names: `Go there (aliases: goto, navigate)`.
pub(super) fn without_aliases(comment: &str) -> (Option<String>, Vec<String>) {
    let lower = comment.to_ascii_lowercase();
    let mut text = comment.to_owned();
    let mut aliases = Vec::new();
    if let Some(open) = lower.find("(alias")
        && let Some(close) = comment[open..].find(')')
    {
        let inside = &comment[open + 1..open + close];
        let names = inside.split_once(':').map_or("", |(_, names)| names);
        aliases = names
            .split([',', '/', ' '])
            .map(|name| name.trim_matches('`').to_owned())
            .filter(|name| !name.is_empty())
            .collect();
        text = format!("{}{}", &comment[..open], &comment[open + close + 1..]);
    }
    (Some(tidy(&text)).filter(|text| !text.is_empty()), aliases)
}
