//! An index of any bytes is read as if it came from the address in the first line. All it names lies at that server.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rep_package::index::{self, Fetched};

fuzz_target!(|bytes: &[u8]| {
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else { return };
    let Ok(url) = std::str::from_utf8(&bytes[..end]) else { return };
    // The user or a configuration gives the address; only the index is foreign.
    if url.chars().any(|letter| letter.is_control() || letter == ' ' || letter == '\\') {
        return;
    }
    let _ = index::candidates(url);
    let Ok((skills, _)) = index::parse(&bytes[end + 1..], url) else { return };
    for skill in skills {
        assert!(index::is_name(&skill.name), "{:?}", skill.name);
        match skill.fetched {
            Fetched::Manifest(address, digest) | Fetched::Archive(address, digest) => {
                check_address(&address, url);
                assert_eq!(digest.len(), "sha256:".len() + 64);
            }
            Fetched::Files(files) => {
                for (path, address) in files {
                    check_address(&address, url);
                    assert!(path.split('/').all(|part| !matches!(part, "" | "." | "..")), "{path:?}");
                }
            }
        }
    }
});

fn check_address(address: &str, url: &str) {
    assert_eq!(index::server(address), index::server(url), "{address:?}");
    assert!(index::server(address).is_some());
    assert!(!address.chars().any(|letter| letter.is_control() || letter == ' ' || letter == '\\'), "{address:?}");
}
