//! The keys of an authorization server: fetched from where its own description says they are.
//!
//! Follows RFC 8414 and the discovery of `OpenID` Connect. A description that names another issuer is not used.

use serde_json::Value;

use crate::fetch::{FetchError, fetch};

/// The largest description, and the largest set of keys.
const BYTES_MAX: u64 = 256 << 10;

/// Why there are no keys of an issuer.
#[derive(Debug, thiserror::Error)]
pub enum IssuerError {
    /// The issuer identifier is no address.
    #[error("`{0}` is no address")]
    NoAddress(String),
    /// The issuer identifier has a part that none may have.
    #[error("`{0}` is no issuer: it has a query or a fragment")]
    NoIssuer(String),
    /// The description or the keys could not be fetched.
    #[error(transparent)]
    Unreachable(#[from] FetchError),
    /// The description is not JSON.
    #[error("`{url}` is not JSON: {source}")]
    NotJson {
        /// Where the description is.
        url: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The description is another issuer's.
    #[error("`{url}` describes `{described}`, not `{issuer}`")]
    OtherIssuer {
        /// Where the description is.
        url: String,
        /// The issuer it describes.
        described: String,
        /// The issuer that was asked for.
        issuer: String,
    },
    /// The description names no issuer.
    #[error("`{0}` does not say whom it describes")]
    Anonymous(String),
    /// The description does not say where the keys are.
    #[error("`{0}` names no `jwks_uri`")]
    NoKeys(String),
}

/// Fetches the keys that an issuer publishes, as a JWKS.
pub fn fetch_keys(issuer: &str) -> Result<Vec<u8>, IssuerError> {
    let (first, others) = description_urls(issuer)?;
    // Where none is there, what the first place answered says most.
    let keys_url = fetch_keys_url(&first, issuer)
        .or_else(|error| others.iter().find_map(|url| fetch_keys_url(url, issuer).ok()).ok_or(error))?;
    Ok(fetch(&keys_url, BYTES_MAX)?)
}

/// Where an issuer describes itself, in the order MCP asks: the first place, and the others.
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

/// The address of the keys, by a description that is this issuer's.
fn fetch_keys_url(url: &str, issuer: &str) -> Result<String, IssuerError> {
    let bytes = fetch(url, BYTES_MAX)?;
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
