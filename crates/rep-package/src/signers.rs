//! The people and teams whose signatures a user trusts, and for which sources.
//!
//! The file belongs to the user. Neither a project nor a lock file can add a signer or take one away.

use std::collections::BTreeMap;
use std::path::Path;

use rep_signature::{Certificate, PublicKey, TrustRoot};
use rep_storage::StorageError;
use serde_json::{Map, Value, json};

use crate::error::{PackageError, PackageErrorCode};
use crate::lock::InstallOrigin;
use crate::source_name::{is_pattern, list_source_names, matches_pattern};

/// The name of the file in the configuration directory.
pub const SIGNERS_FILE: &str = "signers.json";
/// The format version of the file.
const VERSION: u64 = 1;
const FILE_BYTES_MAX: u64 = 8 << 20;
/// The maximum number of signers.
const SIGNERS_MAX: usize = 1000;

/// Someone whose signatures are trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedSigner {
    /// The name that the user gave.
    pub name: String,
    /// The key, or the certificates that lead to a root.
    pub root: TrustRoot,
    /// The sources whose skills this signer may sign.
    pub patterns: Vec<String>,
    /// Whether skills from these sources must have a signature.
    pub is_required: bool,
}

impl TrustedSigner {
    /// Creates a signer from the PEM text of a public key or of certificates.
    pub fn new(name: &str, pem: &str, patterns: Vec<String>, is_required: bool) -> Result<Self, PackageError> {
        let invalid = |message: String| PackageError::new(PackageErrorCode::InvalidSigner, message);
        let is_name = |letter: char| letter.is_alphanumeric() || "-_. @".contains(letter);
        if name.is_empty() || name.len() > 100 || !name.chars().all(is_name) {
            return Err(invalid(format!("`{}` is not a valid name of a signer", name.escape_debug())));
        }
        if let Some(bad) = patterns.iter().find(|pattern| !is_pattern(pattern)) {
            return Err(invalid(format!("`{}` is not a pattern of sources", bad.escape_debug()))
                .remedy("write a source, in which `*` means any text: `github:OWNER/*`, `oci://HOST/TEAM/*`"));
        }
        Ok(Self { name: name.to_owned(), root: parse_trust_root(pem)?, patterns, is_required })
    }

    /// Whether this signer may sign skills from a source.
    pub fn is_for(&self, origin: &InstallOrigin) -> bool {
        let names = list_source_names(origin);
        self.patterns.iter().any(|pattern| names.iter().any(|name| matches_pattern(pattern, name)))
    }

    /// Returns what identifies the key or the certificates, for people.
    pub fn describe_root(&self) -> String {
        match &self.root {
            TrustRoot::Key(key) => format!("key {}", key.fingerprint()),
            TrustRoot::Certificates(all) => {
                let names: Vec<&str> = all.iter().map(Certificate::name).collect();
                format!("certificate {}", names.join(", "))
            }
        }
    }

    fn to_json(&self) -> Value {
        let pem = match &self.root {
            TrustRoot::Key(key) => key.to_pem(),
            TrustRoot::Certificates(all) => all.iter().map(Certificate::to_pem).collect(),
        };
        json!({ "for": self.patterns, "require": self.is_required, "pem": pem })
    }
}

/// Parses a public key or certificates.
pub fn parse_trust_root(pem: &str) -> Result<TrustRoot, PackageError> {
    let parsed = if pem.contains("-----BEGIN CERTIFICATE-----") {
        Certificate::parse_pem(pem).map(TrustRoot::Certificates)
    } else {
        PublicKey::parse_pem(pem).map(TrustRoot::Key)
    };
    parsed.map_err(|error| PackageError::new(PackageErrorCode::InvalidSigner, error.message))
}

/// All trusted signers of a user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustedSigners {
    signers: BTreeMap<String, TrustedSigner>,
}

impl TrustedSigners {
    /// Reads the signers. A missing file has none.
    pub fn read(file: &Path) -> Result<Self, PackageError> {
        let failed = |reason: String| {
            let message = format!("could not read the trusted signers in `{}`: {reason}", file.display());
            PackageError::new(PackageErrorCode::InvalidSigner, message).remedy("fix or remove the file")
        };
        match rep_storage::files::read_private(file, FILE_BYTES_MAX) {
            Ok(None) => Ok(Self::default()),
            Ok(Some(bytes)) => Self::parse(&bytes).map_err(failed),
            Err(error) => Err(failed(error.to_string())),
        }
    }

    /// Parses the bytes of the file. Returns a message if they are invalid.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let value: Value = serde_json::from_slice(bytes).map_err(|error| format!("it is not JSON: {error}"))?;
        if value["version"].as_u64().is_none_or(|version| version > VERSION) {
            return Err("it was written by a newer version of `rep`".to_owned());
        }
        let mut found = Self::default();
        for (name, entry) in value["signers"].as_object().into_iter().flatten() {
            let patterns = entry["for"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let pem = entry["pem"].as_str().ok_or_else(|| format!("the signer `{name}` has no key"))?;
            let is_required = entry["require"] == Value::Bool(true);
            let signer = TrustedSigner::new(name, pem, patterns.map(str::to_owned).collect(), is_required)
                .map_err(|error| format!("the signer `{name}`: {error}"))?;
            found.signers.insert(name.clone(), signer);
            if found.signers.len() > SIGNERS_MAX {
                return Err(format!("it has more than {SIGNERS_MAX} signers"));
            }
        }
        Ok(found)
    }

    /// Writes the signers to a file that only its owner can read.
    pub fn write(&self, file: &Path) -> Result<(), StorageError> {
        let all: Map<String, Value> =
            self.signers.iter().map(|(name, signer)| (name.clone(), signer.to_json())).collect();
        let value = json!({ "version": VERSION, "signers": all });
        rep_storage::files::replace_private(file, format!("{value:#}\n").as_bytes())
    }

    /// Adds a signer, or replaces the one with its name.
    pub fn insert(&mut self, signer: TrustedSigner) {
        self.signers.insert(signer.name.clone(), signer);
    }

    /// Removes a signer. Returns whether there was one.
    pub fn remove(&mut self, name: &str) -> bool {
        self.signers.remove(name).is_some()
    }

    /// Returns all signers, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &TrustedSigner> {
        self.signers.values()
    }

    /// Returns the signers of a source.
    pub fn list_for(&self, origin: &InstallOrigin) -> Vec<&TrustedSigner> {
        self.iter().filter(|signer| signer.is_for(origin)).collect()
    }
}

#[cfg(test)]
mod tests {
    use rep_signature::PrivateKey;

    use super::*;

    #[test]
    fn signers_come_back_and_apply_to_their_sources_only() {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join(SIGNERS_FILE);
        assert_eq!(TrustedSigners::read(&file).unwrap(), TrustedSigners::default());
        let (key, _) = PrivateKey::generate().unwrap();
        let pem = key.public_key().to_pem();
        let signer = TrustedSigner::new("team", &pem, vec!["oci://r.example/team/*".to_owned()], true).unwrap();
        let mut signers = TrustedSigners::default();
        signers.insert(signer.clone());
        signers.write(&file).unwrap();
        let mut again = TrustedSigners::read(&file).unwrap();
        assert_eq!(again, signers);
        let origin = |name: &str| InstallOrigin {
            kind: "oci".to_owned(),
            source: format!("r.example/{name}"),
            url: Some(format!("oci://r.example/{name}")),
            ..InstallOrigin::default()
        };
        assert_eq!(again.list_for(&origin("team/pdf")), [&signer]);
        assert!(again.list_for(&origin("other/pdf")).is_empty());
        assert!(again.remove("team") && !again.remove("team"));
        for (name, pem, pattern) in
            [("", pem.as_str(), "*"), ("a", "", "*"), ("a", pem.as_str(), ""), ("a/b", pem.as_str(), "*")]
        {
            assert!(TrustedSigner::new(name, pem, vec![pattern.to_owned()], false).is_err(), "{name} {pattern}");
        }
        for text in ["", "{}", r#"{"version":2,"signers":{}}"#, r#"{"version":1,"signers":{"a":{"pem":"x"}}}"#] {
            assert!(TrustedSigners::parse(text.as_bytes()).is_err(), "{text}");
        }
    }
}
