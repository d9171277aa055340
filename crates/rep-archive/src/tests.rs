use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

use super::*;

type PackedFile = (String, Vec<u8>, bool);

fn packed_file(path: &str, text: &str) -> PackedFile {
    (path.to_owned(), text.as_bytes().to_vec(), false)
}

fn open_paths(bytes: &[u8]) -> Vec<String> {
    open(bytes).unwrap().0.into_iter().map(|file| file.path).collect()
}

fn refusal_reason(bytes: &[u8]) -> String {
    open(bytes).unwrap_err().to_string()
}

/// Builds a tar from raw headers: name, type, declared size, content.
fn build_raw_tar(entries: &[(&str, u8, usize, &[u8])]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    for (name, kind, size, content) in entries {
        let mut block = [0_u8; 512];
        block[..name.len()].copy_from_slice(name.as_bytes());
        block[100..108].copy_from_slice(b"0000644\0");
        block[124..136].copy_from_slice(format!("{size:011o}\0").as_bytes());
        block[156] = *kind;
        block[257..265].copy_from_slice(b"ustar\x0000");
        block[148..156].copy_from_slice(b"        ");
        let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
        block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        out.write_all(&block).unwrap();
        out.write_all(content).unwrap();
        out.write_all(&vec![0; (512 - content.len() % 512) % 512]).unwrap();
    }
    out.write_all(&[0; 1024]).unwrap();
    out.finish().unwrap()
}

fn write_both_formats(files: &[PackedFile]) -> [Vec<u8>; 2] {
    [write_zip(files).unwrap(), write_tar_gz(files).unwrap()]
}

#[test]
fn what_is_packed_comes_out_and_the_bytes_are_the_same_twice() {
    let long = format!("pdf/{}/x.md", "a".repeat(120));
    let files = [
        ("pdf/SKILL.md".to_owned(), b"hello".to_vec(), false),
        (long.clone(), vec![7; 100_000], false),
        ("pdf/scripts/x.sh".to_owned(), b"#!/bin/sh\n".to_vec(), true),
    ];
    for bytes in write_both_formats(&files) {
        let (out, top) = open(&bytes).unwrap();
        assert_eq!(top.as_deref(), Some("pdf"));
        let names: Vec<(&str, bool)> = out.iter().map(|file| (file.path.as_str(), file.is_executable)).collect();
        assert_eq!(names, [("SKILL.md", false), (&long[4..], false), ("scripts/x.sh", true)]);
        assert_eq!(out[0].bytes, b"hello");
    }
    assert_eq!(write_both_formats(&files), write_both_formats(&files));
}

#[test]
fn one_top_folder_is_taken_off_and_no_other() {
    assert_eq!(
        open_paths(&write_both_formats(&[packed_file("./a/SKILL.md", ""), packed_file("a/b/c", "")])[0]),
        ["SKILL.md", "b/c"]
    );
    assert_eq!(
        open_paths(&write_both_formats(&[packed_file("SKILL.md", ""), packed_file("b/c", "")])[1]),
        ["SKILL.md", "b/c"]
    );
    assert_eq!(
        open_paths(&write_both_formats(&[packed_file("a/SKILL.md", ""), packed_file("b/SKILL.md", "")])[0]),
        ["a/SKILL.md", "b/SKILL.md"]
    );
    assert_eq!(
        open_paths(&write_both_formats(&[packed_file("a/SKILL.md", ""), packed_file("__MACOSX/a/._SKILL.md", "")])[0]),
        ["SKILL.md"]
    );
}

#[test]
fn names_that_lead_out_or_mean_two_things_are_refused() {
    for name in [
        "../x",
        "/etc/x",
        "a/../../x",
        "a//b",
        "a/./b",
        "a\\b",
        "C:/x",
        "~/x",
        "a\nb",
        "a\u{202e}b",
        "a/..",
        "a./b",
        " a",
        "a\0b",
    ] {
        for bytes in write_both_formats(&[packed_file("SKILL.md", ""), packed_file(name, "x")]) {
            // Tar names end at the first zero byte, so the rest is ignored.
            if name.contains('\0') && bytes[0] == 0x1f {
                continue;
            }
            assert!(matches!(open(&bytes), Err(ArchiveError::Refused { .. })), "{name:?}");
        }
    }
    // Stripping `./` must not hide an absolute path.
    for name in ["./~/x", "././C:/x", ".//x"] {
        for bytes in write_both_formats(&[packed_file("SKILL.md", ""), packed_file(name, "x")]) {
            assert!(matches!(open(&bytes), Err(ArchiveError::Refused { .. })), "{name:?}");
        }
    }
    for name in ["top/~/x", "top/C:/x"] {
        for bytes in write_both_formats(&[packed_file("top/SKILL.md", ""), packed_file(name, "x")]) {
            assert!(refusal_reason(&bytes).contains("absolute"), "{name:?}: {}", refusal_reason(&bytes));
        }
        for bytes in write_both_formats(&[packed_file("SKILL.md", ""), packed_file(name, "x")]) {
            assert_eq!(open_paths(&bytes), ["SKILL.md", name], "the directory is not removed");
        }
    }
    for pair in [["a", "a"], ["a", "A"], ["a", "a/b"], ["a/b", "A"], ["ä", "Ä"]] {
        for bytes in write_both_formats(&[packed_file(pair[0], "x"), packed_file(pair[1], "y")]) {
            assert!(matches!(open(&bytes), Err(ArchiveError::Refused { .. })), "{pair:?}");
        }
    }
    for name in ["../x", "a/../x", "a/.."] {
        assert!(
            refusal_reason(&write_both_formats(&[packed_file("SKILL.md", ""), packed_file(name, "x")])[0])
                .contains("contains `..`"),
            "{name}"
        );
    }
    // Each limit, and one beyond it.
    for (name, expected) in [
        (vec!["a"; 32].join("/"), None),
        (vec!["a"; 33].join("/"), Some("too deep")),
        ("a".repeat(255), None),
        ("a".repeat(256), Some("too long")),
        (vec!["a".repeat(204); 5].join("/"), None),
        (format!("{}a", vec!["a".repeat(204); 5].join("/")), Some("too long")),
    ] {
        for bytes in write_both_formats(&[packed_file("SKILL.md", ""), packed_file(&name, "")]) {
            match expected {
                None => assert_eq!(open_paths(&bytes), ["SKILL.md", &name]),
                Some(word) => assert!(refusal_reason(&bytes).contains(word), "{}", refusal_reason(&bytes)),
            }
        }
    }
}

#[test]
fn links_devices_and_unknown_kinds_are_refused() {
    for (kind, word) in [(b'1', "link"), (b'2', "link"), (b'3', "device"), (b'6', "pipe"), (b'S', "unknown")] {
        let bytes = build_raw_tar(&[("SKILL.md", b'0', 1, b"x"), ("evil", kind, 0, b"")]);
        assert!(refusal_reason(&bytes).contains(word), "{}", refusal_reason(&bytes));
    }
    // Some programs skip the content of a directory, and others read it as the next header.
    for kind in [0, b'5'] {
        let bytes = build_raw_tar(&[("SKILL.md", b'0', 0, b""), ("a/", kind, 512, &[0; 512]), ("b", b'0', 0, b"")]);
        assert!(refusal_reason(&bytes).contains("directory with content"), "{}", refusal_reason(&bytes));
    }
    // Other programs would use a size or link target from the attributes.
    for line in ["14 size=9999\n", "17 linkpath=/etc\n"] {
        let length = line.len();
        let bytes = build_raw_tar(&[("x", b'x', length, line.as_bytes()), ("a", b'0', 0, b"")]);
        assert!(matches!(open(&bytes), Err(ArchiveError::Refused { .. })), "{line}");
    }
    // The mode of the zip entry marks it as a link.
    let mut bytes = write_zip(&[packed_file("SKILL.md", "x"), packed_file("evil", "/etc/passwd")]).unwrap();
    let at = bytes.windows(4).rposition(|four| four == [0x50, 0x4b, 1, 2]).unwrap();
    bytes[at + 40..at + 42].copy_from_slice(&0o120_777_u16.to_le_bytes());
    assert!(refusal_reason(&bytes).contains("link"));
}

#[test]
fn an_archive_is_known_by_its_ending() {
    for name in ["a.skill", "a.zip", "a.ZIP", "a.tar.gz", "a.b.tgz"] {
        assert!(is_archive_name(name), "{name}");
    }
    for name in ["a.tar", "a.gz", "zip", "a.zip.md", "askill", ""] {
        assert!(!is_archive_name(name), "{name}");
    }
}

#[test]
fn bombs_are_stopped_while_they_are_read() {
    let zeros = vec![0; 8 << 20];
    for bytes in write_both_formats(&[("a/SKILL.md".to_owned(), zeros, false)]) {
        assert!(bytes.len() < 64 << 10);
        assert!(refusal_reason(&bytes).contains("times its size"), "{}", refusal_reason(&bytes));
    }
    // A declared size without content allocates nothing.
    assert!(open(&build_raw_tar(&[("a", b'0', 60 << 20, b"x")])).is_err());
    let many: Vec<PackedFile> = (0..20_001).map(|number| packed_file(&format!("f{number}"), "")).collect();
    for bytes in write_both_formats(&many) {
        assert!(refusal_reason(&bytes).contains("20000 entries"), "{}", refusal_reason(&bytes));
    }
}

#[test]
fn a_zip_that_disagrees_with_itself_is_refused() {
    let good = write_zip(&[packed_file("SKILL.md", "hello"), packed_file("x", "there")]).unwrap();
    assert!(open(&good).is_ok());
    let central = good.windows(4).position(|four| four == [0x50, 0x4b, 1, 2]).unwrap();
    let change = |at: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[at] = value;
        refusal_reason(&bytes)
    };
    assert!(change(central + 8, 1).contains("encrypted"));
    assert!(change(30, b'T').contains("does not match"));
    assert!(change(central + 16, 0).contains("damaged"));
    assert!(change(central + 10, 99).contains("does not match"));
    // Two entries that share the same bytes.
    let mut twice = good.clone();
    let second = central + 46 + "SKILL.md".len();
    let first: Vec<u8> = twice[central + 42..central + 46].to_vec();
    twice[second + 42..second + 46].copy_from_slice(&first);
    assert!(open(&twice).is_err());
    // Data before, after or between entries that only some programs see.
    assert!(open(&[b"PK", good.as_slice()].concat()).is_err());
    assert!(open(&[good.as_slice(), b"tail"].concat()).is_err());
    assert!(open(b"not an archive").is_err() && open(b"").is_err() && open(b"PK").is_err());
}

/// Returns whether the unpacked entries are safe.
fn is_sound(files: &[ArchiveEntry]) -> bool {
    files.iter().all(|file| {
        !file.path.is_empty()
            && !file.path.starts_with('/')
            && !file.path.contains('\\')
            && file.path.split('/').all(|part| !matches!(part, "" | "." | ".."))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_bytes_end_and_stay_inside(mut bytes in proptest::collection::vec(any::<u8>(), 0..600), magic in 0..3) {
        if bytes.len() > 4 {
            match magic {
                0 => bytes[..4].copy_from_slice(&[0x50, 0x4b, 3, 4]),
                1 => bytes[..4].copy_from_slice(&[0x1f, 0x8b, 8, 0]),
                _ => {}
            }
        }
        if let Ok((files, _)) = open(&bytes) {
            prop_assert!(is_sound(&files));
        }
    }

    #[test]
    fn any_change_of_an_archive_ends_and_stays_inside(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        is_zip in any::<bool>(),
        cut in 0_usize..80,
    ) {
        let files = [packed_file("pdf/SKILL.md", "hello"), packed_file("pdf/../x", "y"), packed_file("pdf/scripts/x.sh", "echo")];
        let files = if cut % 2 == 0 { vec![files[0].clone(), files[2].clone()] } else { files.to_vec() };
        let mut bytes = write_both_formats(&files)[usize::from(!is_zip)].clone();
        for (index, value) in changes {
            let at = index.index(bytes.len());
            bytes[at] = value;
        }
        bytes.truncate(bytes.len() - cut / 2);
        if let Ok((files, _)) = open(&bytes) {
            prop_assert!(is_sound(&files));
        }
    }

    /// Generates tar headers with any name and type inside valid gzip, which random bytes do not reach.
    #[test]
    fn any_header_of_a_tar_ends_and_stays_inside(
        entries in proptest::collection::vec(("[a-z./\\\\~]{0,12}", any::<u8>(), 0_usize..2000, proptest::collection::vec(any::<u8>(), 0..600)), 1..5),
    ) {
        let entries: Vec<(&str, u8, usize, &[u8])> =
            entries.iter().map(|(name, kind, size, content)| (name.as_str(), *kind, *size, content.as_slice())).collect();
        if let Ok((files, _)) = open(&build_raw_tar(&entries)) {
            prop_assert!(is_sound(&files));
        }
    }
}
