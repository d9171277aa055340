use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::super::{ArchiveEntry, ENTRIES_MAX, open};
use super::*;

/// A header with a right checksum, after a change.
fn header(name: &str, kind: u8, size: usize, change: impl Fn(&mut [u8; BLOCK])) -> Vec<u8> {
    let mut header = block(name.as_bytes(), 0o644, size, kind);
    change(&mut header);
    header[148..156].copy_from_slice(b"        ");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header.to_vec()
}

/// An entry: its header, its bytes, and the padding behind them.
fn entry(name: &str, kind: u8, content: &[u8]) -> Vec<u8> {
    let mut entry = header(name, kind, content.len(), |_| ());
    padded(&mut entry, content).unwrap();
    entry
}

fn compressed(tar: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    out.write_all(tar).unwrap();
    out.finish().unwrap()
}

/// A whole archive of entries.
fn archive(entries: &[Vec<u8>]) -> Vec<u8> {
    compressed(&[entries.concat(), vec![0; 2 * BLOCK]].concat())
}

fn reason(bytes: &[u8]) -> String {
    open(bytes).unwrap_err().to_string()
}

fn files(bytes: &[u8]) -> Vec<ArchiveEntry> {
    open(bytes).unwrap_or_else(|error| panic!("{error}")).0
}

fn paths(bytes: &[u8]) -> Vec<String> {
    files(bytes).into_iter().map(|file| file.path).collect()
}

/// Bytes that no compression makes smaller.
fn noise(count: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state.to_be_bytes()[0]
    };
    (0..count).map(|_| next()).collect()
}

#[test]
fn folders_are_taken_in_every_form_and_are_no_files() {
    let skill = || entry("SKILL.md", b'0', b"x");
    for folder in [entry("a/", b'5', b""), entry("a", b'5', b""), entry("a/", 0, b""), entry("./", b'5', b"")] {
        assert_eq!(paths(&archive(&[folder.clone(), skill(), entry("a/b", b'0', b"")])), ["SKILL.md", "a/b"]);
        let again = [folder.clone(), folder, skill()];
        assert_eq!(paths(&archive(&again)), ["SKILL.md"], "a folder may be there twice");
    }
    let bytes = archive(&[skill(), entry("a", b'0', b""), entry("a/", b'5', b"")]);
    assert!(reason(&bytes).contains("two of that name"));
    let bytes = archive(&[skill(), entry("a/", b'0', b"")]);
    assert!(reason(&bytes).contains("name of a folder"));
}

#[test]
fn a_long_name_is_read_in_each_of_its_three_forms() {
    let long = format!("{}/x.md", ["b".repeat(50), "c".repeat(60)].join("/"));
    let attributes =
        [attribute("comment", "of no interest"), attribute("path", &long), attribute("mtime", "1.5")].concat();
    let (folder, name) = long.rsplit_once('/').unwrap();
    let prefixed = header(name, b'0', 0, |header| header[345..345 + folder.len()].copy_from_slice(folder.as_bytes()));
    // Only the POSIX form has a prefix; in the old GNU form other fields stand there.
    let unprefixed = header("y", b'0', 0, |header| {
        header[257..265].copy_from_slice(b"ustar  \0");
        header[345..348].copy_from_slice(b"123");
    });
    let gnu = [entry("././@LongLink", b'L', format!("{long}\0").as_bytes()), entry("short", b'0', b"")].concat();
    let posix = [entry("attributes", b'x', attributes.as_bytes()), entry("short", b'0', b"")].concat();
    for form in [gnu, posix, prefixed] {
        let bytes = archive(&[form, unprefixed.clone(), entry("SKILL.md", b'0', b"")]);
        assert_eq!(paths(&bytes), ["SKILL.md", &long, "y"], "the name is that of one entry");
    }
}

#[test]
fn attributes_are_bounded_and_must_be_whole() {
    let with = |kind: u8, text: &[u8]| {
        let entries = [entry("attributes", kind, text), entry("SKILL.md", b'0', b"")];
        open(&archive(&entries)).map(|(files, _)| files[0].path.clone()).map_err(|error| error.to_string())
    };
    for kind in [b'x', b'g'] {
        let length = usize::try_from(EXTENSION_BYTES_MAX).unwrap();
        let comment = |length: usize| {
            let text = attribute("comment", &"x".repeat(length - "65536 comment=\n".len()));
            assert_eq!(text.len(), length);
            text
        };
        assert_eq!(with(kind, comment(length).as_bytes()), Ok("SKILL.md".to_owned()), "as long as they may be");
        assert!(with(kind, comment(length + 1).as_bytes()).is_err(), "one byte longer");
        assert_eq!(with(kind, b""), Ok("SKILL.md".to_owned()));
        for damaged in ["8 a=bcd", "7 a=bcd\n", "x a=b\n", "8a=bcde\n", "9 a=bcd\n", "7 abcd\n", "0 a=b\n", "-6 a=b\n"]
        {
            assert!(with(kind, damaged.as_bytes()).is_err_and(|reason| reason.contains("damaged")), "{damaged:?}");
        }
        for line in [attribute("size", "1"), attribute("linkpath", "x")] {
            assert!(with(kind, line.as_bytes()).is_err_and(|reason| reason.contains("size or make it a link")));
        }
    }
    assert_eq!(with(b'x', attribute("path", "a.md").as_bytes()), Ok("a.md".to_owned()));
    assert!(with(b'g', attribute("path", "a.md").as_bytes()).is_err_and(|reason| reason.contains("all entries")));
}

#[test]
fn sizes_are_held_to_before_a_byte_is_read() {
    let large = entry("SKILL.md", b'0', &noise(400_000));
    let with = |size: u64| {
        let end = header("b", b'0', usize::try_from(size).unwrap(), |_| ());
        reason(&archive(&[large.clone(), end]))
    };
    assert!(with(64 << 20).contains("breaks off"), "{}", with(64 << 20));
    assert!(with((64 << 20) + 1).contains("larger than 64 MiB"), "{}", with((64 << 20) + 1));
    // Of all entries together, and of what came out of others before.
    let bytes = archive(&[entry("SKILL.md", b'0', b"12345")]);
    let read_behind = |total: u64| read(&bytes, &mut Unpacked { total, ..Unpacked::default() });
    assert_eq!(read_behind(RATIO_FLOOR - 5), Ok(()));
    assert!(read_behind(RATIO_FLOOR - 4).unwrap_err().to_string().contains("200 times"));
}

#[test]
fn as_many_entries_as_may_be_are_taken() {
    let headers: Vec<Vec<u8>> = (0..ENTRIES_MAX).map(|number| header(&format!("{number}"), b'0', 0, |_| ())).collect();
    assert_eq!(files(&archive(&headers)).len(), ENTRIES_MAX);
}

#[test]
fn a_header_that_is_damaged_or_odd_is_refused() {
    let skill = entry("SKILL.md", b'0', b"x");
    let mut damaged = skill.clone();
    damaged[0] = b's';
    assert!(reason(&archive(&[damaged])).contains("header in it is damaged"));
    for cut in [1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK - 1] {
        assert!(reason(&compressed(&skill[..cut])).contains("breaks off"), "{cut} bytes");
    }
    // An end without its zeros is one.
    assert_eq!(paths(&compressed(&skill)), ["SKILL.md"]);
    let sized = |size: &[u8; 12]| {
        let header = header("SKILL.md", b'0', 0, |header| header[124..136].copy_from_slice(size));
        open(&archive(&[header])).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(sized(b"          0 "), Ok(()), "spaces are what old programs write");
    assert_eq!(sized(&[0; 12]), Ok(()));
    for odd in [b"00000000009\0", b"-0000000001\0", b"\x80\0\0\0\0\0\0\0\0\0\0\0"] {
        assert!(sized(odd).is_err_and(|reason| reason.contains("size cannot be read")), "{odd:?}");
    }
    for (kind, word) in [(b'1', "link"), (b'2', "link"), (b'3', "device"), (b'6', "pipe"), (b'S', "not known (83)")] {
        assert!(reason(&archive(&[skill.clone(), entry("b", kind, b"")])).contains(word));
    }
}

#[test]
fn modes_are_read_and_a_damaged_one_is_harmless() {
    let with = |mode: &[u8; 8]| {
        let header = header("SKILL.md", b'0', 0, |header| header[100..108].copy_from_slice(mode));
        files(&archive(&[header]))[0].is_executable
    };
    assert!(with(b"0000755\0") && with(b"0000100\0") && with(b"    711 "));
    assert!(!with(b"0000644\0") && !with(b"0000666\0") && !with(b"abcdefg\0"));
}

#[test]
fn nothing_stands_behind_the_end_that_other_programs_could_read() {
    let skill = entry("SKILL.md", b'0', b"x");
    let end = vec![0; 2 * BLOCK];
    let padding = usize::try_from(PADDING_BYTES_MAX).unwrap() - BLOCK;
    for behind in [0, BLOCK, padding] {
        let tar = [skill.clone(), end.clone(), vec![0; behind]].concat();
        assert_eq!(paths(&compressed(&tar)), ["SKILL.md"], "{behind} zeros more");
    }
    let hidden = entry("evil", b'0', b"x");
    for behind in [hidden.clone(), vec![0; padding + 1], [end.clone(), hidden.clone()].concat()] {
        let tar = [skill.clone(), end.clone(), behind].concat();
        assert!(reason(&compressed(&tar)).contains("follows its end"));
    }
    // A second stream continues the first for every program that decompresses, and so it does here.
    let two = [compressed(&skill), compressed(&[hidden, end.clone()].concat())].concat();
    assert_eq!(paths(&two), ["SKILL.md", "evil"]);
    let whole = compressed(&[skill, end].concat());
    assert!(open(&[whole.as_slice(), b"tail"].concat()).is_err());
}

#[test]
fn no_changed_byte_changes_what_comes_out() {
    let files = [("a/SKILL.md".to_owned(), noise(300), false), ("a/b".to_owned(), b"text text text".to_vec(), true)];
    let good = write(&files).unwrap();
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
            let opened = open(&write(files).unwrap()).unwrap().0;
            assert_eq!((&opened[1].path, opened[1].is_executable), (&files[1].0, files[1].2));
        }
    }
    // A line of attributes counts its own length, also where that takes one more digit.
    for length in 1..300 {
        let line = attribute("path", &"n".repeat(length));
        assert!(line.starts_with(&format!("{} path=", line.len())), "{line}");
    }
}

#[test]
fn what_is_written_ends_as_a_tar_must() {
    let files = [("a".to_owned(), b"x".to_vec(), false), ("b".to_owned(), vec![b'x'; BLOCK], false)];
    let mut tar = Vec::new();
    MultiGzDecoder::new(write(&files).unwrap().as_slice()).read_to_end(&mut tar).unwrap();
    // Two headers, a block for each content, and two blocks of zeros.
    assert_eq!(tar.len(), 6 * BLOCK);
    assert!(tar[4 * BLOCK..].iter().all(|byte| *byte == 0));
}
