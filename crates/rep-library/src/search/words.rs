//! Text into words to search by: folded, split the way people write code and names, and stemmed.

use unicode_normalization::UnicodeNormalization;

use super::stem::stem;

/// Words that say nothing about what a skill is for, sorted.
const STOP_WORDS: [&str; 80] = [
    "a", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "do", "does", "for", "from", "had", "has",
    "have", "he", "her", "his", "how", "i", "if", "in", "into", "is", "it", "its", "let", "ll", "me", "my", "no",
    "not", "of", "on", "or", "our", "out", "please", "re", "s", "she", "should", "so", "such", "t", "than", "that",
    "the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "too", "us", "ve", "was", "we",
    "were", "what", "when", "where", "which", "who", "why", "will", "with", "would", "yes", "yet", "you", "your",
    "yours",
];

/// The longest word that is one: what is longer is data, not language.
const WORD_BYTES_MAX: usize = 64;

/// The runs of letters and digits of a text.
pub(super) fn runs(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|run| !run.is_empty())
}

/// Hands every word of a run to `take`, with the text it was made from.
pub(super) fn of_run(run: &str, take: &mut impl FnMut(&str, String)) {
    if run.is_ascii() {
        western(run, take);
    } else {
        mixed(run, take);
    }
}

/// The words of a text in order.
pub(crate) fn list(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    runs(text).for_each(|run| of_run(run, &mut |_, word| words.push(word)));
    words
}

/// A run of letters and digits of any script: what is written without spaces goes in pairs of letters.
fn mixed(run: &str, take: &mut impl FnMut(&str, String)) {
    let mut rest = run;
    while let Some(first) = rest.chars().next() {
        let is_spaceless = is_spaceless(first);
        let end = rest.find(|letter| self::is_spaceless(letter) != is_spaceless).unwrap_or(rest.len());
        let (part, behind) = rest.split_at(end);
        if is_spaceless {
            pairs(part, take);
        } else if part.is_ascii() {
            western(part, take);
        } else {
            // Accents are dropped: people leave them out when they ask.
            let folded: String = part.nfkd().filter(|letter| letter.is_alphanumeric()).collect();
            western(&folded, take);
        }
        rest = behind;
    }
}

/// Whether a script is written without spaces between words: Han, Kana, Hangul, Thai.
fn is_spaceless(letter: char) -> bool {
    matches!(letter, '\u{0e00}'..='\u{0e7f}' | '\u{1100}'..='\u{11ff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

fn pairs(part: &str, take: &mut impl FnMut(&str, String)) {
    let starts: Vec<usize> = part.char_indices().map(|(at, _)| at).chain([part.len()]).collect();
    match starts.as_slice() {
        [_, _] => take(part, part.to_owned()),
        _ => {
            for three in starts.windows(3) {
                let pair = &part[three[0]..three[2]];
                take(pair, pair.to_owned());
            }
        }
    }
}

/// A word as a whole, and its parts where it has some: `BlueField`, `d3js`.
fn western(run: &str, take: &mut impl FnMut(&str, String)) {
    if run.len() > WORD_BYTES_MAX {
        return;
    }
    one(run, take);
    let cuts = cuts(run);
    if cuts.is_empty() {
        return;
    }
    let mut start = 0;
    for end in cuts.into_iter().chain([run.len()]) {
        let part = &run[start..end];
        // Lone letters and digits say nothing: `h` and `1` of `h1`.
        if part.chars().nth(1).is_some() {
            one(part, take);
        }
        start = end;
    }
}

fn one(word: &str, take: &mut impl FnMut(&str, String)) {
    let folded = word.to_lowercase();
    if STOP_WORDS.binary_search(&folded.as_str()).is_err() {
        take(word, stem(&folded));
    }
}

/// Where a word is made of parts: between small and capital, before the last of several capitals, around digits.
fn cuts(run: &str) -> Vec<usize> {
    let letters: Vec<(usize, char)> = run.char_indices().collect();
    let mut cuts = Vec::new();
    for at in 1..letters.len() {
        let (before, here) = (letters[at - 1].1, letters[at].1);
        let next = letters.get(at + 1).map(|(_, letter)| *letter);
        let is_hump = before.is_lowercase() && here.is_uppercase();
        let is_last_capital = before.is_uppercase() && here.is_uppercase() && next.is_some_and(char::is_lowercase);
        if is_hump || is_last_capital || before.is_numeric() != here.is_numeric() {
            cuts.push(letters[at].0);
        }
    }
    cuts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_split_the_way_it_is_written() {
        assert_eq!(list("getUserName"), ["getusernam", "get", "user", "name"]);
        assert_eq!(list("HTMLParser"), ["htmlparser", "html", "parser"]);
        assert_eq!(list("pdf-to_text"), ["pdf", "text"]);
        assert_eq!(list("d3js v6"), ["d3js", "js", "v6"]);
        assert_eq!(list("`foo.bar()` -> /etc/hosts"), ["foo", "bar", "etc", "host"]);
    }

    #[test]
    fn letters_are_folded_and_accents_dropped() {
        assert_eq!(list("Résumé ÉTUDE ﬁle"), ["resum", "etud", "file"]);
        assert_eq!(list("don't"), ["don"]);
    }

    #[test]
    fn scripts_without_spaces_go_in_pairs() {
        assert_eq!(list("列出项目"), ["列出", "出项", "项目"]);
        assert_eq!(list("用PDF填表"), ["用", "pdf", "填表"]);
    }

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
    }

    #[test]
    fn very_long_words_are_data() {
        assert_eq!(list(&"x".repeat(65)), Vec::<String>::new());
    }
}
