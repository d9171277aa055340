//! A client for OCI registries: pulls and pushes manifests and blobs by the distribution specification, version 1.1.
//!
//! Everything that is fetched is compared with its digest and its size. Credentials come from Docker's files and are sent
//! to the registry's own host only, never after a redirect. Without TLS, only this machine is reached. A registry that
//! the user names may have a private address; every other host that a registry names must have a public one.

mod authentication;
mod challenge;
mod credentials;
mod manifest;
mod reference;
mod transfer;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rep_permissions::HostRule;
use rep_permissions::resolver::HostResolver;
use sha2::{Digest, Sha256};

pub use challenge::{AuthChallenge, parse_challenges};
pub use credentials::{CredentialConfig, CredentialFiles, CredentialSource, RegistryCredential, parse_helper_answer};
pub use manifest::{EMPTY_TYPE, INDEX_TYPE, MANIFEST_BYTES_MAX, MANIFEST_TYPE, OciDescriptor, OciManifest};
pub use reference::{OCI_SCHEME, OciReference, OciRepository, OciSelector, check_digest, is_tag};
pub use transfer::FetchedManifest;

use crate::exchange::{HttpExchange, HttpHeader, OutgoingRequest};
use crate::fetch::{FetchOptions, run_on_exchange};
use crate::response::HttpResponse;
use crate::{HttpMethod, HttpOrigin, NetError, NetErrorCode};
use reference::is_loopback_host;

/// The time limit for one request.
const REQUEST_TIMEOUT: Duration = Duration::from_mins(10);
/// The time limit for finding out whether a registry on this machine uses TLS.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum size of an answer that is neither a manifest nor a blob.
const ANSWER_BYTES_MAX: u64 = 8 << 20;
/// The maximum number of redirects of a blob.
const REDIRECTS_MAX: usize = 5;
/// The maximum length of a registry's own words in an error.
const MESSAGE_CHARS_MAX: usize = 300;

/// Why a registry could not be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct OciError {
    /// The kind of problem.
    pub kind: OciErrorKind,
    /// The message for people.
    pub message: String,
    /// What the user can do.
    pub remedy: Option<String>,
}

/// The kinds of problems with registries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OciErrorKind {
    /// The registry wants other credentials.
    Unauthorized,
    /// The repository, the tag or the content does not exist.
    NotFound,
    /// The content does not match its digest or its size.
    Mismatch,
    /// The registry sent something that is not allowed.
    Invalid,
    /// The registry could not be reached, or refused for another reason.
    Failed,
}

impl OciError {
    pub(crate) fn new(kind: OciErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), remedy: None }
    }

    fn with_remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

/// The settings of a client.
#[derive(Clone, Debug, Default)]
pub struct OciClientOptions {
    /// Where credentials are stored.
    pub credentials: CredentialFiles,
    /// A directory for content that was fetched, by digest.
    pub cache: Option<PathBuf>,
    /// The proxy for other machines, and the observer of downloads.
    pub fetch: FetchOptions,
    /// The repositories that are pulled from others: the start of an address, and what replaces it.
    pub mirrors: Vec<(String, String)>,
}

/// Talks to registries.
#[derive(Debug, Default)]
pub struct OciClient {
    options: OciClientOptions,
    state: Mutex<ClientState>,
}

#[derive(Default)]
struct ClientState {
    /// Whether a registry on this machine uses TLS.
    is_encrypted: BTreeMap<String, bool>,
    /// The values of `Authorization`, by registry and scope.
    authorizations: BTreeMap<(String, String), String>,
}

impl std::fmt::Debug for ClientState {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ClientState").field("is_encrypted", &self.is_encrypted).finish_non_exhaustive()
    }
}

/// What a request does with a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RepositoryAction {
    Pull,
    Push,
}

/// A request to a registry.
#[derive(Clone)]
struct RegistryRequest<'a> {
    method: HttpMethod,
    repository: &'a OciRepository,
    /// The path after `/v2/NAME/`, or an absolute URL of the same server.
    path: &'a str,
    headers: Vec<(&'static str, String)>,
    body: Option<Vec<u8>>,
    action: RepositoryAction,
    bytes_max: u64,
    /// Whether it is reported how much of the answer has arrived.
    is_observed: bool,
}

impl<'a> RegistryRequest<'a> {
    fn get(repository: &'a OciRepository, path: &'a str) -> Self {
        Self {
            method: HttpMethod::Get,
            repository,
            path,
            headers: Vec::new(),
            body: None,
            action: RepositoryAction::Pull,
            bytes_max: ANSWER_BYTES_MAX,
            is_observed: false,
        }
    }
}

/// Computes the digest of bytes, as `sha256:` and hexadecimal digits.
pub fn digest_bytes(bytes: &[u8]) -> String {
    format!("sha256:{}", hex::encode(Sha256::digest(bytes)))
}

impl OciClient {
    /// Creates a client. No connection is made.
    pub fn new(options: OciClientOptions) -> Self {
        Self { options, state: Mutex::default() }
    }

    /// Sends a request with the credentials that the registry asks for.
    fn send(&self, request: &RegistryRequest<'_>) -> Result<HttpResponse, OciError> {
        let mirrored = self.find_mirror(request.repository).filter(|_| request.action == RepositoryAction::Pull);
        let repository = mirrored.as_ref().unwrap_or(request.repository);
        let request = &RegistryRequest { repository, ..request.clone() };
        let base = self.base_url(repository)?;
        let url = if request.path.contains("://") {
            request.path.to_owned()
        } else {
            format!("{base}/v2/{}/{}", repository.name, request.path)
        };
        let scope = authentication::repository_scope(&repository.name, request.action);
        let key = (repository.registry.clone(), scope);
        let known = self.state.lock().authorizations.get(&key).cloned();
        let observer = self.options.fetch.observer.clone().filter(|_| request.is_observed);
        let options = FetchOptions { observer, ..self.options.fetch.clone() };
        let answer = send_with(&url, request, known.as_deref(), &options)?;
        if answer.status != 401 {
            return Ok(answer);
        }
        let challenge = answer.header("www-authenticate").unwrap_or_default().to_owned();
        let authorization = self.authenticate(repository, &base, &challenge, &key.1)?;
        let again = send_with(&url, request, Some(&authorization), &options)?;
        if again.status == 401 {
            return Err(unauthorized(repository, "the registry refuses the stored credentials"));
        }
        self.state.lock().authorizations.insert(key, authorization);
        Ok(again)
    }

    /// Returns the repository that is pulled from instead of another one.
    pub(crate) fn find_mirror(&self, repository: &OciRepository) -> Option<OciRepository> {
        let address = repository.to_string();
        self.options.mirrors.iter().find_map(|(from, to)| {
            let rest = address.strip_prefix(from.as_str())?;
            OciRepository::parse(&format!("{to}{rest}")).ok()
        })
    }

    /// Returns the URL of a registry: with TLS, or without it if the registry is on this machine and does not use it.
    fn base_url(&self, repository: &OciRepository) -> Result<String, OciError> {
        let host = match repository.registry.as_str() {
            "docker.io" | "index.docker.io" => "registry-1.docker.io",
            host => host,
        };
        if !repository.is_loopback() {
            return Ok(format!("https://{host}"));
        }
        let known = self.state.lock().is_encrypted.get(host).copied();
        let is_encrypted = if let Some(known) = known {
            known
        } else {
            // A server with TLS answers a plain request with status 400, or not with HTTP.
            let probe = OutgoingRequest { is_idempotent: false, ..OutgoingRequest::get(format!("http://{host}/v2/")) };
            let options = FetchOptions::default();
            let answer = exchange_once(probe, ANSWER_BYTES_MAX, HostTrust::Named, PROBE_TIMEOUT, &options);
            if let Err(error) = &answer
                && error.code == NetErrorCode::ConnectionFailed
                && error.is_unsent
            {
                return Err(registry_failure(host, error));
            }
            answer.map_or(true, |answer| answer.status == 400)
        };
        self.state.lock().is_encrypted.insert(host.to_owned(), is_encrypted);
        Ok(format!("{}://{host}", if is_encrypted { "https" } else { "http" }))
    }
}

fn send_with(
    url: &str,
    request: &RegistryRequest<'_>,
    authorization: Option<&str>,
    options: &FetchOptions,
) -> Result<HttpResponse, OciError> {
    let header =
        |name: &str, value: &str, is_secret| HttpHeader { name: name.to_owned(), value: value.to_owned(), is_secret };
    let mut headers: Vec<HttpHeader> = request.headers.iter().map(|(name, value)| header(name, value, false)).collect();
    headers.extend(authorization.map(|value| header("authorization", value, true)));
    let outgoing = OutgoingRequest {
        method: request.method,
        url: url.to_owned(),
        headers,
        body: request.body.clone(),
        has_secret_body: false,
        is_idempotent: request.method.is_idempotent(),
    };
    exchange_once(outgoing, request.bytes_max, HostTrust::Named, REQUEST_TIMEOUT, options)
        .map_err(|error| registry_failure(&request.repository.registry, &error))
}

/// Follows the redirect of a blob. The other server gets no credentials, must use TLS unless it is on this machine
/// like the registry, and must have a public address unless it is the registry itself.
fn follow_redirects(
    from: &OciRepository,
    mut url: String,
    mut answer: HttpResponse,
    bytes_max: u64,
    options: &FetchOptions,
) -> Result<HttpResponse, OciError> {
    let refused = |reason: &str| {
        let message = format!("`{}` redirected to another server: {reason}", from.registry);
        OciError::new(OciErrorKind::Invalid, message)
    };
    for _ in 0..REDIRECTS_MAX {
        let Some(location) = answer.redirect_location() else { return Ok(answer) };
        let next =
            crate::exchange::resolve_redirect(&url, location).ok_or_else(|| refused("its address cannot be parsed"))?;
        let (origin, _) = HttpOrigin::split_url(&next).map_err(|reason| refused(&reason))?;
        let is_local = is_loopback_host(&origin) && from.is_loopback();
        if !origin.is_encrypted && !is_local {
            return Err(refused("the connection is not encrypted"));
        }
        let (own, _) = HttpOrigin::split_url(&url).map_err(|reason| refused(&reason))?;
        let is_same_host = own.host == origin.host || (from.is_loopback() && is_loopback_host(&origin));
        let trust = if is_same_host { HostTrust::Named } else { HostTrust::Foreign };
        answer = exchange_once(OutgoingRequest::get(next.as_str()), bytes_max, trust, REQUEST_TIMEOUT, options)
            .map_err(|error| registry_failure(&origin.host, &error))?;
        url = next;
    }
    Err(refused("there are too many redirects"))
}

/// Whether the user named a host, which may then have a private address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HostTrust {
    Named,
    Foreign,
}

/// Sends a request to the host of its URL, with retries but without redirects.
fn exchange_once(
    sent: OutgoingRequest,
    bytes_max: u64,
    trust: HostTrust,
    timeout: Duration,
    options: &FetchOptions,
) -> Result<HttpResponse, NetError> {
    let invalid = |reason: String| NetError::new(NetErrorCode::InvalidArgument, reason);
    let origin = crate::fetch::check_server_url(&sent.url).map_err(invalid)?;
    let rules = [HostRule { host: origin.host.clone(), port: Some(origin.port) }];
    let until = Instant::now() + timeout;
    let mut exchange =
        HttpExchange::new(&rules, HostResolver::system(), bytes_max, until).through_proxy(options.proxy.clone());
    if trust == HostTrust::Named {
        exchange = exchange.allowing_private_addresses();
    }
    let exchange = exchange.observed_by(options.observer.clone());
    run_on_exchange(exchange, timeout, move |exchange, stopped| exchange.send_without_redirects(&sent, stopped))
}

fn registry_failure(host: &str, error: &NetError) -> OciError {
    OciError::new(OciErrorKind::Failed, format!("could not use the registry `{host}`: {}", error.message))
}

fn unauthorized(repository: &OciRepository, why: &str) -> OciError {
    OciError::new(OciErrorKind::Unauthorized, format!("`{repository}`: {why}"))
        .with_remedy(format!("store credentials with `docker login {0}` or `oras login {0}`", repository.registry))
}

/// Explains an answer that is not a success.
fn explain_answer(what: &str, repository: &OciRepository, answer: &HttpResponse) -> OciError {
    let value: serde_json::Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let first = &value["errors"][0];
    let words = [first["code"].as_str(), first["message"].as_str()];
    let words: Vec<&str> = words.into_iter().flatten().collect();
    let told: String = words.join(": ").chars().filter(|letter| !letter.is_control()).take(MESSAGE_CHARS_MAX).collect();
    let told = if told.is_empty() { String::new() } else { format!(" ({told})") };
    match answer.status {
        401 | 403 => unauthorized(repository, &format!("{what} is not allowed{told}")),
        404 => OciError::new(OciErrorKind::NotFound, format!("{what} does not exist{told}")),
        status => OciError::new(
            OciErrorKind::Failed,
            format!("`{}` answered status {status} for {what}{told}", repository.registry),
        ),
    }
}
