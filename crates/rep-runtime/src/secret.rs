//! Secrets: values that reach the one process tree that declared them, and nobody else.
//!
//! A [`Secret`] cannot be printed or compared; [`Secret::expose`] is the one way to its text, and is found by searching for it.
//! Values come from the environment of the call or from the user's [`Secrets`]: `secrets.json` (version 1), where each value is
//! sealed with XChaCha20-Poly1305, with its name and the skills it is for bound in, so that values cannot be exchanged. Names are
//! not sealed. The key is in the keyring of the desktop where there is one (`keyring.rs`), else in a file of its own,
//! `secrets.key`: that keeps values out of backups, searches and glances, not from who can read the user's files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::plan::SecretNeed;
use crate::plan::declared::variable;
use rep_storage::files::{self, StorageError, random};

#[cfg_attr(not(target_os = "linux"), path = "secret/keyring/none.rs")]
mod keyring;

pub use keyring::Keyring;
pub use rep_permissions::secret::{Secret, VALUE_BYTES_MAX};

const VERSION: u64 = 1;
const FILE_BYTES_MAX: u64 = 16 << 20;
const KEY_BYTES: usize = 32;
/// The secrets a user keeps.
pub struct Secrets {
    folder: PathBuf,
    keyring: Option<Keyring>,
}

/// Where the key is that seals secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the keyring of the desktop.
    Keyring,
    /// In a file beside them.
    File,
}

/// A secret, as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The variable.
    pub name: String,
    /// The skills it is for; all that declare it where there are none.
    pub skills: Vec<String>,
}

impl Listed {
    /// Whether a skill that declares it gets it.
    pub fn is_for(&self, skill: &str) -> bool {
        is_for(&self.skills, skill)
    }
}

/// What the file holds.
#[derive(Default)]
struct Store {
    /// The name of the key in the keyring; without one it lies in its own file.
    key: Option<String>,
    secrets: BTreeMap<String, Value>,
}

impl Secrets {
    /// The secrets kept in a folder.
    pub fn at(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), keyring: None }
    }

    /// With a keyring that can hold the key.
    #[must_use]
    pub fn with_keyring(self, keyring: Option<Keyring>) -> Self {
        Self { keyring, ..self }
    }

    fn file(&self) -> PathBuf {
        self.folder.join("secrets.json")
    }

    fn key_file(&self) -> PathBuf {
        self.folder.join("secrets.key")
    }

    /// The secrets there are, in order of their names.
    pub fn list(&self) -> Result<Vec<Listed>, StorageError> {
        let listed = |(name, entry): (String, Value)| Listed { name, skills: skills(&entry) };
        Ok(self.read()?.secrets.into_iter().map(listed).collect())
    }

    /// The value of a secret for a skill; `None` where none is kept for it.
    pub fn get(&self, name: &str, skill: &str) -> Result<Option<Secret>, StorageError> {
        let file = self.file();
        let mut store = self.read()?;
        let Some(entry) = store.secrets.remove(name) else { return Ok(None) };
        let skills = skills(&entry);
        if !is_for(&skills, skill) {
            return Ok(None);
        }
        let part = |field: &str| entry.get(field).and_then(Value::as_str).and_then(|text| hex::decode(text).ok());
        let (Some(nonce), Some(sealed)) =
            (part("nonce").and_then(|nonce| <[u8; 24]>::try_from(nonce).ok()), part("sealed"))
        else {
            return Err(StorageError::broken(&file, format!("the secret `{name}` is damaged; set it again")));
        };
        let Some(key) = self.key(&store)? else {
            let place = if store.key.is_some() { "the keyring of the desktop" } else { "`secrets.key`" };
            return Err(StorageError::broken(&file, format!("its key is gone from {place}; set the secrets again")));
        };
        let payload = Payload { msg: &sealed, aad: &bound(name, &skills) };
        let value = cipher(&key).decrypt(&XNonce::from(nonce), payload).ok().and_then(text).and_then(Secret::new);
        value.map(Some).ok_or_else(|| {
            StorageError::broken(
                &file,
                format!("the secret `{name}` was changed or sealed with another key; set it again"),
            )
        })
    }

    /// Keeps a secret, for these skills or for all that declare it. Says where its key is.
    pub fn set(&self, name: &str, value: &Secret, skills: &[String]) -> Result<Place, StorageError> {
        let file = self.file();
        variable(name)
            .map_err(|reason| StorageError::broken(&file, format!("`{name}` cannot be a secret: {reason}")))?;
        let _lock = files::lock(&file)?;
        let mut store = self.read()?;
        let key = match self.key(&store)? {
            Some(key) => key,
            None => self.new_key(&mut store)?,
        };
        let nonce: [u8; 24] = random();
        let payload = Payload { msg: value.expose().as_bytes(), aad: &bound(name, skills) };
        let sealed = cipher(&key)
            .encrypt(&XNonce::from(nonce), payload)
            .map_err(|_| StorageError::broken(&file, "the value could not be sealed"))?;
        let mut entry = json!({ "nonce": hex::encode(nonce), "sealed": hex::encode(&sealed) });
        if !skills.is_empty() {
            entry["for"] = json!(skills);
        }
        store.secrets.insert(name.to_owned(), entry);
        self.write(&store)?;
        Ok(store.place())
    }

    /// Forgets a secret. Says whether there was one.
    pub fn remove(&self, name: &str) -> Result<bool, StorageError> {
        let _lock = files::lock(&self.file())?;
        let mut store = self.read()?;
        if store.secrets.remove(name).is_none() {
            return Ok(false);
        }
        self.write(&store)?;
        Ok(true)
    }

    /// Where the key is; `None` where there is none yet.
    pub fn place(&self) -> Result<Option<Place>, StorageError> {
        let store = self.read()?;
        let is_there = store.key.is_some() || files::read(&self.key_file(), KEY_BYTES as u64)?.is_some();
        Ok(is_there.then(|| store.place()))
    }

    /// Puts the key into the other place. Says whether there was one to move.
    pub fn move_key(&self, to: Place) -> Result<bool, StorageError> {
        let file = self.file();
        let _lock = files::lock(&file)?;
        let mut store = self.read()?;
        if store.place() == to {
            return Ok(false);
        }
        let Some(key) = self.key(&store)?.map(|key| Zeroizing::new(key.to_vec())) else { return Ok(false) };
        // The key is in both places until the file says which one counts.
        match to {
            Place::Keyring => {
                self.to_keyring(&mut store, &key).map_err(|reason| unreached(&file, &reason))?;
                self.write(&store)?;
                files::remove(&self.key_file())?;
            }
            Place::File => {
                files::replace(&self.key_file(), &key)?;
                let name = store.key.take();
                self.write(&store)?;
                if let (Some(keyring), Some(name)) = (self.keyring, name) {
                    keyring.remove(&name).map_err(|reason| unreached(&file, &reason))?;
                }
            }
        }
        Ok(true)
    }

    fn write(&self, store: &Store) -> Result<(), StorageError> {
        let mut value = json!({ "version": VERSION, "cipher": "xchacha20-poly1305", "secrets": store.secrets });
        if let Some(key) = &store.key {
            value["key"] = json!({ "keyring": key });
        }
        files::replace(&self.file(), format!("{value:#}\n").as_bytes())
    }

    fn read(&self) -> Result<Store, StorageError> {
        let file = self.file();
        let Some(bytes) = files::read(&file, FILE_BYTES_MAX)? else { return Ok(Store::default()) };
        let value: Value = serde_json::from_slice(&bytes)
            .map_err(|error| StorageError::broken(&file, format!("it is no JSON ({error}); mend or remove it")))?;
        if value.get("version").and_then(Value::as_u64).is_none_or(|version| version > VERSION) {
            return Err(StorageError::broken(&file, "it was written by a newer rep"));
        }
        let secrets = value.get("secrets").and_then(Value::as_object).cloned().unwrap_or_default();
        let key = value.pointer("/key/keyring").and_then(Value::as_str).map(str::to_owned);
        Ok(Store { key, secrets: secrets.into_iter().collect() })
    }

    fn key(&self, store: &Store) -> Result<Option<Zeroizing<Vec<u8>>>, StorageError> {
        let key = match &store.key {
            None => files::read(&self.key_file(), KEY_BYTES as u64)?.map(Zeroizing::new),
            Some(name) => {
                let held = self.keyring.ok_or_else(|| "there is none in this session".to_owned());
                held.and_then(|keyring| keyring.get(name)).map_err(|reason| unreached(&self.file(), &reason))?
            }
        };
        match key {
            Some(key) if key.len() != KEY_BYTES => {
                Err(StorageError::broken(&self.key_file(), "the key is no key; remove it and set the secrets again"))
            }
            key => Ok(key),
        }
    }

    /// Makes a key: into the keyring where that takes it, else into a file.
    fn new_key(&self, store: &mut Store) -> Result<Zeroizing<Vec<u8>>, StorageError> {
        let key = Zeroizing::new(random::<KEY_BYTES>().to_vec());
        if self.to_keyring(store, &key).is_ok() {
            return Ok(key);
        }
        store.key = None;
        files::replace(&self.key_file(), &key)?;
        Ok(key)
    }

    fn to_keyring(&self, store: &mut Store, key: &[u8]) -> Result<(), String> {
        let keyring = self.keyring.ok_or("there is none in this session")?;
        let name = hex::encode(random::<16>());
        keyring.put(&name, key)?;
        store.key = Some(name);
        Ok(())
    }
}

impl Store {
    const fn place(&self) -> Place {
        if self.key.is_some() { Place::Keyring } else { Place::File }
    }
}

fn unreached(file: &Path, reason: &str) -> StorageError {
    StorageError::broken(file, format!("its key is kept in the keyring of the desktop: {reason}"))
}

/// The skills an entry is for.
fn skills(entry: &Value) -> Vec<String> {
    let all = entry.get("for").and_then(Value::as_array).into_iter().flatten();
    all.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Whether a secret for these skills is for this one.
fn is_for(skills: &[String], skill: &str) -> bool {
    skills.is_empty() || skills.iter().any(|one| one == skill)
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
fn bound(name: &str, skills: &[String]) -> Vec<u8> {
    let mut all = format!("repertoire secret 1 {name}");
    for skill in skills {
        all.push('\n');
        all.push_str(skill);
    }
    all.into_bytes()
}

/// The values of the secrets a plan declares that are at hand: from the environment of the call, else kept by the user.
pub fn gather(
    skill: &str,
    needs: &[SecretNeed],
    variable: impl Fn(&str) -> Option<String>,
    kept: Option<&Secrets>,
) -> Result<BTreeMap<String, Secret>, StorageError> {
    let mut found = BTreeMap::new();
    for need in needs {
        let value = match variable(&need.name).and_then(Secret::new) {
            Some(value) => Some(value),
            None => kept.map(|kept| kept.get(&need.name, skill)).transpose()?.flatten(),
        };
        if let Some(value) = value {
            found.insert(need.name.clone(), value);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
