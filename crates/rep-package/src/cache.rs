//! Lists and cleans what was fetched: git repositories, blobs of registries, contents of skills, and followed tags.
//!
//! Everything in the cache can be fetched again. What is removed last is what was used last.
#![expect(clippy::disallowed_methods, reason = "this module owns the directories of the cache")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::error::{PackageError, PackageErrorCode};

/// The maximum number of files that are counted in an entry.
const FILES_MAX: usize = 200_000;

/// What is in a cache entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CacheEntryKind {
    /// A manifest or a layer of a registry.
    Blob,
    /// The files of a skill.
    Content,
    /// A bare git repository.
    Git,
    /// The snapshots of a tag that a server follows.
    Followed,
}

impl CacheEntryKind {
    const ALL: [CacheEntryKind; 4] =
        [CacheEntryKind::Blob, CacheEntryKind::Content, CacheEntryKind::Git, CacheEntryKind::Followed];

    /// Returns the name in results.
    pub const fn as_str(self) -> &'static str {
        match self {
            CacheEntryKind::Blob => "blob",
            CacheEntryKind::Content => "content",
            CacheEntryKind::Git => "git",
            CacheEntryKind::Followed => "followed",
        }
    }

    /// The directory of the entries.
    const fn folder(self) -> &'static str {
        match self {
            CacheEntryKind::Blob => "blobs",
            CacheEntryKind::Content => "content",
            CacheEntryKind::Git => "git",
            CacheEntryKind::Followed => "followed",
        }
    }
}

/// Something in the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheEntry {
    /// What it is.
    pub kind: CacheEntryKind,
    /// The address of a repository, or the name of the file.
    pub name: String,
    /// Its size.
    pub size_bytes: u64,
    /// When it was last written.
    pub used: SystemTime,
    path: PathBuf,
}

/// Lists what is in a cache, the oldest first.
pub fn list_cache(folder: &Path) -> Result<Vec<CacheEntry>, PackageError> {
    let mut found = Vec::new();
    for kind in CacheEntryKind::ALL {
        let listing = match fs::read_dir(folder.join(kind.folder())) {
            Ok(listing) => listing,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(cache_error("read", folder, &error)),
        };
        for entry in listing.flatten() {
            found.extend(describe_entry(kind, &entry.path()));
        }
    }
    found.sort_by(|one, two| one.used.cmp(&two.used).then_with(|| one.path.cmp(&two.path)));
    Ok(found)
}

fn describe_entry(kind: CacheEntryKind, path: &Path) -> Option<CacheEntry> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    let about = fs::symlink_metadata(path).ok()?;
    // A lock is held by its file, and an address belongs to its repository.
    if kind == CacheEntryKind::Git && !about.is_dir() {
        return None;
    }
    let address = (kind == CacheEntryKind::Git).then(|| fs::read_to_string(path.with_extension("url")).ok()).flatten();
    let (size_bytes, used) = measure(path).ok()?;
    Some(CacheEntry { kind, name: address.unwrap_or(name), size_bytes, used, path: path.to_owned() })
}

/// Returns the size of a file or a directory, and when something in it was last written.
fn measure(path: &Path) -> io::Result<(u64, SystemTime)> {
    let about = fs::symlink_metadata(path)?;
    let (mut size, mut used) = (if about.is_dir() { 0 } else { about.len() }, about.modified()?);
    let mut open = if about.is_dir() { vec![path.to_owned()] } else { Vec::new() };
    let mut count = 0;
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder)?.flatten() {
            let about = entry.metadata()?;
            count += 1;
            if count > FILES_MAX {
                return Ok((size, used));
            }
            if about.is_dir() {
                open.push(entry.path());
            } else {
                size += about.len();
                used = used.max(about.modified()?);
            }
        }
    }
    Ok((size, used))
}

/// Removes entries, those that were written longest ago first, until at most `bytes_max` are left. Returns what is left,
/// and how much was removed. A repository that is in use is kept.
pub fn clean_cache(folder: &Path, bytes_max: u64) -> Result<(Vec<CacheEntry>, u64), PackageError> {
    let all = list_cache(folder)?;
    let mut total: u64 = all.iter().map(|entry| entry.size_bytes).sum();
    let (mut left, mut removed) = (Vec::new(), 0);
    for entry in all {
        if total > bytes_max && remove_entry(&entry)? {
            total -= entry.size_bytes;
            removed += entry.size_bytes;
        } else {
            left.push(entry);
        }
    }
    Ok((left, removed))
}

/// Removes an entry. Returns `false` if it is in use.
fn remove_entry(entry: &CacheEntry) -> Result<bool, PackageError> {
    let failed = |error: io::Error| cache_error("remove", &entry.path, &error);
    let removed = if entry.path.is_dir() {
        let lock =
            fs::OpenOptions::new().create(true).truncate(false).write(true).open(entry.path.with_extension("lock"));
        let is_git = entry.kind == CacheEntryKind::Git;
        if is_git && !lock.as_ref().is_ok_and(|lock| lock.try_lock().is_ok()) {
            return Ok(false);
        }
        // A repository that is half removed must not be taken for a whole one.
        let aside = entry.path.with_extension("removed");
        fs::rename(&entry.path, &aside).and_then(|()| fs::remove_dir_all(&aside))
    } else {
        fs::remove_file(&entry.path)
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(error)),
        Ok(()) | Err(_) => Ok(true),
    }
}

fn cache_error(action: &str, path: &Path, error: &io::Error) -> PackageError {
    PackageError::new(PackageErrorCode::Unwritable, format!("could not {action} `{}`: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_entries_are_removed_first() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path();
        assert!(list_cache(folder).unwrap().is_empty());
        for (path, size, age) in [("blobs/a", 100, 30), ("content/b.tar.gz", 100, 20), ("git/c/HEAD", 100, 10)] {
            let file = folder.join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, vec![0; size]).unwrap();
            let time = SystemTime::now() - std::time::Duration::from_secs(age);
            fs::File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
        }
        fs::write(folder.join("git/c.url"), "https://r.example/c").unwrap();
        let names: Vec<String> = list_cache(folder).unwrap().into_iter().map(|entry| entry.name).collect();
        assert_eq!(names, ["a", "b.tar.gz", "https://r.example/c"]);
        let (left, removed) = clean_cache(folder, 250).unwrap();
        assert_eq!((left.len(), removed), (2, 100));
        let held = fs::File::create(folder.join("git/c.lock")).unwrap();
        held.lock().unwrap();
        let (left, removed) = clean_cache(folder, 0).unwrap();
        assert_eq!((left.len(), removed), (1, 100), "a repository in use is kept");
        drop(held);
        assert!(clean_cache(folder, 0).unwrap().0.is_empty());
    }
}
