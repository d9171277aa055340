//! Says how well a skill fits a request, from 0 to 1, independently of the other skills of the library.
//!
//! Points of the ranking depend on the library: a word that few skills use counts more. They order skills, but mean
//! nothing by themselves. The fit is the share of a request's most telling words that the skill explains. How telling a
//! word is comes from a table of common words, so the same skill has the same fit in every library.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::document::{SearchDocument, SearchField};

/// Word stems by how common they are among public skills. Each line is half as common as the second line before it.
const COMMON_WORDS: &str = include_str!("common_words.txt");
/// The share of skills that use a word that is not in the table.
const RARE_SHARE: f64 = 0.001;
/// The number of words that a skill has to explain. Long requests contain much that no skill mentions.
const TELLING_WORDS: usize = 8;
/// How well a field explains a word by using it once: a description says what a skill is for, a body much else.
const FIELD_VALUES: [f64; 5] = [1.0, 1.0, 1.0, 0.6, 0.5];
/// The weight of a name that the request contains, relative to its words.
const NAME_SHARE: f64 = 0.5;

/// A distinct word of a request.
pub(super) struct RequestWord {
    /// The number of the word in the library, or `None` if no skill uses it.
    pub(super) term: Option<u32>,
    /// How telling the word is.
    pub(super) weight: f64,
    /// How certain the word is: less than 1 if it only resembles the written one.
    pub(super) certainty: f64,
}

/// Returns how telling a stem is.
pub(super) fn weigh_word(stem: &str) -> f64 {
    static WEIGHTS: OnceLock<HashMap<&str, f64>> = OnceLock::new();
    let weigh = |share: f64| (1.0 + (1.0 - share) / (share + RARE_SHARE)).ln();
    let weights = WEIGHTS.get_or_init(|| {
        let lines = (0_u8..).zip(COMMON_WORDS.lines());
        let levels = lines.map(|(line, words)| (words, weigh((-f64::from(line) / 2.0 - 0.25).exp2())));
        levels.flat_map(|(words, weight)| words.split(' ').map(move |word| (word, weight))).collect()
    });
    weights.get(stem).copied().unwrap_or_else(|| weigh(0.0))
}

/// Computes how well a document fits a request. `saturation` is the ranking's value of each word in the document, from
/// 0 to 1, and `name_weights` weighs the words of its name.
pub(super) fn compute_fit(
    words: &[RequestWord],
    document: &SearchDocument,
    saturation: impl Fn(u32) -> f64,
    name_weights: &[(u32, f64)],
) -> f64 {
    let mut weights: Vec<f64> = words.iter().map(|word| word.weight).collect();
    weights.sort_by(|one, two| two.total_cmp(one));
    let whole: f64 = weights.iter().take(TELLING_WORDS).sum();
    if whole <= 0.0 {
        return 0.0;
    }
    let mut explained = 0.0;
    for word in words {
        let Some(term) = word.term else { continue };
        let fields = SearchField::ALL.into_iter().filter(|field| document.field_words(*field).contains(&term));
        let value = fields.map(|field| FIELD_VALUES[field as usize]).fold(0.0, f64::max);
        explained += word.weight * word.certainty * (value + saturation(term)) / 2.0;
    }
    let name: f64 = name_weights.iter().map(|(_, weight)| weight).sum();
    let is_asked = |term: u32| words.iter().any(|word| word.term == Some(term));
    let shared: f64 = name_weights.iter().filter(|(term, _)| is_asked(*term)).map(|(_, weight)| weight).sum();
    if shared > 0.0 {
        explained += NAME_SHARE * shared * shared / name;
    }
    (explained / whole).min(1.0)
}
