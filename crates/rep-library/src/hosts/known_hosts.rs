//! All known hosts: those that discover skills in directories, and those that skills can be projected for.

use rep_hosts::HostInput;
use rep_model::suggestion::nearest_name;

use super::{DiscoveryHost, HOSTS};

/// A known host.
#[derive(Clone, Copy, Debug)]
pub struct KnownHost {
    /// The id.
    pub id: &'static str,
    /// The name.
    pub name: &'static str,
    /// How it discovers skills.
    pub discovery: Option<&'static DiscoveryHost>,
    /// How skills are projected for it.
    pub shape: Option<&'static rep_hosts::ProjectionHost>,
}

/// The error for a name that no host has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown host `{name}`")]
pub struct UnknownHost {
    /// The name.
    pub name: String,
    /// The most similar id.
    pub nearest: Option<&'static str>,
}

impl KnownHost {
    /// Returns all known hosts, starting with those that discover skills.
    pub fn all() -> Vec<Self> {
        let discovering = |host: &'static DiscoveryHost| {
            let shape = find_projection_host(host);
            // The same word can refer to a program and to an API. The program then has the longer id.
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

    /// Finds a host by its id or an alias.
    pub fn find(name: &str) -> Result<Self, UnknownHost> {
        let all = Self::all();
        all.iter().find(|host| host.has_name(name)).copied().ok_or_else(|| UnknownHost {
            name: name.to_owned(),
            nearest: nearest_name(name, all.iter().map(|host| host.id)),
        })
    }

    fn has_name(&self, name: &str) -> bool {
        let is_alias =
            |host: &DiscoveryHost| host.aliases.contains(&name) && rep_hosts::ProjectionHost::find(name).is_none();
        self.id == name
            || self.discovery.is_some_and(is_alias)
            || self.shape.is_some_and(|host| host.id == name || host.aliases.contains(&name))
    }
}

fn find_projection_host(host: &DiscoveryHost) -> Option<&'static rep_hosts::ProjectionHost> {
    let words = std::iter::once(host.id).chain(host.aliases.iter().copied());
    words.filter_map(rep_hosts::ProjectionHost::find).find(|shape| shape.takes == HostInput::Folders)
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
