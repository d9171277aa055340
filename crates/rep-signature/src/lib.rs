//! Who signed a skill: keys, certificates, and the two kinds of signatures that are read and written.
//!
//! [`model_signing`] signs the files of a directory by OpenSSF Model Signing, and the signature travels with them.
//! [`cosign`] signs the manifest of an artifact in a registry. Both are Sigstore bundles of version 0.3 with a DSSE
//! envelope. Everything works on values: this crate reads no file and sends no request. Signatures without a key of the
//! user's own ("keyless") are recognised, and never accepted.
//!
//! ```
//! use std::collections::BTreeMap;
//! use rep_signature::{PrivateKey, SignatureBundle, TrustRoot, model_signing};
//!
//! let (key, _) = PrivateKey::generate()?;
//! let files = BTreeMap::from([("SKILL.md".to_owned(), "0".repeat(64))]);
//! let bundle = model_signing::sign("letters", &files, &[], &key, None)?;
//! let signed = SignatureBundle::parse(&bundle)?.verify(&TrustRoot::Key(key.public_key().clone()))?;
//! let statement = model_signing::SignedFiles::parse(&signed.payload)?;
//! assert!(statement.compare(&files).is_empty());
//! # Ok::<(), rep_signature::SignatureError>(())
//! ```

mod bundle;
mod certificate;
pub mod cosign;
mod der;
mod key;
pub mod model_signing;
mod pem;

pub use bundle::{BUNDLE_TYPE, SignatureBundle, SigningIdentity, TrustRoot, VerificationMaterial, VerifiedBundle};
pub use certificate::Certificate;
pub use key::{Curve, PrivateKey, PublicKey};

/// Why a key, a certificate or a signature was not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SignatureError {
    /// The kind of problem.
    pub kind: SignatureErrorKind,
    /// The message for people.
    pub message: String,
}

/// The kinds of problems with signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureErrorKind {
    /// The data is not what it should be.
    Malformed,
    /// The signature, the chain of certificates or the signed content is wrong.
    Invalid,
    /// It was made with another key, or with certificates of another root.
    OtherSigner,
    /// It is of a kind that is not verified here, such as one without a key.
    Unsupported,
}

impl SignatureError {
    pub(crate) fn new(kind: SignatureErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    pub(crate) fn malformed(message: impl Into<String>) -> Self {
        Self::new(SignatureErrorKind::Malformed, message)
    }
}
