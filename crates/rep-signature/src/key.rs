//! Keys for signatures: ECDSA over P-256 and P-384.

use std::fmt;

use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA256_ASN1_SIGNING, ECDSA_P384_SHA384_ASN1, ECDSA_P384_SHA384_ASN1_SIGNING,
    EcdsaKeyPair, EcdsaSigningAlgorithm, EcdsaVerificationAlgorithm, KeyPair, UnparsedPublicKey,
};
use sha2::{Digest, Sha256};

use crate::der::{BIT_STRING, DerReader, INTEGER, OBJECT_IDENTIFIER, OCTET_STRING, SEQUENCE, write_value};
use crate::{SignatureError, SignatureErrorKind, pem};

/// The object identifier of keys on elliptic curves, and those of the curves.
const EC_PUBLIC_KEY: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
const P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
const P384: &[u8] = &[0x2b, 0x81, 0x04, 0x00, 0x22];
const P521: &[u8] = &[0x2b, 0x81, 0x04, 0x00, 0x23];

/// The curve of a key. It also determines the hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curve {
    /// P-256 with SHA-256.
    P256,
    /// P-384 with SHA-384.
    P384,
}

impl Curve {
    fn identifier(self) -> &'static [u8] {
        match self {
            Curve::P256 => P256,
            Curve::P384 => P384,
        }
    }

    /// The length of a coordinate.
    const fn coordinate_bytes(self) -> usize {
        match self {
            Curve::P256 => 32,
            Curve::P384 => 48,
        }
    }

    fn verification_algorithm(self) -> &'static EcdsaVerificationAlgorithm {
        match self {
            Curve::P256 => &ECDSA_P256_SHA256_ASN1,
            Curve::P384 => &ECDSA_P384_SHA384_ASN1,
        }
    }

    fn signing_algorithm(self) -> &'static EcdsaSigningAlgorithm {
        match self {
            Curve::P256 => &ECDSA_P256_SHA256_ASN1_SIGNING,
            Curve::P384 => &ECDSA_P384_SHA384_ASN1_SIGNING,
        }
    }

    fn from_identifier(identifier: &[u8]) -> Result<Self, SignatureError> {
        let unsupported = |what: &str| {
            let message = format!("keys on {what} are not supported; use P-256 or P-384");
            Err(SignatureError::new(SignatureErrorKind::Unsupported, message))
        };
        match identifier {
            P256 => Ok(Curve::P256),
            P384 => Ok(Curve::P384),
            P521 => unsupported("P-521"),
            _ => unsupported("this curve"),
        }
    }
}

/// A key that verifies signatures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey {
    curve: Curve,
    /// The point, uncompressed.
    point: Vec<u8>,
}

impl PublicKey {
    /// Parses the first public key of a PEM text.
    pub fn parse_pem(text: &str) -> Result<Self, SignatureError> {
        let blocks = pem::parse_blocks(text)?;
        if let Some(block) = blocks.iter().find(|block| block.label == "PUBLIC KEY") {
            return Self::from_der(&block.bytes);
        }
        let is_private = blocks.iter().any(|block| block.label.ends_with("PRIVATE KEY"));
        let remedy = if is_private {
            "it is a private key; pass the file with the public key"
        } else {
            "it has no PEM block `PUBLIC KEY`"
        };
        Err(SignatureError::malformed(remedy))
    }

    /// Parses a `SubjectPublicKeyInfo`.
    pub fn from_der(bytes: &[u8]) -> Result<Self, SignatureError> {
        let mut info = DerReader::new(bytes).expect(SEQUENCE)?.reader();
        let mut algorithm = info.expect(SEQUENCE)?.reader();
        if algorithm.expect(OBJECT_IDENTIFIER)?.content != EC_PUBLIC_KEY {
            let message = "only keys on elliptic curves are supported; use P-256 or P-384";
            return Err(SignatureError::new(SignatureErrorKind::Unsupported, message));
        }
        let curve = Curve::from_identifier(algorithm.expect(OBJECT_IDENTIFIER)?.content)?;
        let bits = info.expect(BIT_STRING)?.content;
        let point = bits.strip_prefix(&[0]).unwrap_or_default();
        if point.len() != 1 + 2 * curve.coordinate_bytes() || point[0] != 4 {
            return Err(SignatureError::malformed("the public key is not an uncompressed point"));
        }
        Ok(Self { curve, point: point.to_vec() })
    }

    /// Returns the curve.
    pub fn curve(&self) -> Curve {
        self.curve
    }

    /// Encodes the key as a `SubjectPublicKeyInfo`.
    pub fn to_der(&self) -> Vec<u8> {
        let algorithm =
            [write_value(OBJECT_IDENTIFIER, EC_PUBLIC_KEY), write_value(OBJECT_IDENTIFIER, self.curve.identifier())];
        let bits = [&[0], self.point.as_slice()].concat();
        write_value(SEQUENCE, &[write_value(SEQUENCE, &algorithm.concat()), write_value(BIT_STRING, &bits)].concat())
    }

    /// Writes the key as PEM.
    pub fn to_pem(&self) -> String {
        pem::write_block("PUBLIC KEY", &self.to_der())
    }

    /// Returns the digest of the encoded key, as `sha256:` and hexadecimal digits.
    pub fn fingerprint(&self) -> String {
        format!("sha256:{}", hex::encode(Sha256::digest(self.to_der())))
    }

    /// Returns what names the key in signatures of directories: the digest of its PEM text.
    pub(crate) fn pem_hint(&self) -> String {
        hex::encode(Sha256::digest(self.to_pem()))
    }

    /// Whether a signature of a message was made with this key.
    pub(crate) fn has_signed(&self, message: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(self.curve.verification_algorithm(), &self.point).verify(message, signature).is_ok()
    }
}

/// A key that makes signatures. It cannot be printed.
pub struct PrivateKey {
    pair: EcdsaKeyPair,
    public: PublicKey,
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PrivateKey").field("public", &self.public).finish_non_exhaustive()
    }
}

impl PrivateKey {
    /// Makes a key on P-256. Also returns its PEM text, which is the only copy.
    pub fn generate() -> Result<(Self, String), SignatureError> {
        let document = EcdsaKeyPair::generate_pkcs8(Curve::P256.signing_algorithm(), &SystemRandom::new())
            .map_err(|_| no_random_error())?;
        let key = Self::from_pkcs8(Curve::P256, document.as_ref())?;
        Ok((key, pem::write_block("PRIVATE KEY", document.as_ref())))
    }

    /// Parses the first private key of a PEM text, which must have no password.
    pub fn parse_pem(text: &str) -> Result<Self, SignatureError> {
        for block in pem::parse_blocks(text)? {
            match block.label.as_str() {
                "PRIVATE KEY" => return Self::from_pkcs8(find_pkcs8_curve(&block.bytes)?, &block.bytes),
                "EC PRIVATE KEY" => return Self::from_sec1(&block.bytes),
                label if label.starts_with("ENCRYPTED ") => {
                    let message = "the private key has a password, which is not supported; make one with `rep key new`";
                    return Err(SignatureError::new(SignatureErrorKind::Unsupported, message));
                }
                label if label.ends_with("PRIVATE KEY") => {
                    let message = format!("keys of the kind `{label}` are not supported; use P-256 or P-384");
                    return Err(SignatureError::new(SignatureErrorKind::Unsupported, message));
                }
                _ => {}
            }
        }
        Err(SignatureError::malformed("it has no PEM block `PRIVATE KEY`"))
    }

    fn from_pkcs8(curve: Curve, bytes: &[u8]) -> Result<Self, SignatureError> {
        let pair = EcdsaKeyPair::from_pkcs8(curve.signing_algorithm(), bytes, &SystemRandom::new())
            .map_err(|error| SignatureError::malformed(format!("the private key is invalid: {error}")))?;
        let public = PublicKey { curve, point: pair.public_key().as_ref().to_vec() };
        Ok(Self { pair, public })
    }

    /// Reads the form that `openssl ecparam -genkey` writes.
    fn from_sec1(bytes: &[u8]) -> Result<Self, SignatureError> {
        let mut key = DerReader::new(bytes).expect(SEQUENCE)?.reader();
        key.expect(INTEGER)?;
        key.expect(OCTET_STRING)?;
        let parameters = key.read_optional(0xa0)?.ok_or_else(|| SignatureError::malformed("the key names no curve"))?;
        let curve = Curve::from_identifier(parameters.reader().expect(OBJECT_IDENTIFIER)?.content)?;
        let algorithm =
            [write_value(OBJECT_IDENTIFIER, EC_PUBLIC_KEY), write_value(OBJECT_IDENTIFIER, curve.identifier())];
        let parts =
            [write_value(INTEGER, &[0]), write_value(SEQUENCE, &algorithm.concat()), write_value(OCTET_STRING, bytes)];
        Self::from_pkcs8(curve, &write_value(SEQUENCE, &parts.concat()))
    }

    /// Returns the key that verifies the signatures of this one.
    pub fn public_key(&self) -> &PublicKey {
        &self.public
    }

    /// Signs a message.
    pub(crate) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignatureError> {
        let signature = self.pair.sign(&SystemRandom::new(), message);
        signature.map(|signature| signature.as_ref().to_vec()).map_err(|_| no_random_error())
    }
}

fn no_random_error() -> SignatureError {
    SignatureError::new(SignatureErrorKind::Unsupported, "the system has no random numbers")
}

/// Returns the curve that a private key in PKCS #8 names.
fn find_pkcs8_curve(bytes: &[u8]) -> Result<Curve, SignatureError> {
    let mut key = DerReader::new(bytes).expect(SEQUENCE)?.reader();
    key.expect(INTEGER)?;
    let mut algorithm = key.expect(SEQUENCE)?.reader();
    if algorithm.expect(OBJECT_IDENTIFIER)?.content != EC_PUBLIC_KEY {
        let message = "only keys on elliptic curves are supported; use P-256 or P-384";
        return Err(SignatureError::new(SignatureErrorKind::Unsupported, message));
    }
    Curve::from_identifier(algorithm.expect(OBJECT_IDENTIFIER)?.content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_back_from_their_text_and_verify() {
        let (key, text) = PrivateKey::generate().unwrap();
        let again = PrivateKey::parse_pem(&text).unwrap();
        let public = PublicKey::parse_pem(&key.public_key().to_pem()).unwrap();
        assert_eq!((&public, again.public_key()), (key.public_key(), key.public_key()));
        let signature = again.sign(b"message").unwrap();
        assert!(public.has_signed(b"message", &signature) && !public.has_signed(b"massage", &signature));
        assert!(!public.has_signed(b"message", &[]) && !format!("{key:?}").contains("pair"));
    }

    /// Written by `openssl ecparam -name prime256v1 -genkey -noout` and `openssl ec -pubout`.
    #[test]
    fn keys_of_openssl_are_read() {
        let text = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIPp+jkCQ5uJ8TOsjVYDx5ZFGvW9y1s8kBVlKSLpx3SyeoAoGCCqGSM49\nAwEHoUQDQgAE\n-----END EC PRIVATE KEY-----\n";
        assert!(PrivateKey::parse_pem(text).is_err(), "the public key is cut off");
        for text in ["", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"] {
            assert!(PrivateKey::parse_pem(text).is_err() && PublicKey::parse_pem(text).is_err(), "{text}");
        }
        let encrypted = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
        assert_eq!(PrivateKey::parse_pem(encrypted).unwrap_err().kind, SignatureErrorKind::Unsupported);
    }
}
