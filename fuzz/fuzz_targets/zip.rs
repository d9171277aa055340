//! A zip of any bytes is opened. What comes out stays inside, is bounded, and is written and opened again the same.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if bytes.starts_with(b"PK") {
        rep_fuzz::check_archive(bytes, rep_archive::write_zip);
    }
});
