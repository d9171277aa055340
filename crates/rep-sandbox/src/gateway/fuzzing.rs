//! Runs the packet parsers on arbitrary bytes. Only the fuzz targets in `fuzz/` call this module.

use std::net::Ipv4Addr;

use super::client_hello::{self, ClientHello};
use super::dns::{self, DnsPacket, DnsReply};

/// Parses a DNS packet. Returns the requested name and the answer that would be sent.
pub fn answer_dns(packet: &[u8]) -> (Option<String>, Option<Vec<u8>>) {
    match dns::parse_packet(packet) {
        DnsPacket::Question(question) => {
            let answer = dns::encode_answer(&question, DnsReply::Exists(Some(Ipv4Addr::LOCALHOST)));
            (Some(question.name), Some(answer))
        }
        DnsPacket::Rejected(answer) => (None, Some(answer)),
        DnsPacket::Ignored => (None, None),
    }
}

/// Parses the first bytes of a TLS connection. Returns the state as a word, and the server name if there is one.
pub fn read_hello(bytes: &[u8]) -> (&'static str, Option<String>) {
    match client_hello::parse_client_hello(bytes) {
        ClientHello::Incomplete => ("unfinished", None),
        ClientHello::ServerName(name) => ("names", Some(name)),
        ClientHello::NoServerName => ("nameless", None),
        ClientHello::EncryptedServerName => ("hidden", None),
        ClientHello::NotTls => ("foreign", None),
    }
}
