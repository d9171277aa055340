//! Parses the TLS client hello to find the requested server name before any data is forwarded.
//!
//! Every length is checked against its enclosing length, and malformed input is rejected. The parser is stricter than
//! servers, so input that a server would read differently never reaches it. A client hello may span any number of
//! records and packets, up to a limit.
//!
//! Encrypted Client Hello (ECH) hides the real server name behind a public one. It cannot be checked against
//! declarations, so it is refused, even if it is only GREASE padding against middleboxes. Clients get ECH keys from
//! HTTPS DNS records, which the gateway never answers.

use rep_permissions::canonicalise_host_name;

/// The maximum length of a client hello with its record headers. With post-quantum keys, it has about 2 KiB.
pub(super) const HELLO_BYTES_MAX: usize = 16 * 1024;

/// The result of parsing the bytes received so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ClientHello {
    /// The start of a client hello.
    Incomplete,
    /// A client hello with this server name.
    ServerName(String),
    /// A client hello without a server name.
    NoServerName,
    /// A client hello with an encrypted server name.
    EncryptedServerName,
    /// Not a TLS client hello.
    NotTls,
}

const RECORD_HANDSHAKE: u8 = 22;
const RECORD_BYTES_MAX: usize = 1 << 14;
const MESSAGE_CLIENT_HELLO: u8 = 1;
const EXTENSION_SERVER_NAME: u16 = 0;
const EXTENSION_ENCRYPTED_HELLO: u16 = 0xfe0d;

/// Parses the bytes that a client has sent so far.
pub(super) fn parse_client_hello(bytes: &[u8]) -> ClientHello {
    match assemble_message(bytes) {
        HandshakeMessage::Whole(body) => parse_hello_body(&body).unwrap_or(ClientHello::NotTls),
        HandshakeMessage::Part if bytes.len() < HELLO_BYTES_MAX => ClientHello::Incomplete,
        HandshakeMessage::Part | HandshakeMessage::Foreign => ClientHello::NotTls,
    }
}

enum HandshakeMessage {
    /// The body of a client hello.
    Whole(Vec<u8>),
    /// An incomplete message.
    Part,
    /// Any other message.
    Foreign,
}

/// Assembles the first handshake message from its records.
fn assemble_message(bytes: &[u8]) -> HandshakeMessage {
    let mut joined: Vec<u8> = Vec::new();
    let mut rest = bytes;
    loop {
        // Reject a partial header as soon as it cannot match, instead of waiting for more bytes.
        let head = &rest[..rest.len().min(5)];
        let is_foreign = head.first().is_some_and(|kind| *kind != RECORD_HANDSHAKE)
            || head.get(1).is_some_and(|major| *major != 3)
            || head.get(2).is_some_and(|minor| *minor > 4);
        if is_foreign {
            return HandshakeMessage::Foreign;
        }
        let &[_, _, _, high, low] = head else { return HandshakeMessage::Part };
        let length = usize::from(u16::from_be_bytes([high, low]));
        if length == 0 || length > RECORD_BYTES_MAX {
            return HandshakeMessage::Foreign;
        }
        let here = &rest[5..rest.len().min(5 + length)];
        joined.extend_from_slice(here);
        if joined.first().is_some_and(|kind| *kind != MESSAGE_CLIENT_HELLO) {
            return HandshakeMessage::Foreign;
        }
        if let Some(&[_, a, b, c]) = joined.first_chunk::<4>() {
            let wanted = 4 + usize::from(a) * 65536 + usize::from(b) * 256 + usize::from(c);
            if wanted > HELLO_BYTES_MAX || joined.len() > wanted {
                return HandshakeMessage::Foreign;
            }
            if joined.len() == wanted {
                // The record that ends the message must not contain anything else.
                return if here.len() == length {
                    HandshakeMessage::Whole(joined.split_off(4))
                } else {
                    HandshakeMessage::Foreign
                };
            }
        }
        if here.len() < length {
            return HandshakeMessage::Part;
        }
        rest = &rest[5 + length..];
    }
}

/// The unread rest of a section.
struct HelloReader<'a>(&'a [u8]);

impl<'a> HelloReader<'a> {
    fn take_bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn read_byte(&mut self) -> Option<usize> {
        self.take_bytes(1).map(|bytes| usize::from(bytes[0]))
    }

    fn read_u16(&mut self) -> Option<u16> {
        self.take_bytes(2).map(|bytes| u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    /// Reads a section with a two-byte length prefix.
    fn read_part(&mut self) -> Option<HelloReader<'a>> {
        let length = self.read_u16()?;
        self.take_bytes(usize::from(length)).map(HelloReader)
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Parses the body (RFC 8446, 4.1.2). Returns `None` if lengths are inconsistent.
fn parse_hello_body(body: &[u8]) -> Option<ClientHello> {
    let mut body = HelloReader(body);
    let _version_and_random = body.take_bytes(2 + 32)?;
    let session = body.read_byte()?;
    body.take_bytes(session)?;
    let suites = body.read_part()?;
    let compressions = body.read_byte()?;
    body.take_bytes(compressions)?;
    if session > 32 || suites.0.len() < 2 || suites.0.len() % 2 != 0 || compressions == 0 {
        return None;
    }
    if body.is_empty() {
        return Some(ClientHello::NoServerName);
    }
    let mut extensions = body.read_part()?;
    if !body.is_empty() {
        return None;
    }
    let mut name: Option<String> = None;
    let mut is_hidden = false;
    while !extensions.is_empty() {
        let kind = extensions.read_u16()?;
        let content = extensions.read_part()?;
        match kind {
            EXTENSION_SERVER_NAME if name.is_some() => return None,
            EXTENSION_SERVER_NAME => name = Some(parse_server_name(content)?),
            EXTENSION_ENCRYPTED_HELLO => is_hidden = true,
            _ => {}
        }
    }
    Some(match name {
        _ if is_hidden => ClientHello::EncryptedServerName,
        Some(name) => ClientHello::ServerName(name),
        None => ClientHello::NoServerName,
    })
}

/// Parses the server name extension (RFC 6066, 3): a list with a single host name.
fn parse_server_name(mut content: HelloReader<'_>) -> Option<String> {
    let mut list = content.read_part()?;
    let kind = list.read_byte()?;
    let name = list.read_part()?;
    if kind != 0 || !list.is_empty() || !content.is_empty() {
        return None;
    }
    canonicalise_host_name(std::str::from_utf8(name.0).ok()?)
}

#[cfg(test)]
mod tests;
