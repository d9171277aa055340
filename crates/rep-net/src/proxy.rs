//! An HTTP proxy that the user names explicitly, for connections with TLS to other machines.
//!
//! The proxy opens a tunnel (`CONNECT`) and sees the name of the server. Everything inside is encrypted for the server.
//! Variables of the environment are not used.

use std::io::{Read, Write};

use crate::{HttpOrigin, NetError, NetErrorCode};

/// The maximum size of a proxy's answer.
const ANSWER_BYTES_MAX: usize = 16 << 10;

/// The address of a proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpProxy {
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl HttpProxy {
    /// Parses `http://HOST:PORT`. Returns a message if it is invalid.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (origin, rest) = HttpOrigin::split_url(text)?;
        if origin.is_encrypted || !matches!(rest, "" | "/") {
            return Err("write the address of a proxy as `http://HOST:PORT`".to_owned());
        }
        Ok(Self { host: origin.host, port: origin.port })
    }

    /// Returns the address as git takes it.
    pub fn to_url(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        format!("http://{host}:{}", self.port)
    }
}

/// Asks a proxy for a tunnel to a server.
pub(crate) fn open_tunnel(stream: &mut (impl Read + Write), host: &str, port: u16) -> Result<(), NetError> {
    let failed = |reason: String| {
        let message = format!("the proxy did not connect to `{host}`: {reason}");
        NetError::new(NetErrorCode::ConnectionFailed, message).unsent()
    };
    let shown = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    let request = format!("CONNECT {shown}:{port} HTTP/1.1\r\nHost: {shown}:{port}\r\n\r\n");
    stream.write_all(request.as_bytes()).map_err(|error| failed(error.to_string()))?;
    let mut answer = Vec::new();
    // One byte at a time, because what follows belongs to the tunnel.
    while !answer.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        let count = stream.read(&mut byte).map_err(|error| failed(error.to_string()))?;
        if count == 0 || answer.len() >= ANSWER_BYTES_MAX {
            return Err(failed("its answer is not HTTP".to_owned()));
        }
        answer.push(byte[0]);
    }
    let text = String::from_utf8_lossy(&answer);
    let mut words = text.lines().next().unwrap_or_default().split(' ');
    let is_http = words.next().is_some_and(|word| word.starts_with("HTTP/1."));
    match words.next() {
        Some("200") if is_http => Ok(()),
        Some(status) if is_http => Err(failed(format!("status {}", status.escape_debug()))),
        _ => Err(failed("its answer is not HTTP".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    struct Wire(Cursor<Vec<u8>>, Vec<u8>);

    impl Read for Wire {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            self.0.read(buffer)
        }
    }

    impl Write for Wire {
        fn write(&mut self, buffer: &[u8]) -> std::io::Result<usize> {
            self.1.write(buffer)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_tunnel_is_open_only_after_status_200() {
        let ask = |answer: &str| {
            let mut wire = Wire(Cursor::new(answer.as_bytes().to_vec()), Vec::new());
            let ended = open_tunnel(&mut wire, "r.example", 443);
            let mut rest = String::new();
            wire.0.read_to_string(&mut rest).unwrap();
            assert!(wire.1.starts_with(b"CONNECT r.example:443 HTTP/1.1\r\n"));
            ended.map(|()| rest)
        };
        assert_eq!(ask("HTTP/1.1 200 OK\r\nA: b\r\n\r\nrest").unwrap(), "rest");
        for answer in ["", "HTTP/1.1 407 No\r\n\r\n", "SSH-2.0\r\n\r\n", "HTTP/1.1 200 OK\r\n"] {
            assert!(ask(answer).is_err(), "{answer}");
        }
        assert!(ask(&"x".repeat(20_000)).is_err());
        for text in ["https://p:1", "http://p:1/x", "p:1", "http://me:word@p:1", ""] {
            assert!(HttpProxy::parse(text).is_err(), "{text}");
        }
        assert_eq!(HttpProxy::parse("http://p.example:3128").unwrap().to_url(), "http://p.example:3128");
    }
}
