//! Tokens of an OAuth 2.1 authorization server: signed by a key it publishes, made for this server, and not over.
//!
//! Follows RFC 9728 (protected resource metadata), RFC 9068 and RFC 7519. The keys are handed in as a JWKS (RFC 7517): nothing
//! is fetched. What is not understood is refused: other algorithms than the three below, `none`, and critical headers.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde_json::{Value, json};

/// The longest token.
const TOKEN_BYTES_MAX: usize = 16 << 10;
/// How far two clocks may be apart, in seconds.
const LEEWAY: u64 = 30;

/// The authorization server whose tokens are let in.
#[derive(Clone, Debug)]
pub struct OAuth {
    /// Its issuer identifier, as tokens bear it.
    issuer: String,
    /// This server as tokens name it.
    audience: String,
    keys: Vec<Key>,
    /// Seconds since 1970.
    now: fn() -> u64,
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
    /// Takes tokens of an issuer for an audience, signed by one of the keys of a JWKS.
    pub fn new(issuer: &str, audience: &str, jwks: &[u8], now: fn() -> u64) -> Result<Self, String> {
        let jwks: Value = serde_json::from_slice(jwks).map_err(|error| format!("the keys are not JSON: {error}"))?;
        let listed =
            jwks.get("keys").and_then(Value::as_array).ok_or("the keys are no JWKS: there is no list `keys`")?;
        let keys: Vec<Key> = listed.iter().filter_map(Key::of).collect();
        if keys.is_empty() {
            return Err("the JWKS holds no key for RS256, ES256 or EdDSA".to_owned());
        }
        Ok(Self { issuer: issuer.to_owned(), audience: audience.to_owned(), keys, now })
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

    /// Whether a token is let in.
    pub(crate) fn is_good(&self, token: &str) -> bool {
        token.len() <= TOKEN_BYTES_MAX && self.claims(token).is_some_and(|claims| self.is_for_us(&claims))
    }

    /// The claims of a token whose signature holds.
    fn claims(&self, token: &str) -> Option<Value> {
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, payload) = signed.split_once('.')?;
        let header: Value = serde_json::from_slice(&decoded(header)?).ok()?;
        if header.get("crit").is_some() {
            return None;
        }
        let (algorithm, id) = (header.get("alg")?.as_str()?, header.get("kid").and_then(Value::as_str));
        let signature = decoded(signature)?;
        let is_meant = |key: &&Key| id.is_none() || key.id.as_deref() == id;
        let holds = |key: &Key| key.kind.algorithm() == algorithm && key.kind.holds(signed.as_bytes(), &signature);
        self.keys.iter().filter(is_meant).any(holds).then_some(())?;
        serde_json::from_slice(&decoded(payload)?).ok()
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

impl Key {
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

    fn ours() -> OAuth {
        OAuth::new(ISSUER, AUDIENCE, &jwks(1), || 1000).unwrap()
    }

    #[test]
    fn a_token_is_let_in_by_signature_issuer_audience_and_time() {
        let oauth = ours();
        let header = json!({ "alg": "EdDSA", "kid": "a" });
        let claims = json!({ "iss": ISSUER, "aud": AUDIENCE, "exp": 2000 });
        assert!(oauth.is_good(&token(&header, &claims, 1)));
        assert!(oauth.is_good(&token(&json!({ "alg": "EdDSA" }), &claims, 1)));
        let with = |name: &str, value: Value| {
            let mut claims = claims.clone();
            claims[name] = value;
            oauth.is_good(&token(&header, &claims, 1))
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
        assert!(!oauth.is_good(&token(&header, &claims, 2)), "another key");
        for header in [
            json!({ "alg": "none" }),
            json!({ "alg": "HS256", "kid": "a" }),
            json!({ "alg": "ES256", "kid": "a" }),
            json!({ "alg": "EdDSA", "kid": "b" }),
            json!({ "alg": "EdDSA", "crit": ["x"] }),
            json!({}),
        ] {
            assert!(!oauth.is_good(&token(&header, &claims, 1)), "{header}");
        }
        let good = token(&header, &claims, 1);
        let (signed, _) = good.rsplit_once('.').unwrap();
        for bad in ["", ".", "..", "a.b.c", signed, &format!("{signed}."), &format!("{good}="), &"x".repeat(1 << 20)] {
            assert!(!oauth.is_good(bad), "{bad:.40}");
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
        let oauth = OAuth::new(ISSUER, AUDIENCE, jwks.to_string().as_bytes(), || 1000).unwrap();
        let claims = json!({ "iss": ISSUER, "aud": AUDIENCE, "exp": 2000 }).to_string();
        let signed = format!("{}.{}", encoded(br#"{"alg":"ES256"}"#), encoded(claims.as_bytes()));
        let signature = pair.sign(&random, signed.as_bytes()).unwrap();
        assert!(oauth.is_good(&format!("{signed}.{}", encoded(signature.as_ref()))));
    }

    #[test]
    fn keys_that_are_none_are_told() {
        for bad in ["", "{}", "{\"keys\": []}", "{\"keys\": [{\"kty\": \"EC\", \"crv\": \"P-256\"}]}", "{\"keys\": 3}"]
        {
            assert!(OAuth::new(ISSUER, AUDIENCE, bad.as_bytes(), || 0).is_err(), "{bad}");
        }
    }
}
