//! Zip: the central directory decides what there is, and every local header must agree with it.

use std::io::{Read, Write};

use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

use super::{ArchiveError, Unpacked, broken, refused};

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const END_BYTES: usize = 22;
/// 1 January 1980, the first day there is.
const DATE: u16 = 0x21;

/// A number of two or four bytes.
fn short(bytes: &[u8], at: usize) -> Result<u16, ArchiveError> {
    let pair = bytes.get(at..).and_then(|rest| rest.first_chunk::<2>());
    pair.map(|pair| u16::from_le_bytes(*pair)).ok_or_else(|| broken("it breaks off"))
}

fn long(bytes: &[u8], at: usize) -> Result<u32, ArchiveError> {
    let four = bytes.get(at..).and_then(|rest| rest.first_chunk::<4>());
    four.map(|four| u32::from_le_bytes(*four)).ok_or_else(|| broken("it breaks off"))
}

fn place(bytes: &[u8], at: usize) -> Result<usize, ArchiveError> {
    Ok(usize::try_from(long(bytes, at)?).unwrap_or(usize::MAX))
}

fn slice(bytes: &[u8], at: usize, length: usize) -> Result<&[u8], ArchiveError> {
    let end = at.checked_add(length).ok_or_else(|| broken("it breaks off"))?;
    bytes.get(at..end).ok_or_else(|| broken("it breaks off"))
}

/// One line of the central directory.
struct Line<'a> {
    name: &'a [u8],
    flags: u16,
    method: u16,
    crc: u32,
    packed: usize,
    local: usize,
    mode: Option<u32>,
}

/// Reads a zip.
pub(super) fn read(bytes: &[u8], unpacked: &mut Unpacked) -> Result<(), ArchiveError> {
    let end = end(bytes)?;
    let count = usize::from(short(bytes, end + 10)?);
    let (size, start) = (place(bytes, end + 12)?, place(bytes, end + 16)?);
    if short(bytes, end + 4)? != 0 || short(bytes, end + 6)? != 0 || usize::from(short(bytes, end + 8)?) != count {
        return Err(broken("it is one part of several"));
    }
    if count == usize::from(u16::MAX) || start.checked_add(size) != Some(end) {
        return Err(broken("its directory does not end where the archive does, or it is a zip64"));
    }
    let (mut at, mut taken) = (start, Vec::new());
    for _ in 0..count {
        unpacked.count()?;
        let line = line(bytes, &mut at, end)?;
        taken.push(entry(bytes, &line, start, unpacked)?);
    }
    if at != end {
        return Err(broken("its directory holds more than it says"));
    }
    // Two entries made of the same bytes are how small archives unpack to large ones.
    taken.sort_unstable();
    if taken.windows(2).any(|pair| pair[0].1 > pair[1].0) {
        return Err(broken("entries in it overlap"));
    }
    Ok(())
}

/// Where the end of the directory is told. The comment behind it must be as long as it says.
fn end(bytes: &[u8]) -> Result<usize, ArchiveError> {
    let last = bytes.len().checked_sub(END_BYTES).ok_or_else(|| broken("it is too short"))?;
    let first = last.saturating_sub(usize::from(u16::MAX));
    let is_end = |at: &usize| {
        long(bytes, *at) == Ok(END)
            && short(bytes, at + 20).is_ok_and(|comment| at + END_BYTES + usize::from(comment) == bytes.len())
    };
    (first..=last).rev().find(is_end).ok_or_else(|| broken("the end of its directory is missing"))
}

fn line<'a>(bytes: &'a [u8], at: &mut usize, end: usize) -> Result<Line<'a>, ArchiveError> {
    let here = *at;
    if here + 46 > end || long(bytes, here)? != CENTRAL {
        return Err(broken("its directory is damaged"));
    }
    let (name, extra, comment) = (short(bytes, here + 28)?, short(bytes, here + 30)?, short(bytes, here + 32)?);
    let name = slice(bytes, here + 46, usize::from(name))?;
    *at = here + 46 + name.len() + usize::from(extra) + usize::from(comment);
    if *at > end {
        return Err(broken("its directory is damaged"));
    }
    // The high byte says which system wrote it; 3 is Unix, whose modes stand in the upper half of the attributes.
    let is_unix = short(bytes, here + 4)? >> 8 == 3;
    Ok(Line {
        name,
        flags: short(bytes, here + 8)?,
        method: short(bytes, here + 10)?,
        crc: long(bytes, here + 16)?,
        packed: place(bytes, here + 20)?,
        local: place(bytes, here + 42)?,
        mode: is_unix.then_some(long(bytes, here + 38)? >> 16),
    })
}

/// Takes one entry out, and tells which bytes of the archive it is made of.
fn entry(bytes: &[u8], line: &Line<'_>, start: usize, unpacked: &mut Unpacked) -> Result<(usize, usize), ArchiveError> {
    let shown = String::from_utf8_lossy(line.name).into_owned();
    // Bit 0: encrypted; bit 6: strongly; bit 13: the directory itself is.
    if line.flags & (1 | 1 << 6 | 1 << 13) != 0 {
        return Err(refused(&shown, "it is encrypted"));
    }
    let kind = line.mode.map_or(0, |mode| mode & 0o170_000);
    let is_folder = line.name.ends_with(b"/");
    if !matches!(kind, 0 | 0o100_000 | 0o040_000) || (kind == 0o040_000 && !is_folder) {
        return Err(refused(&shown, "it is a link or a device, and only files and folders are taken"));
    }
    if long(bytes, line.local)? != LOCAL {
        return Err(refused(&shown, "it is not where the directory says"));
    }
    let (name, extra) = (usize::from(short(bytes, line.local + 26)?), usize::from(short(bytes, line.local + 28)?));
    let is_same = slice(bytes, line.local + 30, name)? == line.name
        && short(bytes, line.local + 8)? == line.method
        && short(bytes, line.local + 6)? & 1 == 0;
    if !is_same {
        return Err(refused(&shown, "its own header says something else than the directory"));
    }
    let from = line.local + 30 + name + extra;
    let packed = slice(bytes, from, line.packed)?;
    if from + line.packed > start {
        return Err(refused(&shown, "it reaches into the directory"));
    }
    if is_folder {
        if line.packed > 2 {
            return Err(refused(&shown, "it is a folder with bytes of its own"));
        }
        unpacked.folder(line.name)?;
    } else {
        let content = content(line, packed, &shown, unpacked)?;
        unpacked.file(line.name, content, line.mode.is_some_and(|mode| mode & 0o111 != 0))?;
    }
    Ok((line.local, from + line.packed))
}

fn content(line: &Line<'_>, packed: &[u8], shown: &str, unpacked: &Unpacked) -> Result<Vec<u8>, ArchiveError> {
    let room = unpacked.room(packed.len() as u64);
    let mut content = Vec::new();
    let read = match line.method {
        0 => packed.take(room + 1).read_to_end(&mut content),
        8 => DeflateDecoder::new(packed).take(room + 1).read_to_end(&mut content),
        other => return Err(refused(shown, format!("it is packed in a way that is not known ({other})"))),
    };
    read.map_err(|_| refused(shown, "its bytes are damaged"))?;
    if content.len() as u64 > room {
        return Err(unpacked.overflow(shown, packed.len() as u64));
    }
    let mut crc = Crc::new();
    crc.update(&content);
    if crc.sum() != line.crc {
        return Err(refused(shown, "its bytes are damaged"));
    }
    Ok(content)
}

/// Writes files into a zip: in the order given, with one time for all, below a folder where one is named. The same files
/// give the same bytes.
pub fn write(files: &[(String, Vec<u8>, bool)]) -> std::io::Result<Vec<u8>> {
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
        for value in [20, 1 << 11, 8, 0, DATE] {
            head.extend(u16::to_le_bytes(value));
        }
        for value in [crc.sum(), number(packed.len())?, number(content.len())?] {
            head.extend(value.to_le_bytes());
        }
        head.extend(name.to_le_bytes());
        head.extend(0_u16.to_le_bytes());
        directory.extend(CENTRAL.to_le_bytes());
        // Made by version 2.0 on Unix, whose modes are in the attributes.
        directory.extend([20, 3]);
        directory.extend(&head);
        directory.extend([0; 6]);
        let mode: u32 = if *is_executable { 0o100_755 } else { 0o100_644 };
        directory.extend((mode << 16).to_le_bytes());
        directory.extend(number(out.len())?.to_le_bytes());
        directory.extend(path.as_bytes());
        out.extend(LOCAL.to_le_bytes());
        out.extend(&head);
        out.extend(path.as_bytes());
        out.extend(packed);
    }
    let count = u16::try_from(files.len()).ok().filter(|count| *count < u16::MAX);
    let count = count.ok_or_else(|| std::io::Error::other("there are too many files for a zip"))?;
    let sizes = [directory.len(), out.len()].map(|size| u32::try_from(size).unwrap_or(u32::MAX));
    if sizes.contains(&u32::MAX) {
        return Err(std::io::Error::other("it is too large for a zip"));
    }
    out.extend(directory);
    out.extend(END.to_le_bytes());
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
