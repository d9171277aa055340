//! Rules in as few words as they take: `No tabs`, `Never: tabs`, `Force pushes: never`.

use std::ops::Range;

use super::clauses;
use super::constraints::{Rule, Sort, is_gap, repeated};
use super::words::{Form, Words, is_gerund};

/// Prohibitions in as few words as they take: `No tabs`, `Never: tabs`, `Force pushes: never`.
pub(super) fn rules(words: &Words<'_>, range: Range<usize>) -> Vec<Rule> {
    let (start, end) = (range.start, clauses::reason_start(words, range));
    let last = end.saturating_sub(1);
    let sort = match words.at(last) {
        "never" => Some(Sort::Never),
        "always" => Some(Sort::Always),
        _ => None,
    };
    if let Some(sort) = sort.filter(|_| (1..=6).contains(&last) && is_gap(words.before(last))) {
        return Rule::terse(sort, words.slice(0..last)).into_iter().collect();
    }
    let marks: &[(&[&str], Sort)] =
        &[(&["never", "don't", "do not", "avoid"], Sort::Never), (&["always", "do", "must"], Sort::Always)];
    for (phrases, sort) in marks {
        let length = words.any(0, phrases).filter(|length| words.before(*length).starts_with(':') && *length < end);
        // `Avoid: `x`` stands beside `Good: `y``, and shows.
        let is_shown = |length: usize| words.at(0) == "avoid" && words.list[length].form != Form::Plain;
        if let Some(length) = length.filter(|length| !is_shown(*length)) {
            let from = repeated(words, length, *sort);
            // `Never: always push` may mean either.
            let is_torn =
                *sort == Sort::Never && words.at(from) == "always" || *sort == Sort::Always && forbids(words, from);
            let rule = Rule::terse(*sort, words.slice(from..end)).filter(|_| !is_torn);
            return rule.into_iter().collect();
        }
    }
    if start > 0 || words.at(0) != "no" || words.before(start + 1).contains(',') || words.text.trim_end().ends_with(':')
    {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut from = start + 1;
    while from < end {
        let until = (from..end).find(|index| words.at(*index) == "no").unwrap_or(end);
        let kept = until - usize::from(matches!(words.at(until - 1), "allowed" | "permitted" | "ever" | "please"));
        let thing = from..kept;
        let is_rule = (1..=6).contains(&thing.len())
            && !ABSENT.contains(&words.at(from))
            && !ABSENT.contains(&words.at(kept - 1))
            && !words.has(thing.clone(), STATED);
        if !is_rule {
            return Vec::new();
        }
        found.extend(Rule::terse(Sort::Never, words.slice(thing)));
        from = until + 1;
    }
    found
}

fn forbids(words: &Words<'_>, index: usize) -> bool {
    words.any(index, &["never", "don't", "do not", "avoid", "no", "not"]).is_some()
}

/// Whether rules forbid deeds or things in the plural: `No tabs` forbids more likely than `No server`.
pub(super) fn is_several(rules: &[Rule]) -> bool {
    rules.iter().all(|rule| {
        let words = Words::of(&rule.text);
        let joins = ["in", "on", "for", "to", "of", "with", "without", "from", "or", "at", "after", "before", "inside"];
        let head = words.find(0..words.len(), &joins).unwrap_or(words.len()).saturating_sub(1);
        let word = words.at(head);
        word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") || is_gerund(word) || word.ends_with("space")
    })
}

/// Things that are said not to be there: `No dependencies` describes.
const ABSENT: &[&str] = &[
    "need",
    "problem",
    "problems",
    "result",
    "results",
    "output",
    "change",
    "changes",
    "longer",
    "one",
    "matter",
    "worries",
    "doubt",
    "idea",
    "dependencies",
    "dependency",
    "setup",
    "configuration",
    "config",
    "installation",
    "install",
    "account",
    "data",
    "match",
    "matches",
    "issues",
    "issue",
    "action",
    "further",
    "more",
    "other",
    "additional",
    "response",
    "answer",
    "such",
    "special",
    "extra",
    "external",
    "signup",
    "registration",
    "cost",
    "charge",
    "limit",
    "limits",
    "server",
    "guarantee",
    "arguments",
    "parameters",
    "args",
    "api",
    "auth",
    "authentication",
    "network",
    "code",
    "internet",
    "known",
    "default",
    "value",
    "files",
    "errors",
    "warnings",
    "regressions",
    "broken",
    "failing",
];

/// Words that make a sentence of `No …`.
const STATED: &[&str] = &[
    "is",
    "are",
    "was",
    "were",
    "has",
    "have",
    "can",
    "will",
    "should",
    "must",
    "may",
    "does",
    "do",
    "needed",
    "required",
    "necessary",
    "found",
    "available",
    "exists",
    "exist",
    "means",
    "left",
    "returned",
    "given",
    "detected",
    "yet",
    "and",
    "but",
    "works",
    "if",
    "when",
    "here",
    "configured",
    "set",
    "specified",
    "provided",
    "present",
];
