//! Signatures of artifacts in registries: found beside the manifest, and pushed there.

use rep_net::oci::{EMPTY_TYPE, OciClient, OciDescriptor, OciErrorKind, OciManifest, OciRepository, check_digest};
use rep_signature::{
    BUNDLE_TYPE, PrivateKey, SignatureBundle, SignatureErrorKind, TrustRoot, VerificationMaterial, cosign,
};

use super::{SIGNATURE_BYTES_MAX, SignatureKind, SignatureVerdict, SkillSignature, verdict_from_error};
use crate::client::SourceClient;
use crate::error::{PackageError, PackageErrorCode};
use crate::lock::InstallOrigin;
use crate::signers::TrustedSigner;

/// The maximum number of signatures of an artifact that are read.
const SIGNATURES_MAX: usize = 50;
/// The maximum size of the documents that older versions of cosign sign.
const DOCUMENT_BYTES_MAX: u64 = 1 << 20;

/// Finds the signature of the artifact that a skill comes from. A trusted one is preferred, then a wrong one. Returns
/// `None` for other sources, and if there is none.
pub fn find_artifact_signature(
    origin: &InstallOrigin,
    trusted: &[&TrustedSigner],
    client: &SourceClient,
) -> Result<Option<SkillSignature>, PackageError> {
    let (Some(digest), Some(url)) = (&origin.manifest, &origin.url) else { return Ok(None) };
    let is_needed = trusted.iter().any(|signer| signer.is_required);
    if origin.kind != "oci" || (client.is_offline() && !is_needed) {
        return Ok(None);
    }
    let repository =
        OciRepository::parse(url).map_err(|reason| PackageError::new(PackageErrorCode::RefusedSource, reason))?;
    let registries = client.registries(&repository)?;
    match list_signatures(registries, &repository, digest, trusted) {
        Ok(found) => Ok(choose_signature(found)),
        // Without a trusted signer, a registry that cannot list signatures is the same as one without any.
        Err(_) if trusted.is_empty() => Ok(None),
        Err(error) => Err(error),
    }
}

fn choose_signature(found: Vec<SkillSignature>) -> Option<SkillSignature> {
    let rank = |one: &SkillSignature| match one.verdict {
        SignatureVerdict::Valid => 0,
        SignatureVerdict::Invalid(_) => 1,
        SignatureVerdict::UnknownSigner => 2,
        SignatureVerdict::Unchecked(_) => 3,
    };
    found.into_iter().min_by_key(rank)
}

fn list_signatures(
    registries: &OciClient,
    repository: &OciRepository,
    digest: &str,
    trusted: &[&TrustedSigner],
) -> Result<Vec<SkillSignature>, PackageError> {
    let mut found = Vec::new();
    for entry in registries.list_referrers(repository, digest)?.into_iter().take(SIGNATURES_MAX) {
        // What the entry says about its type is often wrong.
        let manifest = registries.fetch_manifest(repository, &entry.digest)?.parse()?;
        for layer in manifest.layers.iter().filter(|layer| layer.media_type == BUNDLE_TYPE) {
            let bytes = registries.fetch_blob(repository, layer, SIGNATURE_BYTES_MAX)?;
            found.extend(check_bundle(&bytes, digest, trusted));
        }
    }
    let hex = check_digest(digest).unwrap_or_default();
    match registries.fetch_manifest(repository, &format!("sha256-{hex}.sig")) {
        Ok(manifest) => {
            let layers = manifest.parse()?.layers;
            for layer in layers.iter().filter(|one| one.media_type == cosign::SIMPLE_SIGNING_TYPE).take(SIGNATURES_MAX)
            {
                found.push(check_simple(registries, repository, layer, digest, trusted)?);
            }
        }
        Err(error) if matches!(error.kind, OciErrorKind::NotFound | OciErrorKind::Unauthorized) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(found)
}

/// Checks a bundle. Returns `None` if it says something else about the artifact than that it is signed.
fn check_bundle(bytes: &[u8], digest: &str, trusted: &[&TrustedSigner]) -> Option<SkillSignature> {
    let mut result = SkillSignature::new(SignatureKind::Cosign, SignatureVerdict::UnknownSigner);
    let bundle = match SignatureBundle::parse(bytes) {
        Ok(bundle) => bundle,
        Err(error) => {
            result.verdict = verdict_from_error(&error);
            return Some(result);
        }
    };
    if !cosign::is_artifact_signature(&bundle) {
        return None;
    }
    if let Ok(Some(identity)) = bundle.claimed_identity() {
        (result.key, result.subject) = (Some(identity.key), identity.name);
    }
    let reason = "it was made without a key of the signer's own (keyless)";
    let is_keyless = bundle.material == VerificationMaterial::Keyless;
    let mut last = is_keyless.then(|| SignatureVerdict::Unchecked(reason.to_owned()));
    for signer in trusted {
        match cosign::verify(&bundle, digest, &signer.root) {
            Ok(identity) => {
                result.verdict = SignatureVerdict::Valid;
                result.signer = Some(signer.name.clone());
                result.subject = identity.name;
                return Some(result);
            }
            Err(error) if error.kind == SignatureErrorKind::OtherSigner => {}
            Err(error) => last = Some(verdict_from_error(&error)),
        }
    }
    result.verdict = last.unwrap_or(SignatureVerdict::UnknownSigner);
    Some(result)
}

/// Checks a signature of the older form.
fn check_simple(
    registries: &OciClient,
    repository: &OciRepository,
    layer: &OciDescriptor,
    digest: &str,
    trusted: &[&TrustedSigner],
) -> Result<SkillSignature, PackageError> {
    let mut result = SkillSignature::new(SignatureKind::Cosign, SignatureVerdict::UnknownSigner);
    let Some(signature) = layer.annotations.get(cosign::SIGNATURE_ANNOTATION) else {
        result.verdict = SignatureVerdict::Unchecked("it has no signature in its annotations".to_owned());
        return Ok(result);
    };
    if layer.annotations.contains_key(cosign::CERTIFICATE_ANNOTATION) {
        let reason = "it was made without a key of the signer's own (keyless)";
        result.verdict = SignatureVerdict::Unchecked(reason.to_owned());
        return Ok(result);
    }
    let document = registries.fetch_blob(repository, layer, DOCUMENT_BYTES_MAX)?;
    for signer in trusted {
        let TrustRoot::Key(key) = &signer.root else { continue };
        match cosign::verify_simple(&document, signature, digest, key) {
            Ok(identity) => {
                result.verdict = SignatureVerdict::Valid;
                result.signer = Some(signer.name.clone());
                result.key = Some(identity.key);
                return Ok(result);
            }
            Err(error) if error.kind == SignatureErrorKind::OtherSigner => {}
            Err(error) => result.verdict = verdict_from_error(&error),
        }
    }
    Ok(result)
}

/// Signs a manifest in a registry, unless the key has signed it before. Returns whether a signature was pushed.
pub(crate) fn sign_artifact(
    registries: &OciClient,
    repository: &OciRepository,
    manifest: &OciDescriptor,
    key: &PrivateKey,
    created: &str,
) -> Result<bool, PackageError> {
    let failed = |error: rep_signature::SignatureError| {
        PackageError::new(PackageErrorCode::BadSignature, format!("could not sign: {error}"))
    };
    let own = TrustedSigner {
        name: "own".to_owned(),
        root: TrustRoot::Key(key.public_key().clone()),
        patterns: Vec::new(),
        is_required: false,
    };
    let known = list_signatures(registries, repository, &manifest.digest, &[&own])?;
    if known.iter().any(|one| one.verdict == SignatureVerdict::Valid) {
        return Ok(false);
    }
    let bundle = cosign::sign(&manifest.digest, key).map_err(failed)?;
    let empty: &[u8] = b"{}";
    registries.push_blob(repository, empty)?;
    registries.push_blob(repository, &bundle)?;
    let referrer = OciManifest {
        artifact_type: Some(BUNDLE_TYPE.to_owned()),
        config: Some(OciDescriptor::for_content(EMPTY_TYPE, empty)),
        layers: vec![OciDescriptor::for_content(BUNDLE_TYPE, &bundle)],
        manifests: None,
        subject: Some(OciDescriptor {
            media_type: manifest.media_type.clone(),
            digest: manifest.digest.clone(),
            size_bytes: manifest.size_bytes,
            ..OciDescriptor::default()
        }),
        annotations: [
            ("dev.sigstore.bundle.content".to_owned(), "dsse-envelope".to_owned()),
            ("dev.sigstore.bundle.predicateType".to_owned(), cosign::PREDICATE_TYPE.to_owned()),
            ("org.opencontainers.image.created".to_owned(), created.to_owned()),
        ]
        .into(),
    };
    registries.push_referrer(repository, &manifest.digest, &referrer.to_bytes())?;
    Ok(true)
}
