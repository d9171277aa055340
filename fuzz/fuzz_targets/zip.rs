//! Opens a zip archive of any bytes. Its entries stay inside the directory, are within the limits, and survive a round
//! trip.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if bytes.starts_with(b"PK") {
        rep_fuzz::check_archive(bytes, rep_archive::write_zip);
    }
});
