//! A token stored in the user's files: any process that can read them may act for the user.

use std::path::Path;

use rep_storage::files::{self, StorageError, random_bytes};

const FILE_BYTES_MAX: u64 = 256;
/// The minimum length of a token, in characters.
const TOKEN_CHARS_MIN: usize = 32;

/// Loads the token from a file, and creates it if there is none. The token stays the same until the file is
/// removed.
pub fn load_or_create_token(file: &Path) -> Result<String, StorageError> {
    let _lock = files::lock_file(file)?;
    if let Some(bytes) = files::read_private(file, FILE_BYTES_MAX)? {
        let text = String::from_utf8(bytes).unwrap_or_default().trim().to_owned();
        if text.len() < TOKEN_CHARS_MIN || text.contains(|letter: char| !letter.is_ascii_alphanumeric()) {
            return Err(StorageError::invalid_content(
                file,
                "it contains no valid token; remove it to create a new one",
            ));
        }
        return Ok(text);
    }
    let token = hex::encode(random_bytes::<32>());
    files::replace_private(file, format!("{token}\n").as_bytes())?;
    Ok(token)
}

#[cfg(test)]
mod tests {
    use super::load_or_create_token;

    #[test]
    fn a_token_stays_and_is_its_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("serve.token");
        let first = load_or_create_token(&file).unwrap();
        assert_eq!((first.len(), load_or_create_token(&file).unwrap()), (64, first));
        let mode = rustix::fs::stat(&file).unwrap().st_mode & 0o777;
        assert_eq!(mode, 0o600);
        rep_storage::files::replace_private(&file, b"short\n").unwrap();
        assert!(load_or_create_token(&file).is_err());
    }
}
