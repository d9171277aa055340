//! The parts of a sentence: its label, its condition, and the clauses that can be judged one by one.

use std::ops::Range;

use super::words::{Form, Words, is_verb};

/// Words that may stand before what a clause is about.
const CONNECTORS: &[&str] = &[
    "and",
    "but",
    "so",
    "then",
    "also",
    "instead",
    "please",
    "similarly",
    "finally",
    "however",
    "therefore",
    "thus",
    "next",
    "first",
    "second",
    "third",
    "lastly",
    "otherwise",
    "likewise",
    "additionally",
    "remember",
    "note",
    "that",
    "or",
    "just",
    "simply",
    "generally",
    "again",
    "critically",
    "importantly",
    "now",
    "yet",
    "plus",
    "still",
];

/// Words that open a label a rule often hangs behind.
const SHOUTS: &[&str] =
    &["important", "critical", "note", "warning", "rule", "caution", "mandatory", "required", "tip"];

/// The conditions that can open a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opening {
    If,
    Unless,
    For,
    Before,
    After,
    To,
}

/// A sentence with a condition in front.
#[derive(Clone, Debug)]
pub(super) struct Conditional {
    pub(super) opening: Opening,
    pub(super) when: Range<usize>,
    pub(super) then: Range<usize>,
}

/// The word at which a sentence starts to say something, behind its label: `**Syntax:** keep it`.
pub(super) fn body_start(words: &Words<'_>) -> usize {
    for index in 1..words.len().min(7) {
        let between = words.before(index);
        if is_separator(between) {
            let shouts = SHOUTS.contains(&words.at(0)) && index <= 3;
            let is_label = (!words.is_imperative(0) || is_titled(words))
                && !is_condition(words, 0)
                && words.list[0].form == Form::Plain;
            let is_label = is_label && !has_verb(words, 0..index) && !is_aside(words, index);
            return if is_label || shouts { index } else { 0 };
        }
    }
    0
}

/// Whether a dash before a word opens what is only thrown in: `The naive way — retry forever — costs a day`.
fn is_aside(words: &Words<'_>, index: usize) -> bool {
    if !is_dash(words.before(index)) {
        return false;
    }
    let Some(close) = (index + 1..words.len()).find(|close| is_dash(words.before(*close))) else { return false };
    let next = words.at(close);
    let is_finite = FINITE.contains(&next)
        || next.strip_suffix('s').is_some_and(is_verb)
        || next.strip_suffix("es").is_some_and(is_verb);
    is_finite || matches!(words.at(0), "the" | "a" | "an" | "this" | "that" | "these" | "those" | "one")
}

/// Verbs that say something of what stands before them.
const FINITE: &[&str] = &[
    "is", "are", "was", "were", "has", "have", "had", "can", "cannot", "can't", "will", "would", "should", "must",
    "may", "does", "doesn't", "isn't", "aren't", "won't", "never", "almost", "only", "also", "usually", "often",
];

/// Words that name something people do wrong.
const MISTAKES: &[&str] = &[
    "mistake",
    "mistakes",
    "naive",
    "naïve",
    "pitfall",
    "pitfalls",
    "trap",
    "traps",
    "temptation",
    "tempting",
    "anti-pattern",
    "anti-patterns",
    "antipattern",
    "antipatterns",
    "wrong",
    "myth",
    "misconception",
    "misuse",
    "excuse",
    "rationalization",
    "smell",
];

/// Whether what a sentence labels or throws in is done wrong: `A common mistake — delete every file — costs a day`.
pub(super) fn is_mistaken(words: &Words<'_>) -> bool {
    let end = (1..words.len().min(8)).find(|index| is_separator(words.before(*index)));
    // `Flag whatever looks wrong — at once` is no label.
    let is_told = !MISTAKES.contains(&words.at(0)) && (words.is_imperative(0) || is_strong(words, 0));
    end.is_some_and(|end| words.has(0..end, MISTAKES) && !has_negation(words, 0..end)) && !is_told
}

fn has_negation(words: &Words<'_>, range: Range<usize>) -> bool {
    words.has(range, &["never", "not", "don't", "avoid", "no", "avoiding", "prevent", "fix", "fixing"])
}

fn is_dash(between: &str) -> bool {
    between.contains(['—', '–']) || between.trim_start().starts_with("- ")
}

/// Whether a sentence starts with a title and a colon: `Cache Stampede: lock it`.
pub(super) fn is_titled(words: &Words<'_>) -> bool {
    let Some(end) = (1..words.len().min(6)).find(|index| words.before(*index).starts_with(':')) else { return false };
    end >= 2
        && words.list[..end].iter().all(|word| {
            let is_capital = words.text[word.at.clone()].starts_with(char::is_uppercase);
            word.form == Form::Plain
                && (is_capital || matches!(word.lower.as_str(), "and" | "of" | "the" | "for" | "&"))
        })
}

/// Whether what stands between two words separates a label from what it labels.
pub(super) fn is_separator(between: &str) -> bool {
    between.contains(['—', '–', '→']) || between.starts_with(':') || between.trim_start().starts_with("- ")
}

fn has_verb(words: &Words<'_>, range: Range<usize>) -> bool {
    words.has(range, &["is", "are", "must", "should", "can", "never", "always", "not", "don't", "you"])
}

/// Whether a condition opens here.
pub(super) fn is_condition(words: &Words<'_>, index: usize) -> bool {
    opening(words, index).is_some()
}

fn opening(words: &Words<'_>, index: usize) -> Option<(Opening, usize)> {
    let found = match words.at(index) {
        "if" | "when" | "whenever" | "while" | "once" | "where" => (Opening::If, 1),
        "only" if matches!(words.at(index + 1), "if" | "when") => (Opening::If, 2),
        "in" if words.is(index, "in case") => (Opening::If, 2),
        "unless" => (Opening::Unless, 1),
        "for" => (Opening::For, 1),
        "before" => (Opening::Before, 1),
        "after" => (Opening::After, 1),
        "to" => (Opening::To, 1),
        _ => return None,
    };
    Some(found)
}

/// Splits `If this, do that` from a word on.
pub(super) fn conditional(words: &Words<'_>, from: usize) -> Option<Conditional> {
    let mut start = from;
    while matches!(words.at(start), "and" | "but" | "so" | "similarly" | "then" | "finally" | "also" | "however") {
        start += 1;
    }
    let (opening, length) = opening(words, start)?;
    let first = start + length;
    let then = action_start(words, first, opening)?;
    let mut action = then;
    while matches!(words.at(action), "then" | "please" | "also" | "just") {
        action += 1;
    }
    (first < then && action < words.len()).then_some(Conditional {
        opening,
        when: first..then,
        then: action..words.len(),
    })
}

/// Where the action of a conditional sentence starts.
fn action_start(words: &Words<'_>, first: usize, opening: Opening) -> Option<usize> {
    let mut fallback = None;
    let mut brackets = 0_usize;
    for index in first + 1..words.len() {
        let between = words.before(index);
        brackets = (brackets + between.matches('(').count()).saturating_sub(between.matches(')').count());
        if brackets > 0 {
            continue;
        }
        if between.contains(';') {
            break;
        }
        let is_comma = between.starts_with(',') || between.trim_end().ends_with(',');
        let is_colon = is_separator(between);
        if !is_comma && !is_colon {
            // `If the user wants this they should do that` has no comma.
            let is_then = words.at(index) == "then" && words.is_imperative(index + 1);
            let is_should = matches!(words.at(index), "they" | "you" | "it")
                && matches!(words.at(index + 1), "should" | "must" | "shall");
            if index > first + 2 && (is_then || is_should) && opening == Opening::If {
                return Some(index);
            }
            continue;
        }
        if is_action(words, index) {
            return Some(index);
        }
        if is_colon && opening == Opening::For {
            return None;
        }
        if fallback.is_none() && !matches!(words.at(index), "or" | "and" | "like" | "such" | "e.g" | "including" | "so")
        {
            fallback = Some(index);
        }
    }
    fallback
}

/// Whether somebody is told to do something from here on.
pub(super) fn is_action(words: &Words<'_>, index: usize) -> bool {
    let at = words.at(index);
    words.is_imperative(index)
        || matches!(at, "never" | "always" | "don't" | "then" | "only" | "please" | "immediately" | "simply" | "first")
        || words
            .any(index, &["do not", "you should", "you must", "you cannot", "you can't", "they should", "make sure"])
            .is_some()
}

/// Cuts a range of words into clauses that can be judged alone.
pub(super) fn clauses(words: &Words<'_>, range: Range<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = range.start;
    for index in range.start + 1..range.end {
        // What follows a prohibition and a semicolon is no longer forbidden: `Don't guess; ask`.
        let is_turn = words.before(index).contains(';') && is_strong(words, head(words, start..index));
        if is_turn || leaves(words, start..range.end, index) || starts_clause(words, index) {
            found.push(start..index);
            start = index;
        }
    }
    if start < range.end {
        found.push(start..range.end);
    }
    found
}

/// Whether a command behind a comma leaves the prohibition before it: `Avoid jargon, define the terms`, but not `Never
/// log, print, or show it`.
fn leaves(words: &Words<'_>, clause: Range<usize>, index: usize) -> bool {
    if words.before(index).trim() != "," || !words.is_imperative(index) {
        return false;
    }
    let head = head(words, clause.start..index);
    let Some(length) = words.any(head, &["never", "don't", "avoid", "do not", "must not", "you must not"]) else {
        return false;
    };
    let deed = super::constraints::behind_asides(words, head + length);
    let inside = words.slice(clause.start..index);
    let is_bracketed = inside.matches('(').count() > inside.matches(')').count();
    let is_listed = |at: usize| words.before(at).contains(',') && matches!(words.at(at), "or" | "and" | "nor");
    !is_bracketed
        && deed < index
        && index + 1 < clause.end
        && !(deed + 1..clause.end).any(is_listed)
        && !words.has(index..clause.end, &["or", "nor"])
}

fn starts_clause(words: &Words<'_>, index: usize) -> bool {
    let between = words.before(index);
    // A last word alone is no clause: `Facts first, always`.
    let is_dash = between.contains(['—', '–', '→']) || between.trim_start().starts_with("- ");
    if between.contains('(') || index + 1 == words.len() && !(is_dash && words.is_imperative(index)) {
        return false;
    }
    let head = head(words, index..words.len());
    if is_dash {
        return true;
    }
    if between.contains(';') {
        return is_marker(words, head) || is_condition(words, head) || !words.is_imperative(head);
    }
    let is_comma = between.contains(',');
    match words.at(index) {
        "but" => true,
        "and" if is_comma => words.is_imperative(head) || is_marker(words, head),
        "and" => is_marker(words, head),
        "so" if is_comma => true,
        "because" | "since" => is_comma || words.at(index) == "because",
        "instead" if is_comma => words.at(index + 1) != "of",
        _ => is_comma && (is_strong(words, index) || (words.at(index) == "use" && words.at(index + 1) != "of")),
    }
}

/// Whether a rule says so here.
fn is_marker(words: &Words<'_>, index: usize) -> bool {
    is_strong(words, index) || matches!(words.at(index), "avoid" | "ensure" | "prefer") || words.is(index, "make sure")
}

fn is_strong(words: &Words<'_>, index: usize) -> bool {
    matches!(words.at(index), "never" | "always" | "don't" | "avoid")
        || words.any(index, &["do not", "must not", "you must", "should not", "make sure", "not allowed"]).is_some()
}

/// The first word of a clause that is no connector.
pub(super) fn head(words: &Words<'_>, range: Range<usize>) -> usize {
    let mut head = range.start;
    while head < range.end && CONNECTORS.contains(&words.at(head)) {
        // `remember to` and `note that` are no connectors where a duty hangs on them.
        if words.at(head) == "remember" && words.at(head + 1) == "to" {
            break;
        }
        head += 1;
    }
    head
}

/// Where the reason behind a clause starts, which is no part of what it asks.
pub(super) fn reason_start(words: &Words<'_>, range: Range<usize>) -> usize {
    for index in range.start + 1..range.end {
        let between = words.before(index);
        let is_reason = matches!(words.at(index), "because" | "otherwise")
            || words
                .any(index, &["so that", "in order to avoid", "this is", "these are", "which is", "which means"])
                .is_some()
            || (between.contains(',')
                && matches!(words.at(index), "since" | "as" | "so" | "it" | "this" | "which")
                && words.at(index + 1) != "well");
        if is_reason && !between.contains('(') {
            // `just because` goes as one.
            let is_just = matches!(words.at(index - 1), "just" | "simply" | "only") && words.at(index) == "because";
            return index - usize::from(is_just && index > range.start + 1);
        }
    }
    range.end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_end_where_the_action_starts() {
        for (text, when, then) in [
            (
                "If a model, like Billing, applies, follow the cases",
                "a model, like Billing, applies",
                "follow the cases",
            ),
            ("When X happens: do Y", "X happens", "do Y"),
            (
                "If the user wants risk features they should follow it",
                "the user wants risk features",
                "they should follow it",
            ),
            ("Only if it is missing, check `.env`", "it is missing", "check `.env`"),
            ("Similarly, for tables, use `x`", "tables", "use `x`"),
        ] {
            let words = Words::of(text);
            let found = conditional(&words, 0).expect(text);
            assert_eq!((words.slice(found.when), words.slice(found.then)), (when, then));
        }
    }

    #[test]
    fn clauses_split_before_markers() {
        let words = Words::of("You must not call A and avoid B unless forced; never C, but always D, E, or F");
        let found: Vec<&str> = clauses(&words, 0..words.len()).into_iter().map(|range| words.slice(range)).collect();
        assert_eq!(found, ["You must not call A", "and avoid B unless forced", "never C", "but always D, E, or F"]);
    }
}
