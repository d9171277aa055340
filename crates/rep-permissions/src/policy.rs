//! The operator's policy: what is denied on a machine, whatever skills declare. It can only restrict, never grant.

use std::fmt;

use crate::{Glob, HostRule, RunPermissions};

/// The operator's denials. The default denies nothing beyond what the skill leaves undeclared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Skills that never run, by name or qualified name.
    pub denied_skills: Vec<String>,
    /// Hosts that may not be connected to.
    pub denied_hosts: Vec<HostRule>,
    /// Files that may not be read or written, relative to any workspace.
    pub denied_paths: Vec<Glob>,
}

impl Policy {
    /// Whether a skill is denied.
    pub fn denies_skill(&self, qualified_name: &str) -> bool {
        let name = qualified_name.rsplit(':').next().unwrap_or(qualified_name);
        self.denied_skills.iter().any(|denied| denied == qualified_name || denied == name)
    }

    /// Describes the first denial that affects a skill or one of its declarations. A declaration is never narrowed
    /// silently: if a denial overlaps it, the run is refused.
    pub fn find_objection(&self, skill: &str, permissions: &RunPermissions) -> Option<String> {
        if self.denies_skill(skill) {
            return Some(format!("the policy of this machine denies the skill `{skill}`"));
        }
        let words = |declared: &dyn fmt::Display, denied: &dyn fmt::Display| {
            Some(format!("`{skill}` declares `{declared}`, and the policy of this machine denies `{denied}`"))
        };
        for denied in &self.denied_hosts {
            if let Some(rule) = permissions.outbound.iter().find(|rule| denied.overlaps(rule)) {
                return words(rule, denied);
            }
        }
        for denied in &self.denied_paths {
            let mut declared = permissions.read.iter().chain(&permissions.write);
            if let Some(glob) = declared.find(|glob| denied.overlaps(glob)) {
                return words(&glob.as_str(), &denied.as_str());
            }
        }
        None
    }
}

impl HostRule {
    /// Whether some host and port match both rules.
    fn overlaps(&self, other: &HostRule) -> bool {
        let covers = |wide: &HostRule, narrow: &HostRule| match narrow.host.strip_prefix("*.") {
            // A domain pattern is inside another one if that one covers the domain itself, or both are the same.
            Some(apex) => wide.host == narrow.host || wide.host.starts_with('*') && wide.matches_host(apex),
            None => wide.host == narrow.host || wide.matches_host(&narrow.host),
        };
        self.ports().iter().any(|port| other.ports().contains(port)) && (covers(self, other) || covers(other, self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_rule(text: &str) -> HostRule {
        HostRule::parse(text).unwrap()
    }

    fn parse_globs(patterns: &[&str]) -> Vec<Glob> {
        patterns.iter().map(|pattern| Glob::parse(pattern).unwrap()).collect()
    }

    #[test]
    fn a_skill_is_denied_by_its_name_or_by_its_qualified_name() {
        let policy = |denied: &str| Policy { denied_skills: vec![denied.to_owned()], ..Policy::default() };
        for (denied, skill, expected) in [
            ("pdf", "pdf", true),
            ("pdf", "tools:pdf", true),
            ("pdf", "tools:pdf-forms", false),
            ("pdf", "pdf:forms", false),
            ("tools:pdf", "tools:pdf", true),
            ("tools:pdf", "other:pdf", false),
            ("tools:pdf", "pdf", false),
        ] {
            assert_eq!(policy(denied).denies_skill(skill), expected, "{denied} and {skill}");
            let objection = policy(denied).find_objection(skill, &RunPermissions::default());
            assert_eq!(objection.is_some_and(|words| words.contains(skill)), expected, "{denied} and {skill}");
        }
    }

    #[test]
    fn a_denied_host_reaches_what_shares_a_host_and_a_port_with_it() {
        for (denied, declared, expected) in [
            ("api.example.com", "api.example.com", true),
            ("api.example.com", "www.example.com", false),
            ("*.example.com", "api.example.com", true),
            ("*.example.com", "example.com", false),
            ("*.example.com", "*.a.example.com", true),
            ("*.example.com", "*.example.com", true),
            ("*.example.com", "*.example.org", false),
            ("*", "*.example.org", true),
            ("*", "api.example.com", true),
            ("127.0.0.1", "127.0.0.1", true),
            ("127.0.0.1", "127.0.0.2", false),
            ("api.example.com:443", "api.example.com:80", false),
            ("api.example.com", "api.example.com:80", true),
            ("api.example.com", "api.example.com:8443", false),
        ] {
            for (denied, declared) in [(denied, declared), (declared, denied)] {
                let policy = Policy { denied_hosts: vec![parse_rule(denied)], ..Policy::default() };
                let permissions = RunPermissions { outbound: vec![parse_rule(declared)], ..RunPermissions::default() };
                let objection = policy.find_objection("pdf", &permissions);
                assert_eq!(objection.is_some(), expected, "{denied} and {declared}: {objection:?}");
            }
        }
    }

    #[test]
    fn a_denied_path_reaches_what_is_read_and_what_is_written() {
        let policy = Policy { denied_paths: parse_globs(&["secrets/**"]), ..Policy::default() };
        let read = RunPermissions { read: parse_globs(&["docs/*", "**/*.pem"]), ..RunPermissions::default() };
        let write = RunPermissions { write: parse_globs(&["docs/*", "secrets/new.txt"]), ..RunPermissions::default() };
        let neither = RunPermissions {
            read: parse_globs(&["docs/**"]),
            write: parse_globs(&["out/**"]),
            ..RunPermissions::default()
        };
        let words = |declared: &str| {
            Some(format!("`pdf` declares `{declared}`, and the policy of this machine denies `secrets/**`"))
        };
        assert_eq!(policy.find_objection("pdf", &read), words("**/*.pem"));
        assert_eq!(policy.find_objection("pdf", &write), words("secrets/new.txt"));
        assert_eq!(policy.find_objection("pdf", &neither), None);
    }
}
