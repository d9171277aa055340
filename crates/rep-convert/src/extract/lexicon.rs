//! The word lists of the rules, read once from `lexicon.txt`.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::LazyLock;

use super::words::WordList;

/// Phrases by their first word, the longest first.
#[derive(Debug, Default)]
pub(super) struct PhraseSet(HashMap<&'static str, Vec<Vec<&'static str>>>);

impl PhraseSet {
    fn parse(text: &'static str) -> Self {
        // A section without commas contains single words.
        let separator = if text.contains(',') { [',', ','] } else { [' ', '\n'] };
        let mut all: Vec<Vec<&str>> = text.split(separator).map(|one| one.split_whitespace().collect()).collect();
        all.sort_by_key(|words| std::cmp::Reverse(words.len()));
        let mut phrases: HashMap<&str, Vec<Vec<&str>>> = HashMap::new();
        for words in all.into_iter().filter(|words| !words.is_empty()) {
            phrases.entry(words[0]).or_default().push(words);
        }
        Self(phrases)
    }

    /// Returns whether the set contains a single word.
    pub(super) fn contains(&self, word: &str) -> bool {
        self.0.get(word).and_then(|phrases| phrases.last()).is_some_and(|shortest| shortest.len() == 1)
    }

    /// Returns the number of words of the longest phrase that matches at an index.
    pub(super) fn match_length_at(&self, words: &WordList<'_>, index: usize) -> Option<usize> {
        let phrases = self.0.get(words.lower_at(index))?;
        let stands = |phrase: &&Vec<&str>| {
            phrase.iter().enumerate().all(|(offset, word)| words.lower_at(index + offset) == *word)
        };
        phrases.iter().find(stands).map(Vec::len)
    }

    /// Returns whether a phrase of the set occurs anywhere.
    pub(super) fn occurs_in(&self, words: &WordList<'_>) -> bool {
        (0..words.len()).any(|index| self.match_length_at(words, index).is_some())
    }

    /// Returns whether a range contains a single word of the set.
    pub(super) fn has_word_in(&self, words: &WordList<'_>, mut range: Range<usize>) -> bool {
        range.any(|index| self.contains(words.lower_at(index)))
    }

    /// Returns whether the words are exactly a phrase of the set.
    pub(super) fn is_whole_text(&self, words: &WordList<'_>) -> bool {
        words.len() > 0 && self.match_length_at(words, 0) == Some(words.len())
    }
}

macro_rules! lexicon {
    ($($section:ident),* $(,)?) => {
        /// All word lists.
        #[derive(Debug)]
        pub(super) struct Lexicon {
            $(pub(super) $section: PhraseSet,)*
        }

        impl Lexicon {
            fn read(text: &'static str) -> Self {
                let mut sections = split_sections(text);
                Self { $($section: PhraseSet::parse(sections.remove(stringify!($section)).unwrap_or_default()),)* }
            }
        }

        #[cfg(test)]
        const SECTIONS: &[&str] = &[$(stringify!($section)),*];
    };
}

lexicon! {
    verbs, finite_verbs, noun_verbs, pointing_verbs, choosing_verbs, using_verbs, connectors, verb_leads,
    auxiliaries, object_openers, adjective_verbs, english_words, short_forms, grave_notices, shown_notices,
    block_tags, inline_tags, never_markers, must_markers, should_markers, prefer_markers, rules_headings,
    weak_rules_headings, never_headings, mistake_headings, choice_headings, trouble_headings, trigger_headings,
    procedure_headings, listing_headings, example_headings, when_headers, fault_headers, then_headers,
    remedy_headers, describing_headers, bad_headers, good_headers, idle_conditions, given_variables,
    configuration_endings, ability_words, idle_labels, wrong_labels, bounds, reasons, others, asking_words,
    elsewhere_openings, fitting_labels, property_labels, heading_fillers, speech_words, fitting_openings, duties,
    unordered_titles, idle_words, use_leads, use_labels, use_denials, use_verbs, reading_words, pattern_words,
    written_languages, shells, shell_leads, plumbing, programs, programs_with_commands, programs_with_groups,
    command_groups, starters, freeform_programs, command_verbs, value_kinds, number_names, switches, flag_bundles,
    bundled_folders, inspecting_programs,
}

const LEXICON_TEXT: &str = include_str!("lexicon.txt");

/// The word lists of the rules.
pub(super) static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::read(LEXICON_TEXT));

fn split_sections(text: &'static str) -> BTreeMap<&'static str, &'static str> {
    let headed = text.split("\n[").skip(1);
    let body = |rest: &'static str| rest.split("\n#").next().unwrap_or_default();
    headed.filter_map(|part| part.split_once("] ")).map(|(name, rest)| (name, body(rest))).collect()
}

/// Returns whether a word can be the verb of an imperative.
pub(super) fn is_verb(word: &str) -> bool {
    let verbs = &LEXICON.verbs;
    verbs.contains(word)
        || word.split_once('-').is_some_and(|(lead, rest)| LEXICON.verb_leads.contains(lead) && verbs.contains(rest))
}

/// Returns whether a word is the `-ing` form of a verb.
pub(super) fn is_gerund(word: &str) -> bool {
    let Some(stem) = word.strip_suffix("ing").filter(|stem| stem.len() > 1) else { return false };
    let mut letters = stem.chars().rev();
    let is_doubled = letters.next() == letters.next();
    let shorter = stem.char_indices().next_back().map_or("", |(at, _)| &stem[..at]);
    is_verb(stem) || is_verb(&format!("{stem}e")) || is_doubled && is_verb(shorter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_exactly_the_sections_the_rules_read() {
        let found: Vec<&str> = split_sections(LEXICON_TEXT).into_keys().collect();
        let known: std::collections::BTreeSet<&str> = SECTIONS.iter().copied().collect();
        assert_eq!(found, Vec::from_iter(known));
        assert!(split_sections(LEXICON_TEXT).values().all(|text| !text.trim().is_empty()));
        assert_eq!(LEXICON.never_markers.match_length_at(&WordList::parse("You must not stop"), 0), Some(3));
        assert!(is_verb("re-check") && is_gerund("running") && is_gerund("using") && !is_gerund("string"));
    }
}
