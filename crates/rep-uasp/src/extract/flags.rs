//! Flags that are listed or mentioned apart from a call: tables of options, bullets, and code in sentences.

use std::collections::BTreeSet;

use super::blocks::{Block, Kind, Prose};
use super::commands::{Invocation, forbids};
use super::constraints::tidy;
use super::sections::Place;
use super::sentences::sentences;
use super::syntax::{self, Flag};
use super::words::Words;

/// The flags of tables and bullets, each with its line.
pub(super) fn listed(blocks: &[Block], places: &[Place], _tools: &[String]) -> Vec<(usize, Flag)> {
    let mut found = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        if places[index].is_forbidden {
            continue;
        }
        match block.kind {
            Kind::Table => {
                let columns = Columns::of(block.rows.first().map_or(&[], Vec::as_slice));
                for row in block.rows.iter().skip(1) {
                    let Some(first) = row.first() else { continue };
                    let said = row.get(columns.purpose).filter(|_| columns.purpose > 0);
                    let purpose = said.map(|cell| cell.text.as_str()).unwrap_or_default();
                    let codes: Vec<&str> = first.codes_in(0..first.text.len()).collect();
                    let default = columns.default.and_then(|column| row.get(column)).and_then(value_of);
                    let flag = flag(&codes, purpose, &values(said), default);
                    found.extend(flag.map(|flag| (first.line_at(0), flag)));
                }
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

/// What the columns of a table of options are about.
struct Columns {
    /// The one that says what an option is for; the last where none says so.
    purpose: usize,
    default: Option<usize>,
}

impl Columns {
    fn of(titles: &[Prose]) -> Self {
        let titles: Vec<String> = titles.iter().map(|title| title.text.to_lowercase()).collect();
        let column = |words: &[&str]| {
            let speaks = |title: &String| words.iter().any(|word| title.contains(word));
            titles.iter().skip(1).position(speaks).map(|at| at + 1)
        };
        let default = column(&["default"]);
        let side = [default, column(&["required", "optional"]), column(&["type"])];
        let last = (1..titles.len()).rev().find(|at| !side.contains(&Some(*at)));
        let purpose = column(&["description", "purpose", "meaning", "effect", "what "]);
        Self { purpose: purpose.or(last).unwrap_or(titles.len().saturating_sub(1)), default }
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
    let mut value = None;
    for code in codes {
        for part in code.split([',', '/', '|']).flat_map(str::split_whitespace) {
            let (name, own) = part.split_once('=').map_or((part, None), |(name, own)| (name, Some(own)));
            if syntax::is_flag(name) {
                let slot = if name.starts_with("--") { &mut long } else { &mut short };
                slot.get_or_insert_with(|| name.to_owned());
                value = value.or(own.map(str::to_owned));
            } else if long.is_some() || short.is_some() {
                value = value.or(Some(part.trim_matches(['[', ']']).to_owned()));
            } else {
                return None;
            }
        }
    }
    let name = long.clone().or(short.clone())?;
    let short = long.and(short);
    let default = default.or_else(|| default_of(purpose));
    let values: Vec<String> = values.to_vec();
    // A flag whose meaning lists numbers, dates or files wants a value, though the table does not show it.
    let lower = purpose.to_lowercase();
    let wants = default.is_some()
        || ["yyyy", "comma-separated", "path to", "file", "number of", "max ", "url", "domain", "to file"]
            .iter()
            .any(|mark| lower.contains(mark));
    if value.is_none() && wants {
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

/// `(default: 5)`, or the code before `(default)`.
fn default_of(purpose: &str) -> Option<String> {
    let lower = purpose.to_ascii_lowercase();
    if let Some(at) = lower.find("default: ").or(lower.find("default ")) {
        let rest = purpose.get(at + 8..)?.trim_start_matches([':', ' ', '=']);
        let value: String = rest.chars().take_while(|letter| !matches!(letter, ')' | ',' | ';' | ' ')).collect();
        let value = value.trim_matches(['`', '"', '.']).to_owned();
        return Some(value).filter(|value| !value.is_empty());
    }
    let at = lower.find("` (default)")?;
    let start = purpose[..at].rfind('`')?;
    Some(purpose[start + 1..at].to_owned())
}

/// Flags that only stand in a sentence.
pub(super) fn mentioned(blocks: &[Block], places: &[Place], found: &[Invocation]) -> Vec<(usize, Flag)> {
    let mut flags = Vec::new();
    let known: BTreeSet<&str> = found.iter().flat_map(|call| &call.rest).map(String::as_str).collect();
    for (index, block) in blocks.iter().enumerate().filter(|(_, block)| block.is_prose()) {
        let place = places[index];
        if place.is_forbidden || place.is_mistake || place.is_example {
            continue;
        }
        for range in sentences(&block.prose) {
            if forbids(&Words::of(&block.prose.text[range.clone()])) {
                continue;
            }
            let line = block.prose.line_at(range.start);
            for code in block.prose.codes_in(range) {
                if code.starts_with("--") && syntax::is_flag(code) && !code.contains('=') && !known.contains(code) {
                    flags.push((line, Flag { name: code.to_owned(), ..Flag::default() }));
                }
            }
        }
    }
    flags.truncate(100);
    flags
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
