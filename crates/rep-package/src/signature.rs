//! Whether a skill is signed, by whom, and whether it may be installed.
//!
//! A directory is signed by OpenSSF Model Signing, and the signature is one of its files. An artifact in a registry is
//! signed by cosign. A signature that is wrong is always refused. A signature by someone whom the user does not trust is
//! reported, and is the same as none where the user requires one.

mod artifact;
mod folder;

use std::collections::BTreeMap;
use std::path::Path;

use rep_model::Skill;
use rep_model::provenance::DeclaredProvenance;
use rep_signature::model_signing::{SIGNATURE_FILE, SignedFiles};
use rep_signature::{SignatureBundle, SignatureError, SignatureErrorKind, TrustRoot, VerificationMaterial};
use sha2::{Digest, Sha256};

pub use artifact::find_artifact_signature;
pub(crate) use artifact::sign_artifact;
pub use folder::{FolderSigner, SignedFolder, sign_folder, verify_folder};

use crate::atomic_dir::PackageFile;
use crate::client::{SourceAction, SourceClient};
use crate::error::{PackageError, PackageErrorCode};
use crate::files;
use crate::lock::{InstallOrigin, InstalledSkill};
use crate::scope::InstallScope;
use crate::signers::TrustedSigner;
use crate::source::OfferedSkill;

/// The maximum size of a signature.
const SIGNATURE_BYTES_MAX: u64 = 8 << 20;
/// The maximum number of files in a message.
const FILES_SHOWN_MAX: usize = 5;

/// A signature of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillSignature {
    /// What kind of signature it is.
    pub kind: SignatureKind,
    /// Whether it is right.
    pub verdict: SignatureVerdict,
    /// What names the key, or the certificate nearest to the root.
    pub key: Option<String>,
    /// The name in the signer's certificate.
    pub subject: Option<String>,
    /// The trusted signer who made it.
    pub signer: Option<String>,
}

/// The kinds of signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureKind {
    /// OpenSSF Model Signing of the directory.
    ModelSigning,
    /// A cosign signature of the artifact.
    Cosign,
}

impl SignatureKind {
    /// Returns the name in results and in the lock file.
    pub const fn as_str(self) -> &'static str {
        match self {
            SignatureKind::ModelSigning => "model-signing",
            SignatureKind::Cosign => "cosign",
        }
    }

    /// Parses a name.
    pub fn parse(text: &str) -> Option<Self> {
        [SignatureKind::ModelSigning, SignatureKind::Cosign].into_iter().find(|kind| kind.as_str() == text)
    }
}

/// Whether a signature is right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignatureVerdict {
    /// A trusted signer made it, and the content is what was signed.
    Valid,
    /// The content is what was signed, and the signer is not trusted for this source.
    UnknownSigner,
    /// It is of a kind that is not checked. Contains the reason.
    Unchecked(String),
    /// It is wrong. Contains the reason.
    Invalid(String),
}

impl SignatureVerdict {
    /// Returns the name in results.
    pub const fn as_str(&self) -> &'static str {
        match self {
            SignatureVerdict::Valid => "valid",
            SignatureVerdict::UnknownSigner => "unknown-signer",
            SignatureVerdict::Unchecked(_) => "unchecked",
            SignatureVerdict::Invalid(_) => "invalid",
        }
    }
}

/// What the lock file records about a signature.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct RecordedSignature {
    /// The kind.
    pub kind: String,
    /// What names the key.
    pub key: Option<String>,
    /// The name in the certificate.
    pub subject: Option<String>,
    /// The trusted signer.
    pub signer: Option<String>,
}

impl SkillSignature {
    pub(crate) fn new(kind: SignatureKind, verdict: SignatureVerdict) -> Self {
        Self { kind, verdict, key: None, subject: None, signer: None }
    }

    /// Describes the signature in a few words.
    pub fn describe(&self) -> String {
        let subject = self.subject.as_ref().map(|subject| format!(" (`{subject}`)")).unwrap_or_default();
        match (&self.verdict, &self.signer) {
            (SignatureVerdict::Valid, Some(signer)) => format!("signed by {signer}{subject}"),
            (SignatureVerdict::Valid, None) => format!("signed{subject}"),
            (SignatureVerdict::UnknownSigner, _) => format!("signed by an unknown signer{subject}"),
            (SignatureVerdict::Unchecked(reason), _) => format!("signed, not checked: {reason}"),
            (SignatureVerdict::Invalid(reason), _) => format!("bad signature: {reason}"),
        }
    }

    fn to_record(&self) -> RecordedSignature {
        RecordedSignature {
            kind: self.kind.as_str().to_owned(),
            key: self.key.clone(),
            subject: self.subject.clone(),
            signer: self.signer.clone(),
        }
    }
}

/// Returns the SHA-256 digest of each file, as a signature of a directory lists them.
pub fn hash_files(found: &[PackageFile]) -> BTreeMap<String, String> {
    found.iter().map(|file| (file.path.clone(), hex::encode(Sha256::digest(file.bytes())))).collect()
}

/// Returns the path of the signature in a skill: the usual one, or the file that `provenance.signature` names.
fn find_signature_path(found: &[PackageFile], declared: Option<&str>) -> Result<Option<String>, String> {
    let has = |path: &str| found.iter().any(|file| file.path == path);
    match declared {
        Some(path) if has(path) => Ok(Some(path.to_owned())),
        _ if has(SIGNATURE_FILE) => Ok(Some(SIGNATURE_FILE.to_owned())),
        Some(path) if is_signature_path(path) => {
            Err(format!("`provenance.signature` names `{}`, which does not exist", path.escape_debug()))
        }
        _ => Ok(None),
    }
}

fn is_signature_path(text: &str) -> bool {
    Path::new(text).extension().is_some_and(|end| end == "sig") && !text.contains(char::is_whitespace)
}

/// Returns the declared signature of a skill.
pub fn declared_signature(skill: &Skill) -> Option<String> {
    skill.frontmatter().and_then(DeclaredProvenance::from_frontmatter).and_then(|declared| declared.signature)
}

/// Returns the path of the signature that the SKILL.md in a directory declares, if it is a path.
pub fn read_declared_signature(folder: &Path) -> Option<String> {
    let found = files::read_selected_files(folder, &["SKILL.md".to_owned(), "skill.md".to_owned()]).ok()?;
    let (skill, _) = Skill::parse(crate::source::build_skill_tree("skill", &found));
    let declared = declared_signature(&skill).filter(|path| is_signature_path(path))?;
    match rep_model::resolve_skill_path("", &declared) {
        rep_model::ResolvedSkillPath::Inside(path) => Some(path),
        _ => None,
    }
}

/// Checks the signature in the files of a skill. `declared` is its `provenance.signature`. Returns `None` if it has none.
pub fn check_directory(
    found: &[PackageFile],
    declared: Option<&str>,
    trusted: &[&TrustedSigner],
) -> Option<SkillSignature> {
    let new = |verdict| SkillSignature::new(SignatureKind::ModelSigning, verdict);
    let path = match find_signature_path(found, declared) {
        Ok(path) => path,
        Err(reason) => return Some(new(SignatureVerdict::Invalid(reason))),
    };
    let Some(path) = path else {
        let reason = "`provenance.signature` is not the path of a signature in the skill";
        return declared.map(|_| new(SignatureVerdict::Unchecked(reason.to_owned())));
    };
    let file = found.iter().find(|file| file.path == path)?;
    Some(check_bundle(file.bytes(), &path, found, trusted))
}

/// Checks a signature of the files of a directory. `path` is its own path among them.
pub fn check_bundle(bytes: &[u8], path: &str, found: &[PackageFile], trusted: &[&TrustedSigner]) -> SkillSignature {
    let mut result = SkillSignature::new(SignatureKind::ModelSigning, SignatureVerdict::UnknownSigner);
    let bundle = match SignatureBundle::parse(bytes) {
        Ok(bundle) => bundle,
        Err(error) => {
            result.verdict = verdict_from_error(&error);
            return result;
        }
    };
    let signed = SignedFiles::parse(&bundle.payload).and_then(|signed| Ok((signed, bundle.claimed_identity()?)));
    let (signed, identity) = match signed {
        Ok(parsed) => parsed,
        Err(error) => {
            result.verdict = verdict_from_error(&error);
            return result;
        }
    };
    if let Some(identity) = identity {
        (result.key, result.subject) = (Some(identity.key), identity.name);
    }
    let mut digests = hash_files(found);
    digests.remove(path);
    let differences = signed.compare(&digests);
    if !differences.is_empty() {
        let shown = differences.iter().take(FILES_SHOWN_MAX);
        let mut words: Vec<String> =
            shown.map(|one| format!("`{}` is {}", one.path.escape_debug(), one.kind.as_str())).collect();
        let more = differences.len() - words.len();
        words.extend((more > 0).then(|| format!("{more} more differ")));
        result.verdict = SignatureVerdict::Invalid(words.join(", "));
        return result;
    }
    if bundle.material == VerificationMaterial::Keyless {
        let reason = "it was made without a key of the signer's own (keyless)";
        result.verdict = SignatureVerdict::Unchecked(reason.to_owned());
        return result;
    }
    for signer in trusted {
        match bundle.verify(&signer.root) {
            Ok(verified) => {
                result.verdict = SignatureVerdict::Valid;
                result.signer = Some(signer.name.clone());
                result.subject = verified.identity.name;
                return result;
            }
            Err(error) if error.kind == SignatureErrorKind::OtherSigner => {}
            Err(error) => result.verdict = verdict_from_error(&error),
        }
    }
    result
}

/// Verifies a signature with exactly one key or root, as `model_signing verify` does.
pub fn verify_with_root(bytes: &[u8], path: &str, found: &[PackageFile], root: &TrustRoot) -> SkillSignature {
    let one = TrustedSigner { name: String::new(), root: root.clone(), patterns: Vec::new(), is_required: false };
    let mut result = check_bundle(bytes, path, found, &[&one]);
    result.signer = None;
    if result.verdict == SignatureVerdict::UnknownSigner {
        let reason = match SignatureBundle::parse(bytes).and_then(|bundle| bundle.verify(root)) {
            Err(error) => error.message,
            Ok(_) => "the signer is unknown".to_owned(),
        };
        result.verdict = SignatureVerdict::Invalid(reason);
    }
    result
}

pub(crate) fn verdict_from_error(error: &SignatureError) -> SignatureVerdict {
    match error.kind {
        SignatureErrorKind::Unsupported => SignatureVerdict::Unchecked(error.message.clone()),
        SignatureErrorKind::OtherSigner => SignatureVerdict::UnknownSigner,
        SignatureErrorKind::Malformed | SignatureErrorKind::Invalid => SignatureVerdict::Invalid(error.message.clone()),
    }
}

/// Removes the files of a signed skill that its signature does not cover, because nobody vouches for them.
pub(crate) fn drop_unsigned_files(found: &mut Vec<PackageFile>) {
    let bundle = found.iter().find(|file| file.path == SIGNATURE_FILE);
    let signed = bundle.and_then(|file| {
        let bundle = SignatureBundle::parse(file.bytes()).ok()?;
        SignedFiles::parse(&bundle.payload).ok()
    });
    if let Some(signed) = signed {
        found.retain(|file| file.path == SIGNATURE_FILE || !signed.is_ignored(&file.path));
    }
}

/// Whether files are those of a signed skill, which must be packed whole.
pub(crate) fn is_signed(found: &[PackageFile]) -> bool {
    found.iter().any(|file| file.path == SIGNATURE_FILE)
}

/// Whether a change of the signer was accepted by the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignerChange {
    /// It is refused.
    Refuse,
    /// The user accepted it.
    Accept,
}

/// Finds the signature of a skill, in its files or in its registry. A trusted one is preferred.
pub fn find_signature(
    found: &[PackageFile],
    origin: &InstallOrigin,
    declared: Option<&str>,
    client: &SourceClient,
) -> Result<Option<SkillSignature>, PackageError> {
    let trusted = client.signers().list_for(origin);
    let directory = check_directory(found, declared, &trusted);
    match &directory {
        Some(one) if one.verdict == SignatureVerdict::Valid || matches!(one.verdict, SignatureVerdict::Invalid(_)) => {
            Ok(directory)
        }
        _ => Ok(match find_artifact_signature(origin, &trusted, client)? {
            Some(artifact) if artifact.verdict != SignatureVerdict::UnknownSigner || directory.is_none() => {
                Some(artifact)
            }
            _ => directory,
        }),
    }
}

/// Checks the signature of a skill that is installed or is restored. Its registry is asked only where the user requires a
/// signature that the files do not have.
pub(crate) fn check_restored(
    name: &str,
    found: &[PackageFile],
    origin: &InstallOrigin,
    client: &SourceClient,
) -> Result<Option<SkillSignature>, PackageError> {
    let (skill, _) = Skill::parse(crate::source::build_skill_tree(name, found));
    let trusted = client.signers().list_for(origin);
    let mut signature = check_directory(found, declared_signature(&skill).as_deref(), &trusted);
    let is_settled = matches!(
        signature.as_ref().map(|one| &one.verdict),
        Some(SignatureVerdict::Valid | SignatureVerdict::Invalid(_))
    );
    if !is_settled && trusted.iter().any(|signer| signer.is_required) {
        signature = find_artifact_signature(origin, &trusted, client)?.or(signature);
    }
    check_signature(name, origin, signature.as_ref(), client)?;
    Ok(signature)
}

/// The signature of an installed skill.
#[derive(Clone, Debug)]
pub struct InstalledSignature {
    /// The skill's name.
    pub name: String,
    /// Its signature, or why it is not accepted. `None` if it has none.
    pub signature: Result<Option<SkillSignature>, PackageError>,
}

/// Checks the signatures of the named installed skills, or of all.
pub fn verify_installed_signatures(
    names: &[String],
    scope: &InstallScope,
    client: &SourceClient,
) -> Result<Vec<InstalledSignature>, PackageError> {
    let lock = scope.read_lock_file()?;
    let names = if names.is_empty() { lock.skill_names() } else { names.to_vec() };
    let one = |name: String| {
        let skill = scope.find_installed(&lock, &name)?;
        let signature = match scope.read_any_place(&name, &skill) {
            Some(found) => check_restored(&name, &found, &skill.origin, client),
            None => Ok(None),
        };
        Ok(InstalledSignature { name, signature })
    };
    names.into_iter().map(one).collect()
}

/// Decides whether a skill may be installed, and records its signature in it. `before` is the installed version.
pub fn accept_signature(
    one: &mut OfferedSkill,
    before: Option<&InstalledSkill>,
    change: SignerChange,
    client: &SourceClient,
) -> Result<Option<SkillSignature>, PackageError> {
    let (skill, _) = Skill::parse(one.to_skill_tree());
    let declared = declared_signature(&skill);
    let signature = find_signature(&one.files, &one.origin, declared.as_deref(), client)?;
    let shown = one.origin.url.as_deref().unwrap_or(&one.origin.source);
    let digest = files::digest_files(&one.files);
    let words = |found: &SkillSignature| format!("{}: {}", one.name, found.describe());
    if let Some(signature) = &signature {
        client.record(SourceAction::Verdict, shown, &digest, &words(signature))?;
    }
    let checked = check_signature(&one.name, &one.origin, signature.as_ref(), client);
    if let Err(error) = &checked {
        client.record(SourceAction::Refuse, shown, &digest, &error.message)?;
    }
    checked?;
    let record = signature.as_ref().map(SkillSignature::to_record);
    if let Some(before) = before.and_then(|before| before.signature.as_ref())
        && change == SignerChange::Refuse
        && !is_same_signer(before, record.as_ref())
    {
        let error = signer_changed_error(&one.name, before, signature.as_ref());
        client.record(SourceAction::Refuse, shown, &digest, &error.message)?;
        return Err(error);
    }
    one.signature = record;
    Ok(signature)
}

/// Fails if a signature is wrong, or missing where the user requires one.
pub fn check_signature(
    name: &str,
    origin: &InstallOrigin,
    signature: Option<&SkillSignature>,
    client: &SourceClient,
) -> Result<(), PackageError> {
    if let Some(SkillSignature { verdict: SignatureVerdict::Invalid(reason), .. }) = signature {
        let message = format!("the signature of `{name}` is bad: {reason}");
        return Err(PackageError::new(PackageErrorCode::BadSignature, message)
            .remedy("nothing of it was installed; ask its publisher"));
    }
    let required: Vec<&str> = client
        .signers()
        .list_for(origin)
        .into_iter()
        .filter(|signer| signer.is_required)
        .map(|signer| signer.name.as_str())
        .collect();
    let signed_by =
        signature.filter(|one| one.verdict == SignatureVerdict::Valid).and_then(|one| one.signer.as_deref());
    if required.is_empty() || signed_by.is_some_and(|signer| required.contains(&signer)) {
        return Ok(());
    }
    let found = signature.map_or_else(|| "it is not signed".to_owned(), SkillSignature::describe);
    let message = format!("`{name}` must be signed by {}: {found}", required.join(" or "));
    Err(PackageError::new(PackageErrorCode::SignatureRequired, message)
        .remedy("`rep trust signer --list` shows who must sign what"))
}

/// Whether a skill has the same signer as the installed version.
fn is_same_signer(before: &RecordedSignature, after: Option<&RecordedSignature>) -> bool {
    let Some(after) = after else { return false };
    if after.signer.is_some() {
        return before.signer.is_none() || before.signer == after.signer;
    }
    before.signer.is_none() && before.kind == after.kind && before.key == after.key && before.subject == after.subject
}

fn signer_changed_error(name: &str, before: &RecordedSignature, after: Option<&SkillSignature>) -> PackageError {
    let shown = [&before.signer, &before.subject, &before.key].into_iter().flatten().next();
    let shown = shown.map_or_else(|| "someone".to_owned(), |text| format!("`{}`", text.escape_debug()));
    let found = after.map_or_else(|| "is not signed".to_owned(), |one| format!("is {}", one.describe()));
    let message = format!("the installed `{name}` is signed by {shown}, and this one {found}");
    PackageError::new(PackageErrorCode::SignerChanged, message)
        .remedy("if its publisher confirms the change, pass --accept-signer")
}

/// Reads a signature file.
pub fn read_signature_file(path: &Path) -> Result<Vec<u8>, PackageError> {
    files::read_file(path, SIGNATURE_BYTES_MAX).map_err(|error| {
        PackageError::new(PackageErrorCode::Unreadable, format!("could not read `{}`: {error}", path.display()))
    })
}
