//! The keys of an authorization server: where its own description says they are.

use rep_mcp::KeySource;
use rep_net::fetch::fetch;
use serde_json::Value;

use super::{Path, bounded};

/// The largest description, and the largest set of keys.
const BYTES_MAX: u64 = 256 << 10;

/// Keys from a file, which is read again when they are asked for again.
pub(super) fn file(path: &Path) -> KeySource {
    let path = path.to_owned();
    std::sync::Arc::new(move || bounded(&path).map_err(|failure| failure.message))
}

/// Keys from the issuer itself.
pub(super) fn issuer(issuer: &str) -> KeySource {
    let issuer = issuer.to_owned();
    std::sync::Arc::new(move || keys(&issuer))
}

fn keys(issuer: &str) -> Result<Vec<u8>, String> {
    let mut first = None;
    for place in descriptions(issuer)? {
        match described(&place, issuer) {
            Ok(keys) => return fetch(&keys, BYTES_MAX).map_err(|error| error.to_string()),
            Err(reason) => first = first.or(Some(reason)),
        }
    }
    Err(first.unwrap_or_else(|| format!("`{issuer}` says nothing about itself")))
}

/// Where an issuer describes itself (RFC 8414, and the discovery of `OpenID` Connect), in the order MCP asks.
fn descriptions(issuer: &str) -> Result<Vec<String>, String> {
    let (scheme, rest) = issuer.split_once("://").ok_or_else(|| format!("`{issuer}` is no address"))?;
    if issuer.contains(['?', '#']) {
        return Err(format!("`{issuer}` is no issuer: it has a query or a fragment"));
    }
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let path = path.trim_end_matches('/');
    let at = |name: &str| format!("{scheme}://{host}/.well-known/{name}");
    let (oauth, openid) = (at("oauth-authorization-server"), at("openid-configuration"));
    if path.is_empty() {
        return Ok(vec![oauth, openid]);
    }
    let below = format!("{scheme}://{host}/{path}/.well-known/openid-configuration");
    Ok(vec![format!("{oauth}/{path}"), format!("{openid}/{path}"), below])
}

/// The address of the keys, by a description that is this issuer's.
fn described(place: &str, issuer: &str) -> Result<String, String> {
    let bytes = fetch(place, BYTES_MAX).map_err(|error| error.to_string())?;
    let value: Value = serde_json::from_slice(&bytes).map_err(|error| format!("`{place}` is not JSON: {error}"))?;
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    match text("issuer") {
        Some(own) if own == issuer => {}
        Some(own) => return Err(format!("`{place}` describes `{own}`, not `{issuer}`")),
        None => return Err(format!("`{place}` does not say whom it describes")),
    }
    text("jwks_uri").map(str::to_owned).ok_or_else(|| format!("`{place}` names no `jwks_uri`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issuer_describes_itself_at_well_known_places() {
        let places = |issuer: &str| descriptions(issuer).unwrap();
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
            assert!(descriptions(bad).is_err(), "{bad}");
        }
    }
}
