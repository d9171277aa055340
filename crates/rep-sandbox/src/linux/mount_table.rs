//! Finds the other paths of a directory. Bind mounts show one directory under several paths, so that comparing paths
//! does not tell whether two of them are the same directory.
//!
//! Candidates come from the kernel's table of mounts, and are compared by device and inode. A file system that presents
//! the files of another one under its own device number (FUSE, overlayfs, a second NFS mount) is not recognised.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxFlags};

/// The maximum size of the table.
const TABLE_BYTES_MAX: u64 = 64 << 20;

/// The device and inode of a file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FileId(u64, u64);

impl FileId {
    /// Reads the identity of a path without following links.
    pub(super) fn read(path: &Path) -> Option<FileId> {
        let stat = rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(FileId::from_stat(&stat))
    }

    pub(super) fn from_stat(stat: &rustix::fs::Stat) -> FileId {
        FileId(stat.st_dev, stat.st_ino)
    }

    pub(super) fn inode(self) -> u64 {
        self.1
    }
}

/// The mounts that this process sees.
#[derive(Debug, Default)]
pub(super) struct MountTable(Vec<MountEntry>);

#[derive(Debug, PartialEq, Eq)]
struct MountEntry {
    id: u64,
    /// The device numbers of the file system.
    device: String,
    /// The directory of the file system that is mounted.
    root: PathBuf,
    /// Where it is mounted.
    point: PathBuf,
}

impl MountTable {
    /// Reads the table of this process.
    pub(super) fn read() -> io::Result<MountTable> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file = rustix::fs::open("/proc/self/mountinfo", flags, Mode::empty())?;
        let mut bytes = Vec::new();
        File::from(file).take(TABLE_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(MountTable(bytes.split(|byte| *byte == b'\n').filter_map(parse_entry).collect()))
    }

    /// Returns the other paths of a file or directory. For a path that does not exist, its nearest existing parent is
    /// looked up. The path must be resolved.
    pub(super) fn find_aliases(&self, path: &Path) -> Vec<PathBuf> {
        let Some(known) = path.ancestors().find(|known| FileId::read(known).is_some()) else { return Vec::new() };
        let Some((own, inner)) = self.locate(known) else { return Vec::new() };
        let rest = path.strip_prefix(known).unwrap_or(Path::new(""));
        let same = self.0.iter().filter(|other| other.id != own.id && other.device == own.device);
        let candidates = same.filter_map(|other| Some(join_path(&other.point, inner.strip_prefix(&other.root).ok()?)));
        let is_same = |candidate: &PathBuf| FileId::read(candidate) == FileId::read(known);
        candidates.filter(is_same).map(|candidate| join_path(&candidate, rest)).collect()
    }

    /// Returns the mount points elsewhere that show something inside a directory. The path must be resolved.
    pub(super) fn find_inner_mounts(&self, folder: &Path) -> Vec<PathBuf> {
        let Some((own, inner)) = FileId::read(folder).and_then(|_| self.locate(folder)) else { return Vec::new() };
        let same = self.0.iter().filter(|other| other.device == own.device && !other.point.starts_with(folder));
        same.filter(|other| other.root != inner && other.root.starts_with(&inner))
            .map(|other| other.point.clone())
            .collect()
    }

    /// Returns the mount that contains an existing path, and the path in its file system.
    fn locate(&self, path: &Path) -> Option<(&MountEntry, PathBuf)> {
        let stat = rustix::fs::statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::MNT_ID).ok()?;
        let mount = self.0.iter().find(|mount| mount.id == stat.stx_mnt_id)?;
        Some((mount, join_path(&mount.root, path.strip_prefix(&mount.point).ok()?)))
    }
}

/// Joins paths without adding a trailing slash.
fn join_path(folder: &Path, rest: &Path) -> PathBuf {
    if rest.as_os_str().is_empty() { folder.to_owned() } else { folder.join(rest) }
}

/// Parses a line such as `36 35 98:0 /root /point rw,noatime - ext4 /dev/sda rw`.
fn parse_entry(line: &[u8]) -> Option<MountEntry> {
    let mut words = line.split(|byte| *byte == b' ');
    let id = std::str::from_utf8(words.next()?).ok()?.parse().ok()?;
    let device = String::from_utf8(words.nth(1)?.to_vec()).ok()?;
    Some(MountEntry { id, device, root: unescape_path(words.next()?), point: unescape_path(words.next()?) })
}

/// Decodes a path of the table, in which spaces and some other bytes are three octal digits after a backslash.
fn unescape_path(word: &[u8]) -> PathBuf {
    let mut bytes = Vec::new();
    let mut rest = word;
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..3).filter(|_| *first == b'\\');
        let code = code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 8).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[3..] } else { after };
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_table_is_parsed_with_its_escapes() {
        let line = b"36 35 98:0 /a\\040b /mnt/c\\134d rw,noatime shared:1 - ext4 /dev/sda rw";
        let expected = MountEntry { id: 36, device: "98:0".to_owned(), root: "/a b".into(), point: "/mnt/c\\d".into() };
        assert_eq!(parse_entry(line), Some(expected));
        assert_eq!(parse_entry(b""), None);
        assert_eq!(parse_entry(b"x y z"), None);
    }
}
