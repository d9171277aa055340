//! What a user agreed to for good: a tool of a skill, as it is, with what it may do, in one workspace.
//!
//! An approval is bound to a digest of all of that. Whatever changes (a byte of the skill, a pattern, a limit, the
//! workspace) makes another digest, and the question is asked again. The file, `approvals.json`, is version 1:
//! `{"version": 1, "approvals": {"<digest>": {"skill", "tool", "workspace", "at"}}}`. What stands beside a digest is
//! for people.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::plan::{Plan, Work};
use rep_storage::files::{self, StorageError};
use rep_storage::time;

const VERSION: u64 = 1;
const BYTES_MAX: u64 = 16 << 20;

/// What was approved before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Approvals {
    known: BTreeMap<String, Value>,
}

impl Approvals {
    /// Reads the approvals; none where there is no file.
    pub fn read(file: &Path) -> Result<Self, StorageError> {
        let Some(bytes) = files::read(file, BYTES_MAX)? else { return Ok(Self::default()) };
        let value: Value = serde_json::from_slice(&bytes)
            .map_err(|error| StorageError::broken(file, format!("it is no JSON ({error}); mend or remove it")))?;
        if value.get("version").and_then(Value::as_u64).is_none_or(|version| version > VERSION) {
            return Err(StorageError::broken(file, "it was written by a newer rep"));
        }
        let known = value.get("approvals").and_then(Value::as_object).cloned().unwrap_or_default();
        Ok(Self { known: known.into_iter().collect() })
    }

    /// Whether exactly this was approved.
    pub fn holds(&self, plan: &Plan) -> bool {
        self.known.contains_key(&binding(plan))
    }

    /// How many of a skill's tools were approved.
    pub fn of_skill(&self, skill: &str) -> usize {
        self.known.values().filter(|about| about["skill"] == skill).count()
    }

    /// Remembers an approval, in the file too.
    pub fn remember(file: &Path, plan: &Plan, at: SystemTime) -> Result<(), StorageError> {
        change(file, |known| {
            let about = json!({
                "skill": plan.skill,
                "tool": plan.tool,
                "workspace": plan.workspace.to_string_lossy(),
                "at": time::text(at),
            });
            known.insert(binding(plan), about);
        })
    }

    /// Forgets every approval of a skill. Says how many there were.
    pub fn forget(file: &Path, skill: &str) -> Result<usize, StorageError> {
        let mut count = 0;
        change(file, |known| {
            let before = known.len();
            known.retain(|_, about| about["skill"] != skill);
            count = before - known.len();
        })?;
        Ok(count)
    }
}

/// Changes the file while nobody else does.
fn change(file: &Path, edit: impl FnOnce(&mut BTreeMap<String, Value>)) -> Result<(), StorageError> {
    let _lock = files::lock(file)?;
    let mut approvals = Approvals::read(file)?;
    edit(&mut approvals.known);
    let value = json!({ "version": VERSION, "approvals": approvals.known });
    files::replace(file, format!("{value:#}\n").as_bytes())
}

/// The digest an approval is bound to: everything that says what would run and what it may do. The arguments are left out, as
/// an approval is for a tool and not for one call.
pub fn binding(plan: &Plan) -> String {
    let mut bound = json!({
        "version": VERSION,
        "skill": plan.skill,
        "digest": plan.digest,
        "work": plan.work.bound(),
        // Bytes, because two paths that are not text may look alike when shown.
        "workspace": hex::encode(plan.workspace.as_os_str().as_encoded_bytes()),
        "policy": plan.policy_json(),
    });
    // A program is approved for a skill, whichever of its commands starts it.
    if matches!(plan.work, Work::Tool(_)) {
        bound["tool"] = plan.tool.clone().into();
    }
    // Whoever agreed to a run that is held in did not agree to one that is not.
    if !plan.confinement.is_sandboxed() {
        bound["sandbox"] = false.into();
    }
    hex::encode(Sha256::digest(bound.to_string().as_bytes()))
}
