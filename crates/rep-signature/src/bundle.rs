//! Sigstore bundles of version 0.3 with a DSSE envelope: parsed, written and verified.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::certificate::Certificate;
use crate::{Curve, PrivateKey, PublicKey, SignatureError, SignatureErrorKind};

/// The media type of bundles.
pub const BUNDLE_TYPE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";
/// The type of what is signed: a statement of in-toto.
pub(crate) const STATEMENT_TYPE: &str = "application/vnd.in-toto+json";
/// The maximum size of a bundle.
const BUNDLE_BYTES_MAX: usize = 8 << 20;
/// The maximum number of certificates in a bundle.
const CERTIFICATES_MAX: usize = 16;

/// A signature with what it signs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureBundle {
    /// What names the signer.
    pub material: VerificationMaterial,
    /// What is signed. It is not verified.
    pub payload: Vec<u8>,
    signature: Vec<u8>,
}

/// What a bundle says about its signer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VerificationMaterial {
    /// A key, named by a hint.
    Key(String),
    /// The certificate of the signer, and those that lead to a root.
    Certificates(Vec<Certificate>),
    /// A certificate that was made for this signature only.
    Keyless,
}

/// Who is trusted to sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrustRoot {
    /// The owner of a key.
    Key(PublicKey),
    /// Everyone with a certificate that leads to one of these.
    Certificates(Vec<Certificate>),
}

/// Who signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningIdentity {
    /// The digest of the public key.
    pub key: String,
    /// The name in the certificate.
    pub name: Option<String>,
}

/// A bundle whose signature was verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedBundle {
    /// What was signed.
    pub payload: Vec<u8>,
    /// Who signed it.
    pub identity: SigningIdentity,
}

impl SignatureBundle {
    /// Parses a bundle.
    pub fn parse(bytes: &[u8]) -> Result<Self, SignatureError> {
        if bytes.len() > BUNDLE_BYTES_MAX {
            return Err(SignatureError::malformed("the signature is larger than 8 MiB"));
        }
        let value: Value = serde_json::from_slice(bytes)
            .map_err(|error| SignatureError::malformed(format!("the signature is not JSON: {error}")))?;
        match value["mediaType"].as_str() {
            Some(BUNDLE_TYPE) => {}
            Some(other) => {
                let shown: String = other.escape_debug().take(100).collect();
                let message = format!("the signature has the type `{shown}`; only Sigstore bundles 0.3 are read");
                return Err(SignatureError::new(SignatureErrorKind::Unsupported, message));
            }
            None => return Err(SignatureError::malformed("the signature has no `mediaType`")),
        }
        let material = parse_material(&value["verificationMaterial"])?;
        let envelope = &value["dsseEnvelope"];
        if !envelope.is_object() {
            let message = "the signature has no `dsseEnvelope`";
            return Err(SignatureError::new(SignatureErrorKind::Unsupported, message));
        }
        match envelope["payloadType"].as_str() {
            Some(STATEMENT_TYPE) => {}
            _ => return Err(SignatureError::malformed(format!("`payloadType` is not `{STATEMENT_TYPE}`"))),
        }
        let payload = decode(&envelope["payload"], "payload")?;
        let signature = decode(&envelope["signatures"][0]["sig"], "signatures[0].sig")?;
        Ok(Self { material, payload, signature })
    }

    /// Returns what names the signer, whether or not anyone trusts it: the hint of the key, or the digest of the
    /// certificate nearest to the root with the signer's own name. Fails if the signature was not made with the signer's
    /// own certificate.
    pub fn claimed_identity(&self) -> Result<Option<SigningIdentity>, SignatureError> {
        match &self.material {
            VerificationMaterial::Keyless => Ok(None),
            VerificationMaterial::Key(hint) if hint.is_empty() => Ok(None),
            VerificationMaterial::Key(hint) => {
                let shown: String = hint.chars().filter(|letter| !letter.is_control()).take(100).collect();
                Ok(Some(SigningIdentity { key: shown, name: None }))
            }
            VerificationMaterial::Certificates(chain) => {
                let (Some(own), Some(last)) = (chain.first(), chain.last()) else { return Ok(None) };
                if !self.is_signed_by(&own.public_key()?) {
                    return Err(SignatureError::new(SignatureErrorKind::Invalid, "the signature is wrong"));
                }
                let key = format!("sha256:{}", hex::encode(Sha256::digest(last.as_der())));
                Ok(Some(SigningIdentity { key, name: Some(own.name().to_owned()) }))
            }
        }
    }

    /// Verifies that one of those who are trusted made the signature.
    pub fn verify(&self, root: &TrustRoot) -> Result<VerifiedBundle, SignatureError> {
        let other = |message: &str| SignatureError::new(SignatureErrorKind::OtherSigner, message);
        let (key, name) = match (&self.material, root) {
            (VerificationMaterial::Key(hint), TrustRoot::Key(key)) => {
                if !hint.is_empty() && !names_key(hint, key) {
                    return Err(other("it was made with another key"));
                }
                (key.clone(), None)
            }
            (VerificationMaterial::Certificates(chain), TrustRoot::Certificates(roots)) => {
                let (own, more) =
                    chain.split_first().ok_or_else(|| SignatureError::malformed("it has no certificate"))?;
                own.verify_chain(more, roots)?;
                (own.public_key()?, Some(own.name().to_owned()))
            }
            (VerificationMaterial::Keyless, _) => {
                let message = "it was made without a key of the signer's own (keyless), which is not checked";
                return Err(SignatureError::new(SignatureErrorKind::Unsupported, message));
            }
            (VerificationMaterial::Key(_), TrustRoot::Certificates(_)) => {
                return Err(other("it was made with a key, and certificates are expected"));
            }
            (VerificationMaterial::Certificates(_), TrustRoot::Key(_)) => {
                return Err(other("it was made with a certificate, and a key is expected"));
            }
        };
        let is_signed = self.is_signed_by(&key);
        if !is_signed && self.material == VerificationMaterial::Key(String::new()) {
            return Err(other("it was made with another key, or is wrong"));
        }
        if !is_signed {
            return Err(SignatureError::new(SignatureErrorKind::Invalid, "the signature is wrong"));
        }
        let identity = SigningIdentity { key: key.fingerprint(), name };
        Ok(VerifiedBundle { payload: self.payload.clone(), identity })
    }
}

impl SignatureBundle {
    fn is_signed_by(&self, key: &PublicKey) -> bool {
        // Version 0.2 of `model_signing` encoded the payload in another way.
        key.has_signed(&encode_for_signature(&self.payload), &self.signature)
            || (key.curve() == Curve::P256 && key.has_signed(&encode_for_old_signature(&self.payload), &self.signature))
    }
}

/// Whether a hint names a key: as `model_signing` writes it, or as cosign does.
fn names_key(hint: &str, key: &PublicKey) -> bool {
    hint == key.pem_hint() || hint == cosign_hint(key)
}

/// Returns what names a key in the signatures of artifacts.
pub(crate) fn cosign_hint(key: &PublicKey) -> String {
    BASE64_STANDARD.encode(Sha256::digest(key.to_der()))
}

fn parse_material(material: &Value) -> Result<VerificationMaterial, SignatureError> {
    if let Some(key) = material.get("publicKey").filter(|key| key.is_object()) {
        let hint = match key.get("hint") {
            None | Some(Value::Null) => "",
            Some(hint) => hint.as_str().ok_or_else(|| SignatureError::malformed("`publicKey.hint` is not a text"))?,
        };
        return Ok(VerificationMaterial::Key(hint.to_owned()));
    }
    if let Some(chain) = material["x509CertificateChain"]["certificates"].as_array() {
        if chain.is_empty() || chain.len() > CERTIFICATES_MAX {
            let message = format!("it has {} certificates; from 1 to {CERTIFICATES_MAX} are allowed", chain.len());
            return Err(SignatureError::malformed(message));
        }
        let one = |one: &Value| Certificate::from_der(&decode(&one["rawBytes"], "rawBytes")?);
        return Ok(VerificationMaterial::Certificates(chain.iter().map(one).collect::<Result<_, _>>()?));
    }
    if material.get("certificate").is_some() {
        return Ok(VerificationMaterial::Keyless);
    }
    Err(SignatureError::malformed("the signature names neither a key nor a certificate"))
}

fn decode(value: &Value, what: &str) -> Result<Vec<u8>, SignatureError> {
    let text = value.as_str().ok_or_else(|| SignatureError::malformed(format!("the signature has no `{what}`")))?;
    BASE64_STANDARD.decode(text).map_err(|_| SignatureError::malformed(format!("`{what}` is not base64")))
}

/// Encodes a payload as it is signed: the pre-authentication encoding of DSSE.
fn encode_for_signature(payload: &[u8]) -> Vec<u8> {
    let start = format!("DSSEv1 {} {STATEMENT_TYPE} {} ", STATEMENT_TYPE.len(), payload.len());
    [start.as_bytes(), payload].concat()
}

/// Encodes a payload as version 0.2 of `model_signing` did, which wrote it as Python shows bytes.
fn encode_for_old_signature(payload: &[u8]) -> Vec<u8> {
    let quote = if payload.contains(&b'\'') && !payload.contains(&b'"') { '"' } else { '\'' };
    let mut shown = String::with_capacity(payload.len() + 3);
    for byte in payload {
        match byte {
            b'\\' => shown.push_str("\\\\"),
            b'\t' => shown.push_str("\\t"),
            b'\n' => shown.push_str("\\n"),
            b'\r' => shown.push_str("\\r"),
            byte if char::from(*byte) == quote => {
                shown.push('\\');
                shown.push(quote);
            }
            0x20..0x7f => shown.push(char::from(*byte)),
            byte => shown.push_str(&format!("\\x{byte:02x}")),
        }
    }
    let start = format!("DSSEV1 {} {STATEMENT_TYPE} {}", STATEMENT_TYPE.len(), payload.len());
    format!("{start} b{quote}{shown}{quote}").into_bytes()
}

/// Signs a payload, and writes the bundle.
pub(crate) fn write_bundle(payload: &[u8], material: &Value, key: &PrivateKey) -> Result<Vec<u8>, SignatureError> {
    let signature = key.sign(&encode_for_signature(payload))?;
    let bundle = json!({
        "mediaType": BUNDLE_TYPE,
        "verificationMaterial": material,
        "dsseEnvelope": {
            "payload": BASE64_STANDARD.encode(payload),
            "payloadType": STATEMENT_TYPE,
            "signatures": [{ "sig": BASE64_STANDARD.encode(signature), "keyid": "" }],
        },
    });
    Ok(bundle.to_string().into_bytes())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn signed(payload: &[u8]) -> (PrivateKey, Vec<u8>) {
        let (key, _) = PrivateKey::generate().unwrap();
        let material = json!({ "publicKey": { "hint": key.public_key().pem_hint() } });
        let bytes = write_bundle(payload, &material, &key).unwrap();
        (key, bytes)
    }

    #[test]
    fn only_the_key_that_signed_is_accepted_and_only_what_was_signed() {
        let (key, bytes) = signed(b"{}");
        let bundle = SignatureBundle::parse(&bytes).unwrap();
        let root = TrustRoot::Key(key.public_key().clone());
        assert_eq!(bundle.verify(&root).unwrap().identity.key, key.public_key().fingerprint());
        let (other, _) = PrivateKey::generate().unwrap();
        let other = TrustRoot::Key(other.public_key().clone());
        assert_eq!(bundle.verify(&other).unwrap_err().kind, SignatureErrorKind::OtherSigner);
        let without_hint = SignatureBundle { material: VerificationMaterial::Key(String::new()), ..bundle.clone() };
        assert!(without_hint.verify(&root).is_ok());
        assert_eq!(without_hint.verify(&other).unwrap_err().kind, SignatureErrorKind::OtherSigner);
        let changed = SignatureBundle { payload: b"{ }".to_vec(), ..bundle.clone() };
        assert_eq!(changed.verify(&root).unwrap_err().kind, SignatureErrorKind::Invalid);
        let keyless = SignatureBundle { material: VerificationMaterial::Keyless, ..bundle };
        assert_eq!(keyless.verify(&root).unwrap_err().kind, SignatureErrorKind::Unsupported);
    }

    #[test]
    fn bundles_of_other_shapes_are_refused() {
        let (_, bytes) = signed(b"{}");
        let good: Value = serde_json::from_slice(&bytes).unwrap();
        for (path, value) in [
            ("/mediaType", json!("application/vnd.dev.sigstore.bundle+json;version=0.1")),
            ("/mediaType", json!(null)),
            ("/verificationMaterial", json!({})),
            ("/verificationMaterial", json!({ "x509CertificateChain": { "certificates": [] } })),
            ("/verificationMaterial", json!({ "x509CertificateChain": { "certificates": [{ "rawBytes": "MAA=" }] } })),
            ("/verificationMaterial/publicKey/hint", json!(1)),
            ("/dsseEnvelope", json!(null)),
            ("/dsseEnvelope/payloadType", json!("text/plain")),
            ("/dsseEnvelope/payload", json!("%")),
            ("/dsseEnvelope/signatures", json!([])),
        ] {
            let mut bad = good.clone();
            *bad.pointer_mut(path).unwrap() = value;
            assert!(SignatureBundle::parse(bad.to_string().as_bytes()).is_err(), "{path}");
        }
    }

    #[test]
    fn old_payloads_are_written_as_python_shows_bytes() {
        let encoded = encode_for_old_signature(b"{\"a\": \"it's\n\xc3\"}");
        let expected = "DSSEV1 28 application/vnd.in-toto+json 15 b'{\"a\": \"it\\'s\\n\\xc3\"}'";
        assert_eq!(String::from_utf8(encoded).unwrap(), expected);
        assert!(encode_for_old_signature(b"it's").ends_with(b"b\"it's\""));
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_parser_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = SignatureBundle::parse(&bytes);
            let _ = Certificate::from_der(&bytes);
            let _ = PublicKey::from_der(&bytes);
        }
    }
}
