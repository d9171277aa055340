//! Prohibitions and duties: UASP's `constraints.never` and `constraints.always`, by UASP §7.1 rule 2.
//!
//! Precision first. A marker counts only where it governs a command to the reader: at the head of a clause, behind
//! `you`, or behind a modal verb. `The tool never writes` describes, `"never"` quotes, and neither is a rule.

use std::ops::Range;

use super::clauses;
use super::sections::Place;
use super::words::{Form, Words, is_gerund, is_verb};

/// Which list a rule belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Never,
    Always,
}

/// A rule as read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) sort: Sort,
    pub(super) text: String,
    pub(super) doubt: Option<&'static str>,
}

impl Rule {
    fn of(sort: Sort, text: &str) -> Option<Rule> {
        let text = tidy(text);
        let words = Words::of(&text);
        let last = words.at(words.len().saturating_sub(1)).to_owned();
        let points_back = matches!(last.as_str(), "it" | "them" | "this" | "that" | "those" | "these");
        let doubt = points_back.then_some("it points at something said before");
        (words.len() >= 2).then_some(Rule { sort, text, doubt })
    }

    fn doubted(mut self, doubt: &'static str) -> Rule {
        self.doubt = Some(doubt);
        self
    }
}

/// Whether a sentence can hold a rule at all: a question, a quotation and a supposition cannot.
pub(super) fn can_rule(words: &Words<'_>) -> bool {
    let start = clauses::body_start(words);
    let first = words.list.get(start).map(|word| word.form);
    first.is_some_and(|form| form != Form::Quoted)
        && !is_code(words.text)
        && !words.text.trim_end().ends_with('?')
        && !matches!(
            words.at(start),
            "imagine" | "suppose" | "why" | "maybe" | "perhaps" | "example" | "e.g" | "i" | "i'm"
        )
        && words.any(start, &["for example", "for instance", "let's say", "say you", "as an example"]).is_none()
}

/// Whether a text is code that nobody marked as such.
fn is_code(text: &str) -> bool {
    let outside = text.split('`').step_by(2);
    outside.flat_map(str::chars).filter(|letter| "{}[]=;".contains(*letter)).count() >= 6
}

/// The rules a clause states by a marker.
pub(super) fn marked(words: &Words<'_>, clause: Range<usize>) -> Option<Rule> {
    let head = clauses::head(words, clause.clone());
    let is_open = words.text.trim_end().ends_with(':') && clause.end == words.len();
    if head >= clause.end || is_open && OPEN.contains(&words.at(clause.end - 1)) {
        return None;
    }
    never(words, head..clause.end).or_else(|| always(words, head..clause.end))
}

/// Words a sentence breaks off after when a list goes on with it.
const OPEN: &[&str] = &[
    "include",
    "be",
    "have",
    "contain",
    "use",
    "follow",
    "do",
    "ensure",
    "verify",
    "when",
    "if",
    "with",
    "these",
    "following",
    "steps",
    "to",
    "that",
    "for",
    "in",
    "on",
    "as",
    "are",
    "is",
    "before",
    "include",
    "satisfy",
    "rules",
    "requirements",
    "criteria",
    "conditions",
    "items",
    "sections",
];

fn never(words: &Words<'_>, clause: Range<usize>) -> Option<Rule> {
    let head = clause.start;
    let end = clauses::reason_start(words, clause.clone());
    if let Some(length) = words.any(head, &["never", "never ever", "under no circumstances", "do not ever"]) {
        let verb = head + length;
        let is_adverb = words.at(verb).ends_with("ly") && is_verb(words.at(verb + 1));
        let is_deed = is_verb(words.at(verb)) || is_gerund(words.at(verb)) || is_adverb;
        let is_idle = matches!(words.at(verb), "mind" | "again") || words.at(verb + 1) == "mind";
        return if is_deed && !is_idle { Rule::of(Sort::Never, words.slice(verb..end)) } else { None };
    }
    if let Some(length) = words.any(head, &["do not", "don't", "dont"]) {
        return forbidden_deed(words, head + length..end);
    }
    if let Some(length) = words.any(head, &["avoid", "refrain from", "stay away from", "strictly avoid"]) {
        return avoided(words, head + length..end);
    }
    if words.at(head) == "no" {
        let without = words.find(head + 2..end, &["without"])?;
        return (without < head + 9).then(|| Rule::of(Sort::Never, words.slice(head + 1..end)))?;
    }
    forbidden_thing(words, head..end).or_else(|| modal(words, head..end, Sort::Never))
}

fn forbidden_deed(words: &Words<'_>, deed: Range<usize>) -> Option<Rule> {
    let verb = words.at(deed.start);
    let idle =
        ["worry", "hesitate", "need", "have", "want", "know", "exist", "mind", "care", "require", "you", "be", "get"];
    if verb == "forget" {
        let to = words.find(deed.start..(deed.start + 2).min(deed.end), &["to"])?;
        return Rule::of(Sort::Always, words.slice(to + 1..deed.end));
    }
    let is_idle = idle.contains(&verb) && !(verb == "be" && deed.len() > 2);
    let adverb = matches!(verb, "just" | "simply" | "only" | "even" | "ever" | "blindly") || verb.ends_with("ly");
    let joins =
        ["because", "if", "when", "as", "in", "on", "for", "the", "and", "or", "but", "of", "with", "by", "from"];
    let is_deed =
        is_verb(verb) || (adverb && is_verb(words.at(deed.start + 1))) || verb.len() > 2 && !joins.contains(&verb);
    let is_shown = words.list.get(deed.start)?.form != Form::Plain;
    if is_idle || !(is_deed || is_shown) {
        return None;
    }
    Rule::of(Sort::Never, words.slice(deed))
}

/// `Avoid this`, but not `avoid delays by caching`, which says what to do.
fn avoided(words: &Words<'_>, thing: Range<usize>) -> Option<Rule> {
    let by = words.find(thing.clone(), &["by"]);
    if by.is_some_and(|by| is_gerund(words.at(by + 1))) {
        return None;
    }
    let is_soft = words.any(thing.end.saturating_sub(2), &["if possible", "when possible", "where possible"]).is_some();
    let text = tidy(words.slice(thing));
    if text.chars().count() < 5 {
        return None;
    }
    let rule = Rule { sort: Sort::Never, text, doubt: None };
    Some(if is_soft { rule.doubted("the text says `where possible`") } else { rule })
}

/// `Mocks are forbidden`.
fn forbidden_thing(words: &Words<'_>, clause: Range<usize>) -> Option<Rule> {
    let verb = words.find(clause.start + 1..clause.end, &["is", "are"])?;
    let mut mark = verb + 1;
    mark += usize::from(words.at(mark).ends_with("ly"));
    let length =
        words.any(mark, &["prohibited", "forbidden", "not allowed", "not permitted", "banned", "off limits"])?;
    let subject = clause.start..verb;
    let is_whole =
        mark + length >= clause.end || words.any(mark + length, &["in", "for", "on", "unless", "without"]).is_some();
    if !is_whole || is_reference(words, &subject) {
        return None;
    }
    let rest = words.slice(mark + length..clause.end);
    Rule::of(Sort::Never, &format!("{} {rest}", words.slice(subject)))
}

/// Words that stand for something said before, or for somebody who is not the reader.
const OTHERS: &[&str] = &[
    "it",
    "this",
    "that",
    "these",
    "those",
    "they",
    "there",
    "he",
    "she",
    "user",
    "users",
    "customer",
    "customers",
    "people",
    "readers",
    "visitors",
    "someone",
    "nobody",
    "anyone",
    "clients",
    "i",
    "we",
    "which",
    "who",
    "what",
    "if",
    "developers",
    "everyone",
    "humans",
    "human",
    "viewers",
    "team",
    "teams",
    "students",
    "patients",
];

/// Who the text speaks to.
const READERS: &[&str] = &["you", "agent", "agents", "claude", "assistant", "model", "skill"];

fn is_reference(words: &Words<'_>, subject: &Range<usize>) -> bool {
    let finite = ["is", "are", "means", "has", "have", "says", "was", "were", "can", "does"];
    subject.len() > 8
        || words.has(subject.clone(), &finite)
        || words.has(subject.clone(), OTHERS)
        || words.list[subject.clone()].iter().any(|w| w.form == Form::Quoted)
}

/// `You must not do this`, `secrets must never be committed`.
fn modal(words: &Words<'_>, clause: Range<usize>, sort: Sort) -> Option<Rule> {
    let modal = words.find(clause.start..clause.end, &["must", "should", "shall", "mustn't", "shouldn't", "may"])?;
    // What stands in brackets explains a thing: `the id (it must be unique)`.
    let opened = (clause.start + 1..=modal).filter(|index| words.before(*index).contains('(')).count();
    let closed = (clause.start + 1..=modal).filter(|index| words.before(*index).contains(')')).count();
    if opened > closed {
        return None;
    }
    let is_hard = matches!(words.at(modal), "must" | "shall" | "mustn't");
    let contracted = words.at(modal).ends_with("n't");
    let next = words.at(modal + 1);
    let negated = contracted || matches!(next, "not" | "never");
    if words.at(modal) == "may" && next != "not" {
        return None;
    }
    let is_always = next == "always" || next == "only";
    match sort {
        Sort::Never if !negated => return None,
        Sort::Always if negated || !(is_hard || is_always) => return None,
        Sort::Never | Sort::Always => {}
    }
    let mut verb = modal + 1 + usize::from(negated && !contracted) + usize::from(next == "always");
    verb += usize::from(words.at(verb) == "ever");
    let subject = clause.start..modal;
    let deed = words.slice(verb..clause.end);
    if deed.is_empty() || words.at(verb) == "have" && words.at(verb + 1) == "been" {
        return None;
    }
    let is_reader = subject.is_empty() || READERS.contains(&words.at(modal - 1)) && subject.len() <= 2;
    if is_reader {
        return Rule::of(sort, deed);
    }
    if is_reference(words, &subject) || is_clause(words, &subject) || !(is_hard || words.at(verb) == "be" || is_always)
    {
        return None;
    }
    let subject = lower_first(words.slice(subject));
    match sort {
        Sort::Never => Rule::of(sort, &format!("let {subject} {deed}")),
        Sort::Always => Rule::of(sort, words.slice(clause)),
    }
}

/// Text that goes on in a sentence: `The build` is `the build`, `API` stays.
fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if !second.is_uppercase() => first.to_lowercase().chain(letters).collect(),
        _ => text.to_owned(),
    }
}

fn always(words: &Words<'_>, clause: Range<usize>) -> Option<Rule> {
    let head = clause.start;
    let end = clauses::reason_start(words, clause.clone());
    if words.at(head) == "always" {
        let verb = head + 1;
        let is_deed = words.is_imperative(verb) || matches!(words.at(verb), "be" | "have");
        return is_deed.then(|| Rule::of(Sort::Always, words.slice(verb..end)))?;
    }
    if let Some(length) = words.any(head, &["remember to", "be sure to", "make sure to"]) {
        return Rule::of(Sort::Always, words.slice(head + length..end));
    }
    if words.any(head, &["make sure", "ensure", "be sure that"]).is_some() && end - head > 2 {
        return Rule::of(Sort::Always, words.slice(head..end));
    }
    let needs =
        ["is critical", "is important", "is essential", "is mandatory", "is required", "is imperative", "is crucial"];
    if words.at(head) == "it" && words.any(head + 1, &needs).is_some() {
        let deed = head + 3;
        return matches!(words.at(deed), "to" | "that").then(|| Rule::of(Sort::Always, words.slice(deed + 1..end)))?;
    }
    let last = end.saturating_sub(1);
    if last > head + 1 && words.at(last) == "always" && words.before(last).contains(',') {
        return Rule::of(Sort::Always, words.slice(head..last));
    }
    modal(words, head..end, Sort::Always)
}

/// Verbs that point somewhere instead of asking for something.
const POINTERS: &[&str] = &["see", "note", "visit", "consult", "browse", "learn", "expect", "think", "default"];

/// Words that bound a command: what is bounded is a rule and no mere step.
const BOUNDS: &[&str] = &["only", "every", "separate", "exactly"];

/// A command without a marker that is a rule by where it stands, or because it sets a bound.
pub(super) fn unmarked(words: &Words<'_>, range: Range<usize>, place: Place, is_step: bool) -> Option<Rule> {
    let mut start = range.start;
    while matches!(words.at(start), "then" | "also" | "instead" | "please" | "similarly") {
        start += 1;
    }
    let end = clauses::reason_start(words, start..range.end);
    let leads_in = words.text.trim_end().ends_with(':');
    let is_bare = words.at(start) == "use" && matches!(words.at(start + 1), "for" | "when" | "if" | "to");
    let is_negated = words.is(start, "do not") || words.at(start) == "don't" || is_bare;
    if start >= end || leads_in || is_negated || shows_code(words) {
        return None;
    }
    if !words.is_imperative(start) || words.at(start) == "let" || POINTERS.contains(&words.at(start)) {
        // `Only` may stand in front: `Only use what is there`.
        let is_dangling = words.at(start + 1) == "use" && matches!(words.at(start + 2), "when" | "if" | "for");
        let is_only = words.at(start) == "only" && words.is_imperative(start + 1) && !is_dangling;
        return is_only.then(|| Rule::of(Sort::Always, words.slice(start..end)))?;
    }
    let is_rule = place.has_rules && !is_step;
    if !is_rule && (is_step || !is_bounded(words, start..end)) {
        return None;
    }
    if end - start < 3 && !is_rule {
        return None;
    }
    Rule::of(Sort::Always, words.slice(start..end))
}

/// Whether a sentence ends with a colon and code: it shows how, and asks for nothing.
fn shows_code(words: &Words<'_>) -> bool {
    let last = words.len() - 1;
    words.list[last].form == Form::Code && words.before(last).starts_with(':')
}

fn is_bounded(words: &Words<'_>, range: Range<usize>) -> bool {
    let bounds = ["at least", "at most", "no more than", "at a time", "or fewer", "or less", "no longer than"];
    words.has(range.clone(), BOUNDS)
        || range.clone().any(|index| {
            words.any(index, &bounds).is_some()
                || (matches!(words.at(index), "under" | "within" | "below")
                    && words.at(index + 1).starts_with(|letter: char| letter.is_ascii_digit()))
        })
        || words.find(range, &["before"]).is_some_and(|before| is_gerund(words.at(before + 1)))
}

/// What an item says that stands below `Don't`, or below `Red flags`.
pub(super) fn listed_prohibition(words: &Words<'_>, place: Place) -> Option<Rule> {
    let start = usize::from(words.at(0) == "no" && words.len() > 2);
    let first = words.at(start);
    let end = first_boundary(words).min(clauses::reason_start(words, 0..words.len()));
    let is_deed = is_gerund(first) || (place.is_forbidden && (words.is_imperative(start) || start == 1));
    if !is_deed || words.list.first()?.form != Form::Plain {
        return None;
    }
    let rule = Rule::of(Sort::Never, words.slice(start..end))?;
    Some(if place.is_forbidden { rule } else { rule.doubted("read from a list of mistakes") })
}

/// Where a label or the first clause of an item ends.
fn first_boundary(words: &Words<'_>) -> usize {
    (1..words.len()).find(|index| clauses::is_separator(words.before(*index))).unwrap_or(words.len())
}

/// Whether a subject holds a clause of its own: `the detail the skills`, `owns every detail`.
fn is_clause(words: &Words<'_>, subject: &Range<usize>) -> bool {
    let joins =
        ["of", "in", "to", "for", "and", "or", "with", "from", "on", "by", "at", "all", "both", "as", "per", "between"];
    let has_second = (subject.start + 1..subject.end).any(|index| {
        matches!(words.at(index), "the" | "a" | "an")
            && !joins.contains(&words.at(index - 1))
            && !words.before(index).contains(',')
    });
    let first = words.at(subject.start);
    has_second || first.strip_suffix('s').is_some_and(|stem| is_verb(stem) && subject.len() > 2)
}

/// Text without the punctuation, the emphasis and the blanks it was surrounded by.
pub(super) fn tidy(text: &str) -> String {
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let marks: &[char] = &['.', ',', ';', ':', '!', '-', '—', '–', ' ', '*', '✅', '❌', '→'];
    let ends: &[char] = &[',', ';', ':', '—', '–', ' ', '*', '✅', '❌', '→'];
    let text = joined.trim_end_matches(marks).trim_start_matches(ends);
    // A bracket whose other half was cut off goes too.
    let is_open = text.matches('(').count() > text.matches(')').count();
    let text =
        if is_open { text.rsplit_once('(').map_or(text, |(kept, _)| kept.trim_end_matches(marks)) } else { text };
    text.to_owned()
}
