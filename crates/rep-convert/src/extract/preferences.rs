//! Preferences: UASP's `constraints.prefer`, `this over that`.

use std::ops::Range;

use super::clauses;
use super::constraints::tidy;
use super::words::{Form, Words, is_gerund, is_verb};

/// A preference as read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Preference {
    pub(super) use_: String,
    pub(super) over: String,
    pub(super) when: Option<String>,
}

/// Verbs that rank one thing above another.
const RANKING: &[&str] = &["prefer", "prioritize", "prioritise", "favor", "favour", "choose", "pick", "recommend"];

/// The preference some words state, if they do.
pub(super) fn preference(words: &Words<'_>, range: Range<usize>, condition: Option<&str>) -> Option<Preference> {
    let (use_, over) = match turned(words, range.clone()).or_else(|| recommended(words, range.clone())) {
        Some(both) => both,
        None => sides(words, verb_start(words, range.clone())?, range.end)?,
    };
    let over_end = over_end(words, over.clone());
    let mut when = condition.map(str::to_owned);
    if when.is_none() && matches!(words.at(over_end), "when" | "for" | "if" | "where" | "unless" | "except") {
        let until = clauses::reason_start(words, over_end..over.end);
        // `unless` and `except` turn what they stand before round, and stay with it.
        let own = over_end + usize::from(!matches!(words.at(over_end), "unless" | "except"));
        let text = tidy(words.slice(own..until));
        when = (!is_soft(&text)).then_some(text).filter(|text| !text.is_empty());
    }
    let use_ = tidy(strip(words.slice(use_)));
    let over = tidy(strip(words.slice(over.start..over_end)));
    let is_said = !use_.is_empty() && !over.is_empty() && use_.len() <= 200 && over.len() <= 200;
    is_said.then_some(Preference { use_, over, when })
}

/// What a sentence puts first without saying before what.
pub(super) fn priority(words: &Words<'_>, range: Range<usize>) -> Option<String> {
    let head = clauses::head(words, range.clone());
    if !["prefer", "prioritize", "prioritise", "favor"].contains(&words.at(head)) {
        return None;
    }
    let end = words.find(head + 1..range.end, &["where", "when", "but", "if", "for", "because"]).unwrap_or(range.end);
    Some(tidy(strip(words.slice(head + 1..end)))).filter(|text| !text.is_empty())
}

fn is_soft(text: &str) -> bool {
    matches!(text, "possible" | "appropriate" | "applicable" | "needed")
}

/// The sides of `Instead of Y, use X`.
fn turned(words: &Words<'_>, range: Range<usize>) -> Option<(Range<usize>, Range<usize>)> {
    let head = clauses::head(words, range.start..range.end);
    // `instead` is a connector too.
    let head = head.checked_sub(1).filter(|before| words.is(*before, "instead of")).unwrap_or(head);
    let length = words.any(head, &["instead of", "rather than"])?;
    let is_told = |index: usize| words.is_imperative(index) && words.at(index) != "complete";
    let is_turn = |index: &usize| words.before(*index).contains(',') && is_told(*index);
    let verb = (head + length + 1..range.end).find(is_turn)?;
    let from = verb + usize::from(RANKING.contains(&words.at(verb)) || words.at(verb) == "use");
    let end = (from..range.end).find(|index| words.before(*index).contains([';', '—', '–', '('])).unwrap_or(range.end);
    let end = clauses::reason_start(words, from..end.max(from + 1));
    (from < end).then_some((from..end, head + length..verb))
}

/// The sides of `X is recommended over Y`.
fn recommended(words: &Words<'_>, range: Range<usize>) -> Option<(Range<usize>, Range<usize>)> {
    let head = clauses::head(words, range.clone());
    let verb = words.find(head + 1..range.end.min(head + 10), &["recommended", "preferred", "favored", "favoured"])?;
    let over = words.any(verb + 1, &["over", "instead of", "rather than"])?;
    let is =
        if matches!(words.at(verb - 1), "strongly" | "generally" | "usually" | "always") { verb - 2 } else { verb - 1 };
    let is_said = matches!(words.at(is), "is" | "are") && is > head && verb + 1 + over < range.end;
    let is_plain = !words.has(head..is, &["not", "if", "when", "which", "what"]);
    (is_said && is_plain).then_some((head..is, verb + 1 + over..range.end))
}

/// The words behind `advise users to`, `always`, and the like.
fn verb_start(words: &Words<'_>, range: Range<usize>) -> Option<usize> {
    let mut head = clauses::head(words, range.clone());
    while matches!(words.at(head), "always" | "you" | "should" | "must" | "strongly" | "generally") && head < range.end
    {
        head += 1;
    }
    // `Do not use this instead of that` forbids.
    if words.is(head, "do not") || matches!(words.at(head), "don't" | "never" | "avoid") {
        return None;
    }
    if words.any(head, &["we recommend", "i recommend"]).is_some() {
        head += 1;
    }
    if matches!(words.at(head), "advise" | "encourage" | "tell" | "ask") {
        let to = words.find(head + 1..(head + 4).min(range.end), &["to"])?;
        head = to + 1;
    }
    (head < range.end && words.is_imperative(head)).then_some(head)
}

/// The two sides, as ranges of words.
fn sides(words: &Words<'_>, head: usize, end: usize) -> Option<(Range<usize>, Range<usize>)> {
    let ranks = RANKING.contains(&words.at(head));
    let opts = words.any(head, &["opt for", "go for", "go with", "reach for"]);
    let from = head + opts.unwrap_or(usize::from(ranks || words.at(head) == "use"));
    let ranks = ranks || opts.is_some();
    // `Use when: this, not that` names no thing to use.
    if matches!(words.at(from), "when" | "for" | "if") {
        return None;
    }
    for index in head + 1..end {
        let between = words.before(index);
        let length = words.any(index, &["instead of", "rather than", "in favor of"]);
        if let Some(length) = length.filter(|_| words.at(index + 1) != "favor") {
            // Far behind, the words belong to a part of the sentence and not to its verb.
            let is_near = index - from <= 12 || words.at(head) == "use" || ranks;
            return is_near.then_some((from..index, index + length..end));
        }
        let is_over = words.at(index) == "over" && (ranks || words.at(head) == "use") && index > from;
        // `Prefer composition to inheritance`, but not `prefer to use`, and not `prefer X to save time`.
        let is_to = words.at(index) == "to"
            && matches!(words.at(head), "prefer" | "favor" | "favour")
            && index > from
            && !is_verb(words.at(index + 1));
        // `Use it for this, not for that` says where, and ranks nothing.
        let is_where = matches!(words.at(index + 1), "for" | "in" | "on" | "to" | "when" | "if" | "at");
        let is_not = (words.at(index) == "not" && !is_where
            || words.at(index) == "never" && is_named(words, index + 1))
            && between.trim_start().starts_with([',', '('])
            && words.at(head) == "use"
            && end - index <= 8;
        // `Prefer A > B`
        let is_ranked =
            matches!(words.at(head), "prefer" | "favor" | "favour") && (1..=4).contains(&(index - from.min(index)));
        if is_ranked && between.trim() == ">" && !words.slice(from..index).contains(':') {
            return Some((from..index, index..end));
        }
        if is_over || is_to || is_not {
            return Some((from..index, index + 1..end));
        }
        if ranks && words.at(index) == "but" && words.at(index + 1) == "using" {
            let verb = words.find(index + 2..end, &["is"])?;
            return Some((from..index, index + 2..verb));
        }
        if between.contains(';') || words.list[index].form == Form::Quoted {
            return None;
        }
    }
    None
}

/// Whether a thing is named here, and not where or when.
fn is_named(words: &Words<'_>, index: usize) -> bool {
    !matches!(words.at(index), "for" | "in" | "on" | "to" | "when" | "with" | "as" | "at" | "by" | "from")
}

fn over_end(words: &Words<'_>, over: Range<usize>) -> usize {
    for index in over.start + 1..over.end {
        let between = words.before(index);
        let is_end = matches!(words.at(index), "when" | "if" | "because" | "unless" | "except" | "where" | "whenever")
            || (words.at(index) == "for" && !is_gerund(words.at(over.start)))
            || between.contains([';', '—', '–', '('])
            || between.trim_start().starts_with("- ")
            || (between.contains(',')
                && matches!(words.at(index), "as" | "since" | "so" | "which" | "and" | "but" | "it"));
        if is_end {
            return index;
        }
    }
    over.end
}

fn strip(text: &str) -> &str {
    let mut text = text.trim();
    for lead in ["to use ", "using ", "the ", "to ", "a ", "an ", "either "] {
        let has = text.get(..lead.len()).is_some_and(|start| start.eq_ignore_ascii_case(lead));
        if has {
            text = &text[lead.len()..];
        }
    }
    text
}
