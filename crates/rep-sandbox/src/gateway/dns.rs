//! The questions programs inside ask about names, and what they are told.
//!
//! Only what a stub resolver sends is understood: one question, no compression. An answer is the question with a
//! header before it and at most one address behind; nothing else of the packet comes back, and nothing of it is
//! ever sent on.

use std::net::Ipv4Addr;

/// The longest packet that is read; a question with every extension is far shorter.
pub(super) const PACKET_BYTES_MAX: usize = 4096;

/// How long an answer may be kept. The address of a name stays the same for the whole run.
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

/// What was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Question {
    /// The name with dots between its labels. A byte that names do not have is shown as `\xNN`, so that such a name
    /// fits no rule and can be printed.
    pub(super) name: String,
    /// Whether an IPv4 address is asked for.
    pub(super) wants_address: bool,
    /// Whether the name of an address is asked for, which is no try to connect.
    pub(super) is_reverse: bool,
    /// The header and the question, as they came.
    echo: Vec<u8>,
}

/// What a packet is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Packet {
    /// A question that can be answered.
    Question(Question),
    /// A request that is wrong or not for us; the bytes are the answer that says so.
    Wrong(Vec<u8>),
    /// Nothing that deserves an answer.
    Noise,
}

/// What a name is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// It exists, at this address where one is asked for.
    Exists(Option<Ipv4Addr>),
    /// It does not exist.
    Unknown,
    /// There is no address left to give.
    Exhausted,
}

/// Reads a packet. Never fails, never looks beyond its end.
pub(super) fn read(packet: &[u8]) -> Packet {
    let Some(header) = packet.first_chunk::<HEADER_BYTES>() else { return Packet::Noise };
    let is_response = header[2] & 0x80 != 0;
    if is_response || packet.len() > PACKET_BYTES_MAX {
        return Packet::Noise;
    }
    if header[2] & 0x78 != 0 {
        return Packet::Wrong(headed(header, NOT_IMPLEMENTED, [0, 0]));
    }
    let question = (header[4..6] == [0, 1]).then(|| question(packet)).flatten();
    question.map_or_else(|| Packet::Wrong(headed(header, FORMAT_ERROR, [0, 0])), Packet::Question)
}

/// Writes the answer to a question.
pub(super) fn write(question: &Question, reply: Reply) -> Vec<u8> {
    let (code, address) = match reply {
        Reply::Exists(address) => (NO_ERROR, address.filter(|_| question.wants_address)),
        Reply::Unknown => (NO_SUCH_NAME, None),
        Reply::Exhausted => (SERVER_FAILURE, None),
    };
    let header = question.echo.first_chunk::<HEADER_BYTES>().copied().unwrap_or_default();
    let mut bytes = headed(&header, code, [1, u8::from(address.is_some())]);
    bytes.extend_from_slice(question.echo.get(HEADER_BYTES..).unwrap_or_default());
    if let Some(address) = address {
        // The name is the one at the start of the question.
        bytes.extend_from_slice(&[0xc0, 12]);
        bytes.extend_from_slice(&TYPE_A.to_be_bytes());
        bytes.extend_from_slice(&CLASS_IN.to_be_bytes());
        bytes.extend_from_slice(&TTL_S.to_be_bytes());
        bytes.extend_from_slice(&[0, 4]);
        bytes.extend_from_slice(&address.octets());
    }
    bytes
}

/// A header of an answer: the number of the question, the wish for recursion, a code, and how many questions and
/// answers follow.
fn headed(asked: &[u8; HEADER_BYTES], code: u8, counts: [u8; 2]) -> Vec<u8> {
    let flags = 0x80 | (asked[2] & 0x79);
    vec![asked[0], asked[1], flags, 0x80 | code, 0, counts[0], 0, counts[1], 0, 0, 0, 0]
}

fn question(packet: &[u8]) -> Option<Question> {
    let mut at = HEADER_BYTES;
    let mut name = String::new();
    loop {
        let length = usize::from(*packet.get(at)?);
        at += 1;
        if length == 0 {
            break;
        }
        // Longer is a pointer; questions have no need of one. A name has 255 bytes with its lengths.
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
    Some(Question { name, wants_address, is_reverse: kind == TYPE_PTR, echo: packet.get(..at + 4)?.to_vec() })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn asked(labels: &[&[u8]], kind: u16) -> Vec<u8> {
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

    fn name_of(packet: &[u8]) -> Option<String> {
        match read(packet) {
            Packet::Question(question) => Some(question.name),
            Packet::Wrong(_) | Packet::Noise => None,
        }
    }

    #[test]
    fn a_question_is_answered_with_its_own_words() {
        let mut packet = asked(&[b"api", b"Example", b"com"], 1);
        let bare = packet.len();
        // An extension behind the question is neither needed nor sent back.
        packet.extend_from_slice(&[0, 0, 41, 4, 0, 0, 0, 0, 0, 0, 0]);
        packet[11] = 1;
        let Packet::Question(question) = read(&packet) else { panic!("no question") };
        assert_eq!(question.name, "api.example.com");
        let answer = write(&question, Reply::Exists(Some(Ipv4Addr::new(198, 18, 0, 7))));
        assert_eq!(answer[..12], [7, 9, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
        assert_eq!(answer[12..bare], packet[12..bare]);
        assert_eq!(answer[bare..], [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 198, 18, 0, 7]);
        assert_eq!(write(&question, Reply::Unknown)[..8], [7, 9, 0x81, 0x83, 0, 1, 0, 0]);
    }

    #[test]
    fn other_kinds_of_record_exist_and_are_empty() {
        for kind in [28, 65, 64, 16, 15, 33] {
            let Packet::Question(question) = read(&asked(&[b"api", b"example", b"com"], kind)) else { panic!() };
            let answer = write(&question, Reply::Exists(Some(Ipv4Addr::LOCALHOST)));
            assert_eq!(answer[3..8], [0x80, 0, 1, 0, 0], "type {kind}");
        }
    }

    #[test]
    fn odd_bytes_are_shown_and_never_become_dots() {
        assert_eq!(name_of(&asked(&[b"evil.com\0", b"example"], 1)).as_deref(), Some("evil\\x2ecom\\x00.example"));
        assert_eq!(name_of(&asked(&[b"%00"], 1)).as_deref(), Some("\\x2500"));
        assert_eq!(name_of(&asked(&[], 1)).as_deref(), Some(""));
    }

    #[test]
    fn wrong_packets_are_told_apart_from_noise() {
        let good = asked(&[b"a", b"b"], 1);
        let with = |at: usize, byte: u8| {
            let mut packet = good.clone();
            packet[at] = byte;
            read(&packet)
        };
        assert_eq!(with(2, 0x81), Packet::Noise, "an answer");
        assert!(matches!(with(2, 0x28), Packet::Wrong(bytes) if bytes[3] == 0x84), "an update");
        assert!(matches!(with(5, 2), Packet::Wrong(bytes) if bytes[3] == 0x81), "two questions");
        assert!(matches!(with(5, 0), Packet::Wrong(_)), "no question");
        assert!(matches!(with(12, 0xc0), Packet::Wrong(_)), "a pointer");
        assert!(matches!(with(12, 63), Packet::Wrong(_)), "a label beyond the end");
        assert_eq!(read(&good[..11]), Packet::Noise);
        assert_eq!(read(&vec![0; PACKET_BYTES_MAX + 1]), Packet::Noise);
        let long: Vec<&[u8]> = vec![b"abcdefghi"; 26];
        assert_eq!(name_of(&asked(&long, 1)), None, "260 bytes of name");
        assert_eq!(name_of(&asked(&[&[b'a'; 64]], 1)), None, "a label of 64 bytes");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_and_answers_stay_small(mut packet in proptest::collection::vec(any::<u8>(), 0..700), tame: bool) {
            if tame && packet.len() > 6 {
                // Random bytes seldom get past the header by themselves.
                packet[2] = 1;
                packet[4..6].copy_from_slice(&[0, 1]);
            }
            match read(&packet) {
                Packet::Question(question) => {
                    prop_assert!(question.name.len() <= 4 * 255);
                    prop_assert!(question.name.bytes().all(|byte| byte.is_ascii_graphic()));
                    let answer = write(&question, Reply::Exists(Some(Ipv4Addr::LOCALHOST)));
                    prop_assert!(answer.len() <= 12 + 255 + 4 + 16);
                    prop_assert!(answer[2] & 0x80 != 0, "two of us would not answer each other for ever");
                }
                Packet::Wrong(answer) => prop_assert_eq!(answer.len(), 12),
                Packet::Noise => {}
            }
        }

        #[test]
        fn a_name_that_was_asked_is_the_name_that_is_read(labels in proptest::collection::vec("[a-z0-9-]{1,20}", 1..8)) {
            let bytes: Vec<&[u8]> = labels.iter().map(String::as_bytes).collect();
            prop_assert_eq!(name_of(&asked(&bytes, 1)), Some(labels.join(".")));
        }
    }
}
