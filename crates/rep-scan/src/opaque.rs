//! Files that people cannot read: programs, bytecode, encrypted archives, and files that are not what they are called.

use std::io::Read;

use rep_model::Span;

use crate::behaviour::SignalKind;
use crate::scanner::{Place, Scanner, UnreadKind};

const PROGRAMS: [(&[u8], &str); 8] = [
    (b"\x7fELF", "a program of Linux"),
    (b"MZ", "a program of Windows"),
    (b"\xcf\xfa\xed\xfe", "a program of macOS"),
    (b"\xce\xfa\xed\xfe", "a program of macOS"),
    (b"\xca\xfe\xba\xbe", "a program of macOS or Java"),
    (b"\x00asm", "a WebAssembly program"),
    (b"L\x00\x00\x00\x01\x14\x02\x00", "a shortcut of Windows"),
    (b"dex\n", "a program of Android"),
];

const IMAGES: [(&str, &[u8]); 5] =
    [("png", b"\x89PNG"), ("jpg", b"\xff\xd8\xff"), ("jpeg", b"\xff\xd8\xff"), ("gif", b"GIF8"), ("woff2", b"wOF2")];

/// Judges a file by its first bytes. Returns whether there is nothing more to read in it.
pub(crate) fn judge_bytes(scanner: &mut Scanner<'_>, path: &str, bytes: &[u8], place: &Place) -> bool {
    let lower = path.to_ascii_lowercase();
    let name = lower.rsplit('/').next().unwrap_or(&lower);
    let extension = name.rsplit_once('.').map_or("", |(_, end)| end);
    if name.matches('.').count() >= 2 && matches!(extension, "lnk" | "exe" | "scr" | "pif") {
        scanner.signal(SignalKind::OpaqueFile, format!("`{path}` pretends to be a document"), place, Span::default());
        return true;
    }
    if matches!(extension, "pyc" | "pyo") {
        scanner.signal(SignalKind::OpaqueFile, format!("`{path}` is Python bytecode"), place, Span::default());
        return true;
    }
    if let Some((_, what)) = PROGRAMS
        .iter()
        .find(|(magic, _)| bytes.starts_with(magic) && (*magic != b"MZ" || bytes.len() > 64 && bytes.contains(&0)))
    {
        scanner.signal(SignalKind::OpaqueFile, format!("`{path}` is {what}"), place, Span::default());
        return true;
    }
    if bytes.windows(28).take(128).any(|window| window == b"EICAR-STANDARD-ANTIVIRUS-TES") {
        scanner.signal(
            SignalKind::OpaqueFile,
            format!("`{path}` is the test file of virus scanners"),
            place,
            Span::default(),
        );
        return true;
    }
    if let Some((_, magic)) = IMAGES.iter().find(|(end, _)| *end == extension) {
        judge_image(scanner, path, bytes, magic, place);
        return true;
    }
    let what = if bytes.starts_with(b"%PDF-") || extension == "pdf" {
        Some("a PDF document")
    } else if bytes.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") {
        Some("a document of an old Office program")
    } else {
        CLOSED_ARCHIVES.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, what)| *what)
    };
    if let Some(what) = what {
        scanner.signal(
            SignalKind::NotLookedAt,
            format!("`{path}` is {what}, which is not opened"),
            place,
            Span::default(),
        );
        return true;
    }
    let is_random = matches!(extension, "bin" | "dat" | "enc")
        && bytes.len() > 64
        && bytes.iter().take(4096).filter(|byte| !byte.is_ascii()).count() * 3 > bytes.len().min(4096)
        && !is_media(&bytes[..bytes.len().min(4096)])
        && find_archive(bytes).is_none();
    if is_random {
        scanner.signal(SignalKind::OpaqueFile, format!("`{path}` is data that cannot be read"), place, Span::default());
        return true;
    }
    false
}

/// Judges a file that is called like an image.
fn judge_image(scanner: &mut Scanner<'_>, path: &str, bytes: &[u8], magic: &[u8], place: &Place) {
    let is_right = bytes.starts_with(magic) || bytes.is_empty();
    let is_other_image = bytes.starts_with(b"RIFF")
        || IMAGES.iter().any(|(_, magic)| bytes.starts_with(magic))
        || bytes.starts_with(b"<svg")
        || bytes.starts_with(b"<?xml");
    let is_pointer = bytes.starts_with(b"version https://git-lfs");
    let is_text_image = bytes.starts_with(b"<") || is_pointer || bytes.is_empty();
    let is_image = is_text_image || is_media(&bytes[..bytes.len().min(4096)]);
    if !is_right && !is_other_image && !is_pointer || !is_image {
        scanner.signal(SignalKind::OpaqueFile, format!("`{path}` is not what its ending says"), place, Span::default());
    } else if !bytes.is_empty() {
        scanner.count_unread(UnreadKind::Media, path);
    }
}

/// Endings of images, sound, video and fonts, sorted.
const MEDIA_ENDINGS: [&str; 37] = [
    "aac", "avi", "avif", "bmp", "eot", "flac", "gif", "heic", "icns", "ico", "jpeg", "jpg", "m4a", "m4v", "mkv",
    "mov", "mp3", "mp4", "mpeg", "mpg", "oga", "ogg", "ogv", "opus", "otf", "png", "psd", "tif", "tiff", "ttc", "ttf",
    "wav", "webm", "webp", "wmv", "woff", "woff2",
];

/// The first bytes of images, sound, video and fonts.
const MEDIA: [&[u8]; 27] = [
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"RIFF",
    b"BM",
    b"\x00\x00\x01\x00",
    b"icns",
    b"II*\x00",
    b"MM\x00*",
    b"8BPS",
    b"wOFF",
    b"wOF2",
    b"\x00\x01\x00\x00",
    b"OTTO",
    b"ttcf",
    b"true",
    b"ID3",
    b"\xff\xfb",
    b"\xff\xf3",
    b"\xff\xf2",
    b"\xff\xf1",
    b"OggS",
    b"fLaC",
    b"\x1a\x45\xdf\xa3",
    b"\x00\x00\x01\xba",
    b"\x00\x00\x01\xb3",
    b"\x30\x26\xb2\x75",
];

/// Archives that are not opened.
const CLOSED_ARCHIVES: [(&[u8], &str); 10] = [
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (b"\x04\x22\x4d\x18", "an LZ4 archive"),
    (b"MSCF\x00\x00\x00\x00", "a cabinet archive"),
    (b"!<arch>\n", "an archive of a linker or of Debian"),
    (b"\x1f\x9d", "a compress archive"),
    (b"xar!", "an installer of macOS"),
];

/// Returns whether a file is called like an image, sound, video or font.
pub fn has_media_name(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map_or(String::new(), |(_, ending)| ending.to_ascii_lowercase());
    MEDIA_ENDINGS.binary_search(&ending.as_str()).is_ok()
}

/// Returns whether the first bytes of a file are those of an image, sound, video or font. A text is none of them, because
/// an interpreter can read it whatever it starts with.
pub fn is_media(head: &[u8]) -> bool {
    let has_mark = MEDIA.iter().any(|magic| head.starts_with(magic)) || head.get(4..8) == Some(b"ftyp");
    has_mark && is_binary(head)
}

/// Whether bytes are not text: they have a NUL, or too many of them are control characters or not UTF-8.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    if bytes.contains(&0) {
        return decode_utf16(bytes).is_none();
    }
    let head = &bytes[..bytes.len().min(4096)];
    let broken: usize = head.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    let is_control = |byte: &&u8| byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b);
    (broken + head.iter().filter(is_control).count()) * 10 > head.len()
}

/// Decodes a text in UTF-16, with a byte order mark or with letters of ASCII.
pub(crate) fn decode_utf16(bytes: &[u8]) -> Option<String> {
    let head = &bytes[..bytes.len().min(512) & !1];
    let zeros = |from: usize| head.iter().skip(from).step_by(2).filter(|byte| **byte == 0).count();
    // Most letters of a script are ASCII, so that one byte of each pair is zero.
    let is_mostly =
        |count: usize, other: usize| head.len() >= 8 && count * 8 >= head.len() * 3 && other * 20 < head.len();
    let is_little = match bytes {
        [0xff, 0xfe, ..] => true,
        [0xfe, 0xff, ..] => false,
        _ if is_mostly(zeros(1), zeros(0)) => true,
        _ if is_mostly(zeros(0), zeros(1)) => false,
        _ => return None,
    };
    let units: Vec<u16> =
        bytes
            .chunks_exact(2)
            .map(|pair| {
                if is_little { u16::from_le_bytes([pair[0], pair[1]]) } else { u16::from_be_bytes([pair[0], pair[1]]) }
            })
            .collect();
    let text = String::from_utf16_lossy(&units);
    let is_text = text.chars().take(512).filter(|letter| *letter == '\u{fffd}' || *letter == '\0').count() < 4;
    is_text.then(|| text.trim_start_matches('\u{feff}').to_owned())
}

/// The archive that bytes are: a zip, gzip or tar archive, or a zip archive behind the line that starts it.
pub(crate) fn find_archive(bytes: &[u8]) -> Option<&[u8]> {
    let is_archive = bytes.starts_with(b"PK\x03\x04")
        || bytes.starts_with(b"PK\x05\x06")
        || bytes.starts_with(b"\x1f\x8b")
        || bytes.get(257..262) == Some(b"ustar");
    if is_archive {
        return Some(bytes);
    }
    let head = &bytes[..bytes.len().min(512)];
    let at = head.windows(4).position(|window| window == b"PK\x03\x04").filter(|_| bytes.starts_with(b"#!"))?;
    Some(&bytes[at..])
}

/// Decompresses a single file.
pub(crate) fn gunzip(bytes: &[u8], bytes_max: u64) -> Option<Vec<u8>> {
    if !bytes.starts_with(b"\x1f\x8b") {
        return None;
    }
    let mut unpacked = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes).take(bytes_max + 1).read_to_end(&mut unpacked).ok()?;
    (unpacked.len() as u64 <= bytes_max).then_some(unpacked)
}

/// Whether the first entry of a zip archive is encrypted.
pub(crate) fn is_encrypted_zip(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04") && bytes.get(6).is_some_and(|flags| flags & 1 == 1)
}
