//! Counts the tokens of a text exactly as the tokenizer [`NAME`] does.
//!
//! The vocabulary is embedded in the binary and indexed on the first call, so programs that do not count tokens pay
//! nothing. The text is split into pieces by the tokenizer's pattern (`pretokenizer`). Each piece is looked up
//! (`vocabulary`) or merged (`merge`). Time and memory are linear in the length of the text. Special tokens such as
//! `<|endoftext|>` are counted as plain text.
//!
//! ```
//! assert_eq!(rep_tokens::count("Fills PDF forms."), 5);
//! assert_eq!(rep_tokens::NAME, "o200k_base");
//! ```

mod merge;
mod pretokenizer;
mod vocabulary;

use merge::BytePairMerger;
use pretokenizer::Pretokens;
use vocabulary::TokenVocabulary;

/// The tokenizer's official name. The counts of other models differ, mostly by less than 20%.
pub const NAME: &str = "o200k_base";

/// Counts the tokens of a text.
pub fn count(text: &str) -> usize {
    let vocabulary = TokenVocabulary::get();
    let mut merger = BytePairMerger::new(vocabulary);
    let tokens = |piece: &str| match vocabulary.find_rank(piece.as_bytes()) {
        Some(_) => 1,
        None => merger.count_tokens(piece.as_bytes()),
    };
    Pretokens::new(text).map(tokens).sum()
}
