//! The desktop keyring, over the Secret Service (GNOME, KDE and others).
//!
//! It stores the key that encrypts secrets, under a random name; the encrypted values stay in the user's
//! file. The connection is opened only when the key is needed.

use std::collections::HashMap;

use dbus_secret_service::{EncryptionType, Error, SecretService};
use zeroize::Zeroizing;

/// How long the user may take to unlock it, in seconds.
const UNLOCK_TIMEOUT_S: u64 = 120;

/// The keyring of the session that a process belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Keyring {
    /// Whether a user is present to unlock it.
    pub is_attended: bool,
}

impl Keyring {
    fn connect_service(self) -> Result<SecretService, Error> {
        // Only processes that could query the keyring themselves can read this user's socket.
        let patience = if self.is_attended { UNLOCK_TIMEOUT_S } else { 0 };
        SecretService::connect_with_max_prompt_timeout(EncryptionType::Plain, patience)
    }

    /// Loads the key with this name, if it exists.
    pub(super) fn load_key(self, name: &str) -> Result<Option<Zeroizing<Vec<u8>>>, String> {
        let work = || {
            let service = self.connect_service()?;
            let found = service.search_items(build_attributes(name))?;
            let Some(item) = found.unlocked.first().or(found.locked.first()) else { return Ok(None) };
            item.ensure_unlocked().or_else(|_| item.unlock())?;
            item.get_secret().map(|secret| Some(Zeroizing::new(secret)))
        };
        let held = work().map_err(|error| describe_keyring_error(&error))?;
        Ok(held.and_then(|text| {
            std::str::from_utf8(&text).ok().and_then(|text| hex::decode(text).ok()).map(Zeroizing::new)
        }))
    }

    /// Stores a key.
    pub(super) fn store_key(self, name: &str, key: &[u8]) -> Result<(), String> {
        let work = || {
            let service = self.connect_service()?;
            let collection = service.get_default_collection()?;
            collection.ensure_unlocked().or_else(|_| collection.unlock())?;
            let text = Zeroizing::new(hex::encode(key));
            let label = "Encryption key for Repertoire secrets";
            collection.create_item(label, build_attributes(name), text.as_bytes(), true, "text/plain").map(drop)
        };
        work().map_err(|error| describe_keyring_error(&error))
    }

    /// Removes a key.
    pub(super) fn remove_key(self, name: &str) -> Result<(), String> {
        let work = || {
            let service = self.connect_service()?;
            let found = service.search_items(build_attributes(name))?;
            found.unlocked.iter().chain(&found.locked).try_for_each(dbus_secret_service::Item::delete)
        };
        work().map_err(|error| describe_keyring_error(&error))
    }
}

fn build_attributes(name: &str) -> HashMap<&str, &str> {
    HashMap::from([("application", "repertoire"), ("key", name)])
}

fn describe_keyring_error(error: &Error) -> String {
    match error {
        Error::Locked | Error::Prompt => "it is locked and was not unlocked".to_owned(),
        Error::NoResult => "it has no collection to store the key in".to_owned(),
        error => error.to_string(),
    }
}
