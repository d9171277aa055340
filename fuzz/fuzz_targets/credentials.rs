//! Reads files with credentials, answers of credential helpers and what registries ask for from any bytes. A helper is always
//! a plain name, and credentials of one host are for no other.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rep_net::oci::{AuthChallenge, CredentialConfig, CredentialSource, parse_challenges, parse_helper_answer};

fuzz_target!(|bytes: &[u8]| {
    let _ = parse_helper_answer(bytes);
    if let Some(config) = CredentialConfig::parse(bytes) {
        for host in ["r.example", "r.example:5000", "docker.io"] {
            for source in config.list_sources(host).into_iter().flatten() {
                if let CredentialSource::Helper { name, key } = source {
                    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
                    assert!(!name.is_empty() && name.bytes().all(is_plain), "{name:?}");
                    assert!(key.contains(host) || key.contains("index.docker.io"), "{key:?}");
                }
            }
        }
        // Credentials for a host are found only if the file names it. JSON can write a letter as an escape.
        let text = String::from_utf8_lossy(bytes);
        let stored = config.list_sources("unlikely-host-name.example").into_iter().flatten();
        let count = stored.filter(|source| matches!(source, CredentialSource::Stored(_))).count();
        assert!(count == 0 || text.contains("nlikely") || text.contains('\\'));
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for challenge in parse_challenges(text) {
        if let AuthChallenge::Bearer { realm, .. } = challenge {
            assert!(realm.len() <= text.len());
        }
    }
});
