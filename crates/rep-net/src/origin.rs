//! What a request does, and which server it goes to.

use std::fmt;

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Reads, without the body.
    Head,
    /// Sends something to be dealt with.
    Post,
    /// Puts something in a place.
    Put,
    /// Changes a part.
    Patch,
    /// Removes.
    Delete,
    /// Asks what can be done.
    Options,
}

impl Method {
    /// Every method.
    pub const ALL: [Method; 7] =
        [Method::Get, Method::Head, Method::Post, Method::Put, Method::Patch, Method::Delete, Method::Options];

    /// The word in a request.
    pub const fn name(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Head => "HEAD",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
            Method::Options => "OPTIONS",
        }
    }

    /// Whether doing it twice is doing it once (RFC 9110 §9.2.2).
    pub const fn is_idempotent(self) -> bool {
        !matches!(self, Method::Post | Method::Patch)
    }

    /// Whether arguments without a place go into a body.
    pub const fn has_body(self) -> bool {
        matches!(self, Method::Post | Method::Put | Method::Patch)
    }

    /// In capitals, as the specification writes it.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == word)
    }
}

/// The server of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Whether the connection is encrypted: `https`, else `http`.
    pub is_encrypted: bool,
    /// The name in lower case, or an address without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, usual) = if self.is_encrypted { ("https", 443) } else { ("http", 80) };
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        match self.port {
            port if port == usual => write!(formatter, "{scheme}://{host}"),
            port => write!(formatter, "{scheme}://{host}:{port}"),
        }
    }
}

impl Origin {
    /// Reads the start of an absolute address, and gives what follows. Letters, digits, dots, hyphens and brackets are all a
    /// host can have: no user, no escape, and no place for an argument.
    pub fn split(text: &str) -> Result<(Origin, &str), String> {
        let (is_encrypted, rest) = match text.split_once("://") {
            Some(("https", rest)) => (true, rest),
            Some(("http", rest)) => (false, rest),
            _ => return Err("it does not start with `https://` or `http://`".to_owned()),
        };
        let from = if rest.starts_with('[') { rest.find(']').unwrap_or(0) } else { 0 };
        let end = rest[from..].find(['/', '?', '#', '[']).map_or(rest.len(), |at| from + at);
        let (authority, after) = rest.split_at(end);
        let (host, port) = match authority[from..].find(':').map(|at| from + at) {
            Some(colon) => (&authority[..colon], Some(&authority[colon + 1..])),
            None => (authority, None),
        };
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let is_fit = match bare {
            Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
            None => !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte)),
        };
        if !is_fit {
            return Err(format!("`{host}` is no host"));
        }
        let port = match port {
            None => {
                if is_encrypted {
                    443
                } else {
                    80
                }
            }
            Some(digits) => {
                let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
                let port = digits.parse().ok().filter(|port| is_plain && *port > 0);
                port.ok_or_else(|| format!("`{digits}` is no port"))?
            }
        };
        let host = bare.unwrap_or(host).trim_end_matches('.').to_ascii_lowercase();
        Ok((Origin { is_encrypted, host, port }, after))
    }
}
