//! A cache of check results, so that only changed skills are checked again.
//!
//! A result is used if the skill's directory has the stamp that it had when it was checked, and if the rules, the options
//! and the paths are the same. The file is private, replaced atomically and never trusted: one that is damaged, of
//! another build or unreadable by others is ignored. Losing it only costs time.
//!
//! ```text
//! "repcheck" version:u32 checksum:u64          checksum of everything that follows
//! build (key:u64 stamp:u64 length:u64 result)*
//! ```
//! Numbers have a fixed size, in little-endian order.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::path::{Path, PathBuf};

use rep_check::CheckOptions;
use rep_storage::files;

use crate::discovery::SkillLocation;
use crate::folder_stamp::{FolderStamp, stamp_folder};
use crate::search::compute_checksum;

const MAGIC: &[u8; 8] = b"repcheck";
/// Changes with the file format. Everything else is part of the build.
const VERSION: u32 = 1;
/// The maximum size of a cache file.
const BYTES_MAX: u64 = 256 * 1024 * 1024;
/// The maximum number of cache files: one for each set of checked paths.
const FILES_MAX: usize = 16;
/// The minimum number of skills of a check that is cached. Fewer are checked faster than a file is written.
const SKILLS_MIN: usize = 100;
/// How much older than the check a file must be. A younger one could change again without a different time.
const MARGIN_NS: i128 = 50_000_000;

/// Where results are cached, and what they depend on besides the skills.
#[derive(Clone, Debug)]
pub struct CheckCacheSettings {
    /// The directory of the cache files.
    pub folder: PathBuf,
    /// What identifies the build of the program: results of other builds are ignored.
    pub build: String,
    /// The time when the check started, in nanoseconds since 1970.
    pub now_ns: i128,
}

/// The cached results of one set of paths.
pub(super) struct CheckCache {
    file: PathBuf,
    build: String,
    now_ns: i128,
    bytes: Vec<u8>,
    entries: HashMap<u64, (u64, Range<usize>)>,
}

/// A result to be cached.
pub(super) struct CachedResult {
    key: u64,
    stamp: u64,
}

impl CheckCache {
    /// Opens the cache of these paths. A file that cannot be used is the same as none.
    pub(super) fn open(settings: &CheckCacheSettings, paths: &[PathBuf]) -> Self {
        let mut hasher = DefaultHasher::new();
        for path in paths {
            std::path::absolute(path).unwrap_or_else(|_| path.clone()).hash(&mut hasher);
        }
        let file = settings.folder.join(format!("{:016x}.cache", hasher.finish()));
        let bytes = files::read_private(&file, BYTES_MAX).ok().flatten().unwrap_or_default();
        let entries = parse_entries(&bytes, &settings.build).unwrap_or_default();
        Self { file, build: settings.build.clone(), now_ns: settings.now_ns, bytes, entries }
    }

    /// Returns the key of a skill under these options.
    pub(super) fn key(found: &SkillLocation, options: u64) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&found.shown, &found.path, found.is_lone_file, found.is_linked, options).hash(&mut hasher);
        hasher.finish()
    }

    /// Returns the result of a skill that has not changed.
    pub(super) fn find(&self, found: &SkillLocation, key: u64) -> Option<(&[u8], FolderStamp)> {
        // What a link points to can be replaced without a trace in the directory that it points to.
        let (stamp, range) = self.entries.get(&key).filter(|_| !found.is_linked && !found.is_lone_file)?;
        let current = stamp_folder(&found.path)?;
        (current.hash == *stamp).then(|| (&self.bytes[range.clone()], current))
    }

    /// Returns how to cache a result, unless the skill has no stamp or is too new.
    pub(super) fn admit(&self, found: &SkillLocation, key: u64, stamp: Option<FolderStamp>) -> Option<CachedResult> {
        let stamp = stamp.filter(|stamp| stamp.newest_ns.saturating_add(MARGIN_NS) < self.now_ns)?;
        (!found.is_linked && !found.is_lone_file).then_some(CachedResult { key, stamp: stamp.hash })
    }

    /// Writes the results of a check, unless they are those that are cached, or too few.
    pub(super) fn save<'a>(self, results: impl Iterator<Item = (&'a CachedResult, &'a [u8])> + Clone) {
        let is_same = |row: &CachedResult| self.entries.get(&row.key).is_some_and(|(stamp, _)| *stamp == row.stamp);
        let count = results.clone().count();
        let is_unchanged = count == self.entries.len() && results.clone().all(|(row, _)| is_same(row));
        if count < SKILLS_MIN || is_unchanged {
            return;
        }
        let mut payload = Vec::new();
        append_bytes(self.build.as_bytes(), &mut payload);
        for (row, bytes) in results {
            payload.extend(row.key.to_le_bytes());
            payload.extend(row.stamp.to_le_bytes());
            append_bytes(bytes, &mut payload);
        }
        if payload.len() as u64 + 64 > BYTES_MAX {
            return;
        }
        let mut file = MAGIC.to_vec();
        file.extend(VERSION.to_le_bytes());
        file.extend(compute_checksum(&payload).to_le_bytes());
        file.append(&mut payload);
        // A cache that cannot be written costs time at the next check, and nothing else.
        if files::replace_private(&self.file, &file).is_ok() {
            let _ = files::prune_oldest(self.file.parent().unwrap_or(Path::new(".")), FILES_MAX);
        }
    }
}

/// Returns a number for options that findings depend on.
pub(super) fn hash_options(options: &CheckOptions) -> u64 {
    let mut hasher = DefaultHasher::new();
    format!("{options:?}").hash(&mut hasher);
    hasher.finish()
}

fn append_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend((bytes.len() as u64).to_le_bytes());
    out.extend_from_slice(bytes);
}

/// Finds the results in a cache file, or `None` if the file is invalid or of another build.
fn parse_entries(bytes: &[u8], build: &str) -> Option<HashMap<u64, (u64, Range<usize>)>> {
    let mut at = 0_usize;
    let mut take = |length: usize| {
        let range = at..at.checked_add(length)?;
        let taken = bytes.get(range.clone())?;
        at = range.end;
        Some((taken, range))
    };
    let number = |bytes: &[u8]| Some(u64::from_le_bytes(bytes.try_into().ok()?));
    let is_ours = take(8)?.0 == MAGIC && take(4)?.0 == VERSION.to_le_bytes();
    let checksum = number(take(8)?.0)?;
    if !is_ours || compute_checksum(&bytes[20..]) != checksum {
        return None;
    }
    let length = usize::try_from(number(take(8)?.0)?).ok()?;
    if take(length)?.0 != build.as_bytes() {
        return None;
    }
    let mut entries = HashMap::new();
    while let Some((key, _)) = take(8) {
        let (key, stamp) = (number(key)?, number(take(8)?.0)?);
        let length = usize::try_from(number(take(8)?.0)?).ok()?;
        let (_, range) = take(length)?;
        entries.insert(key, (stamp, range));
    }
    Some(entries)
}
