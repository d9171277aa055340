//! Answers what a registry asks for: a name and a password, or a token that another server gives.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use super::challenge::{AuthChallenge, parse_challenges};
use super::credentials::RegistryCredential;
use super::reference::is_loopback_host;
use super::{
    ANSWER_BYTES_MAX, HostTrust, OciClient, OciError, OciErrorKind, OciRepository, REQUEST_TIMEOUT, RepositoryAction,
    exchange_once, registry_failure, unauthorized,
};
use crate::exchange::{HttpHeader, OutgoingRequest};
use crate::fetch::FetchOptions;
use crate::proxy::HttpProxy;
use crate::{HttpMethod, HttpOrigin};

/// The longest token.
const TOKEN_BYTES_MAX: usize = 64 << 10;

/// Returns the scope for an action on a repository.
pub(super) fn repository_scope(name: &str, action: RepositoryAction) -> String {
    let actions = match action {
        RepositoryAction::Pull => "pull",
        RepositoryAction::Push => "pull,push",
    };
    format!("repository:{name}:{actions}")
}

impl OciClient {
    /// Returns the value of `Authorization` for a challenge.
    pub(super) fn authenticate(
        &self,
        repository: &OciRepository,
        base: &str,
        header: &str,
        scope: &str,
    ) -> Result<String, OciError> {
        let failed = |reason: String| OciError::new(OciErrorKind::Unauthorized, reason);
        let credential = self.options.credentials.find(&repository.registry).map_err(failed)?;
        let challenges = parse_challenges(header);
        for challenge in &challenges {
            match (challenge, &credential) {
                (AuthChallenge::Bearer { realm, service, .. }, _) => {
                    return request_token(
                        repository,
                        base,
                        realm,
                        service.as_deref(),
                        scope,
                        credential.as_ref(),
                        self.options.fetch.proxy.clone(),
                    );
                }
                (AuthChallenge::Basic, Some(RegistryCredential::Password { user, password })) => {
                    return Ok(format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}"))));
                }
                (AuthChallenge::Basic, _) => {}
            }
        }
        Err(unauthorized(repository, "the registry wants credentials, and none are stored"))
    }
}

/// Whether credentials for a registry may be sent to the server that gives its tokens: the same host, or one above it, or
/// the known one of Docker Hub.
fn may_get_credentials(registry: &HttpOrigin, realm: &HttpOrigin) -> bool {
    realm.host == registry.host
        || registry.host.strip_suffix(&realm.host).is_some_and(|rest| rest.ends_with('.') && realm.host.contains('.'))
        || (registry.host == "registry-1.docker.io" && realm.host == "auth.docker.io")
}

/// Gets a token from the server that a registry names.
fn request_token(
    repository: &OciRepository,
    base: &str,
    realm: &str,
    service: Option<&str>,
    scope: &str,
    credential: Option<&RegistryCredential>,
    proxy: Option<HttpProxy>,
) -> Result<String, OciError> {
    let invalid = |reason: &str| {
        let shown: String = realm.escape_debug().take(200).collect();
        let message = format!("`{}` wants a token from `{shown}`: {reason}", repository.registry);
        OciError::new(OciErrorKind::Invalid, message)
    };
    let (origin, rest) = HttpOrigin::split_url(realm).map_err(|reason| invalid(&reason))?;
    let (registry, _) = HttpOrigin::split_url(base).map_err(|reason| invalid(&reason))?;
    let is_local = repository.is_loopback() && is_loopback_host(&origin);
    if !origin.is_encrypted && !is_local {
        return Err(invalid("the connection is not encrypted"));
    }
    if !realm.bytes().all(|byte| byte.is_ascii_graphic()) || rest.contains('#') {
        return Err(invalid("the address is not valid"));
    }
    let is_trusted = may_get_credentials(&registry, &origin);
    if credential.is_some() && !is_trusted {
        return Err(invalid("the stored credentials are for another host and were not sent"));
    }
    let encode = |text: &str| {
        text.bytes()
            .map(|byte| match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
                byte => format!("%{byte:02X}"),
            })
            .collect::<String>()
    };
    let mut query = format!("scope={}", encode(scope));
    if let Some(service) = service {
        query = format!("service={}&{query}", encode(service));
    }
    let request = match credential {
        Some(RegistryCredential::IdentityToken(token)) => OutgoingRequest {
            method: HttpMethod::Post,
            headers: vec![plain_header("content-type", "application/x-www-form-urlencoded")],
            body: Some(
                format!("grant_type=refresh_token&client_id=repertoire&refresh_token={}&{query}", encode(token)).into(),
            ),
            has_secret_body: true,
            is_idempotent: false,
            ..OutgoingRequest::get(realm)
        },
        other => {
            let separator = if rest.contains('?') { '&' } else { '?' };
            let mut request = OutgoingRequest::get(format!("{realm}{separator}{query}"));
            if let Some(RegistryCredential::Password { user, password }) = other {
                let value = format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")));
                request.headers.push(HttpHeader { name: "authorization".to_owned(), value, is_secret: true });
            }
            request
        }
    };
    let trust = if is_trusted || is_local { HostTrust::Named } else { HostTrust::Foreign };
    let options = FetchOptions { proxy, observer: None };
    let answer = exchange_once(request, ANSWER_BYTES_MAX, trust, REQUEST_TIMEOUT, &options)
        .map_err(|error| registry_failure(&origin.host, &error))?;
    if answer.status != 200 {
        let why = match credential {
            Some(_) => format!("the stored credentials are refused (status {})", answer.status),
            None => format!("no credentials are stored, and an anonymous token is refused (status {})", answer.status),
        };
        return Err(unauthorized(repository, &why));
    }
    let value: Value = serde_json::from_slice(&answer.body).map_err(|_| invalid("the answer is not JSON"))?;
    let token = value["token"].as_str().or_else(|| value["access_token"].as_str()).unwrap_or_default();
    let is_fit =
        !token.is_empty() && token.len() <= TOKEN_BYTES_MAX && token.bytes().all(|byte| byte.is_ascii_graphic());
    if is_fit { Ok(format!("Bearer {token}")) } else { Err(invalid("the answer has no token")) }
}

fn plain_header(name: &str, value: &str) -> HttpHeader {
    HttpHeader { name: name.to_owned(), value: value.to_owned(), is_secret: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_go_to_the_registry_or_the_host_above_it() {
        let origin = |host: &str| HttpOrigin { is_encrypted: true, host: host.to_owned(), port: 443 };
        let may = |registry: &str, realm: &str| may_get_credentials(&origin(registry), &origin(realm));
        assert!(may("r.example", "r.example") && may("registry.gitlab.example", "gitlab.example"));
        assert!(may("registry-1.docker.io", "auth.docker.io"));
        assert!(
            !may("r.example", "auth.example") && !may("r.example", "example") && !may("r.example", "evil-r.example")
        );
        assert!(!may("xr.example", "r.example"));
    }
}
