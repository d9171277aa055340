//! A cache of the contents of installed skills, by their digests, so that they can be restored without their sources.
//!
//! An entry is a reproducible archive. It is never trusted: what is read is compared with the digest that was asked for,
//! and a damaged entry is the same as none.
#![expect(clippy::disallowed_methods, reason = "this module owns a directory of the cache")]

use std::fs;
use std::path::PathBuf;

use crate::atomic_dir::PackageFile;
use crate::files;

/// Contents that are larger are not stored.
const STORED_BYTES_MAX: usize = 64 << 20;
/// The directory in an archive that contains everything, and that opening the archive removes.
const TOP: &str = "content";

/// The contents of skills in the user's cache directory.
#[derive(Clone, Debug)]
pub struct ContentStore {
    folder: PathBuf,
}

impl ContentStore {
    /// Opens the store in a directory, which is created with the first entry.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    fn entry_file(&self, digest: &str) -> Option<PathBuf> {
        let hex = digest.strip_prefix("sha256:")?;
        let is_plain = hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_plain.then(|| self.folder.join(format!("{hex}.tar.gz")))
    }

    /// Stores the files of a skill. A failure only means that they have to be fetched again.
    pub fn store(&self, found: &[PackageFile]) {
        let Some(file) = self.entry_file(&files::digest_files(found)) else { return };
        if file.exists() || found.iter().map(|file| file.bytes().len()).sum::<usize>() > STORED_BYTES_MAX {
            return;
        }
        let packed: Vec<(String, Vec<u8>, bool)> = found
            .iter()
            .map(|file| (format!("{TOP}/{}", file.path), file.bytes().to_vec(), file.is_executable))
            .collect();
        let Ok(bytes) = rep_archive::write_tar_gz(&packed) else { return };
        // It is a cache.
        let _ = fs::create_dir_all(&self.folder).and_then(|()| rep_storage::atomic::write_cache_file(&file, &bytes));
    }

    /// Returns the files with a digest, if they are stored.
    pub fn load(&self, digest: &str) -> Option<Vec<PackageFile>> {
        let bytes = files::read_file(&self.entry_file(digest)?, rep_archive::ARCHIVE_BYTES_MAX).ok()?;
        let (entries, _) = rep_archive::open(&bytes).ok()?;
        let found: Vec<PackageFile> = entries.into_iter().map(PackageFile::from).collect();
        (files::digest_files(&found) == digest).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atomic_dir::PackageFileContent;

    #[test]
    fn contents_come_back_and_damage_is_noticed() {
        let scratch = tempfile::tempdir().unwrap();
        let store = ContentStore::new(scratch.path().join("content"));
        // A single directory at the top is a part of the paths.
        let one = PackageFile {
            path: "only/SKILL.md".to_owned(),
            content: PackageFileContent::InMemory(b"text".to_vec()),
            is_executable: true,
        };
        let digest = files::digest_files(std::slice::from_ref(&one));
        assert!(store.load(&digest).is_none());
        store.store(std::slice::from_ref(&one));
        let found = store.load(&digest).unwrap();
        assert_eq!((found[0].path.as_str(), found[0].is_executable), ("only/SKILL.md", true));
        let file = store.entry_file(&digest).unwrap();
        fs::write(&file, b"damaged").unwrap();
        assert!(store.load(&digest).is_none());
        for digest in ["", "sha256:", "sha256:../../etc/passwd", "md5:1"] {
            assert!(store.load(digest).is_none(), "{digest}");
        }
    }
}
