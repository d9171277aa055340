//! Secrets: values that reach only the process tree that declared them.
//!
//! A [`SecretValue`] cannot be printed or compared; [`SecretValue::expose`] is the only access to its text
//! and easy to search for. Values come from the environment of the call or from the user's [`SecretStore`]:
//! `secrets.json` (version 1). Each value is encrypted with XChaCha20-Poly1305 and bound to its name and its
//! skills, so that values cannot be swapped. Names are not encrypted. The key is in the desktop keyring if
//! there is one (`keyring.rs`), otherwise in a separate file, `secrets.key`. The file keeps values out of
//! backups and searches, but does not protect them from a process that can read the user's files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::plan::SecretNeed;
use crate::plan::declarations::check_variable_name;
use rep_storage::files::{self, StorageError, random_bytes};

#[cfg_attr(not(target_os = "linux"), path = "secret/keyring/none.rs")]
mod keyring;

pub use keyring::Keyring;
pub use rep_permissions::secret::{SecretValue, VALUE_BYTES_MAX};

const VERSION: u64 = 1;
const FILE_BYTES_MAX: u64 = 16 << 20;
const KEY_BYTES: usize = 32;
/// The secrets that a user stores.
pub struct SecretStore {
    folder: PathBuf,
    keyring: Option<Keyring>,
}

/// Where the encryption key is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyLocation {
    /// In the desktop keyring.
    Keyring,
    /// In a file next to the secrets.
    File,
}

/// A secret as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretListing {
    /// The variable name.
    pub name: String,
    /// The skills that may use it; empty for all skills that declare it.
    pub skills: Vec<String>,
}

impl SecretListing {
    /// Returns whether a skill that declares the secret receives it.
    pub fn is_for_skill(&self, skill: &str) -> bool {
        is_for_skill(&self.skills, skill)
    }
}

/// The contents of the file.
#[derive(Default)]
struct SecretsFile {
    /// The name of the key in the keyring; without one, the key is in a separate file.
    key: Option<String>,
    secrets: BTreeMap<String, Value>,
}

impl SecretStore {
    /// Opens the store in a directory.
    pub fn in_folder(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), keyring: None }
    }

    /// Sets the keyring that can store the key.
    #[must_use]
    pub fn with_keyring(self, keyring: Option<Keyring>) -> Self {
        Self { keyring, ..self }
    }

    fn secrets_file(&self) -> PathBuf {
        self.folder.join("secrets.json")
    }

    fn key_file(&self) -> PathBuf {
        self.folder.join("secrets.key")
    }

    /// Lists the secrets, sorted by name.
    pub fn list(&self) -> Result<Vec<SecretListing>, StorageError> {
        let listed = |(name, entry): (String, Value)| SecretListing { name, skills: parse_skills(&entry) };
        Ok(self.read_file()?.secrets.into_iter().map(listed).collect())
    }

    /// Returns the value of a secret for a skill, or `None` if none is stored for it.
    pub fn get(&self, name: &str, skill: &str) -> Result<Option<SecretValue>, StorageError> {
        let file = self.secrets_file();
        let mut store = self.read_file()?;
        let Some(entry) = store.secrets.remove(name) else { return Ok(None) };
        let skills = parse_skills(&entry);
        if !is_for_skill(&skills, skill) {
            return Ok(None);
        }
        let part = |field: &str| entry.get(field).and_then(Value::as_str).and_then(|text| hex::decode(text).ok());
        let (Some(nonce), Some(sealed)) =
            (part("nonce").and_then(|nonce| <[u8; 24]>::try_from(nonce).ok()), part("sealed"))
        else {
            return Err(StorageError::invalid_content(&file, format!("the secret `{name}` is damaged; set it again")));
        };
        let Some(key) = self.load_key(&store)? else {
            let place = if store.key.is_some() { "the desktop keyring" } else { "`secrets.key`" };
            return Err(StorageError::invalid_content(
                &file,
                format!("its key is missing from {place}; set the secrets again"),
            ));
        };
        let payload = Payload { msg: &sealed, aad: &build_associated_data(name, &skills) };
        let value = build_cipher(&key)
            .decrypt(&XNonce::from(nonce), payload)
            .ok()
            .and_then(bytes_to_text)
            .and_then(SecretValue::new);
        value.map(Some).ok_or_else(|| {
            StorageError::invalid_content(
                &file,
                format!("the secret `{name}` was changed or encrypted with another key; set it again"),
            )
        })
    }

    /// Stores a secret for these skills, or for all that declare it, and returns where its key is.
    pub fn set(&self, name: &str, value: &SecretValue, skills: &[String]) -> Result<KeyLocation, StorageError> {
        let file = self.secrets_file();
        check_variable_name(name).map_err(|reason| {
            StorageError::invalid_content(&file, format!("`{name}` cannot be the name of a secret: {reason}"))
        })?;
        let _lock = files::lock_file(&file)?;
        let mut store = self.read_file()?;
        let key = match self.load_key(&store)? {
            Some(key) => key,
            None => self.create_key(&mut store)?,
        };
        let nonce: [u8; 24] = random_bytes();
        let payload = Payload { msg: value.expose().as_bytes(), aad: &build_associated_data(name, skills) };
        let sealed = build_cipher(&key)
            .encrypt(&XNonce::from(nonce), payload)
            .map_err(|_| StorageError::invalid_content(&file, "the value could not be encrypted"))?;
        let mut entry = json!({ "nonce": hex::encode(nonce), "sealed": hex::encode(&sealed) });
        if !skills.is_empty() {
            entry["for"] = json!(skills);
        }
        store.secrets.insert(name.to_owned(), entry);
        self.write_file(&store)?;
        Ok(store.key_location())
    }

    /// Removes a secret and returns whether it existed.
    pub fn remove(&self, name: &str) -> Result<bool, StorageError> {
        let _lock = files::lock_file(&self.secrets_file())?;
        let mut store = self.read_file()?;
        if store.secrets.remove(name).is_none() {
            return Ok(false);
        }
        self.write_file(&store)?;
        Ok(true)
    }

    /// Returns where the key is, or `None` if there is none yet.
    pub fn key_location(&self) -> Result<Option<KeyLocation>, StorageError> {
        let store = self.read_file()?;
        let is_there = store.key.is_some() || files::read_private(&self.key_file(), KEY_BYTES as u64)?.is_some();
        Ok(is_there.then(|| store.key_location()))
    }

    /// Moves the key to the other location and returns whether there was one to move.
    pub fn move_key(&self, to: KeyLocation) -> Result<bool, StorageError> {
        let file = self.secrets_file();
        let _lock = files::lock_file(&file)?;
        let mut store = self.read_file()?;
        if store.key_location() == to {
            return Ok(false);
        }
        let Some(key) = self.load_key(&store)?.map(|key| Zeroizing::new(key.to_vec())) else { return Ok(false) };
        // The key is in both locations until the file records which one is used.
        match to {
            KeyLocation::Keyring => {
                self.store_in_keyring(&mut store, &key).map_err(|reason| keyring_error(&file, &reason))?;
                self.write_file(&store)?;
                files::remove_if_present(&self.key_file())?;
            }
            KeyLocation::File => {
                files::replace_private(&self.key_file(), &key)?;
                let name = store.key.take();
                self.write_file(&store)?;
                if let (Some(keyring), Some(name)) = (self.keyring, name) {
                    keyring.remove_key(&name).map_err(|reason| keyring_error(&file, &reason))?;
                }
            }
        }
        Ok(true)
    }

    fn write_file(&self, store: &SecretsFile) -> Result<(), StorageError> {
        let mut value = json!({ "version": VERSION, "cipher": "xchacha20-poly1305", "secrets": store.secrets });
        if let Some(key) = &store.key {
            value["key"] = json!({ "keyring": key });
        }
        files::replace_private(&self.secrets_file(), format!("{value:#}\n").as_bytes())
    }

    fn read_file(&self) -> Result<SecretsFile, StorageError> {
        let file = self.secrets_file();
        let Some(bytes) = files::read_private(&file, FILE_BYTES_MAX)? else { return Ok(SecretsFile::default()) };
        let value: Value = serde_json::from_slice(&bytes).map_err(|error| {
            StorageError::invalid_content(&file, format!("it is not valid JSON ({error}); fix or remove it"))
        })?;
        if value.get("version").and_then(Value::as_u64).is_none_or(|version| version > VERSION) {
            return Err(StorageError::invalid_content(&file, "it was written by a newer rep"));
        }
        let secrets = value.get("secrets").and_then(Value::as_object).cloned().unwrap_or_default();
        let key = value.pointer("/key/keyring").and_then(Value::as_str).map(str::to_owned);
        Ok(SecretsFile { key, secrets: secrets.into_iter().collect() })
    }

    fn load_key(&self, store: &SecretsFile) -> Result<Option<Zeroizing<Vec<u8>>>, StorageError> {
        let key = match &store.key {
            None => files::read_private(&self.key_file(), KEY_BYTES as u64)?.map(Zeroizing::new),
            Some(name) => {
                let held = self.keyring.ok_or_else(|| "no keyring is available in this session".to_owned());
                held.and_then(|keyring| keyring.load_key(name))
                    .map_err(|reason| keyring_error(&self.secrets_file(), &reason))?
            }
        };
        match key {
            Some(key) if key.len() != KEY_BYTES => Err(StorageError::invalid_content(
                &self.key_file(),
                "the key is invalid; remove it and set the secrets again",
            )),
            key => Ok(key),
        }
    }

    /// Creates a key: in the keyring if possible, otherwise in a file.
    fn create_key(&self, store: &mut SecretsFile) -> Result<Zeroizing<Vec<u8>>, StorageError> {
        let key = Zeroizing::new(random_bytes::<KEY_BYTES>().to_vec());
        if self.store_in_keyring(store, &key).is_ok() {
            return Ok(key);
        }
        store.key = None;
        files::replace_private(&self.key_file(), &key)?;
        Ok(key)
    }

    fn store_in_keyring(&self, store: &mut SecretsFile, key: &[u8]) -> Result<(), String> {
        let keyring = self.keyring.ok_or("no keyring is available in this session")?;
        let name = hex::encode(random_bytes::<16>());
        keyring.store_key(&name, key)?;
        store.key = Some(name);
        Ok(())
    }
}

impl SecretsFile {
    const fn key_location(&self) -> KeyLocation {
        if self.key.is_some() { KeyLocation::Keyring } else { KeyLocation::File }
    }
}

fn keyring_error(file: &Path, reason: &str) -> StorageError {
    StorageError::invalid_content(file, format!("its key is in the desktop keyring: {reason}"))
}

/// Returns the skills of an entry.
fn parse_skills(entry: &Value) -> Vec<String> {
    let all = entry.get("for").and_then(Value::as_array).into_iter().flatten();
    all.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Returns whether a secret for these skills applies to this skill.
fn is_for_skill(skills: &[String], skill: &str) -> bool {
    skills.is_empty() || skills.iter().any(|one| one == skill)
}

fn build_cipher(key: &[u8]) -> XChaCha20Poly1305 {
    let key = Key::try_from(key).expect("a key has its length, which was checked where it was read");
    XChaCha20Poly1305::new(&key)
}

/// Converts bytes to text; bytes that are not UTF-8 are overwritten.
fn bytes_to_text(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).map_err(|error| drop(Zeroizing::new(error.into_bytes()))).ok()
}

/// Builds the data that an encrypted value is bound to.
fn build_associated_data(name: &str, skills: &[String]) -> Vec<u8> {
    let mut all = format!("repertoire secret 1 {name}");
    for skill in skills {
        all.push('\n');
        all.push_str(skill);
    }
    all.into_bytes()
}

/// Collects the values of the secrets that a plan declares: from the environment of the call, otherwise from
/// the store.
pub fn gather_secrets(
    skill: &str,
    needs: &[SecretNeed],
    variable: impl Fn(&str) -> Option<String>,
    kept: Option<&SecretStore>,
) -> Result<BTreeMap<String, SecretValue>, StorageError> {
    let mut found = BTreeMap::new();
    for need in needs {
        let value = match variable(&need.name).and_then(SecretValue::new) {
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
