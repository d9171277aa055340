//! The hosts of `permissions.network.outbound`: their syntax, and the names and addresses they match.
//!
//! Declarations, DNS queries and TLS client hellos share this one parser, because differences between two parsers are a
//! known way around host lists. A name consists of letters, digits and hyphens between dots. It is compared in lower
//! case and without a trailing dot. Anything else is rejected.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::HostRule;
use crate::is_public_address;

/// The maximum length of a name, and of a label.
const NAME_BYTES_MAX: usize = 253;
const LABEL_BYTES_MAX: usize = 63;

/// The ports of a declaration without a port.
const DEFAULT_PORTS: [u16; 2] = [443, 80];

/// Why a declared host is invalid and grants nothing. The message says what to write instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostRuleError {
    /// It is empty.
    Empty,
    /// It contains a character that is not ASCII.
    NotAscii,
    /// It is not a name: it has an invalid character, label or length.
    NotAName,
    /// The port is invalid.
    Port,
    /// It has more than a host and a port: a path, a query or user information.
    MoreThanAHost,
    /// The scheme is not HTTP or WebSocket.
    Scheme,
    /// It is a network, not a host.
    Network,
    /// The address has a form that programs interpret differently.
    OddAddress,
    /// The address cannot be connected to, or the gateway uses it.
    NoHostAddress,
    /// A star is not the whole first label.
    Star,
    /// It covers everything below a top-level domain.
    TopLevel,
}

impl fmt::Display for HostRuleError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            HostRuleError::Empty => "it is empty",
            HostRuleError::NotAscii => "it is not ASCII; write the name in its `xn--` form",
            HostRuleError::NotAName => "it is not a host name; use letters, digits and hyphens between dots",
            HostRuleError::Port => "the port is not a number from 1 to 65535",
            HostRuleError::MoreThanAHost => "only a host and a port are supported; write `host` or `host:port`",
            HostRuleError::Scheme => "the scheme is not supported; write `host:port`",
            HostRuleError::Network => "it is a network; list each address, or `*` for every host",
            HostRuleError::OddAddress => "the address is not canonical; write `192.0.2.7` or `[2001:db8::7]`",
            HostRuleError::NoHostAddress => "this address cannot be connected to",
            HostRuleError::Star => "`*` must be a whole label; write `*.example.org`, or `*` for every host",
            HostRuleError::TopLevel => "it covers a whole top-level domain; write the domain, or `*` for every host",
        })
    }
}

impl std::error::Error for HostRuleError {}

impl HostRule {
    /// Parses a declared host: `api.example.org`, `api.example.org:8443`, `*.example.org:443`, `*`, `localhost:8080`,
    /// `192.0.2.7:443`, `[::1]:80`, or a URL with only a host and an optional port. The scheme of a URL determines its
    /// port.
    pub fn parse(text: &str) -> Result<HostRule, HostRuleError> {
        if text.is_empty() {
            return Err(HostRuleError::Empty);
        }
        if !text.is_ascii() {
            return Err(HostRuleError::NotAscii);
        }
        let (rest, scheme_port) = strip_scheme(text)?;
        if let Ok(address) = rest.parse::<Ipv6Addr>() {
            return build_literal_rule(IpAddr::V6(address), scheme_port);
        }
        let (host, port) = split_port(rest)?;
        let port = port.or(scheme_port);
        if let Some(inside) = host.strip_prefix('[') {
            let inside = inside.strip_suffix(']').ok_or(HostRuleError::OddAddress)?;
            return build_literal_rule(IpAddr::V6(inside.parse().map_err(|_| HostRuleError::OddAddress)?), port);
        }
        if let Ok(address) = host.parse::<Ipv4Addr>() {
            return build_literal_rule(IpAddr::V4(address), port);
        }
        parse_name_rule(host, port)
    }

    /// Whether the rule allows a connection to this host and port. The host is a name or a literal address.
    pub fn matches(&self, host: &str, port: u16) -> bool {
        self.ports().contains(&port) && self.matches_host(host)
    }

    /// Whether the rule matches a host on any port.
    pub fn matches_host(&self, host: &str) -> bool {
        if let Ok(address) = host.parse::<IpAddr>() {
            return self.literal_address() == Some(address) || (self.is_any_host() && is_public_address(address));
        }
        let Some(name) = canonicalise_host_name(host) else { return false };
        if self.is_any_host() {
            return true;
        }
        match self.host.strip_prefix('*') {
            // The rest of `*.example.org` starts with a dot, so only whole labels match before it.
            Some(below) => name.len() > below.len() && name.ends_with(below),
            None => self.literal_address().is_none() && name == self.host,
        }
    }

    /// Whether the rule is `*`, which means every public host.
    pub fn is_any_host(&self) -> bool {
        self.host == "*"
    }

    /// Returns the address, if the rule is a literal address.
    pub fn literal_address(&self) -> Option<IpAddr> {
        self.host.parse().ok()
    }

    /// Returns the ports: the declared one, or the default ports.
    pub fn ports(&self) -> Vec<u16> {
        self.port.map_or_else(|| DEFAULT_PORTS.to_vec(), |port| vec![port])
    }
}

impl fmt::Display for HostRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.host.contains(':'), self.port) {
            (false, None) => formatter.write_str(&self.host),
            (false, Some(port)) => write!(formatter, "{}:{port}", self.host),
            (true, None) => write!(formatter, "[{}]", self.host),
            (true, Some(port)) => write!(formatter, "[{}]:{port}", self.host),
        }
    }
}

/// Returns the canonical form of a host name: lower case, without a trailing dot. Returns `None` if it is not a name,
/// or if resolvers would read it as an address, such as `127.1`, `2130706433` and `0x7f.1`.
pub fn canonicalise_host_name(name: &str) -> Option<String> {
    let name = name.strip_suffix('.').unwrap_or(name);
    if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.split('.').all(is_label) {
        return None;
    }
    let last = name.rsplit('.').next().unwrap_or(name);
    let digits = last.strip_prefix("0x").or_else(|| last.strip_prefix("0X"));
    let is_number = last.bytes().all(|byte| byte.is_ascii_digit())
        || digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    (!is_number).then(|| name.to_ascii_lowercase())
}

fn is_label(label: &str) -> bool {
    (1..=LABEL_BYTES_MAX).contains(&label.len())
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && !label.starts_with('-')
        && !label.ends_with('-')
}

/// Returns the rest of a URL after its scheme, without a trailing slash, and the port of the scheme.
fn strip_scheme(text: &str) -> Result<(&str, Option<u16>), HostRuleError> {
    let (rest, port) = match text.split_once("://") {
        None => (text, None),
        Some((scheme, rest)) => {
            let port = match scheme.to_ascii_lowercase().as_str() {
                "https" | "wss" => 443,
                "http" | "ws" => 80,
                _ => return Err(HostRuleError::Scheme),
            };
            (rest.strip_suffix('/').unwrap_or(rest), Some(port))
        }
    };
    if let Some((host, length)) = rest.split_once('/') {
        let is_network = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
        let is_address = host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
        return Err(if is_network && is_address { HostRuleError::Network } else { HostRuleError::MoreThanAHost });
    }
    if rest.contains(['?', '#', '@', '\\']) {
        return Err(HostRuleError::MoreThanAHost);
    }
    Ok((rest, port))
}

fn split_port(text: &str) -> Result<(&str, Option<u16>), HostRuleError> {
    // Colons in brackets belong to the address. An unclosed bracket is not an invalid port.
    if text.starts_with('[') && !text.contains(']') {
        return Ok((text, None));
    }
    let from = text.rfind(']').unwrap_or(0);
    let Some(colon) = text[from..].find(':').map(|at| from + at) else { return Ok((text, None)) };
    let digits = &text[colon + 1..];
    let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match digits.parse::<u16>() {
        Ok(port) if is_plain && port > 0 => Ok((&text[..colon], Some(port))),
        Ok(_) | Err(_) => Err(HostRuleError::Port),
    }
}

fn build_literal_rule(address: IpAddr, port: Option<u16>) -> Result<HostRule, HostRuleError> {
    let is_no_host = match address {
        IpAddr::V4(four) => {
            let first = four.octets()[0];
            // 198.18.0.0/15 contains the synthetic addresses, so a declared address there would be ambiguous.
            first == 0 || first >= 224 || (first == 198 && four.octets()[1] & 0xfe == 18)
        }
        IpAddr::V6(six) => six.is_unspecified() || six.is_multicast(),
    };
    if is_no_host {
        return Err(HostRuleError::NoHostAddress);
    }
    if matches!(address, IpAddr::V6(six) if six.to_ipv4_mapped().is_some()) {
        return Err(HostRuleError::OddAddress);
    }
    Ok(HostRule { host: address.to_string(), port })
}

fn parse_name_rule(host: &str, port: Option<u16>) -> Result<HostRule, HostRuleError> {
    if host == "*" {
        return Ok(HostRule { host: host.to_owned(), port });
    }
    let (stars, name) = host.strip_prefix("*.").map_or(("", host), |name| ("*.", name));
    if name.contains('*') {
        return Err(HostRuleError::Star);
    }
    let last = name.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
    if !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(HostRuleError::OddAddress);
    }
    let name = canonicalise_host_name(name).ok_or(HostRuleError::NotAName)?;
    if !stars.is_empty() && !name.contains('.') {
        return Err(HostRuleError::TopLevel);
    }
    // The star and its dot count, because a matching name must fit too.
    if stars.len() + name.len() > NAME_BYTES_MAX {
        return Err(HostRuleError::NotAName);
    }
    Ok(HostRule { host: format!("{stars}{name}"), port })
}

#[cfg(test)]
mod tests;
