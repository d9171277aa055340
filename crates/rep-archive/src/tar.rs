//! Gzipped tar archives with old, POSIX and GNU headers. Supports only files and directories.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};

use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};

use super::{ArchiveError, EntryCollector, RATIO_FLOOR_BYTES, RATIO_MAX, broken_error, refused_error};

const BLOCK_BYTES: usize = 512;
/// The longest extended name or attribute list of an entry, in bytes.
const EXTENSION_BYTES_MAX: u64 = 64 << 10;
/// The maximum size of headers and padding, in bytes.
const OVERHEAD_BYTES_MAX: u64 = 64 << 20;
/// The maximum number of zero bytes after the end. Programs pad to blocks of 10 KiB or more.
const PADDING_BYTES_MAX: u64 = 1 << 20;

/// Reads a tar.gz archive.
pub(super) fn read_tar_gz(bytes: &[u8], unpacked: &mut EntryCollector) -> Result<(), ArchiveError> {
    // Limit the whole stream, so that headers and padding count too.
    let bytes_max = unpacked.total_bytes_max + OVERHEAD_BYTES_MAX;
    read_entries(&mut MultiGzDecoder::new(bytes).take(bytes_max), bytes.len(), unpacked)
}

/// Reads a tar archive that is not compressed.
pub(super) fn read_plain_tar(bytes: &[u8], unpacked: &mut EntryCollector) -> Result<(), ArchiveError> {
    read_entries(&mut bytes.take(unpacked.total_bytes_max + OVERHEAD_BYTES_MAX), bytes.len(), unpacked)
}

fn read_entries(stream: &mut impl Read, packed: usize, unpacked: &mut EntryCollector) -> Result<(), ArchiveError> {
    let packed = packed as u64;
    let mut long_name: Option<Vec<u8>> = None;
    while let Some(header) = read_header(stream)? {
        unpacked.count_entry()?;
        let name = long_name.take().unwrap_or_else(|| header.name.clone());
        let shown = String::from_utf8_lossy(&name).into_owned();
        match header.kind {
            b'0' | 0 | b'7' => {
                if header.size > unpacked.entry_bytes_max(packed) {
                    return Err(unpacked.overflow_error(&shown, packed));
                }
                // All entries share one compressed stream, so the ratio applies to their total.
                if unpacked.total_bytes + header.size > packed.saturating_mul(RATIO_MAX).max(RATIO_FLOOR_BYTES) {
                    return Err(ArchiveError::TooLarge(format!("it unpacks to more than {RATIO_MAX} times its size")));
                }
                // The oldest archives write a directory as a file whose name ends in a slash.
                if header.kind == 0 && name.ends_with(b"/") {
                    add_empty_folder(&name, header.size, unpacked)?;
                } else {
                    let content = read_content(stream, header.size)?;
                    unpacked.add_file(&name, content, header.mode & 0o111 != 0)?;
                }
            }
            b'5' => add_empty_folder(&name, header.size, unpacked)?,
            // GNU: the name of the next entry. POSIX: its attributes, of which only the path is used.
            b'L' | b'x' => {
                if header.size > EXTENSION_BYTES_MAX {
                    return Err(refused_error(&shown, "its name is too long"));
                }
                let text = read_content(stream, header.size)?;
                long_name = match header.kind {
                    b'L' => Some(text.split(|byte| *byte == 0).next().unwrap_or_default().to_vec()),
                    _ => parse_path_attribute(&text, &shown)?,
                };
            }
            // Attributes for all entries, such as a comment by the packing program.
            b'g' if header.size <= EXTENSION_BYTES_MAX => {
                if parse_path_attribute(&read_content(stream, header.size)?, &shown)?.is_some() {
                    return Err(refused_error(&shown, "its attributes set the path of all entries"));
                }
            }
            b'1' | b'2' => return Err(refused_error(&shown, "it is a link; only files and directories are allowed")),
            b'3' | b'4' | b'6' => {
                return Err(refused_error(&shown, "it is a device or a pipe; only files and directories are allowed"));
            }
            other => return Err(refused_error(&shown, format!("its entry type is unknown ({other})"))),
        }
    }
    check_end(stream)
}

/// Checks that only zeros follow the end, because other programs may read further. Reading to the end of the stream
/// also verifies its checksum.
fn check_end(stream: &mut impl Read) -> Result<(), ArchiveError> {
    let mut rest = Vec::new();
    stream.take(PADDING_BYTES_MAX + 1).read_to_end(&mut rest).map_err(|_| broken_error("its data is damaged"))?;
    if rest.len() as u64 > PADDING_BYTES_MAX || rest.iter().any(|byte| *byte != 0) {
        return Err(broken_error("data follows its end"));
    }
    Ok(())
}

/// Adds a directory. A directory with content is refused: some programs skip the bytes, others read them as headers.
fn add_empty_folder(name: &[u8], size: u64, unpacked: &mut EntryCollector) -> Result<(), ArchiveError> {
    if size > 0 {
        return Err(refused_error(&String::from_utf8_lossy(name), "it is a directory with content"));
    }
    unpacked.add_folder(name)
}

struct TarHeader {
    name: Vec<u8>,
    mode: u64,
    size: u64,
    kind: u8,
}

/// Reads the next header. Returns `None` at the end of the archive, which is a block of zeros.
fn read_header(stream: &mut impl Read) -> Result<Option<TarHeader>, ArchiveError> {
    let mut block = [0; BLOCK_BYTES];
    let mut filled = 0;
    while filled < BLOCK_BYTES {
        match stream.read(&mut block[filled..]) {
            Ok(0) if filled == 0 => return Ok(None),
            Ok(0) => return Err(broken_error("it is truncated")),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Err(broken_error("its data is damaged")),
        }
    }
    if block.iter().all(|byte| *byte == 0) {
        return Ok(None);
    }
    let sum: u64 =
        block.iter().enumerate().map(|(at, byte)| if (148..156).contains(&at) { 32 } else { u64::from(*byte) }).sum();
    if parse_octal(&block[148..156]) != Some(sum) {
        return Err(broken_error("a header is damaged"));
    }
    let text = |from: usize, to: usize| block[from..to].split(|byte| *byte == 0).next().unwrap_or_default();
    let mut name = text(0, 100).to_vec();
    let prefix = text(345, 500);
    if &block[257..263] == b"ustar\0" && !prefix.is_empty() {
        name = [prefix, b"/", &name].concat();
    }
    let size = parse_octal(&block[124..136])
        .ok_or_else(|| refused_error(&String::from_utf8_lossy(&name), "its size cannot be read"))?;
    Ok(Some(TarHeader { mode: parse_octal(&block[100..108]).unwrap_or(0o644), size, kind: block[156], name }))
}

/// Parses an octal number. Binary encodings of larger numbers are not supported, because such sizes exceed the limits.
fn parse_octal(field: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(field).ok()?.trim_matches(['\0', ' ']);
    if text.is_empty() { Some(0) } else { u64::from_str_radix(text, 8).ok() }
}

/// Reads the content of an entry and the padding after it.
fn read_content(stream: &mut impl Read, size: u64) -> Result<Vec<u8>, ArchiveError> {
    let mut content = Vec::new();
    stream.take(size).read_to_end(&mut content).map_err(|_| broken_error("its data is damaged"))?;
    let padding = (BLOCK_BYTES as u64 - size % BLOCK_BYTES as u64) % BLOCK_BYTES as u64;
    let skipped =
        io::copy(&mut stream.take(padding), &mut io::sink()).map_err(|_| broken_error("its data is damaged"))?;
    if content.len() as u64 != size || skipped != padding {
        return Err(broken_error("it is truncated"));
    }
    Ok(content)
}

/// Finds the path in POSIX attributes, which are lines with a length, a key and a value. Refuses attributes that change
/// the size, because other programs would see different content.
fn parse_path_attribute(mut text: &[u8], shown: &str) -> Result<Option<Vec<u8>>, ArchiveError> {
    let mut path = None;
    while !text.is_empty() {
        let damaged = || refused_error(shown, "its attributes are damaged");
        let space = text.iter().position(|byte| *byte == b' ').ok_or_else(damaged)?;
        let length: usize =
            std::str::from_utf8(&text[..space]).ok().and_then(|digits| digits.parse().ok()).ok_or_else(damaged)?;
        let line = text.get(space + 1..length).and_then(|line| line.strip_suffix(b"\n")).ok_or_else(damaged)?;
        let equals = line.iter().position(|byte| *byte == b'=').ok_or_else(damaged)?;
        match &line[..equals] {
            b"path" => path = Some(line[equals + 1..].to_vec()),
            b"size" | b"linkpath" => {
                return Err(refused_error(shown, "its attributes change its size or make it a link"));
            }
            _ => {}
        }
        text = &text[length..];
    }
    Ok(path)
}

/// Writes files into a tar.gz archive, in the given order, with a fixed time and owner and without a leading `./`. The
/// same files produce the same bytes.
pub fn write_tar_gz(files: &[(String, Vec<u8>, bool)]) -> io::Result<Vec<u8>> {
    let mut out = start_gzip();
    for (path, content, is_executable) in files {
        write_entry(&mut out, path, if *is_executable { 0o755 } else { 0o644 }, b'0', content)?;
    }
    out.write_all(&[0; 2 * BLOCK_BYTES])?;
    out.finish()
}

/// Writes files into a tar archive as container tools want it: sorted, with an entry for each directory before its files.
pub fn write_layer_tar(files: &[(String, Vec<u8>, bool)]) -> io::Result<Vec<u8>> {
    let mut sorted: Vec<&(String, Vec<u8>, bool)> = files.iter().collect();
    sorted.sort_by(|one, two| one.0.cmp(&two.0));
    let (mut out, mut folders) = (Vec::new(), BTreeSet::new());
    for (path, content, is_executable) in sorted {
        for (at, _) in path.match_indices('/') {
            if folders.insert(&path[..at]) {
                write_entry(&mut out, &path[..=at], 0o755, b'5', &[])?;
            }
        }
        write_entry(&mut out, path, if *is_executable { 0o755 } else { 0o644 }, b'0', content)?;
    }
    out.write_all(&[0; 2 * BLOCK_BYTES])?;
    Ok(out)
}

/// Compresses bytes with gzip. The same bytes always give the same result.
pub fn compress_gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut out = start_gzip();
    out.write_all(bytes)?;
    out.finish()
}

fn start_gzip() -> GzEncoder<Vec<u8>> {
    GzBuilder::new().mtime(0).operating_system(255).write(Vec::new(), Compression::new(9))
}

fn write_entry(out: &mut impl Write, path: &str, mode: u32, kind: u8, content: &[u8]) -> io::Result<()> {
    if path.len() <= 100 {
        out.write_all(&build_header_block(path.as_bytes(), mode, content.len(), kind))?;
    } else {
        let attributes = format_attribute("path", path);
        out.write_all(&build_header_block(b"attributes", 0o644, attributes.len(), b'x'))?;
        write_padded(out, attributes.as_bytes())?;
        let end = path.floor_char_boundary(100);
        out.write_all(&build_header_block(&path.as_bytes()[..end], mode, content.len(), kind))?;
    }
    write_padded(out, content)
}

fn write_padded(out: &mut impl Write, content: &[u8]) -> io::Result<()> {
    out.write_all(content)?;
    out.write_all(&vec![0; (BLOCK_BYTES - content.len() % BLOCK_BYTES) % BLOCK_BYTES])
}

/// Formats an attribute line, whose length includes its own digits.
fn format_attribute(key: &str, value: &str) -> String {
    let rest = format!(" {key}={value}\n");
    let mut length = rest.len();
    while length != rest.len() + length.to_string().len() {
        length = rest.len() + length.to_string().len();
    }
    format!("{length}{rest}")
}

fn build_header_block(name: &[u8], mode: u32, size: usize, kind: u8) -> [u8; BLOCK_BYTES] {
    let mut block = [0; BLOCK_BYTES];
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
