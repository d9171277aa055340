//! Secrets: values that reach the one process tree that declared them, and nobody else.
//!
//! A [`Secret`] cannot be printed or compared; [`Secret::expose`] is the one way to its text, and is found by searching for it.
//! Values come from the environment of the call or from the user's [`Secrets`]: `secrets.json` (version 1), where each value is
//! sealed with XChaCha20-Poly1305 under a key of its own file, `secrets.key`, with its name bound in, so that values cannot be
//! exchanged. Names are not sealed. This keeps values out of backups, searches and glances; it does not keep them from who
//! can read the user's files, as the key is one of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::keep::{self, KeepError, from_hex, hex, random};
use crate::plan::SecretNeed;
use crate::plan::declared::variable;

const VERSION: u64 = 1;
const FILE_BYTES_MAX: u64 = 16 << 20;
const KEY_BYTES: usize = 32;
/// The largest value.
pub const VALUE_BYTES_MAX: usize = 64 << 10;

/// The value of a secret. Overwritten when it is dropped.
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Takes a value in; `None` where a variable could not hold it.
    pub fn new(value: String) -> Option<Self> {
        let value = Zeroizing::new(value);
        (!value.is_empty() && value.len() <= VALUE_BYTES_MAX && !value.contains('\0')).then_some(Self(value))
    }

    /// The value itself.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// The secrets a user keeps.
pub struct Secrets {
    folder: PathBuf,
}

impl Secrets {
    /// The secrets kept in a folder.
    pub fn at(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    fn file(&self) -> PathBuf {
        self.folder.join("secrets.json")
    }

    /// The names there are, in order.
    pub fn names(&self) -> Result<Vec<String>, KeepError> {
        Ok(self.sealed()?.into_keys().collect())
    }

    /// The value of a secret; `None` where none is kept.
    pub fn get(&self, name: &str) -> Result<Option<Secret>, KeepError> {
        let file = self.file();
        let Some(entry) = self.sealed()?.remove(name) else { return Ok(None) };
        let part = |field: &str| entry.get(field).and_then(Value::as_str).and_then(from_hex);
        let (Some(nonce), Some(sealed)) =
            (part("nonce").and_then(|nonce| <[u8; 24]>::try_from(nonce).ok()), part("sealed"))
        else {
            return Err(KeepError::broken(&file, format!("the secret `{name}` is damaged; set it again")));
        };
        let Some(key) = self.key()? else {
            return Err(KeepError::broken(&file, "its key `secrets.key` is gone; set the secrets again"));
        };
        let payload = Payload { msg: &sealed, aad: &bound(name) };
        let value = cipher(&key).decrypt(&XNonce::from(nonce), payload).ok().and_then(text).and_then(Secret::new);
        value.map(Some).ok_or_else(|| {
            KeepError::broken(
                &file,
                format!("the secret `{name}` was changed or sealed with another key; set it again"),
            )
        })
    }

    /// Keeps a secret.
    pub fn set(&self, name: &str, value: &Secret) -> Result<(), KeepError> {
        let file = self.file();
        variable(name).map_err(|reason| KeepError::broken(&file, format!("`{name}` cannot be a secret: {reason}")))?;
        let _lock = keep::lock(&file)?;
        let mut all = self.sealed()?;
        let key = match self.key()? {
            Some(key) => key,
            None => self.new_key()?,
        };
        let nonce: [u8; 24] = random();
        let payload = Payload { msg: value.expose().as_bytes(), aad: &bound(name) };
        let sealed = cipher(&key)
            .encrypt(&XNonce::from(nonce), payload)
            .map_err(|_| KeepError::broken(&file, "the value could not be sealed"))?;
        all.insert(name.to_owned(), json!({ "nonce": hex(&nonce), "sealed": hex(&sealed) }));
        self.write(&all)
    }

    /// Forgets a secret. Says whether there was one.
    pub fn remove(&self, name: &str) -> Result<bool, KeepError> {
        let _lock = keep::lock(&self.file())?;
        let mut all = self.sealed()?;
        if all.remove(name).is_none() {
            return Ok(false);
        }
        self.write(&all)?;
        Ok(true)
    }

    fn write(&self, all: &BTreeMap<String, Value>) -> Result<(), KeepError> {
        let value = json!({ "version": VERSION, "cipher": "xchacha20-poly1305", "secrets": all });
        keep::replace(&self.file(), format!("{value:#}\n").as_bytes())
    }

    fn sealed(&self) -> Result<BTreeMap<String, Value>, KeepError> {
        let file = self.file();
        let Some(bytes) = keep::read(&file, FILE_BYTES_MAX)? else { return Ok(BTreeMap::new()) };
        let value: Value = serde_json::from_slice(&bytes)
            .map_err(|error| KeepError::broken(&file, format!("it is no JSON ({error}); mend or remove it")))?;
        if value.get("version").and_then(Value::as_u64).is_none_or(|version| version > VERSION) {
            return Err(KeepError::broken(&file, "it was written by a newer rep"));
        }
        let all = value.get("secrets").and_then(Value::as_object).cloned().unwrap_or_default();
        Ok(all.into_iter().collect())
    }

    fn key(&self) -> Result<Option<Zeroizing<Vec<u8>>>, KeepError> {
        let file = self.folder.join("secrets.key");
        let Some(bytes) = keep::read(&file, KEY_BYTES as u64)?.map(Zeroizing::new) else {
            return Ok(None);
        };
        if bytes.len() != KEY_BYTES {
            return Err(KeepError::broken(&file, "it is no key; remove it and set the secrets again"));
        }
        Ok(Some(bytes))
    }

    fn new_key(&self) -> Result<Zeroizing<Vec<u8>>, KeepError> {
        let key = Zeroizing::new(random::<KEY_BYTES>().to_vec());
        keep::replace(&self.folder.join("secrets.key"), &key)?;
        Ok(key)
    }
}

fn cipher(key: &[u8]) -> XChaCha20Poly1305 {
    let key = Key::try_from(key).expect("a key has its length, which was checked where it was read");
    XChaCha20Poly1305::new(&key)
}

/// Bytes as text; those that are none are overwritten.
fn text(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).map_err(|error| drop(Zeroizing::new(error.into_bytes()))).ok()
}

/// What a sealed value is bound to.
fn bound(name: &str) -> Vec<u8> {
    format!("repertoire secret 1 {name}").into_bytes()
}

/// The values of the secrets a plan declares that are at hand: from the environment of the call, else kept by the user.
pub fn gather(
    needs: &[SecretNeed],
    variable: impl Fn(&str) -> Option<String>,
    kept: Option<&Secrets>,
) -> Result<BTreeMap<String, Secret>, KeepError> {
    let mut found = BTreeMap::new();
    for need in needs {
        let value = match variable(&need.name).and_then(Secret::new) {
            Some(value) => Some(value),
            None => kept.map(|kept| kept.get(&need.name)).transpose()?.flatten(),
        };
        if let Some(value) = value {
            found.insert(need.name.clone(), value);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
