//! Finds the known word closest to a misspelled one.

/// A sketch of every word, its letters and its length, which rules out most words without comparing them.
pub(super) struct SpellingIndex {
    sketches: Vec<(u32, u8)>,
}

impl SpellingIndex {
    pub(super) fn new<'a>(terms: impl Iterator<Item = &'a str>) -> SpellingIndex {
        SpellingIndex { sketches: terms.map(sketch_word).collect() }
    }

    /// Finds the closest word with a nonzero `uses`: fewest edits, then most used, then alphabetical.
    pub(super) fn find_nearest(&self, word: &str, terms: &[Box<str>], uses: impl Fn(u32) -> u32) -> Option<u32> {
        let (letters, length) = sketch_word(word);
        // Short words and numbers have too many close matches.
        if length < 4 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return None;
        }
        let most: u8 = if length < 7 { 1 } else { 2 };
        let mut best: Option<(usize, u32, &str, u32)> = None;
        for (number, (other, other_length)) in (0_u32..).zip(&self.sketches) {
            let differ = (letters ^ other).count_ones();
            if length.abs_diff(*other_length) > most || differ > 2 * u32::from(most) || uses(number) == 0 {
                continue;
            }
            let term = &*terms[number as usize];
            let slips = strsim::osa_distance(word, term);
            // The first letter is rarely mistyped.
            if slips > usize::from(most) || (slips > 1 && term.as_bytes().first() != word.as_bytes().first()) {
                continue;
            }
            let used = uses(number);
            let is_better = best.is_none_or(|(best_slips, best_used, best_term, _)| {
                (slips, u32::MAX - used, term) < (best_slips, u32::MAX - best_used, best_term)
            });
            if is_better {
                best = Some((slips, used, term, number));
            }
        }
        best.map(|(.., number)| number)
    }
}

/// Returns the set of a word's letters, and its length.
fn sketch_word(word: &str) -> (u32, u8) {
    let letters = word.bytes().fold(0, |set, byte| match byte {
        b'a'..=b'z' => set | 1 << (byte - b'a'),
        _ => set | 1 << 31,
    });
    (letters, u8::try_from(word.len()).unwrap_or(u8::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find_in_terms(word: &str, terms: &[&str]) -> Option<String> {
        let terms: Vec<Box<str>> = terms.iter().map(|term| Box::from(*term)).collect();
        let near = SpellingIndex::new(terms.iter().map(|term| &**term));
        near.find_nearest(word, &terms, |_| 1).map(|number| terms[number as usize].to_string())
    }

    #[test]
    fn slips_of_the_finger_are_seen_through() {
        assert_eq!(find_in_terms("kuberntes", &["kubernet", "kubernetes"]).as_deref(), Some("kubernetes"));
        assert_eq!(find_in_terms("tempalte", &["template"]).as_deref(), Some("template"));
        assert_eq!(find_in_terms("pdff", &["pdf", "docx"]).as_deref(), Some("pdf"));
    }

    #[test]
    fn what_is_too_short_or_too_far_is_left() {
        assert_eq!(find_in_terms("pfd", &["pdf"]), None);
        assert_eq!(find_in_terms("h100", &["h200"]), None);
        assert_eq!(find_in_terms("table", &["cabin"]), None);
    }
}
