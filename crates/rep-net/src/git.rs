//! Fetches commits with the system's git into a bare cache, and reads their files without a working tree.
//!
//! The user's git already knows the user's keys, credential helpers, certificates and proxies, so private repositories
//! work as they do for `git clone`. Nothing of a repository is executed or checked out: files are read with `ls-tree`
//! and `cat-file`, so hooks, filters, LFS, submodules and links have no effect. Only `https` and `ssh` are allowed, and
//! `http` and `git` to this machine. git never asks a question: without stored credentials, a fetch fails.

mod address;
mod changes;
mod tree;

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rep_storage::platform;
use sha2::{Digest, Sha256};

pub use address::{GitReference, GitUrl};
pub use changes::list_changed_files;
pub use tree::{GitTreeEntry, GitTreeEntryKind, parse_tree_listing};

use crate::fetch::FetchOptions;
use crate::program::{ProgramCall, ProgramError, ProgramInput, ProgramOutput, run_program};

/// The time limit for fetching, and for reading the cache.
const FETCH_TIMEOUT: Duration = Duration::from_mins(10);
const READ_TIMEOUT: Duration = Duration::from_mins(2);
/// The maximum size of a cached repository.
const REPOSITORY_BYTES_MAX: u64 = 2 << 30;
/// The maximum size of a listing of files or of references.
const LISTING_BYTES_MAX: u64 = 64 << 20;
/// How often the size of a growing repository is checked.
const SIZE_CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// The maximum length of git's message in an error.
const MESSAGE_CHARS_MAX: usize = 400;

/// Variables that would point git to another repository or change what it reads.
const REMOVED_VARIABLES: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_TEMPLATE_DIR",
    "GIT_TRACE",
    "GIT_TRACE_CURL",
    "GIT_WORK_TREE",
];

/// The settings of every call, whatever the user's configuration says.
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "fetch.recurseSubmodules=false",
    // Everything that is fetched is in a pack, whose size is bounded and reported while it grows.
    "fetch.unpackLimit=1",
    "fetch.writeCommitGraph=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.version=2",
    "submodule.recurse=false",
    "transfer.bundleURI=false",
    "transfer.unpackLimit=1",
];

/// Why a repository could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct GitError {
    /// The kind of problem.
    pub kind: GitErrorKind,
    /// The message for people.
    pub message: String,
    /// What the user can do.
    pub remedy: Option<String>,
}

/// The kinds of problems with repositories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitErrorKind {
    /// git is not installed.
    NotInstalled,
    /// The address or the reference is refused.
    Refused,
    /// The server wants credentials that git does not have.
    Unauthorized,
    /// The repository does not exist.
    NotFound,
    /// The repository has no such branch, tag or commit.
    NoReference,
    /// The commit has no such directory.
    NoPath,
    /// The repository is too large.
    TooLarge,
    /// Anything else.
    Failed,
}

impl GitError {
    pub(crate) fn new(kind: GitErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), remedy: None }
    }

    pub(crate) fn with_remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

impl From<ProgramError> for GitError {
    fn from(error: ProgramError) -> Self {
        match &error {
            ProgramError::Missing(_) => GitError::new(GitErrorKind::NotInstalled, error.to_string())
                .with_remedy("install git, or install the skill from a directory or an archive"),
            ProgramError::TooMuchOutput { .. } | ProgramError::Stopped(_) => {
                GitError::new(GitErrorKind::TooLarge, error.to_string())
            }
            ProgramError::Failed { .. } | ProgramError::TimedOut { .. } => {
                GitError::new(GitErrorKind::Failed, error.to_string())
            }
        }
    }
}

/// A directory of bare repositories, one for each address.
#[derive(Clone, Debug)]
pub struct GitCache {
    folder: PathBuf,
    /// The proxy for `https`, if the settings name one; otherwise git's own configuration applies. And the observer of
    /// downloads.
    options: FetchOptions,
}

/// A reference of a remote repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteReference {
    /// The full name, such as `refs/tags/v1.0.0`, or `HEAD`.
    pub name: String,
    /// The commit. For an annotated tag, the commit that it names.
    pub commit: String,
}

/// A commit in the cache.
#[derive(Clone, Debug)]
pub struct CachedCommit {
    repository: PathBuf,
    /// The full id of the commit.
    pub id: String,
}

impl GitCache {
    /// Opens a cache in a directory, which is created when something is fetched.
    pub fn new(folder: PathBuf, options: FetchOptions) -> Self {
        Self { folder, options }
    }

    /// Returns the cached commit with this full id, without a connection.
    pub fn find_commit(&self, url: &GitUrl, id: &str) -> Option<CachedCommit> {
        let repository = self.repository_folder(url);
        let is_id = GitReference::parse(id).is_ok_and(|reference| reference.is_full_commit());
        if !is_id || !repository.join("HEAD").is_file() {
            return None;
        }
        let found = run_git(&repository, &["cat-file", "-e", &format!("{id}^{{commit}}")], READ_TIMEOUT);
        found.is_ok_and(|output| output.is_success).then(|| CachedCommit { repository, id: id.to_owned() })
    }

    /// Fetches a branch, a tag or a commit; without a reference, the default branch.
    pub fn fetch(&self, url: &GitUrl, reference: Option<&GitReference>) -> Result<CachedCommit, GitError> {
        if let Some(known) = reference.and_then(|reference| self.find_commit(url, reference.as_str())) {
            return Ok(known);
        }
        let repository = self.repository_folder(url);
        let lock = self.open_repository(&repository, url)?;
        let wanted = reference.map_or("HEAD", GitReference::as_str);
        let first = self.run_fetch(url, &repository, &lock, &["--depth=1"], &[wanted.to_owned()]);
        let error = match first {
            Ok(()) => return resolve_commit(&repository, "FETCH_HEAD", url),
            Err(error) => error,
        };
        // A server cannot look up the first digits of a commit, and some do not serve commits by their id. All branches
        // and tags are fetched instead.
        let is_commit = reference.is_some_and(GitReference::may_be_commit);
        if !is_commit || !matches!(error.kind, GitErrorKind::NoReference | GitErrorKind::Failed) {
            return Err(error);
        }
        let all = ["+refs/heads/*:refs/rep/heads/*".to_owned(), "+refs/tags/*:refs/rep/tags/*".to_owned()];
        let depth: &[&str] = if repository.join("shallow").exists() { &["--unshallow"] } else { &[] };
        self.run_fetch(url, &repository, &lock, depth, &all)?;
        resolve_commit(&repository, wanted, url)
    }

    /// Lists the branches and tags of a remote repository, and `HEAD`.
    pub fn list_references(&self, url: &GitUrl) -> Result<Vec<RemoteReference>, GitError> {
        let mut arguments = self.connection_settings(url);
        arguments.extend(["ls-remote", "--", url.as_str()].map(OsString::from));
        let call = build_call(arguments, url.allowed_protocols(), FETCH_TIMEOUT, ProgramInput::Bytes(Vec::new()));
        let output = run_program(call, &mut || Ok(()))?;
        if !output.is_success {
            return Err(explain_failure(&output, url, None));
        }
        Ok(parse_references(&String::from_utf8_lossy(&output.stdout)))
    }

    fn repository_folder(&self, url: &GitUrl) -> PathBuf {
        self.folder.join(&hex::encode(Sha256::digest(url.as_str().as_bytes()))[..32])
    }

    /// Creates the repository if needed, and waits until no other process changes it. A running git holds the lock too,
    /// because it inherits it: a lock file of git that is found now was left behind by a crash.
    #[expect(clippy::disallowed_methods, reason = "this module owns the cache of repositories")]
    fn open_repository(&self, repository: &Path, url: &GitUrl) -> Result<File, GitError> {
        let failed = |error: io::Error| {
            GitError::new(GitErrorKind::Failed, format!("could not write `{}`: {error}", repository.display()))
        };
        platform::create_private_folder(&self.folder, true).map_err(failed)?;
        let path = repository.with_extension("lock");
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true);
        platform::set_creation_mode(&mut options, platform::PRIVATE_FILE_MODE);
        let lock = options.open(&path).map_err(failed)?;
        lock.lock().map_err(failed)?;
        if !repository.join("HEAD").is_file() {
            let target = repository.to_string_lossy();
            let arguments = ["init", "--quiet", "--bare", "--template=", "--", &target].map(OsString::from);
            let call = build_call(arguments.to_vec(), "", READ_TIMEOUT, ProgramInput::Bytes(Vec::new()));
            let output = run_program(call, &mut || Ok(()))?;
            if !output.is_success {
                return Err(failed(io::Error::other(last_message(&output))));
            }
        }
        for name in ["shallow.lock", "config.lock", "packed-refs.lock", "HEAD.lock", "FETCH_HEAD.lock"] {
            match fs::remove_file(repository.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
                Ok(()) | Err(_) => {}
            }
        }
        remove_unfinished_packs(&repository.join("objects/pack")).map_err(failed)?;
        // The address, for listings of the cache.
        rep_storage::atomic::write_cache_file(&repository.with_extension("url"), url.as_str().as_bytes())
            .map_err(failed)?;
        Ok(lock)
    }

    fn connection_settings(&self, url: &GitUrl) -> Vec<OsString> {
        let mut settings: Vec<String> = Vec::new();
        settings.extend(self.options.proxy.as_ref().map(|proxy| format!("http.proxy={}", proxy.to_url())));
        if url.is_loopback() {
            settings.push("http.followRedirects=false".to_owned());
        }
        settings.into_iter().flat_map(|setting| [OsString::from("-c"), OsString::from(setting)]).collect()
    }

    fn run_fetch(
        &self,
        url: &GitUrl,
        repository: &Path,
        lock: &File,
        options: &[&str],
        wanted: &[String],
    ) -> Result<(), GitError> {
        let mut arguments = self.connection_settings(url);
        arguments.push(format!("--git-dir={}", repository.display()).into());
        arguments.extend(["fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--force"].map(OsString::from));
        arguments.extend(options.iter().map(OsString::from));
        arguments.extend(["--", url.as_str()].map(OsString::from));
        arguments.extend(wanted.iter().map(OsString::from));
        let held = lock.try_clone().map_err(|error| GitError::new(GitErrorKind::Failed, error.to_string()))?;
        let call = build_call(arguments, url.allowed_protocols(), FETCH_TIMEOUT, ProgramInput::Held(held));
        let before = measure_packs(repository);
        let mut next_check = Instant::now();
        let output = run_program(call, &mut || {
            if Instant::now() < next_check {
                return Ok(());
            }
            next_check = Instant::now() + SIZE_CHECK_INTERVAL;
            let size = measure_packs(repository);
            if size > REPOSITORY_BYTES_MAX {
                return Err(format!("`{url}` was not fetched: it is larger than {} GiB", REPOSITORY_BYTES_MAX >> 30));
            }
            if let Some(observer) = &self.options.observer {
                observer.report(size.saturating_sub(before), None);
            }
            Ok(())
        })?;
        if !output.is_success {
            return Err(explain_failure(&output, url, wanted.first().map(String::as_str)));
        }
        if let Some(observer) = &self.options.observer {
            observer.report(measure_packs(repository).saturating_sub(before), None);
        }
        Ok(())
    }
}

impl CachedCommit {
    /// Lists the files below a directory of the commit, with paths relative to it. An empty path is the root.
    pub fn list_files(&self, path: &str) -> Result<Vec<GitTreeEntry>, GitError> {
        let tree = if path.is_empty() { self.id.clone() } else { format!("{}:{path}", self.id) };
        let arguments = ["ls-tree", "-r", "-z", "--long", "--full-tree", &tree];
        let output = run_git(&self.repository, &arguments, READ_TIMEOUT)?;
        if !output.is_success {
            return Err(GitError::new(GitErrorKind::NoPath, format!("commit {} has no directory `{path}`", self.id)));
        }
        parse_tree_listing(&output.stdout)
            .map_err(|reason| GitError::new(GitErrorKind::Failed, format!("could not list the files: {reason}")))
    }

    /// Reads blobs, in the order of the entries.
    pub fn read_blobs(&self, entries: &[&GitTreeEntry]) -> Result<Vec<Vec<u8>>, GitError> {
        if entries.is_empty() {
            return Ok(Vec::new());
        }
        let ids: String = entries.iter().map(|entry| format!("{}\n", entry.id)).collect();
        let bytes_max: u64 = entries.iter().map(|entry| entry.size_bytes + 128).sum();
        let arguments = repository_arguments(&self.repository, &["cat-file", "--batch"]);
        let mut call = build_call(arguments, "", READ_TIMEOUT, ProgramInput::Bytes(ids.into_bytes()));
        call.output_bytes_max = bytes_max;
        let output = run_program(call, &mut || Ok(()))?;
        tree::parse_blobs(&output.stdout, entries)
            .map_err(|reason| GitError::new(GitErrorKind::Failed, format!("could not read the files: {reason}")))
    }

    /// Returns when the commit was made, as seconds since 1970.
    pub fn read_time(&self) -> Option<u64> {
        let output = run_git(&self.repository, &["show", "-s", "--format=%ct", &self.id], READ_TIMEOUT).ok()?;
        String::from_utf8_lossy(&output.stdout).trim().parse().ok()
    }
}

fn repository_arguments(repository: &Path, arguments: &[&str]) -> Vec<OsString> {
    let folder = OsString::from(format!("--git-dir={}", repository.display()));
    std::iter::once(folder).chain(arguments.iter().map(OsString::from)).collect()
}

/// Runs git in a cached repository, without a connection.
fn run_git(repository: &Path, arguments: &[&str], timeout: Duration) -> Result<ProgramOutput, GitError> {
    let arguments = repository_arguments(repository, arguments);
    Ok(run_program(build_call(arguments, "", timeout, ProgramInput::Bytes(Vec::new())), &mut || Ok(()))?)
}

/// Builds a call of git that never asks and reads no other repository than the named one.
fn build_call(
    arguments: Vec<OsString>,
    protocols: &str,
    timeout: Duration,
    input: ProgramInput,
) -> ProgramCall<'static> {
    let variables = [
        ("GIT_TERMINAL_PROMPT", "0"),
        // Empty means that no program is started to ask.
        ("GIT_ASKPASS", ""),
        ("SSH_ASKPASS", "/bin/false"),
        ("SSH_ASKPASS_REQUIRE", "force"),
        ("GCM_INTERACTIVE", "never"),
        ("GIT_ALLOW_PROTOCOL", if protocols.is_empty() { "none" } else { protocols }),
        ("GIT_ATTR_NOSYSTEM", "1"),
        ("GIT_LITERAL_PATHSPECS", "1"),
        ("GIT_NO_LAZY_FETCH", "1"),
        ("GIT_NO_REPLACE_OBJECTS", "1"),
        ("LC_ALL", "C"),
    ];
    let settings = SETTINGS.iter().flat_map(|setting| [OsString::from("-c"), OsString::from(setting)]);
    ProgramCall {
        program: "git",
        arguments: settings.chain(arguments).collect(),
        environment: variables.map(|(name, value)| (name, OsString::from(value))).to_vec(),
        removed_environment: REMOVED_VARIABLES,
        folder: Some(Path::new("/")),
        input,
        output_bytes_max: LISTING_BYTES_MAX,
        timeout,
    }
}

fn resolve_commit(repository: &Path, name: &str, url: &GitUrl) -> Result<CachedCommit, GitError> {
    let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{name}^{{commit}}")];
    let output = run_git(repository, &arguments, READ_TIMEOUT)?;
    let id = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if !output.is_success || !GitReference::parse(&id).is_ok_and(|id| id.is_full_commit()) {
        return Err(missing_reference(url, name));
    }
    Ok(CachedCommit { repository: repository.to_owned(), id })
}

fn missing_reference(url: &GitUrl, name: &str) -> GitError {
    GitError::new(GitErrorKind::NoReference, format!("`{url}` has no branch, tag or commit `{name}`"))
}

/// Removes the packs that were being received when git was stopped.
#[expect(clippy::disallowed_methods, reason = "this module owns the cache of repositories")]
fn remove_unfinished_packs(folder: &Path) -> io::Result<()> {
    let Ok(files) = fs::read_dir(folder) else { return Ok(()) };
    for file in files.flatten().filter(|file| file.file_name().as_encoded_bytes().starts_with(b"tmp_")) {
        fs::remove_file(file.path())?;
    }
    Ok(())
}

/// Returns the size of the packs of a repository, with those that are being received.
#[expect(clippy::disallowed_methods, reason = "this module owns the cache of repositories")]
fn measure_packs(repository: &Path) -> u64 {
    let files = fs::read_dir(repository.join("objects/pack")).into_iter().flatten().flatten();
    files.filter_map(|file| file.metadata().ok()).map(|about| about.len()).sum()
}

/// Parses the output of `ls-remote`. The commit of an annotated tag is on the line of its name with `^{}`.
fn parse_references(text: &str) -> Vec<RemoteReference> {
    let mut all: Vec<RemoteReference> = Vec::new();
    for line in text.lines() {
        let Some((commit, name)) = line.split_once('\t') else { continue };
        let is_id = matches!(commit.len(), 40 | 64) && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_id {
            continue;
        }
        match name.strip_suffix("^{}") {
            Some(tag) => {
                if let Some(known) = all.iter_mut().rev().find(|known| known.name == tag) {
                    commit.clone_into(&mut known.commit);
                }
            }
            None => all.push(RemoteReference { name: name.to_owned(), commit: commit.to_owned() }),
        }
    }
    all
}

/// Returns git's last message.
fn last_message(output: &ProgramOutput) -> String {
    let mut lines = output.stderr.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_error =
        |line: &&str| line.starts_with("fatal:") || line.starts_with("error:") || line.starts_with("remote:");
    let told: Vec<&str> = lines.clone().filter(is_error).collect();
    let text =
        if told.is_empty() { lines.next_back().unwrap_or("it gave no reason").to_owned() } else { told.join("; ") };
    text.chars().filter(|letter| !letter.is_control()).take(MESSAGE_CHARS_MAX).collect()
}

/// Explains why a connection of git failed.
fn explain_failure(output: &ProgramOutput, url: &GitUrl, wanted: Option<&str>) -> GitError {
    let text = &output.stderr;
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let told = last_message(output);
    if has(&["couldn't find remote ref", "not our ref", "no such ref"]) {
        return missing_reference(url, wanted.unwrap_or("HEAD"));
    }
    if has(&[
        "terminal prompts disabled",
        "Authentication failed",
        "could not read Username",
        "could not read Password",
    ]) {
        let message = format!("`{url}` needs credentials that git does not have");
        return GitError::new(GitErrorKind::Unauthorized, message)
            .with_remedy("store them with git's credential helper, or use an ssh address; `rep` never asks for them");
    }
    if has(&["Permission denied", "Host key verification failed"]) {
        let message = format!("ssh was refused by `{url}`: {told}");
        return GitError::new(GitErrorKind::Unauthorized, message)
            .with_remedy(format!("run `git ls-remote {url}` once to set up ssh; `rep` never asks for a passphrase"));
    }
    if has(&["not found", "does not appear to be a git repository", "does not exist", "access denied"]) {
        let message = format!("`{url}` does not exist, or you cannot read it");
        return GitError::new(GitErrorKind::NotFound, message)
            .with_remedy("check the address; for a private repository, check the credentials that git stores");
    }
    GitError::new(GitErrorKind::Failed, format!("could not fetch `{url}`: {told}"))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test looks into the cache")]
mod tests {
    use std::sync::{Arc, Mutex};

    use rep_test_support::{GitServer, ScratchFolder, TestRepository, is_program_installed};

    use super::*;
    use crate::progress::{DownloadObserver, DownloadProgress};

    #[test]
    fn what_is_fetched_is_one_pack_whose_size_is_reported() {
        if !is_program_installed("git") {
            return;
        }
        let scratch = ScratchFolder::new();
        let root = scratch.work_folder().join("srv");
        let repository = TestRepository::create(&root.join("skills"));
        repository.write_file("SKILL.md", "---\nname: pdf\n---\n");
        let commit = repository.commit_all("first");
        let url = GitUrl::parse(&GitServer::start(&root, None).url("skills")).unwrap();
        let seen: Arc<Mutex<Vec<DownloadProgress>>> = Arc::default();
        let known = seen.clone();
        let observer = DownloadObserver::new(move |progress| known.lock().unwrap().push(progress));
        let options = FetchOptions { observer: Some(observer), ..FetchOptions::default() };
        let cache = GitCache::new(scratch.work_folder().join("cache"), options);
        // What a stopped fetch left behind does not count, and is removed.
        let folder = cache.repository_folder(&url);
        drop(cache.open_repository(&folder, &url).unwrap());
        let unfinished = folder.join("objects/pack/tmp_pack_x");
        std::fs::write(&unfinished, [0; 5000]).unwrap();
        assert_eq!(cache.fetch(&url, None).unwrap().id, commit);
        let received = seen.lock().unwrap().last().expect("something is reported").received_bytes;
        assert_eq!(received, measure_packs(&folder));
        assert!((100..5000).contains(&received), "{received}");
        assert!(!unfinished.exists());
        let loose =
            std::fs::read_dir(folder.join("objects")).unwrap().flatten().filter(|entry| entry.file_name().len() == 2);
        assert_eq!(loose.count(), 0, "its size is bounded, so it must not be unpacked");
    }

    #[test]
    fn references_of_a_server_are_read() {
        let (one, two) = ("1".repeat(40), "2".repeat(40));
        let text = format!("{one}\tHEAD\n{one}\trefs/tags/v1\n{two}\trefs/tags/v1^{{}}\nnonsense\n");
        let found = parse_references(&text);
        assert_eq!(found.len(), 2);
        assert_eq!((found[1].name.as_str(), &found[1].commit), ("refs/tags/v1", &two));
    }
}
