//! The first words of a TLS connection: the name a client asks for, read before anything is sent on.
//!
//! Everything is checked against the lengths around it, and anything odd is no greeting. That is stricter than
//! servers are: what they would read otherwise than this parser never reaches them. A greeting may come in as many
//! records and packets as it likes, within a bound.
//!
//! An encrypted greeting (ECH) hides the name that counts behind one that does not. It cannot be held to a
//! declaration, so it is refused, also where it is only there as padding against middleboxes. Clients learn the keys
//! for it from HTTPS records, which are never answered inside.

use rep_permissions::canonical;

/// The longest greeting, with the headers of its records. Those with post-quantum keys have 2 KiB.
pub(super) const HELLO_BYTES_MAX: usize = 16 * 1024;

/// What the bytes so far are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Hello {
    /// The start of a greeting.
    Unfinished,
    /// A greeting that names this host.
    Names(String),
    /// A greeting without a name.
    Nameless,
    /// A greeting whose name is encrypted.
    Hidden,
    /// No greeting of TLS.
    Foreign,
}

const RECORD_HANDSHAKE: u8 = 22;
const RECORD_BYTES_MAX: usize = 1 << 14;
const MESSAGE_CLIENT_HELLO: u8 = 1;
const EXTENSION_SERVER_NAME: u16 = 0;
const EXTENSION_ENCRYPTED_HELLO: u16 = 0xfe0d;

/// Reads the bytes a client sent so far.
pub(super) fn read(bytes: &[u8]) -> Hello {
    match message(bytes) {
        Message::Whole(body) => client_hello(&body).unwrap_or(Hello::Foreign),
        Message::Part if bytes.len() < HELLO_BYTES_MAX => Hello::Unfinished,
        Message::Part | Message::Foreign => Hello::Foreign,
    }
}

enum Message {
    /// The body of a client hello.
    Whole(Vec<u8>),
    /// Not all of it is here.
    Part,
    /// Something else.
    Foreign,
}

/// Puts the first handshake message together from its records.
fn message(bytes: &[u8]) -> Message {
    let mut joined: Vec<u8> = Vec::new();
    let mut rest = bytes;
    loop {
        // What is here of a header must already fit, so that no stranger is waited for.
        let head = &rest[..rest.len().min(5)];
        let is_foreign = head.first().is_some_and(|kind| *kind != RECORD_HANDSHAKE)
            || head.get(1).is_some_and(|major| *major != 3)
            || head.get(2).is_some_and(|minor| *minor > 4);
        if is_foreign {
            return Message::Foreign;
        }
        let &[_, _, _, high, low] = head else { return Message::Part };
        let length = usize::from(u16::from_be_bytes([high, low]));
        if length == 0 || length > RECORD_BYTES_MAX {
            return Message::Foreign;
        }
        let here = &rest[5..rest.len().min(5 + length)];
        joined.extend_from_slice(here);
        if joined.first().is_some_and(|kind| *kind != MESSAGE_CLIENT_HELLO) {
            return Message::Foreign;
        }
        if let Some(&[_, a, b, c]) = joined.first_chunk::<4>() {
            let wanted = 4 + usize::from(a) * 65536 + usize::from(b) * 256 + usize::from(c);
            if wanted > HELLO_BYTES_MAX || joined.len() > wanted {
                return Message::Foreign;
            }
            if joined.len() == wanted {
                // Nothing else may stand in the record that ends the message.
                return if here.len() == length { Message::Whole(joined.split_off(4)) } else { Message::Foreign };
            }
        }
        if here.len() < length {
            return Message::Part;
        }
        rest = &rest[5 + length..];
    }
}

/// What is left to read of a part.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<usize> {
        self.take(1).map(|bytes| usize::from(bytes[0]))
    }

    fn number(&mut self) -> Option<u16> {
        self.take(2).map(|bytes| u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    /// A part with its length in two bytes before it.
    fn part(&mut self) -> Option<Bytes<'a>> {
        let length = self.number()?;
        self.take(usize::from(length)).map(Bytes)
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// RFC 8446, 4.1.2. `None` where lengths do not fit each other.
fn client_hello(body: &[u8]) -> Option<Hello> {
    let mut body = Bytes(body);
    let _version_and_random = body.take(2 + 32)?;
    let session = body.byte()?;
    body.take(session)?;
    let suites = body.part()?;
    let compressions = body.byte()?;
    body.take(compressions)?;
    if session > 32 || suites.0.len() < 2 || suites.0.len() % 2 != 0 || compressions == 0 {
        return None;
    }
    if body.is_empty() {
        return Some(Hello::Nameless);
    }
    let mut extensions = body.part()?;
    if !body.is_empty() {
        return None;
    }
    let mut name: Option<String> = None;
    let mut is_hidden = false;
    while !extensions.is_empty() {
        let kind = extensions.number()?;
        let content = extensions.part()?;
        match kind {
            EXTENSION_SERVER_NAME if name.is_some() => return None,
            EXTENSION_SERVER_NAME => name = Some(server_name(content)?),
            EXTENSION_ENCRYPTED_HELLO => is_hidden = true,
            _ => {}
        }
    }
    Some(match name {
        _ if is_hidden => Hello::Hidden,
        Some(name) => Hello::Names(name),
        None => Hello::Nameless,
    })
}

/// RFC 6066, 3: a list that holds one host name.
fn server_name(mut content: Bytes<'_>) -> Option<String> {
    let mut list = content.part()?;
    let kind = list.byte()?;
    let name = list.part()?;
    if kind != 0 || !list.is_empty() || !content.is_empty() {
        return None;
    }
    canonical(std::str::from_utf8(name.0).ok()?)
}

#[cfg(test)]
mod tests;
