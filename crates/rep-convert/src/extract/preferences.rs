//! Extracts preferences: UASP's `constraints.prefer`, `this over that`.

use std::ops::Range;

use serde_json::json;

use super::clauses::{
    ClauseMarker, ParsedSentence, SentenceClause, bracket_depth_after, clean_text, is_label_separator,
};
use super::decisions::add_decision;
use super::draft::DocumentDraft;
use super::lexicon::LEXICON;
use super::rules::{self, ExtractionRule};
use super::words::WordList;

/// Phrases between the preferred and the other alternative.
const PREFERRED_TO_PHRASES: &[&str] =
    &["over", "instead of", "rather than", "not", "before falling back to", "ahead of"];

const INSTEAD_PHRASES: &[&str] = &["instead of", "rather than"];

/// The maximum length of one side of a preference, in bytes.
const SIDE_BYTES_MAX: usize = 200;

/// A preference: the two alternatives, and the condition.
pub(super) struct PreferenceCandidate {
    pub(super) rule: &'static ExtractionRule,
    pub(super) thing: String,
    pub(super) over: Option<String>,
    pub(super) when: Option<String>,
}

/// The preferred alternative, and the other one.
type PreferenceSides = (Range<usize>, Option<Range<usize>>);

impl PreferenceCandidate {
    fn from_words(
        rule: &'static ExtractionRule,
        words: &WordList<'_>,
        (thing, over): PreferenceSides,
        when: Option<Range<usize>>,
    ) -> Self {
        let text = |range: Range<usize>| clean_text(words.slice(range));
        let bare = |range: Range<usize>| clean_text(words.slice(range)).trim_start_matches("the ").to_owned();
        Self { rule, thing: bare(thing), over: over.map(bare), when: when.map(text) }
    }

    /// Adds the preference, and returns whether it was added. UASP requires both sides: a single side becomes a
    /// decision if it has a condition, otherwise a rule.
    pub(super) fn add_to_draft(self, line: usize, draft: &mut DocumentDraft) -> bool {
        let Self { rule, thing, over, when } = self;
        let fits = |text: &String| (1..=SIDE_BYTES_MAX).contains(&text.len());
        if !fits(&thing) || over.as_ref().is_some_and(|over| !fits(over)) {
            return false;
        }
        match (over, when.filter(fits)) {
            (Some(over), None) => draft.prefer.add(rule, line, json!({ "use": thing, "over": over })),
            (Some(over), when) => draft.prefer.add(rule, line, json!({ "use": thing, "over": over, "when": when })),
            (None, None) => draft.always.add(rule, line, json!(format!("prefer {thing}"))),
            (None, Some(when)) => {
                add_decision(&rules::DECISION_PREFER, line, &when, &format!("prefer {thing}"), draft);
            }
        }
        true
    }
}

/// Parses a clause with `prefer`, with a condition that may be known already.
pub(super) fn parse_prefer_clause(
    words: &WordList<'_>,
    clause: &SentenceClause,
    case: Option<Range<usize>>,
) -> PreferenceCandidate {
    let start = clause.body.start + usize::from(words.is_any_of(clause.body.start, "using to use"));
    let end = clause.body.end;
    let over = (start + 1..end).find_map(|index| {
        let is_to = words.lower_at(index) == "to" && !words.is_imperative(index + 1);
        let is_greater = words.gap_before(index).contains('>');
        let length =
            words.longest_phrase_at(index, PREFERRED_TO_PHRASES).or(is_to.then_some(1)).or(is_greater.then_some(0))?;
        let is_side = words.lower_at(index) != "not" || words.gap_before(index).contains(',');
        (is_side && index + length < end).then_some((index, index + length))
    });
    if let Some((index, from)) = over {
        let (over, when) = split_condition(words, from..end);
        PreferenceCandidate::from_words(&rules::PREFER_OVER, words, (start..index, Some(over)), case.or(when))
    } else {
        let (thing, when) = split_condition(words, start..end);
        PreferenceCandidate::from_words(&rules::PREFER_ALONE, words, (thing, None), case.or(when))
    }
}

/// Parses `use this instead of that`.
pub(super) fn parse_contrast(words: &WordList<'_>, sentence: &ParsedSentence) -> Option<PreferenceCandidate> {
    let start = sentence.label.end;
    let chooses = |index: usize| LEXICON.choosing_verbs.contains(words.lower_at(index));
    if let Some(length) = words.longest_phrase_at(start, INSTEAD_PHRASES) {
        let is_turn = |index: &usize| words.gap_before(*index).contains(',') && words.is_imperative(*index);
        let turn = (start + length + 1..words.len()).find(is_turn)?;
        let (thing, when) = split_condition(words, turn + usize::from(chooses(turn))..words.len());
        return Some(PreferenceCandidate::from_words(
            &rules::PREFER_INSTEAD,
            words,
            (thing, Some(start + length..turn)),
            when,
        ));
    }
    let [SentenceClause { marker, body, .. }] = sentence.clauses.as_slice() else { return None };
    match marker {
        ClauseMarker::Command | ClauseMarker::Must | ClauseMarker::Should => {}
        ClauseMarker::Statement => return parse_recommendation(words, body),
        _ => return None,
    }
    let ranking = "choose pick favor favour value select prioritize prioritise recommend use put";
    let found = (body.start + 1..body.end).find_map(|index| {
        let is_place = words.is_any_of(index + 1, "for in to on by from with as at just only");
        let is_side = matches!(words.gap_before(index).trim(), "," | "(");
        let is_not = words.lower_at(index) == "not" && is_side && !is_place;
        let is_ranked = words.lower_at(index) == "over" && words.is_any_of(body.start, ranking);
        let from = index + words.longest_phrase_at(index, INSTEAD_PHRASES).or((is_ranked || is_not).then_some(1))?;
        let is_inside = bracket_depth_after(0, words.slice(body.start..index)) > 0;
        (from < body.end && !is_inside).then_some((index, from, is_not))
    });
    let (index, from, is_not) = found?;
    let first = body.start + usize::from(chooses(body.start) || words.lower_at(body.start) == "using");
    let rule = if is_not { &rules::PREFER_NOT } else { &rules::PREFER_INSTEAD };
    let (over, when) = split_condition(words, from..body.end);
    Some(PreferenceCandidate::from_words(rule, words, (first..index, Some(over)), when))
}

/// Parses `X is recommended over Y`.
fn parse_recommendation(words: &WordList<'_>, body: &Range<usize>) -> Option<PreferenceCandidate> {
    let verb = words.find_any(body.start + 2..body.end.min(body.start + 10), &["recommended", "preferred"])?;
    let from = verb + 1 + words.longest_phrase_at(verb + 1, &["over", "instead of", "rather than", "to"])?;
    let is = words.find_any(body.start + 1..verb, &["is", "are"])?;
    let (over, when) = split_condition(words, from..body.end);
    let is_sure = from < body.end && !words.contains_any(body.start..verb, &["not", "if", "when"]);
    is_sure.then(|| PreferenceCandidate::from_words(&rules::PREFER_OVER, words, (body.start..is, Some(over)), when))
}

fn split_condition(words: &WordList<'_>, range: Range<usize>) -> (Range<usize>, Option<Range<usize>>) {
    let stop = |index: &usize| words.gap_before(*index).contains(';') || is_label_separator(words.gap_before(*index));
    let end = (range.start + 1..range.end).find(stop).unwrap_or(range.end);
    match words.find_any(range.start + 1..end, &["when", "if", "for", "where", "whenever", "unless", "except"]) {
        Some(at) if at + 1 < end => {
            let is_idle = LEXICON.idle_conditions.is_whole_text(&WordList::parse(words.slice(at + 1..end)));
            let from = at + usize::from(!words.is_any_of(at, "unless except"));
            (range.start..at, (!is_idle).then_some(from..end))
        }
        _ => (range.start..end, None),
    }
}
