//! Signs the directory of a skill, and verifies one.

use std::path::{Path, PathBuf};

use rep_signature::model_signing::{SIGNATURE_FILE, SignedFiles, SigningCertificates};
use rep_signature::{PrivateKey, SignatureBundle, TrustRoot, model_signing};

use super::{SignatureKind, SignatureVerdict, SkillSignature, hash_files, read_signature_file, verify_with_root};
use crate::error::{PackageError, PackageErrorCode};
use crate::files;

/// Who signs a directory.
#[derive(Debug)]
pub struct FolderSigner {
    /// The private key.
    pub key: PrivateKey,
    /// Its certificate, with those that lead to a root.
    pub certificates: Option<SigningCertificates>,
}

/// A directory that was signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedFolder {
    /// The file with the signature.
    pub file: PathBuf,
    /// The number of files that it covers.
    pub files: usize,
}

/// Signs the files of a directory, and writes the signature into it. Files of git and files that programs leave behind
/// are not covered.
pub fn sign_folder(folder: &Path, name: &str, signer: &FolderSigner) -> Result<SignedFolder, PackageError> {
    let failed = |error: rep_signature::SignatureError| {
        PackageError::new(PackageErrorCode::InvalidSigner, format!("could not sign `{name}`: {error}"))
    };
    let special = files::list_special_paths(folder)?;
    if let Some(link) = special.links.first() {
        let message = format!("`{name}` cannot be signed: `{link}` is a link");
        return Err(PackageError::new(PackageErrorCode::Unreadable, message).remedy("replace it with a file"));
    }
    let digests = hash_files(&files::read_skill_files(folder)?);
    let certificates = signer.certificates.as_ref();
    let bundle = model_signing::sign(name, &digests, &special.leftovers, &signer.key, certificates).map_err(failed)?;
    let signed =
        SignatureBundle::parse(&bundle).and_then(|bundle| SignedFiles::parse(&bundle.payload)).map_err(failed)?;
    let file = folder.join(SIGNATURE_FILE);
    rep_storage::atomic::replace_file(&file, &bundle).map_err(|error| {
        PackageError::new(PackageErrorCode::Unwritable, format!("could not write `{}`: {error}", file.display()))
    })?;
    Ok(SignedFolder { file, files: signed.files.len() })
}

/// Verifies a directory with one key or root. `signature` is the file with the signature, which may be elsewhere.
pub fn verify_folder(folder: &Path, signature: &Path, root: &TrustRoot) -> Result<SkillSignature, PackageError> {
    let bytes = read_signature_file(signature)?;
    let bundle = SignatureBundle::parse(&bytes).and_then(|bundle| SignedFiles::parse(&bundle.payload));
    let special = files::list_special_paths(folder)?;
    if let (Some(link), false) = (special.links.first(), bundle.is_ok_and(|signed| signed.allows_links)) {
        let verdict = SignatureVerdict::Invalid(format!("`{}` is a link, which is not signed", link.escape_debug()));
        return Ok(SkillSignature::new(SignatureKind::ModelSigning, verdict));
    }
    let found = files::read_all_files(folder)?;
    let real = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let own = real(signature).strip_prefix(real(folder)).ok().and_then(|path| path.to_str().map(str::to_owned));
    Ok(verify_with_root(&bytes, own.as_deref().unwrap_or_default(), &found, root))
}
