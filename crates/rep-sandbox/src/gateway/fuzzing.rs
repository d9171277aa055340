//! Runs the packet readers on any bytes. Only the fuzz targets in `fuzz/` call this.

use std::net::Ipv4Addr;

use super::dns::{self, Packet, Reply};
use super::hello::{self, Hello};

/// Reads a DNS packet. Returns the name it asks for, and the answer that would be sent.
pub fn answer_dns(packet: &[u8]) -> (Option<String>, Option<Vec<u8>>) {
    match dns::read(packet) {
        Packet::Question(question) => {
            let answer = dns::write(&question, Reply::Exists(Some(Ipv4Addr::LOCALHOST)));
            (Some(question.name), Some(answer))
        }
        Packet::Wrong(answer) => (None, Some(answer)),
        Packet::Noise => (None, None),
    }
}

/// Reads the first bytes of a TLS connection. Returns the state in one word, and the name where there is one.
pub fn read_hello(bytes: &[u8]) -> (&'static str, Option<String>) {
    match hello::read(bytes) {
        Hello::Unfinished => ("unfinished", None),
        Hello::Names(name) => ("names", Some(name)),
        Hello::Nameless => ("nameless", None),
        Hello::Hidden => ("hidden", None),
        Hello::Foreign => ("foreign", None),
    }
}
