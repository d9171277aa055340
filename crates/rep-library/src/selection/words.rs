//! Finds mentions and keywords in a text with a single automaton.

use std::collections::{BTreeMap, BTreeSet};

use aho_corasick::AhoCorasick;
use rep_model::names;
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use super::MatchKind;
use super::triggers::SkillTrigger;

/// All mentions and keywords, with their triggers.
pub(super) struct WordTriggers {
    automaton: Option<AhoCorasick>,
    /// By pattern: its first and last character, and its triggers.
    patterns: Vec<WordPattern>,
}

struct WordPattern {
    first: char,
    last: char,
    triggers: Vec<usize>,
}

impl WordTriggers {
    pub(super) fn new(triggers: &[SkillTrigger], notes: &mut Vec<String>) -> Self {
        let mut by_key: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (id, trigger) in triggers.iter().enumerate() {
            if matches!(trigger.kind, MatchKind::Mention | MatchKind::Keyword) {
                by_key.entry(&trigger.key).or_default().push(id);
            }
        }
        let automaton = AhoCorasick::new(by_key.keys());
        if let Err(error) = &automaton {
            notes.push(format!("skipped mentions and keywords, because there are too many: {error}"));
        }
        let pattern = |(key, triggers): (&str, Vec<usize>)| WordPattern {
            first: key.chars().next().unwrap_or(' '),
            last: key.chars().next_back().unwrap_or(' '),
            triggers,
        };
        Self { automaton: automaton.ok(), patterns: by_key.into_iter().map(pattern).collect() }
    }

    /// Adds the triggers that occur in a text as whole words.
    pub(super) fn find_matches(&self, text: &str, hits: &mut BTreeSet<usize>) {
        let Some(automaton) = &self.automaton else { return };
        let text = fold_case(text);
        for found in automaton.find_overlapping_iter(&text) {
            let WordPattern { first, last, triggers } = &self.patterns[found.pattern().as_usize()];
            let before = text[..found.start()].chars().next_back();
            let after = text[found.end()..].chars().next();
            let is_whole = !before.is_some_and(|before| is_joined(before, *first))
                && !after.is_some_and(|after| is_joined(*last, after));
            if is_whole {
                hits.extend(triggers);
            }
        }
    }
}

/// Normalizes a text: case folded, accents composed, white space collapsed and trimmed.
pub(super) fn fold_case(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.chars().flat_map(fold_letter).nfc().collect()
}

/// Applies full Unicode case folding through both cases: `ß`, `ẞ` and `SS` are equal, and so are `ς` and `Σ`. Only the
/// dotless `ı` needs an exception.
fn fold_letter(letter: char) -> impl Iterator<Item = char> {
    let dotless = (letter == 'ı').then_some(letter);
    let folded = letter.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    dotless.into_iter().chain(folded.filter(move |_| dotless.is_none()))
}

/// Returns whether two adjacent characters belong to the same word.
pub(super) fn is_joined(one: char, two: char) -> bool {
    let is_word = |letter: char| names::is_letter_or_digit(letter) || is_mark(letter);
    // In every script, a mark belongs to the letter before it.
    is_word(one) && (is_mark(two) || is_word(two) && !is_unspaced(one) && !is_unspaced(two))
}

fn is_mark(letter: char) -> bool {
    !letter.is_ascii() && letter.general_category_group() == GeneralCategoryGroup::Mark
}

/// Returns whether a letter's script is written without spaces: Han, Hiragana, Thai, Lao, Burmese and Khmer.
fn is_unspaced(letter: char) -> bool {
    matches!(letter,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{309f}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_found(mention: &str, text: &str) -> bool {
        let trigger =
            SkillTrigger { entry: 0, kind: MatchKind::Mention, text: mention.to_owned(), key: fold_case(mention) };
        let mut hits = BTreeSet::new();
        WordTriggers::new(&[trigger], &mut Vec::new()).find_matches(text, &mut hits);
        !hits.is_empty()
    }

    #[test]
    fn sel_03_mentions_are_whole_words() {
        for (mention, text) in [
            ("pdf", "PDF"),
            ("pdf", "read the (pdf)."),
            ("pdf", "scan_pdf-file"),
            ("c++", "in C++11"),
            (".net", "asp.net"),
            ("c#", "a C# class"),
            ("404", "a 404, then"),
        ] {
            assert!(is_found(mention, text), "{mention:?} in {text:?}");
        }
        for (mention, text) in
            [("ocr", "a mediocre scandal"), ("scan", "a mediocre scandal"), ("pdf", "pdf2"), ("404", "1404"), ("a", "")]
        {
            assert!(!is_found(mention, text), "{mention:?} in {text:?}");
        }
    }

    #[test]
    fn sel_03_white_space_between_the_words_of_a_mention_is_free() {
        assert!(is_found("code  review", "do a Code\n\t review, please"));
        assert!(!is_found("code review", "codereview"));
        assert!(!is_found("code review", "code-review"));
    }

    #[test]
    fn sel_03_case_and_accents_are_unicodes() {
        for (mention, text) in [
            ("straße", "die STRASSE"),
            ("STRASSE", "die straße"),
            ("ὀδος", "ὈΔΟΣ"),
            ("café", "un CAFE\u{301} noir"),
            ("ﬁle", "FILE"),
            ("İ", "i\u{307}"),
        ] {
            assert!(is_found(mention, text), "{mention:?} in {text:?}");
        }
        for (mention, text) in [("cafe", "cafe\u{301}"), ("ı", "i"), ("i", "ı"), ("फॉर्म", "फॉर्मों")]
        {
            assert!(!is_found(mention, text), "{mention:?} in {text:?}");
        }
    }

    #[test]
    fn sel_03_scripts_without_spaces_are_searched_within() {
        assert!(is_found("发票", "请处理这张发票的内容"));
        assert!(is_found("pdf", "用pdf文件"));
        assert!(!is_found("データ", "データベース"));
        assert!(!is_found("ไฟล", "ไฟล์"));
    }
}
