//! Parses DNS queries from the sandbox and encodes the answers.
//!
//! Supports only the queries of stub resolvers: one question without compression. An answer consists of a header, the
//! question and at most one address. Nothing else of the query is echoed, and nothing is ever forwarded.

use std::net::Ipv4Addr;

/// The maximum packet length. A query with every extension is far shorter.
pub(super) const PACKET_BYTES_MAX: usize = 4096;

/// How long clients may cache an answer, in seconds. The address of a name does not change during a run.
const TTL_S: u32 = 60;

const HEADER_BYTES: usize = 12;
const TYPE_A: u16 = 1;
const TYPE_PTR: u16 = 12;
const TYPE_ANY: u16 = 255;
const CLASS_IN: u16 = 1;
const NO_ERROR: u8 = 0;
const FORMAT_ERROR: u8 = 1;
const SERVER_FAILURE: u8 = 2;
const NO_SUCH_NAME: u8 = 3;
const NOT_IMPLEMENTED: u8 = 4;

/// A DNS question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DnsQuestion {
    /// The name with dots between its labels. Bytes that are invalid in names are escaped as `\xNN`, so that such a
    /// name matches no rule and can be printed.
    pub(super) name: String,
    /// Whether the query asks for an IPv4 address.
    pub(super) wants_address: bool,
    /// Whether this is a reverse lookup, which is not an attempt to connect.
    pub(super) is_reverse: bool,
    /// The header and the question as received.
    echo: Vec<u8>,
}

/// A parsed packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DnsPacket {
    /// A question that can be answered.
    Question(DnsQuestion),
    /// An invalid or unsupported query, with the encoded error response.
    Rejected(Vec<u8>),
    /// A packet that gets no response.
    Ignored,
}

/// The answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DnsReply {
    /// The name exists. The address is present if the question asked for one.
    Exists(Option<Ipv4Addr>),
    /// The name does not exist.
    Unknown,
    /// All synthetic addresses are in use.
    Exhausted,
}

/// Parses a packet. Never panics and never reads beyond the end.
pub(super) fn parse_packet(packet: &[u8]) -> DnsPacket {
    let Some(header) = packet.first_chunk::<HEADER_BYTES>() else { return DnsPacket::Ignored };
    let is_response = header[2] & 0x80 != 0;
    if is_response || packet.len() > PACKET_BYTES_MAX {
        return DnsPacket::Ignored;
    }
    if header[2] & 0x78 != 0 {
        return DnsPacket::Rejected(encode_header(header, NOT_IMPLEMENTED, [0, 0]));
    }
    let question = (header[4..6] == [0, 1]).then(|| parse_question(packet)).flatten();
    question.map_or_else(|| DnsPacket::Rejected(encode_header(header, FORMAT_ERROR, [0, 0])), DnsPacket::Question)
}

/// Encodes the answer to a question.
pub(super) fn encode_answer(question: &DnsQuestion, reply: DnsReply) -> Vec<u8> {
    let (code, address) = match reply {
        DnsReply::Exists(address) => (NO_ERROR, address.filter(|_| question.wants_address)),
        DnsReply::Unknown => (NO_SUCH_NAME, None),
        DnsReply::Exhausted => (SERVER_FAILURE, None),
    };
    let header = question.echo.first_chunk::<HEADER_BYTES>().copied().unwrap_or_default();
    let mut bytes = encode_header(&header, code, [1, u8::from(address.is_some())]);
    bytes.extend_from_slice(question.echo.get(HEADER_BYTES..).unwrap_or_default());
    if let Some(address) = address {
        // A pointer to the name in the question.
        bytes.extend_from_slice(&[0xc0, 12]);
        bytes.extend_from_slice(&TYPE_A.to_be_bytes());
        bytes.extend_from_slice(&CLASS_IN.to_be_bytes());
        bytes.extend_from_slice(&TTL_S.to_be_bytes());
        bytes.extend_from_slice(&[0, 4]);
        bytes.extend_from_slice(&address.octets());
    }
    bytes
}

/// Encodes a response header: the query's ID and recursion flag, a response code, and the numbers of questions and
/// answers.
fn encode_header(asked: &[u8; HEADER_BYTES], code: u8, counts: [u8; 2]) -> Vec<u8> {
    let flags = 0x80 | (asked[2] & 0x79);
    vec![asked[0], asked[1], flags, 0x80 | code, 0, counts[0], 0, counts[1], 0, 0, 0, 0]
}

fn parse_question(packet: &[u8]) -> Option<DnsQuestion> {
    let mut at = HEADER_BYTES;
    let mut name = String::new();
    loop {
        let length = usize::from(*packet.get(at)?);
        at += 1;
        if length == 0 {
            break;
        }
        // A larger value is a compression pointer, which questions do not need. Encoded names have at most 255 bytes.
        if length > 63 || at + length - HEADER_BYTES > 254 {
            return None;
        }
        let label = packet.get(at..at + length)?;
        if !name.is_empty() {
            name.push('.');
        }
        for byte in label {
            match byte {
                b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                    name.push(char::from(byte.to_ascii_lowercase()));
                }
                other => name.push_str(&format!("\\x{other:02x}")),
            }
        }
        at += length;
    }
    let &[a, b, c, d] = packet.get(at..at + 4)?.first_chunk::<4>()?;
    let (kind, class) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    let wants_address = (kind == TYPE_A || kind == TYPE_ANY) && (class == CLASS_IN || class == TYPE_ANY);
    Some(DnsQuestion { name, wants_address, is_reverse: kind == TYPE_PTR, echo: packet.get(..at + 4)?.to_vec() })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn build_question_packet(labels: &[&[u8]], kind: u16) -> Vec<u8> {
        let mut packet = vec![7, 9, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        for label in labels {
            packet.push(u8::try_from(label.len()).unwrap());
            packet.extend_from_slice(label);
        }
        packet.push(0);
        packet.extend_from_slice(&kind.to_be_bytes());
        packet.extend_from_slice(&[0, 1]);
        packet
    }

    fn parse_question_name(packet: &[u8]) -> Option<String> {
        match parse_packet(packet) {
            DnsPacket::Question(question) => Some(question.name),
            DnsPacket::Rejected(_) | DnsPacket::Ignored => None,
        }
    }

    #[test]
    fn a_question_is_answered_with_its_own_words() {
        let mut packet = build_question_packet(&[b"api", b"Example", b"com"], 1);
        let bare = packet.len();
        // An extension after the question is neither required nor echoed.
        packet.extend_from_slice(&[0, 0, 41, 4, 0, 0, 0, 0, 0, 0, 0]);
        packet[11] = 1;
        let DnsPacket::Question(question) = parse_packet(&packet) else { panic!("not a question") };
        assert_eq!(question.name, "api.example.com");
        let answer = encode_answer(&question, DnsReply::Exists(Some(Ipv4Addr::new(198, 18, 0, 7))));
        assert_eq!(answer[..12], [7, 9, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
        assert_eq!(answer[12..bare], packet[12..bare]);
        assert_eq!(answer[bare..], [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 198, 18, 0, 7]);
        assert_eq!(encode_answer(&question, DnsReply::Unknown)[..8], [7, 9, 0x81, 0x83, 0, 1, 0, 0]);
    }

    #[test]
    fn other_kinds_of_record_exist_and_are_empty() {
        for kind in [28, 65, 64, 16, 15, 33] {
            let DnsPacket::Question(question) =
                parse_packet(&build_question_packet(&[b"api", b"example", b"com"], kind))
            else {
                panic!()
            };
            let answer = encode_answer(&question, DnsReply::Exists(Some(Ipv4Addr::LOCALHOST)));
            assert_eq!(answer[3..8], [0x80, 0, 1, 0, 0], "type {kind}");
        }
    }

    #[test]
    fn odd_bytes_are_shown_and_never_become_dots() {
        assert_eq!(
            parse_question_name(&build_question_packet(&[b"evil.com\0", b"example"], 1)).as_deref(),
            Some("evil\\x2ecom\\x00.example")
        );
        assert_eq!(parse_question_name(&build_question_packet(&[b"%00"], 1)).as_deref(), Some("\\x2500"));
        assert_eq!(parse_question_name(&build_question_packet(&[], 1)).as_deref(), Some(""));
    }

    #[test]
    fn wrong_packets_are_told_apart_from_noise() {
        let good = build_question_packet(&[b"a", b"b"], 1);
        let with = |at: usize, byte: u8| {
            let mut packet = good.clone();
            packet[at] = byte;
            parse_packet(&packet)
        };
        assert_eq!(with(2, 0x81), DnsPacket::Ignored, "a response");
        assert!(matches!(with(2, 0x28), DnsPacket::Rejected(bytes) if bytes[3] == 0x84), "an update");
        assert!(matches!(with(5, 2), DnsPacket::Rejected(bytes) if bytes[3] == 0x81), "two questions");
        assert!(matches!(with(5, 0), DnsPacket::Rejected(_)), "no question");
        assert!(matches!(with(12, 0xc0), DnsPacket::Rejected(_)), "a pointer");
        assert!(matches!(with(12, 63), DnsPacket::Rejected(_)), "a label beyond the end");
        assert_eq!(parse_packet(&good[..11]), DnsPacket::Ignored);
        assert_eq!(parse_packet(&vec![0; PACKET_BYTES_MAX + 1]), DnsPacket::Ignored);
        let long: Vec<&[u8]> = vec![b"abcdefghi"; 26];
        assert_eq!(parse_question_name(&build_question_packet(&long, 1)), None, "260 bytes of name");
        assert_eq!(parse_question_name(&build_question_packet(&[&[b'a'; 64]], 1)), None, "a label of 64 bytes");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_and_answers_stay_small(mut packet in proptest::collection::vec(any::<u8>(), 0..700), tame: bool) {
            if tame && packet.len() > 6 {
                // Random bytes seldom pass the header checks.
                packet[2] = 1;
                packet[4..6].copy_from_slice(&[0, 1]);
            }
            match parse_packet(&packet) {
                DnsPacket::Question(question) => {
                    prop_assert!(question.name.len() <= 4 * 255);
                    prop_assert!(question.name.bytes().all(|byte| byte.is_ascii_graphic()));
                    let answer = encode_answer(&question, DnsReply::Exists(Some(Ipv4Addr::LOCALHOST)));
                    prop_assert!(answer.len() <= 12 + 255 + 4 + 16);
                    prop_assert!(answer[2] & 0x80 != 0, "two gateways must not answer each other forever");
                }
                DnsPacket::Rejected(answer) => prop_assert_eq!(answer.len(), 12),
                DnsPacket::Ignored => {}
            }
        }

        #[test]
        fn a_name_that_was_asked_is_the_name_that_is_read(labels in proptest::collection::vec("[a-z0-9-]{1,20}", 1..8)) {
            let bytes: Vec<&[u8]> = labels.iter().map(String::as_bytes).collect();
            prop_assert_eq!(parse_question_name(&build_question_packet(&bytes, 1)), Some(labels.join(".")));
        }
    }
}
