//! A search index of any bytes behind a correct checksum is read, searched and written. What was written stays the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rep_library::search::fuzzing::{rewrite, search};

fuzz_target!(|payload: &[u8]| {
    let Some(written) = rewrite(payload) else { return };
    assert_eq!(rewrite(&written).as_deref(), Some(written.as_slice()));
    let query = String::from_utf8_lossy(&payload[..payload.len().min(64)]).into_owned();
    assert_eq!(search(payload, &query), search(&written, &query));
});
