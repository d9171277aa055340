//! Identifies the bearer of an access token.
#![expect(clippy::disallowed_methods, reason = "named tokens expire, and their file is read again when it changes")]

use std::sync::Arc;
use std::time::SystemTime;

use axum::http::{HeaderMap, header};
use parking_lot::Mutex;
use rep_library::SkillSet;
use rep_runtime::named_token::{NamedToken, NamedTokenStore, TokenScope, find_token};
use rep_storage::platform::FileMarks;
use sha2::{Digest, Sha256};

use super::failed_tokens::FailedTokens;
use crate::connections::Connection;
use crate::identity::{BearerIdentity, TokenValidity};
use crate::oauth::OAuthVerifier;
use crate::server::McpServer;

/// Accepts the server's own tokens, the user's named tokens, and those of an authorization server.
pub struct Authenticator {
    /// The digests of the server's own tokens.
    tokens: Vec<[u8; 32]>,
    named: Option<NamedTokens>,
    oauth: Option<OAuthVerifier>,
    failed: Arc<FailedTokens>,
    server: McpServer,
}

/// The named tokens, read again when their file changes.
struct NamedTokens {
    store: NamedTokenStore,
    read: Mutex<(Option<FileStamp>, Arc<Vec<NamedToken>>)>,
}

/// What changes when a file is replaced.
#[derive(Clone, Copy, PartialEq, Eq)]
struct FileStamp {
    inode: u64,
    length: u64,
    modified: Option<SystemTime>,
}

impl Authenticator {
    pub(super) fn new(
        tokens: &[String],
        named: Option<NamedTokenStore>,
        oauth: Option<OAuthVerifier>,
        server: &McpServer,
    ) -> Self {
        Self {
            tokens: tokens.iter().map(|token| Sha256::digest(token.as_bytes()).into()).collect(),
            named: named.map(|store| NamedTokens { store, read: Mutex::default() }),
            oauth,
            failed: Arc::default(),
            server: server.clone(),
        }
    }

    /// Whether a token is required.
    pub fn is_required(&self) -> bool {
        !self.tokens.is_empty() || self.named.is_some() || self.oauth.is_some()
    }

    /// Whether tokens of an authorization server are accepted.
    pub(super) fn has_oauth(&self) -> bool {
        self.oauth.is_some()
    }

    fn has_digest(&self, given: &[u8; 32]) -> bool {
        let mut is_known = false;
        for own in &self.tokens {
            let difference = own.iter().zip(given).fold(0, |all, (one, other)| all | (one ^ other));
            is_known |= difference == 0;
        }
        is_known
    }

    /// Returns the identity of a token, or `None` if it is rejected. Takes the same time for each of the server's own
    /// tokens, and for each of the named ones.
    pub async fn identify_bearer(&self, token: &str) -> Option<BearerIdentity> {
        let given: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        if self.has_digest(&given) {
            // Enough to distinguish tokens.
            let [first, second, third, fourth, ..] = given;
            let name = format!("token {first:02x}{second:02x}{third:02x}{fourth:02x}");
            return Some(BearerIdentity::new(
                name,
                Some(TokenScope::Admin),
                SkillSet::default(),
                TokenValidity::Unlimited,
            ));
        }
        if let Some(bearer) = self.named.as_ref().and_then(|named| named.find_bearer(&given)) {
            return Some(bearer);
        }
        self.oauth.as_ref()?.verified_bearer(token).await
    }

    /// Returns the identity of a token, or counts a wrong token and waits before it returns `None`. `place` is the path
    /// that the token was sent to.
    pub async fn identify_or_delay(
        &self,
        token: &str,
        connection: Option<&Connection>,
        place: &str,
    ) -> Option<BearerIdentity> {
        let bearer = self.identify_bearer(token).await;
        if bearer.is_none()
            && let Some(connection) = connection
        {
            self.failed.refuse(&self.server.0, connection.peer_address(), place).await;
        }
        bearer
    }

    /// Whether a token that was accepted before would be accepted now.
    pub(super) fn is_still_accepted(&self, validity: TokenValidity) -> bool {
        match validity {
            TokenValidity::Unlimited => true,
            TokenValidity::WhileNamed(digest) => {
                self.named.as_ref().is_some_and(|named| named.find_bearer(&digest).is_some())
            }
            TokenValidity::Until(end) => self.oauth.as_ref().is_some_and(|oauth| oauth.is_before(end)),
        }
    }

    /// Whether a request has a token whose bearer operates the server.
    pub(super) async fn is_operator(&self, headers: &HeaderMap) -> bool {
        let Some(token) = bearer_token(headers) else { return false };
        self.identify_bearer(token).await.is_some_and(|bearer| bearer.allows(TokenScope::Admin))
    }
}

/// Returns the token of a request.
pub(super) fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

impl NamedTokens {
    fn find_bearer(&self, given: &[u8; 32]) -> Option<BearerIdentity> {
        let tokens = self.current_tokens();
        let token = find_token(&tokens, given, SystemTime::now())?;
        // A set that cannot be read must not become one of all skills.
        let skills = SkillSet::parse(token.skills.iter().map(String::as_str)).ok()?;
        let name = format!("token {:?}", token.name);
        Some(BearerIdentity::new(name, Some(token.scope), skills, TokenValidity::WhileNamed(*given)))
    }

    /// Returns the tokens. If their file cannot be read, none is accepted.
    fn current_tokens(&self) -> Arc<Vec<NamedToken>> {
        let stamp = self.stamp_file();
        let mut read = self.read.lock();
        if read.0.is_none() || read.0 != stamp {
            let tokens = self.store.list().unwrap_or_else(|error| {
                tracing::warn!("named tokens are not accepted: {error}");
                Vec::new()
            });
            // The stamp is older than the content, so a change in between is noticed the next time.
            *read = (stamp, Arc::new(tokens));
        }
        Arc::clone(&read.1)
    }

    fn stamp_file(&self) -> Option<FileStamp> {
        let about = std::fs::symlink_metadata(self.store.path()).ok()?;
        Some(FileStamp {
            inode: FileMarks::from_metadata(&about).number,
            length: about.len(),
            modified: about.modified().ok(),
        })
    }
}
