//! Assertions that several fuzz targets share.

use rep_archive::{ArchiveEntry, ArchiveError};

/// The maximum number of entries and bytes of an archive, as documented by `rep-archive`.
const ENTRIES_MAX: usize = 20_000;
const RATIO_MAX: usize = 200;
const RATIO_FLOOR: usize = 1 << 20;

/// Writes files into an archive.
pub type Writer = fn(&[(String, Vec<u8>, bool)]) -> std::io::Result<Vec<u8>>;

/// Opens an archive of any bytes. All entries stay inside the directory, are within the limits, and survive a round
/// trip.
pub fn check_archive(archive: &[u8], write: Writer) {
    let opened: Result<(Vec<ArchiveEntry>, Option<String>), ArchiveError> = rep_archive::open(archive);
    let Ok((entries, top)) = opened else { return };
    assert!(!entries.is_empty() && entries.len() <= ENTRIES_MAX);
    let bound = (archive.len() * RATIO_MAX).max(RATIO_FLOOR);
    for entry in &entries {
        assert!(entry.bytes.len() <= bound, "{:?} has {} bytes", entry.path, entry.bytes.len());
        check_path(&entry.path);
    }
    assert!(entries.is_sorted_by(|one, two| one.path < two.path), "two entries of one path");
    let files: Vec<(String, Vec<u8>, bool)> = entries
        .iter()
        .map(|entry| {
            let path = top.as_ref().map_or_else(|| entry.path.clone(), |top| format!("{top}/{}", entry.path));
            (path, entry.bytes.clone(), entry.is_executable)
        })
        .collect();
    let written = write(&files).expect("a few small files fit");
    assert_eq!(rep_archive::open(&written), Ok((entries, top)));
}

/// Checks that a path stays inside the directory that it is joined to, on every system.
fn check_path(path: &str) {
    let is_plain = |part: &str| !matches!(part, "" | "." | "..") && !part.ends_with(['.', ' ']);
    assert!(path.split('/').all(is_plain), "{path:?}");
    assert!(!path.contains('\\') && !path.chars().any(char::is_control), "{path:?}");
    assert!(!path.starts_with('~') && path.as_bytes().get(1) != Some(&b':'), "{path:?} is absolute");
}
