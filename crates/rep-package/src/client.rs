//! How sources on other machines are reached: through caches in the user's cache directory.

use std::path::PathBuf;

use rep_net::git::{CachedCommit, GitCache, GitReference, GitUrl, RemoteReference};
use rep_net::oci::{CredentialFiles, OciClient, OciClientOptions, OciRepository};

use crate::content_store::ContentStore;
use crate::error::{PackageError, PackageErrorCode};
use crate::signers::TrustedSigners;

/// Fetches from sources on other machines.
#[derive(Debug)]
pub struct SourceClient {
    git: GitCache,
    content: ContentStore,
    registries: OciClient,
    signers: TrustedSigners,
    is_offline: bool,
    /// The cache of a user without a cache directory. It is removed with the client.
    _scratch: Option<tempfile::TempDir>,
}

/// The settings of a client.
#[derive(Clone, Debug, Default)]
pub struct SourceClientOptions {
    /// The user's cache directory.
    pub cache: Option<PathBuf>,
    /// Where credentials for registries are stored.
    pub credentials: CredentialFiles,
    /// Whose signatures are trusted.
    pub signers: TrustedSigners,
    /// Whether only caches may be used.
    pub is_offline: bool,
}

impl SourceClient {
    /// Creates a client. Nothing is written before something is fetched.
    pub fn new(options: SourceClientOptions) -> Result<Self, PackageError> {
        let scratch = if options.cache.is_some() { None } else { Some(tempfile::tempdir().map_err(no_cache_error)?) };
        let own = scratch.as_ref().map(|scratch| scratch.path().to_owned());
        let folder = options.cache.map(|cache| cache.join("packages")).or(own).unwrap_or_default();
        Ok(Self {
            git: GitCache::new(folder.join("git"), None),
            content: ContentStore::new(folder.join("content")),
            registries: OciClient::new(OciClientOptions {
                credentials: options.credentials,
                cache: Some(folder.join("blobs")),
            }),
            signers: options.signers,
            is_offline: options.is_offline,
            _scratch: scratch,
        })
    }

    /// Returns the cache of contents.
    pub fn content(&self) -> &ContentStore {
        &self.content
    }

    /// Returns whose signatures are trusted.
    pub fn signers(&self) -> &TrustedSigners {
        &self.signers
    }

    /// Whether only caches may be used.
    pub(crate) fn is_offline(&self) -> bool {
        self.is_offline
    }

    /// Returns the client for registries. Offline, none can be used.
    pub(crate) fn registries(&self, repository: &OciRepository) -> Result<&OciClient, PackageError> {
        if self.is_offline { Err(offline_error(&repository.to_string())) } else { Ok(&self.registries) }
    }

    /// Fetches a branch, a tag or a commit of a repository. Offline, only a full commit that is cached can be had.
    pub(crate) fn fetch_commit(
        &self,
        url: &GitUrl,
        reference: Option<&GitReference>,
    ) -> Result<CachedCommit, PackageError> {
        if self.is_offline {
            let cached = reference.and_then(|reference| self.git.find_commit(url, reference.as_str()));
            return cached.ok_or_else(|| offline_error(url.as_str()));
        }
        Ok(self.git.fetch(url, reference)?)
    }

    /// Lists the branches and tags of a repository.
    pub(crate) fn list_references(&self, url: &GitUrl) -> Result<Vec<RemoteReference>, PackageError> {
        if self.is_offline {
            return Err(offline_error(url.as_str()));
        }
        Ok(self.git.list_references(url)?)
    }

    /// Fetches a file of at most `most` bytes.
    pub(crate) fn fetch_file(&self, url: &str, most: u64) -> Result<Vec<u8>, PackageError> {
        if self.is_offline {
            return Err(offline_error(url));
        }
        rep_net::fetch::fetch_file(url, most)
            .map_err(|error| PackageError::new(PackageErrorCode::FetchFailed, error.to_string()))
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is passed to `map_err`")]
fn no_cache_error(error: std::io::Error) -> PackageError {
    PackageError::new(PackageErrorCode::Unwritable, format!("could not create a cache: {error}"))
}

fn offline_error(what: &str) -> PackageError {
    PackageError::new(
        PackageErrorCode::Offline,
        format!("`{what}` is not in the cache, and `--offline` fetches nothing"),
    )
    .remedy("run the command once without `--offline`")
}
