//! The form of Universal's `spec_version`.

/// Returns the part after `2.` if a version has the form `2.x`.
pub(crate) fn parse_minor(version: &str) -> Option<&str> {
    let minor = version.strip_prefix("2.")?;
    (!minor.is_empty() && minor.bytes().all(|byte| byte.is_ascii_digit())).then_some(minor)
}
