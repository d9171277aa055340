//! The keyring on systems without support for one: keys are stored in a file.

use zeroize::Zeroizing;

const NO_KEYRING: &str = "keyrings are not supported on this system";

pub use UnavailableKeyring as Keyring;

/// A keyring that is never available.
#[derive(Clone, Copy, Debug)]
pub struct UnavailableKeyring {
    /// Whether a user is present to unlock it.
    pub is_attended: bool,
}

impl UnavailableKeyring {
    pub(super) fn load_key(self, _name: &str) -> Result<Option<Zeroizing<Vec<u8>>>, String> {
        Err(NO_KEYRING.to_owned())
    }

    pub(super) fn store_key(self, _name: &str, _key: &[u8]) -> Result<(), String> {
        Err(NO_KEYRING.to_owned())
    }

    pub(super) fn remove_key(self, _name: &str) -> Result<(), String> {
        Err(NO_KEYRING.to_owned())
    }
}
