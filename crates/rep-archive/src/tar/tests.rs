use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::super::{ArchiveEntry, ENTRIES_MAX, open};
use super::*;

/// Builds a header, applies `change`, and sets the correct checksum.
fn raw_header(name: &str, kind: u8, size: usize, change: impl Fn(&mut [u8; BLOCK_BYTES])) -> Vec<u8> {
    let mut header = build_header_block(name.as_bytes(), 0o644, size, kind);
    change(&mut header);
    header[148..156].copy_from_slice(b"        ");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header.to_vec()
}

/// Builds an entry: its header, content and padding.
fn raw_entry(name: &str, kind: u8, content: &[u8]) -> Vec<u8> {
    let mut entry = raw_header(name, kind, content.len(), |_| ());
    write_padded(&mut entry, content).unwrap();
    entry
}

fn compress_tar(tar: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    out.write_all(tar).unwrap();
    out.finish().unwrap()
}

/// Builds a complete archive from entries.
fn build_archive(entries: &[Vec<u8>]) -> Vec<u8> {
    compress_tar(&[entries.concat(), vec![0; 2 * BLOCK_BYTES]].concat())
}

fn refusal_reason(bytes: &[u8]) -> String {
    open(bytes).unwrap_err().to_string()
}

fn open_files(bytes: &[u8]) -> Vec<ArchiveEntry> {
    open(bytes).unwrap_or_else(|error| panic!("{error}")).0
}

fn open_paths(bytes: &[u8]) -> Vec<String> {
    open_files(bytes).into_iter().map(|file| file.path).collect()
}

/// Returns bytes that do not compress.
fn noise_bytes(count: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state.to_be_bytes()[0]
    };
    (0..count).map(|_| next()).collect()
}

#[test]
fn folders_are_taken_in_every_form_and_are_no_files() {
    let skill = || raw_entry("SKILL.md", b'0', b"x");
    for folder in
        [raw_entry("a/", b'5', b""), raw_entry("a", b'5', b""), raw_entry("a/", 0, b""), raw_entry("./", b'5', b"")]
    {
        assert_eq!(
            open_paths(&build_archive(&[folder.clone(), skill(), raw_entry("a/b", b'0', b"")])),
            ["SKILL.md", "a/b"]
        );
        let again = [folder.clone(), folder, skill()];
        assert_eq!(open_paths(&build_archive(&again)), ["SKILL.md"], "a directory may appear twice");
    }
    let bytes = build_archive(&[skill(), raw_entry("a", b'0', b""), raw_entry("a/", b'5', b"")]);
    assert!(refusal_reason(&bytes).contains("has the same name"));
    let bytes = build_archive(&[skill(), raw_entry("a/", b'0', b"")]);
    assert!(refusal_reason(&bytes).contains("named like a directory"));
}

#[test]
fn a_long_name_is_read_in_each_of_its_three_forms() {
    let long = format!("{}/x.md", ["b".repeat(50), "c".repeat(60)].join("/"));
    let attributes = [
        format_attribute("comment", "of no interest"),
        format_attribute("path", &long),
        format_attribute("mtime", "1.5"),
    ]
    .concat();
    let (folder, name) = long.rsplit_once('/').unwrap();
    let prefixed =
        raw_header(name, b'0', 0, |header| header[345..345 + folder.len()].copy_from_slice(folder.as_bytes()));
    // Only POSIX headers have a prefix. Old GNU headers use these bytes for other fields.
    let unprefixed = raw_header("y", b'0', 0, |header| {
        header[257..265].copy_from_slice(b"ustar  \0");
        header[345..348].copy_from_slice(b"123");
    });
    let gnu =
        [raw_entry("././@LongLink", b'L', format!("{long}\0").as_bytes()), raw_entry("short", b'0', b"")].concat();
    let posix = [raw_entry("attributes", b'x', attributes.as_bytes()), raw_entry("short", b'0', b"")].concat();
    for form in [gnu, posix, prefixed] {
        let bytes = build_archive(&[form, unprefixed.clone(), raw_entry("SKILL.md", b'0', b"")]);
        assert_eq!(open_paths(&bytes), ["SKILL.md", &long, "y"], "the name applies to one entry");
    }
}

#[test]
fn attributes_are_bounded_and_must_be_whole() {
    let with = |kind: u8, text: &[u8]| {
        let entries = [raw_entry("attributes", kind, text), raw_entry("SKILL.md", b'0', b"")];
        open(&build_archive(&entries)).map(|(files, _)| files[0].path.clone()).map_err(|error| error.to_string())
    };
    for kind in [b'x', b'g'] {
        let length = usize::try_from(EXTENSION_BYTES_MAX).unwrap();
        let comment = |length: usize| {
            let text = format_attribute("comment", &"x".repeat(length - "65536 comment=\n".len()));
            assert_eq!(text.len(), length);
            text
        };
        assert_eq!(with(kind, comment(length).as_bytes()), Ok("SKILL.md".to_owned()), "at the length limit");
        assert!(with(kind, comment(length + 1).as_bytes()).is_err(), "one byte longer");
        assert_eq!(with(kind, b""), Ok("SKILL.md".to_owned()));
        for damaged in ["8 a=bcd", "7 a=bcd\n", "x a=b\n", "8a=bcde\n", "9 a=bcd\n", "7 abcd\n", "0 a=b\n", "-6 a=b\n"]
        {
            assert!(with(kind, damaged.as_bytes()).is_err_and(|reason| reason.contains("damaged")), "{damaged:?}");
        }
        for line in [format_attribute("size", "1"), format_attribute("linkpath", "x")] {
            assert!(with(kind, line.as_bytes()).is_err_and(|reason| reason.contains("size or make it a link")));
        }
    }
    assert_eq!(with(b'x', format_attribute("path", "a.md").as_bytes()), Ok("a.md".to_owned()));
    assert!(
        with(b'g', format_attribute("path", "a.md").as_bytes()).is_err_and(|reason| reason.contains("of all entries"))
    );
}

#[test]
fn sizes_are_held_to_before_a_byte_is_read() {
    let large = raw_entry("SKILL.md", b'0', &noise_bytes(400_000));
    let with = |size: u64| {
        let end = raw_header("b", b'0', usize::try_from(size).unwrap(), |_| ());
        refusal_reason(&build_archive(&[large.clone(), end]))
    };
    assert!(with(64 << 20).contains("truncated"), "{}", with(64 << 20));
    assert!(with((64 << 20) + 1).contains("larger than 64 MiB"), "{}", with((64 << 20) + 1));
    // The limit applies to the total of all entries.
    let bytes = build_archive(&[raw_entry("SKILL.md", b'0', b"12345")]);
    let read_behind =
        |total: u64| read_tar_gz(&bytes, &mut EntryCollector { total_bytes: total, ..EntryCollector::default() });
    assert_eq!(read_behind(RATIO_FLOOR_BYTES - 5), Ok(()));
    assert!(read_behind(RATIO_FLOOR_BYTES - 4).unwrap_err().to_string().contains("200 times"));
}

#[test]
fn as_many_entries_as_may_be_are_taken() {
    let headers: Vec<Vec<u8>> =
        (0..ENTRIES_MAX).map(|number| raw_header(&format!("{number}"), b'0', 0, |_| ())).collect();
    assert_eq!(open_files(&build_archive(&headers)).len(), ENTRIES_MAX);
}

#[test]
fn a_header_that_is_damaged_or_odd_is_refused() {
    let skill = raw_entry("SKILL.md", b'0', b"x");
    let mut damaged = skill.clone();
    damaged[0] = b's';
    assert!(refusal_reason(&build_archive(&[damaged])).contains("a header is damaged"));
    for cut in [1, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 2 * BLOCK_BYTES - 1] {
        assert!(refusal_reason(&compress_tar(&skill[..cut])).contains("truncated"), "{cut} bytes");
    }
    // An archive may end without blocks of zeros.
    assert_eq!(open_paths(&compress_tar(&skill)), ["SKILL.md"]);
    let sized = |size: &[u8; 12]| {
        let header = raw_header("SKILL.md", b'0', 0, |header| header[124..136].copy_from_slice(size));
        open(&build_archive(&[header])).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(sized(b"          0 "), Ok(()), "old programs write spaces");
    assert_eq!(sized(&[0; 12]), Ok(()));
    for odd in [b"00000000009\0", b"-0000000001\0", b"\x80\0\0\0\0\0\0\0\0\0\0\0"] {
        assert!(sized(odd).is_err_and(|reason| reason.contains("size cannot be read")), "{odd:?}");
    }
    for (kind, word) in [(b'1', "link"), (b'2', "link"), (b'3', "device"), (b'6', "pipe"), (b'S', "unknown (83)")] {
        assert!(refusal_reason(&build_archive(&[skill.clone(), raw_entry("b", kind, b"")])).contains(word));
    }
}

#[test]
fn modes_are_read_and_a_damaged_one_is_harmless() {
    let with = |mode: &[u8; 8]| {
        let header = raw_header("SKILL.md", b'0', 0, |header| header[100..108].copy_from_slice(mode));
        open_files(&build_archive(&[header]))[0].is_executable
    };
    assert!(with(b"0000755\0") && with(b"0000100\0") && with(b"    711 "));
    assert!(!with(b"0000644\0") && !with(b"0000666\0") && !with(b"abcdefg\0"));
}

#[test]
fn nothing_stands_behind_the_end_that_other_programs_could_read() {
    let skill = raw_entry("SKILL.md", b'0', b"x");
    let end = vec![0; 2 * BLOCK_BYTES];
    let padding = usize::try_from(PADDING_BYTES_MAX).unwrap() - BLOCK_BYTES;
    for behind in [0, BLOCK_BYTES, padding] {
        let tar = [skill.clone(), end.clone(), vec![0; behind]].concat();
        assert_eq!(open_paths(&compress_tar(&tar)), ["SKILL.md"], "{behind} zeros more");
    }
    let hidden = raw_entry("evil", b'0', b"x");
    for behind in [hidden.clone(), vec![0; padding + 1], [end.clone(), hidden.clone()].concat()] {
        let tar = [skill.clone(), end.clone(), behind].concat();
        assert!(refusal_reason(&compress_tar(&tar)).contains("follows its end"));
    }
    // Decompressors treat a second stream as a continuation of the first.
    let two = [compress_tar(&skill), compress_tar(&[hidden, end.clone()].concat())].concat();
    assert_eq!(open_paths(&two), ["SKILL.md", "evil"]);
    let whole = compress_tar(&[skill, end].concat());
    assert!(open(&[whole.as_slice(), b"tail"].concat()).is_err());
}

#[test]
fn no_changed_byte_changes_what_comes_out() {
    let files =
        [("a/SKILL.md".to_owned(), noise_bytes(300), false), ("a/b".to_owned(), b"text text text".to_vec(), true)];
    let good = write_tar_gz(&files).unwrap();
    let expected = open(&good);
    for at in 0..good.len() {
        for bits in [1, 0x80, 0xff] {
            let mut changed = good.clone();
            changed[at] ^= bits;
            let opened = open(&changed);
            assert!(opened.is_err() || opened == expected, "byte {at}");
        }
        assert!(open(&good[..at]).is_err(), "{at} bytes");
    }
}

#[test]
fn a_name_of_every_length_comes_out_as_it_went_in() {
    for length in [1, 99, 100, 101, 155, 156, 254, 255] {
        let files = [("SKILL.md".to_owned(), Vec::new(), false), ("é".repeat(length / 2), b"x".to_vec(), false)];
        let long = [("SKILL.md".to_owned(), Vec::new(), false), ("n".repeat(length), b"x".to_vec(), true)];
        for files in [files, long].iter().filter(|files| !files[1].0.is_empty()) {
            let opened = open(&write_tar_gz(files).unwrap()).unwrap().0;
            assert_eq!((&opened[1].path, opened[1].is_executable), (&files[1].0, files[1].2));
        }
    }
    // The length of an attribute line includes its own digits, even when that adds a digit.
    for length in 1..300 {
        let line = format_attribute("path", &"n".repeat(length));
        assert!(line.starts_with(&format!("{} path=", line.len())), "{line}");
    }
}

#[test]
fn what_is_written_ends_as_a_tar_must() {
    let files = [("a".to_owned(), b"x".to_vec(), false), ("b".to_owned(), vec![b'x'; BLOCK_BYTES], false)];
    let mut tar = Vec::new();
    MultiGzDecoder::new(write_tar_gz(&files).unwrap().as_slice()).read_to_end(&mut tar).unwrap();
    // Two headers, a block for each content, and two blocks of zeros.
    assert_eq!(tar.len(), 6 * BLOCK_BYTES);
    assert!(tar[4 * BLOCK_BYTES..].iter().all(|byte| *byte == 0));
}
