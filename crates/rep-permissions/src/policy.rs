//! What the operator of a machine denies, whatever skills declare. It can only narrow: there is nothing here that grants.

use std::fmt;

use crate::{Glob, HostRule, Permissions};

/// The operator's denials. The default denies nothing beyond what the skill leaves undeclared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Skills that never run, by name or qualified name.
    pub denied_skills: Vec<String>,
    /// Hosts nothing connects to.
    pub denied_hosts: Vec<HostRule>,
    /// Files nothing reads or writes, relative to any workspace.
    pub denied_paths: Vec<Glob>,
}

impl Policy {
    /// Whether a skill never runs.
    pub fn denies_skill(&self, qualified_name: &str) -> bool {
        let name = qualified_name.rsplit(':').next().unwrap_or(qualified_name);
        self.denied_skills.iter().any(|denied| denied == qualified_name || denied == name)
    }

    /// The first denial that reaches a skill or something it declares, in words. A grant is never cut to size in silence: where
    /// the two meet, the run is refused, so that nobody has to guess what was left of it.
    pub fn objection(&self, skill: &str, permissions: &Permissions) -> Option<String> {
        if self.denies_skill(skill) {
            return Some(format!("the policy of this machine denies the skill `{skill}`"));
        }
        let words = |declared: &dyn fmt::Display, denied: &dyn fmt::Display| {
            Some(format!("`{skill}` declares `{declared}`, and the policy of this machine denies `{denied}`"))
        };
        for denied in &self.denied_hosts {
            if let Some(rule) = permissions.outbound.iter().find(|rule| denied.meets(rule)) {
                return words(rule, denied);
            }
        }
        for denied in &self.denied_paths {
            let mut declared = permissions.read.iter().chain(&permissions.write);
            if let Some(glob) = declared.find(|glob| denied.meets(glob)) {
                return words(&glob.as_str(), &denied.as_str());
            }
        }
        None
    }
}

impl HostRule {
    /// Whether some host and port fit both rules.
    fn meets(&self, other: &HostRule) -> bool {
        let covers = |wide: &HostRule, narrow: &HostRule| match narrow.host.strip_prefix("*.") {
            // What is below a domain is below another one if that holds the domain itself, or is the same.
            Some(apex) => wide.host == narrow.host || wide.host.starts_with('*') && wide.fits_host(apex),
            None => wide.host == narrow.host || wide.fits_host(&narrow.host),
        };
        self.ports().iter().any(|port| other.ports().contains(port)) && (covers(self, other) || covers(other, self))
    }
}
