//! The keyring of the desktop, over the Secret Service (as GNOME, KDE and others have it).
//!
//! It holds the key that seals secrets, under a random name; the sealed values stay in the user's file. A connection is made
//! when the key is wanted, and not before.

use std::collections::HashMap;

use dbus_secret_service::{EncryptionType, Error, SecretService};
use zeroize::Zeroizing;

/// How long somebody may take to unlock it, in seconds.
const PATIENCE: u64 = 120;

/// The keyring of the session a process belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Keyring {
    /// Whether somebody is there to unlock it.
    pub is_attended: bool,
}

impl Keyring {
    fn service(self) -> Result<SecretService, Error> {
        // What goes over a socket of this user is read by nobody who could not ask for it himself.
        let patience = if self.is_attended { PATIENCE } else { 0 };
        SecretService::connect_with_max_prompt_timeout(EncryptionType::Plain, patience)
    }

    /// The key of this name; none where it is not there.
    pub(super) fn get(self, name: &str) -> Result<Option<Zeroizing<Vec<u8>>>, String> {
        let work = || {
            let service = self.service()?;
            let found = service.search_items(attributes(name))?;
            let Some(item) = found.unlocked.first().or(found.locked.first()) else { return Ok(None) };
            item.ensure_unlocked().or_else(|_| item.unlock())?;
            item.get_secret().map(|secret| Some(Zeroizing::new(secret)))
        };
        let held = work().map_err(|error| told(&error))?;
        Ok(held.and_then(|text| {
            std::str::from_utf8(&text).ok().and_then(|text| hex::decode(text).ok()).map(Zeroizing::new)
        }))
    }

    /// Puts a key in.
    pub(super) fn put(self, name: &str, key: &[u8]) -> Result<(), String> {
        let work = || {
            let service = self.service()?;
            let collection = service.get_default_collection()?;
            collection.ensure_unlocked().or_else(|_| collection.unlock())?;
            let text = Zeroizing::new(hex::encode(key));
            let label = "Key of the secrets kept by Repertoire";
            collection.create_item(label, attributes(name), text.as_bytes(), true, "text/plain").map(drop)
        };
        work().map_err(|error| told(&error))
    }

    /// Takes a key out.
    pub(super) fn remove(self, name: &str) -> Result<(), String> {
        let work = || {
            let service = self.service()?;
            let found = service.search_items(attributes(name))?;
            found.unlocked.iter().chain(&found.locked).try_for_each(dbus_secret_service::Item::delete)
        };
        work().map_err(|error| told(&error))
    }
}

fn attributes(name: &str) -> HashMap<&str, &str> {
    HashMap::from([("application", "repertoire"), ("key", name)])
}

fn told(error: &Error) -> String {
    match error {
        Error::Locked | Error::Prompt => "it is locked, and nobody unlocked it".to_owned(),
        Error::NoResult => "it has no collection to keep things in".to_owned(),
        error => error.to_string(),
    }
}
