//! Splits text into search words: folded, split as in code and names, and stemmed.

use unicode_normalization::UnicodeNormalization;

use super::stemmer::stem_word;
use super::stop_words::is_english_stop_word;

/// The maximum length of a word. Longer words are data.
const WORD_BYTES_MAX: usize = 64;

/// Returns the runs of letters and digits of a text.
pub(super) fn split_runs(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|run| !run.is_empty())
}

/// Passes every word of a run to `take`, with the text it comes from.
pub(super) fn split_run_words(run: &str, take: &mut impl FnMut(&str, String)) {
    if run.is_ascii() {
        split_western_run(run, take);
    } else {
        split_mixed_run(run, take);
    }
}

/// Returns the words of a text, in order.
pub(crate) fn split_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    split_runs(text).for_each(|run| split_run_words(run, &mut |_, word| words.push(word)));
    words
}

/// Splits a run of letters and digits of any script. Scripts without spaces are split into pairs of letters.
fn split_mixed_run(run: &str, take: &mut impl FnMut(&str, String)) {
    let mut rest = run;
    while let Some(first) = rest.chars().next() {
        let is_spaceless = is_spaceless(first);
        let end = rest.find(|letter| self::is_spaceless(letter) != is_spaceless).unwrap_or(rest.len());
        let (part, behind) = rest.split_at(end);
        if is_spaceless {
            split_letter_pairs(part, take);
        } else if part.is_ascii() {
            split_western_run(part, take);
        } else {
            // Accents are removed, because queries often omit them.
            let folded: String = part.nfkd().filter(|letter| letter.is_alphanumeric()).collect();
            split_western_run(&folded, take);
        }
        rest = behind;
    }
}

/// Returns whether a script is written without spaces between words: Han, Kana, Hangul, Thai.
fn is_spaceless(letter: char) -> bool {
    matches!(letter, '\u{0e00}'..='\u{0e7f}' | '\u{1100}'..='\u{11ff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

fn split_letter_pairs(part: &str, take: &mut impl FnMut(&str, String)) {
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

/// Returns a word and its parts, if it has any: `BlueField`, `d3js`.
fn split_western_run(run: &str, take: &mut impl FnMut(&str, String)) {
    if run.len() > WORD_BYTES_MAX {
        return;
    }
    if let Some(acronym) = strip_acronym_plural(run) {
        take_word(acronym, take);
        return;
    }
    take_word(run, take);
    let cuts = find_cuts(run);
    if cuts.is_empty() {
        return;
    }
    let mut start = 0;
    for end in cuts.into_iter().chain([run.len()]) {
        let part = &run[start..end];
        // Single letters and digits are skipped, such as `h` and `1` of `h1`.
        if part.chars().nth(1).is_some() {
            take_word(part, take);
        }
        start = end;
    }
}

/// Lower-case words that only look like the plural of an acronym.
const NOT_PLURALS: [&str; 4] = ["hdfs", "https", "ntfs", "smbfs"];

/// Returns the singular of an acronym: `PDF` of `PDFs`, `pdf` of `pdfs`. The stemmer leaves both, because they have no
/// vowel.
fn strip_acronym_plural(run: &str) -> Option<&str> {
    let acronym = run.strip_suffix('s')?;
    let is_upper = acronym.len() >= 2 && acronym.bytes().all(|byte| byte.is_ascii_uppercase());
    let is_consonant = |byte: u8| byte.is_ascii_lowercase() && !b"aeiouys".contains(&byte);
    let is_lower = acronym.len() >= 3 && acronym.bytes().all(is_consonant) && !NOT_PLURALS.contains(&run);
    (is_upper || is_lower).then_some(acronym)
}

fn take_word(word: &str, take: &mut impl FnMut(&str, String)) {
    let folded = word.to_lowercase();
    if !is_english_stop_word(&folded) {
        take(word, stem_word(&folded));
    }
}

/// Returns the boundaries between the parts of a word: from lower to upper case, before the last of several capitals,
/// and around digits.
fn find_cuts(run: &str) -> Vec<usize> {
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
        assert_eq!(split_words("getUserName"), ["getusernam", "get", "user", "name"]);
        assert_eq!(split_words("HTMLParser"), ["htmlparser", "html", "parser"]);
        assert_eq!(split_words("pdf-to_text"), ["pdf", "text"]);
        assert_eq!(split_words("d3js v6"), ["d3js", "js", "v6"]);
        assert_eq!(split_words("`foo.bar()` -> /etc/hosts"), ["foo", "bar", "etc", "host"]);
    }

    #[test]
    fn plurals_of_acronyms_are_their_singular() {
        assert_eq!(split_words("PDFs pdfs PDF APIs VMs"), ["pdf", "pdf", "pdf", "api", "vm"]);
        assert_eq!(split_words("https DNS css tls"), ["https", "dns", "css", "tls"]);
    }

    #[test]
    fn letters_are_folded_and_accents_dropped() {
        assert_eq!(split_words("Résumé ÉTUDE ﬁle"), ["resum", "etud", "file"]);
        assert_eq!(split_words("don't"), ["don"]);
    }

    #[test]
    fn scripts_without_spaces_go_in_pairs() {
        assert_eq!(split_words("列出项目"), ["列出", "出项", "项目"]);
        assert_eq!(split_words("用PDF填表"), ["用", "pdf", "填表"]);
    }

    #[test]
    fn very_long_words_are_data() {
        assert_eq!(split_words(&"x".repeat(65)), Vec::<String>::new());
    }
}
