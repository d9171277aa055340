//! Access tokens of an OAuth 2.1 authorization server: signed with a key it publishes, issued for this server, not expired.
//!
//! Follows RFC 9728 (protected resource metadata), RFC 9068 and RFC 7519. The caller hands in where the keys come from, as a JWKS
//! (RFC 7517). They are fetched again when they are old, or when a token names a key that is not among them, but not for every such
//! token. Everything else is refused: other algorithms than the three below, `none`, and critical headers.
//!
//! `jsonwebtoken` is not used: since version 10 it brings a second crypto stack (aws-lc, or `RustCrypto` with `rsa`), and version 9,
//! which uses *ring*, treats an `exp` or `nbf` of the wrong type as absent (CVE-2026-25537).
#![expect(clippy::disallowed_methods, reason = "tokens expire")]

use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parking_lot::Mutex;
use rep_model::truncate::truncate_chars;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde_json::{Value, json};

/// The longest token.
const TOKEN_BYTES_MAX: usize = 16 << 10;
/// The most characters of a subject's name that are recorded.
const SUBJECT_CHARS_MAX: usize = 100;
/// The signature algorithms that are accepted.
const ALGORITHMS: [&str; 3] = ["RS256", "ES256", "EdDSA"];
/// The most keys of an issuer.
const KEYS_MAX: usize = 100;
/// How far two clocks may differ, in seconds.
const LEEWAY_S: u64 = 30;
/// After how many seconds keys are fetched again: if a token is accepted, and if a token names an unknown key.
const KEYS_MAX_AGE_S: u64 = 60 * 60;
const KEYS_MIN_AGE_S: u64 = 30;

/// Fetches the current JWKS. It may block.
pub type KeySource = Arc<dyn Fn() -> Result<Vec<u8>, String> + Send + Sync>;

/// The authorization server whose tokens are accepted.
#[derive(Clone)]
pub struct OAuth {
    /// Its issuer identifier, as its tokens name it.
    issuer: String,
    /// This server, as its tokens name it.
    audience: String,
    source: KeySource,
    keys: Arc<Mutex<KeySet>>,
    /// Held while keys are fetched; other requests wait for the result.
    fetching: Arc<tokio::sync::Mutex<()>>,
    /// Seconds since 1970.
    now: fn() -> u64,
}

/// The keys that were fetched last, and when they were last requested.
struct KeySet {
    keys: Arc<Vec<VerifyingKey>>,
    requested_at: u64,
}

/// Whether a token is accepted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TokenStatus {
    Valid,
    Invalid,
    /// Signed with a key that is not in the set.
    UnknownKey,
}

impl fmt::Debug for OAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuth").field("issuer", &self.issuer).field("audience", &self.audience).finish_non_exhaustive()
    }
}

/// A key that signs tokens.
#[derive(Clone, Debug)]
struct VerifyingKey {
    id: Option<String>,
    kind: KeyKind,
}

#[derive(Clone, Debug)]
enum KeyKind {
    Rs256 { modulus: Vec<u8>, exponent: Vec<u8> },
    Es256(Vec<u8>),
    EdDsa(Vec<u8>),
}

impl OAuth {
    /// Accepts tokens of an issuer for an audience, signed with one of the keys of a source. Fetches the keys at once.
    pub fn new(issuer: &str, audience: &str, source: KeySource) -> Result<Self, String> {
        Self::with_clock(issuer, audience, source, unix_time)
    }

    fn with_clock(issuer: &str, audience: &str, source: KeySource, now: fn() -> u64) -> Result<Self, String> {
        let keys = Arc::new(VerifyingKey::parse_all(&source()?)?);
        // An unknown key is fetched at once the first time.
        let requested_at = now().saturating_sub(KEYS_MIN_AGE_S);
        Ok(Self {
            issuer: issuer.to_owned(),
            audience: audience.to_owned(),
            source,
            keys: Arc::new(Mutex::new(KeySet { keys, requested_at })),
            fetching: Arc::default(),
            now,
        })
    }

    /// The metadata by which clients find the authorization server.
    pub(crate) fn metadata(&self) -> Value {
        json!({
            "resource": self.audience,
            "authorization_servers": [self.issuer],
            "bearer_methods_supported": ["header"],
            "resource_name": "Repertoire",
        })
    }

    /// The subject of a token, if the token is accepted.
    pub(crate) async fn subject(&self, token: &str) -> Option<String> {
        if !self.is_valid(token).await {
            return None;
        }
        let claims = TokenParts::parse(token)?.claims;
        let named = ["sub", "client_id", "azp"].into_iter().find_map(|name| claims.get(name)?.as_str());
        Some(truncate_chars(named.unwrap_or("unnamed"), SUBJECT_CHARS_MAX).to_owned())
    }

    /// Whether a token is accepted.
    async fn is_valid(&self, token: &str) -> bool {
        if token.len() > TOKEN_BYTES_MAX {
            return false;
        }
        let (keys, age) = self.current_keys();
        match self.check(token, &keys) {
            TokenStatus::Invalid => false,
            TokenStatus::Valid if age < KEYS_MAX_AGE_S => true,
            TokenStatus::UnknownKey if age < KEYS_MIN_AGE_S => false,
            TokenStatus::Valid | TokenStatus::UnknownKey => {
                self.fetch_keys(&keys).await;
                self.check(token, &self.current_keys().0) == TokenStatus::Valid
            }
        }
    }

    /// The keys, and how many seconds ago they were requested.
    fn current_keys(&self) -> (Arc<Vec<VerifyingKey>>, u64) {
        let set = self.keys.lock();
        (Arc::clone(&set.keys), (self.now)().saturating_sub(set.requested_at))
    }

    /// Fetches the keys, unless another task just did. If that fails, the current ones stay.
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

    fn check(&self, token: &str, keys: &[VerifyingKey]) -> TokenStatus {
        let Some(parts) = TokenParts::parse(token) else { return TokenStatus::Invalid };
        let is_candidate = |key: &&VerifyingKey| {
            key.kind.algorithm() == parts.algorithm && (parts.key_id.is_none() || key.id == parts.key_id)
        };
        let mut candidates = keys.iter().filter(is_candidate).peekable();
        if candidates.peek().is_none() {
            return TokenStatus::UnknownKey;
        }
        let is_signed = candidates.any(|key| key.kind.verifies(parts.signed.as_bytes(), &parts.signature));
        match (is_signed, self.accepts_claims(&parts.claims)) {
            (true, true) => TokenStatus::Valid,
            // A token that does not name its key may be signed with one that was published later.
            (false, true) if parts.key_id.is_none() => TokenStatus::UnknownKey,
            _ => TokenStatus::Invalid,
        }
    }

    /// Whether issuer, audience and times of a token are right. A claim of the wrong type is not.
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

/// Seconds since 1970.
fn unix_time() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// The parts of a token. Nothing in them is verified.
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
        let header: Value = serde_json::from_slice(&decode(header)?).ok()?;
        let text = |name: &str| header.get(name).and_then(Value::as_str).map(str::to_owned);
        if header.get("crit").is_some() {
            return None;
        }
        let algorithm = text("alg").filter(|algorithm| ALGORITHMS.contains(&algorithm.as_str()))?;
        let claims = serde_json::from_slice(&decode(payload)?).ok()?;
        Some(Self { signed, signature: decode(signature)?, algorithm, key_id: text("kid"), claims })
    }
}

impl VerifyingKey {
    /// Parses the keys of a JWKS that can sign tokens.
    fn parse_all(jwks: &[u8]) -> Result<Vec<Self>, String> {
        let jwks: Value = serde_json::from_slice(jwks).map_err(|error| format!("the keys are not JSON: {error}"))?;
        let listed = jwks.get("keys").and_then(Value::as_array);
        let listed = listed.ok_or("the keys are not a JWKS: there is no list `keys`")?;
        let keys: Vec<Self> = listed.iter().filter_map(Self::parse).take(KEYS_MAX).collect();
        if keys.is_empty() {
            return Err("the JWKS contains no key for RS256, ES256 or EdDSA".to_owned());
        }
        Ok(keys)
    }

    /// Parses a key of a JWKS; `None` if it is of another kind, or not for signatures.
    fn parse(key: &Value) -> Option<Self> {
        let text = |name: &str| key.get(name).and_then(Value::as_str);
        let bytes = |name: &str| text(name).and_then(decode);
        if text("use").is_some_and(|purpose| purpose != "sig") {
            return None;
        }
        let kind = match (text("kty")?, text("crv")) {
            ("RSA", _) => KeyKind::Rs256 { modulus: bytes("n")?, exponent: bytes("e")? },
            ("EC", Some("P-256")) => KeyKind::Es256([vec![4], bytes("x")?, bytes("y")?].concat()),
            ("OKP", Some("Ed25519")) => KeyKind::EdDsa(bytes("x")?),
            _ => return None,
        };
        let is_stated = text("alg").is_none_or(|algorithm| algorithm == kind.algorithm());
        is_stated.then(|| Self { id: text("kid").map(str::to_owned), kind })
    }
}

impl KeyKind {
    const fn algorithm(&self) -> &'static str {
        match self {
            KeyKind::Rs256 { .. } => "RS256",
            KeyKind::Es256(_) => "ES256",
            KeyKind::EdDsa(_) => "EdDSA",
        }
    }

    /// Whether a signature was made with this key.
    fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        let verified = match self {
            KeyKind::Rs256 { modulus, exponent } => RsaPublicKeyComponents { n: modulus, e: exponent }.verify(
                &RSA_PKCS1_2048_8192_SHA256,
                message,
                signature,
            ),
            KeyKind::Es256(point) => UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature),
            KeyKind::EdDsa(point) => UnparsedPublicKey::new(&ED25519, point).verify(message, signature),
        };
        verified.is_ok()
    }
}

fn decode(text: &str) -> Option<Vec<u8>> {
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

    fn encoded(bytes: &[u8]) -> String {
        URL_SAFE_NO_PAD.encode(bytes)
    }

    fn signer(seed: u8) -> Ed25519KeyPair {
        Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap()
    }

    fn jwks(seed: u8) -> Vec<u8> {
        let key =
            json!({ "kty": "OKP", "crv": "Ed25519", "kid": "a", "x": encoded(signer(seed).public_key().as_ref()) });
        json!({ "keys": [{ "kty": "oct", "k": "AA" }, key] }).to_string().into_bytes()
    }

    fn token(header: &Value, claims: &Value, seed: u8) -> String {
        let signed = format!("{}.{}", encoded(header.to_string().as_bytes()), encoded(claims.to_string().as_bytes()));
        let signature = signer(seed).sign(signed.as_bytes());
        format!("{signed}.{}", encoded(signature.as_ref()))
    }

    fn source(jwks: Vec<u8>) -> KeySource {
        Arc::new(move || Ok(jwks.clone()))
    }

    fn accepting() -> OAuth {
        OAuth::with_clock(ISSUER, AUDIENCE, source(jwks(1)), || 1000).unwrap()
    }

    fn is_valid(oauth: &OAuth, token: &str) -> bool {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(oauth.is_valid(token))
    }

    #[test]
    fn a_token_is_accepted_by_signature_issuer_audience_and_time() {
        let oauth = accepting();
        let header = json!({ "alg": "EdDSA", "kid": "a" });
        let claims = json!({ "iss": ISSUER, "aud": AUDIENCE, "exp": 2000 });
        assert!(is_valid(&oauth, &token(&header, &claims, 1)));
        assert!(is_valid(&oauth, &token(&json!({ "alg": "EdDSA" }), &claims, 1)));
        let with = |name: &str, value: Value| {
            let mut claims = claims.clone();
            claims[name] = value;
            is_valid(&oauth, &token(&header, &claims, 1))
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
        let oauth = accepting();
        let header = json!({ "alg": "EdDSA", "kid": "a" });
        let claims = json!({ "iss": ISSUER, "aud": AUDIENCE, "exp": 2000 });
        assert!(!is_valid(&oauth, &token(&header, &claims, 2)), "another key");
        for header in [
            json!({ "alg": "none" }),
            json!({ "alg": "HS256", "kid": "a" }),
            json!({ "alg": "ES256", "kid": "a" }),
            json!({ "alg": "EdDSA", "kid": "b" }),
            json!({ "alg": "EdDSA", "crit": ["x"] }),
            json!({}),
        ] {
            assert!(!is_valid(&oauth, &token(&header, &claims, 1)), "{header}");
        }
        let good = token(&header, &claims, 1);
        let (signed, _) = good.rsplit_once('.').unwrap();
        for bad in ["", ".", "..", "a.b.c", signed, &format!("{signed}."), &format!("{good}="), &"x".repeat(1 << 20)] {
            assert!(!is_valid(&oauth, bad), "{bad:.40}");
        }
    }

    #[test]
    fn es256_is_accepted() {
        let random = SystemRandom::new();
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &random).unwrap();
        let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
        let jwks =
            json!({ "keys": [{ "kty": "EC", "crv": "P-256", "alg": "ES256", "x": encoded(x), "y": encoded(y) }] });
        let oauth = OAuth::with_clock(ISSUER, AUDIENCE, source(jwks.to_string().into_bytes()), || 1000).unwrap();
        let claims = json!({ "iss": ISSUER, "aud": AUDIENCE, "exp": 2000 }).to_string();
        let signed = format!("{}.{}", encoded(br#"{"alg":"ES256"}"#), encoded(claims.as_bytes()));
        let signature = pair.sign(&random, signed.as_bytes()).unwrap();
        assert!(is_valid(&oauth, &format!("{signed}.{}", encoded(signature.as_ref()))));
    }

    #[test]
    fn a_jwks_without_keys_is_an_error() {
        for bad in ["", "{}", "{\"keys\": []}", "{\"keys\": [{\"kty\": \"EC\", \"crv\": \"P-256\"}]}", "{\"keys\": 3}"]
        {
            assert!(OAuth::with_clock(ISSUER, AUDIENCE, source(bad.into()), || 0).is_err(), "{bad}");
        }
    }

    #[test]
    fn keys_are_fetched_again_but_not_for_every_token() {
        static NOW: AtomicU64 = AtomicU64::new(1000);
        let (asked, seed) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU8::new(1)));
        let (count, signing) = (Arc::clone(&asked), Arc::clone(&seed));
        let source: KeySource = Arc::new(move || {
            count.fetch_add(1, Ordering::Relaxed);
            match signing.load(Ordering::Relaxed) {
                0 => Err("no answer".to_owned()),
                seed => Ok(jwks(seed)),
            }
        });
        let oauth = OAuth::with_clock(ISSUER, AUDIENCE, source, || NOW.load(Ordering::Relaxed)).unwrap();
        let claims = json!({ "iss": ISSUER, "aud": AUDIENCE, "exp": 20_000 });
        let of = |seed: u8| token(&json!({ "alg": "EdDSA" }), &claims, seed);
        let unknown = token(&json!({ "alg": "EdDSA", "kid": "b" }), &claims, 1);
        assert!(is_valid(&oauth, &of(1)) && asked.load(Ordering::Relaxed) == 1);
        seed.store(2, Ordering::Relaxed);
        assert!(is_valid(&oauth, &of(2)), "a key that was published later");
        assert!(!is_valid(&oauth, &of(1)), "a key that was withdrawn");
        for _ in 0..5 {
            assert!(!is_valid(&oauth, &unknown));
        }
        assert_eq!(asked.load(Ordering::Relaxed), 2);
        NOW.fetch_add(KEYS_MIN_AGE_S, Ordering::Relaxed);
        assert!(!is_valid(&oauth, &unknown) && asked.load(Ordering::Relaxed) == 3);
        // Old keys are fetched again, and stay if that fails.
        NOW.fetch_add(KEYS_MAX_AGE_S, Ordering::Relaxed);
        seed.store(0, Ordering::Relaxed);
        assert!(is_valid(&oauth, &of(2)) && asked.load(Ordering::Relaxed) == 4);
        assert!(is_valid(&oauth, &of(2)) && asked.load(Ordering::Relaxed) == 4);
    }
}
