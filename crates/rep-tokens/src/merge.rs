//! Byte pair encoding of one piece of text.
//!
//! A short piece is merged as the definition says: the neighbours that make the lowest rank first.
//! That is quadratic, so a long piece is encoded differently: a row of tokens is the encoding of its
//! bytes exactly where each two neighbours are the encoding of theirs, and such a row is searched
//! from left to right, turning back at most once for every byte.

use crate::vocabulary::Vocabulary;

/// The longest piece that is merged by the definition; about the longest token.
const SHORT_BYTES_MAX: usize = 128;
/// How many answers about pairs are kept, a power of two. Runs ask about few pairs again and again.
const KNOWN: usize = 1 << 14;
const NEVER: u32 = u32::MAX;

/// Counts the tokens of pieces, and keeps what it needs for that between them.
pub(crate) struct Merger {
    vocabulary: &'static Vocabulary,
    /// The parts of the piece in hand: where each starts, and the rank it would have together with its right neighbour.
    parts: Vec<(usize, u32)>,
    /// Pairs of tokens and whether they may stand side by side.
    known: Vec<(u32, u32, bool)>,
}

impl Merger {
    pub(crate) fn new(vocabulary: &'static Vocabulary) -> Self {
        Self { vocabulary, parts: Vec::new(), known: Vec::new() }
    }

    /// The tokens of a piece.
    pub(crate) fn count(&mut self, piece: &[u8]) -> usize {
        if piece.len() > SHORT_BYTES_MAX {
            return self.count_long(piece);
        }
        self.merge(piece);
        self.parts.len() - 1
    }

    /// Leaves the tokens of a piece in `parts`, with one more part at its end.
    fn merge(&mut self, piece: &[u8]) {
        let vocabulary = self.vocabulary;
        let rank = |from: usize, to: usize| vocabulary.rank(&piece[from..to]).unwrap_or(NEVER);
        self.parts.clear();
        self.parts
            .extend((0..=piece.len()).map(|at| (at, if at + 2 <= piece.len() { rank(at, at + 2) } else { NEVER })));
        let parts = &mut self.parts;
        loop {
            let lowest = parts.iter().enumerate().min_by_key(|(index, (_, rank))| (*rank, *index));
            let Some((index, _)) = lowest.filter(|(_, (_, rank))| *rank != NEVER) else { return };
            parts.remove(index + 1);
            let together = |index: usize| parts.get(index + 2).map_or(NEVER, |(after, _)| rank(parts[index].0, *after));
            let (own, before) = (together(index), index.checked_sub(1).map(together));
            parts[index].1 = own;
            if let Some(before) = before {
                parts[index - 1].1 = before;
            }
        }
    }

    fn count_long(&mut self, piece: &[u8]) -> usize {
        let vocabulary = self.vocabulary;
        // Where no encoding of the rest can start, given that the one of what is before ends there.
        let mut is_dead = vec![0_u64; piece.len() / 64 + 1];
        let mut tokens: Vec<u32> = Vec::new();
        let mut open = Vec::new();
        let (mut at, mut below) = (0, usize::MAX);
        while at < piece.len() {
            vocabulary.prefixes(&piece[at..], &mut open);
            let before = tokens.last().copied();
            let cut = before.map_or(0, |before| vocabulary.token(before).len());
            let next = open.iter().rev().find(|(length, rank)| {
                let end = at + length;
                let is_open = *length < below && is_dead[end / 64] >> (end % 64) & 1 == 0;
                is_open && self.may_follow(before, *rank, &piece[at - cut..end], cut)
            });
            if let Some((length, rank)) = next {
                tokens.push(*rank);
                at += length;
                below = usize::MAX;
            } else {
                is_dead[at / 64] |= 1 << (at % 64);
                let last = tokens.pop().expect("every text has an encoding, as every byte is a token");
                below = vocabulary.token(last).len();
                at -= below;
            }
        }
        tokens.len()
    }

    /// Whether two tokens are the encoding of their bytes; for the first of a piece, whether it is that of its own.
    fn may_follow(&mut self, before: Option<u32>, token: u32, both: &[u8], cut: usize) -> bool {
        self.known.resize(KNOWN, (NEVER, NEVER, false));
        let first = before.unwrap_or(NEVER);
        let mixed = (u64::from(first) << 32 | u64::from(token)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let slot = usize::try_from(mixed >> (64 - KNOWN.trailing_zeros())).expect("the slots are few");
        if self.known[slot].0 == first && self.known[slot].1 == token {
            return self.known[slot].2;
        }
        self.merge(both);
        let cuts = &self.parts[1..self.parts.len() - 1];
        let may = if before.is_none() { cuts.is_empty() } else { cuts.len() == 1 && cuts[0].0 == cut };
        self.known[slot] = (first, token, may);
        may
    }
}
