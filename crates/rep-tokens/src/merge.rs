//! Byte pair encoding of a piece of text.
//!
//! A short piece is merged by the definition: the adjacent pair with the lowest rank first. That takes quadratic time,
//! so long pieces use another method. A sequence of tokens is the encoding of its bytes if and only if every adjacent
//! pair is the encoding of its own bytes. The search for such a sequence runs from left to right and backtracks at most
//! once per byte.

use crate::vocabulary::TokenVocabulary;

/// The longest piece that is merged by the definition, about the length of the longest token.
const SHORT_BYTES_MAX: usize = 128;
/// The number of cached pair results, a power of two. Repetitive text asks about the same few pairs.
const PAIR_CACHE_SLOTS: usize = 1 << 14;
const NO_RANK: u32 = u32::MAX;

/// Counts the tokens of pieces and reuses its buffers between them.
pub(crate) struct BytePairMerger {
    vocabulary: &'static TokenVocabulary,
    /// The parts of the current piece: the start of each, and the rank of its merge with the next part.
    parts: Vec<(usize, u32)>,
    /// Pairs of tokens, and whether they may be adjacent.
    pair_cache: Vec<(u32, u32, bool)>,
}

impl BytePairMerger {
    pub(crate) fn new(vocabulary: &'static TokenVocabulary) -> Self {
        Self { vocabulary, parts: Vec::new(), pair_cache: Vec::new() }
    }

    /// Counts the tokens of a piece.
    pub(crate) fn count_tokens(&mut self, piece: &[u8]) -> usize {
        if piece.len() > SHORT_BYTES_MAX {
            return self.count_long_piece(piece);
        }
        self.merge_piece(piece);
        self.parts.len() - 1
    }

    /// Merges a piece and stores the token boundaries in `parts`, with one more part at the end.
    fn merge_piece(&mut self, piece: &[u8]) {
        let vocabulary = self.vocabulary;
        let rank = |from: usize, to: usize| vocabulary.find_rank(&piece[from..to]).unwrap_or(NO_RANK);
        self.parts.clear();
        self.parts
            .extend((0..=piece.len()).map(|at| (at, if at + 2 <= piece.len() { rank(at, at + 2) } else { NO_RANK })));
        let parts = &mut self.parts;
        loop {
            let lowest = parts.iter().enumerate().min_by_key(|(index, (_, rank))| (*rank, *index));
            let Some((index, _)) = lowest.filter(|(_, (_, rank))| *rank != NO_RANK) else { return };
            parts.remove(index + 1);
            let together =
                |index: usize| parts.get(index + 2).map_or(NO_RANK, |(after, _)| rank(parts[index].0, *after));
            let (own, before) = (together(index), index.checked_sub(1).map(together));
            parts[index].1 = own;
            if let Some(before) = before {
                parts[index - 1].1 = before;
            }
        }
    }

    fn count_long_piece(&mut self, piece: &[u8]) -> usize {
        let vocabulary = self.vocabulary;
        // Marks offsets from which the rest cannot be encoded.
        let mut is_dead = vec![0_u64; piece.len() / 64 + 1];
        let mut tokens: Vec<u32> = Vec::new();
        let mut open = Vec::new();
        let (mut at, mut below) = (0, usize::MAX);
        while at < piece.len() {
            vocabulary.find_prefixes(&piece[at..], &mut open);
            let before = tokens.last().copied();
            let cut = before.map_or(0, |before| vocabulary.token_bytes(before).len());
            let next = open.iter().rev().find(|(length, rank)| {
                let end = at + length;
                let is_open = *length < below && is_dead[end / 64] >> (end % 64) & 1 == 0;
                is_open && self.can_follow(before, *rank, &piece[at - cut..end], cut)
            });
            if let Some((length, rank)) = next {
                tokens.push(*rank);
                at += length;
                below = usize::MAX;
            } else {
                is_dead[at / 64] |= 1 << (at % 64);
                let last = tokens.pop().expect("every byte is a token, so every text has an encoding");
                below = vocabulary.token_bytes(last).len();
                at -= below;
            }
        }
        tokens.len()
    }

    /// Returns whether two tokens are the encoding of their joined bytes. For the first token of a piece, returns
    /// whether it is the encoding of its own bytes.
    fn can_follow(&mut self, before: Option<u32>, token: u32, both: &[u8], cut: usize) -> bool {
        self.pair_cache.resize(PAIR_CACHE_SLOTS, (NO_RANK, NO_RANK, false));
        let first = before.unwrap_or(NO_RANK);
        let mixed = (u64::from(first) << 32 | u64::from(token)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let slot = usize::try_from(mixed >> (64 - PAIR_CACHE_SLOTS.trailing_zeros())).expect("the slots are few");
        if self.pair_cache[slot].0 == first && self.pair_cache[slot].1 == token {
            return self.pair_cache[slot].2;
        }
        self.merge_piece(both);
        let cuts = &self.parts[1..self.parts.len() - 1];
        let may = if before.is_none() { cuts.is_empty() } else { cuts.len() == 1 && cuts[0].0 == cut };
        self.pair_cache[slot] = (first, token, may);
        may
    }
}
