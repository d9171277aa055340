//! Finds the skills and tools that a request names in its own words: "use pdf-tools to merge these".
//!
//! A name of several parts (`pdf-tools`, `extract_text`, `acme:pdf`, `pdf:merge`) is rarely anything else, so it counts
//! wherever it is a whole word, in any case. Inside a path, a file name, an option or a longer name it does not count.
//!
//! A name of one word (`test`, `review`, `yes`) is also an ordinary word. It counts only where the sentence uses it as a
//! name:
//!
//! - after a verb such as "use" or "run", if the clause ends there or goes on with a function word: "use pdf to merge
//!   these", but not "use pdf files";
//! - before the word "skill" or "tool" with "the" or such a verb: "the pdf skill", "run the pdf tool", but not "write a
//!   review skill", which asks for a new one;
//! - after "the skill" or "skill named": "with the skill pdf".
//!
//! A function word ("yes", "it") never counts after a verb, and the name of a tool that is one word counts only before
//! "tool". A name that the sentence rules out does not count: "without pdf-tools", "do not use the pdf skill".

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use aho_corasick::AhoCorasick;
use rep_model::names;

use super::name_lookup::CallableNames;
use super::words::{fold_case, is_joined};
use crate::search::stop_words::is_stop_word;

/// Verbs that take a skill as their object, in the languages of the stop words.
const USE_VERBS: [&str; 24] = [
    "activate", "apply", "invoke", "run", "running", "use", "using", // English
    "benutze", "nimm", "nutze", "starte", "verwende", // German
    "exécute", "lance", "utilise", "utilisez", // French
    "usa", "usando", "utiliza", "utilice", "ejecuta", // Spanish and Portuguese
    "esegui", "utilizza", // Italian
    "gebruik",  // Dutch
];
/// Definite articles, which make a name one of a skill that exists.
const ARTICLES: [&str; 13] = ["the", "der", "die", "das", "den", "dem", "le", "la", "el", "il", "lo", "o", "het"];
/// Words that can replace the article after a verb.
const POSSESSIVES: [&str; 9] = ["my", "our", "your", "mein", "meinen", "mon", "mi", "mio", "mijn"];
/// Words that introduce a name after "skill".
const CALLED_WORDS: [&str; 4] = ["called", "named", "namens", "genannt"];
/// Words that rule out what follows them.
const NEGATIONS: [&str; 22] = [
    "avoid", "cannot", "can't", "don't", "dont", "except", "never", "no", "not", "skip", "without", // English
    "kein", "keine", "nicht", "nie", "ohne", // German
    "jamais", "pas", "sans", // French
    "sin", "senza",  // Spanish and Italian
    "zonder", // Dutch
];

/// The names that can occur in a text, compiled.
pub(super) struct NamesInText {
    /// Names of several parts, folded.
    automaton: Option<AhoCorasick>,
    /// By pattern of the automaton: the folded name and its spellings.
    compounds: Vec<(String, Vec<String>)>,
    /// Names of one word, folded.
    words: BTreeMap<String, WordNames>,
}

/// The spellings of a name of one word.
#[derive(Default)]
struct WordNames {
    skills: Vec<String>,
    tools: Vec<String>,
}

/// A word of a text, and what surrounds it.
struct TextWord {
    /// The word, folded, without punctuation around it.
    folded: String,
    /// Whether the clause ends behind the word.
    ends_clause: bool,
}

impl NamesInText {
    /// Compiles the names that users can call.
    pub(super) fn new(callable: &CallableNames, notes: &mut Vec<String>) -> Self {
        let mut compounds: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut words: BTreeMap<String, WordNames> = BTreeMap::new();
        for (name, is_tool) in callable.list_names() {
            let folded = fold_case(&name);
            if folded.is_empty() || folded.contains(' ') || folded.contains(['/', '\\']) {
                continue;
            }
            if !folded.chars().all(names::is_letter_or_digit) {
                compounds.entry(folded).or_default().insert(name);
                continue;
            }
            let known = words.entry(folded).or_default();
            if is_tool { known.tools.push(name) } else { known.skills.push(name) }
        }
        let automaton = AhoCorasick::new(compounds.keys());
        if let Err(error) = &automaton {
            notes.push(format!("names in requests need a slash, because there are too many: {error}"));
        }
        let compounds = compounds.into_iter().map(|(folded, names)| (folded, names.into_iter().collect())).collect();
        Self { automaton: automaton.ok(), compounds, words }
    }

    /// Returns the spellings of the names that a text uses as names.
    pub(super) fn find_names(&self, text: &str) -> BTreeSet<&str> {
        let mut found = BTreeSet::new();
        self.find_compounds(&fold_case(text), &mut found);
        if !self.words.is_empty() {
            self.find_words(&split_text_words(text), &mut found);
        }
        found
    }

    fn find_compounds<'a>(&'a self, text: &str, found: &mut BTreeSet<&'a str>) {
        let Some(automaton) = &self.automaton else { return };
        let mut spans: Vec<(usize, usize, usize)> = Vec::new();
        for hit in automaton.find_overlapping_iter(text) {
            let (start, end) = (hit.start(), hit.end());
            if is_whole_name(text, start, end) && !is_ruled_out(&split_text_words(last_clause(&text[..start]))) {
                spans.push((start, end, hit.pattern().as_usize()));
            }
        }
        // `acme:pdf-tools` does not also name `pdf-tools`. Of names that begin together, the longest comes first.
        spans.sort_unstable_by_key(|(start, end, _)| (*start, Reverse(*end)));
        let mut covered = 0;
        for (_, end, pattern) in spans {
            if end > covered {
                covered = end;
                found.extend(self.compounds[pattern].1.iter().map(String::as_str));
            }
        }
    }

    fn find_words<'a>(&'a self, text: &[TextWord], found: &mut BTreeSet<&'a str>) {
        for (at, word) in text.iter().enumerate() {
            let Some(names) = self.words.get(&word.folded) else { continue };
            let (is_skill, is_tool) = is_used_as_name(text, at);
            if !(is_skill || is_tool) || is_ruled_out(&text[..at]) {
                continue;
            }
            // A skill takes precedence over a tool of the same name.
            let named = if names.skills.is_empty() && is_tool { &names.tools } else { &names.skills };
            found.extend(named.iter().map(String::as_str));
        }
    }
}

/// Returns whether a name in a text is neither part of a longer word or name, nor of a path, file name or option.
fn is_whole_name(text: &str, start: usize, end: usize) -> bool {
    let (name, mut before, mut after) = (&text[start..end], text[..start].chars().rev(), text[end..].chars());
    let (Some(first), Some(last)) = (name.chars().next(), name.chars().next_back()) else { return false };
    let is_word = |letter: Option<char>| letter.is_some_and(names::is_letter_or_digit);
    let is_clear_before = match before.next() {
        Some('/' | '\\' | '-' | '_' | '.') => false,
        Some(':' | '@') => !is_word(before.next()),
        Some(letter) => !is_joined(letter, first),
        None => true,
    };
    let is_clear_after = match after.next() {
        Some('/' | '\\') => false,
        Some('-' | '_' | '.' | '@') => !is_word(after.next()),
        Some(letter) => !is_joined(last, letter),
        None => true,
    };
    is_clear_before && is_clear_after
}

/// Returns whether a sentence uses a word as the name of a skill, and whether as that of a tool.
fn is_used_as_name(text: &[TextWord], at: usize) -> (bool, bool) {
    // The words before and behind, within the clause.
    let before = |steps: usize| {
        let clause = &text[at.checked_sub(steps)?..at];
        clause.first().filter(|_| clause.iter().all(|word| !word.ends_clause)).map(|word| word.folded.as_str())
    };
    let next = text.get(at + 1).filter(|_| !text[at].ends_clause).map(|word| word.folded.as_str());
    let is_one_of = |word: Option<&str>, list: &[&str]| word.is_some_and(|word| list.contains(&word));
    let is_definite = |steps: usize| {
        let is_verb = |steps| is_one_of(before(steps), &USE_VERBS);
        let is_owned = is_one_of(before(steps), &POSSESSIVES) && is_verb(steps + 1);
        is_verb(steps) || is_one_of(before(steps), &ARTICLES) || is_owned
    };
    if matches!(next, Some("skill" | "tool")) {
        let is_skill = is_definite(1) || (before(1).is_none() && next == Some("skill"));
        return (is_skill, is_definite(1) && next == Some("tool"));
    }
    if next.is_some_and(|word| !is_stop_word(word)) {
        return (false, false);
    }
    let is_called = is_one_of(before(1), &CALLED_WORDS) && before(2) == Some("skill");
    let is_apposition = before(1) == Some("skill") && is_definite(2);
    let is_object = is_one_of(before(1), &USE_VERBS) && !is_stop_word(&text[at].folded);
    (is_called || is_apposition || is_object, false)
}

/// Returns whether the words before a name rule it out: "without", "do not use the", "instead of".
fn is_ruled_out(before: &[TextWord]) -> bool {
    let clause = before.iter().rev().take_while(|word| !word.ends_clause).map(|word| word.folded.as_str());
    let is_lead = |word: &str| {
        let lists: [&[&str]; 3] = [&USE_VERBS, &ARTICLES, &POSSESSIVES];
        lists.iter().any(|list| list.contains(&word)) || matches!(word, "with" | "any" | "skill" | "tool")
    };
    let mut words = clause.skip_while(|word| is_lead(word));
    match words.next() {
        Some("of") => words.next() == Some("instead"),
        Some("than") => words.next() == Some("rather"),
        Some(word) => NEGATIONS.contains(&word.replace('’', "'").as_str()),
        None => false,
    }
}

/// Returns the end of a text in which the words before a name matter, without the quote that opens the name.
fn last_clause(text: &str) -> &str {
    const BYTES_MAX: usize = 120;
    text[text.ceil_char_boundary(text.len().saturating_sub(BYTES_MAX))..].trim_end_matches(is_quote)
}

/// Splits a text into words. A line break ends a clause, and so does punctuation behind a word.
fn split_text_words(text: &str) -> Vec<TextWord> {
    let is_end = |letter: char| ".,;:!?…".contains(letter);
    let mut words: Vec<TextWord> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if let Some(last) = words.last_mut().filter(|_| number > 0) {
            last.ends_clause = true;
        }
        for word in line.split_whitespace() {
            let end = word.trim_end_matches(is_quote);
            let inner = end.trim_end_matches(|letter| is_quote(letter) || is_end(letter)).trim_start_matches(is_quote);
            if inner.chars().any(names::is_letter_or_digit) {
                words.push(TextWord { folded: fold_case(inner), ends_clause: end.ends_with(is_end) });
            } else if let Some(last) = words.last_mut() {
                // A dash or another lone sign separates clauses.
                last.ends_clause = true;
            }
        }
    }
    words
}

fn is_quote(letter: char) -> bool {
    "([{<\"'`“”‘’«»*_)]}>".contains(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the words of a text that the sentence uses as names of skills, if every word were one.
    fn list_used_words(text: &str) -> Vec<String> {
        let words = split_text_words(text);
        let is_named = |at: &usize| is_used_as_name(&words, *at).0 && !is_ruled_out(&words[..*at]);
        (0..words.len()).filter(is_named).map(|at| words[at].folded.clone()).collect()
    }

    #[test]
    fn sel_01_a_word_is_a_name_where_the_sentence_says_so() {
        for (text, name) in [
            ("Use pdf to merge these.", "pdf"),
            ("please run Test", "test"),
            ("merge them using `pdf`, then stop", "pdf"),
            ("Which pages are empty? Ask the pdf skill.", "pdf"),
            ("use my notes skill", "notes"),
            ("pdf skill: merge these", "pdf"),
            ("with the skill pdf", "pdf"),
            ("there is a skill named \"review\" for this", "review"),
            ("Verwende pdf, um alles zu verbinden", "pdf"),
            ("utilise pdf pour fusionner", "pdf"),
            ("run the yes skill", "yes"),
        ] {
            assert_eq!(list_used_words(text), [name], "{text}");
        }
    }

    #[test]
    fn sel_01_an_ordinary_word_is_not_a_name() {
        for text in [
            "yes, do it",
            "review this and test it",
            "use test data",
            "use pdf files for the review",
            "respond with yes or no",
            "answer \"yes\" to all questions",
            "rename the function `test`",
            "write a review skill",
            "improve my writing skill",
            "use it to test",
            "do not use pdf",
            "don’t run test, please",
            "use\nreview\ncode",
            "convert it without the pdf skill",
        ] {
            assert_eq!(list_used_words(text), Vec::<String>::new(), "{text}");
        }
    }
}
