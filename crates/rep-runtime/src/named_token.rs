//! Named tokens for the server: what each allows, for which skills, and until when.
//!
//! The user's file has only the digest of a token. A token is random, so nobody can compute it from its digest.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rep_storage::files::{self, StorageError, random_bytes};
use rep_storage::time;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The version of the file.
const VERSION: u64 = 1;
const FILE_NAME: &str = "tokens.json";
const FILE_BYTES_MAX: u64 = 4 << 20;
/// The maximum number of tokens, and of characters of a name.
const TOKENS_MAX: usize = 1000;
const NAME_CHARS_MAX: usize = 64;
/// What every token starts with, so that scanners for leaked secrets can recognize it.
const TOKEN_PREFIX: &str = "rep_";

/// What a token allows. Each scope includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TokenScope {
    /// List, search, load and read skills.
    Read,
    /// Run the tools of skills, if the server allows that, and confirm one's own runs.
    Run,
    /// See and decide what belongs to others, and read the state of the server.
    Admin,
}

impl TokenScope {
    /// All scopes.
    pub const ALL: [Self; 3] = [Self::Read, Self::Run, Self::Admin];

    /// Returns the word for the scope.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Run => "run",
            Self::Admin => "admin",
        }
    }

    /// Returns the scope and those that it includes.
    pub fn included(self) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(move |scope| *scope <= self)
    }

    /// Finds a scope by its word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.name() == word)
    }
}

/// A named token, without the token itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedToken {
    /// The name.
    pub name: String,
    /// What the token allows.
    pub scope: TokenScope,
    /// The patterns of the skills that exist for its bearer; all if there are none.
    pub skills: Vec<String>,
    /// When it was made.
    pub created: String,
    /// When it expires.
    pub expires: Option<String>,
    /// The SHA-256 of the token.
    digest: [u8; 32],
}

impl NamedToken {
    /// Returns the token as JSON, without its digest.
    pub fn to_json(&self) -> Value {
        let scopes: Vec<&str> = self.scope.included().map(TokenScope::name).collect();
        json!({
            "name": self.name, "scopes": scopes, "skills": self.skills, "created": self.created, "expires": self.expires,
        })
    }

    /// Whether the token has expired.
    pub fn is_expired(&self, now: SystemTime) -> bool {
        self.expires.as_ref().is_some_and(|end| *end <= time::format_timestamp(now))
    }

    fn to_file_json(&self) -> Value {
        let mut value = json!({
            "name": self.name, "skills": self.skills, "created": self.created, "expires": self.expires,
        });
        value["digest"] = hex::encode(self.digest).into();
        value["scope"] = self.scope.name().into();
        value
    }

    fn from_json(value: &Value) -> Option<Self> {
        let text = |field: &str| value.get(field).and_then(Value::as_str).map(str::to_owned);
        let patterns = value.get("skills")?.as_array()?.iter();
        let digest = hex::decode(text("digest")?).ok()?;
        let expires = match value.get("expires") {
            None | Some(Value::Null) => None,
            Some(end) => Some(end.as_str()?.to_owned()),
        };
        Some(Self {
            name: text("name")?,
            scope: TokenScope::parse(&text("scope")?)?,
            skills: patterns.map(|pattern| pattern.as_str().map(str::to_owned)).collect::<Option<_>>()?,
            created: text("created")?,
            expires,
            digest: digest.try_into().ok()?,
        })
    }
}

/// What a new token allows.
#[derive(Clone, Debug)]
pub struct NewToken<'a> {
    /// The name.
    pub name: &'a str,
    /// What the token allows.
    pub scope: TokenScope,
    /// The patterns of the skills that exist for its bearer.
    pub skills: Vec<String>,
    /// When it expires.
    pub expires: Option<SystemTime>,
}

/// Why a token was not made.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The file cannot be read or written.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The name is in use.
    #[error("a token `{0}` exists already")]
    Exists(String),
    /// The name is not a plain word.
    #[error("`{0}` is not a name for a token: use up to 64 letters, digits, `-`, `_` and `.`")]
    InvalidName(String),
    /// There are too many tokens.
    #[error("there are {TOKENS_MAX} tokens already")]
    TooMany,
}

/// The named tokens of a user.
#[derive(Clone, Debug)]
pub struct NamedTokenStore {
    path: PathBuf,
}

impl NamedTokenStore {
    /// Opens the tokens in a data directory. Creates no file.
    pub fn open(folder: &Path) -> Self {
        Self { path: folder.join(FILE_NAME) }
    }

    /// Returns the file, which changes whenever a token is made or revoked.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns all tokens, sorted by name.
    pub fn list(&self) -> Result<Vec<NamedToken>, StorageError> {
        let invalid = |reason: &str| StorageError::invalid_content(&self.path, reason);
        let Some(bytes) = files::read_private(&self.path, FILE_BYTES_MAX)? else { return Ok(Vec::new()) };
        let value: Value = serde_json::from_slice(&bytes).map_err(|_| invalid("it is damaged; remove it"))?;
        match value.get("version").and_then(Value::as_u64) {
            Some(VERSION) => {}
            Some(version) if version > VERSION => {
                return Err(invalid("it was written by a newer version of `rep`"));
            }
            _ => return Err(invalid("it is damaged; remove it")),
        }
        let listed = value.get("tokens").and_then(Value::as_array);
        let tokens = listed.and_then(|listed| listed.iter().map(NamedToken::from_json).collect::<Option<Vec<_>>>());
        // A token that cannot be read must not allow more than it says, so none is accepted.
        let mut tokens = tokens.ok_or_else(|| invalid("it is damaged; remove it"))?;
        tokens.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(tokens)
    }

    /// Makes a token and returns it. It cannot be shown again.
    pub fn create(&self, new: &NewToken<'_>, now: SystemTime) -> Result<(String, NamedToken), TokenError> {
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        if new.name.is_empty() || new.name.len() > NAME_CHARS_MAX || !new.name.chars().all(is_word) {
            return Err(TokenError::InvalidName(new.name.to_owned()));
        }
        let _lock = files::lock_file(&self.path)?;
        let mut tokens = self.list()?;
        if tokens.iter().any(|token| token.name == new.name) {
            return Err(TokenError::Exists(new.name.to_owned()));
        }
        if tokens.len() >= TOKENS_MAX {
            return Err(TokenError::TooMany);
        }
        let token = format!("{TOKEN_PREFIX}{}", hex::encode(random_bytes::<32>()));
        let entry = NamedToken {
            name: new.name.to_owned(),
            scope: new.scope,
            skills: new.skills.iter().cloned().collect::<BTreeSet<_>>().into_iter().collect(),
            created: time::format_timestamp(now),
            expires: new.expires.map(time::format_timestamp),
            digest: Sha256::digest(token.as_bytes()).into(),
        };
        tokens.push(entry.clone());
        self.write(&tokens)?;
        Ok((token, entry))
    }

    /// Removes a token. Returns `false` if there is none with this name.
    pub fn revoke(&self, name: &str) -> Result<bool, StorageError> {
        if self.list()?.is_empty() {
            return Ok(false);
        }
        let _lock = files::lock_file(&self.path)?;
        let mut tokens = self.list()?;
        let count = tokens.len();
        tokens.retain(|token| token.name != name);
        if tokens.len() == count {
            return Ok(false);
        }
        self.write(&tokens)?;
        Ok(true)
    }

    fn write(&self, tokens: &[NamedToken]) -> Result<(), StorageError> {
        let tokens: Vec<Value> = tokens.iter().map(NamedToken::to_file_json).collect();
        let text = format!("{:#}\n", json!({ "version": VERSION, "tokens": tokens }));
        files::replace_private(&self.path, text.as_bytes())
    }
}

/// Finds the token with a digest that has not expired. Takes the same time whichever token it is.
pub fn find_token<'a>(tokens: &'a [NamedToken], given: &[u8; 32], now: SystemTime) -> Option<&'a NamedToken> {
    let mut found = None;
    for token in tokens {
        let difference = token.digest.iter().zip(given).fold(0, |all, (one, other)| all | (one ^ other));
        if difference == 0 {
            found = Some(token);
        }
    }
    found.filter(|token| !token.is_expired(now))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const NOW: SystemTime = SystemTime::UNIX_EPOCH;

    fn new(name: &str) -> NewToken<'_> {
        let expires = Some(NOW + Duration::from_hours(1));
        NewToken { name, scope: TokenScope::Run, skills: vec!["csv-*".to_owned()], expires }
    }

    fn read_text(store: &NamedTokenStore) -> String {
        String::from_utf8(files::read_private(store.path(), FILE_BYTES_MAX).unwrap().unwrap()).unwrap()
    }

    #[test]
    fn a_token_is_found_until_it_expires_or_is_revoked() {
        let folder = tempfile::tempdir().unwrap();
        let store = NamedTokenStore::open(folder.path());
        assert!(store.list().unwrap().is_empty() && !store.revoke("ci").unwrap());
        let (token, made) = store.create(&new("ci"), NOW).unwrap();
        assert!(token.starts_with(TOKEN_PREFIX) && token.len() == 68);
        assert!(!read_text(&store).contains(&token));
        assert_eq!(rustix::fs::stat(store.path()).unwrap().st_mode & 0o777, 0o600);
        let digest: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        let all = store.list().unwrap();
        assert_eq!(all, std::slice::from_ref(&made));
        assert_eq!(find_token(&all, &digest, NOW), Some(&made));
        assert_eq!(find_token(&all, &digest, NOW + Duration::from_hours(1)), None);
        assert_eq!(find_token(&all, &[0; 32], NOW), None);
        assert!(matches!(store.create(&new("ci"), NOW), Err(TokenError::Exists(_))));
        assert!(store.revoke("ci").unwrap() && store.list().unwrap().is_empty());
    }

    #[test]
    fn names_are_plain_words_and_a_damaged_file_accepts_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let store = NamedTokenStore::open(folder.path());
        for wrong in ["", "a b", "a/b", "é", &"a".repeat(65)] {
            assert!(matches!(store.create(&new(wrong), NOW), Err(TokenError::InvalidName(_))), "{wrong}");
        }
        store.create(&new("ci"), NOW).unwrap();
        let text = read_text(&store);
        for wrong in [
            text.replace("\"run\"", "\"root\""),
            text.replace("\"version\": 1", "\"version\": 2"),
            "{".to_owned(),
            text.replace("[\n        \"csv-*\"\n      ]", "\"csv-*\""),
        ] {
            assert_ne!(wrong, text);
            files::replace_private(store.path(), wrong.as_bytes()).unwrap();
            assert!(store.list().is_err(), "{wrong}");
        }
    }
}
