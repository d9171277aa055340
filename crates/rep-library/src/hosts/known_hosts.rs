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

/// The error for a name that is not that of a host with skill directories.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostWithoutFolders {
    /// No host has this name.
    #[error("unknown host `{name}`")]
    Unknown {
        /// The name.
        name: String,
        /// The most similar id of a host with skill directories.
        nearest: Option<&'static str>,
    },
    /// The host reads no directories.
    #[error("`{id}` is {name}, which reads no skill directories")]
    ReadsNone {
        /// The id.
        id: &'static str,
        /// The name.
        name: &'static str,
        /// The most similar id of a host with skill directories.
        nearest: Option<&'static str>,
    },
}

impl HostWithoutFolders {
    /// Returns what to do instead.
    pub fn remedy(&self) -> String {
        let (HostWithoutFolders::Unknown { nearest, .. } | HostWithoutFolders::ReadsNone { nearest, .. }) = self;
        match (nearest, self) {
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, HostWithoutFolders::ReadsNone { id, .. }) => {
                format!("use `rep export --host {id}`, or run `rep hosts` to see the hosts with directories")
            }
            (None, HostWithoutFolders::Unknown { .. }) => {
                let all: Vec<&str> = HOSTS.iter().map(|host| host.id).collect();
                format!("the hosts are: {}", all.join(", "))
            }
        }
    }
}

impl DiscoveryHost {
    /// Finds a host with skill directories by its id or an alias. The name of a host without directories, such as that
    /// of an API, never refers to a host with a similar name.
    pub fn find_named(name: &str) -> Result<&'static DiscoveryHost, HostWithoutFolders> {
        if let Some(host) = DiscoveryHost::find(name) {
            return Ok(host);
        }
        let nearest = DiscoveryHost::nearest_id(name);
        Err(match KnownHost::find(name) {
            Ok(host) => HostWithoutFolders::ReadsNone { id: host.id, name: host.name, nearest },
            Err(_) => HostWithoutFolders::Unknown { name: name.to_owned(), nearest },
        })
    }
}

impl KnownHost {
    /// Returns all known hosts, starting with those that discover skills.
    pub fn all() -> Vec<Self> {
        let discovering = |host: &'static DiscoveryHost| {
            let shape = find_projection_host(host);
            Self { id: host.id, name: host.name, discovery: Some(host), shape }
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

    #[test]
    fn an_api_never_refers_to_a_program_with_a_similar_name() {
        let api = KnownHost::find("gemini").unwrap();
        assert!(api.discovery.is_none() && api.shape.is_some());
        let program = KnownHost::find("gemini-cli").unwrap();
        assert!(program.discovery.is_some() && program.shape.is_some_and(|shape| shape.id == "gemini-cli"));
        let refused = DiscoveryHost::find_named("gemini").unwrap_err();
        assert_eq!(refused.to_string(), "`gemini` is Gemini API, which reads no skill directories");
        assert_eq!(refused.remedy(), "did you mean `gemini-cli`?");
    }

    #[test]
    fn every_host_with_directories_can_be_exported_for_under_the_same_id() {
        for host in &HOSTS {
            let shape = find_projection_host(host).unwrap_or_else(|| panic!("{} has no projection", host.id));
            assert_eq!(shape.id, host.id);
        }
    }
}
