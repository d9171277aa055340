use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

use super::*;

type Packed = (String, Vec<u8>, bool);

fn packed(path: &str, text: &str) -> Packed {
    (path.to_owned(), text.as_bytes().to_vec(), false)
}

fn paths(bytes: &[u8]) -> Vec<String> {
    open(bytes).unwrap().0.into_iter().map(|file| file.path).collect()
}

fn reason(bytes: &[u8]) -> String {
    open(bytes).unwrap_err().to_string()
}

/// A tar of raw headers: name, kind, declared size, content.
fn tar(entries: &[(&str, u8, usize, &[u8])]) -> Vec<u8> {
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

fn both(files: &[Packed]) -> [Vec<u8>; 2] {
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
    for bytes in both(&files) {
        let (out, top) = open(&bytes).unwrap();
        assert_eq!(top.as_deref(), Some("pdf"));
        let names: Vec<(&str, bool)> = out.iter().map(|file| (file.path.as_str(), file.is_executable)).collect();
        assert_eq!(names, [("SKILL.md", false), (&long[4..], false), ("scripts/x.sh", true)]);
        assert_eq!(out[0].bytes, b"hello");
    }
    assert_eq!(both(&files), both(&files));
}

#[test]
fn one_top_folder_is_taken_off_and_no_other() {
    assert_eq!(paths(&both(&[packed("./a/SKILL.md", ""), packed("a/b/c", "")])[0]), ["SKILL.md", "b/c"]);
    assert_eq!(paths(&both(&[packed("SKILL.md", ""), packed("b/c", "")])[1]), ["SKILL.md", "b/c"]);
    assert_eq!(paths(&both(&[packed("a/SKILL.md", ""), packed("b/SKILL.md", "")])[0]), ["a/SKILL.md", "b/SKILL.md"]);
    assert_eq!(paths(&both(&[packed("a/SKILL.md", ""), packed("__MACOSX/a/._SKILL.md", "")])[0]), ["SKILL.md"]);
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
        for bytes in both(&[packed("SKILL.md", ""), packed(name, "x")]) {
            // A tar ends a name at its first zero byte; what is left of it is a plain name.
            if name.contains('\0') && bytes[0] == 0x1f {
                continue;
            }
            assert!(matches!(open(&bytes), Err(ArchiveError::Refused { .. })), "{name:?}");
        }
    }
    // What is before the path is taken off, and must not hide what it is.
    for name in ["./~/x", "././C:/x", ".//x"] {
        for bytes in both(&[packed("SKILL.md", ""), packed(name, "x")]) {
            assert!(matches!(open(&bytes), Err(ArchiveError::Refused { .. })), "{name:?}");
        }
    }
    for name in ["top/~/x", "top/C:/x"] {
        for bytes in both(&[packed("top/SKILL.md", ""), packed(name, "x")]) {
            assert!(reason(&bytes).contains("absolute"), "{name:?}: {}", reason(&bytes));
        }
        for bytes in both(&[packed("SKILL.md", ""), packed(name, "x")]) {
            assert_eq!(paths(&bytes), ["SKILL.md", name], "the folder is not taken off");
        }
    }
    for pair in [["a", "a"], ["a", "A"], ["a", "a/b"], ["a/b", "A"], ["ä", "Ä"]] {
        for bytes in both(&[packed(pair[0], "x"), packed(pair[1], "y")]) {
            assert!(matches!(open(&bytes), Err(ArchiveError::Refused { .. })), "{pair:?}");
        }
    }
    for name in ["../x", "a/../x", "a/.."] {
        assert!(reason(&both(&[packed("SKILL.md", ""), packed(name, "x")])[0]).contains("leads out"), "{name}");
    }
    // Each bound, and one beyond.
    for (name, expected) in [
        (vec!["a"; 32].join("/"), None),
        (vec!["a"; 33].join("/"), Some("too deep")),
        ("a".repeat(255), None),
        ("a".repeat(256), Some("too long")),
        (vec!["a".repeat(204); 5].join("/"), None),
        (format!("{}a", vec!["a".repeat(204); 5].join("/")), Some("too long")),
    ] {
        for bytes in both(&[packed("SKILL.md", ""), packed(&name, "")]) {
            match expected {
                None => assert_eq!(paths(&bytes), ["SKILL.md", &name]),
                Some(word) => assert!(reason(&bytes).contains(word), "{}", reason(&bytes)),
            }
        }
    }
}

#[test]
fn links_devices_and_unknown_kinds_are_refused() {
    for (kind, word) in [(b'1', "link"), (b'2', "link"), (b'3', "device"), (b'6', "pipe"), (b'S', "not known")] {
        let bytes = tar(&[("SKILL.md", b'0', 1, b"x"), ("evil", kind, 0, b"")]);
        assert!(reason(&bytes).contains(word), "{}", reason(&bytes));
    }
    // Some programs skip the bytes of a folder, and others read them as the next header.
    for kind in [0, b'5'] {
        let bytes = tar(&[("SKILL.md", b'0', 0, b""), ("a/", kind, 512, &[0; 512]), ("b", b'0', 0, b"")]);
        assert!(reason(&bytes).contains("bytes of its own"), "{}", reason(&bytes));
    }
    // A size of its own, or a target, would be read by others and not by us.
    for line in ["14 size=9999\n", "17 linkpath=/etc\n"] {
        let length = line.len();
        let bytes = tar(&[("x", b'x', length, line.as_bytes()), ("a", b'0', 0, b"")]);
        assert!(matches!(open(&bytes), Err(ArchiveError::Refused { .. })), "{line}");
    }
    // The mode of a zip's entry says that it is a link.
    let mut bytes = write_zip(&[packed("SKILL.md", "x"), packed("evil", "/etc/passwd")]).unwrap();
    let at = bytes.windows(4).rposition(|four| four == [0x50, 0x4b, 1, 2]).unwrap();
    bytes[at + 40..at + 42].copy_from_slice(&0o120_777_u16.to_le_bytes());
    assert!(reason(&bytes).contains("link"));
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
    for bytes in both(&[("a/SKILL.md".to_owned(), zeros, false)]) {
        assert!(bytes.len() < 64 << 10);
        assert!(reason(&bytes).contains("times its size"), "{}", reason(&bytes));
    }
    // A size that is declared and not there costs nothing.
    assert!(open(&tar(&[("a", b'0', 60 << 20, b"x")])).is_err());
    let many: Vec<Packed> = (0..20_001).map(|number| packed(&format!("f{number}"), "")).collect();
    for bytes in both(&many) {
        assert!(reason(&bytes).contains("20000 entries"), "{}", reason(&bytes));
    }
}

#[test]
fn a_zip_that_disagrees_with_itself_is_refused() {
    let good = write_zip(&[packed("SKILL.md", "hello"), packed("x", "there")]).unwrap();
    assert!(open(&good).is_ok());
    let central = good.windows(4).position(|four| four == [0x50, 0x4b, 1, 2]).unwrap();
    let change = |at: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[at] = value;
        reason(&bytes)
    };
    assert!(change(central + 8, 1).contains("encrypted"));
    assert!(change(30, b'T').contains("something else"));
    assert!(change(central + 16, 0).contains("damaged"));
    assert!(change(central + 10, 99).contains("something else"));
    // Two entries from the same bytes.
    let mut twice = good.clone();
    let second = central + 46 + "SKILL.md".len();
    let first: Vec<u8> = twice[central + 42..central + 46].to_vec();
    twice[second + 42..second + 46].copy_from_slice(&first);
    assert!(open(&twice).is_err());
    // Something before, behind or in between that only some programs see.
    assert!(open(&[b"PK", good.as_slice()].concat()).is_err());
    assert!(open(&[good.as_slice(), b"tail"].concat()).is_err());
    assert!(open(b"not an archive").is_err() && open(b"").is_err() && open(b"PK").is_err());
}

/// What holds of everything that came out.
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
        let files = [packed("pdf/SKILL.md", "hello"), packed("pdf/../x", "y"), packed("pdf/scripts/x.sh", "echo")];
        let files = if cut % 2 == 0 { vec![files[0].clone(), files[2].clone()] } else { files.to_vec() };
        let mut bytes = both(&files)[usize::from(!is_zip)].clone();
        for (index, value) in changes {
            let at = index.index(bytes.len());
            bytes[at] = value;
        }
        bytes.truncate(bytes.len() - cut / 2);
        if let Ok((files, _)) = open(&bytes) {
            prop_assert!(is_sound(&files));
        }
    }

    /// Headers of a tar with any name and kind: past the gzip, where random bytes do not come.
    #[test]
    fn any_header_of_a_tar_ends_and_stays_inside(
        entries in proptest::collection::vec(("[a-z./\\\\~]{0,12}", any::<u8>(), 0_usize..2000, proptest::collection::vec(any::<u8>(), 0..600)), 1..5),
    ) {
        let entries: Vec<(&str, u8, usize, &[u8])> =
            entries.iter().map(|(name, kind, size, content)| (name.as_str(), *kind, *size, content.as_slice())).collect();
        if let Ok((files, _)) = open(&tar(&entries)) {
            prop_assert!(is_sound(&files));
        }
    }
}
