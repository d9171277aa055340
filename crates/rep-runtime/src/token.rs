//! A token of the user's own: who can read his files may act for him, and nobody else.

use std::path::Path;

use rep_storage::files::{self, StorageError, random};

const FILE_BYTES_MAX: u64 = 256;
/// The least a token has, in characters.
const LENGTH_MIN: usize = 32;

/// The token in a file, which is made where there is none. It stays the same until the file is removed.
pub fn token(file: &Path) -> Result<String, StorageError> {
    let _lock = files::lock(file)?;
    if let Some(bytes) = files::read(file, FILE_BYTES_MAX)? {
        let text = String::from_utf8(bytes).unwrap_or_default().trim().to_owned();
        if text.len() < LENGTH_MIN || text.contains(|letter: char| !letter.is_ascii_alphanumeric()) {
            return Err(StorageError::broken(file, "it holds no token; remove it, and a new one is made"));
        }
        return Ok(text);
    }
    let token = hex::encode(random::<32>());
    files::replace(file, format!("{token}\n").as_bytes())?;
    Ok(token)
}

#[cfg(test)]
mod tests {
    use super::token;

    #[test]
    fn a_token_stays_and_is_its_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("serve.token");
        let first = token(&file).unwrap();
        assert_eq!((first.len(), token(&file).unwrap()), (64, first));
        let mode = rustix::fs::stat(&file).unwrap().st_mode & 0o777;
        assert_eq!(mode, 0o600);
        rep_storage::files::replace(&file, b"short\n").unwrap();
        assert!(token(&file).is_err());
    }
}
