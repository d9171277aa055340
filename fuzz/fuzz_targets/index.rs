//! Reads an index of any bytes as if it came from the URL in the first line. All its entries are on that server.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rep_package::index::{self, SkillDownload};

fuzz_target!(|bytes: &[u8]| {
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else { return };
    let Ok(url) = std::str::from_utf8(&bytes[..end]) else { return };
    // The user or a configuration provides the URL; only the index is untrusted.
    if url.chars().any(|letter| letter.is_control() || letter == ' ' || letter == '\\') {
        return;
    }
    let _ = index::list_candidate_urls(url);
    let Ok((skills, _)) = index::parse(&bytes[end + 1..], url) else { return };
    for skill in skills {
        assert!(index::is_skill_name(&skill.name), "{:?}", skill.name);
        match skill.download {
            SkillDownload::Manifest(address, digest) | SkillDownload::Archive(address, digest) => {
                check_address(&address, url);
                assert_eq!(digest.len(), "sha256:".len() + 64);
            }
            SkillDownload::Files(files) => {
                for (path, address) in files {
                    check_address(&address, url);
                    assert!(path.split('/').all(|part| !matches!(part, "" | "." | "..")), "{path:?}");
                }
            }
        }
    }
});

fn check_address(address: &str, url: &str) {
    assert_eq!(index::server_origin(address), index::server_origin(url), "{address:?}");
    assert!(index::server_origin(address).is_some());
    assert!(!address.chars().any(|letter| letter.is_control() || letter == ' ' || letter == '\\'), "{address:?}");
}
