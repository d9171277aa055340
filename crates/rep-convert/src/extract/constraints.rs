//! Prohibitions and duties: UASP's `constraints.never` and `constraints.always`, by UASP §7.1 rule 2.
//!
//! Precision first. A marker counts only where it governs a command to the reader: at the head of a clause, behind
//! `you`, or behind a modal verb. `The tool never writes` describes, `"never"` quotes, and neither is a rule.

use std::ops::Range;

use super::clauses;
use super::sections::{Place, is_bad_mark, is_good_mark};
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
        let last = words.at(words.len().saturating_sub(1));
        let is_cut = matches!(last, "it" | "them" | "this" | "that" | "those" | "these");
        let points = is_cut || is_verb(words.at(0)) && points_back(&words, 1);
        let doubt = points.then_some("it points at something said before");
        (words.len() >= 2).then_some(Rule { sort, text, doubt })
    }

    /// A rule that may be a single word behind its marker: `Never guess`, `No tabs`.
    pub(super) fn terse(sort: Sort, text: &str) -> Option<Rule> {
        let bare = tidy(text);
        let words = Words::of(&bare);
        if words.len() != 1 {
            return Rule::of(sort, text);
        }
        let word = words.at(0);
        let is_idle = BACK.contains(&word) || matches!(word, "worry" | "panic" | "bother" | "ever" | "so" | "else");
        let rule = Rule { sort, text: bare.clone(), doubt: None };
        // `Do not use.` leaves out what not to use.
        let is_cut = is_verb(word) && !ALONE.contains(&word);
        let rule = if is_cut { rule.doubted("it points at something said before") } else { rule };
        (!is_idle && bare.chars().count() > 2).then_some(rule)
    }

    fn doubted(mut self, doubt: &'static str) -> Rule {
        self.doubt = Some(doubt);
        self
    }
}

/// Words that stand for something said before.
const BACK: &[&str] = &["it", "them", "this", "that", "those", "these", "all", "one", "any"];

/// Whether what stands at a word stands for something said before: `it`, `either`, `this step`.
pub(super) fn points_back(words: &Words<'_>, index: usize) -> bool {
    match words.at(index) {
        "it" | "them" | "either" | "those" | "these" | "they" => true,
        "this" => !matches!(words.at(index + 1), "skill" | "repository" | "repo" | "project" | "document" | "guide"),
        "that" => index == 0 || index + 1 == words.len(),
        "one" | "both" => index + 1 == words.len(),
        _ => false,
    }
}

/// Verbs that need no object.
const ALONE: &[&str] =
    &["guess", "assume", "speculate", "hallucinate", "improvise", "hurry", "lie", "rush", "swear", "retry", "stop"];

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
    // `Don't repeat yourself: extract helpers` goes on with what to do.
    let is_turn = |index: &usize| words.before(*index).starts_with(':') && words.is_imperative(*index);
    let end = (head + 2..end).find(is_turn).unwrap_or(end);
    if let Some(length) = words.any(head, &["never", "never ever", "under no circumstances", "do not ever"]) {
        let verb = behind_asides(words, behind_colon(words, head + length)?);
        let is_adverb = words.at(verb).ends_with("ly") && is_verb(words.at(verb + 1));
        let is_deed = is_verb(words.at(verb)) || is_gerund(words.at(verb)) || is_adverb;
        let is_idle = matches!(words.at(verb), "mind" | "again") || words.at(verb + 1) == "mind";
        // At the head of a sentence, any word that is none of these is what not to do.
        let is_numbered = head == 1 && words.at(0).chars().all(|letter| letter.is_ascii_digit());
        let form = words.list.get(verb).map(|word| word.form).filter(|_| head == 0 || is_numbered);
        if form == Some(Form::Code) && length == 1 {
            // `Never `x`: it is old` forbids code.
            let until = (verb + 1..end).find(|index| is_gap(words.before(*index))).unwrap_or(end);
            return Rule::terse(Sort::Never, words.slice(verb..until));
        }
        let is_first = form == Some(Form::Plain);
        let is_deed = is_deed || is_first && length == 1 && end - verb > 1 && can_be_verb(words, verb);
        return if is_deed && !is_idle { told(words, Sort::Never, head, verb..end) } else { None };
    }
    if let Some(length) = words.any(head, &["do not", "don't", "dont", "try not to"]) {
        return forbidden_deed(words, head, behind_asides(words, behind_colon(words, head + length)?)..end);
    }
    let away = ["avoid", "refrain from", "stay away from", "strictly avoid", "steer clear of", "stay clear of"];
    if let Some(length) = words.any(head, &away) {
        return avoided(words, head + length..end);
    }
    if words.at(head) == "no" {
        let without = words.find(head + 2..end, &["without"])?;
        return (without < head + 9).then(|| Rule::of(Sort::Never, words.slice(head + 1..end)))?;
    }
    if let Some(length) = words.any(head, BANS).filter(|length| words.at(head + length) == "to") {
        return Rule::of(Sort::Never, words.slice(head + length + 1..end));
    }
    if let Some(length) = words.any(head, NOBODY) {
        return Rule::of(Sort::Never, words.slice(head + length..end)).filter(|_| is_verb(words.at(head + length)));
    }
    forbidden_thing(words, head..end).or_else(|| modal(words, head..end, Sort::Never))
}

/// Whether a word no list knows can be a verb: it has no ending of another kind of word and no comma behind it.
fn can_be_verb(words: &Words<'_>, index: usize) -> bool {
    let word = words.at(index);
    let ends = ["al", "ive", "ous", "ic", "ence", "ion", "ed", "ity", "ness", "ment", "ly", "ful", "ism"];
    let is_plural = word.ends_with('s') && !word.ends_with("ss");
    word.len() > 2
        && !is_plural
        && !ends.iter().any(|end| word.ends_with(end))
        && !STARTS.contains(&word)
        && !words.before(index + 1).contains([',', '+'])
}

/// Words that follow `Never` without being what not to do.
const STARTS: &[&str] = &[
    "before", "has", "have", "had", "was", "were", "been", "the", "once", "more", "less", "too", "and", "than", "but",
    "for", "with", "from", "into", "use-case", "blind",
];

/// Sentences that forbid what follows `to`.
const BANS: &[&str] = &[
    "it is forbidden",
    "it's forbidden",
    "it is prohibited",
    "it's prohibited",
    "it is not allowed",
    "it's not allowed",
    "it is not permitted",
    "you are not allowed",
    "you're not allowed",
    "you are not permitted",
    "you are forbidden",
    "you're not permitted",
    "you are prohibited",
];

/// Sentences that forbid everybody what follows.
const NOBODY: &[&str] = &[
    "nobody should",
    "nobody may",
    "nobody must",
    "no one should",
    "no one may",
    "no one must",
    "there must be no",
    "there should be no",
];

/// The word behind what is only thrown in: `Do not, under any circumstances, delete`, `don't ever`.
pub(super) fn behind_asides(words: &Words<'_>, index: usize) -> usize {
    let asides = ["ever", "under any circumstances", "under any circumstance", "however", "please", "never", "always"];
    words.any(index, &asides).map_or(index, |length| index + length)
}

/// The word behind a marker and its colon, where the marker may stand again; `Never: always push` may mean either.
fn behind_colon(words: &Words<'_>, index: usize) -> Option<usize> {
    if !words.before(index).starts_with(':') {
        return Some(index);
    }
    (words.at(index) != "always").then(|| repeated(words, index, Sort::Never))
}

/// A rule behind its marker; a single word is one where nothing else is said.
fn told(words: &Words<'_>, sort: Sort, head: usize, deed: Range<usize>) -> Option<Rule> {
    let start = clauses::head(words, clauses::body_start(words)..words.len());
    let is_whole = head == start || clauses::is_condition(words, start) && words.before(head).contains(',');
    let is_last = deed.end == words.len() || words.before(deed.end).contains([';', '—', '–']);
    if is_whole && is_last { Rule::terse(sort, words.slice(deed)) } else { Rule::of(sort, words.slice(deed)) }
}

fn forbidden_deed(words: &Words<'_>, head: usize, deed: Range<usize>) -> Option<Rule> {
    let verb = words.at(deed.start);
    let idle =
        ["worry", "hesitate", "need", "have", "want", "know", "exist", "mind", "care", "require", "you", "be", "get"];
    if verb == "forget" {
        let is_shown = words.list.get(deed.start + 1).is_some_and(|word| word.form == Form::Code);
        let to = words.find(deed.start..(deed.start + 2).min(deed.end), &["to"]);
        let to = to.or(is_shown.then_some(deed.start))?;
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
    told(words, Sort::Never, head, deed)
}

/// `Avoid this`, but not `avoid delays by caching`, which says what to do.
fn avoided(words: &Words<'_>, thing: Range<usize>) -> Option<Rule> {
    let by = words.find(thing.clone(), &["by"]);
    if by.is_some_and(|by| is_gerund(words.at(by + 1))) {
        return None;
    }
    let is_soft = words.any(thing.end.saturating_sub(2), &["if possible", "when possible", "where possible"]).is_some();
    let rule = Rule { doubt: None, ..Rule::terse(Sort::Never, words.slice(thing))? };
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
    Rule::terse(Sort::Never, &format!("{} {rest}", words.slice(subject)))
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
    // `This field must be set` needs what stands before it, and says more than `this must be set`.
    let points = subject.len() > 1 && matches!(words.at(subject.start), "this" | "these" | "that" | "those");
    let bare = subject.start + usize::from(points)..subject.end;
    if is_reference(words, &bare) || is_clause(words, &subject) || !(is_hard || words.at(verb) == "be" || is_always) {
        return None;
    }
    let subject = lower_first(words.slice(subject));
    let rule = match sort {
        Sort::Never => Rule::of(sort, &format!("let {subject} {deed}")),
        Sort::Always => Rule::of(sort, words.slice(clause)),
    };
    rule.map(|rule| if points { rule.doubted("it points at something said before") } else { rule })
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
        let verb = behind_asides(words, head + 1);
        let is_deed = words.is_imperative(verb) || matches!(words.at(verb), "be" | "have");
        return is_deed.then(|| told(words, Sort::Always, head, verb..end))?;
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
    mandatory(words, head..end).or_else(|| modal(words, head..end, Sort::Always))
}

/// `Licence headers are mandatory in every file`.
fn mandatory(words: &Words<'_>, clause: Range<usize>) -> Option<Rule> {
    let verb = words.find(clause.start + 1..clause.end, &["is", "are"])?;
    let subject = clause.start..verb;
    let is_said = words.at(verb + 1) == "mandatory" && !is_reference(words, &subject);
    (is_said && !is_clause(words, &subject)).then(|| Rule::of(Sort::Always, words.slice(clause)))?
}

/// Verbs that point somewhere instead of asking for something.
const POINTERS: &[&str] = &["see", "note", "visit", "consult", "browse", "learn", "expect", "think", "default"];

/// Words that bound a command: what is bounded is a rule and no mere step.
const BOUNDS: &[&str] = &["only", "every", "separate", "exactly"];

/// A command without a marker that is a rule by where it stands, or because it sets a bound.
pub(super) fn unmarked(words: &Words<'_>, range: Range<usize>, place: Place, is_step: bool) -> Option<Rule> {
    let mut start = range.start;
    while matches!(words.at(start), "then" | "also" | "instead" | "please" | "similarly")
        || words.at(start) == "do" && words.is_imperative(start + 1)
    {
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
        || words.find(range, &["before"]).is_some_and(|before| {
            is_gerund(words.at(before + 1)) || words.at(before + 1) == "you" && is_verb(words.at(before + 2))
        })
}

/// What an item says that stands below `Don't`, or below `Red flags`.
pub(super) fn listed_prohibition(words: &Words<'_>, place: Place) -> Option<Rule> {
    let is_shown = words.list.first()?.form == Form::Code && place.is_forbidden && !is_bad_mark(words.text);
    if is_remedy(words) || words.list.first()?.form != Form::Plain && !is_shown {
        return None;
    }
    let start = usize::from(words.at(0) == "no" && words.len() > 1).max(repeated(words, 0, Sort::Never));
    let ends = [first_boundary(words), clauses::reason_start(words, 0..words.len()), remedy_start(words, Sort::Never)];
    let end = ends.into_iter().min()?;
    // Behind a mark, what goes on is a legend: `❌ Missing → ask for it`.
    let is_named = is_thing(words, 0..end) && (!is_bad_mark(words.text) || end == words.len() && end > 1);
    let is_told = if place.is_forbidden || place.is_antipattern {
        is_deed(words, start) || place.is_forbidden && (start == 1 || is_named)
    } else {
        is_gerund(words.at(start))
    };
    if !is_told {
        return None;
    }
    let rule = Rule::terse(Sort::Never, words.slice(start..end))?;
    Some(if place.is_forbidden { rule } else { rule.doubted("read from a list of mistakes") })
}

/// What a text says behind a marker where it repeats that: `Don't: don't commit secrets`.
pub(super) fn repeated(words: &Words<'_>, start: usize, sort: Sort) -> usize {
    let marks: &[&str] = match sort {
        Sort::Never => &["never", "do not", "don't", "dont", "avoid", "must not", "you must not"],
        Sort::Always => &["always", "you must", "do"],
    };
    start + words.any(start, marks).filter(|length| start + length < words.len()).unwrap_or(0)
}

/// What a list of rules forbids by its name alone: `Never an unexplained answer`.
pub(super) fn named(words: &Words<'_>) -> Option<Rule> {
    let end = clauses::reason_start(words, 0..words.len());
    (words.at(0) == "never" && end > 1).then(|| Rule::terse(Sort::Never, words.slice(1..end)))?
}

/// A bare command as a prohibition.
pub(super) fn listed(words: &Words<'_>, range: Range<usize>) -> Option<Rule> {
    let end = clauses::reason_start(words, range.clone()).min(remedy_start(words, Sort::Never));
    Rule::terse(Sort::Never, words.slice(range.start..end))
}

/// Whether a word starts something that can be done.
pub(super) fn is_deed(words: &Words<'_>, index: usize) -> bool {
    is_gerund(words.at(index)) || words.is_imperative(index)
}

/// Whether some words name a thing and say nothing of it: `Deep nesting`, but not `Nesting is slow`.
fn is_thing(words: &Words<'_>, range: Range<usize>) -> bool {
    const SAYING: [&str; 22] = [
        "is", "are", "was", "were", "has", "have", "had", "can", "will", "would", "should", "must", "may", "does",
        "do", "means", "see", "you", "we", "they", "it", "this",
    ];
    (1..=8).contains(&range.len())
        && !words.has(range.clone(), &SAYING)
        && !clauses::is_condition(words, range.start)
        && !words.text.trim_end().ends_with([':', '?'])
        && !words.text.contains('：')
        && !SHOWN.contains(&words.at(range.end - 1))
        && !matches!(words.at(range.start), "don't" | "do" | "never" | "always" | "no")
        && !matches!(words.at(range.start), "note" | "example" | "warning" | "tip" | "ok" | "important")
}

/// Last words of what is reported instead of named: `Regression detected`.
const SHOWN: &[&str] = &["detected", "discovered", "found", "failed", "missing", "violated", "fails", "supported"];

/// Labels of a text that says what to do instead, or why.
const REMEDIES: &[&str] = &[
    "instead",
    "fix",
    "better",
    "why",
    "reason",
    "because",
    "solution",
    "remedy",
    "correct",
    "good",
    "right",
    "do",
    "alternative",
    "alternatives",
    "rather",
    "result",
    "impact",
    "problem",
    "consequence",
    "correction",
];

/// Whether a sentence beside a prohibition says what to do instead, or why.
pub(super) fn is_remedy(words: &Words<'_>) -> bool {
    let is_labelled = REMEDIES.contains(&words.at(0)) && (words.len() == 1 || is_gap(words.before(1)))
        || matches!(words.at(0), "instead" | "rather" | "because");
    is_labelled || remedy_start(words, Sort::Never) == 0 || is_good_mark(words.text)
}

pub(super) fn is_gap(between: &str) -> bool {
    between.starts_with([',', ':']) || clauses::is_separator(between)
}

/// Where a prohibition goes on with what to do instead: `Edit the output; change the template instead`.
pub(super) fn remedy_start(words: &Words<'_>, sort: Sort) -> usize {
    if sort == Sort::Always {
        return words.len();
    }
    let is_instead = |index: &usize| words.at(*index) == "instead" && words.at(*index + 1) != "of";
    let instead = (0..words.len()).find(is_instead);
    let is_turn = |index: &usize| {
        let between = words.before(*index);
        let is_used = words.is_imperative(*index) && (between.contains([',', '(']) || clauses::is_separator(between));
        between.contains(';') && !matches!(words.at(*index), "or" | "and")
            || instead.is_some_and(|instead| *index <= instead && is_used)
    };
    // A sentence that says `instead` without a turn is the remedy as a whole.
    (1..words.len()).find(is_turn).or(instead.map(|_| 0)).unwrap_or(words.len())
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
