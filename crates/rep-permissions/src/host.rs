//! The hosts of `permissions.network.outbound`: how they are written, and which names and addresses fit.
//!
//! There is one reading of a name here, for declarations, questions and greetings alike: what two parsers read
//! differently is how lists of hosts were passed by elsewhere. A name is letters, digits and hyphens between dots,
//! compared in lower case and without the dot at its end. Anything else is no name.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::HostRule;
use crate::is_public;

/// The longest name, and the longest label in one.
const NAME_BYTES_MAX: usize = 253;
const LABEL_BYTES_MAX: usize = 63;

/// The ports a host is granted on where its declaration names none.
const PORTS_UNNAMED: [u16; 2] = [443, 80];

/// Why a declared host grants nothing. The text says what to write instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadHost {
    /// It says nothing.
    Empty,
    /// A letter is not of ASCII.
    NotAscii,
    /// It is no name: a letter, a label or a length that names do not have.
    NotAName,
    /// The port is none.
    Port,
    /// It has more than a host and a port: a path, a query, a user.
    MoreThanAHost,
    /// The scheme is not one of the web.
    Scheme,
    /// A network, not a host.
    Network,
    /// An address in a form that not all programs read alike.
    OddAddress,
    /// An address nobody can be connected to, or one the gateway itself uses.
    NoHostAddress,
    /// A star that is not the whole first label.
    Star,
    /// Everything below a top-level domain.
    TopLevel,
}

impl fmt::Display for BadHost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            BadHost::Empty => "it is empty",
            BadHost::NotAscii => "it is not ASCII; write the name in its `xn--` form",
            BadHost::NotAName => "it is no host name; write letters, digits and hyphens between dots",
            BadHost::Port => "the port is not a number from 1 to 65535",
            BadHost::MoreThanAHost => "only a host and a port can be held to; write `host` or `host:port`",
            BadHost::Scheme => "the scheme is not of the web; write `host:port`",
            BadHost::Network => "it is a network; write each address, or `*` for every host",
            BadHost::OddAddress => "the address is not in its usual form; write `192.0.2.7` or `[2001:db8::7]`",
            BadHost::NoHostAddress => "no host can have this address",
            BadHost::Star => "a star stands for whole labels only; write `*.example.org`, or `*` for every host",
            BadHost::TopLevel => "everything below a top-level domain; write the domain, or `*` for every host",
        })
    }
}

impl std::error::Error for BadHost {}

impl HostRule {
    /// Reads a declared host: `api.example.org`, `api.example.org:8443`, `*.example.org:443`, `*`, `localhost:8080`,
    /// `192.0.2.7:443`, `[::1]:80`, or a URL that has nothing but a host and perhaps a port, which is all that can be
    /// held to. The scheme of a URL gives its port.
    pub fn parse(text: &str) -> Result<HostRule, BadHost> {
        if text.is_empty() {
            return Err(BadHost::Empty);
        }
        if !text.is_ascii() {
            return Err(BadHost::NotAscii);
        }
        let (rest, scheme_port) = without_scheme(text)?;
        if let Ok(address) = rest.parse::<Ipv6Addr>() {
            return literal(IpAddr::V6(address), scheme_port);
        }
        let (host, port) = split_port(rest)?;
        let port = port.or(scheme_port);
        if let Some(inside) = host.strip_prefix('[') {
            let inside = inside.strip_suffix(']').ok_or(BadHost::OddAddress)?;
            return literal(IpAddr::V6(inside.parse().map_err(|_| BadHost::OddAddress)?), port);
        }
        if let Ok(address) = host.parse::<Ipv4Addr>() {
            return literal(IpAddr::V4(address), port);
        }
        name_rule(host, port)
    }

    /// Whether a connection to this host on this port is declared. The host is a name or a literal address.
    pub fn fits(&self, host: &str, port: u16) -> bool {
        self.ports().contains(&port) && self.fits_host(host)
    }

    /// Whether a host is declared, on whatever port.
    pub fn fits_host(&self, host: &str) -> bool {
        if let Ok(address) = host.parse::<IpAddr>() {
            return self.literal() == Some(address) || (self.is_any() && is_public(address));
        }
        let Some(name) = canonical(host) else { return false };
        if self.is_any() {
            return true;
        }
        match self.host.strip_prefix('*') {
            // What is left of `*.example.org` starts with a dot, so that only whole labels can stand before it.
            Some(below) => name.len() > below.len() && name.ends_with(below),
            None => self.literal().is_none() && name == self.host,
        }
    }

    /// Whether every public host is declared.
    pub fn is_any(&self) -> bool {
        self.host == "*"
    }

    /// The address, where the declaration is one.
    pub fn literal(&self) -> Option<IpAddr> {
        self.host.parse().ok()
    }

    /// The ports: the one declared, or those of the web.
    pub fn ports(&self) -> Vec<u16> {
        self.port.map_or_else(|| PORTS_UNNAMED.to_vec(), |port| vec![port])
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

/// The one form of a host name: lower case, no dot at its end. `None` where it is no name, or an address in disguise:
/// resolvers read `127.1`, `2130706433` and `0x7f.1` as addresses.
pub fn canonical(name: &str) -> Option<String> {
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

/// What stands behind the scheme of a URL, without the slash at its end, and the scheme's port.
fn without_scheme(text: &str) -> Result<(&str, Option<u16>), BadHost> {
    let (rest, port) = match text.split_once("://") {
        None => (text, None),
        Some((scheme, rest)) => {
            let port = match scheme.to_ascii_lowercase().as_str() {
                "https" | "wss" => 443,
                "http" | "ws" => 80,
                _ => return Err(BadHost::Scheme),
            };
            (rest.strip_suffix('/').unwrap_or(rest), Some(port))
        }
    };
    if let Some((host, length)) = rest.split_once('/') {
        let is_network = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
        let is_address = host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
        return Err(if is_network && is_address { BadHost::Network } else { BadHost::MoreThanAHost });
    }
    if rest.contains(['?', '#', '@', '\\']) {
        return Err(BadHost::MoreThanAHost);
    }
    Ok((rest, port))
}

fn split_port(text: &str) -> Result<(&str, Option<u16>), BadHost> {
    // Colons inside brackets belong to the address, and brackets that do not close are no port's fault.
    if text.starts_with('[') && !text.contains(']') {
        return Ok((text, None));
    }
    let from = text.rfind(']').unwrap_or(0);
    let Some(colon) = text[from..].find(':').map(|at| from + at) else { return Ok((text, None)) };
    let digits = &text[colon + 1..];
    let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match digits.parse::<u16>() {
        Ok(port) if is_plain && port > 0 => Ok((&text[..colon], Some(port))),
        Ok(_) | Err(_) => Err(BadHost::Port),
    }
}

fn literal(address: IpAddr, port: Option<u16>) -> Result<HostRule, BadHost> {
    let is_no_host = match address {
        IpAddr::V4(four) => {
            let first = four.octets()[0];
            // 198.18.0.0/15 stands for names inside; a declared address there would be two things at once.
            first == 0 || first >= 224 || (first == 198 && four.octets()[1] & 0xfe == 18)
        }
        IpAddr::V6(six) => six.is_unspecified() || six.is_multicast(),
    };
    if is_no_host {
        return Err(BadHost::NoHostAddress);
    }
    if matches!(address, IpAddr::V6(six) if six.to_ipv4_mapped().is_some()) {
        return Err(BadHost::OddAddress);
    }
    Ok(HostRule { host: address.to_string(), port })
}

fn name_rule(host: &str, port: Option<u16>) -> Result<HostRule, BadHost> {
    if host == "*" {
        return Ok(HostRule { host: host.to_owned(), port });
    }
    let (stars, name) = host.strip_prefix("*.").map_or(("", host), |name| ("*.", name));
    if name.contains('*') {
        return Err(BadHost::Star);
    }
    let last = name.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
    if !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(BadHost::OddAddress);
    }
    let name = canonical(name).ok_or(BadHost::NotAName)?;
    if !stars.is_empty() && !name.contains('.') {
        return Err(BadHost::TopLevel);
    }
    // The star and its dot count: a name below must fit too.
    if stars.len() + name.len() > NAME_BYTES_MAX {
        return Err(BadHost::NotAName);
    }
    Ok(HostRule { host: format!("{stars}{name}"), port })
}

#[cfg(test)]
mod tests;
