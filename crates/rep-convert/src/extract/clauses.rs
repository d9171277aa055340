//! Splits a sentence into its label, its condition, and the clauses that can be classified separately.

use std::ops::Range;

use super::lexicon::{LEXICON, PhraseSet, is_gerund, is_verb};
use super::words::WordList;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClauseMarker {
    Never,
    Must,
    Should,
    Only,
    Prefer,
    Command,
    /// `No force pushes`.
    No,
    Statement,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConditionOpening {
    If,
    Unless,
    For,
    Before,
    After,
    To,
    /// `In production`, `as root`, `except in tests`.
    Where,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SentenceCondition {
    pub(super) opening: ConditionOpening,
    /// Its words, without the opening word.
    pub(super) words: Range<usize>,
}

/// A part of a sentence that can be classified alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SentenceClause {
    pub(super) marker: ClauseMarker,
    /// The text after the marker, without the reason.
    pub(super) body: Range<usize>,
    /// The body with the subject of its marker: `The table must be sorted`.
    pub(super) whole: Range<usize>,
    /// The condition at the end of the body.
    pub(super) trailing: Option<SentenceCondition>,
}

#[derive(Clone, Debug)]
pub(super) struct ParsedSentence {
    /// The words before a colon or a dash that only name the topic.
    pub(super) label: Range<usize>,
    pub(super) condition: Option<SentenceCondition>,
    pub(super) clauses: Vec<SentenceClause>,
}

impl ParsedSentence {
    /// Parses a sentence. The first `labelled` words are known to be a label.
    pub(super) fn parse(words: &WordList<'_>, labelled: usize) -> Self {
        let start = if labelled > 0 { labelled } else { find_label_end(words) };
        let (condition, from) =
            parse_leading_condition(words, start).map_or((None, start), |(found, then)| (Some(found), then));
        let clauses =
            split_clauses(words, from..words.len()).into_iter().filter_map(|part| parse_clause(words, part)).collect();
        Self { label: 0..start, condition, clauses }
    }
}

/// Returns the index of the first word after the label: `**Syntax:** keep it`.
pub(super) fn find_label_end(words: &WordList<'_>) -> usize {
    let Some(end) = (1..words.len().min(8)).find(|index| is_label_separator(words.gap_before(*index))) else {
        return 0;
    };
    let is_marker = |phrases: &PhraseSet| phrases.match_length_at(words, 0) == Some(end);
    let is_field = is_marker(&LEXICON.never_markers)
        || is_marker(&LEXICON.must_markers)
        || end == 1 && words.lower_at(0) == "do"
        || end <= 3 && words.is_any_of(end - 1, "when if for");
    let is_capital = |index: usize| words.text[words.list[index].at.clone()].starts_with(char::is_uppercase);
    let is_title = end >= 2 && (0..end).all(|index| is_capital(index) || words.is_any_of(index, "and of the for"));
    let says =
        words.contains_any(0..end, &["is", "are", "must", "should", "can", "never", "always", "not", "don't", "you"]);
    let is_name = (is_title || !words.is_imperative(0)) && match_condition_opening(words, 0).is_none() && !says;
    if is_name || is_field && words.gap_before(end).starts_with(':') { end } else { 0 }
}

/// Returns whether the text between two words separates a label from its content.
pub(super) fn is_label_separator(between: &str) -> bool {
    between.contains(['—', '–', '→'])
        || between.starts_with(':')
        || between.trim_start().starts_with("- ")
        || between == " -- "
}

/// Returns the kind of condition that opens at an index, and the number of opening words.
pub(super) fn match_condition_opening(words: &WordList<'_>, index: usize) -> Option<(ConditionOpening, usize)> {
    Some(match words.lower_at(index) {
        "if" | "when" | "whenever" | "while" | "once" | "where" => (ConditionOpening::If, 1),
        "only" if words.is_any_of(index + 1, "if when") => (ConditionOpening::If, 2),
        "unless" => (ConditionOpening::Unless, 1),
        "for" => (ConditionOpening::For, 1),
        "before" => (ConditionOpening::Before, 1),
        "after" => (ConditionOpening::After, 1),
        "to" => (ConditionOpening::To, 1),
        "in" | "as" | "during" | "on" | "except" | "under" | "within" | "with" | "without" => {
            (ConditionOpening::Where, 0)
        }
        _ => return None,
    })
}

/// Splits `If this, do that` after a word: returns the condition, and where the rest starts.
fn parse_leading_condition(words: &WordList<'_>, from: usize) -> Option<(SentenceCondition, usize)> {
    let joints = "and but so similarly then finally also however even";
    let start = (from..words.len()).find(|index| !words.is_any_of(*index, joints))?;
    let (opening, length) = match_condition_opening(words, start)?;
    let first = start + length;
    let then = find_action_start(words, first, opening)?;
    let is_idle =
        !is_action(words, then) || LEXICON.idle_conditions.match_length_at(words, first) == Some(then - first);
    if opening == ConditionOpening::Where && is_idle {
        return None;
    }
    let action = (then..words.len()).find(|index| !words.is_any_of(*index, "then please also just"))?;
    (first < then).then_some((SentenceCondition { opening, words: first..then }, action))
}

pub(super) fn bracket_depth_after(before: usize, between: &str) -> usize {
    (before + between.matches('(').count()).saturating_sub(between.matches(')').count())
}

fn find_action_start(words: &WordList<'_>, first: usize, opening: ConditionOpening) -> Option<usize> {
    let (mut fallback, mut open) = (None, 0);
    for index in first + 1..words.len() {
        let between = words.gap_before(index);
        open = bracket_depth_after(open, between);
        if open > 0 {
            continue;
        }
        let is_cut = is_label_separator(between) || between.starts_with(',') || between.trim_end().ends_with(',');
        let is_told = words.is_any_of(index, "they you it") && words.is_any_of(index + 1, "should must")
            || words.lower_at(index) == "then" && words.is_imperative(index + 1);
        if is_cut && is_action(words, index) || is_told && index > first + 2 && opening == ConditionOpening::If {
            return Some(index);
        }
        if is_cut && fallback.is_none() && !words.is_any_of(index, "or and like such e.g including so") {
            fallback = Some(index);
        }
    }
    fallback
}

/// Returns whether an instruction starts at this word.
pub(super) fn is_action(words: &WordList<'_>, index: usize) -> bool {
    let lexicon = &*LEXICON;
    let marked = [&lexicon.never_markers, &lexicon.must_markers, &lexicon.should_markers, &lexicon.prefer_markers];
    words.is_imperative(index)
        || words
            .longest_phrase_at(index, &["they should", "they must", "the agent must", "you can", "you may"])
            .is_some()
        || marked.iter().any(|phrases| phrases.match_length_at(words, index).is_some())
}

/// Splits a range of words into clauses that can be classified alone.
fn split_clauses(words: &WordList<'_>, range: Range<usize>) -> Vec<Range<usize>> {
    let (mut cuts, mut start, mut open) = (Vec::new(), range.start, 0);
    for index in range.start + 1..range.end {
        open = bracket_depth_after(open, words.gap_before(index));
        if open == 0 && starts_clause(words, start, index, range.end) {
            cuts.push(start..index);
            start = index;
        }
    }
    cuts.push(start..range.end);
    cuts
}

fn starts_clause(words: &WordList<'_>, start: usize, index: usize, end: usize) -> bool {
    let between = words.gap_before(index);
    let head = find_clause_head(words, index..end);
    if index + 1 == end && !words.is_imperative(head) {
        return false;
    }
    let is_comma = between.contains(',');
    let is_marked = LEXICON.never_markers.match_length_at(words, head).is_some()
        || words.is_any_of(head, "always ensure prefer")
        || words.longest_phrase_at(head, &["make sure", "you must"]).is_some();
    between.contains(['—', '–', '→', ';'])
        || between.trim_start().starts_with("- ")
        || words.lower_at(index) == "because" && !limits_instruction(words, index)
        || between.trim_end() == ":" && (is_marked || words.is_imperative(head))
        || is_marked && (is_comma || words.is_any_of(index, "but and then"))
        || is_comma && leaves_prohibition(words, start, index, end)
}

/// Intensifiers between a prohibition marker and the prohibited action.
const NEVER_INTENSIFIERS: &[&str] =
    &["under any circumstances", "under any circumstance", "ever", "at any time", "in any case"];

/// Returns whether an imperative after a comma is outside the prohibition before it: `Avoid jargon, define the terms`,
/// but not `Never log, print, or show it`.
fn leaves_prohibition(words: &WordList<'_>, start: usize, index: usize, end: usize) -> bool {
    let head = find_clause_head(words, start..index);
    let Some(length) = LEXICON.never_markers.match_length_at(words, head) else { return false };
    let from = head + length;
    let is_aside = words.longest_phrase_at(from, NEVER_INTENSIFIERS).is_some_and(|aside| from + aside == index);
    let goes_on = |at: usize| {
        words.is_any_of(at, "and or nor")
            && (words.gap_before(at).contains(',') || at > index && words.lower_at(at) != "and")
    };
    words.is_imperative(index) && from < index && index + 1 < end && !is_aside && !(from..end).any(goes_on)
}

/// Returns the first word of a clause that is not a connector.
pub(super) fn find_clause_head(words: &WordList<'_>, range: Range<usize>) -> usize {
    let start = range.start + if words.has_phrase_at(range.start, "by default") { 2 } else { 0 };
    let is_lead = |index: usize| {
        let word = words.lower_at(index);
        let is_adverb = word.len() > 4 && word.ends_with("ly") && !is_verb(word);
        LEXICON.connectors.contains(word) || is_adverb && is_verb(words.lower_at(index + 1))
    };
    (start..range.end).find(|index| !is_lead(*index)).unwrap_or(start)
}

/// Returns where the reason after a clause starts. The reason is not part of the instruction.
pub(super) fn find_reason_start(words: &WordList<'_>, range: Range<usize>) -> usize {
    let is_reason = |index: &usize| {
        LEXICON.reasons.match_length_at(words, *index).is_some() && !limits_instruction(words, *index)
            || words.gap_before(*index).contains(',')
                && words.is_any_of(*index, "since as so it this which")
                && words.lower_at(*index + 1) != "well"
    };
    (range.start + 1..range.end).find(is_reason).unwrap_or(range.end)
}

/// Whether a `because` belongs to the instruction itself: `Don't flatten modules just because they are small` does not
/// forbid flattening modules.
fn limits_instruction(words: &WordList<'_>, index: usize) -> bool {
    words.lower_at(index) == "because" && index > 0 && words.is_any_of(index - 1, "just only simply merely solely")
}

fn parse_clause(words: &WordList<'_>, part: Range<usize>) -> Option<SentenceClause> {
    let lexicon = &*LEXICON;
    let head = find_clause_head(words, part.clone());
    let end = find_reason_start(words, head..part.end);
    if words.is_any_of(part.start, "because since so") || head >= end {
        return None;
    }
    let behind = |phrases: &PhraseSet| {
        phrases.match_length_at(words, head).map(|length| head + length).filter(|from| *from < end)
    };
    let never = behind(&lexicon.never_markers);
    let is_bare = never.is_none() && words.has_phrase_at(head, "do not");
    let forgets = |from: &usize| words.is_any_of(*from, "forget fail neglect") && from + 2 < end;
    let (marker, body) =
        if is_bare || words.is_any_of(head, "suppose imagine pretend") || words.has_phrase_at(head, "no need to") {
            (ClauseMarker::Statement, head..end)
        } else if let Some(from) = never.filter(forgets) {
            (ClauseMarker::Must, from + 1 + usize::from(words.lower_at(from + 1) == "to")..end)
        } else if words.lower_at(end - 1) == "always" && words.gap_before(end - 1).contains(',') && end - head > 2 {
            (ClauseMarker::Must, head..end - 1)
        } else if let Some(from) = never.filter(|from| is_prohibition(words, head, *from, end)) {
            let aside = words.longest_phrase_at(from, NEVER_INTENSIFIERS).filter(|aside| from + aside < end);
            (ClauseMarker::Never, from + aside.unwrap_or(0)..end)
        } else if let Some(from) = behind(&lexicon.prefer_markers) {
            (ClauseMarker::Prefer, from..end)
        } else if let Some(from) = behind(&lexicon.must_markers) {
            let is_kept = words.is_any_of(head, "ensure make be strictly insist require at take")
                && words.lower_at(from - 1) != "to";
            (ClauseMarker::Must, if is_kept { head..end } else { from..end })
        } else if let Some(from) = behind(&lexicon.should_markers) {
            (ClauseMarker::Should, from..end)
        } else if words.lower_at(head) == "only" && words.is_imperative(head + 1) {
            (ClauseMarker::Only, head..end)
        } else if words.is_imperative(head) {
            (ClauseMarker::Command, head..end)
        } else if words.lower_at(head) == "no" && end - head > 1 {
            (ClauseMarker::No, head + 1..end)
        } else {
            parse_modal_clause(words, head..end).unwrap_or((ClauseMarker::Statement, head..end))
        };
    let trailing = find_trailing_condition(words, body.clone());
    (!body.is_empty()).then_some(SentenceClause { marker, body, whole: head..end, trailing })
}

/// Returns whether a marker forbids the words after it: `never mind` and `never inflates the total` do not.
fn is_prohibition(words: &WordList<'_>, head: usize, next: usize, end: usize) -> bool {
    let is_said = |word: &str| !is_verb(word) && word.strip_suffix('s').is_some_and(is_verb);
    match words.lower_at(head) {
        _ if words.is_any_of(next, "know worry hesitate panic") => false,
        "stop" => is_gerund(words.lower_at(next)),
        "cannot" | "can't" => false,
        "never" => !is_said(words.lower_at(next)) && !words.is_any_of(next, "mind before again"),
        "avoid" => !(next + 1..end).any(|index| words.lower_at(index) == "by" && is_gerund(words.lower_at(index + 1))),
        _ => true,
    }
}

/// Parses a modal clause: `Secrets must never be committed`, `the table must be sorted`, `a licence is required`.
fn parse_modal_clause(words: &WordList<'_>, clause: Range<usize>) -> Option<(ClauseMarker, Range<usize>)> {
    let last = clause.end - 1;
    let others = ["not", "if", "when", "no", "aren't", "isn't", "as", "is", "are"];
    let is_duty = words.is_any_of(last, "required mandatory");
    if clause.len() > 2
        && (is_duty || words.is_any_of(last, "prohibited forbidden"))
        && !words.contains_any(clause.clone(), &others)
    {
        return Some((if is_duty { ClauseMarker::Must } else { ClauseMarker::Never }, clause));
    }
    let at = (clause.start + 1..clause.end.min(clause.start + 14)).find(|index| {
        words.is_any_of(*index, "must shall should cannot mustn't shouldn't never always")
            || words.longest_phrase_at(*index, &["only when", "only after", "only if"]).is_some()
            || words.is_any_of(*index, "is are") && LEXICON.duties.match_length_at(words, index + 1).is_some()
    })?;
    let subject = clause.start..at;
    let is_frequent = words.is_any_of(at, "never always");
    let verbs = ["is", "are", "means", "has", "have", "says", "was", "were", "can", "does", "if", "when"];
    let next = words.lower_at(at + 1);
    let describes = is_frequent && next.ends_with('s') && !next.ends_with("ss");
    let is_other = LEXICON.others.contains(words.lower_at(at - 1)) && !words.is_any_of(at, "must shall should")
        || words.is_any_of(at - 1, "users user customers people developers students everyone");
    let is_torn = words.slice(subject.clone()).contains(',') && (is_frequent || words.lower_at(at) == "cannot");
    let verb =
        (at + 1..clause.end).find(|index| !words.is_any_of(*index, "not never always ever")).unwrap_or(clause.end);
    if bracket_depth_after(0, words.slice(clause.start..at + 1)) > 0
        || words.contains_any(subject.clone(), &verbs)
        || describes
        || is_other
        || words.lower_at(at) == "should" && words.contains_any(subject.clone(), &["that", "which", "what", "how"])
        || is_torn
        || words.lower_at(verb) == "know"
        || verb == clause.end && !words.is_any_of(at, "is are")
    {
        return None;
    }
    let denied = at + 1 + usize::from(next == "strictly");
    let marker = if words.lower_at(at).ends_with("n't")
        || words.is_any_of(at, "cannot never")
        || words.is_any_of(denied, "not never forbidden prohibited banned")
    {
        ClauseMarker::Never
    } else if words.lower_at(at) == "should" && next != "always" {
        ClauseMarker::Should
    } else {
        ClauseMarker::Must
    };
    let is_reader = words.is_any_of(at - 1, "you agent agents claude assistant we") && subject.len() <= 2;
    Some((marker, if is_reader { verb..clause.end } else { clause }))
}

/// Finds the condition at the end of a clause: `Use this when that`.
fn find_trailing_condition(words: &WordList<'_>, range: Range<usize>) -> Option<SentenceCondition> {
    let asks = |index: usize| LEXICON.asking_words.contains(words.lower_at(index));
    let at = (range.start + 1..range.end).find(|index| {
        let is_said_of = words.lower_at(*index - 1).ends_with("ed") && *index > range.start + 3;
        words.is_any_of(*index, "if when unless whenever once") && !asks(*index - 1) && !is_said_of
    })?;
    let end = (at + 1..range.end).find(|index| words.gap_before(*index).contains([';', '—', '–'])).unwrap_or(range.end);
    let opening = if words.lower_at(at) == "unless" { ConditionOpening::Unless } else { ConditionOpening::If };
    let is_asked = asks(range.start) && at - range.start <= 4;
    (end > at + 1 && !is_asked).then_some(SentenceCondition { opening, words: at + 1..end })
}

/// Removes the punctuation, emphasis and spaces around a text.
pub(super) fn clean_text(text: &str) -> String {
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let marks: &[char] = &['.', ',', ';', ':', '!', '-', '—', '–', ' ', '*', '✅', '❌', '→'];
    let ends: &[char] = &[',', ';', ':', '—', '–', ' ', '*', '✅', '❌', '→'];
    let text = joined.trim_end_matches(marks).trim_start_matches(ends);
    // An unmatched bracket is removed as well.
    let is_open = text.matches('(').count() > text.matches(')').count();
    let kept = text.rsplit_once('(').filter(|_| is_open).map(|(kept, _)| kept.trim_end_matches(marks));
    kept.unwrap_or(text).to_owned()
}

/// Returns whether a word starts an activity.
pub(super) fn is_activity(words: &WordList<'_>, index: usize) -> bool {
    is_gerund(words.lower_at(index)) || words.is_imperative(index)
}
