//! Signatures of directories by OpenSSF Model Signing: a statement that lists every file with its digest.

use std::collections::BTreeMap;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::bundle::write_bundle;
use crate::{Certificate, PrivateKey, SignatureError, SignatureErrorKind};

/// The usual name of the signature in a skill's directory.
pub const SIGNATURE_FILE: &str = "skill.oms.sig";
/// The files of git at the top of a directory, which the method never counts.
pub const GIT_FILES: [&str; 4] = [".git", ".gitattributes", ".github", ".gitignore"];
const PREDICATE_TYPE: &str = "https://model_signing/signature/v1.0";
/// The predicate of version 0.2, whose subjects are the files.
const OLD_PREDICATE_TYPE: &str = "https://model_signing/Digests/v0.1";
const STATEMENT: &str = "https://in-toto.io/Statement/v1";
/// The maximum number of files in a statement.
const FILES_MAX: usize = 50_000;

/// The files that a signature lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SignedFiles {
    /// The digest of each file, by path.
    pub files: BTreeMap<String, String>,
    /// The paths that are not signed: files, or directories with everything in them.
    pub ignored: Vec<String>,
    /// Whether the directory may contain links.
    pub allows_links: bool,
}

/// How a directory differs from what was signed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SignedFileDifference {
    /// The path of the file.
    pub path: String,
    /// What differs.
    pub kind: SignedFileDifferenceKind,
}

/// The ways in which a file can differ from what was signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SignedFileDifferenceKind {
    /// It was signed and has other content.
    Changed,
    /// It was signed and does not exist.
    Missing,
    /// It exists and was not signed.
    Unsigned,
}

impl SignedFileDifferenceKind {
    /// Returns the name in results.
    pub const fn as_str(self) -> &'static str {
        match self {
            SignedFileDifferenceKind::Changed => "changed",
            SignedFileDifferenceKind::Missing => "missing",
            SignedFileDifferenceKind::Unsigned => "unsigned",
        }
    }
}

impl SignedFiles {
    /// Parses a signed payload.
    pub fn parse(payload: &[u8]) -> Result<Self, SignatureError> {
        let broken = |what: &str| SignatureError::malformed(format!("the signed statement {what}"));
        let statement: Value = serde_json::from_slice(payload).map_err(|_| broken("is not JSON"))?;
        if statement["_type"] != STATEMENT {
            return Err(broken("is not an in-toto statement of version 1"));
        }
        let subjects = statement["subject"].as_array().ok_or_else(|| broken("has no `subject`"))?;
        match statement["predicateType"].as_str() {
            Some(PREDICATE_TYPE) => {}
            Some(OLD_PREDICATE_TYPE) => return Self::parse_old(subjects),
            _ => {
                let message = "the signature is not of a directory (OpenSSF Model Signing)";
                return Err(SignatureError::new(SignatureErrorKind::Unsupported, message));
            }
        }
        let [subject] = subjects.as_slice() else { return Err(broken("has several subjects")) };
        let expected = subject["digest"]["sha256"].as_str().ok_or_else(|| broken("has no digest"))?;
        let predicate = &statement["predicate"];
        let method = &predicate["serialization"];
        if method["method"] != "files" || method["hash_type"] != "sha256" {
            let message = "the files are signed in another way than one SHA-256 digest for each";
            return Err(SignatureError::new(SignatureErrorKind::Unsupported, message));
        }
        let resources = predicate["resources"].as_array().ok_or_else(|| broken("has no `resources`"))?;
        if resources.len() > FILES_MAX {
            return Err(broken("lists more than 50,000 files"));
        }
        let mut found = Self { allows_links: method["allow_symlinks"] == Value::Bool(true), ..Self::default() };
        let mut all = Sha256::new();
        for resource in resources {
            let (name, digest) = (resource["name"].as_str(), resource["digest"].as_str());
            let (Some(name), Some(digest), true) = (name, digest, resource["algorithm"] == "sha256") else {
                return Err(broken("has a file without a name or a SHA-256 digest"));
            };
            let bytes = hex::decode(digest).map_err(|_| broken("has an invalid digest"))?;
            all.update(&bytes);
            found.files.insert(normalize_path(name), hex::encode(bytes));
        }
        if hex::encode(all.finalize()) != expected {
            return Err(SignatureError::new(SignatureErrorKind::Invalid, "the signed statement contradicts itself"));
        }
        let ignored = method["ignore_paths"].as_array().into_iter().flatten();
        found.ignored = ignored.filter_map(Value::as_str).map(normalize_path).filter(|path| !path.is_empty()).collect();
        Ok(found)
    }

    fn parse_old(subjects: &[Value]) -> Result<Self, SignatureError> {
        let broken = || SignatureError::malformed("the signed statement has a file without a name or a SHA-256 digest");
        if subjects.len() > FILES_MAX {
            return Err(SignatureError::malformed("the signed statement lists more than 50,000 files"));
        }
        let mut found = Self::default();
        for subject in subjects {
            let (name, digest) = (subject["name"].as_str(), subject["digest"]["sha256"].as_str());
            let (Some(name), Some(digest)) = (name, digest) else { return Err(broken()) };
            let bytes = hex::decode(digest).map_err(|_| broken())?;
            found.files.insert(normalize_path(name), hex::encode(bytes));
        }
        Ok(found)
    }

    /// Whether a path was left out when the directory was signed.
    pub fn is_ignored(&self, path: &str) -> bool {
        let is_below =
            |folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        GIT_FILES.iter().any(|folder| is_below(folder)) || self.ignored.iter().any(|folder| is_below(folder))
    }

    /// Compares the files of a directory, with the SHA-256 digests of their contents, with what was signed. Ignored files
    /// do not count.
    pub fn compare(&self, found: &BTreeMap<String, String>) -> Vec<SignedFileDifference> {
        let mut differences = Vec::new();
        let mut add = |path: &str, kind| differences.push(SignedFileDifference { path: path.to_owned(), kind });
        for (path, digest) in found.iter().filter(|(path, _)| !self.is_ignored(path)) {
            match self.files.get(path) {
                None => add(path, SignedFileDifferenceKind::Unsigned),
                Some(signed) if signed != digest => add(path, SignedFileDifferenceKind::Changed),
                Some(_) => {}
            }
        }
        for path in self.files.keys().filter(|path| !found.contains_key(*path) || self.is_ignored(path)) {
            add(path, SignedFileDifferenceKind::Missing);
        }
        differences.sort();
        differences
    }
}

/// Returns a path without empty and `.` parts.
fn normalize_path(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let plain = parts.join("/");
    if path.starts_with('/') { format!("/{plain}") } else { plain }
}

/// The certificate of a signer, and those that lead to a root.
#[derive(Clone, Debug)]
pub struct SigningCertificates {
    /// The signer's own.
    pub own: Certificate,
    /// The rest of the chain.
    pub chain: Vec<Certificate>,
}

/// Signs the files of a directory, which are given with the SHA-256 digests of their contents. `ignored` are more paths
/// that the signature does not cover. Returns the bundle.
pub fn sign(
    name: &str,
    files: &BTreeMap<String, String>,
    ignored: &[String],
    key: &PrivateKey,
    certificates: Option<&SigningCertificates>,
) -> Result<Vec<u8>, SignatureError> {
    let mut left_out: Vec<&str> = vec![SIGNATURE_FILE];
    left_out.extend(GIT_FILES);
    left_out.extend(ignored.iter().map(String::as_str));
    let ignored: Vec<String> = left_out.iter().map(|path| (*path).to_owned()).collect();
    let filter = SignedFiles { ignored, ..SignedFiles::default() };
    let mut signed: Vec<(&String, &String)> = files.iter().filter(|(path, _)| !filter.is_ignored(path)).collect();
    signed.sort_by(|one, two| one.0.split('/').cmp(two.0.split('/')));
    let mut all = Sha256::new();
    let mut resources = Vec::with_capacity(signed.len());
    for (path, digest) in signed {
        let bytes = hex::decode(digest).map_err(|_| SignatureError::malformed("a file has no valid digest"))?;
        all.update(&bytes);
        resources.push(json!({ "name": path, "algorithm": "sha256", "digest": digest }));
    }
    let statement = json!({
        "_type": STATEMENT,
        "subject": [{ "name": name, "digest": { "sha256": hex::encode(all.finalize()) } }],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "serialization": {
                "method": "files",
                "hash_type": "sha256",
                "allow_symlinks": false,
                "ignore_paths": left_out,
            },
            "resources": resources,
        },
    });
    let material = match certificates {
        None => json!({ "publicKey": { "hint": key.public_key().pem_hint() }, "tlogEntries": [] }),
        Some(certificates) => {
            if certificates.own.public_key()? != *key.public_key() {
                let message = "the certificate belongs to another key";
                return Err(SignatureError::new(SignatureErrorKind::OtherSigner, message));
            }
            let chain = std::iter::once(&certificates.own).chain(&certificates.chain);
            let chain: Vec<Value> =
                chain.map(|one| json!({ "rawBytes": BASE64_STANDARD.encode(one.as_der()) })).collect();
            json!({ "x509CertificateChain": { "certificates": chain }, "tlogEntries": [] })
        }
    };
    write_bundle(statement.to_string().as_bytes(), &material, key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SignatureBundle, TrustRoot};

    fn digests(files: &[(&str, &str)]) -> BTreeMap<String, String> {
        files.iter().map(|(path, text)| ((*path).to_owned(), hex::encode(Sha256::digest(text)))).collect()
    }

    #[test]
    fn every_difference_of_a_signed_directory_is_found() {
        let (key, _) = PrivateKey::generate().unwrap();
        let files = digests(&[("SKILL.md", "a"), ("scripts/x.sh", "b"), (".gitignore", "c"), ("skill.oms.sig", "d")]);
        let bundle = sign("one", &files, &[], &key, None).unwrap();
        let verified =
            SignatureBundle::parse(&bundle).unwrap().verify(&TrustRoot::Key(key.public_key().clone())).unwrap();
        let signed = SignedFiles::parse(&verified.payload).unwrap();
        assert_eq!(signed.files.keys().collect::<Vec<_>>(), ["SKILL.md", "scripts/x.sh"]);
        assert!(signed.compare(&files).is_empty());
        let other = digests(&[("SKILL.md", "other"), ("new.md", "x"), (".github/x.yml", "y"), (".gitignored", "z")]);
        let found: Vec<(String, &str)> =
            signed.compare(&other).into_iter().map(|one| (one.path, one.kind.as_str())).collect();
        let expected =
            [(".gitignored", "unsigned"), ("SKILL.md", "changed"), ("new.md", "unsigned"), ("scripts/x.sh", "missing")];
        assert_eq!(found, expected.map(|(path, kind)| (path.to_owned(), kind)));
    }

    #[test]
    fn statements_of_other_kinds_are_refused() {
        let (key, _) = PrivateKey::generate().unwrap();
        let bundle = sign("one", &digests(&[("a", "a")]), &[], &key, None).unwrap();
        let good: Value = serde_json::from_slice(&SignatureBundle::parse(&bundle).unwrap().payload).unwrap();
        for (path, value) in [
            ("/_type", json!("x")),
            ("/subject", json!([])),
            ("/subject/0/digest/sha256", json!("00")),
            ("/predicateType", json!("https://slsa.dev/provenance/v1")),
            ("/predicate/serialization/method", json!("shards")),
            ("/predicate/serialization/hash_type", json!("blake3")),
            ("/predicate/resources", json!({})),
            ("/predicate/resources/0/digest", json!("xx")),
            ("/predicate/resources/0/algorithm", json!("md5")),
        ] {
            let mut bad = good.clone();
            *bad.pointer_mut(path).unwrap() = value;
            assert!(SignedFiles::parse(bad.to_string().as_bytes()).is_err(), "{path}");
        }
    }
}
