//! Reads an index file from memory. Only the fuzz targets in `fuzz/` call this.

use super::document::Document;
use super::rank::Ranking;
use super::store::{self, HEADER, Held};

/// Reads what follows the header of an index file, and writes it again. Returns `None` where it is not sound.
pub fn rewrite(payload: &[u8]) -> Option<Vec<u8>> {
    let Held { vocabulary, documents } = store::decode_payload(payload)?;
    let documents: Vec<&Document> = documents.values().collect();
    Some(store::encode(&vocabulary.terms, &documents).split_off(HEADER))
}

/// Searches what follows the header of an index file. Returns how many of its skills were found.
pub fn search(payload: &[u8], query: &str) -> Option<usize> {
    let Held { vocabulary, documents } = store::decode_payload(payload)?;
    let ranking = Ranking::new(vocabulary, documents.into_values().collect());
    Some(ranking.search(query, 10).len())
}
