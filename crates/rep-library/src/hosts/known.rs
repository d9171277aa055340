//! All hosts that are known: those whose folders are read, and those a skill can be written for.

use rep_hosts::Takes;
use rep_model::suggestion::nearest_name;

use super::{HOSTS, Host};

/// What is known of one host.
#[derive(Clone, Copy, Debug)]
pub struct KnownHost {
    /// Its id.
    pub id: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Where it looks for skills, and how.
    pub discovery: Option<&'static Host>,
    /// How a skill is written for it.
    pub shape: Option<&'static rep_hosts::Host>,
}

/// A name that no known host has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no host `{name}`")]
pub struct UnknownHost {
    /// The name.
    pub name: String,
    /// The id that is most like it.
    pub nearest: Option<&'static str>,
}

impl KnownHost {
    /// All known hosts, those that look for skills first.
    pub fn all() -> Vec<Self> {
        let discovering = |host: &'static Host| {
            let shape = shape_of(host);
            // The same word may name a program here and an API there; the program has the longer name then.
            Self { id: shape.map_or(host.id, |shape| shape.id), name: host.name, discovery: Some(host), shape }
        };
        let mut known: Vec<Self> = HOSTS.iter().map(discovering).collect();
        for shape in &rep_hosts::HOSTS {
            if !known.iter().any(|host| host.shape.is_some_and(|other| other.id == shape.id)) {
                known.push(Self { id: shape.id, name: shape.name, discovery: None, shape: Some(shape) });
            }
        }
        known
    }

    /// The host of an id or an alias.
    pub fn find(name: &str) -> Result<Self, UnknownHost> {
        let all = Self::all();
        all.iter().find(|host| host.is_named(name)).copied().ok_or_else(|| UnknownHost {
            name: name.to_owned(),
            nearest: nearest_name(name, all.iter().map(|host| host.id)),
        })
    }

    fn is_named(&self, name: &str) -> bool {
        let is_alias = |host: &Host| host.aliases.contains(&name) && rep_hosts::Host::named(name).is_none();
        self.id == name
            || self.discovery.is_some_and(is_alias)
            || self.shape.is_some_and(|host| host.id == name || host.aliases.contains(&name))
    }
}

fn shape_of(host: &Host) -> Option<&'static rep_hosts::Host> {
    let words = std::iter::once(host.id).chain(host.aliases.iter().copied());
    words.filter_map(rep_hosts::Host::named).find(|shape| shape.takes == Takes::Folders)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_of_both_tables_is_found_by_its_id() {
        let all = KnownHost::all();
        let mut ids: Vec<&str> = all.iter().map(|host| host.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all.len());
        for host in &all {
            assert_eq!(KnownHost::find(host.id).map(|found| found.id), Ok(host.id));
        }
        let unknown = KnownHost::find("claude-cod").unwrap_err();
        assert_eq!(unknown.nearest, Some("claude-code"));
    }
}
