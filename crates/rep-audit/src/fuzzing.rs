//! Verifies records from memory. Only the fuzz targets in `fuzz/` call this.

use super::verification::{self, AuditVerification};
use super::{ChainHead, Map, SystemTime};

/// Verifies the bytes of a records file against the bytes of its head file.
pub fn verify_bytes(records: &[u8], head: Option<&[u8]>) -> AuditVerification {
    let mut verdict = AuditVerification::default();
    let head = match head.map(ChainHead::parse).transpose() {
        Ok(head) => head,
        Err(reason) => {
            verdict.add_fault(0, reason);
            None
        }
    };
    verification::check_chain(records, head.as_ref(), &mut verdict).expect("reading from memory does not fail");
    verdict
}

/// Builds a record that follows the bytes a crash left after the head. Returns the bytes of the line.
pub fn append_bytes(tail: &[u8], head: &[u8]) -> Option<Vec<u8>> {
    let mut head = ChainHead::parse(head).ok()?;
    head.advance_through(tail);
    Some(head.build_next_line("start", Map::new(), SystemTime::UNIX_EPOCH))
}
