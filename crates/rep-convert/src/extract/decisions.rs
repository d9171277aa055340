//! Conditions and what to do then: UASP's `decisions`, by UASP §7.1 rule 3, from sentences.
//!
//! Tables, lists of alternatives and drawn trees are read in `choices` and `trees`.

use std::ops::Range;

use super::clauses::{self, Conditional, Opening};
use super::constraints::{points_back, tidy};
use super::words::{Form, Words, is_gerund, is_verb};

/// A decision as read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decision {
    pub(super) when: String,
    pub(super) then: String,
    pub(super) doubt: Option<&'static str>,
}

impl Decision {
    pub(super) fn of(when: &str, then: &str) -> Option<Decision> {
        let (when, then) = (tidy(when), tidy(then));
        let fits = |text: &str| !text.is_empty() && text.len() <= 600;
        let is_bare = matches!(then.to_lowercase().as_str(), "use" | "see" | "run" | "read" | "choose" | "prefer");
        let is_answer = matches!(when.to_lowercase().as_str(), "yes" | "no" | "otherwise" | "else" | "none");
        let is_torn = when.matches('(').count() != when.matches(')').count();
        // `If you can't measure it, you can't improve it` is a saying.
        let can_not = |text: &str| text.starts_with("you can't") || text.starts_with("you cannot");
        let is_saying = can_not(&when) && can_not(&then);
        if is_bare || is_answer || is_torn || is_saying || is_label(&when, &then) || then.ends_with('?') {
            return None;
        }
        let doubt = doubt(&when, &then);
        (fits(&when) && fits(&then)).then_some(Decision { when, then, doubt })
    }
}

/// Whether one side is a letter of a menu, a title or an answer: `A`, `to choose`, `use No`.
fn is_label(when: &str, then: &str) -> bool {
    let (when, then) = (when.to_lowercase(), then.to_lowercase());
    let letters: Vec<&str> = when.split(['→', '>', '/', ' ', '-', '(', ')']).filter(|part| !part.is_empty()).collect();
    let letters = letters.strip_prefix(&["option"]).unwrap_or(&letters);
    let is_menu = letters.len() <= 2 && letters.iter().all(|part| part.chars().count() == 1);
    let titles = ["to choose", "to use", "to use it", "to pick", "to avoid", "not to use", "to apply", "to load"];
    let value = then.strip_prefix("use ").unwrap_or_default();
    let is_value = ["no", "yes", "none", "n/a", "optional", "required", "true", "false", "not"].contains(&value);
    is_menu || is_value || titles.contains(&when.as_str())
}

/// What makes a decision uncertain by its words alone.
fn doubt(when: &str, then: &str) -> Option<&'static str> {
    if when.starts_with("unless ") {
        return Some("the condition says when not");
    }
    let words = Words::of(then);
    let points = is_verb(words.at(0)) && points_back(&words, 1);
    // What `this file` stands for may be said in the condition.
    let is_said = words.len() > 2 && words.at(1) == "this" && when.to_lowercase().contains(words.at(2));
    (points && !is_said).then_some("what to do points at something said before")
}

/// What was said before a sentence, for conditions that only point back.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    /// What was asked or to be checked.
    question: Option<String>,
    /// The condition of the decision before.
    condition: Option<String>,
}

impl Memory {
    /// Keeps what a sentence leaves for the next one.
    pub(super) fn keep(&mut self, words: &Words<'_>, decisions: &[Decision]) {
        if let Some(decision) = decisions.first() {
            self.condition = Some(decision.when.clone());
        }
        self.question = question(words);
    }

    /// Keeps what a line asks; a line that asks nothing leaves the question open.
    pub(super) fn keep_question(&mut self, words: &Words<'_>) {
        if let Some(question) = question(words) {
            self.question = Some(question);
        }
    }
}

/// What a sentence asks, or tells to find out.
fn question(words: &Words<'_>) -> Option<String> {
    if words.text.trim_end().ends_with('?') {
        let start = clauses::body_start(words);
        return Some(tidy(words.slice(start..words.len())));
    }
    let asks = ["check", "verify", "determine", "confirm", "ask", "see", "find", "decide", "test", "whether"];
    let from = words.find(0..words.len().min(6), &asks)?;
    let whether = words.find(from..words.len().min(from + 6), &["whether", "if"])?;
    Some(tidy(words.slice(whether + 1..words.len())))
}

/// The condition in front of a sentence, in words, with what it points back to put in.
pub(super) fn condition(words: &Words<'_>, found: &Conditional, memory: &Memory) -> Option<String> {
    let when = tidy(words.slice(found.when.clone()));
    let lower = when.to_lowercase();
    let resolved = match lower.as_str() {
        "so" | "yes" | "it does" | "it is" | "they do" | "true" | "it exists" | "found" => memory.question.clone()?,
        "not" | "no" | "it doesn't" | "it does not" | "it isn't" | "it is not" | "false" => {
            format!("not: {}", memory.question.clone()?)
        }
        _ if ["these apply", "this applies", "that applies", "this happens"]
            .iter()
            .any(|lead| lower.starts_with(lead)) =>
        {
            memory.condition.clone()?
        }
        _ => when,
    };
    Some(if found.opening == Opening::Unless { format!("unless {resolved}") } else { resolved })
}

/// Adverbs in the shape of a condition: `when done`, `if possible`.
const SOFT: &[&str] = &[
    "possible",
    "done",
    "needed",
    "necessary",
    "applicable",
    "appropriate",
    "finished",
    "complete",
    "completed",
    "useful",
    "any",
    "available",
    "relevant",
    "required",
    "present",
    "it helps",
    "helpful",
    "it matters",
    "desired",
    "you can",
    "you cannot",
    "you can't",
    "asked",
    "ready",
    "in doubt",
    "it makes sense",
    "it exists",
    "provided",
    "so",
    "not",
    "requested",
    "specified",
    "known",
    "unsure",
    "they exist",
    "merged",
    "given",
    "it is saved",
    "supported",
    "missing",
];

fn is_soft(text: &str) -> bool {
    SOFT.contains(&tidy(text).to_lowercase().as_str())
}

/// The decision of a sentence whose condition stands in front.
pub(super) fn leading(words: &Words<'_>, found: &Conditional, memory: &Memory) -> Option<Decision> {
    let then = found.then.clone();
    let is_told = clauses::is_action(words, then.start);
    let is_advice = words.has(then.start..(then.start + 6).min(then.end), &["should", "must", "recommended", "need"])
        && !matches!(words.at(then.start), "this" | "it" | "there");
    let is_arrow = words.before(then.start).contains('→') || words.list[then.start].form == Form::Code;
    let is_terse = is_arrow && clauses::is_separator(words.before(then.start)) && !is_described(words, &then);
    let allowed = match found.opening {
        Opening::If | Opening::Unless => is_told || is_advice || is_terse,
        Opening::For => {
            let idle = [
                "example",
                "instance",
                "each",
                "every",
                "all",
                "now",
                "more",
                "further",
                "details",
                "detailed",
                "additional",
                "in-depth",
                "complete",
                "full",
                "reference",
                "information",
                "this",
                "that",
                "these",
            ];
            let points = matches!(words.at(then.start), "see" | "refer" | "read" | "consult" | "visit" | "check");
            found.when.len() <= 9
                && words.is_imperative(then.start)
                && !idle.contains(&words.at(found.when.start))
                && !points
        }
        Opening::After => is_told && found.when.len() <= 12,
        Opening::Before | Opening::To => false,
    };
    let is_label = words.at(found.when.start) == "to";
    if !allowed || is_label || is_soft(words.slice(found.when.clone())) {
        return None;
    }
    let mut when = condition(words, found, memory)?;
    if found.opening == Opening::After {
        when = format!("after {when}");
    }
    let end = clauses::reason_start(words, then.clone());
    let mut decision = Decision::of(&when, words.slice(then.start..end))?;
    if matches!(words.at(found.when.start), "it" | "this" | "that" | "they" | "these") {
        decision.doubt = Some("the condition points at something said before");
    }
    Some(decision)
}

/// Whether an action describes what happens instead of asking for it.
fn is_described(words: &Words<'_>, range: &Range<usize>) -> bool {
    let near = range.start..(range.start + 5).min(range.end);
    words.has(near, &["is", "are", "was", "will", "would", "can", "returns", "has", "it", "this", "means"])
}

/// Verbs that choose something for a case.
const CHOOSING: &[&str] = &["use", "choose", "pick", "select", "add", "include", "prefer", "recommend", "load", "read"];

/// The decisions of a sentence whose condition stands behind: `Use this when that`.
pub(super) fn trailing(words: &Words<'_>, range: Range<usize>, is_parallel: bool) -> Vec<Decision> {
    let head = clauses::head(words, range.clone());
    if let Some(pair) = either(words, range.clone()) {
        return pair;
    }
    if let Some(decision) = acceptable(words, range.clone()).or_else(|| advised(words, head..range.end)) {
        return vec![decision];
    }
    if !words.is_imperative(head) {
        return Vec::new();
    }
    let pairs = enumerated(words, head..range.end);
    if pairs.len() >= 2 {
        return pairs;
    }
    when_clause(words, head..range.end).or_else(|| purpose(words, head..range.end, is_parallel)).into_iter().collect()
}

/// `Do this if that`.
fn when_clause(words: &Words<'_>, range: Range<usize>) -> Option<Decision> {
    let marks = ["if", "when", "unless", "whenever", "once", "after"];
    let at = (range.start + 1..range.end)
        .find(|index| marks.contains(&words.at(*index)) && !words.before(*index).contains('('))?;
    let before = words.at(at - 1);
    // `Tell me when it is saved` and `check if it is there` ask for something else than a choice.
    let asks = [
        "tell",
        "ask",
        "check",
        "know",
        "see",
        "determine",
        "verify",
        "explain",
        "describe",
        "decide",
        "say",
        "confirm",
        "note",
        "even",
        "as",
        "you",
        "only",
        "especially",
        "particularly",
        "test",
        "document",
        "specify",
    ];
    let is_asked =
        asks.contains(&before) || asks[..9].contains(&words.at(range.start)) || before == "and" || before == "or";
    let end = clauses::reason_start(words, at..range.end);
    let when = words.slice(at + 1..end);
    let is_after = words.at(at) == "after";
    // `Load it when …` says nothing without the sentence before.
    let is_empty = at - range.start == 2 && matches!(before, "it" | "that" | "this" | "them" | "so" | "those");
    if is_asked
        || is_empty
        || matches!(words.at(at + 1), "and" | "or" | "to")
        || is_soft(when)
        || end - at < 3
        || (is_after && at - range.start > 6)
    {
        return None;
    }
    let lead = match words.at(at) {
        "unless" => "unless ",
        "after" if is_gerund(words.at(at + 1)) => "after ",
        _ => "",
    };
    Decision::of(&format!("{lead}{when}"), words.slice(range.start..at))
}

/// `Use this for a long table`; in a list of such lines also `for` and `to` alone.
fn purpose(words: &Words<'_>, range: Range<usize>, is_parallel: bool) -> Option<Decision> {
    if !CHOOSING.contains(&words.at(range.start)) {
        return None;
    }
    let is_case_at = |index: usize| words.at(index) == "for" && matches!(words.at(index + 1), "a" | "an" | "any");
    let case = (range.start + 2..range.end).find(|index| is_case_at(*index));
    let is_case = case.is_some();
    let at = case.or_else(|| words.find(range.start + 2..range.end, &["for", "to"]))?;
    let is_listed = is_parallel && (words.at(at) == "for" || is_verb(words.at(at + 1)));
    let end = clauses::reason_start(words, at..range.end);
    if (at..range.end).any(|index| words.at(index) == "for" && is_denied(words, index)) {
        return None;
    }
    if !(is_case || is_listed) || end - at < 2 || at - range.start > 12 {
        return None;
    }
    Decision::of(words.slice(at + 1..end), words.slice(range.start..at))
}

/// `Use A for this, B for that, and C for the rest`.
fn enumerated(words: &Words<'_>, range: Range<usize>) -> Vec<Decision> {
    if !CHOOSING.contains(&words.at(range.start)) {
        return Vec::new();
    }
    let fors: Vec<usize> = range.clone().filter(|index| words.at(*index) == "for").collect();
    if fors.iter().any(|at| is_denied(words, *at)) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut thing = range.start + 1;
    let mut is_sure = true;
    for (number, at) in fors.iter().enumerate() {
        let next_for = fors.get(number + 1).copied().unwrap_or(range.end);
        // The next pair starts behind the last comma before its `for`.
        let comma = (at + 1..next_for).rev().find(|index| words.before(*index).contains(','));
        // Without a comma it starts behind `or`: `Use A for this or B for that`.
        let joined =
            || (at + 2..next_for.saturating_sub(1)).rev().find(|index| matches!(words.at(*index), "or" | "and"));
        let cut = comma.or_else(joined).filter(|_| next_for < range.end);
        is_sure &= comma.is_some() || cut.is_none_or(|cut| is_alike(words, range.start + 1, cut + 1));
        let end = cut.unwrap_or(range.end);
        if *at <= thing || (number + 1 < fors.len() && cut.is_none()) {
            return Vec::new();
        }
        let then = format!("{} {}", words.at(range.start), words.slice(thing..*at));
        found.extend(Decision::of(words.slice(at + 1..end), &then));
        thing = end + usize::from(words.at(end) == "and" || words.at(end) == "or");
    }
    if !is_sure {
        for decision in &mut found {
            decision.doubt = Some("what belongs to which case is not certain");
        }
    }
    found
}

/// Whether `for` says for what something is not: `not for that`, `never for this`.
fn is_denied(words: &Words<'_>, at: usize) -> bool {
    at > 0 && matches!(words.at(at - 1), "not" | "never" | "than" | "isn't" | "aren't")
}

/// Whether two things are written alike: both as code, or both as names.
fn is_alike(words: &Words<'_>, one: usize, other: usize) -> bool {
    let written = |index: usize| {
        words.list.get(index).map(|word| (word.form, words.text[word.at.clone()].starts_with(char::is_uppercase)))
    };
    let (one, other) = (written(one), written(other));
    one == other && one.is_some_and(|(form, is_name)| form == Form::Code || is_name)
}

/// The case for which a sentence forbids something: `Don't use A for this`.
pub(super) fn denied(words: &Words<'_>) -> Option<String> {
    let start = clauses::body_start(words);
    let length = words.any(start, &["don't use", "do not use", "never use", "avoid using", "avoid"])?;
    let at = words.find(start + length + 1..words.len(), &["for", "when", "if"])?;
    let end = clauses::reason_start(words, at..words.len());
    Some(tidy(words.slice(at + 1..end))).filter(|case| !case.is_empty() && !is_soft(case))
}

/// Words that name a fault where a label ends with them.
const FAULTS: &[&str] = &[
    "missing",
    "invalid",
    "expired",
    "failed",
    "fails",
    "failing",
    "failure",
    "error",
    "timeout",
    "denied",
    "unauthorized",
    "unavailable",
    "unreachable",
    "conflict",
    "broken",
    "unknown",
    "absent",
    "stale",
    "corrupt",
    "corrupted",
    "locked",
    "exceeded",
    "rejected",
    "refused",
    "mismatch",
    "crash",
    "crashes",
];

/// Words that make a fault of the thing behind them.
const STATES: &[&str] =
    &["missing", "invalid", "expired", "failed", "failing", "broken", "unknown", "stale", "corrupt"];

/// The fault a sentence is labelled with: `Missing credentials: export one variable`.
pub(super) fn fault(words: &Words<'_>, all: &Range<usize>) -> Option<String> {
    let last = all.start.checked_sub(1)?;
    let topics = ["handling", "message", "messages", "management", "reporting", "logs", "modes", "codes", "recovery"];
    let is_fault =
        STATES.contains(&words.at(0)) || FAULTS.contains(&words.at(last)) || words.is(last.max(1) - 1, "not found");
    (is_fault && !topics.contains(&words.at(last))).then(|| tidy(words.slice(0..all.start)))
}

/// `Use either A if this or B if that`.
fn either(words: &Words<'_>, range: Range<usize>) -> Option<Vec<Decision>> {
    let either = words.find(range.clone(), &["either"])?;
    let first = words.find(either + 1..range.end, &["if", "when"])?;
    let or = words.find(first + 1..range.end, &["or"])?;
    let second = words.find(or + 1..range.end, &["if", "when"])?;
    let end = (second + 1..range.end).find(|index| words.before(*index).contains([',', ';'])).unwrap_or(range.end);
    let verb = if words.is_imperative(either.saturating_sub(1)) { words.at(either - 1) } else { "use" };
    Some(vec![
        Decision::of(words.slice(first + 1..or), &format!("{verb} {}", words.slice(either + 1..first)))?,
        Decision::of(words.slice(second + 1..end), &format!("{verb} {}", words.slice(or + 1..second)))?,
    ])
}

/// `The other one is also acceptable if this`.
fn acceptable(words: &Words<'_>, range: Range<usize>) -> Option<Decision> {
    let verb = words.find(range.start + 1..range.end, &["is", "are"])?;
    let mut at = verb + 1;
    while matches!(words.at(at), "also" | "an" | "a" | "the" | "only") {
        at += 1;
    }
    if !matches!(
        words.at(at),
        "acceptable" | "fine" | "ok" | "okay" | "allowed" | "recommended" | "preferred" | "appropriate"
    ) {
        return None;
    }
    at += 1;
    at += usize::from(matches!(words.at(at), "alternative" | "option" | "choice" | "fallback" | "approach" | "way"));
    if !matches!(words.at(at), "if" | "when" | "for" | "where") || verb - range.start > 10 {
        return None;
    }
    let mut start = clauses::head(words, range.clone());
    start += usize::from(matches!(words.at(start), "using" | "the"));
    if words.at(start) == "the" {
        start += 1;
    }
    if verb <= start || matches!(words.at(start), "it" | "this" | "that" | "which" | "there") {
        return None;
    }
    let end = clauses::reason_start(words, at..range.end);
    let when = words.slice(at + 1..end);
    if is_soft(when) {
        return None;
    }
    Decision::of(when, &format!("{} {}", words.slice(start..verb), words.slice(verb..at)))
}

/// `Advise users who want this to do that`.
fn advised(words: &Words<'_>, range: Range<usize>) -> Option<Decision> {
    if !matches!(words.at(range.start), "advise" | "point" | "direct" | "refer" | "send" | "encourage" | "warn") {
        return None;
    }
    let users = range.start + 1;
    if !matches!(words.at(users), "users" | "customers" | "people" | "anyone" | "developers") {
        return None;
    }
    let mut from = users + 1;
    if matches!(words.at(from), "who" | "that") {
        from += 1;
    } else if !is_gerund(words.at(from)) {
        return None;
    }
    // The last `to` before a deed or a thing ends the description of who is meant.
    let to = (from + 1..range.end).rev().find(|index| words.at(*index) == "to")?;
    let when = format!("{} {}", words.at(users), words.slice(from..to));
    let then = format!("{} {}", words.at(range.start), words.slice(to..range.end));
    Decision::of(&when, &then)
}
