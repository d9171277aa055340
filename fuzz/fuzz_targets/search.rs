//! Reads, searches and writes a search index of any bytes with a correct checksum. The written index is unchanged.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rep_library::search::fuzzing::{rewrite_payload, search_payload};

fuzz_target!(|payload: &[u8]| {
    let Some(written) = rewrite_payload(payload) else { return };
    assert_eq!(rewrite_payload(&written).as_deref(), Some(written.as_slice()));
    let query = String::from_utf8_lossy(&payload[..payload.len().min(64)]).into_owned();
    assert_eq!(search_payload(payload, &query), search_payload(&written, &query));
});
