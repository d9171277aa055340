//! HTTP methods, and the server of a URL.

use std::fmt;

/// An HTTP method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpMethod {
    /// Reads a resource.
    Get,
    /// Reads only the headers of a resource.
    Head,
    /// Submits data for processing.
    Post,
    /// Replaces a resource.
    Put,
    /// Changes part of a resource.
    Patch,
    /// Removes a resource.
    Delete,
    /// Returns the supported operations.
    Options,
}

impl HttpMethod {
    /// All methods.
    pub const ALL: [HttpMethod; 7] = [
        HttpMethod::Get,
        HttpMethod::Head,
        HttpMethod::Post,
        HttpMethod::Put,
        HttpMethod::Patch,
        HttpMethod::Delete,
        HttpMethod::Options,
    ];

    /// Returns the name as written in a request.
    pub const fn name(self) -> &'static str {
        match self {
            HttpMethod::Get => "GET",
            HttpMethod::Head => "HEAD",
            HttpMethod::Post => "POST",
            HttpMethod::Put => "PUT",
            HttpMethod::Patch => "PATCH",
            HttpMethod::Delete => "DELETE",
            HttpMethod::Options => "OPTIONS",
        }
    }

    /// Whether repeating the request has the same effect (RFC 9110 §9.2.2).
    pub const fn is_idempotent(self) -> bool {
        !matches!(self, HttpMethod::Post | HttpMethod::Patch)
    }

    /// Whether arguments without a location are sent in the body.
    pub const fn has_body(self) -> bool {
        matches!(self, HttpMethod::Post | HttpMethod::Put | HttpMethod::Patch)
    }

    /// Parses a method name, which must be in capitals.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == word)
    }
}

/// The server of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpOrigin {
    /// Whether the scheme is `https` rather than `http`.
    pub is_encrypted: bool,
    /// The name in lower case, or an address without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
}

impl fmt::Display for HttpOrigin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, usual) = if self.is_encrypted { ("https", 443) } else { ("http", 80) };
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        match self.port {
            port if port == usual => write!(formatter, "{scheme}://{host}"),
            port => write!(formatter, "{scheme}://{host}:{port}"),
        }
    }
}

impl HttpOrigin {
    /// Parses the start of an absolute URL, and returns the rest. A host may contain only letters, digits, dots,
    /// hyphens and brackets: user information, escapes and placeholders are rejected.
    pub fn split_url(text: &str) -> Result<(HttpOrigin, &str), String> {
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
            return Err(format!("`{host}` is not a host"));
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
                port.ok_or_else(|| format!("`{digits}` is not a port"))?
            }
        };
        let host = bare.unwrap_or(host).trim_end_matches('.').to_ascii_lowercase();
        Ok((HttpOrigin { is_encrypted, host, port }, after))
    }
}
