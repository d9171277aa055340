//! The permissions that the operator grants to skills that cannot declare them, such as those of the agentskills dialect.
//!
//! A grant is bound to the digest of a skill's directory: a changed skill has none. The file, `grants.json`, is version 1:
//! `{"version": 1, "grants": {"<digest>": {"skill", "at", "permissions", "secrets"}}}`. `skill` and `at` are informational.
//! `rep scan --declare --write` writes it, and `rep policy --forget` removes what it wrote.

use std::path::Path;
use std::time::SystemTime;

use rep_permissions::{Glob, HostRule, RunPermissions};
use rep_storage::files::StorageError;
use rep_storage::time;
use serde_json::{Value, json};

use crate::digest_records::DigestRecords;
use crate::plan::declarations::check_variable_name;
use crate::plan::{Plan, SecretNeed};

/// The list of the file.
const LIST: &str = "grants";

/// What the operator grants to one version of a skill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PermissionGrant {
    /// The permissions.
    pub permissions: RunPermissions,
    /// The secrets that it receives if they are set.
    pub secrets: Vec<String>,
}

impl PermissionGrant {
    /// Adds the grant to what a skill declares.
    pub(crate) fn extend(&self, permissions: &mut RunPermissions) {
        permissions.read.extend(self.permissions.read.iter().cloned());
        permissions.write.extend(self.permissions.write.iter().cloned());
        permissions.outbound.extend(self.permissions.outbound.iter().cloned());
        permissions.allow_subprocess |= self.permissions.allow_subprocess;
        permissions.read.sort();
        permissions.read.dedup();
        permissions.write.sort();
        permissions.write.dedup();
        permissions.outbound.sort();
        permissions.outbound.dedup();
    }

    /// Adds the secrets of the grant to those that a skill declares.
    pub(crate) fn extend_secrets(&self, secrets: &mut Vec<SecretNeed>) {
        for name in &self.secrets {
            if secrets.iter().all(|need| need.name != *name) {
                secrets.push(SecretNeed { name: name.clone(), is_optional: true });
            }
        }
        secrets.sort_by(|one, two| one.name.cmp(&two.name));
    }

    /// Adds the grant to a plan.
    pub(crate) fn apply(&self, plan: &mut Plan) {
        self.extend(&mut plan.permissions);
        self.extend_secrets(&mut plan.secrets);
    }

    fn to_json(&self) -> Value {
        json!({ "permissions": self.permissions.to_json(), "secrets": self.secrets })
    }

    /// Parses what [`PermissionGrant::to_json`] returns. A value that is invalid grants nothing.
    fn from_json(value: &Value) -> Self {
        let texts = |pointer: &str| {
            let items = value.pointer(pointer).and_then(Value::as_array);
            items.into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>()
        };
        let globs = |pointer: &str| texts(pointer).into_iter().filter_map(|text| Glob::parse(text).ok()).collect();
        Self {
            permissions: RunPermissions {
                read: globs("/permissions/filesystem/read"),
                write: globs("/permissions/filesystem/write"),
                outbound: texts("/permissions/network/outbound")
                    .into_iter()
                    .filter_map(|text| HostRule::parse(text).ok())
                    .collect(),
                allow_subprocess: value.pointer("/permissions/processes/allow_subprocess") == Some(&Value::Bool(true)),
            },
            secrets: texts("/secrets")
                .into_iter()
                .filter(|name| check_variable_name(name).is_ok())
                .map(str::to_owned)
                .collect(),
        }
    }
}

/// Stored grants.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PermissionGrants {
    records: DigestRecords,
}

impl PermissionGrants {
    /// Loads the grants; a missing file means there are none.
    pub fn load(file: &Path) -> Result<Self, StorageError> {
        Ok(Self { records: DigestRecords::load(file, LIST)? })
    }

    /// Returns the grant for the skill with a digest.
    pub fn find(&self, digest: &str) -> Option<PermissionGrant> {
        let entry = self.records.find(digest).filter(|_| !digest.is_empty())?;
        Some(PermissionGrant::from_json(entry))
    }

    /// Stores a grant in the file.
    pub fn store(
        file: &Path,
        skill: &str,
        digest: &str,
        grant: &PermissionGrant,
        at: SystemTime,
    ) -> Result<(), StorageError> {
        let mut record = grant.to_json();
        record["skill"] = skill.into();
        record["at"] = time::format_timestamp(at).into();
        DigestRecords::store(file, LIST, digest.to_owned(), record)
    }

    /// Removes every grant of a skill and returns how many there were.
    pub fn remove_for_skill(file: &Path, skill: &str) -> Result<usize, StorageError> {
        // The scan knows the name of a skill, and the catalog its qualified name.
        let name = skill.rsplit(':').next().unwrap_or(skill);
        DigestRecords::remove_for_skill(file, LIST, &[skill, name])
    }
}
