//! Stand-ins: the addresses that names have inside. They mean something in one run only.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use super::RESOLVER;

/// The most names of one run. Where every name below a domain is declared, the program chooses how many it asks.
const NAMES_MAX: usize = 4096;

/// Which address stands for which name.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// In order of their addresses, from the one behind the resolver's on.
    names: Vec<String>,
    positions: BTreeMap<String, usize>,
}

impl Names {
    /// The address of a name, the same each time. `None` where there are too many.
    pub(super) fn address(&mut self, name: &str) -> Option<Ipv4Addr> {
        if let Some(position) = self.positions.get(name) {
            return address_at(*position);
        }
        if self.names.len() == NAMES_MAX {
            return None;
        }
        let position = self.names.len();
        self.names.push(name.to_owned());
        self.positions.insert(name.to_owned(), position);
        address_at(position)
    }

    /// The name an address stands for.
    pub(super) fn name(&self, address: Ipv4Addr) -> Option<&str> {
        let position = address.to_bits().checked_sub(RESOLVER.to_bits() + 1)?;
        self.names.get(usize::try_from(position).ok()?).map(String::as_str)
    }
}

fn address_at(position: usize) -> Option<Ipv4Addr> {
    u32::try_from(position).ok().map(|position| Ipv4Addr::from_bits(RESOLVER.to_bits() + 1 + position))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_leads_back_to_its_name_and_no_other_does() {
        let mut names = Names::default();
        for number in 0..NAMES_MAX {
            let name = format!("n{number}.example.com");
            let address = names.address(&name).unwrap();
            assert_eq!(names.address(&name), Some(address));
            assert_eq!(names.name(address), Some(name.as_str()));
        }
        assert_eq!(names.address("one-more.example.com"), None);
        assert!(names.address("n0.example.com").is_some(), "what has an address keeps it");
        for other in [RESOLVER, Ipv4Addr::new(198, 18, 77, 7), Ipv4Addr::new(198, 18, 0, 0), Ipv4Addr::LOCALHOST] {
            assert_eq!(names.name(other), None, "{other}");
        }
    }
}
