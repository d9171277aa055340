//! The value of a secret. It is never printed or compared, and is overwritten when dropped.

use zeroize::Zeroizing;

/// The maximum size of a value.
pub const VALUE_BYTES_MAX: usize = 64 << 10;

/// The value of a secret. Overwritten when it is dropped.
pub struct SecretValue(Zeroizing<String>);

impl SecretValue {
    /// Creates a value. Returns `None` if it is not valid in an environment variable.
    pub fn new(value: String) -> Option<Self> {
        let value = Zeroizing::new(value);
        (!value.is_empty() && value.len() <= VALUE_BYTES_MAX && !value.contains('\0')).then_some(Self(value))
    }

    /// Returns the value.
    pub fn expose(&self) -> &str {
        &self.0
    }
}
