//! Follows a tag in a registry, for servers: pulls what it means as a whole, and notices when it means something else.
//!
//! A snapshot is a directory with all skills, named after the digest of the manifest. It never changes, so that what
//! still uses an older one is not disturbed. If the registry is away, or what it has now is refused, the last snapshot
//! remains.
#![expect(clippy::disallowed_methods, reason = "this module owns a directory of the cache")]

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use rep_net::oci::{OciReference, OciSelector, check_digest, digest_bytes};

use crate::atomic_dir::{OnExistingFolder, PackageFile, write_folder_atomically};
use crate::client::SourceClient;
use crate::error::{PackageError, PackageErrorCode};
use crate::files;
use crate::install::check_offered_skill;
use crate::signature::{SignerChange, accept_signature};
use crate::source::{OfferedSkill, load_pulled};

/// How long an old snapshot is kept for other servers that share the cache.
const SNAPSHOT_AGE_MAX: Duration = Duration::from_hours(24);
/// The file that names the newest snapshot.
const CURRENT_FILE: &str = "current";
/// The maximum size of that file.
const CURRENT_BYTES_MAX: u64 = 1024;

/// A tag that is followed.
#[derive(Debug)]
pub struct FollowedArtifact {
    reference: OciReference,
    tag: String,
    /// The directory of its snapshots.
    folder: PathBuf,
    digest: Option<String>,
}

/// What a tag meant at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowedSnapshot {
    /// The digest of the manifest.
    pub digest: String,
    /// The directory with the skills.
    pub folder: PathBuf,
}

impl FollowedArtifact {
    /// Follows a tag, or `latest`. Snapshots are stored in the cache of the client. Fails if the rules for sources do not
    /// allow it. No request is sent.
    pub fn new(reference: OciReference, client: &SourceClient) -> Result<Self, PackageError> {
        client.registries(&reference.repository)?;
        let tag = match &reference.selector {
            None => "latest".to_owned(),
            Some(OciSelector::Tag(tag) | OciSelector::Digest(tag)) => tag.clone(),
            Some(OciSelector::Range(_)) => {
                let message = format!("`{reference}` is a range, and a server follows a tag");
                return Err(PackageError::new(PackageErrorCode::RefusedSource, message)
                    .remedy("write `oci://HOST/REPOSITORY:TAG`"));
            }
        };
        let key = digest_bytes(format!("{}:{tag}", reference.repository).as_bytes());
        let folder = client.cache_folder().join("followed").join(check_digest(&key).unwrap_or_default());
        Ok(Self { reference, tag, folder, digest: None })
    }

    /// Returns the address, for people.
    pub fn address(&self) -> String {
        self.reference.to_string()
    }

    /// Returns the digest of the newest snapshot.
    pub fn digest(&self) -> Option<&str> {
        self.digest.as_deref()
    }

    /// Asks the registry what the tag means, and pulls it if that is something else than before. Returns `None` if nothing
    /// changed.
    pub fn refresh(
        &mut self,
        client: &SourceClient,
        warn: &mut dyn FnMut(&str),
    ) -> Result<Option<FollowedSnapshot>, PackageError> {
        let repository = &self.reference.repository;
        let registries = client.registries(repository)?;
        let known = self.digest.as_deref();
        let Some(manifest) = registries.fetch_manifest_if_changed(repository, &self.tag, known)? else {
            return Ok(None);
        };
        let digest = manifest.digest.clone();
        if known == Some(digest.as_str()) {
            return Ok(None);
        }
        let mut skills = load_pulled(repository, &self.tag, manifest, client, warn)?;
        for one in &mut skills {
            accept_signature(one, None, SignerChange::Refuse, client)?;
            check_offered_skill(one, false)
                .map_err(|errors| PackageError::new(PackageErrorCode::InvalidSkill, errors.to_string()))?;
        }
        let snapshot = self.write_snapshot(&digest, &skills)?;
        self.digest = Some(digest);
        self.remove_old_snapshots();
        Ok(Some(snapshot))
    }

    /// Returns the snapshot that an earlier server pulled, for a start while the registry is away.
    pub fn load_last(&mut self) -> Option<FollowedSnapshot> {
        let bytes = files::read_file(&self.folder.join(CURRENT_FILE), CURRENT_BYTES_MAX).ok()?;
        let digest = String::from_utf8(bytes).ok()?.trim().to_owned();
        let folder = self.folder.join(check_digest(&digest).ok()?);
        if !folder.is_dir() {
            return None;
        }
        self.digest = Some(digest.clone());
        Some(FollowedSnapshot { digest, folder })
    }

    fn write_snapshot(&self, digest: &str, skills: &[OfferedSkill]) -> Result<FollowedSnapshot, PackageError> {
        let hex =
            check_digest(digest).map_err(|reason| PackageError::new(PackageErrorCode::InvalidArtifact, reason))?;
        let mut all: Vec<PackageFile> = Vec::new();
        for (at, one) in skills.iter().enumerate() {
            if skills[..at].iter().any(|other| other.name == one.name) {
                let message = format!("`{}` has two skills named `{}`", self.reference, one.name);
                return Err(PackageError::new(PackageErrorCode::Ambiguous, message));
            }
            let below =
                |file: &PackageFile| PackageFile { path: format!("{}/{}", one.name, file.path), ..file.clone() };
            all.extend(one.files.iter().map(below));
        }
        all.sort_by(|one, two| one.path.cmp(&two.path));
        let folder = self.folder.join(hex);
        let is_there =
            files::read_all_files(&folder).is_ok_and(|found| files::digest_files(&found) == files::digest_files(&all));
        if !is_there {
            fs::create_dir_all(&self.folder).map_err(|error| self.write_error(&error))?;
            write_folder_atomically(&all, &folder, OnExistingFolder::Replace)?;
        }
        let current = self.folder.join(CURRENT_FILE);
        rep_storage::atomic::write_cache_file(&current, digest.as_bytes()).map_err(|error| self.write_error(&error))?;
        Ok(FollowedSnapshot { digest: digest.to_owned(), folder })
    }

    fn write_error(&self, error: &std::io::Error) -> PackageError {
        let message = format!("could not write `{}`: {error}", self.folder.display());
        PackageError::new(PackageErrorCode::Unwritable, message)
    }

    /// Removes snapshots that have not been the newest for a long time. A failure only costs space.
    fn remove_old_snapshots(&self) {
        let newest = self.digest.as_deref().and_then(|digest| check_digest(digest).ok());
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let age = entry.metadata().and_then(|about| about.modified()).ok();
            let age = age.and_then(|time| SystemTime::now().duration_since(time).ok());
            let is_snapshot = check_digest(&format!("sha256:{name}")).is_ok();
            if is_snapshot && newest != Some(name.as_str()) && age.is_some_and(|age| age > SNAPSHOT_AGE_MAX) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }
}
