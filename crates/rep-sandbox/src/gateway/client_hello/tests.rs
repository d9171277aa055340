use proptest::prelude::*;

use super::*;

/// Builds a client hello with these extensions in a single record.
fn build_greeting(extensions: &[(u16, Vec<u8>)]) -> Vec<u8> {
    split_into_records(&build_handshake(extensions), usize::MAX)
}

fn build_handshake(extensions: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let mut body = vec![3, 3];
    body.extend_from_slice(&[7; 32]);
    body.push(0);
    body.extend_from_slice(&[0, 2, 0x13, 1]);
    body.extend_from_slice(&[1, 0]);
    let mut all = Vec::new();
    for (kind, content) in extensions {
        all.extend_from_slice(&kind.to_be_bytes());
        all.extend_from_slice(&encode_length(content));
        all.extend_from_slice(content);
    }
    body.extend_from_slice(&encode_length(&all));
    body.extend_from_slice(&all);
    let mut message = vec![1, 0];
    message.extend_from_slice(&encode_length(&body));
    message.extend_from_slice(&body);
    message
}

fn split_into_records(message: &[u8], size: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for chunk in message.chunks(size.min(RECORD_BYTES_MAX)) {
        bytes.extend_from_slice(&[22, 3, 1]);
        bytes.extend_from_slice(&encode_length(chunk));
        bytes.extend_from_slice(chunk);
    }
    bytes
}

fn encode_length(bytes: &[u8]) -> [u8; 2] {
    u16::try_from(bytes.len()).unwrap().to_be_bytes()
}

fn server_name_extension(host: &[u8]) -> (u16, Vec<u8>) {
    let mut entry = vec![0];
    entry.extend_from_slice(&encode_length(host));
    entry.extend_from_slice(host);
    let mut list = encode_length(&entry).to_vec();
    list.extend_from_slice(&entry);
    (0, list)
}

#[test]
fn the_name_is_read_in_its_one_form() {
    let other = (43, vec![2, 3, 4]);
    for (host, expected) in [
        (&b"api.example.com"[..], ClientHello::ServerName("api.example.com".into())),
        (b"API.Example.com.", ClientHello::ServerName("api.example.com".into())),
        (b"api.example.com\0.evil.com", ClientHello::NotTls),
        (b"api.example.com%00", ClientHello::NotTls),
        (b"127.0.0.1", ClientHello::NotTls),
        (b"", ClientHello::NotTls),
        (b"b\xfccher.example", ClientHello::NotTls),
    ] {
        assert_eq!(
            parse_client_hello(&build_greeting(&[other.clone(), server_name_extension(host)])),
            expected,
            "{host:?}"
        );
    }
}

#[test]
fn what_has_no_name_to_hold_to_is_told_apart() {
    assert_eq!(parse_client_hello(&build_greeting(&[])), ClientHello::NoServerName);
    assert_eq!(parse_client_hello(&build_greeting(&[(43, vec![2, 3, 4])])), ClientHello::NoServerName);
    assert_eq!(
        parse_client_hello(&build_greeting(&[server_name_extension(b"a.example"), (0xfe0d, vec![0; 40])])),
        ClientHello::EncryptedServerName
    );
    assert_eq!(
        parse_client_hello(&build_greeting(&[
            server_name_extension(b"a.example"),
            server_name_extension(b"b.example")
        ])),
        ClientHello::NotTls,
        "two names"
    );
    assert_eq!(parse_client_hello(b"GET / HTTP/1.1\r\n"), ClientHello::NotTls);
    assert_eq!(parse_client_hello(b"SSH-2.0-OpenSSH"), ClientHello::NotTls);
    assert_eq!(parse_client_hello(&[0x80, 0x2e, 1, 3, 1]), ClientHello::NotTls, "SSL 2");
    assert_eq!(parse_client_hello(&[]), ClientHello::Incomplete);
    let (kind, mut two) = server_name_extension(b"a.example");
    two.extend_from_slice(&[0, 0, 1, b'b']);
    let list = u16::try_from(two.len() - 2).unwrap().to_be_bytes();
    two[..2].copy_from_slice(&list);
    assert_eq!(parse_client_hello(&build_greeting(&[(kind, two)])), ClientHello::NotTls, "a list of two names");
}

#[test]
fn a_greeting_in_pieces_is_one_greeting() {
    let message = build_handshake(&[server_name_extension(b"api.example.com")]);
    for size in [1, 2, 3, 5, 40, 1000] {
        let bytes = split_into_records(&message, size);
        for end in 0..bytes.len() {
            assert_eq!(parse_client_hello(&bytes[..end]), ClientHello::Incomplete, "{end} bytes of records of {size}");
        }
        assert_eq!(parse_client_hello(&bytes), ClientHello::ServerName("api.example.com".into()), "records of {size}");
    }
}

#[test]
fn lengths_that_lie_are_no_greeting() {
    let good = build_greeting(&[server_name_extension(b"api.example.com")]);
    let with = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        parse_client_hello(&bytes)
    };
    assert_eq!(with(4, 0), ClientHello::NotTls, "an empty record");
    assert_eq!(with(3, 0x50), ClientHello::NotTls, "a record of 20 KiB");
    assert_eq!(with(6, 1), ClientHello::NotTls, "a message of 64 KiB");
    assert_eq!(with(8, good[8] - 1), ClientHello::NotTls, "more in the record than the message");
    assert_eq!(with(5, 2), ClientHello::NotTls, "another message");
    let mut followed = good.clone();
    followed.extend_from_slice(&[20, 3, 3, 0, 1, 1]);
    assert_eq!(
        parse_client_hello(&followed),
        ClientHello::ServerName("api.example.com".into()),
        "data after the client hello is not checked"
    );
    let endless = split_into_records(&[&[1, 0, 0x3f, 0][..], &vec![0; 20_000]].concat(), 1);
    assert_eq!(parse_client_hello(&endless), ClientHello::NotTls);
}

proptest! {
    #[test]
    fn any_bytes_are_read(mut bytes in proptest::collection::vec(any::<u8>(), 0..2000), tame: bool) {
        if tame && bytes.len() > 9 {
            let record = u16::try_from(bytes.len() - 5).unwrap().to_be_bytes();
            let body = u16::try_from(bytes.len() - 9).unwrap().to_be_bytes();
            bytes[..9].copy_from_slice(&[22, 3, 1, record[0], record[1], 1, 0, body[0], body[1]]);
        }
        let _whatever = parse_client_hello(&bytes);
    }

    #[test]
    fn one_changed_byte_never_makes_another_name_of_it(at in 0usize..90, byte: u8) {
        let mut bytes = build_greeting(&[server_name_extension(b"api.example.com"), (43, vec![2, 3, 4])]);
        let host = bytes.windows(3).position(|window| window == b"api").unwrap();
        let at = at % bytes.len();
        bytes[at] = byte;
        if !(host..host + 15).contains(&at) && let ClientHello::ServerName(name) = parse_client_hello(&bytes) {
            prop_assert_eq!(name, "api.example.com");
        }
    }

    #[test]
    fn a_finished_reading_does_not_change_with_more_bytes(split in 1usize..60, more in proptest::collection::vec(any::<u8>(), 0..50)) {
        let mut bytes = split_into_records(&build_handshake(&[server_name_extension(b"api.example.com")]), split);
        bytes.extend_from_slice(&more);
        prop_assert_eq!(parse_client_hello(&bytes), ClientHello::ServerName("api.example.com".into()));
    }
}
