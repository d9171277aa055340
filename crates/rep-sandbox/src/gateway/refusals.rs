//! Records refused connections, each once and up to a limit.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};

use crate::Denial;
use rep_permissions::HostRule;

/// The maximum number of recorded refusals.
const REFUSALS_MAX: usize = 256;

/// Why a connection was not established.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefusalReason {
    /// The name is not declared. It was not looked up.
    NameNotDeclared,
    /// The host is not declared, or not on this port.
    NotDeclared,
    /// The name resolves to an address that is not public.
    NotPublic(SocketAddr),
    /// The TLS client hello names another host than the one connected to.
    ServerNameMismatch(String),
    /// The TLS client hello has no server name.
    NoServerName,
    /// The TLS client hello encrypts the server name.
    EncryptedServerName,
    /// The client does not use TLS on the HTTPS port.
    NotTls,
    /// The TLS client hello did not arrive in time.
    GreetingTimeout,
    /// Too many connections are open.
    TooManyConnections,
    /// Too many names are in use.
    TooManyNames,
    /// The name could not be resolved. This is a failure, not a denial.
    Unresolved(String),
    /// The host could not be reached. This is a failure, not a denial.
    Unreachable(String),
}

impl fmt::Display for RefusalReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RefusalReason::NameNotDeclared => formatter.write_str("the name is not declared"),
            RefusalReason::NotDeclared => formatter.write_str("the host is not declared on this port"),
            RefusalReason::NotPublic(address) => write!(formatter, "resolves to {}, which is not public", address.ip()),
            RefusalReason::ServerNameMismatch(name) => write!(formatter, "the TLS client hello names `{name}`"),
            RefusalReason::NoServerName => formatter.write_str("the TLS client hello has no server name"),
            RefusalReason::EncryptedServerName => {
                formatter.write_str("the TLS client hello encrypts the server name (ECH)")
            }
            RefusalReason::NotTls => formatter.write_str("the client does not use TLS"),
            RefusalReason::GreetingTimeout => formatter.write_str("the TLS client hello did not arrive in time"),
            RefusalReason::TooManyConnections => formatter.write_str("too many connections"),
            RefusalReason::TooManyNames => formatter.write_str("too many host names"),
            RefusalReason::Unresolved(reason) => write!(formatter, "the name could not be resolved: {reason}"),
            RefusalReason::Unreachable(reason) => write!(formatter, "the host could not be reached: {reason}"),
        }
    }
}

/// A connection that was not established.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionRefusal {
    /// The destination: a host and port, or a name that was looked up.
    pub target: String,
    /// The reason.
    pub reason: RefusalReason,
}

impl ConnectionRefusal {
    /// Whether declarations or limits prevented it, rather than a network failure.
    pub fn is_denial(&self) -> bool {
        !matches!(self.reason, RefusalReason::Unresolved(_) | RefusalReason::Unreachable(_))
    }

    /// Converts it to the denial reported in the outcome of a run.
    pub fn to_denial(&self) -> Denial {
        let action = if matches!(self.reason, RefusalReason::NameNotDeclared | RefusalReason::TooManyNames) {
            "resolve"
        } else {
            "connect"
        };
        let declared = match &self.reason {
            RefusalReason::NameNotDeclared | RefusalReason::NotDeclared => HostRule::parse(&self.target).ok(),
            RefusalReason::NotPublic(address) => {
                HostRule::parse(&format_target(&address.ip().to_string(), address.port())).ok()
            }
            _ => None,
        };
        let suggestion = declared.map(|rule| format!("network.outbound: \"{rule}\""));
        Denial { action, target: self.target.clone(), suggestion }
    }
}

/// The refusals so far.
#[derive(Debug, Default)]
pub(super) struct RefusalLog {
    refusals: Vec<ConnectionRefusal>,
    /// The names of synthetic addresses, for reports about connections that do not reach the gateway.
    names: BTreeMap<Ipv4Addr, String>,
}

impl RefusalLog {
    pub(super) fn add_refusal(&mut self, target: String, why: RefusalReason) {
        let refusal = ConnectionRefusal { target, reason: why };
        if self.refusals.len() < REFUSALS_MAX && !self.refusals.contains(&refusal) {
            self.refusals.push(refusal);
        }
    }

    /// Records the name of a synthetic address. The number of addresses is limited where they are assigned.
    pub(super) fn add_name(&mut self, address: Ipv4Addr, name: String) {
        self.names.insert(address, name);
    }

    pub(super) fn find_name(&self, address: Ipv4Addr) -> Option<String> {
        self.names.get(&address).cloned()
    }

    pub(super) fn refusals(&self) -> &[ConnectionRefusal] {
        &self.refusals
    }
}

/// Formats a host and a port, with brackets around IPv6 addresses.
pub(super) fn format_target(host: &str, port: u16) -> String {
    HostRule { host: host.to_owned(), port: Some(port) }.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggestion_for(target: &str, why: RefusalReason) -> Option<String> {
        ConnectionRefusal { target: target.to_owned(), reason: why }.to_denial().suggestion
    }

    #[test]
    fn a_denial_says_what_would_allow_it() {
        let quoted = |text: &str| Some(format!("network.outbound: \"{text}\""));
        assert_eq!(suggestion_for("other.example.com", RefusalReason::NameNotDeclared), quoted("other.example.com"));
        assert_eq!(suggestion_for("api.example.com:80", RefusalReason::NotDeclared), quoted("api.example.com:80"));
        assert_eq!(suggestion_for("[::1]:80", RefusalReason::NotDeclared), quoted("[::1]:80"));
        let private = RefusalReason::NotPublic(SocketAddr::from(([10, 0, 0, 5], 443)));
        assert_eq!(suggestion_for("intern.example.com:443", private), quoted("10.0.0.5:443"));
    }

    #[test]
    fn what_no_declaration_would_allow_has_no_suggestion() {
        assert_eq!(suggestion_for("198.18.77.7:443", RefusalReason::NotDeclared), None);
        assert_eq!(suggestion_for("evil\\x00.example.com", RefusalReason::NameNotDeclared), None);
        assert_eq!(suggestion_for("api.example.com:443", RefusalReason::NotTls), None);
        assert_eq!(suggestion_for("api.example.com:443", RefusalReason::ServerNameMismatch("b.example".into())), None);
    }

    #[test]
    fn the_record_has_an_end_and_no_repetition() {
        let mut record = RefusalLog::default();
        for number in 0..2 * REFUSALS_MAX {
            record.add_refusal(format!("n{}.example.com", number / 2), RefusalReason::NameNotDeclared);
        }
        assert_eq!(record.refusals().len(), REFUSALS_MAX);
        record.add_refusal("more.example.com".into(), RefusalReason::NameNotDeclared);
        assert_eq!(record.refusals().len(), REFUSALS_MAX);
    }
}
