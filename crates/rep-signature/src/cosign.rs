//! Signatures of artifacts in registries, as cosign makes them: bundles that refer to a manifest, and the older form
//! that signs a small document and stores the signature in an annotation.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::bundle::{SigningIdentity, cosign_hint, write_bundle};
use crate::{PrivateKey, PublicKey, SignatureBundle, SignatureError, SignatureErrorKind, TrustRoot};

/// The type of what a signature of an artifact says.
pub const PREDICATE_TYPE: &str = "https://sigstore.dev/cosign/sign/v1";
/// The media type of the documents that older versions sign.
pub const SIMPLE_SIGNING_TYPE: &str = "application/vnd.dev.cosign.simplesigning.v1+json";
/// The annotation with the signature of such a document.
pub const SIGNATURE_ANNOTATION: &str = "dev.cosignproject.cosign/signature";
/// The annotation with the certificate of a keyless signature.
pub const CERTIFICATE_ANNOTATION: &str = "dev.sigstore.cosign/certificate";
const STATEMENT: &str = "https://in-toto.io/Statement/v1";

/// Signs the manifest with a digest. Returns the bundle.
pub fn sign(digest: &str, key: &PrivateKey) -> Result<Vec<u8>, SignatureError> {
    let hex = digest.strip_prefix("sha256:").ok_or_else(|| SignatureError::malformed("only SHA-256 can be signed"))?;
    let statement = json!({
        "_type": STATEMENT,
        "subject": [{ "digest": { "sha256": hex }, "annotations": {} }],
        "predicateType": PREDICATE_TYPE,
        "predicate": {},
    });
    let material = json!({ "publicKey": { "hint": cosign_hint(key.public_key()) } });
    write_bundle(statement.to_string().as_bytes(), &material, key)
}

/// Verifies that a bundle signs the manifest with a digest.
pub fn verify(bundle: &SignatureBundle, digest: &str, root: &TrustRoot) -> Result<SigningIdentity, SignatureError> {
    let verified = bundle.verify(root)?;
    check_statement(&verified.payload, digest)?;
    Ok(verified.identity)
}

/// Whether a bundle is a signature of an artifact, and no attestation about one.
pub fn is_artifact_signature(bundle: &SignatureBundle) -> bool {
    let statement: Value = serde_json::from_slice(&bundle.payload).unwrap_or_default();
    statement["predicateType"] == PREDICATE_TYPE
}

/// Fails if a signed statement is about something else than the manifest with a digest.
fn check_statement(payload: &[u8], digest: &str) -> Result<(), SignatureError> {
    let statement: Value =
        serde_json::from_slice(payload).map_err(|_| SignatureError::malformed("the signed statement is not JSON"))?;
    if statement["_type"] != STATEMENT || statement["predicateType"] != PREDICATE_TYPE {
        return Err(SignatureError::malformed("the signed statement is not a signature of an artifact"));
    }
    let subjects = statement["subject"].as_array().into_iter().flatten();
    let mut digests = subjects.filter_map(|subject| subject["digest"]["sha256"].as_str());
    if digests.any(|signed| digest.strip_prefix("sha256:") == Some(signed)) {
        return Ok(());
    }
    Err(other_artifact_error())
}

fn other_artifact_error() -> SignatureError {
    SignatureError::new(SignatureErrorKind::Invalid, "the signature is of another artifact")
}

/// Verifies a signature of the older form. `document` is what was signed, `signature` the annotation.
pub fn verify_simple(
    document: &[u8],
    signature: &str,
    digest: &str,
    key: &PublicKey,
) -> Result<SigningIdentity, SignatureError> {
    let bytes =
        BASE64_STANDARD.decode(signature).map_err(|_| SignatureError::malformed("the signature is not base64"))?;
    if !key.has_signed(document, &bytes) {
        // The form does not name the key.
        return Err(SignatureError::new(SignatureErrorKind::OtherSigner, "it was made with another key, or is wrong"));
    }
    let value: Value =
        serde_json::from_slice(document).map_err(|_| SignatureError::malformed("the signed document is not JSON"))?;
    if value["critical"]["image"]["docker-manifest-digest"] != digest {
        return Err(other_artifact_error());
    }
    Ok(SigningIdentity { key: key.fingerprint(), name: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_bound_to_one_digest() {
        let (key, _) = PrivateKey::generate().unwrap();
        let root = TrustRoot::Key(key.public_key().clone());
        let digest = |digit: &str| format!("sha256:{}", digit.repeat(64));
        let bundle = SignatureBundle::parse(&sign(&digest("a"), &key).unwrap()).unwrap();
        assert!(is_artifact_signature(&bundle));
        assert_eq!(verify(&bundle, &digest("a"), &root).unwrap().key, key.public_key().fingerprint());
        assert_eq!(verify(&bundle, &digest("b"), &root).unwrap_err().kind, SignatureErrorKind::Invalid);
        let document = format!(r#"{{"critical":{{"image":{{"docker-manifest-digest":"{}"}}}}}}"#, digest("a"));
        let signature = BASE64_STANDARD.encode(key.sign(document.as_bytes()).unwrap());
        let simple = |digest: &str| verify_simple(document.as_bytes(), &signature, digest, key.public_key());
        assert!(simple(&digest("a")).is_ok());
        assert_eq!(simple(&digest("b")).unwrap_err().kind, SignatureErrorKind::Invalid);
        assert!(verify_simple(b"{}", &signature, &digest("a"), key.public_key()).is_err());
    }
}
