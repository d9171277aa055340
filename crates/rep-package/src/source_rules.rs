//! From which sources skills may be installed: the rules of the user and of the administrator.
//!
//! A source is checked by its names before any request. Every set of rules must allow it, so that one can only narrow
//! what the others allow.

use rep_net::HttpProxy;
use rep_net::oci::{OCI_SCHEME, OciRepository};

use crate::error::{PackageError, PackageErrorCode};
use crate::source_name::{is_pattern, matches_pattern};

/// One set of rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceRuleSet {
    /// Who made the rules, for messages: the path of a file.
    pub origin: String,
    /// The patterns of allowed sources. Without them, every source is allowed.
    pub allow: Option<Vec<String>>,
    /// The patterns of forbidden sources.
    pub deny: Vec<String>,
    /// The start of an address, and what replaces it.
    pub mirrors: Vec<(String, String)>,
    /// The address of a proxy.
    pub proxy: Option<String>,
}

/// All rules, those of the administrator first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceRules {
    sets: Vec<SourceRuleSet>,
    proxy: Option<HttpProxy>,
}

impl SourceRules {
    /// Combines sets of rules. Fails if a pattern, a mirror or a proxy is invalid.
    pub fn new(sets: Vec<SourceRuleSet>) -> Result<Self, PackageError> {
        let mut proxy = None;
        for set in &sets {
            let invalid = |what: &str, text: &str| {
                let message = format!("`{}` is not {what} (in `{}`)", text.escape_debug(), set.origin);
                PackageError::new(PackageErrorCode::InvalidRules, message).remedy("correct `sources` in that file")
            };
            let patterns = set.allow.iter().flatten().chain(&set.deny);
            if let Some(bad) = patterns.into_iter().find(|pattern| !is_pattern(pattern)) {
                return Err(invalid("a pattern of sources", bad));
            }
            for (from, to) in &set.mirrors {
                let has_same_kind = from.starts_with(OCI_SCHEME) == to.starts_with(OCI_SCHEME);
                if !from.contains("://") || !to.contains("://") || !has_same_kind {
                    return Err(invalid("the start of an address, or of one of another kind", from));
                }
            }
            if let (Some(text), None) = (&set.proxy, &proxy) {
                proxy = Some(HttpProxy::parse(text).map_err(|reason| {
                    PackageError::new(
                        PackageErrorCode::InvalidRules,
                        format!("`sources.proxy` in `{}`: {reason}", set.origin),
                    )
                })?);
            }
        }
        Ok(Self { sets, proxy })
    }

    /// Returns the proxy.
    pub fn proxy(&self) -> Option<&HttpProxy> {
        self.proxy.as_ref()
    }

    /// Returns all mirrors, those of the administrator first.
    pub fn mirrors(&self) -> Vec<(String, String)> {
        self.sets.iter().flat_map(|set| set.mirrors.clone()).collect()
    }

    /// Returns the address to fetch from instead of another one.
    pub fn find_mirror(&self, address: &str) -> Option<SourceMirror> {
        let mut mirrors =
            self.sets.iter().enumerate().flat_map(|(at, set)| set.mirrors.iter().map(move |pair| (at, pair)));
        mirrors.find_map(|(set, (from, to))| {
            Some(SourceMirror { address: format!("{to}{}", address.strip_prefix(from.as_str())?), set })
        })
    }

    /// Fails if a source with these names is not allowed. `shown` is how the user knows it.
    pub fn check(&self, names: &[String], shown: &str) -> Result<(), PackageError> {
        check_sets(&self.sets, names, shown)
    }

    /// Fails if a mirror with these names is not allowed by the rules before those that name it. A user's mirror must not
    /// lead to what the administrator forbids.
    pub fn check_mirror(&self, mirror: &SourceMirror, names: &[String]) -> Result<(), PackageError> {
        check_sets(&self.sets[..mirror.set], names, &mirror.address)
    }
}

/// Where something is fetched from instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceMirror {
    /// The address.
    pub address: String,
    /// The position of the rules that name it.
    set: usize,
}

fn check_sets(sets: &[SourceRuleSet], names: &[String], shown: &str) -> Result<(), PackageError> {
    let is_matched =
        |patterns: &[String]| patterns.iter().any(|pattern| names.iter().any(|name| matches_pattern(pattern, name)));
    for set in sets {
        let reason = if is_matched(&set.deny) {
            "forbids it"
        } else if set.allow.as_deref().is_some_and(|allow| !is_matched(allow)) {
            "does not allow it"
        } else {
            continue;
        };
        let message = format!("`{shown}` is refused: `{}` {reason}", set.origin);
        return Err(PackageError::new(PackageErrorCode::DeniedSource, message)
            .remedy("nothing was sent to it; ask the author of these rules, or use another source"));
    }
    Ok(())
}

/// Returns the names of a repository in a registry.
pub(crate) fn registry_names(repository: &OciRepository) -> Vec<String> {
    let bare = format!("{}/{}", repository.registry, repository.name);
    vec![format!("{OCI_SCHEME}{bare}"), format!("oci:{bare}"), bare]
}

/// Returns the names of a file at an address: the address, its server, and every directory between them.
pub(crate) fn address_names(url: &str) -> Vec<String> {
    let bare = url.split(['?', '#']).next().unwrap_or(url);
    let start = bare.find("://").map_or(0, |at| at + 3);
    let ends = bare[start..].match_indices('/').map(|(at, _)| start + at);
    ends.chain([bare.len()]).map(|end| bare[..end].to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(allow: Option<&[&str]>, deny: &[&str]) -> SourceRuleSet {
        let texts = |all: &[&str]| all.iter().map(|text| (*text).to_owned()).collect();
        SourceRuleSet { allow: allow.map(texts), deny: texts(deny), ..SourceRuleSet::default() }
    }

    #[test]
    fn every_set_of_rules_must_allow_a_source() {
        let all = SourceRules::new(vec![rules(Some(&["github:acme/*"]), &[]), rules(None, &["*/secret"])]).unwrap();
        let is_allowed = |name: &str| all.check(&[name.to_owned()], name).is_ok();
        assert!(is_allowed("github:acme/skills"));
        assert!(!is_allowed("github:other/skills") && !is_allowed("github:acme/secret"));
        let nothing = SourceRules::new(vec![rules(Some(&[]), &[])]).unwrap();
        assert_eq!(nothing.check(&["a".to_owned()], "a").unwrap_err().code, PackageErrorCode::DeniedSource);
        assert!(SourceRules::default().check(&["a".to_owned()], "a").is_ok());
    }

    #[test]
    fn mirrors_replace_the_start_of_an_address() {
        let mirror = |from: &str, to: &str| SourceRuleSet {
            mirrors: vec![(from.to_owned(), to.to_owned())],
            ..SourceRuleSet::default()
        };
        let all = SourceRules::new(vec![mirror("https://a.example/", "https://b.example/a/")]).unwrap();
        let found = all.find_mirror("https://a.example/x").unwrap();
        assert_eq!(found.address, "https://b.example/a/x");
        // Only rules of those who decide before it can forbid it.
        let names = [found.address.clone()];
        assert!(all.check_mirror(&found, &names).is_ok());
        let forbidden = || rules(None, &["https://b.example/*"]);
        for (sets, is_allowed) in [
            (vec![forbidden(), mirror("https://a.example/", "https://b.example/a/")], false),
            (vec![mirror("https://a.example/", "https://b.example/a/"), forbidden()], true),
        ] {
            let both = SourceRules::new(sets).unwrap();
            let found = both.find_mirror("https://a.example/x").unwrap();
            assert_eq!(both.check_mirror(&found, &names).is_ok(), is_allowed);
        }
        assert_eq!(all.find_mirror("https://a.example.evil/x"), None);
        for (from, to) in [("oci://a/", "https://b/"), ("a", "b"), ("https://a/", "oci://b/")] {
            assert!(SourceRules::new(vec![mirror(from, to)]).is_err(), "{from}");
        }
        let proxy = |text: &str| SourceRuleSet { proxy: Some(text.to_owned()), ..SourceRuleSet::default() };
        assert!(SourceRules::new(vec![proxy("https://p:1")]).is_err());
        assert_eq!(
            SourceRules::new(vec![proxy("http://p:1"), proxy("http://q:1")]).unwrap().proxy().unwrap().to_url(),
            "http://p:1"
        );
    }

    #[test]
    fn an_address_has_the_names_of_its_directories() {
        assert_eq!(
            address_names("https://a.example/b/c.json?x"),
            ["https://a.example", "https://a.example/b", "https://a.example/b/c.json"]
        );
    }
}
