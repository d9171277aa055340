//! Splits a sentence into words with the punctuation between them, and classifies each word.

use std::borrow::Cow;
use std::ops::Range;

use super::lexicon::{LEXICON, is_verb};

/// The form of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordForm {
    Plain,
    /// Code in backticks; never a marker.
    Code,
    /// Text in double quotes; words of another speaker, not of the author.
    Quoted,
}

#[derive(Clone, Debug)]
pub(super) struct SentenceWord<'a> {
    /// The position in the sentence, without the punctuation around the word.
    pub(super) at: Range<usize>,
    /// The word in lower case, with straight apostrophes; empty if the form is not plain.
    pub(super) lower: Cow<'a, str>,
    pub(super) form: WordForm,
}

#[derive(Clone, Debug)]
pub(super) struct WordList<'a> {
    pub(super) text: &'a str,
    pub(super) list: Vec<SentenceWord<'a>>,
}

impl<'a> WordList<'a> {
    pub(super) fn parse(text: &'a str) -> Self {
        // An unmatched mark is an inch sign or a typo. The position of the last mark is computed once.
        let marks = [('`', '`', WordForm::Code), ('"', '"', WordForm::Quoted), ('“', '”', WordForm::Quoted)];
        let is_ascii = text.is_ascii();
        let last = |close: char| if is_ascii && !close.is_ascii() { None } else { text.rfind(close) };
        let marks = marks.map(|(open, close, form)| (open, close, form, last(close).unwrap_or(0)));
        let mut list = Vec::new();
        let mut at = 0;
        while let Some(letter) = text[at..].chars().next() {
            let inside = at + letter.len_utf8();
            let mark = marks.iter().find(|(open, _, _, last)| *open == letter && *last >= inside);
            let mut end = inside;
            if let Some((_, close, form, _)) = mark {
                end += text[inside..].find(*close).map_or(0, |length| length + close.len_utf8());
                list.push(SentenceWord { at: at..end, lower: Cow::Borrowed(""), form: *form });
            } else if is_word_char(letter) {
                end = text[at..].find(|letter| !is_word_char(letter)).map_or(text.len(), |length| at + length);
                let word = text[at..end].trim_end_matches(['.', ':', '\'', '’', '!', '/', '-']);
                if word.contains(char::is_alphanumeric) {
                    let lower = to_lower(word);
                    list.push(SentenceWord { at: at..at + word.len(), lower, form: WordForm::Plain });
                }
            }
            at = end;
        }
        Self { text, list }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns a word in lower case; empty for code, quotations and past the end.
    pub(super) fn lower_at(&self, index: usize) -> &str {
        self.list.get(index).map_or("", |word| word.lower.as_ref())
    }

    /// Returns the text between the previous word and this one.
    pub(super) fn gap_before(&self, index: usize) -> &'a str {
        let from = index.checked_sub(1).and_then(|before| self.list.get(before)).map_or(0, |word| word.at.end);
        let until = self.list.get(index).map_or(self.text.len(), |word| word.at.start);
        self.text.get(from..until).unwrap_or("")
    }

    /// Returns the text of some words, without the punctuation at its ends.
    pub(super) fn slice(&self, range: Range<usize>) -> &'a str {
        let range = range.start..range.end.min(self.len());
        if range.is_empty() {
            return "";
        }
        let (start, end) = (self.list[range.start].at.start, self.list[range.end - 1].at.end);
        let text = &self.text[start..end];
        // A bracket opened inside the text belongs to it.
        let is_open = text.matches('(').count() > text.matches(')').count();
        &self.text[start..end + usize::from(is_open && self.text[end..].starts_with(')'))]
    }

    /// Returns whether these words follow at an index; `phrase` is in lower case with single spaces.
    pub(super) fn has_phrase_at(&self, index: usize, phrase: &str) -> bool {
        split_words(phrase).enumerate().all(|(offset, word)| self.lower_at(index + offset).as_bytes() == word)
    }

    /// Returns the number of words of the longest phrase that matches at an index.
    pub(super) fn longest_phrase_at(&self, index: usize, phrases: &[&str]) -> Option<usize> {
        let standing = phrases.iter().filter(|phrase| self.has_phrase_at(index, phrase));
        standing.map(|phrase| split_words(phrase).count()).max()
    }

    /// Returns the first position in a range with one of the words.
    pub(super) fn find_any(&self, range: Range<usize>, words: &[&str]) -> Option<usize> {
        range.into_iter().find(|index| words.contains(&self.lower_at(*index)))
    }

    pub(super) fn contains_any(&self, range: Range<usize>, words: &[&str]) -> bool {
        self.find_any(range, words).is_some()
    }

    /// Returns whether a word is in a list of words separated by spaces.
    pub(super) fn is_any_of(&self, index: usize, words: &str) -> bool {
        let lower = self.lower_at(index).as_bytes();
        split_words(words).any(|word| word == lower)
    }

    /// Returns whether an imperative starts at an index: `Keep`, but not the `test` of `test passes`.
    pub(super) fn is_imperative(&self, index: usize) -> bool {
        let (verb, next, third) = (self.lower_at(index), self.lower_at(index + 1), self.lower_at(index + 2));
        // `Output: …` is a label.
        if !is_verb(verb) || self.gap_before(index + 1).starts_with(':') {
            return false;
        }
        // `Round 2` is a number of something.
        let is_counted = self.gap_before(index + 2).trim_start().starts_with([':', '(', '—', '–', '-']);
        if next.parse::<u32>().is_ok() && (self.len() <= index + 3 || is_counted) {
            return false;
        }
        let is_bare = !next.is_empty() && !LEXICON.object_openers.contains(next);
        // `Upgrade blocked by policy` and `Bundle not signed` start with a noun.
        let is_passive = next == "not" || next.ends_with("ed") && third == "by";
        let is_noun = LEXICON.auxiliaries.contains(next)
            || is_passive
            || LEXICON.noun_verbs.contains(verb) && (is_bare && !is_plural(next) || index + 1 == self.len())
            || LEXICON.adjective_verbs.contains(verb) && is_bare;
        // `build succeeds` and `design tokens enable` start with a noun; `run tests` does not.
        let has_subject = next.strip_suffix('s').is_some_and(|stem| LEXICON.finite_verbs.contains(stem))
            || next.ends_with('s') && LEXICON.finite_verbs.contains(third)
            || is_bare && matches!(third, "is" | "are" | "was" | "were" | "has" | "can" | "will");
        // `State Diagrams` is a title.
        let is_title = (2..=4).contains(&(self.len() - index))
            && self.list[index..].iter().all(|word| is_capitalized(&self.text[word.at.clone()]));
        !is_noun && !has_subject && !is_title
    }
}

/// Returns whether a word looks like the plural of an object: `report results`.
fn is_plural(word: &str) -> bool {
    word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us")
}

/// Returns whether a word is capitalized: `Diagrams`, but neither `DNS` nor `diagrams`.
fn is_capitalized(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(char::is_uppercase) && letters.next().is_none_or(char::is_lowercase)
}

/// Returns a word in lower case, with straight apostrophes.
fn to_lower(word: &str) -> Cow<'_, str> {
    if !word.is_ascii() {
        return Cow::Owned(word.to_lowercase().replace('’', "'"));
    }
    if word.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Cow::Owned(word.to_ascii_lowercase());
    }
    Cow::Borrowed(word)
}

/// Splits short lists of words. A search for the next space, as in `str::split`, costs more than looking at each byte.
fn split_words(words: &str) -> impl Iterator<Item = &[u8]> {
    words.as_bytes().split(|byte| *byte == b' ')
}

fn is_word_char(letter: char) -> bool {
    let is_mark = |byte: u8| {
        matches!(byte, b'_' | b'-' | b'\'' | b'/' | b'.' | b'@' | b'#' | b'+' | b'%' | b'$' | b'&')
            || matches!(byte, b'\\' | b'~' | b':' | b'!' | b'<' | b'>' | b'=' | b'{' | b'}' | b'*')
    };
    match u8::try_from(letter) {
        Ok(byte) if byte.is_ascii() => byte.is_ascii_alphanumeric() || is_mark(byte),
        _ => letter.is_alphanumeric() || letter == '’',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_quotations_are_single_words() {
        let words = WordList::parse("Never call `rm -rf`, say \"never mind\" (or so).");
        let lowers: Vec<&str> = words.list.iter().map(|word| word.lower.as_ref()).collect();
        assert_eq!(lowers, ["never", "call", "", "say", "", "or", "so"]);
        assert_eq!((words.slice(4..7), words.gap_before(3)), ("\"never mind\" (or so)", ", "));
    }

    #[test]
    fn commands_are_told_from_nouns() {
        for text in ["Keep it short", "Re-check the branch", "Run tests"] {
            assert!(WordList::parse(text).is_imperative(0), "{text}");
        }
        for text in ["Build succeeds", "Test fails once", "Notes are kept", "Output: text", "State Diagrams"] {
            assert!(!WordList::parse(text).is_imperative(0), "{text}");
        }
    }
}
