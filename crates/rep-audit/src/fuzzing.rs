//! Verifies records from memory. Only the fuzz targets in `fuzz/` call this.

use super::verify::{self, Verdict};
use super::{Head, Map, SystemTime};

/// Verifies the bytes of a file of records against the bytes of its head.
pub fn verify_bytes(records: &[u8], head: Option<&[u8]>) -> Verdict {
    let mut verdict = Verdict::default();
    let head = match head.map(Head::parse).transpose() {
        Ok(head) => head,
        Err(reason) => {
            verdict.fault(0, reason);
            None
        }
    };
    verify::check_chain(records, head.as_ref(), &mut verdict).expect("reading from memory does not fail");
    verdict
}

/// Appends a record behind what a crash left: the bytes behind the head. Returns the bytes of the line.
pub fn append_bytes(tail: &[u8], head: &[u8]) -> Option<Vec<u8>> {
    let mut head = Head::parse(head).ok()?;
    head.follow(tail);
    Some(head.line("start", Map::new(), SystemTime::UNIX_EPOCH))
}
