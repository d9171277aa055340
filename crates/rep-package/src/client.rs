//! How sources on other machines are reached: through caches in the user's cache directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rep_net::fetch::FetchOptions;
use rep_net::git::{CachedCommit, GitCache, GitReference, GitUrl, RemoteReference};
use rep_net::oci::{CredentialFiles, OciClient, OciClientOptions, OciRepository};
use rep_net::{DownloadObserver, DownloadProgress};

use crate::content_store::ContentStore;
use crate::error::{PackageError, PackageErrorCode};
use crate::lock::InstallOrigin;
use crate::signers::TrustedSigners;
use crate::source_name::{list_source_names, repository_names};
use crate::source_rules::{SourceMirror, SourceRules, address_names, registry_names};

/// Fetches from sources on other machines.
#[derive(Debug)]
pub struct SourceClient {
    git: GitCache,
    content: ContentStore,
    registries: OciClient,
    signers: TrustedSigners,
    rules: SourceRules,
    recorder: Option<SourceRecorder>,
    progress: Option<FetchProgress>,
    fetch: FetchOptions,
    folder: PathBuf,
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
    /// Which sources are allowed, and how they are reached.
    pub rules: SourceRules,
    /// Records what is fetched, pushed, refused and verified. If it fails, the operation fails.
    pub recorder: Option<SourceRecorder>,
    /// Shows what is being fetched.
    pub progress: Option<FetchProgress>,
    /// Whether only caches may be used.
    pub is_offline: bool,
}

impl SourceClient {
    /// Creates a client. Nothing is written before something is fetched.
    pub fn new(options: SourceClientOptions) -> Result<Self, PackageError> {
        let scratch = if options.cache.is_some() { None } else { Some(tempfile::tempdir().map_err(no_cache_error)?) };
        let own = scratch.as_ref().map(|scratch| scratch.path().to_owned());
        let folder = options.cache.map(|cache| cache.join("packages")).or(own).unwrap_or_default();
        let observer = options
            .progress
            .clone()
            .map(|FetchProgress(show)| DownloadObserver::new(move |progress| show(FetchEvent::Received(progress))));
        let fetch = FetchOptions { proxy: options.rules.proxy().cloned(), observer };
        Ok(Self {
            git: GitCache::new(folder.join("git"), fetch.clone()),
            content: ContentStore::new(folder.join("content")),
            registries: OciClient::new(OciClientOptions {
                credentials: options.credentials,
                cache: Some(folder.join("blobs")),
                fetch: fetch.clone(),
                mirrors: options.rules.mirrors(),
            }),
            signers: options.signers,
            rules: options.rules,
            recorder: options.recorder,
            progress: options.progress,
            fetch,
            is_offline: options.is_offline,
            folder,
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

    /// Returns the directory of all caches.
    pub fn cache_folder(&self) -> &Path {
        &self.folder
    }

    /// Whether only caches may be used.
    pub(crate) fn is_offline(&self) -> bool {
        self.is_offline
    }

    /// Returns the client for registries. Offline, none can be used.
    pub(crate) fn registries(&self, repository: &OciRepository) -> Result<&OciClient, PackageError> {
        let address = repository.to_string();
        self.check_names(&registry_names(repository), &address)?;
        if let Some(mirror) = self.rules.find_mirror(&address)
            && let Ok(other) = OciRepository::parse(&mirror.address)
        {
            self.check_mirror(&mirror, &registry_names(&other))?;
        }
        if self.is_offline { Err(offline_error(&repository.to_string())) } else { Ok(&self.registries) }
    }

    /// Fetches a branch, a tag or a commit of a repository. Offline, only a full commit that is cached can be had.
    pub(crate) fn fetch_commit(
        &self,
        url: &GitUrl,
        reference: Option<&GitReference>,
    ) -> Result<CachedCommit, PackageError> {
        self.check_repository(url)?;
        if self.is_offline {
            let cached = reference.and_then(|reference| self.git.find_commit(url, reference.as_str()));
            return cached.ok_or_else(|| offline_error(url.as_str()));
        }
        let mirror = self.find_repository_mirror(url)?;
        let fetch = || self.git.fetch(mirror.as_ref().unwrap_or(url), reference);
        let commit = self.show_progress(url.as_str(), fetch)?;
        self.record(SourceAction::Fetch, url.as_str(), &commit.id, "")?;
        Ok(commit)
    }

    /// Lists the branches and tags of a repository.
    pub(crate) fn list_references(&self, url: &GitUrl) -> Result<Vec<RemoteReference>, PackageError> {
        self.check_repository(url)?;
        if self.is_offline {
            return Err(offline_error(url.as_str()));
        }
        let mirror = self.find_repository_mirror(url)?;
        Ok(self.git.list_references(mirror.as_ref().unwrap_or(url))?)
    }

    /// Fetches a file of at most `most` bytes.
    pub(crate) fn fetch_file(&self, url: &str, most: u64) -> Result<Vec<u8>, PackageError> {
        self.check_names(&address_names(url), url)?;
        if self.is_offline {
            return Err(offline_error(url));
        }
        let mirror = self.rules.find_mirror(url);
        if let Some(mirror) = &mirror {
            self.check_mirror(mirror, &address_names(&mirror.address))?;
        }
        let address = mirror.as_ref().map_or(url, |mirror| mirror.address.as_str());
        let fetch = || rep_net::fetch::fetch_file_with(&self.fetch, address, most);
        let bytes = self
            .show_progress(url, fetch)
            .map_err(|error| PackageError::new(PackageErrorCode::FetchFailed, error.to_string()))?;
        self.record(SourceAction::Fetch, url, &crate::files::digest_bytes(&bytes), "")?;
        Ok(bytes)
    }

    fn check_repository(&self, url: &GitUrl) -> Result<(), PackageError> {
        self.check_names(&url_names(url), url.as_str())
    }

    /// Fails if the rules do not allow the source of a skill.
    pub(crate) fn check_origin(&self, origin: &InstallOrigin) -> Result<(), PackageError> {
        let shown = origin.url.as_deref().unwrap_or(&origin.source);
        self.check_names(&list_source_names(origin), shown)
    }

    fn check_names(&self, names: &[String], shown: &str) -> Result<(), PackageError> {
        self.record_refusal(self.rules.check(names, shown), shown)
    }

    fn check_mirror(&self, mirror: &SourceMirror, names: &[String]) -> Result<(), PackageError> {
        self.record_refusal(self.rules.check_mirror(mirror, names), &mirror.address)
    }

    fn record_refusal(&self, checked: Result<(), PackageError>, shown: &str) -> Result<(), PackageError> {
        if let Err(error) = &checked {
            self.record(SourceAction::Refuse, shown, "", &error.message)?;
        }
        checked
    }

    fn find_repository_mirror(&self, url: &GitUrl) -> Result<Option<GitUrl>, PackageError> {
        let names = [url.as_str().to_owned(), format!("https://{}/{}", url.server(), url.repository_path())];
        let Some(mirror) = names.iter().find_map(|name| self.rules.find_mirror(name)) else { return Ok(None) };
        let other = GitUrl::parse(&mirror.address).map_err(|reason| {
            PackageError::new(PackageErrorCode::InvalidRules, format!("the mirror `{}`: {reason}", mirror.address))
        })?;
        self.check_mirror(&mirror, &url_names(&other))?;
        Ok(Some(other))
    }

    /// Shows what is being fetched until that is done.
    pub(crate) fn show_progress<T>(&self, what: &str, fetch: impl FnOnce() -> T) -> T {
        let Some(FetchProgress(show)) = &self.progress else { return fetch() };
        show(FetchEvent::Started(what));
        let fetched = fetch();
        show(FetchEvent::Ended);
        fetched
    }

    /// Records what was done with a source.
    pub(crate) fn record(
        &self,
        action: SourceAction,
        source: &str,
        revision: &str,
        message: &str,
    ) -> Result<(), PackageError> {
        let Some(SourceRecorder(recorder)) = &self.recorder else { return Ok(()) };
        recorder(&SourceEvent { action, source, revision, message }).map_err(|reason| {
            PackageError::new(PackageErrorCode::Unwritable, format!("could not record the use of `{source}`: {reason}"))
                .remedy("what cannot be recorded is not done; check the data directory")
        })
    }
}

/// Returns the names of the repository at an address.
fn url_names(url: &GitUrl) -> Vec<String> {
    let kind = match url.server().as_str() {
        "github.com" => "github",
        "gitlab.com" => "gitlab",
        _ => "git",
    };
    repository_names(kind, &url.server(), url.repository_path(), url.as_str())
}

/// What was done with a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceAction {
    /// Something was fetched from it.
    Fetch,
    /// Something was pushed to it.
    Push,
    /// It, or what it has, was refused.
    Refuse,
    /// A signature was checked.
    Verdict,
}

impl SourceAction {
    /// Returns the name in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            SourceAction::Fetch => "fetch",
            SourceAction::Push => "push",
            SourceAction::Refuse => "refuse",
            SourceAction::Verdict => "verdict",
        }
    }
}

/// An event that is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceEvent<'a> {
    /// What was done.
    pub action: SourceAction,
    /// The address.
    pub source: &'a str,
    /// The commit or digest; empty if there is none.
    pub revision: &'a str,
    /// The reason of a refusal, or the verdict.
    pub message: &'a str,
}

/// What happens to something that is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchEvent<'a> {
    /// It is being fetched.
    Started(&'a str),
    /// A part of it arrived.
    Received(DownloadProgress),
    /// It is no longer being fetched.
    Ended,
}

/// Shows what is being fetched.
#[derive(Clone)]
pub struct FetchProgress(pub ShowFetch);

/// A function that shows what is being fetched.
pub type ShowFetch = Arc<dyn Fn(FetchEvent<'_>) + Send + Sync>;

impl std::fmt::Debug for FetchProgress {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("FetchProgress")
    }
}

/// Records events. Returns a message if that fails.
#[derive(Clone)]
pub struct SourceRecorder(pub RecordEvent);

/// A function that records an event.
pub type RecordEvent = Arc<dyn Fn(&SourceEvent<'_>) -> Result<(), String> + Send + Sync>;

impl std::fmt::Debug for SourceRecorder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("SourceRecorder")
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
