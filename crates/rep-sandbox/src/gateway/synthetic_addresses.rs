//! Assigns synthetic addresses to names. An assignment is valid for a single run.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use super::RESOLVER_ADDRESS;

/// The maximum number of names in a run. With a wildcard declaration, the program decides how many names it queries.
const NAMES_MAX: usize = 4096;

/// The mapping between synthetic addresses and names.
#[derive(Debug, Default)]
pub(super) struct SyntheticAddresses {
    /// The names in the order of their addresses, which start after the resolver's address.
    names: Vec<String>,
    positions: BTreeMap<String, usize>,
}

impl SyntheticAddresses {
    /// Returns the address of a name, which does not change. Returns `None` if there are too many names.
    pub(super) fn assign_address(&mut self, name: &str) -> Option<Ipv4Addr> {
        if let Some(position) = self.positions.get(name) {
            return address_at_position(*position);
        }
        if self.names.len() == NAMES_MAX {
            return None;
        }
        let position = self.names.len();
        self.names.push(name.to_owned());
        self.positions.insert(name.to_owned(), position);
        address_at_position(position)
    }

    /// Returns the name that an address is assigned to.
    pub(super) fn find_name(&self, address: Ipv4Addr) -> Option<&str> {
        let position = address.to_bits().checked_sub(RESOLVER_ADDRESS.to_bits() + 1)?;
        self.names.get(usize::try_from(position).ok()?).map(String::as_str)
    }
}

fn address_at_position(position: usize) -> Option<Ipv4Addr> {
    u32::try_from(position).ok().map(|position| Ipv4Addr::from_bits(RESOLVER_ADDRESS.to_bits() + 1 + position))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_leads_back_to_its_name_and_no_other_does() {
        let mut names = SyntheticAddresses::default();
        for number in 0..NAMES_MAX {
            let name = format!("n{number}.example.com");
            let address = names.assign_address(&name).unwrap();
            assert_eq!(names.assign_address(&name), Some(address));
            assert_eq!(names.find_name(address), Some(name.as_str()));
        }
        assert_eq!(names.assign_address("one-more.example.com"), None);
        assert!(names.assign_address("n0.example.com").is_some(), "an assigned address does not change");
        for other in
            [RESOLVER_ADDRESS, Ipv4Addr::new(198, 18, 77, 7), Ipv4Addr::new(198, 18, 0, 0), Ipv4Addr::LOCALHOST]
        {
            assert_eq!(names.find_name(other), None, "{other}");
        }
    }
}
