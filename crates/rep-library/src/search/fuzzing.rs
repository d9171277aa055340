//! Reads an index file from memory. Only the fuzz targets in `fuzz/` call this.

use super::document::SearchDocument;
use super::index_file::{self, HEADER_BYTES, IndexContents};
use super::ranking::SearchRanking;

/// Parses the payload of an index file and writes it again. Returns `None` if it is invalid.
pub fn rewrite_payload(payload: &[u8]) -> Option<Vec<u8>> {
    let IndexContents { vocabulary, documents } = index_file::decode_payload(payload)?;
    let documents: Vec<&SearchDocument> = documents.values().collect();
    Some(index_file::encode_index(&vocabulary.terms, &documents).split_off(HEADER_BYTES))
}

/// Searches the payload of an index file. Returns the number of skills found.
pub fn search_payload(payload: &[u8], query: &str) -> Option<usize> {
    let IndexContents { vocabulary, documents } = index_file::decode_payload(payload)?;
    let ranking = SearchRanking::new(vocabulary, documents.into_values().collect());
    Some(ranking.search(query, 10).len())
}
