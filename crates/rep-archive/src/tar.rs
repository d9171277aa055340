//! Tar in gzip: old, POSIX and GNU headers, as far as files and folders go.

use std::io::{self, Read, Write};

use flate2::bufread::MultiGzDecoder;
use flate2::{Compression, GzBuilder};

use super::{ArchiveError, RATIO_FLOOR, RATIO_MAX, TOTAL_BYTES_MAX, Unpacked, broken, refused};

const BLOCK: usize = 512;
/// The longest name or list of attributes that stands before an entry.
const EXTENSION_BYTES_MAX: u64 = 64 << 10;
/// Headers and padding, beside what the entries hold.
const OVERHEAD_BYTES_MAX: u64 = 64 << 20;
/// The most zeros behind the end. Programs fill up blocks of 10 KiB, or of whatever a tape has.
const PADDING_BYTES_MAX: u64 = 1 << 20;

/// Reads a tar.gz.
pub(super) fn read(bytes: &[u8], unpacked: &mut Unpacked) -> Result<(), ArchiveError> {
    // Counts all that comes out, so that nothing in between goes uncounted either.
    let mut stream = MultiGzDecoder::new(bytes).take(TOTAL_BYTES_MAX + OVERHEAD_BYTES_MAX);
    let packed = bytes.len() as u64;
    let mut long_name: Option<Vec<u8>> = None;
    while let Some(header) = header(&mut stream)? {
        unpacked.count()?;
        let name = long_name.take().unwrap_or_else(|| header.name.clone());
        let shown = String::from_utf8_lossy(&name).into_owned();
        match header.kind {
            b'0' | 0 | b'7' => {
                if header.size > unpacked.room(packed) {
                    return Err(unpacked.overflow(&shown, packed));
                }
                // One stream holds all entries, so that the ratio is that of all.
                if unpacked.total + header.size > packed.saturating_mul(RATIO_MAX).max(RATIO_FLOOR) {
                    return Err(ArchiveError::TooLarge(format!("it unpacks to more than {RATIO_MAX} times its size")));
                }
                // A file whose name ends in a slash is how the oldest archives write folders.
                if header.kind == 0 && name.ends_with(b"/") {
                    folder(&name, header.size, unpacked)?;
                } else {
                    let content = content(&mut stream, header.size)?;
                    unpacked.file(&name, content, header.mode & 0o111 != 0)?;
                }
            }
            b'5' => folder(&name, header.size, unpacked)?,
            // GNU: the name of the next entry. POSIX: its attributes, of which only the path is taken.
            b'L' | b'x' => {
                if header.size > EXTENSION_BYTES_MAX {
                    return Err(refused(&shown, "its name is too long"));
                }
                let text = content(&mut stream, header.size)?;
                long_name = match header.kind {
                    b'L' => Some(text.split(|byte| *byte == 0).next().unwrap_or_default().to_vec()),
                    _ => attributes(&text, &shown)?,
                };
            }
            // Attributes of all entries: a comment of whoever packed it.
            b'g' if header.size <= EXTENSION_BYTES_MAX => {
                if attributes(&content(&mut stream, header.size)?, &shown)?.is_some() {
                    return Err(refused(&shown, "it names all entries at once"));
                }
            }
            b'1' | b'2' => return Err(refused(&shown, "it is a link, and only files and folders are taken")),
            b'3' | b'4' | b'6' => {
                return Err(refused(&shown, "it is a device or a pipe, and only files and folders are taken"));
            }
            other => return Err(refused(&shown, format!("it is of a kind that is not known ({other})"))),
        }
    }
    check_end(&mut stream)
}

/// Checks that nothing but zeros follows the end, because other programs may read on. Reading to the end of the stream also
/// compares its checksum.
fn check_end(stream: &mut impl Read) -> Result<(), ArchiveError> {
    let mut rest = Vec::new();
    stream.take(PADDING_BYTES_MAX + 1).read_to_end(&mut rest).map_err(|_| broken("its bytes are damaged"))?;
    if rest.len() as u64 > PADDING_BYTES_MAX || rest.iter().any(|byte| *byte != 0) {
        return Err(broken("something follows its end"));
    }
    Ok(())
}

/// Takes a folder. Bytes of its own would be skipped by some programs and read as headers by others.
fn folder(name: &[u8], size: u64, unpacked: &mut Unpacked) -> Result<(), ArchiveError> {
    if size > 0 {
        return Err(refused(&String::from_utf8_lossy(name), "it is a folder with bytes of its own"));
    }
    unpacked.folder(name)
}

struct Header {
    name: Vec<u8>,
    mode: u64,
    size: u64,
    kind: u8,
}

/// The next header; none at the end, which is a block of zeros.
fn header(stream: &mut impl Read) -> Result<Option<Header>, ArchiveError> {
    let mut block = [0; BLOCK];
    let mut filled = 0;
    while filled < BLOCK {
        match stream.read(&mut block[filled..]) {
            Ok(0) if filled == 0 => return Ok(None),
            Ok(0) => return Err(broken("it breaks off")),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Err(broken("its bytes are damaged")),
        }
    }
    if block.iter().all(|byte| *byte == 0) {
        return Ok(None);
    }
    let sum: u64 =
        block.iter().enumerate().map(|(at, byte)| if (148..156).contains(&at) { 32 } else { u64::from(*byte) }).sum();
    if octal(&block[148..156]) != Some(sum) {
        return Err(broken("a header in it is damaged"));
    }
    let text = |from: usize, to: usize| block[from..to].split(|byte| *byte == 0).next().unwrap_or_default();
    let mut name = text(0, 100).to_vec();
    let prefix = text(345, 500);
    if &block[257..263] == b"ustar\0" && !prefix.is_empty() {
        name = [prefix, b"/", &name].concat();
    }
    let size =
        octal(&block[124..136]).ok_or_else(|| refused(&String::from_utf8_lossy(&name), "its size cannot be read"))?;
    Ok(Some(Header { mode: octal(&block[100..108]).unwrap_or(0o644), size, kind: block[156], name }))
}

/// A number in octal digits. Larger ones, which some write in another way, are no sizes of ours.
fn octal(field: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(field).ok()?.trim_matches(['\0', ' ']);
    if text.is_empty() { Some(0) } else { u64::from_str_radix(text, 8).ok() }
}

/// The bytes of an entry, and the padding behind them.
fn content(stream: &mut impl Read, size: u64) -> Result<Vec<u8>, ArchiveError> {
    let mut content = Vec::new();
    stream.take(size).read_to_end(&mut content).map_err(|_| broken("its bytes are damaged"))?;
    let padding = (BLOCK as u64 - size % BLOCK as u64) % BLOCK as u64;
    let skipped = io::copy(&mut stream.take(padding), &mut io::sink()).map_err(|_| broken("its bytes are damaged"))?;
    if content.len() as u64 != size || skipped != padding {
        return Err(broken("it breaks off"));
    }
    Ok(content)
}

/// The path among POSIX attributes: lines of a length, a key and a value. A size there would hide bytes from us.
fn attributes(mut text: &[u8], shown: &str) -> Result<Option<Vec<u8>>, ArchiveError> {
    let mut path = None;
    while !text.is_empty() {
        let damaged = || refused(shown, "its attributes are damaged");
        let space = text.iter().position(|byte| *byte == b' ').ok_or_else(damaged)?;
        let length: usize =
            std::str::from_utf8(&text[..space]).ok().and_then(|digits| digits.parse().ok()).ok_or_else(damaged)?;
        let line = text.get(space + 1..length).and_then(|line| line.strip_suffix(b"\n")).ok_or_else(damaged)?;
        let equals = line.iter().position(|byte| *byte == b'=').ok_or_else(damaged)?;
        match &line[..equals] {
            b"path" => path = Some(line[equals + 1..].to_vec()),
            b"size" | b"linkpath" => return Err(refused(shown, "its attributes change its size or make it a link")),
            _ => {}
        }
        text = &text[length..];
    }
    Ok(path)
}

/// Writes files into a tar.gz: in the order given, with one time and owner for all, and no `./` before names. The same files
/// give the same bytes.
pub fn write(files: &[(String, Vec<u8>, bool)]) -> io::Result<Vec<u8>> {
    let mut out = GzBuilder::new().mtime(0).operating_system(255).write(Vec::new(), Compression::new(9));
    for (path, content, is_executable) in files {
        let mode = if *is_executable { 0o755 } else { 0o644 };
        if path.len() <= 100 {
            out.write_all(&block(path.as_bytes(), mode, content.len(), b'0'))?;
        } else {
            let attributes = attribute("path", path);
            out.write_all(&block(b"attributes", 0o644, attributes.len(), b'x'))?;
            padded(&mut out, attributes.as_bytes())?;
            let end = path.floor_char_boundary(100);
            out.write_all(&block(&path.as_bytes()[..end], mode, content.len(), b'0'))?;
        }
        padded(&mut out, content)?;
    }
    out.write_all(&[0; 2 * BLOCK])?;
    out.finish()
}

fn padded(out: &mut impl Write, content: &[u8]) -> io::Result<()> {
    out.write_all(content)?;
    out.write_all(&vec![0; (BLOCK - content.len() % BLOCK) % BLOCK])
}

/// A line of attributes, whose length counts itself.
fn attribute(key: &str, value: &str) -> String {
    let rest = format!(" {key}={value}\n");
    let mut length = rest.len();
    while length != rest.len() + length.to_string().len() {
        length = rest.len() + length.to_string().len();
    }
    format!("{length}{rest}")
}

fn block(name: &[u8], mode: u32, size: usize, kind: u8) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, name);
    put(100, format!("{mode:07o}\0").as_bytes());
    put(108, b"0000000\0");
    put(116, b"0000000\0");
    put(124, format!("{size:011o}\0").as_bytes());
    put(136, b"00000000000\0");
    put(148, b"        ");
    put(156, &[kind]);
    put(257, b"ustar\x0000");
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}

#[cfg(test)]
mod tests;
