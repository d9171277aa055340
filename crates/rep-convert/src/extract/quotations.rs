//! Quotations and cells: places where a text may be shown, and speaks for itself only where it says so outright.

use std::ops::Range;

use super::blocks::Block;
use super::clauses;
use super::constraints::{Rule, tidy};
use super::words::{Words, is_verb};

/// Whether a clause forbids or commands in so many words.
pub(super) fn is_outright(words: &Words<'_>, clause: Range<usize>) -> bool {
    let head = clauses::head(words, clause);
    let marks = ["never", "always", "don't", "do not", "you must", "must not", "must never", "you should never"];
    let next = words.at(head + 1);
    words.any(head, &marks).is_some() || words.at(head) == "must" && is_verb(next) && !matches!(next, "be" | "have")
}

/// Whether a quotation holds somebody's words: it is announced, signed, put in quotes, says `I`, or has gaps to fill.
pub(super) fn is_somebodys(blocks: &[Block], index: usize) -> bool {
    let block = &blocks[index];
    let text = block.prose.text.trim();
    let before = blocks[..index].iter().rev().take(50).find(|before| !before.is_quoted);
    let is_announced = before.is_some_and(|before| {
        let text = before.prose.text.trim_end_matches(['*', ' ']);
        !before.is_heading() && text.ends_with([':', '：'])
    });
    let words = Words::of(text.get(..text.len().min(2_000)).unwrap_or_default());
    let is_personal =
        words.has(0..words.len(), &["i", "i'm", "i'll", "i've", "my", "me", "we", "we're", "our", "let's"]);
    let outside: String = text.split('`').step_by(2).collect();
    let above = block.heading.map(|heading| Words::of(&blocks[heading].prose.text));
    let names = ["prompt", "prompts", "template", "templates", "message", "script", "email", "quote", "quotes"];
    let is_sample = above.is_some_and(|above| above.has(0..above.len(), &names));
    is_announced
        || is_personal
        || is_sample
        || is_signed(text)
        || text.starts_with(['"', '“', '‘', '«', '„', '\''])
        || outside.contains(['[', '{'])
}

/// Whether a text ends with a name behind a dash.
pub(super) fn is_signed(text: &str) -> bool {
    let name = text.rsplit(['—', '–']).next().filter(|name| name.len() < text.len()).unwrap_or_default().trim();
    let is_name = |word: &str| word.starts_with(char::is_uppercase) && word != word.to_uppercase();
    !name.is_empty() && name.split(' ').all(is_name) && name.split(' ').count() <= 5 && !name.ends_with(['.', '!'])
}

/// Titles of columns that show what people say, write or do wrong.
const SHOWN: &[&str] = &[
    "says",
    "said",
    "example",
    "examples",
    "input",
    "output",
    "prompt",
    "prompts",
    "phrase",
    "phrases",
    "quote",
    "excuse",
    "excuses",
    "thought",
    "thoughts",
    "claim",
    "myth",
    "mistake",
    "mistakes",
    "bad",
    "wrong",
    "before",
    "keyword",
    "keywords",
    "keyword(s)",
    "message",
    "query",
    "trigger",
    "triggers",
    "rationalization",
    "anti-pattern",
    "antipattern",
    "violation",
    "smell",
    "temptation",
    "level",
    "user",
    "intent",
];

/// Whether a column shows something instead of saying it.
pub(super) fn shows(title: &str) -> bool {
    let words = Words::of(title);
    words.has(0..words.len(), SHOWN)
}

/// A rule of a cell with what its row is about, where it needs that; none where the row has no name to give.
pub(super) fn of_row(rule: &Rule, case: Option<&str>, name: Option<&str>) -> Option<Rule> {
    let words = Words::of(&rule.text);
    let joins =
        ["on", "for", "in", "with", "to", "when", "if", "even", "before", "after", "unless", "at", "here", "by"];
    let is_bare = words.len() <= 1 || joins.contains(&words.at(1)) || rule.doubt.is_some();
    let fits = |text: &&str| text.len() <= 160;
    let (about, doubt) = match case.filter(fits) {
        Some(case) => (Some(case), rule.doubt),
        None if is_bare && (words.len() > 2 || name.is_some_and(|name| fits(&name))) => {
            (name.filter(fits), Some("what it holds for stands in its row"))
        }
        None if is_bare => return None,
        None => (None, rule.doubt),
    };
    let text = about.map_or(rule.text.clone(), |about| tidy(&format!("{} ({about})", rule.text)));
    Some(Rule { sort: rule.sort, text, doubt })
}
