//! Opens a tar archive of any bytes. Its entries stay inside the directory, are within the limits, and survive a round
//! trip.
//!
//! Bytes that start like gzip are opened unchanged. Others are the tar inside: headers get their checksum and the
//! archive is compressed, because random changes pass neither of the two checks.
#![no_main]

use std::io::Write;

use flate2::{Compression, write::GzEncoder};
use libfuzzer_sys::fuzz_target;

const BLOCK: usize = 512;

fuzz_target!(|bytes: &[u8]| {
    if bytes.starts_with(&[0x1f, 0x8b]) {
        rep_fuzz::check_archive(bytes, rep_archive::write_tar_gz);
        return;
    }
    let mut tar = bytes.to_vec();
    tar.resize(bytes.len().next_multiple_of(BLOCK), 0);
    write_checksums(&mut tar);
    let mut stream = GzEncoder::new(Vec::new(), Compression::none());
    stream.write_all(&tar).expect("writing to memory does not fail");
    rep_fuzz::check_archive(&stream.finish().expect("writing to memory does not fail"), rep_archive::write_tar_gz);
});

/// Visits the headers by the sizes in them, and corrects each checksum.
fn write_checksums(tar: &mut [u8]) {
    let mut at = 0;
    while let Some(header) = tar.get_mut(at..at + BLOCK) {
        if header.iter().all(|byte| *byte == 0) {
            return;
        }
        header[148..156].copy_from_slice(b"        ");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        let digits = String::from_utf8_lossy(&header[124..136]).trim_matches(['\0', ' ']).to_owned();
        let size = usize::from_str_radix(&digits, 8).unwrap_or(0);
        at = at.saturating_add(BLOCK).saturating_add(size.min(1 << 20).next_multiple_of(BLOCK));
    }
}
