//! Zip archives. The central directory determines the entries, and every local header must match it.

use std::io::{Read, Write};

use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

use super::{ArchiveError, EntryCollector, broken_error, refused_error};

const LOCAL_SIGNATURE: u32 = 0x0403_4b50;
const CENTRAL_SIGNATURE: u32 = 0x0201_4b50;
const END_SIGNATURE: u32 = 0x0605_4b50;
const END_BYTES: usize = 22;
/// 1 January 1980, the earliest date a zip can express.
const FIXED_DATE: u16 = 0x21;

fn read_u16(bytes: &[u8], at: usize) -> Result<u16, ArchiveError> {
    let pair = bytes.get(at..).and_then(|rest| rest.first_chunk::<2>());
    pair.map(|pair| u16::from_le_bytes(*pair)).ok_or_else(|| broken_error("it is truncated"))
}

fn read_u32(bytes: &[u8], at: usize) -> Result<u32, ArchiveError> {
    let four = bytes.get(at..).and_then(|rest| rest.first_chunk::<4>());
    four.map(|four| u32::from_le_bytes(*four)).ok_or_else(|| broken_error("it is truncated"))
}

fn read_offset(bytes: &[u8], at: usize) -> Result<usize, ArchiveError> {
    Ok(usize::try_from(read_u32(bytes, at)?).unwrap_or(usize::MAX))
}

fn read_slice(bytes: &[u8], at: usize, length: usize) -> Result<&[u8], ArchiveError> {
    let end = at.checked_add(length).ok_or_else(|| broken_error("it is truncated"))?;
    bytes.get(at..end).ok_or_else(|| broken_error("it is truncated"))
}

/// An entry of the central directory.
struct CentralEntry<'a> {
    name: &'a [u8],
    flags: u16,
    method: u16,
    crc: u32,
    packed: usize,
    local: usize,
    mode: Option<u32>,
}

/// Reads a zip archive.
pub(super) fn read_zip(bytes: &[u8], unpacked: &mut EntryCollector) -> Result<(), ArchiveError> {
    let end = find_directory_end(bytes)?;
    let count = usize::from(read_u16(bytes, end + 10)?);
    let (size, start) = (read_offset(bytes, end + 12)?, read_offset(bytes, end + 16)?);
    if read_u16(bytes, end + 4)? != 0
        || read_u16(bytes, end + 6)? != 0
        || usize::from(read_u16(bytes, end + 8)?) != count
    {
        return Err(broken_error("it is part of a multi-part archive"));
    }
    if count == usize::from(u16::MAX) || start.checked_add(size) != Some(end) {
        return Err(broken_error("its central directory does not end where the archive does, or it is a zip64"));
    }
    let (mut at, mut taken) = (start, Vec::new());
    for _ in 0..count {
        unpacked.count_entry()?;
        let line = parse_central_entry(bytes, &mut at, end)?;
        taken.push(read_entry(bytes, &line, start, unpacked)?);
    }
    if at != end {
        return Err(broken_error("its central directory has more entries than it declares"));
    }
    // Overlapping entries are a way to make a small archive unpack to a large size.
    taken.sort_unstable();
    if taken.windows(2).any(|pair| pair[0].1 > pair[1].0) {
        return Err(broken_error("its entries overlap"));
    }
    Ok(())
}

/// Finds the end-of-central-directory record. The length of its comment must match the end of the archive.
fn find_directory_end(bytes: &[u8]) -> Result<usize, ArchiveError> {
    let last = bytes.len().checked_sub(END_BYTES).ok_or_else(|| broken_error("it is too short"))?;
    let first = last.saturating_sub(usize::from(u16::MAX));
    let is_end = |at: &usize| {
        read_u32(bytes, *at) == Ok(END_SIGNATURE)
            && read_u16(bytes, at + 20).is_ok_and(|comment| at + END_BYTES + usize::from(comment) == bytes.len())
    };
    (first..=last).rev().find(is_end).ok_or_else(|| broken_error("the end of its central directory is missing"))
}

fn parse_central_entry<'a>(bytes: &'a [u8], at: &mut usize, end: usize) -> Result<CentralEntry<'a>, ArchiveError> {
    let here = *at;
    if here + 46 > end || read_u32(bytes, here)? != CENTRAL_SIGNATURE {
        return Err(broken_error("its central directory is damaged"));
    }
    let (name, extra, comment) =
        (read_u16(bytes, here + 28)?, read_u16(bytes, here + 30)?, read_u16(bytes, here + 32)?);
    let name = read_slice(bytes, here + 46, usize::from(name))?;
    *at = here + 46 + name.len() + usize::from(extra) + usize::from(comment);
    if *at > end {
        return Err(broken_error("its central directory is damaged"));
    }
    // The high byte identifies the system. 3 is Unix, which stores modes in the upper half of the attributes.
    let is_unix = read_u16(bytes, here + 4)? >> 8 == 3;
    Ok(CentralEntry {
        name,
        flags: read_u16(bytes, here + 8)?,
        method: read_u16(bytes, here + 10)?,
        crc: read_u32(bytes, here + 16)?,
        packed: read_offset(bytes, here + 20)?,
        local: read_offset(bytes, here + 42)?,
        mode: is_unix.then_some(read_u32(bytes, here + 38)? >> 16),
    })
}

/// Unpacks an entry and returns the range of the archive's bytes that it occupies.
fn read_entry(
    bytes: &[u8],
    line: &CentralEntry<'_>,
    start: usize,
    unpacked: &mut EntryCollector,
) -> Result<(usize, usize), ArchiveError> {
    let shown = String::from_utf8_lossy(line.name).into_owned();
    // Bit 0: encrypted; bit 6: strong encryption; bit 13: encrypted central directory.
    if line.flags & (1 | 1 << 6 | 1 << 13) != 0 {
        return Err(refused_error(&shown, "it is encrypted"));
    }
    let kind = line.mode.map_or(0, |mode| mode & 0o170_000);
    let is_folder = line.name.ends_with(b"/");
    if !matches!(kind, 0 | 0o100_000 | 0o040_000) || (kind == 0o040_000 && !is_folder) {
        return Err(refused_error(&shown, "it is a link or a device; only files and directories are allowed"));
    }
    if read_u32(bytes, line.local)? != LOCAL_SIGNATURE {
        return Err(refused_error(&shown, "it is not where the central directory says"));
    }
    let (name, extra) =
        (usize::from(read_u16(bytes, line.local + 26)?), usize::from(read_u16(bytes, line.local + 28)?));
    let is_same = read_slice(bytes, line.local + 30, name)? == line.name
        && read_u16(bytes, line.local + 8)? == line.method
        && read_u16(bytes, line.local + 6)? & 1 == 0;
    if !is_same {
        return Err(refused_error(&shown, "its local header does not match the central directory"));
    }
    let from = line.local + 30 + name + extra;
    let packed = read_slice(bytes, from, line.packed)?;
    if from + line.packed > start {
        return Err(refused_error(&shown, "it overlaps the central directory"));
    }
    if is_folder {
        if line.packed > 2 {
            return Err(refused_error(&shown, "it is a directory with content"));
        }
        unpacked.add_folder(line.name)?;
    } else {
        let content = unpack_content(line, packed, &shown, unpacked)?;
        unpacked.add_file(line.name, content, line.mode.is_some_and(|mode| mode & 0o111 != 0))?;
    }
    Ok((line.local, from + line.packed))
}

fn unpack_content(
    line: &CentralEntry<'_>,
    packed: &[u8],
    shown: &str,
    unpacked: &EntryCollector,
) -> Result<Vec<u8>, ArchiveError> {
    let room = unpacked.entry_bytes_max(packed.len() as u64);
    let mut content = Vec::new();
    let read = match line.method {
        0 => packed.take(room + 1).read_to_end(&mut content),
        8 => DeflateDecoder::new(packed).take(room + 1).read_to_end(&mut content),
        other => return Err(refused_error(shown, format!("its compression method is unknown ({other})"))),
    };
    read.map_err(|_| refused_error(shown, "its data is damaged"))?;
    if content.len() as u64 > room {
        return Err(unpacked.overflow_error(shown, packed.len() as u64));
    }
    let mut crc = Crc::new();
    crc.update(&content);
    if crc.sum() != line.crc {
        return Err(refused_error(shown, "its data is damaged"));
    }
    Ok(content)
}

/// Writes files into a zip archive, in the given order and with a fixed time. The same files produce the same bytes.
pub fn write_zip(files: &[(String, Vec<u8>, bool)]) -> std::io::Result<Vec<u8>> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (path, content, is_executable) in files {
        let mut crc = Crc::new();
        crc.update(content);
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(9));
        encoder.write_all(content)?;
        let packed = encoder.finish()?;
        let number =
            |count: usize| u32::try_from(count).map_err(|_| std::io::Error::other("it is too large for a zip"));
        let name = u16::try_from(path.len()).map_err(|_| std::io::Error::other("a path is too long for a zip"))?;
        let mut head = Vec::new();
        // Bit 11: names are UTF-8.
        for value in [20, 1 << 11, 8, 0, FIXED_DATE] {
            head.extend(u16::to_le_bytes(value));
        }
        for value in [crc.sum(), number(packed.len())?, number(content.len())?] {
            head.extend(value.to_le_bytes());
        }
        head.extend(name.to_le_bytes());
        head.extend(0_u16.to_le_bytes());
        directory.extend(CENTRAL_SIGNATURE.to_le_bytes());
        // Version 2.0, made on Unix, so that modes are in the attributes.
        directory.extend([20, 3]);
        directory.extend(&head);
        directory.extend([0; 6]);
        let mode: u32 = if *is_executable { 0o100_755 } else { 0o100_644 };
        directory.extend((mode << 16).to_le_bytes());
        directory.extend(number(out.len())?.to_le_bytes());
        directory.extend(path.as_bytes());
        out.extend(LOCAL_SIGNATURE.to_le_bytes());
        out.extend(&head);
        out.extend(path.as_bytes());
        out.extend(packed);
    }
    let count = u16::try_from(files.len()).ok().filter(|count| *count < u16::MAX);
    let count = count.ok_or_else(|| std::io::Error::other("too many files for a zip"))?;
    let sizes = [directory.len(), out.len()].map(|size| u32::try_from(size).unwrap_or(u32::MAX));
    if sizes.contains(&u32::MAX) {
        return Err(std::io::Error::other("it is too large for a zip"));
    }
    out.extend(directory);
    out.extend(END_SIGNATURE.to_le_bytes());
    out.extend([0; 4]);
    out.extend(count.to_le_bytes());
    out.extend(count.to_le_bytes());
    out.extend(sizes[0].to_le_bytes());
    out.extend(sizes[1].to_le_bytes());
    out.extend([0; 2]);
    Ok(out)
}

#[cfg(test)]
mod tests;
