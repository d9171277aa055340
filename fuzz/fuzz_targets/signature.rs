//! Reads bundles, signed statements, certificates and keys from any bytes. Nothing that no key signed is accepted.
#![no_main]

use std::collections::BTreeMap;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use rep_package::signers::TrustedSigners;
use rep_signature::model_signing::SignedFiles;
use rep_signature::{Certificate, PrivateKey, PublicKey, SignatureBundle, TrustRoot};

fn unused_key() -> &'static PublicKey {
    static KEY: OnceLock<PublicKey> = OnceLock::new();
    KEY.get_or_init(|| PrivateKey::generate().expect("there are random numbers").0.public_key().clone())
}

fuzz_target!(|bytes: &[u8]| {
    if let Ok(bundle) = SignatureBundle::parse(bytes) {
        assert!(bundle.verify(&TrustRoot::Key(unused_key().clone())).is_err());
        assert!(bundle.verify(&TrustRoot::Certificates(Vec::new())).is_err());
        let _ = bundle.claimed_identity();
        let _ = SignedFiles::parse(&bundle.payload);
    }
    if let Ok(signed) = SignedFiles::parse(bytes) {
        let missing = signed.compare(&BTreeMap::new());
        assert_eq!(missing.len(), signed.files.len());
    }
    if let Ok(certificate) = Certificate::from_der(bytes) {
        let _ = certificate.public_key();
        let parsed = Certificate::parse_pem(&certificate.to_pem()).expect("what is written can be read");
        assert_eq!(parsed, [certificate]);
    }
    if let Ok(key) = PublicKey::from_der(bytes) {
        assert_eq!(PublicKey::parse_pem(&key.to_pem()), Ok(key));
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = Certificate::parse_pem(text);
    let _ = PublicKey::parse_pem(text);
    let _ = PrivateKey::parse_pem(text);
    let _ = TrustedSigners::parse(bytes);
});
