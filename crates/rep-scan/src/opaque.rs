//! Files that people cannot read: programs, bytecode, encrypted archives, and files that are not what they are called.

use rep_model::Span;

use crate::behaviour::SignalKind;
use crate::scanner::{Place, Scanner};

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

const IMAGES: [(&str, &[u8]); 6] = [
    ("png", b"\x89PNG"),
    ("jpg", b"\xff\xd8\xff"),
    ("jpeg", b"\xff\xd8\xff"),
    ("gif", b"GIF8"),
    ("pdf", b"%PDF"),
    ("woff2", b"wOF2"),
];

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
        let start = bytes.iter().take(64).skip_while(|byte| byte.is_ascii_whitespace()).count().min(bytes.len());
        let _ = start;
        let is_right = bytes.starts_with(magic)
            || bytes.is_empty()
            || extension == "pdf" && bytes.windows(4).take(1024).any(|window| window == *magic);
        let is_other_image = bytes.starts_with(b"RIFF")
            || IMAGES.iter().any(|(_, magic)| bytes.starts_with(magic))
            || bytes.starts_with(b"<svg")
            || bytes.starts_with(b"<?xml");
        let is_pointer = bytes.starts_with(b"version https://git-lfs");
        if !is_right && !is_other_image && !is_pointer {
            scanner.signal(
                SignalKind::OpaqueFile,
                format!("`{path}` is not what its ending says"),
                place,
                Span::default(),
            );
        }
        return is_right || is_other_image || is_pointer;
    }
    let is_random = matches!(extension, "bin" | "dat" | "enc")
        && bytes.len() > 64
        && bytes.iter().take(4096).filter(|byte| !byte.is_ascii()).count() * 3 > bytes.len().min(4096);
    if is_random {
        scanner.signal(SignalKind::OpaqueFile, format!("`{path}` is data that cannot be read"), place, Span::default());
        return true;
    }
    false
}

/// Whether bytes are a zip or a gzip archive.
pub(crate) fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"\x1f\x8b")
}

/// Whether the first entry of a zip archive is encrypted.
pub(crate) fn is_encrypted_zip(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04") && bytes.get(6).is_some_and(|flags| flags & 1 == 1)
}
