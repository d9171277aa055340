//! What was refused, so that people see it: each thing once, and not more than can be read.

use std::fmt;
use std::net::SocketAddr;

use crate::Denial;
use rep_permissions::HostRule;

/// The most refusals that are kept. A program that tries more has been understood.
const REFUSALS_MAX: usize = 256;

/// Why a connection did not come about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// The name is not declared; it was not asked anywhere.
    NameNotDeclared,
    /// The host is not declared, or not on this port.
    NotDeclared,
    /// The name resolves to an address that is not of the public internet.
    NotPublic(SocketAddr),
    /// The greeting of TLS asks for another name than the one that was connected to.
    OtherName(String),
    /// The greeting of TLS asks for no name.
    Nameless,
    /// The greeting of TLS hides its name.
    Hidden,
    /// On the port of HTTPS something else than TLS was spoken.
    NotTls,
    /// The greeting did not come in time.
    Silent,
    /// There are too many connections.
    TooMany,
    /// There are too many names.
    TooManyNames,
    /// The name has no address: no refusal, but a failure.
    Unresolved(String),
    /// Nobody answers at its address: no refusal, but a failure.
    Unreachable(String),
}

impl fmt::Display for Why {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::NameNotDeclared => formatter.write_str("the name is not declared"),
            Why::NotDeclared => formatter.write_str("the host is not declared on this port"),
            Why::NotPublic(address) => write!(formatter, "it leads to {}, which is not public", address.ip()),
            Why::OtherName(name) => write!(formatter, "the TLS greeting asks for `{name}`"),
            Why::Nameless => formatter.write_str("the TLS greeting asks for no name"),
            Why::Hidden => formatter.write_str("the TLS greeting hides the name it asks for (ECH)"),
            Why::NotTls => formatter.write_str("what is spoken is not TLS"),
            Why::Silent => formatter.write_str("the TLS greeting did not come in time"),
            Why::TooMany => formatter.write_str("there are too many connections"),
            Why::TooManyNames => formatter.write_str("there are too many names"),
            Why::Unresolved(reason) => write!(formatter, "its name could not be resolved: {reason}"),
            Why::Unreachable(reason) => write!(formatter, "it could not be reached: {reason}"),
        }
    }
}

/// A connection that did not come about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Where it should have gone: a host and a port, or a name that was asked.
    pub target: String,
    /// Why it did not.
    pub why: Why,
}

impl Refusal {
    /// Whether it was the declarations or the bounds that stood against it, not the world.
    pub fn is_denial(&self) -> bool {
        !matches!(self.why, Why::Unresolved(_) | Why::Unreachable(_))
    }

    /// As the outcome of a run tells it.
    pub fn denial(&self) -> Denial {
        let action = if matches!(self.why, Why::NameNotDeclared | Why::TooManyNames) { "resolve" } else { "connect" };
        let declared = match &self.why {
            Why::NameNotDeclared | Why::NotDeclared => HostRule::parse(&self.target).ok(),
            Why::NotPublic(address) => HostRule::parse(&target(&address.ip().to_string(), address.port())).ok(),
            _ => None,
        };
        let suggestion = declared.map(|rule| format!("network.outbound: \"{rule}\""));
        Denial { action, target: self.target.clone(), suggestion }
    }
}

/// What was refused so far.
#[derive(Debug, Default)]
pub(super) struct Record {
    refusals: Vec<Refusal>,
}

impl Record {
    pub(super) fn add(&mut self, target: String, why: Why) {
        let refusal = Refusal { target, why };
        if self.refusals.len() < REFUSALS_MAX && !self.refusals.contains(&refusal) {
            self.refusals.push(refusal);
        }
    }

    pub(super) fn refusals(&self) -> &[Refusal] {
        &self.refusals
    }
}

/// A host and a port, with brackets where the host has colons.
pub(super) fn target(host: &str, port: u16) -> String {
    HostRule { host: host.to_owned(), port: Some(port) }.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggestion(target: &str, why: Why) -> Option<String> {
        Refusal { target: target.to_owned(), why }.denial().suggestion
    }

    #[test]
    fn a_denial_says_what_would_allow_it() {
        let quoted = |text: &str| Some(format!("network.outbound: \"{text}\""));
        assert_eq!(suggestion("other.example.com", Why::NameNotDeclared), quoted("other.example.com"));
        assert_eq!(suggestion("api.example.com:80", Why::NotDeclared), quoted("api.example.com:80"));
        assert_eq!(suggestion("[::1]:80", Why::NotDeclared), quoted("[::1]:80"));
        let private = Why::NotPublic(SocketAddr::from(([10, 0, 0, 5], 443)));
        assert_eq!(suggestion("intern.example.com:443", private), quoted("10.0.0.5:443"));
    }

    #[test]
    fn what_no_declaration_would_allow_has_no_suggestion() {
        assert_eq!(suggestion("198.18.77.7:443", Why::NotDeclared), None);
        assert_eq!(suggestion("evil\\x00.example.com", Why::NameNotDeclared), None);
        assert_eq!(suggestion("api.example.com:443", Why::NotTls), None);
        assert_eq!(suggestion("api.example.com:443", Why::OtherName("b.example".into())), None);
    }

    #[test]
    fn the_record_has_an_end_and_no_repetition() {
        let mut record = Record::default();
        for number in 0..2 * REFUSALS_MAX {
            record.add(format!("n{}.example.com", number / 2), Why::NameNotDeclared);
        }
        assert_eq!(record.refusals().len(), REFUSALS_MAX);
        record.add("more.example.com".into(), Why::NameNotDeclared);
        assert_eq!(record.refusals().len(), REFUSALS_MAX);
    }
}
