//! Fetches the keys of an authorization server from the location in its metadata.
//!
//! Follows RFC 8414 and `OpenID` Connect Discovery. Metadata of another issuer is rejected.

use serde_json::Value;

use crate::fetch::{FetchError, fetch_file};

/// The maximum size of the metadata, and of the key set.
const BYTES_MAX: u64 = 256 << 10;

/// Why the keys of an issuer could not be fetched.
#[derive(Debug, thiserror::Error)]
pub enum IssuerError {
    /// The issuer identifier is not a URL.
    #[error("`{0}` is not a URL")]
    NoAddress(String),
    /// The issuer identifier has a query or a fragment.
    #[error("`{0}` is not an issuer identifier: it has a query or a fragment")]
    NoIssuer(String),
    /// The metadata or the keys could not be fetched.
    #[error(transparent)]
    Unreachable(#[from] FetchError),
    /// The metadata is not JSON.
    #[error("`{url}` is not JSON: {source}")]
    NotJson {
        /// The URL of the metadata.
        url: String,
        /// The parse error.
        source: serde_json::Error,
    },
    /// The metadata belongs to another issuer.
    #[error("`{url}` describes `{described}`, not `{issuer}`")]
    OtherIssuer {
        /// The URL of the metadata.
        url: String,
        /// The issuer it describes.
        described: String,
        /// The requested issuer.
        issuer: String,
    },
    /// The metadata has no issuer.
    #[error("`{0}` has no `issuer`")]
    Anonymous(String),
    /// The metadata has no location of the keys.
    #[error("`{0}` has no `jwks_uri`")]
    NoKeys(String),
}

/// Fetches the keys that an issuer publishes, as a JWKS.
pub fn fetch_keys(issuer: &str) -> Result<Vec<u8>, IssuerError> {
    let (first, others) = description_urls(issuer)?;
    // If no location works, the error of the first one is the most useful.
    let keys_url = fetch_keys_url(&first, issuer)
        .or_else(|error| others.iter().find_map(|url| fetch_keys_url(url, issuer).ok()).ok_or(error))?;
    Ok(fetch_file(&keys_url, BYTES_MAX)?)
}

/// Returns the possible locations of the metadata, in the order that MCP specifies: the first one, and the others.
fn description_urls(issuer: &str) -> Result<(String, Vec<String>), IssuerError> {
    let (scheme, rest) = issuer.split_once("://").ok_or_else(|| IssuerError::NoAddress(issuer.to_owned()))?;
    if issuer.contains(['?', '#']) {
        return Err(IssuerError::NoIssuer(issuer.to_owned()));
    }
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let path = path.trim_end_matches('/');
    let well_known = |name: &str| format!("{scheme}://{host}/.well-known/{name}");
    let (oauth, openid) = (well_known("oauth-authorization-server"), well_known("openid-configuration"));
    if path.is_empty() {
        return Ok((oauth, vec![openid]));
    }
    let below = format!("{scheme}://{host}/{path}/.well-known/openid-configuration");
    Ok((format!("{oauth}/{path}"), vec![format!("{openid}/{path}"), below]))
}

/// Returns the URL of the keys from the metadata of this issuer.
fn fetch_keys_url(url: &str, issuer: &str) -> Result<String, IssuerError> {
    let bytes = fetch_file(url, BYTES_MAX)?;
    let value: Value =
        serde_json::from_slice(&bytes).map_err(|source| IssuerError::NotJson { url: url.to_owned(), source })?;
    let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    match text("issuer") {
        Some(described) if described == issuer => {}
        Some(described) => {
            return Err(IssuerError::OtherIssuer { url: url.to_owned(), described, issuer: issuer.to_owned() });
        }
        None => return Err(IssuerError::Anonymous(url.to_owned())),
    }
    text("jwks_uri").ok_or_else(|| IssuerError::NoKeys(url.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issuer_describes_itself_at_well_known_places() {
        let places = |issuer: &str| {
            let (first, others) = description_urls(issuer).unwrap();
            [vec![first], others].concat()
        };
        let plain = [
            "https://a.example/.well-known/oauth-authorization-server",
            "https://a.example/.well-known/openid-configuration",
        ];
        assert_eq!(places("https://a.example"), plain);
        assert_eq!(places("https://a.example/"), plain);
        let below = [
            "https://a.example/.well-known/oauth-authorization-server/t/1",
            "https://a.example/.well-known/openid-configuration/t/1",
            "https://a.example/t/1/.well-known/openid-configuration",
        ];
        assert_eq!(places("https://a.example/t/1"), below);
        for bad in ["a.example", "https://a.example?x=1", "https://a.example/#x"] {
            assert!(description_urls(bad).is_err(), "{bad}");
        }
    }
}
