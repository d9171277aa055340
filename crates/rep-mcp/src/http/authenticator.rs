//! Identifies the bearer of an access token.

use axum::http::{HeaderMap, header};
use sha2::{Digest, Sha256};

use crate::identity::BearerIdentity;
use crate::oauth::OAuthVerifier;

/// Accepts the server's own tokens and those of its authorization server.
pub struct Authenticator {
    /// The digests of the server's own tokens.
    tokens: Vec<[u8; 32]>,
    oauth: Option<OAuthVerifier>,
}

impl Authenticator {
    pub(super) fn new(tokens: &[String], oauth: Option<OAuthVerifier>) -> Self {
        Self { tokens: tokens.iter().map(|token| Sha256::digest(token.as_bytes()).into()).collect(), oauth }
    }

    /// Whether a token is required.
    pub fn is_required(&self) -> bool {
        !self.tokens.is_empty() || self.oauth.is_some()
    }

    /// Whether tokens of an authorization server are accepted.
    pub(super) fn has_oauth(&self) -> bool {
        self.oauth.is_some()
    }

    /// Whether a request bears one of the server's own tokens, whose bearers operate the server. Takes the same time
    /// for each of them. The tokens of an authorization server identify clients.
    pub(super) fn is_own_token(&self, headers: &HeaderMap) -> bool {
        let value = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let parts = value.and_then(|value| value.split_once(' '));
        let token = parts.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, token)| token.trim());
        token.is_some_and(|token| self.has_digest(&Sha256::digest(token.as_bytes()).into()))
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
    /// tokens.
    pub async fn identify_bearer(&self, token: &str) -> Option<BearerIdentity> {
        let given: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        if self.has_digest(&given) {
            // Enough to distinguish tokens.
            let [first, second, third, fourth, ..] = given;
            let name = format!("token {first:02x}{second:02x}{third:02x}{fourth:02x}");
            return Some(BearerIdentity::new(name, true));
        }
        let bearer = self.oauth.as_ref()?.verified_bearer(token).await?;
        Some(BearerIdentity::new(bearer, false))
    }
}
