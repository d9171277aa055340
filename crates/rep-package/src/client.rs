//! How sources on other machines are reached: through caches in the user's cache directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rep_net::HttpProxy;
use rep_net::git::{CachedCommit, GitCache, GitReference, GitUrl, RemoteReference};
use rep_net::oci::{CredentialFiles, OciClient, OciClientOptions, OciRepository};

use crate::content_store::ContentStore;
use crate::error::{PackageError, PackageErrorCode};
use crate::lock::InstallOrigin;
use crate::signers::TrustedSigners;
use crate::source_name::{list_source_names, repository_names};
use crate::source_rules::{SourceRules, address_names, registry_names};

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
        Ok(Self {
            git: GitCache::new(folder.join("git"), options.rules.proxy().map(HttpProxy::to_url)),
            content: ContentStore::new(folder.join("content")),
            registries: OciClient::new(OciClientOptions {
                credentials: options.credentials,
                cache: Some(folder.join("blobs")),
                proxy: options.rules.proxy().cloned(),
                mirrors: options.rules.mirrors(),
            }),
            signers: options.signers,
            rules: options.rules,
            recorder: options.recorder,
            progress: options.progress,
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
        self.check_names(&registry_names(repository), &repository.to_string())?;
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
        let fetch = || rep_net::fetch::fetch_file_through(self.rules.proxy(), mirror.as_deref().unwrap_or(url), most);
        let bytes = self
            .show_progress(url, fetch)
            .map_err(|error| PackageError::new(PackageErrorCode::FetchFailed, error.to_string()))?;
        self.record(SourceAction::Fetch, url, &crate::files::digest_bytes(&bytes), "")?;
        Ok(bytes)
    }

    fn check_repository(&self, url: &GitUrl) -> Result<(), PackageError> {
        let kind = match url.server().as_str() {
            "github.com" => "github",
            "gitlab.com" => "gitlab",
            _ => "git",
        };
        self.check_names(&repository_names(kind, &url.server(), url.repository_path(), url.as_str()), url.as_str())
    }

    /// Fails if the rules do not allow the source of a skill.
    pub(crate) fn check_origin(&self, origin: &InstallOrigin) -> Result<(), PackageError> {
        let shown = origin.url.as_deref().unwrap_or(&origin.source);
        self.check_names(&list_source_names(origin), shown)
    }

    fn check_names(&self, names: &[String], shown: &str) -> Result<(), PackageError> {
        let checked = self.rules.check(names, shown);
        if let Err(error) = &checked {
            self.record(SourceAction::Refuse, shown, "", &error.message)?;
        }
        checked
    }

    fn find_repository_mirror(&self, url: &GitUrl) -> Result<Option<GitUrl>, PackageError> {
        let names = [url.as_str().to_owned(), format!("https://{}/{}", url.server(), url.repository_path())];
        let mirror = names.iter().find_map(|name| self.rules.find_mirror(name));
        let parse = |text: String| {
            GitUrl::parse(&text).map_err(|reason| {
                PackageError::new(PackageErrorCode::InvalidRules, format!("the mirror `{text}`: {reason}"))
            })
        };
        mirror.map(parse).transpose()
    }

    /// Shows what is being fetched until that is done.
    pub(crate) fn show_progress<T>(&self, what: &str, fetch: impl FnOnce() -> T) -> T {
        let Some(FetchProgress(show)) = &self.progress else { return fetch() };
        show(Some(what));
        let fetched = fetch();
        show(None);
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

/// Shows what is being fetched; `None` when nothing is any longer.
#[derive(Clone)]
pub struct FetchProgress(pub ShowFetch);

/// A function that shows what is being fetched.
pub type ShowFetch = Arc<dyn Fn(Option<&str>) + Send + Sync>;

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
