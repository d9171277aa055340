//! Tokens of an OAuth 2.1 authorization server: signed by a key it publishes, made for this server, and not over.
//!
//! Follows RFC 9728 (protected resource metadata), RFC 9068 and RFC 7519. The keys come as a JWKS (RFC 7517) from whoever hands
//! them in, and are asked for again when they are old or a token names one that is not among them, but not at every such token.
//! What is not understood is refused: other algorithms than the three below, `none`, and critical headers.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde_json::{Value, json};

/// The longest token.
const TOKEN_BYTES_MAX: usize = 16 << 10;
/// The most of a subject's name that is kept.
const SUBJECT_CHARS_MAX: usize = 100;
/// The signatures that are understood.
const ALGORITHMS: [&str; 3] = ["RS256", "ES256", "EdDSA"];
/// The most keys of an issuer.
const KEYS_MAX: usize = 100;
/// How far two clocks may be apart, in seconds.
const LEEWAY: u64 = 30;
/// After how many seconds keys are asked for again: while tokens are let in, and when one names an unknown key.
const OLD: u64 = 60 * 60;
const REST: u64 = 30;

/// Where keys come from: a JWKS, as it is now. May take its time.
pub type KeySource = Arc<dyn Fn() -> Result<Vec<u8>, String> + Send + Sync>;

/// The authorization server whose tokens are let in.
#[derive(Clone)]
pub struct OAuth {
    /// Its issuer identifier, as tokens bear it.
    issuer: String,
    /// This server as tokens name it.
    audience: String,
    source: KeySource,
    held: Arc<Mutex<Held>>,
    /// Whoever has it asks for keys; the others wait for what comes.
    turn: Arc<tokio::sync::Mutex<()>>,
    /// Seconds since 1970.
    now: fn() -> u64,
}

/// The keys as they last came, and when they were last asked for.
struct Held {
    keys: Arc<Vec<Key>>,
    at: u64,
}

/// What a token is.
enum Verdict {
    Good,
    Bad,
    /// Signed by a key that is not held.
    Unknown,
}

impl fmt::Debug for OAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuth").field("issuer", &self.issuer).field("audience", &self.audience).finish_non_exhaustive()
    }
}

/// A key that signs tokens.
#[derive(Clone, Debug)]
struct Key {
    id: Option<String>,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Rs256 { modulus: Vec<u8>, exponent: Vec<u8> },
    Es256(Vec<u8>),
    EdDsa(Vec<u8>),
}

impl OAuth {
    /// Takes tokens of an issuer for an audience, signed by one of the keys of a source. It is asked at once.
    pub fn new(issuer: &str, audience: &str, source: KeySource, now: fn() -> u64) -> Result<Self, String> {
        let keys = Arc::new(Key::all(&source()?)?);
        Ok(Self {
            issuer: issuer.to_owned(),
            audience: audience.to_owned(),
            source,
            // Not now: the first unknown key is asked for at once.
            held: Arc::new(Mutex::new(Held { keys, at: now().saturating_sub(REST) })),
            turn: Arc::default(),
            now,
        })
    }

    /// What clients are told to find the authorization server by.
    pub(crate) fn metadata(&self) -> Value {
        json!({
            "resource": self.audience,
            "authorization_servers": [self.issuer],
            "bearer_methods_supported": ["header"],
            "resource_name": "Repertoire",
        })
    }

    /// Whom a token that is let in was given to, as the server that gave it calls them.
    pub(crate) async fn subject(&self, token: &str) -> Option<String> {
        if !self.is_good(token).await {
            return None;
        }
        let claims = Parts::of(token)?.claims;
        let named = ["sub", "client_id", "azp"].into_iter().find_map(|name| claims.get(name)?.as_str());
        Some(named.unwrap_or("unnamed").chars().take(SUBJECT_CHARS_MAX).collect())
    }

    /// Whether a token is let in.
    async fn is_good(&self, token: &str) -> bool {
        if token.len() > TOKEN_BYTES_MAX {
            return false;
        }
        let (keys, age) = self.held();
        match self.judge(token, &keys) {
            Verdict::Bad => false,
            Verdict::Good if age < OLD => true,
            Verdict::Unknown if age < REST => false,
            Verdict::Good | Verdict::Unknown => {
                self.renew(&keys).await;
                matches!(self.judge(token, &self.held().0), Verdict::Good)
            }
        }
    }

    /// The keys, and how many seconds ago they were asked for.
    fn held(&self) -> (Arc<Vec<Key>>, u64) {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        (Arc::clone(&held.keys), (self.now)().saturating_sub(held.at))
    }

    /// Asks for the keys, unless somebody just did. Where none come, those that are held stay.
    async fn renew(&self, seen: &Arc<Vec<Key>>) {
        let _turn = self.turn.lock().await;
        let (keys, age) = self.held();
        if !Arc::ptr_eq(&keys, seen) || age < REST {
            return;
        }
        let source = Arc::clone(&self.source);
        let came = tokio::task::spawn_blocking(move || source().and_then(|jwks| Key::all(&jwks))).await;
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.at = (self.now)();
        if let Ok(Ok(keys)) = came {
            held.keys = Arc::new(keys);
        }
    }

    fn judge(&self, token: &str, keys: &[Key]) -> Verdict {
        let Some(parts) = Parts::of(token) else { return Verdict::Bad };
        let is_meant =
            |key: &&Key| key.kind.algorithm() == parts.algorithm && (parts.id.is_none() || key.id == parts.id);
        let mut meant = keys.iter().filter(is_meant).peekable();
        if meant.peek().is_none() {
            return Verdict::Unknown;
        }
        let holds = |key: &Key| key.kind.holds(parts.signed.as_bytes(), &parts.signature);
        match (meant.any(holds), self.is_for_us(&parts.claims)) {
            (true, true) => Verdict::Good,
            // Without the name of its key a token may be signed by one that came later.
            (false, true) if parts.id.is_none() => Verdict::Unknown,
            _ => Verdict::Bad,
        }
    }

    fn is_for_us(&self, claims: &Value) -> bool {
        let now = (self.now)();
        let seconds = |name: &str| claims.get(name).and_then(Value::as_f64);
        let is_for = match claims.get("aud") {
            Some(Value::String(one)) => *one == self.audience,
            Some(Value::Array(all)) => all.iter().any(|one| one.as_str() == Some(self.audience.as_str())),
            _ => false,
        };
        #[expect(clippy::cast_precision_loss, reason = "seconds since 1970 fit for a long time")]
        let (early, late) = (now.saturating_sub(LEEWAY) as f64, (now + LEEWAY) as f64);
        let is_in_time = seconds("exp").is_some_and(|end| end > early)
            && claims.get("nbf").is_none_or(|start| start.as_f64().is_some_and(|start| start <= late));
        is_for && is_in_time && claims.get("iss").and_then(Value::as_str) == Some(self.issuer.as_str())
    }
}

/// A token, taken apart and not yet believed.
struct Parts<'a> {
    signed: &'a str,
    signature: Vec<u8>,
    algorithm: String,
    id: Option<String>,
    claims: Value,
}

impl<'a> Parts<'a> {
    fn of(token: &'a str) -> Option<Self> {
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, payload) = signed.split_once('.')?;
        let header: Value = serde_json::from_slice(&decoded(header)?).ok()?;
        let text = |name: &str| header.get(name).and_then(Value::as_str).map(str::to_owned);
        if header.get("crit").is_some() {
            return None;
        }
        let algorithm = text("alg").filter(|algorithm| ALGORITHMS.contains(&algorithm.as_str()))?;
        let claims = serde_json::from_slice(&decoded(payload)?).ok()?;
        Some(Self { signed, signature: decoded(signature)?, algorithm, id: text("kid"), claims })
    }
}

impl Key {
    /// The keys of a JWKS that can sign tokens.
    fn all(jwks: &[u8]) -> Result<Vec<Self>, String> {
        let jwks: Value = serde_json::from_slice(jwks).map_err(|error| format!("the keys are not JSON: {error}"))?;
        let listed =
            jwks.get("keys").and_then(Value::as_array).ok_or("the keys are no JWKS: there is no list `keys`")?;
        let keys: Vec<Self> = listed.iter().filter_map(Self::of).take(KEYS_MAX).collect();
        if keys.is_empty() {
            return Err("the JWKS holds no key for RS256, ES256 or EdDSA".to_owned());
        }
        Ok(keys)
    }

    /// A key of a JWKS; none where it is of another kind, or for something else than signatures.
    fn of(key: &Value) -> Option<Self> {
        let text = |name: &str| key.get(name).and_then(Value::as_str);
        let bytes = |name: &str| text(name).and_then(decoded);
        if text("use").is_some_and(|purpose| purpose != "sig") {
            return None;
        }
        let kind = match (text("kty")?, text("crv")) {
            ("RSA", _) => Kind::Rs256 { modulus: bytes("n")?, exponent: bytes("e")? },
            ("EC", Some("P-256")) => Kind::Es256([vec![4], bytes("x")?, bytes("y")?].concat()),
            ("OKP", Some("Ed25519")) => Kind::EdDsa(bytes("x")?),
            _ => return None,
        };
        let is_stated = text("alg").is_none_or(|algorithm| algorithm == kind.algorithm());
        is_stated.then(|| Self { id: text("kid").map(str::to_owned), kind })
    }
}

impl Kind {
    const fn algorithm(&self) -> &'static str {
        match self {
            Kind::Rs256 { .. } => "RS256",
            Kind::Es256(_) => "ES256",
            Kind::EdDsa(_) => "EdDSA",
        }
    }

    /// Whether a signature is this key's.
    fn holds(&self, message: &[u8], signature: &[u8]) -> bool {
        let checked = match self {
            Kind::Rs256 { modulus, exponent } => RsaPublicKeyComponents { n: modulus, e: exponent }.verify(
                &RSA_PKCS1_2048_8192_SHA256,
                message,
                signature,
            ),
            Kind::Es256(point) => UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature),
            Kind::EdDsa(point) => UnparsedPublicKey::new(&ED25519, point).verify(message, signature),
        };
        checked.is_ok()
    }
}

fn decoded(text: &str) -> Option<Vec<u8>> {
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

    fn ours() -> OAuth {
        OAuth::new(ISSUER, AUDIENCE, source(jwks(1)), || 1000).unwrap()
    }

    fn is_good(oauth: &OAuth, token: &str) -> bool {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(oauth.is_good(token))
    }

    #[test]
    fn a_token_is_let_in_by_signature_issuer_audience_and_time() {
        let oauth = ours();
        let header = json!({ "alg": "EdDSA", "kid": "a" });
        let claims = json!({ "iss": ISSUER, "aud": AUDIENCE, "exp": 2000 });
        assert!(is_good(&oauth, &token(&header, &claims, 1)));
        assert!(is_good(&oauth, &token(&json!({ "alg": "EdDSA" }), &claims, 1)));
        let with = |name: &str, value: Value| {
            let mut claims = claims.clone();
            claims[name] = value;
            is_good(&oauth, &token(&header, &claims, 1))
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
    fn what_is_forged_or_not_understood_is_not_let_in() {
        let oauth = ours();
        let header = json!({ "alg": "EdDSA", "kid": "a" });
        let claims = json!({ "iss": ISSUER, "aud": AUDIENCE, "exp": 2000 });
        assert!(!is_good(&oauth, &token(&header, &claims, 2)), "another key");
        for header in [
            json!({ "alg": "none" }),
            json!({ "alg": "HS256", "kid": "a" }),
            json!({ "alg": "ES256", "kid": "a" }),
            json!({ "alg": "EdDSA", "kid": "b" }),
            json!({ "alg": "EdDSA", "crit": ["x"] }),
            json!({}),
        ] {
            assert!(!is_good(&oauth, &token(&header, &claims, 1)), "{header}");
        }
        let good = token(&header, &claims, 1);
        let (signed, _) = good.rsplit_once('.').unwrap();
        for bad in ["", ".", "..", "a.b.c", signed, &format!("{signed}."), &format!("{good}="), &"x".repeat(1 << 20)] {
            assert!(!is_good(&oauth, bad), "{bad:.40}");
        }
    }

    #[test]
    fn es256_is_understood_too() {
        let random = SystemRandom::new();
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &random).unwrap();
        let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
        let jwks =
            json!({ "keys": [{ "kty": "EC", "crv": "P-256", "alg": "ES256", "x": encoded(x), "y": encoded(y) }] });
        let oauth = OAuth::new(ISSUER, AUDIENCE, source(jwks.to_string().into_bytes()), || 1000).unwrap();
        let claims = json!({ "iss": ISSUER, "aud": AUDIENCE, "exp": 2000 }).to_string();
        let signed = format!("{}.{}", encoded(br#"{"alg":"ES256"}"#), encoded(claims.as_bytes()));
        let signature = pair.sign(&random, signed.as_bytes()).unwrap();
        assert!(is_good(&oauth, &format!("{signed}.{}", encoded(signature.as_ref()))));
    }

    #[test]
    fn keys_that_are_none_are_told() {
        for bad in ["", "{}", "{\"keys\": []}", "{\"keys\": [{\"kty\": \"EC\", \"crv\": \"P-256\"}]}", "{\"keys\": 3}"]
        {
            assert!(OAuth::new(ISSUER, AUDIENCE, source(bad.into()), || 0).is_err(), "{bad}");
        }
    }

    #[test]
    fn keys_are_asked_for_again_but_not_at_every_token() {
        static NOW: AtomicU64 = AtomicU64::new(1000);
        let (asked, seed) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU8::new(1)));
        let (count, signing) = (Arc::clone(&asked), Arc::clone(&seed));
        let source: KeySource = Arc::new(move || {
            count.fetch_add(1, Ordering::Relaxed);
            match signing.load(Ordering::Relaxed) {
                0 => Err("nobody is there".to_owned()),
                seed => Ok(jwks(seed)),
            }
        });
        let oauth = OAuth::new(ISSUER, AUDIENCE, source, || NOW.load(Ordering::Relaxed)).unwrap();
        let claims = json!({ "iss": ISSUER, "aud": AUDIENCE, "exp": 20_000 });
        let of = |seed: u8| token(&json!({ "alg": "EdDSA" }), &claims, seed);
        let unknown = token(&json!({ "alg": "EdDSA", "kid": "b" }), &claims, 1);
        assert!(is_good(&oauth, &of(1)) && asked.load(Ordering::Relaxed) == 1);
        seed.store(2, Ordering::Relaxed);
        assert!(is_good(&oauth, &of(2)), "the key that came later");
        assert!(!is_good(&oauth, &of(1)), "the key that is no more");
        for _ in 0..5 {
            assert!(!is_good(&oauth, &unknown));
        }
        assert_eq!(asked.load(Ordering::Relaxed), 2);
        NOW.fetch_add(REST, Ordering::Relaxed);
        assert!(!is_good(&oauth, &unknown) && asked.load(Ordering::Relaxed) == 3);
        // Old keys are asked for again, and stay where nobody answers.
        NOW.fetch_add(OLD, Ordering::Relaxed);
        seed.store(0, Ordering::Relaxed);
        assert!(is_good(&oauth, &of(2)) && asked.load(Ordering::Relaxed) == 4);
        assert!(is_good(&oauth, &of(2)) && asked.load(Ordering::Relaxed) == 4);
    }
}
