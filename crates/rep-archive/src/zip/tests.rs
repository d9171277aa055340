use super::super::{ArchiveEntry, TOTAL_BYTES_MAX, open};
use super::*;

/// A stored entry with arbitrary header fields, as another program might write it.
#[derive(Clone)]
struct ZipPart {
    name: &'static str,
    content: Vec<u8>,
    /// The extra field of the local header.
    local_extra: &'static [u8],
    extra: &'static [u8],
    comment: &'static [u8],
    flags: u16,
    local_flags: u16,
    method: u16,
    system: u8,
    mode: u32,
    /// The offset of the local header, if it is not at the current end of the archive.
    local: Option<usize>,
}

fn zip_part(name: &'static str, content: &[u8]) -> ZipPart {
    ZipPart {
        name,
        content: content.to_vec(),
        local_extra: b"",
        extra: b"",
        comment: b"",
        flags: 0,
        local_flags: 0,
        method: 0,
        system: 3,
        mode: 0o100_644,
        local: None,
    }
}

impl ZipPart {
    fn encode_sizes(&self) -> Vec<u8> {
        let mut crc = Crc::new();
        crc.update(&self.content);
        let size = u32::try_from(self.content.len()).unwrap();
        [crc.sum(), size, size].iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    fn encode_local_header(&self) -> Vec<u8> {
        let mut out = LOCAL_SIGNATURE.to_le_bytes().to_vec();
        out.extend([20, self.local_flags, self.method, 0, FIXED_DATE].iter().flat_map(|number| number.to_le_bytes()));
        out.extend(self.encode_sizes());
        out.extend([self.name.len(), self.local_extra.len()].iter().flat_map(|length| short_bytes(*length)));
        [&out, self.name.as_bytes(), self.local_extra, &self.content].concat()
    }

    fn encode_central_entry(&self, local: usize) -> Vec<u8> {
        let mut out = CENTRAL_SIGNATURE.to_le_bytes().to_vec();
        out.extend([20, self.system]);
        out.extend([20, self.flags, self.method, 0, FIXED_DATE].iter().flat_map(|number| number.to_le_bytes()));
        out.extend(self.encode_sizes());
        let lengths = [self.name.len(), self.extra.len(), self.comment.len()];
        out.extend(lengths.iter().flat_map(|length| short_bytes(*length)));
        out.extend([0; 4]);
        out.extend((self.mode << 16).to_le_bytes());
        out.extend(u32::try_from(local).unwrap().to_le_bytes());
        [&out, self.name.as_bytes(), self.extra, self.comment].concat()
    }
}

fn short_bytes(number: usize) -> [u8; 2] {
    u16::try_from(number).unwrap().to_le_bytes()
}

fn build_archive(parts: &[ZipPart], comment: &[u8]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for part in parts {
        directory.extend(part.encode_central_entry(part.local.unwrap_or(out.len())));
        if part.local.is_none() {
            out.extend(part.encode_local_header());
        }
    }
    let (start, size) = (u32::try_from(out.len()).unwrap(), u32::try_from(directory.len()).unwrap());
    out.extend(directory);
    out.extend(END_SIGNATURE.to_le_bytes());
    out.extend([0; 4]);
    out.extend([parts.len(), parts.len()].iter().flat_map(|count| short_bytes(*count)));
    out.extend(size.to_le_bytes());
    out.extend(start.to_le_bytes());
    out.extend(short_bytes(comment.len()));
    out.extend(comment);
    out
}

fn refusal_reason(parts: &[ZipPart]) -> String {
    open(&build_archive(parts, b"")).unwrap_err().to_string()
}

fn open_files(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let (files, _) = open(bytes).unwrap_or_else(|error| panic!("{error}"));
    files.into_iter().map(|file: ArchiveEntry| (file.path, file.bytes)).collect()
}

fn skill_part() -> ZipPart {
    zip_part("SKILL.md", b"hello")
}

#[test]
fn extra_fields_and_comments_are_skipped() {
    let first = ZipPart { local_extra: b"UT\x05\0\x03abcd", extra: b"UT\x01\0z", comment: b"one", ..skill_part() };
    let second = ZipPart { local_extra: b"x", comment: b"the second", ..zip_part("b", b"there") };
    let third = ZipPart { extra: b"PK\x01\x02PK", ..zip_part("c", b"") };
    let expected = [("SKILL.md", "hello"), ("b", "there"), ("c", "")];
    let expected = expected.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
    // The end record is searched from the back, and a comment may contain its signature.
    let look_alike = [END_SIGNATURE.to_le_bytes().as_slice(), &[0; 18]].concat();
    let long = vec![b'x'; usize::from(u16::MAX)];
    for comment in [b"".as_slice(), b"made by hand", &look_alike[..20], &long] {
        let bytes = build_archive(&[first.clone(), second.clone(), third.clone()], comment);
        assert_eq!(open_files(&bytes), expected, "{} bytes of comment", comment.len());
    }
}

#[test]
fn only_modes_of_unix_say_what_can_be_executed() {
    let with = |system: u8, mode: u32| {
        open(&build_archive(&[ZipPart { system, mode, ..skill_part() }], b"")).map(|(files, _)| files[0].is_executable)
    };
    for mode in [0o100_755, 0o755, 0o100_744, 0o100_611] {
        assert_eq!(with(3, mode), Ok(true), "{mode:o}");
        assert_eq!(with(0, mode), Ok(false), "{mode:o} of another system");
    }
    for mode in [0o100_644, 0, 0o100_000, 0o666] {
        assert_eq!(with(3, mode), Ok(false), "{mode:o}");
    }
    assert_eq!(with(0, 0o120_777), Ok(false), "the mode applies only to Unix");
    for mode in [0o120_777, 0o010_644, 0o020_644, 0o060_644, 0o140_644, 0o040_755] {
        assert!(with(3, mode).is_err_and(|error| error.to_string().contains("link or a device")), "{mode:o}");
    }
}

#[test]
fn folders_are_taken_and_are_no_files() {
    let folder = |mode: u32, content: &[u8]| ZipPart { mode, ..zip_part("a/", content) };
    for mode in [0o040_755, 0, 0o100_644] {
        let bytes = build_archive(&[folder(mode, b""), skill_part(), zip_part("a/b", b"")], b"");
        assert_eq!(open_files(&bytes).len(), 2, "{mode:o}");
    }
    assert_eq!(
        open_files(&build_archive(&[skill_part(), folder(0, b"12")], b"")).len(),
        1,
        "an empty deflated text has two bytes"
    );
    assert!(refusal_reason(&[skill_part(), folder(0, b"123")]).contains("directory with content"));
    assert!(refusal_reason(&[skill_part(), zip_part("a", b""), folder(0, b"")]).contains("has the same name"));
}

#[test]
fn encrypted_entries_and_unknown_methods_are_refused() {
    for bit in [0, 6, 13] {
        let reason = refusal_reason(&[ZipPart { flags: 1 << bit, ..skill_part() }]);
        assert!(reason.contains("encrypted"), "bit {bit}: {reason}");
    }
    // The flags for UTF-8 names and for sizes after the data are ignored.
    assert_eq!(
        open_files(&build_archive(&[ZipPart { flags: 1 << 11, local_flags: 1 << 11, ..skill_part() }], b"")).len(),
        1
    );
    assert!(refusal_reason(&[ZipPart { local_flags: 1, ..skill_part() }]).contains("does not match"));
    assert!(refusal_reason(&[ZipPart { method: 12, ..skill_part() }]).contains("unknown (12)"));
    assert!(
        refusal_reason(&[ZipPart { method: 8, ..skill_part() }]).contains("damaged"),
        "the data is not a deflate stream"
    );
}

#[test]
fn what_the_end_says_must_be_so() {
    let good = build_archive(&[skill_part(), zip_part("b", b"there")], b"");
    let end = good.len() - END_BYTES;
    let with = |at: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[end + at] = value;
        open(&bytes).unwrap_err().to_string()
    };
    for (at, word) in [(4, "part"), (6, "part"), (8, "part"), (10, "part"), (12, "does not end"), (16, "does not end")]
    {
        assert!(with(at, 1).contains(word), "byte {at}: {}", with(at, 1));
    }
    let counted = |count: u8| {
        let mut bytes = good.clone();
        (bytes[end + 8], bytes[end + 10]) = (count, count);
        open(&bytes).unwrap_err().to_string()
    };
    assert!(counted(1).contains("more entries than it declares"));
    assert!(counted(3).contains("directory is damaged"));
    let mut many = good.clone();
    many[end + 8..end + 12].copy_from_slice(&[0xff; 4]);
    assert!(open(&many).unwrap_err().to_string().contains("zip64"));
}

#[test]
fn entries_do_not_share_bytes_with_each_other_or_with_the_directory() {
    let inner = zip_part("b", b"there");
    let outer = zip_part("SKILL.md", &inner.encode_local_header());
    let inside = ZipPart { local: Some(30 + outer.name.len()), ..inner };
    assert!(refusal_reason(&[outer, inside]).contains("overlap"));
    // The last entry may end exactly where the central directory starts.
    let good = build_archive(&[skill_part()], b"");
    assert_eq!(open_files(&good).len(), 1);
    let line = good.len() - END_BYTES - 46 - "SKILL.md".len();
    let mut longer = good.clone();
    longer[line + 20] += 1;
    assert!(open(&longer).unwrap_err().to_string().contains("overlaps the central directory"));
    let mut elsewhere = good;
    elsewhere[line + 42] = 1;
    assert!(open(&elsewhere).unwrap_err().to_string().contains("not where the central directory says"));
}

#[test]
fn as_many_bytes_come_out_as_there_is_room_for() {
    let bytes = build_archive(&[skill_part()], b"");
    let read_behind =
        |total: u64| read_zip(&bytes, &mut EntryCollector { total_bytes: total, ..EntryCollector::default() });
    assert_eq!(read_behind(TOTAL_BYTES_MAX - 5), Ok(()));
    assert!(read_behind(TOTAL_BYTES_MAX - 4).unwrap_err().to_string().contains("512 MiB"));
    // A mebibyte is below the floor, so its compression ratio does not matter.
    for (size, is_fine) in [(1 << 20, true), ((1 << 20) + 1, false)] {
        let bytes = write_zip(&[("SKILL.md".to_owned(), vec![0; size], false)]).unwrap();
        assert_eq!(open(&bytes).is_ok(), is_fine, "{size}");
    }
}

#[test]
fn no_changed_byte_changes_what_comes_out() {
    let text = b"text text text text".to_vec();
    let written =
        write_zip(&[("a/SKILL.md".to_owned(), text, false), ("a/b".to_owned(), b"x".to_vec(), true)]).unwrap();
    let stored = build_archive(
        &[skill_part(), ZipPart { local_extra: b"12345", extra: b"1", ..zip_part("b", b"there") }],
        b"comment",
    );
    for good in [written, stored] {
        let expected = open_files(&good);
        for at in 0..good.len() {
            for bits in [1, 0x80, 0xff] {
                let mut changed = good.clone();
                changed[at] ^= bits;
                // Only the mode and the system determine whether a file is executable.
                assert!(open(&changed).is_err() || open_files(&changed) == expected, "byte {at}");
            }
            assert!(open(&good[..at]).is_err(), "{at} bytes");
        }
    }
}
