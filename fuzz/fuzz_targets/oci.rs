//! Reads manifests, challenges, references and ranges of registries from any bytes. What is written can be read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rep_net::oci::{OciManifest, OciReference, parse_challenges};
use rep_package::version_range::{VersionRange, parse_version};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(manifest) = OciManifest::parse(bytes) {
        assert_eq!(OciManifest::parse(&manifest.to_bytes()), Ok(manifest));
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    assert!(parse_challenges(text).len() <= text.len());
    if let Ok(reference) = OciReference::parse(text) {
        assert_eq!(OciReference::parse(&reference.to_string()), Ok(reference));
    }
    if let (Ok(range), Some(version)) = (VersionRange::parse(text), parse_version("1.2.3-rc.1")) {
        let _ = range.contains(&version);
        assert_eq!(VersionRange::parse(&range.to_string()), Ok(range));
    }
});
