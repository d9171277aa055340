use proptest::prelude::*;

use super::*;

/// A greeting with these extensions, in one record.
fn greeting(extensions: &[(u16, Vec<u8>)]) -> Vec<u8> {
    in_records(&handshake(extensions), usize::MAX)
}

fn handshake(extensions: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let mut body = vec![3, 3];
    body.extend_from_slice(&[7; 32]);
    body.push(0);
    body.extend_from_slice(&[0, 2, 0x13, 1]);
    body.extend_from_slice(&[1, 0]);
    let mut all = Vec::new();
    for (kind, content) in extensions {
        all.extend_from_slice(&kind.to_be_bytes());
        all.extend_from_slice(&length(content));
        all.extend_from_slice(content);
    }
    body.extend_from_slice(&length(&all));
    body.extend_from_slice(&all);
    let mut message = vec![1, 0];
    message.extend_from_slice(&length(&body));
    message.extend_from_slice(&body);
    message
}

fn in_records(message: &[u8], size: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for chunk in message.chunks(size.min(RECORD_BYTES_MAX)) {
        bytes.extend_from_slice(&[22, 3, 1]);
        bytes.extend_from_slice(&length(chunk));
        bytes.extend_from_slice(chunk);
    }
    bytes
}

fn length(bytes: &[u8]) -> [u8; 2] {
    u16::try_from(bytes.len()).unwrap().to_be_bytes()
}

fn name(host: &[u8]) -> (u16, Vec<u8>) {
    let mut entry = vec![0];
    entry.extend_from_slice(&length(host));
    entry.extend_from_slice(host);
    let mut list = length(&entry).to_vec();
    list.extend_from_slice(&entry);
    (0, list)
}

#[test]
fn the_name_is_read_in_its_one_form() {
    let other = (43, vec![2, 3, 4]);
    for (host, expected) in [
        (&b"api.example.com"[..], Hello::Names("api.example.com".into())),
        (b"API.Example.com.", Hello::Names("api.example.com".into())),
        (b"api.example.com\0.evil.com", Hello::Foreign),
        (b"api.example.com%00", Hello::Foreign),
        (b"127.0.0.1", Hello::Foreign),
        (b"", Hello::Foreign),
        (b"b\xfccher.example", Hello::Foreign),
    ] {
        assert_eq!(read(&greeting(&[other.clone(), name(host)])), expected, "{host:?}");
    }
}

#[test]
fn what_has_no_name_to_hold_to_is_told_apart() {
    assert_eq!(read(&greeting(&[])), Hello::Nameless);
    assert_eq!(read(&greeting(&[(43, vec![2, 3, 4])])), Hello::Nameless);
    assert_eq!(read(&greeting(&[name(b"a.example"), (0xfe0d, vec![0; 40])])), Hello::Hidden);
    assert_eq!(read(&greeting(&[name(b"a.example"), name(b"b.example")])), Hello::Foreign, "two names");
    assert_eq!(read(b"GET / HTTP/1.1\r\n"), Hello::Foreign);
    assert_eq!(read(b"SSH-2.0-OpenSSH"), Hello::Foreign);
    assert_eq!(read(&[0x80, 0x2e, 1, 3, 1]), Hello::Foreign, "SSL 2");
    assert_eq!(read(&[]), Hello::Unfinished);
    let (kind, mut two) = name(b"a.example");
    two.extend_from_slice(&[0, 0, 1, b'b']);
    let list = u16::try_from(two.len() - 2).unwrap().to_be_bytes();
    two[..2].copy_from_slice(&list);
    assert_eq!(read(&greeting(&[(kind, two)])), Hello::Foreign, "a list of two names");
}

#[test]
fn a_greeting_in_pieces_is_one_greeting() {
    let message = handshake(&[name(b"api.example.com")]);
    for size in [1, 2, 3, 5, 40, 1000] {
        let bytes = in_records(&message, size);
        for end in 0..bytes.len() {
            assert_eq!(read(&bytes[..end]), Hello::Unfinished, "{end} bytes of records of {size}");
        }
        assert_eq!(read(&bytes), Hello::Names("api.example.com".into()), "records of {size}");
    }
}

#[test]
fn lengths_that_lie_are_no_greeting() {
    let good = greeting(&[name(b"api.example.com")]);
    let with = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        read(&bytes)
    };
    assert_eq!(with(4, 0), Hello::Foreign, "an empty record");
    assert_eq!(with(3, 0x50), Hello::Foreign, "a record of 20 KiB");
    assert_eq!(with(6, 1), Hello::Foreign, "a message of 64 KiB");
    assert_eq!(with(8, good[8] - 1), Hello::Foreign, "more in the record than the message");
    assert_eq!(with(5, 2), Hello::Foreign, "another message");
    let mut followed = good.clone();
    followed.extend_from_slice(&[20, 3, 3, 0, 1, 1]);
    assert_eq!(read(&followed), Hello::Names("api.example.com".into()), "what comes behind is not judged");
    let endless = in_records(&[&[1, 0, 0x3f, 0][..], &vec![0; 20_000]].concat(), 1);
    assert_eq!(read(&endless), Hello::Foreign);
}

proptest! {
    #[test]
    fn any_bytes_are_read(mut bytes in proptest::collection::vec(any::<u8>(), 0..2000), tame: bool) {
        if tame && bytes.len() > 9 {
            let record = u16::try_from(bytes.len() - 5).unwrap().to_be_bytes();
            let body = u16::try_from(bytes.len() - 9).unwrap().to_be_bytes();
            bytes[..9].copy_from_slice(&[22, 3, 1, record[0], record[1], 1, 0, body[0], body[1]]);
        }
        let _whatever = read(&bytes);
    }

    #[test]
    fn one_changed_byte_never_makes_another_name_of_it(at in 0usize..90, byte: u8) {
        let mut bytes = greeting(&[name(b"api.example.com"), (43, vec![2, 3, 4])]);
        let host = bytes.windows(3).position(|window| window == b"api").unwrap();
        let at = at % bytes.len();
        bytes[at] = byte;
        if !(host..host + 15).contains(&at) && let Hello::Names(name) = read(&bytes) {
            prop_assert_eq!(name, "api.example.com");
        }
    }

    #[test]
    fn a_finished_reading_does_not_change_with_more_bytes(split in 1usize..60, more in proptest::collection::vec(any::<u8>(), 0..50)) {
        let mut bytes = in_records(&handshake(&[name(b"api.example.com")]), split);
        bytes.extend_from_slice(&more);
        prop_assert_eq!(read(&bytes), Hello::Names("api.example.com".into()));
    }
}
