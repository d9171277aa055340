//! Decisions that are laid out instead of said: tables, and lists of alternatives.

use super::blocks::{Block, Prose};
use super::clauses;
use super::constraints::tidy;
use super::decisions::Decision;
use super::rules::SourceIds;
use super::sections::Place;
use super::words::Words;

/// Headers of a column that says when.
const WHEN: &[&str] = &[
    "when",
    "use when",
    "when to use",
    "if",
    "condition",
    "situation",
    "scenario",
    "best for",
    "use case",
    "use cases",
    "use for",
    "user says",
    "user asks",
    "you want",
    "you need",
    "need",
    "trigger",
    "case",
    "if you",
    "want to",
    "when to load",
    "load when",
    "read when",
    "when to read",
    "user intent",
    "intent",
    "if user",
    "signal",
    "good for",
    "mistake",
    "claim",
    "if the",
    "question",
];

/// Headers of a column that names what went wrong.
const TROUBLE: &[&str] =
    &["error", "problem", "issue", "symptom", "failure", "pitfall", "gotcha", "warning", "error message", "status"];

/// Headers of a column that says what to do.
const THEN: &[&str] = &[
    "then",
    "action",
    "fix",
    "solution",
    "do",
    "do this",
    "use",
    "response",
    "approach",
    "resolution",
    "recommendation",
    "recommended",
    "requires",
    "what to do",
    "remedy",
    "load",
    "read",
    "reference",
    "tool",
    "skill",
    "workflow",
    "instead",
    "strategy",
    "choose",
    "pattern",
    "how to fix",
    "correction",
    "go to",
    "route to",
    "handling",
    "mitigation",
    "file",
    "method",
    "agent",
    "next step",
    "recovery",
];

/// Which columns of a table say when, and what to do then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) when: usize,
    then: usize,
    /// Whether what to do is a thing to use.
    is_thing: bool,
    /// Whether the case is a fault, against which the remedy always helps.
    pub(super) is_fault: bool,
}

/// The columns of a table of decisions, if it is one.
pub(super) fn columns(block: &Block) -> Option<Columns> {
    let head = block.rows.first()?;
    let column = |wanted: &[&str]| head.iter().position(|cell| is_header(&cell.text, wanted));
    if let Some(when) = column(WHEN) {
        let then = (0..head.len()).find(|index| *index != when && is_header(&head[*index].text, THEN));
        let is_fault = is_header(&head[when].text, &["mistake", "claim"]);
        return match then {
            Some(then) => Some(Columns { when, then, is_thing: false, is_fault }),
            // `Tool | Best for`: the first column is what is chosen.
            None if when > 0 && is_choosing(&head[when].text) => {
                Some(Columns { when, then: 0, is_thing: true, is_fault })
            }
            None => None,
        };
    }
    Some(Columns { when: column(TROUBLE)?, then: column(THEN)?, is_thing: false, is_fault: true })
}

/// The decisions of a table, each with the line it stands on.
pub(super) fn of_table(block: &Block, ids: &SourceIds) -> Vec<(usize, Decision, Option<String>)> {
    let mut found = Vec::new();
    let Some((head, rows)) = block.rows.split_first() else { return found };
    let Some(Columns { when, then, is_thing, .. }) = columns(block) else { return found };
    for row in rows {
        let (Some(condition), Some(action)) = (row.get(when), row.get(then)) else { continue };
        let is_empty = |cell: &Prose| !cell.text.chars().any(char::is_alphanumeric);
        if is_empty(condition) || is_empty(action) {
            continue;
        }
        let words = Words::of(&action.text);
        let bare =
            is_thing || !words.is_imperative(0) && is_header(&head[then].text, &["use", "tool", "skill", "choose"]);
        let is_file = !words.is_imperative(0) && is_header(&head[then].text, &["reference", "file", "read", "load"]);
        let action_text = if is_file {
            format!("read {}", action.text)
        } else if bare {
            format!("use {}", action.text)
        } else {
            action.text.clone()
        };
        // The file may stand in a column of its own.
        let link = [action, condition].into_iter().chain(row).find_map(|cell| pointed(cell, ids));
        if let Some(decision) = Decision::of(strip_when(&condition.text), &action_text) {
            found.push((condition.line_at(0), decision, link));
        }
    }
    found
}

/// The source a cell links to or names.
fn pointed(cell: &Prose, ids: &SourceIds) -> Option<String> {
    let links = cell.links.iter().map(|(_, target)| target.as_str());
    let mut found = links.chain(cell.codes_in(0..cell.text.len())).filter(|target| ids.contains_key(*target));
    found.next().map(str::to_owned)
}

fn is_header(text: &str, wanted: &[&str]) -> bool {
    let words = Words::of(text);
    // `If the user asks for` is a condition however long it is.
    let is_open = wanted == WHEN && matches!(words.at(0), "if" | "when") && (3..=8).contains(&words.len());
    is_open || wanted.iter().any(|phrase| words.is(0, phrase) && phrase.split(' ').count() + 2 >= words.len())
}

/// Whether a column says when, or what went wrong.
pub(super) fn is_case(title: &str) -> bool {
    is_header(title, WHEN) || is_header(title, &["error", "symptom", "error message"])
}

fn is_choosing(text: &str) -> bool {
    is_header(text, &["use when", "when to use", "best for", "use case", "use cases", "use for", "when", "good for"])
}

fn strip_when(text: &str) -> &str {
    let lower = text.to_ascii_lowercase();
    let lead = ["when ", "if ", "use when ", "for "].into_iter().find(|lead| lower.starts_with(lead));
    lead.map_or(text, |lead| &text[lead.len()..])
}

/// Labels of what something is like, which is nothing to choose.
const PROPERTIES: &[&str] = &[
    "complexity",
    "cost",
    "costs",
    "performance",
    "pros",
    "cons",
    "output",
    "input",
    "returns",
    "description",
    "purpose",
    "example",
    "examples",
    "note",
    "notes",
    "default",
    "advantages",
    "disadvantages",
    "trade-offs",
    "tradeoffs",
    "limitations",
    "speed",
    "memory",
    "price",
    "pricing",
    "summary",
    "features",
    "benefits",
    "drawbacks",
];

/// The decision of an item that names an alternative and what it is for: `**Lines** - Trends over time`.
pub(super) fn of_item(block: &Block, place: Place) -> Option<Decision> {
    if !place.is_choice || place.is_trigger || block.depth != 1 {
        return None;
    }
    let text = block.prose.text.as_str();
    let label = block.prose.strongs.first().filter(|strong| strong.start == 0)?;
    let (name, rest) = text.split_at(label.end);
    let has_gap = rest.trim_start().starts_with(['-', '—', '–', ':', '→']) || name.trim_end().ends_with(':');
    let rest = tidy(rest.trim_start_matches([' ', '-', '—', '–', ':', '→']));
    let words = Words::of(name);
    // `Release Trains` is a name, `Release the lock` is not.
    let is_title =
        words.len() >= 2 && words.list.iter().all(|word| name[word.at.clone()].starts_with(char::is_uppercase));
    let is_name = words.len() <= 6 && !clauses::is_condition(&words, 0) && (is_title || !words.is_imperative(0));
    let rest_words = Words::of(&rest);
    // `Report pages, exports` lists nouns.
    let told = clauses::is_action(&rest_words, 0) && !rest_words.before(2).contains(',');
    let is_each = matches!(rest_words.at(0), "each" | "every") || rest_words.is(0, "for each");
    let is_property = PROPERTIES.contains(&words.at(words.len().saturating_sub(1)))
        || words.any(0, &["and more", "more", "others", "etc"]).is_some();
    if is_property || is_each || !has_gap || !is_name || rest.is_empty() || rest.len() > 200 {
        return None;
    }
    // `Disk full: delete logs` names the fault first, `Lines: trends` the choice. `Manual mode: fixes one file`
    // names a choice and what it does, which does not say when.
    let name = tidy(name);
    match (told, place.is_trouble) {
        (true, true) => Decision::of(&name, &rest),
        (true, false) => None,
        (false, _) => Decision::of(strip_when(&rest), &format!("use {name}")),
    }
}

/// The decision of an item with an arrow: `Static page → read the file`.
pub(super) fn of_arrow(block: &Block, place: Place) -> Option<Decision> {
    let text = block.prose.text.as_str();
    let arrow = [" → ", " -> ", " => "].into_iter().find(|arrow| text.matches(arrow).count() == 1)?;
    let (when, then) = text.split_once(arrow)?;
    let condition = Words::of(when);
    let action = Words::of(then);
    let is_said = clauses::is_condition(&condition, 0) && condition.at(0) != "to";
    if condition.is_imperative(0)
        || place.is_example
        || !(is_said || (place.is_choice || place.is_trouble) && condition.len() <= 12)
    {
        return None;
    }
    if !is_said && !clauses::is_action(&action, 0) && !action.text.starts_with('`') {
        return None;
    }
    let start = usize::from(is_said);
    Decision::of(condition.slice(start..condition.len()), then)
}
