//! The value of a secret: never printed, never compared, overwritten when dropped.

use zeroize::Zeroizing;

/// The largest value.
pub const VALUE_BYTES_MAX: usize = 64 << 10;

/// The value of a secret. Overwritten when it is dropped.
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Takes a value; `None` if an environment variable could not hold it.
    pub fn new(value: String) -> Option<Self> {
        let value = Zeroizing::new(value);
        (!value.is_empty() && value.len() <= VALUE_BYTES_MAX && !value.contains('\0')).then_some(Self(value))
    }

    /// The value itself.
    pub fn expose(&self) -> &str {
        &self.0
    }
}
