//! Words of a sentence, with the punctuation between them, and what kind of word each is.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::OnceLock;

/// What stands at a place of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Plain,
    /// Code in backticks; never a marker of anything.
    Code,
    /// Text in double quotes; somebody's words, never the author's.
    Quoted,
}

/// A word.
#[derive(Clone, Debug)]
pub(super) struct Word {
    /// Where it stands in the sentence, without the punctuation around it.
    pub(super) at: Range<usize>,
    /// In lower case, with straight apostrophes; empty where the form is not plain.
    pub(super) lower: String,
    pub(super) form: Form,
}

/// A sentence in words.
#[derive(Clone, Debug)]
pub(super) struct Words<'a> {
    pub(super) text: &'a str,
    pub(super) list: Vec<Word>,
}

impl<'a> Words<'a> {
    /// Cuts a sentence into words.
    pub(super) fn of(text: &'a str) -> Self {
        let mut list = Vec::new();
        let mut at = 0;
        let mut has_quotes = true;
        while let Some(letter) = text[at..].chars().next() {
            let rest = &text[at..];
            let close = match letter {
                '`' => Some('`'),
                '"' if has_quotes => Some('"'),
                '“' => Some('”'),
                _ => None,
            };
            if let Some(close) = close {
                let inside = at + letter.len_utf8();
                if let Some(end) = text[inside..].find(close) {
                    let end = inside + end + close.len_utf8();
                    let form = if letter == '`' { Form::Code } else { Form::Quoted };
                    list.push(Word { at: at..end, lower: String::new(), form });
                    at = end;
                    continue;
                }
                // An inch or a stray mark: there is no closing one to look for any more.
                has_quotes = has_quotes && letter != '"';
                at = inside;
                continue;
            }
            if !is_inner(letter) {
                at += letter.len_utf8();
                continue;
            }
            let end = rest.find(|letter: char| !is_inner(letter)).map_or(text.len(), |end| at + end);
            let trimmed = text[at..end].trim_end_matches(['.', ':', '\'', '’', '!', '/', '-']);
            let stop = at + trimmed.len();
            if trimmed.chars().any(char::is_alphanumeric) {
                let lower = trimmed.to_lowercase().replace('’', "'");
                list.push(Word { at: at..stop, lower, form: Form::Plain });
            }
            at = end;
        }
        Self { text, list }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// A word in lower case; empty for code, quotations and past the end.
    pub(super) fn at(&self, index: usize) -> &str {
        self.list.get(index).map_or("", |word| word.lower.as_str())
    }

    /// What stands between the word before and this one.
    pub(super) fn before(&self, index: usize) -> &'a str {
        let from = index.checked_sub(1).and_then(|before| self.list.get(before)).map_or(0, |word| word.at.end);
        let until = self.list.get(index).map_or(self.text.len(), |word| word.at.start);
        self.text.get(from..until).unwrap_or("")
    }

    /// The text of some words, without the punctuation at its ends.
    pub(super) fn slice(&self, range: Range<usize>) -> &'a str {
        if range.start >= range.end || range.start >= self.len() {
            return "";
        }
        let last = range.end.min(self.len()) - 1;
        let end = self.list[last].at.end;
        // A bracket that was opened inside belongs to the text.
        let text = &self.text[self.list[range.start].at.start..end];
        let is_open = text.matches('(').count() > text.matches(')').count();
        let closes = is_open && self.text[end..].starts_with(')');
        &self.text[self.list[range.start].at.start..end + usize::from(closes)]
    }

    /// Whether the words from an index on are these; `phrase` is in lower case with single blanks.
    pub(super) fn is(&self, index: usize, phrase: &str) -> bool {
        phrase.split(' ').enumerate().all(|(offset, word)| self.at(index + offset) == word)
    }

    /// The longest of some phrases that stands at an index, as its number of words.
    pub(super) fn any(&self, index: usize, phrases: &[&str]) -> Option<usize> {
        let first = self.at(index);
        if first.is_empty() {
            return None;
        }
        // Most phrases fail at their first letters, which costs next to nothing.
        let near = phrases.iter().filter(|phrase| phrase.starts_with(first));
        near.filter(|phrase| self.is(index, phrase)).map(|phrase| phrase.split(' ').count()).max()
    }

    /// The first place in a range at which one of some words stands.
    pub(super) fn find(&self, range: Range<usize>, words: &[&str]) -> Option<usize> {
        range.into_iter().find(|index| words.contains(&self.at(*index)))
    }

    /// Whether one of some words stands anywhere in a range.
    pub(super) fn has(&self, range: Range<usize>, words: &[&str]) -> bool {
        self.find(range, words).is_some()
    }

    /// Whether a command to somebody starts at an index: `Keep`, but not the `test` of `test passes`.
    pub(super) fn is_imperative(&self, index: usize) -> bool {
        // `Reference: …` and `Output: …` are labels.
        if !is_verb(self.at(index)) || self.before(index + 1).starts_with(':') {
            return false;
        }
        let next = self.at(index + 1);
        let finite = ["is", "are", "was", "were", "has", "have", "can", "will", "should", "must", "may", "does", "of"];
        if finite.contains(&next) && !(self.at(index) == "have" || self.at(index) == "ensure") {
            return false;
        }
        let third = next.strip_suffix("es").filter(|stem| ONLY_VERBS.contains(stem)).or(next.strip_suffix('s'));
        // `build succeeds` and `design tokens enable` have a noun in front; `run tests` and `list files` do not.
        let has_subject = third.is_some_and(|stem| ONLY_VERBS.contains(&stem))
            || next.ends_with('s') && ONLY_VERBS.contains(&self.at(index + 2)) && !self.before(index + 2).contains(',');
        // `Clear labels` describes, `clear the cache` asks.
        let is_adjective = matches!(self.at(index), "clear" | "complete" | "clean" | "open" | "separate" | "live")
            && self.list.get(index + 1).is_some_and(|word| word.form == Form::Plain)
            && !ARTICLES.contains(&next);
        !has_subject && !is_adjective
    }
}

fn is_inner(letter: char) -> bool {
    letter.is_alphanumeric() || "_-'’/.@#+%$&\\~:!<>={}*".contains(letter)
}

/// Verbs that are no nouns, for telling `test passes` from `test cases`.
const ONLY_VERBS: &[&str] = &[
    "pass", "succeed", "fail", "contain", "include", "return", "say", "become", "happen", "need", "require", "work",
    "enable", "improve", "make", "provide", "allow", "support", "reduce", "prevent", "validate", "ensure", "handle",
    "read", "give", "take", "remain", "exist", "apply", "describe", "define", "mean", "cause", "help", "keep",
];

/// Words that open the object of a command.
const ARTICLES: &[&str] = &[
    "the", "a", "an", "all", "any", "each", "every", "your", "it", "its", "them", "this", "that", "these", "those",
    "both", "up", "out", "their", "only", "and", "or", "existing", "one", "with", "before", "after", "when", "old",
    "files", "cookies", "code", "concerns",
];

/// What can stand before a verb with a hyphen: `re-check`, `auto-merge`.
const LEADS: &[&str] = &[
    "re", "auto", "hand", "double", "hard", "over", "under", "force", "pre", "cross", "self", "batch", "bulk", "co",
    "mis",
];

/// Whether a word can be the verb of a command.
pub(super) fn is_verb(word: &str) -> bool {
    static VERBS: OnceLock<HashSet<&'static str>> = OnceLock::new();
    let verbs = VERBS.get_or_init(|| include_str!("words/verbs.txt").split_whitespace().collect());
    verbs.contains(word)
        || word.split_once('-').is_some_and(|(lead, rest)| LEADS.contains(&lead) && verbs.contains(rest))
}

/// Whether a word is the `-ing` form of a verb.
pub(super) fn is_gerund(word: &str) -> bool {
    let Some(stem) = word.strip_suffix("ing").filter(|stem| stem.len() > 1) else { return false };
    let doubled = stem.len() > 2 && stem.as_bytes()[stem.len() - 1] == stem.as_bytes()[stem.len() - 2];
    is_verb(stem)
        || is_verb(&format!("{stem}e"))
        || (doubled && stem.is_char_boundary(stem.len() - 1) && is_verb(&stem[..stem.len() - 1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_quotations_are_single_words() {
        let words = Words::of("Never call `rm -rf`, say \"never mind\" (or so).");
        let lowers: Vec<&str> = words.list.iter().map(|word| word.lower.as_str()).collect();
        assert_eq!(lowers, ["never", "call", "", "say", "", "or", "so"]);
        assert_eq!(words.slice(4..7), "\"never mind\" (or so)");
        assert_eq!(words.before(3), ", ");
    }

    #[test]
    fn commands_are_told_from_nouns() {
        for (text, expected) in [
            ("Keep it short", true),
            ("Re-check the branch", true),
            ("Build succeeds", false),
            ("Run tests", true),
            ("Test passes once", false),
            ("Notes are kept", false),
        ] {
            assert_eq!(Words::of(text).is_imperative(0), expected, "{text}");
        }
        assert!(is_gerund("using") && is_gerund("running") && !is_gerund("string"));
    }
}
