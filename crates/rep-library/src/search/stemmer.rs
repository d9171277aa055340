//! The English stemmer ("Porter 2" of Snowball), so that "deploying" finds "deployment".
//!
//! It is implemented here because it is small, and existing crates add twenty other languages and a serialization
//! framework.

/// Words that the rules would stem incorrectly.
const EXCEPTIONS: [(&[u8], &str); 18] = [
    (b"skis", "ski"),
    (b"skies", "sky"),
    (b"dying", "die"),
    (b"lying", "lie"),
    (b"tying", "tie"),
    (b"idly", "idl"),
    (b"gently", "gentl"),
    (b"ugly", "ugli"),
    (b"early", "earli"),
    (b"only", "onli"),
    (b"singly", "singl"),
    (b"sky", "sky"),
    (b"news", "news"),
    (b"howe", "howe"),
    (b"atlas", "atlas"),
    (b"cosmos", "cosmos"),
    (b"bias", "bias"),
    (b"andes", "andes"),
];

/// Words that do not change after their plural is removed.
const INVARIANT_WORDS: [&[u8]; 8] =
    [b"inning", b"outing", b"canning", b"herring", b"earring", b"proceed", b"exceed", b"succeed"];

/// Suffixes replaced in the first region. Among suffixes with a common ending, the longest comes first.
const STEP_2: [(&str, &str); 24] = [
    ("ization", "ize"),
    ("ational", "ate"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("iveness", "ive"),
    ("tional", "tion"),
    ("biliti", "ble"),
    ("lessli", "less"),
    ("entli", "ent"),
    ("ation", "ate"),
    ("alism", "al"),
    ("aliti", "al"),
    ("ousli", "ous"),
    ("iviti", "ive"),
    ("fulli", "ful"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("abli", "able"),
    ("izer", "ize"),
    ("ator", "ate"),
    ("alli", "al"),
    ("bli", "ble"),
    ("ogi", "og"),
    ("li", ""),
];

const STEP_3: [(&str, &str); 9] = [
    ("ational", "ate"),
    ("tional", "tion"),
    ("alize", "al"),
    ("icate", "ic"),
    ("iciti", "ic"),
    ("ative", ""),
    ("ical", "ic"),
    ("ness", ""),
    ("ful", ""),
];

const STEP_4: [&str; 18] = [
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize", "ion",
    "al", "er", "ic",
];

/// Returns the stem of a word of lower-case ASCII letters. Any other word is its own stem.
pub(super) fn stem_word(word: &str) -> String {
    if word.len() <= 2 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word.to_owned();
    }
    if let Some((_, stem)) = EXCEPTIONS.iter().find(|(known, _)| *known == word.as_bytes()) {
        return (*stem).to_owned();
    }
    let mut word = WordStemmer::new(word);
    word.strip_plural();
    if !INVARIANT_WORDS.contains(&word.letters.as_slice()) {
        word.strip_past_and_progressive();
        word.replace_final_y();
        word.step_2();
        word.step_3();
        word.step_4();
        word.step_5();
    }
    word.letters.iter().map(|letter| char::from(letter.to_ascii_lowercase())).collect()
}

struct WordStemmer {
    /// Lower-case letters. A consonant `y` is written as `Y`.
    letters: Vec<u8>,
    /// The start of the first and the second region.
    r1: usize,
    r2: usize,
}

fn is_vowel(letter: u8) -> bool {
    matches!(letter, b'a' | b'e' | b'i' | b'o' | b'u' | b'y')
}

impl WordStemmer {
    fn new(text: &str) -> Self {
        let mut letters = text.as_bytes().to_vec();
        for at in 0..letters.len() {
            if letters[at] == b'y' && (at == 0 || is_vowel(letters[at - 1])) {
                letters[at] = b'Y';
            }
        }
        let known = ["gener", "commun", "arsen"].iter().find(|start| text.starts_with(**start));
        let r1 = known.map_or_else(|| find_region(&letters, 0), |start| start.len());
        let r2 = find_region(&letters, r1);
        Self { letters, r1, r2 }
    }

    fn ends_with(&self, suffix: &str) -> bool {
        self.letters.ends_with(suffix.as_bytes())
    }

    /// Returns the start of a suffix of this length.
    fn suffix_start(&self, length: usize) -> usize {
        self.letters.len().saturating_sub(length)
    }

    fn cut_suffix(&mut self, length: usize) {
        self.letters.truncate(self.suffix_start(length));
    }

    fn replace_suffix(&mut self, suffix: &str, by: &str) {
        self.cut_suffix(suffix.len());
        self.letters.extend_from_slice(by.as_bytes());
    }

    fn has_vowel_before(&self, end: usize) -> bool {
        self.letters[..end].iter().any(|letter| is_vowel(*letter))
    }

    /// Returns whether the letters up to `end` end in a short syllable.
    fn is_short_syllable(&self, end: usize) -> bool {
        let at = |back: usize| self.letters[end - back];
        match end {
            0 | 1 => false,
            2 => is_vowel(at(2)) && !is_vowel(at(1)),
            _ => !is_vowel(at(3)) && is_vowel(at(2)) && !is_vowel(at(1)) && !matches!(at(1), b'w' | b'x' | b'Y'),
        }
    }

    fn strip_plural(&mut self) {
        if self.ends_with("sses") {
            self.cut_suffix(2);
        } else if self.ends_with("ied") || self.ends_with("ies") {
            let left = if self.letters.len() > 4 { 2 } else { 1 };
            self.cut_suffix(left);
        } else if self.ends_with("s")
            && !self.ends_with("us")
            && !self.ends_with("ss")
            && self.has_vowel_before(self.suffix_start(2))
        {
            self.cut_suffix(1);
        }
    }

    fn strip_past_and_progressive(&mut self) {
        if let Some(suffix) = ["eedly", "eed"].into_iter().find(|suffix| self.ends_with(suffix)) {
            if self.suffix_start(suffix.len()) >= self.r1 {
                self.replace_suffix(suffix, "ee");
            }
            return;
        }
        let Some(suffix) = ["ingly", "edly", "ing", "ed"].into_iter().find(|suffix| self.ends_with(suffix)) else {
            return;
        };
        if !self.has_vowel_before(self.suffix_start(suffix.len())) {
            return;
        }
        self.cut_suffix(suffix.len());
        let doubled = ["bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt"];
        if ["at", "bl", "iz"].iter().any(|end| self.ends_with(end)) {
            self.letters.push(b'e');
        } else if doubled.iter().any(|end| self.ends_with(end)) {
            self.cut_suffix(1);
        } else if self.r1 >= self.letters.len() && self.is_short_syllable(self.letters.len()) {
            self.letters.push(b'e');
        }
    }

    fn replace_final_y(&mut self) {
        if let [_, .., before, last @ (b'y' | b'Y')] = self.letters.as_mut_slice()
            && !is_vowel(*before)
        {
            *last = b'i';
        }
    }

    fn step_2(&mut self) {
        let Some((suffix, by)) = STEP_2.into_iter().find(|(suffix, _)| self.ends_with(suffix)) else { return };
        let start = self.suffix_start(suffix.len());
        if start < self.r1 {
            return;
        }
        let before = start.checked_sub(1).map(|at| self.letters[at]);
        let may = match suffix {
            "ogi" => before == Some(b'l'),
            "li" => before.is_some_and(|letter| b"cdeghkmnrt".contains(&letter)),
            _ => true,
        };
        if may {
            self.replace_suffix(suffix, by);
        }
    }

    fn step_3(&mut self) {
        let Some((suffix, by)) = STEP_3.into_iter().find(|(suffix, _)| self.ends_with(suffix)) else { return };
        let least = if suffix == "ative" { self.r2 } else { self.r1 };
        if self.suffix_start(suffix.len()) >= least {
            self.replace_suffix(suffix, by);
        }
    }

    fn step_4(&mut self) {
        let Some(suffix) = STEP_4.into_iter().find(|suffix| self.ends_with(suffix)) else { return };
        let start = self.suffix_start(suffix.len());
        let may = suffix != "ion" || (start > 0 && matches!(self.letters[start - 1], b's' | b't'));
        if start >= self.r2 && may {
            self.cut_suffix(suffix.len());
        }
    }

    fn step_5(&mut self) {
        let start = self.suffix_start(1);
        let is_cut = match self.letters.last() {
            Some(b'e') => start >= self.r2 || (start >= self.r1 && !self.is_short_syllable(start)),
            Some(b'l') => start >= self.r2 && start > 0 && self.letters[start - 1] == b'l',
            _ => false,
        };
        if is_cut {
            self.cut_suffix(1);
        }
    }
}

/// Returns the start of the region after the first consonant that follows a vowel.
fn find_region(letters: &[u8], from: usize) -> usize {
    let pairs = from + 1..letters.len();
    pairs.into_iter().find(|at| !is_vowel(letters[*at]) && is_vowel(letters[at - 1])).map_or(letters.len(), |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for (one, other) in [
            ("deploying", "deploy"),
            ("deployed", "deploys"),
            ("queries", "query"),
            ("optimization", "optimize"),
            ("running", "run"),
            ("generation", "generated"),
            ("validating", "validation"),
            ("hopping", "hop"),
        ] {
            assert_eq!(stem_word(one), stem_word(other), "{one} and {other}");
        }
    }

    #[test]
    fn stems_are_those_of_the_published_algorithm() {
        for (word, expected) in [
            ("consignment", "consign"),
            ("consolingly", "consol"),
            ("conspicuously", "conspicu"),
            ("knightly", "knight"),
            ("kneeling", "kneel"),
            ("generically", "generic"),
            ("communism", "communism"),
            ("skies", "sky"),
            ("bodily", "bodili"),
            ("yes", "yes"),
            ("says", "say"),
            ("youth", "youth"),
            ("ties", "tie"),
            ("cries", "cri"),
            ("gas", "gas"),
            ("gaps", "gap"),
            ("hoping", "hope"),
            ("luxuriated", "luxuri"),
            ("ability", "abil"),
            ("as", "as"),
            ("h100", "h100"),
            ("größe", "größe"),
        ] {
            assert_eq!(stem_word(word), expected, "{word}");
        }
    }
}
