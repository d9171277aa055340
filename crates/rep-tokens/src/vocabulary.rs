//! The tokens there are, and the rank of each: the lower, the earlier it is merged.

use std::sync::OnceLock;

/// Every token in order of rank: one byte of length, then its bytes. `bench/tokens` makes this file.
static TABLE: &[u8] = include_bytes!("o200k_base.bin");

/// How many tokens the table holds.
const TOKENS: usize = 199_998;
/// Twice as many slots as tokens and more, so that chains stay short.
const SLOTS_BITS: u32 = 19;
/// The bits of a slot that hold a rank; the others hold a part of the hash.
const RANK_BITS: u32 = 18;
const RANK_MASK: u32 = (1 << RANK_BITS) - 1;
const EMPTY: u32 = u32::MAX;

/// The tokens, indexed.
pub(crate) struct Vocabulary {
    /// Where the bytes of each token start in the table; its length stands before them.
    starts: Vec<u32>,
    slots: Vec<u32>,
    /// The length of the longest token that starts with two bytes.
    longest: Vec<u8>,
}

impl Vocabulary {
    /// The vocabulary, indexed by whoever comes first.
    pub(crate) fn get() -> &'static Vocabulary {
        static VOCABULARY: OnceLock<Vocabulary> = OnceLock::new();
        VOCABULARY.get_or_init(Vocabulary::index)
    }

    fn index() -> Vocabulary {
        let mut vocabulary = Vocabulary {
            starts: Vec::with_capacity(TOKENS),
            slots: vec![EMPTY; 1 << SLOTS_BITS],
            longest: vec![1; 1 << 16],
        };
        let mut at = 0;
        while at < TABLE.len() {
            let token = &TABLE[at + 1..=at + usize::from(TABLE[at])];
            let rank = narrow(vocabulary.starts.len());
            vocabulary.starts.push(narrow(at + 1));
            if let [first, second, ..] = *token {
                let longest = &mut vocabulary.longest[usize::from(u16::from_le_bytes([first, second]))];
                *longest = TABLE[at].max(*longest);
            }
            let hash = token.iter().fold(Hash::START, |hash, byte| hash.with(*byte));
            let mut slot = hash.slot();
            while vocabulary.slots[slot] != EMPTY {
                slot = (slot + 1) % vocabulary.slots.len();
            }
            vocabulary.slots[slot] = hash.tag() | rank;
            at += 1 + token.len();
        }
        vocabulary
    }

    /// The rank of some bytes, where they are a token.
    pub(crate) fn rank(&self, bytes: &[u8]) -> Option<u32> {
        if bytes.len() > self.longest(bytes) {
            return None;
        }
        self.find(bytes, bytes.iter().fold(Hash::START, |hash, byte| hash.with(*byte)))
    }

    /// The tokens some bytes start with, as length and rank, the shortest first. Every single byte is a token.
    pub(crate) fn prefixes(&self, bytes: &[u8], found: &mut Vec<(usize, u32)>) {
        found.clear();
        let mut hash = Hash::START;
        for (at, byte) in bytes.iter().take(self.longest(bytes)).enumerate() {
            hash = hash.with(*byte);
            if let Some(rank) = self.find(&bytes[..=at], hash) {
                found.push((at + 1, rank));
            }
        }
    }

    /// The bytes of a token.
    pub(crate) fn token(&self, rank: u32) -> &'static [u8] {
        let start = self.starts[rank as usize] as usize;
        &TABLE[start..start + usize::from(TABLE[start - 1])]
    }

    /// How long a token at the start of some bytes can be. Most texts end here, without a look at the slots.
    fn longest(&self, bytes: &[u8]) -> usize {
        match *bytes {
            [first, second, ..] => usize::from(self.longest[usize::from(u16::from_le_bytes([first, second]))]),
            _ => bytes.len(),
        }
    }

    fn find(&self, bytes: &[u8], hash: Hash) -> Option<u32> {
        let mut slot = hash.slot();
        loop {
            let held = self.slots[slot];
            if held == EMPTY {
                return None;
            }
            let rank = held & RANK_MASK;
            if held & !RANK_MASK == hash.tag() && self.token(rank) == bytes {
                return Some(rank);
            }
            slot = (slot + 1) % self.slots.len();
        }
    }
}

/// FNV-1a, because it grows with a text byte by byte: the hashes of all prefixes cost one pass.
#[derive(Clone, Copy)]
struct Hash(u64);

impl Hash {
    const START: Hash = Hash(0xcbf2_9ce4_8422_2325);

    fn with(self, byte: u8) -> Hash {
        Hash((self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    }

    fn slot(self) -> usize {
        // The low bits of the product alone see too little of the text.
        let mixed = (self.0 ^ (self.0 >> 32)) & ((1 << SLOTS_BITS) - 1);
        usize::try_from(mixed).expect("the slots are few")
    }

    fn tag(self) -> u32 {
        // All ones would make the last rank look like an empty slot.
        ((self.0 >> 40) as u32 & 0x1fff) << RANK_BITS
    }
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).expect("the table is much smaller than 4 GiB")
}
