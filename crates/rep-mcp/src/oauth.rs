//! Verifies access tokens of an OAuth 2.1 authorization server: signed with a published key, issued for this server,
//! and not expired.
//!
//! Follows RFC 9728 (protected resource metadata), RFC 9068 and RFC 7519. The caller provides the source of the keys, a
//! JWKS (RFC 7517). The keys are fetched again when they are old, or when a token names an unknown key, but not for
//! every such token. Everything else is rejected: algorithms other than the three below, `none`, and critical headers.
//!
//! `jsonwebtoken` is not used: since version 10 it depends on a second crypto stack (aws-lc, or `RustCrypto` with
//! `rsa`), and version 9, which uses *ring*, treats an `exp` or `nbf` of the wrong type as absent (CVE-2026-25537).
#![expect(clippy::disallowed_methods, reason = "tokens expire")]

use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parking_lot::Mutex;
use rep_library::SkillSet;
use rep_model::truncate::truncate_chars;
use rep_runtime::named_token::TokenScope;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde_json::{Value, json};

use crate::catalog_view::sha256_digest;
use crate::identity::{BearerIdentity, TokenValidity};

/// The maximum size of a token.
const TOKEN_BYTES_MAX: usize = 16 << 10;
/// The maximum number of characters of a subject's name that are recorded.
const SUBJECT_CHARS_MAX: usize = 100;
/// The accepted signature algorithms.
const ALGORITHMS: [&str; 3] = ["RS256", "ES256", "EdDSA"];
/// The maximum number of keys of an issuer.
const KEYS_MAX: usize = 100;
/// The tolerated clock difference, in seconds.
const LEEWAY_S: u64 = 30;
/// The age in seconds at which keys are fetched again: when a token is accepted, and when a token names an unknown key.
const KEYS_MAX_AGE_S: u64 = 60 * 60;
const KEYS_MIN_AGE_S: u64 = 30;

/// Fetches the current JWKS. May block.
pub type JwksSource = Arc<dyn Fn() -> Result<Vec<u8>, String> + Send + Sync>;

/// The authorization server whose tokens are accepted.
#[derive(Clone)]
pub struct OAuthVerifier {
    /// The issuer identifier that tokens must name.
    issuer: String,
    /// The audience that tokens must name: this server.
    audience: String,
    source: JwksSource,
    keys: Arc<Mutex<FetchedKeys>>,
    /// Held while keys are fetched; other requests wait for the result.
    fetching: Arc<tokio::sync::Mutex<()>>,
    /// Returns the current Unix time in seconds.
    now: fn() -> u64,
}

/// The most recently fetched keys, and the time of the most recent request.
struct FetchedKeys {
    keys: Arc<Vec<VerifyingKey>>,
    requested_at: u64,
}

/// The result of checking a token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TokenStatus {
    Valid,
    Invalid,
    /// Signed with a key that is not in the set.
    UnknownKey,
}

impl fmt::Debug for OAuthVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuth").field("issuer", &self.issuer).field("audience", &self.audience).finish_non_exhaustive()
    }
}

/// A key that signs tokens.
#[derive(Clone, Debug)]
struct VerifyingKey {
    id: Option<String>,
    kind: VerifyingKeyKind,
}

#[derive(Clone, Debug)]
enum VerifyingKeyKind {
    Rs256 { modulus: Vec<u8>, exponent: Vec<u8> },
    Es256(Vec<u8>),
    EdDsa(Vec<u8>),
}

impl OAuthVerifier {
    /// Accepts tokens of an issuer for an audience, signed with one of the source's keys. Fetches the keys immediately.
    pub fn new(issuer: &str, audience: &str, source: JwksSource) -> Result<Self, String> {
        Self::with_clock(issuer, audience, source, unix_time)
    }

    fn with_clock(issuer: &str, audience: &str, source: JwksSource, now: fn() -> u64) -> Result<Self, String> {
        let keys = Arc::new(VerifyingKey::parse_all(&source()?)?);
        // Lets the first unknown key cause a fetch immediately.
        let requested_at = now().saturating_sub(KEYS_MIN_AGE_S);
        Ok(Self {
            issuer: issuer.to_owned(),
            audience: audience.to_owned(),
            source,
            keys: Arc::new(Mutex::new(FetchedKeys { keys, requested_at })),
            fetching: Arc::default(),
            now,
        })
    }

    /// Returns the metadata that points clients to the authorization server.
    pub(crate) fn resource_metadata(&self) -> Value {
        json!({
            "resource": self.audience,
            "authorization_servers": [self.issuer],
            "bearer_methods_supported": ["header"],
            "scopes_supported": TokenScope::ALL.map(TokenScope::name),
            "resource_name": "Repertoire",
        })
    }

    /// Returns a token's bearer, or `None` if the token is rejected.
    pub(crate) async fn verified_bearer(&self, token: &str) -> Option<BearerIdentity> {
        if !self.is_valid_token(token).await {
            return None;
        }
        let claims = TokenParts::parse(token)?.claims;
        let validity = TokenValidity::Until(read_expiry(&claims));
        Some(BearerIdentity::new(name_bearer(&claims, token), read_scope(&claims), SkillSet::default(), validity))
    }

    /// Whether a token that ends at a Unix time is not expired.
    pub(crate) fn is_before(&self, end: u64) -> bool {
        end > (self.now)().saturating_sub(LEEWAY_S)
    }

    /// Whether a token is accepted.
    async fn is_valid_token(&self, token: &str) -> bool {
        if token.len() > TOKEN_BYTES_MAX {
            return false;
        }
        let (keys, age) = self.current_keys();
        match self.check_token(token, &keys) {
            TokenStatus::Invalid => false,
            TokenStatus::Valid if age < KEYS_MAX_AGE_S => true,
            TokenStatus::UnknownKey if age < KEYS_MIN_AGE_S => false,
            TokenStatus::Valid | TokenStatus::UnknownKey => {
                self.fetch_keys(&keys).await;
                self.check_token(token, &self.current_keys().0) == TokenStatus::Valid
            }
        }
    }

    /// Returns the keys, and the number of seconds since they were requested.
    fn current_keys(&self) -> (Arc<Vec<VerifyingKey>>, u64) {
        let set = self.keys.lock();
        (Arc::clone(&set.keys), (self.now)().saturating_sub(set.requested_at))
    }

    /// Fetches the keys, unless another task just did. If that fails, the current keys remain.
    async fn fetch_keys(&self, seen: &Arc<Vec<VerifyingKey>>) {
        let _fetching = self.fetching.lock().await;
        let (keys, age) = self.current_keys();
        if !Arc::ptr_eq(&keys, seen) || age < KEYS_MIN_AGE_S {
            return;
        }
        let source = Arc::clone(&self.source);
        let fetch = move || source().and_then(|jwks| VerifyingKey::parse_all(&jwks));
        let fetched = tokio::task::spawn_blocking(fetch).await;
        let mut set = self.keys.lock();
        set.requested_at = (self.now)();
        if let Ok(Ok(keys)) = fetched {
            set.keys = Arc::new(keys);
        }
    }

    fn check_token(&self, token: &str, keys: &[VerifyingKey]) -> TokenStatus {
        let Some(parts) = TokenParts::parse(token) else { return TokenStatus::Invalid };
        let is_candidate = |key: &&VerifyingKey| {
            key.kind.algorithm() == parts.algorithm && (parts.key_id.is_none() || key.id == parts.key_id)
        };
        let mut candidates = keys.iter().filter(is_candidate).peekable();
        if candidates.peek().is_none() {
            return TokenStatus::UnknownKey;
        }
        let is_signed = candidates.any(|key| key.kind.verifies_signature(parts.signed.as_bytes(), &parts.signature));
        match (is_signed, self.accepts_claims(&parts.claims)) {
            (true, true) => TokenStatus::Valid,
            // A token that does not name its key may be signed with a key that was published later.
            (false, true) if parts.key_id.is_none() => TokenStatus::UnknownKey,
            _ => TokenStatus::Invalid,
        }
    }

    /// Whether the issuer, audience and times of a token are valid. A claim of the wrong type is invalid.
    fn accepts_claims(&self, claims: &Value) -> bool {
        let now = (self.now)();
        let is_audience = match claims.get("aud") {
            Some(Value::String(one)) => *one == self.audience,
            Some(Value::Array(all)) => all.iter().any(|one| one.as_str() == Some(self.audience.as_str())),
            _ => false,
        };
        #[expect(clippy::cast_precision_loss, reason = "seconds since 1970 fit for a long time")]
        let (earliest, latest) = (now.saturating_sub(LEEWAY_S) as f64, (now + LEEWAY_S) as f64);
        let is_current = claims.get("exp").and_then(Value::as_f64).is_some_and(|end| end > earliest)
            && claims.get("nbf").is_none_or(|start| start.as_f64().is_some_and(|start| start <= latest));
        is_audience && is_current && claims.get("iss").and_then(Value::as_str) == Some(self.issuer.as_str())
    }
}

/// Returns when a token with valid claims expires, in seconds.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the conversion saturates")]
fn read_expiry(claims: &Value) -> u64 {
    claims.get("exp").and_then(Value::as_f64).map_or(0, |end| end.ceil() as u64)
}

/// Returns the Unix time in seconds.
fn unix_time() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Returns the name of a token's bearer. Tasks and sessions belong to it, so the bearers of different subjects have
/// different names.
fn name_bearer(claims: &Value, token: &str) -> String {
    let mark = |text: &str| {
        let digest = sha256_digest(text.as_bytes());
        digest.trim_start_matches("sha256:").chars().take(16).collect::<String>()
    };
    let claim = |name: &str| claims.get(name).and_then(Value::as_str);
    let named = [("sub", "subject"), ("client_id", "client"), ("azp", "client")];
    let Some((kind, text)) = named.into_iter().find_map(|(name, kind)| Some((kind, claim(name)?))) else {
        return format!("unnamed {}", mark(token));
    };
    match truncate_chars(text, SUBJECT_CHARS_MAX) {
        whole if whole.len() == text.len() => format!("{kind} {text:?}"),
        start => format!("{kind} {start:?} {}", mark(text)),
    }
}

/// Returns what a token allows: the highest of its scopes, as RFC 9068 (`scope`) or some servers (`scp`) write them. A
/// server that issues no scopes at all has tokens for everything but the administration.
fn read_scope(claims: &Value) -> Option<TokenScope> {
    let words: Vec<&str> = match claims.get("scope").or_else(|| claims.get("scp")) {
        None | Some(Value::Null) => return Some(TokenScope::Run),
        Some(Value::String(text)) => text.split_whitespace().collect(),
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
        Some(_) => return None,
    };
    words.into_iter().filter_map(TokenScope::parse).max()
}

/// The unverified parts of a token.
struct TokenParts<'a> {
    signed: &'a str,
    signature: Vec<u8>,
    algorithm: String,
    key_id: Option<String>,
    claims: Value,
}

impl<'a> TokenParts<'a> {
    fn parse(token: &'a str) -> Option<Self> {
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, payload) = signed.split_once('.')?;
        let header: Value = serde_json::from_slice(&decode_base64(header)?).ok()?;
        let text = |name: &str| header.get(name).and_then(Value::as_str).map(str::to_owned);
        if header.get("crit").is_some() {
            return None;
        }
        let algorithm = text("alg").filter(|algorithm| ALGORITHMS.contains(&algorithm.as_str()))?;
        let claims = serde_json::from_slice(&decode_base64(payload)?).ok()?;
        Some(Self { signed, signature: decode_base64(signature)?, algorithm, key_id: text("kid"), claims })
    }
}

impl VerifyingKey {
    /// Parses the keys of a JWKS that can verify tokens.
    fn parse_all(jwks: &[u8]) -> Result<Vec<Self>, String> {
        let jwks: Value =
            serde_json::from_slice(jwks).map_err(|error| format!("the JWKS is not valid JSON: {error}"))?;
        let listed = jwks.get("keys").and_then(Value::as_array);
        let listed = listed.ok_or("invalid JWKS: missing list `keys`")?;
        let keys: Vec<Self> = listed.iter().filter_map(Self::parse).take(KEYS_MAX).collect();
        if keys.is_empty() {
            return Err("the JWKS does not contain a key for RS256, ES256 or EdDSA".to_owned());
        }
        Ok(keys)
    }

    /// Parses a key of a JWKS. Returns `None` if its type is unsupported or it is not for signatures.
    fn parse(key: &Value) -> Option<Self> {
        let text = |name: &str| key.get(name).and_then(Value::as_str);
        let bytes = |name: &str| text(name).and_then(decode_base64);
        if text("use").is_some_and(|purpose| purpose != "sig") {
            return None;
        }
        let kind = match (text("kty")?, text("crv")) {
            ("RSA", _) => VerifyingKeyKind::Rs256 { modulus: bytes("n")?, exponent: bytes("e")? },
            ("EC", Some("P-256")) => VerifyingKeyKind::Es256([vec![4], bytes("x")?, bytes("y")?].concat()),
            ("OKP", Some("Ed25519")) => VerifyingKeyKind::EdDsa(bytes("x")?),
            _ => return None,
        };
        let is_stated = text("alg").is_none_or(|algorithm| algorithm == kind.algorithm());
        is_stated.then(|| Self { id: text("kid").map(str::to_owned), kind })
    }
}

impl VerifyingKeyKind {
    const fn algorithm(&self) -> &'static str {
        match self {
            VerifyingKeyKind::Rs256 { .. } => "RS256",
            VerifyingKeyKind::Es256(_) => "ES256",
            VerifyingKeyKind::EdDsa(_) => "EdDSA",
        }
    }

    /// Whether a signature was made with this key.
    fn verifies_signature(&self, message: &[u8], signature: &[u8]) -> bool {
        let verified =
            match self {
                VerifyingKeyKind::Rs256 { modulus, exponent } => RsaPublicKeyComponents { n: modulus, e: exponent }
                    .verify(&RSA_PKCS1_2048_8192_SHA256, message, signature),
                VerifyingKeyKind::Es256(point) => {
                    UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature)
                }
                VerifyingKeyKind::EdDsa(point) => UnparsedPublicKey::new(&ED25519, point).verify(message, signature),
            };
        verified.is_ok()
    }
}

fn decode_base64(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

    use ring::rand::SystemRandom;
    use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _};

    use super::*;

    const ISSUER: &str = "https://id.example";
    const AUDIENCE: &str = "https://skills.example/mcp";

    fn encode_base64(bytes: &[u8]) -> String {
        URL_SAFE_NO_PAD.encode(bytes)
    }

    fn key_pair_from_seed(seed: u8) -> Ed25519KeyPair {
        Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap()
    }

    fn jwks_from_seed(seed: u8) -> Vec<u8> {
        let key = json!({ "kty": "OKP", "crv": "Ed25519", "kid": "a", "x": encode_base64(key_pair_from_seed(seed).public_key().as_ref()) });
        json!({ "keys": [{ "kty": "oct", "k": "AA" }, key] }).to_string().into_bytes()
    }

    fn sign_token(header: &Value, claims: &Value, seed: u8) -> String {
        let signed = format!(
            "{}.{}",
            encode_base64(header.to_string().as_bytes()),
            encode_base64(claims.to_string().as_bytes())
        );
        let signature = key_pair_from_seed(seed).sign(signed.as_bytes());
        format!("{signed}.{}", encode_base64(signature.as_ref()))
    }

    fn fixed_key_source(jwks: Vec<u8>) -> JwksSource {
        Arc::new(move || Ok(jwks.clone()))
    }

    fn test_verifier() -> OAuthVerifier {
        OAuthVerifier::with_clock(ISSUER, AUDIENCE, fixed_key_source(jwks_from_seed(1)), || 1000).unwrap()
    }

    fn accepts_token(oauth: &OAuthVerifier, token: &str) -> bool {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(oauth.is_valid_token(token))
    }

    #[test]
    fn scopes_are_words_or_lists_and_foreign_ones_allow_nothing() {
        let scope = |claims: Value| read_scope(&claims);
        assert_eq!(scope(json!({})), Some(TokenScope::Run));
        assert_eq!(scope(json!({ "scope": "openid read" })), Some(TokenScope::Read));
        assert_eq!(scope(json!({ "scp": ["admin", "read"] })), Some(TokenScope::Admin));
        assert_eq!(scope(json!({ "scp": "run" })), Some(TokenScope::Run));
        for foreign in
            [json!({ "scope": "openid" }), json!({ "scope": "" }), json!({ "scope": 1 }), json!({ "scp": [1] })]
        {
            assert_eq!(scope(foreign.clone()), None, "{foreign}");
        }
    }

    #[test]
    fn a_token_is_accepted_by_signature_issuer_audience_and_time() {
        let oauth = test_verifier();
        let header = json!({ "alg": "EdDSA", "kid": "a" });
        let claims = json!({ "iss": ISSUER, "aud": AUDIENCE, "exp": 2000 });
        assert!(accepts_token(&oauth, &sign_token(&header, &claims, 1)));
        assert!(accepts_token(&oauth, &sign_token(&json!({ "alg": "EdDSA" }), &claims, 1)));
        let with = |name: &str, value: Value| {
            let mut claims = claims.clone();
            claims[name] = value;
            accepts_token(&oauth, &sign_token(&header, &claims, 1))
        };
        assert!(with("aud", json!(["other", AUDIENCE])) && with("nbf", json!(1020)) && with("exp", json!(990)));
        for (name, value) in [
            ("aud", json!("https://other.example")),
            ("aud", json!(["other"])),
            ("aud", json!(null)),
            ("iss", json!("https://id.example/")),
            ("iss", json!(null)),
            ("exp", json!(900)),
            ("exp", json!(null)),
            ("exp", json!("2000")),
            ("nbf", json!(2000)),
            ("nbf", json!("soon")),
        ] {
            assert!(!with(name, value.clone()), "{name} {value}");
        }
    }

    #[test]
    fn a_forged_or_unsupported_token_is_not_accepted() {
        let oauth = test_verifier();
        let header = json!({ "alg": "EdDSA", "kid": "a" });
        let claims = json!({ "iss": ISSUER, "aud": AUDIENCE, "exp": 2000 });
        assert!(!accepts_token(&oauth, &sign_token(&header, &claims, 2)), "another key");
        for header in [
            json!({ "alg": "none" }),
            json!({ "alg": "HS256", "kid": "a" }),
            json!({ "alg": "ES256", "kid": "a" }),
            json!({ "alg": "EdDSA", "kid": "b" }),
            json!({ "alg": "EdDSA", "crit": ["x"] }),
            json!({}),
        ] {
            assert!(!accepts_token(&oauth, &sign_token(&header, &claims, 1)), "{header}");
        }
        let good = sign_token(&header, &claims, 1);
        let (signed, _) = good.rsplit_once('.').unwrap();
        for bad in ["", ".", "..", "a.b.c", signed, &format!("{signed}."), &format!("{good}="), &"x".repeat(1 << 20)] {
            assert!(!accepts_token(&oauth, bad), "{bad:.40}");
        }
    }

    #[test]
    fn es256_is_accepted() {
        let random = SystemRandom::new();
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &random).unwrap();
        let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
        let jwks = json!({ "keys": [{ "kty": "EC", "crv": "P-256", "alg": "ES256", "x": encode_base64(x), "y": encode_base64(y) }] });
        let oauth =
            OAuthVerifier::with_clock(ISSUER, AUDIENCE, fixed_key_source(jwks.to_string().into_bytes()), || 1000)
                .unwrap();
        let claims = json!({ "iss": ISSUER, "aud": AUDIENCE, "exp": 2000 }).to_string();
        let signed = format!("{}.{}", encode_base64(br#"{"alg":"ES256"}"#), encode_base64(claims.as_bytes()));
        let signature = pair.sign(&random, signed.as_bytes()).unwrap();
        assert!(accepts_token(&oauth, &format!("{signed}.{}", encode_base64(signature.as_ref()))));
    }

    #[test]
    fn bearers_of_different_subjects_have_different_names() {
        let name = |claims: Value| name_bearer(&claims, "token");
        assert_eq!(name(json!({ "sub": "ann", "client_id": "x" })), "subject \"ann\"");
        assert_eq!(name(json!({ "client_id": "ann" })), "client \"ann\"");
        let long = "a".repeat(SUBJECT_CHARS_MAX);
        let (one, other) = (name(json!({ "sub": format!("{long}1") })), name(json!({ "sub": format!("{long}2") })));
        assert!(one != other && one.len() < SUBJECT_CHARS_MAX + 40, "{one} {other}");
        assert_ne!(name_bearer(&json!({}), "one"), name_bearer(&json!({}), "other"));
    }

    #[test]
    fn a_jwks_without_keys_is_an_error() {
        for bad in ["", "{}", "{\"keys\": []}", "{\"keys\": [{\"kty\": \"EC\", \"crv\": \"P-256\"}]}", "{\"keys\": 3}"]
        {
            assert!(OAuthVerifier::with_clock(ISSUER, AUDIENCE, fixed_key_source(bad.into()), || 0).is_err(), "{bad}");
        }
    }

    #[test]
    fn keys_are_fetched_again_but_not_for_every_token() {
        static NOW: AtomicU64 = AtomicU64::new(1000);
        let (asked, seed) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU8::new(1)));
        let (count, signing) = (Arc::clone(&asked), Arc::clone(&seed));
        let source: JwksSource = Arc::new(move || {
            count.fetch_add(1, Ordering::Relaxed);
            match signing.load(Ordering::Relaxed) {
                0 => Err("no answer".to_owned()),
                seed => Ok(jwks_from_seed(seed)),
            }
        });
        let oauth = OAuthVerifier::with_clock(ISSUER, AUDIENCE, source, || NOW.load(Ordering::Relaxed)).unwrap();
        let claims = json!({ "iss": ISSUER, "aud": AUDIENCE, "exp": 20_000 });
        let of = |seed: u8| sign_token(&json!({ "alg": "EdDSA" }), &claims, seed);
        let unknown = sign_token(&json!({ "alg": "EdDSA", "kid": "b" }), &claims, 1);
        assert!(accepts_token(&oauth, &of(1)) && asked.load(Ordering::Relaxed) == 1);
        seed.store(2, Ordering::Relaxed);
        assert!(accepts_token(&oauth, &of(2)), "a key that was published later");
        assert!(!accepts_token(&oauth, &of(1)), "a key that was withdrawn");
        for _ in 0..5 {
            assert!(!accepts_token(&oauth, &unknown));
        }
        assert_eq!(asked.load(Ordering::Relaxed), 2);
        NOW.fetch_add(KEYS_MIN_AGE_S, Ordering::Relaxed);
        assert!(!accepts_token(&oauth, &unknown) && asked.load(Ordering::Relaxed) == 3);
        // Old keys are fetched again, and remain if the fetch fails.
        NOW.fetch_add(KEYS_MAX_AGE_S, Ordering::Relaxed);
        seed.store(0, Ordering::Relaxed);
        assert!(accepts_token(&oauth, &of(2)) && asked.load(Ordering::Relaxed) == 4);
        assert!(accepts_token(&oauth, &of(2)) && asked.load(Ordering::Relaxed) == 4);
    }
}
