//! Stores lasting approvals: a tool of a skill, unchanged, with its permissions, in one workspace.
//!
//! An approval is bound to a digest of all of that. Any change (a byte of the skill, a pattern, a limit, the
//! workspace) changes the digest, and confirmation is needed again. An approval of a tool of an MCP server also names
//! the digest of the tool's `definition`, which is known only when the server lists it. The file, `approvals.json`, is version 1:
//! `{"version": 1, "approvals": {"<digest>": {"skill", "tool", "workspace", "at", "definition"}}}`. The other
//! fields next to a digest are informational.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::plan::{Plan, PlannedWork};
use rep_storage::files::{self, StorageError};
use rep_storage::time;

const VERSION: u64 = 1;
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Stored approvals.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Approvals {
    entries_by_digest: BTreeMap<String, Value>,
}

impl Approvals {
    /// Loads the approvals; a missing file means there are none.
    pub fn load(file: &Path) -> Result<Self, StorageError> {
        let Some(bytes) = files::read_private(file, FILE_BYTES_MAX)? else { return Ok(Self::default()) };
        let value: Value = serde_json::from_slice(&bytes).map_err(|error| {
            StorageError::invalid_content(file, format!("it is not valid JSON ({error}); fix or remove it"))
        })?;
        if value.get("version").and_then(Value::as_u64).is_none_or(|version| version > VERSION) {
            return Err(StorageError::invalid_content(file, "it was written by a newer rep"));
        }
        let known = value.get("approvals").and_then(Value::as_object).cloned().unwrap_or_default();
        Ok(Self { entries_by_digest: known.into_iter().collect() })
    }

    /// Returns whether exactly this plan was approved. A tool of a server is approved only with its definition.
    pub fn is_approved(&self, plan: &Plan) -> bool {
        let is_known = self.entries_by_digest.contains_key(&compute_binding(plan));
        is_known && (!plan.is_server_tool_call() || self.find_definition(plan).is_some())
    }

    /// Returns the digest of the definition with which a tool of a server was approved.
    pub(crate) fn find_definition(&self, plan: &Plan) -> Option<&str> {
        self.entries_by_digest.get(&compute_binding(plan))?.get("definition")?.as_str()
    }

    /// Returns how many of a skill's tools are approved.
    pub fn count_for_skill(&self, skill: &str) -> usize {
        self.entries_by_digest.values().filter(|about| about["skill"] == skill).count()
    }

    /// Stores an approval in the file.
    pub fn store_for_plan(file: &Path, plan: &Plan, at: SystemTime) -> Result<(), StorageError> {
        update_file(file, |known| {
            let mut about = json!({
                "skill": plan.skill,
                "tool": plan.tool,
                "workspace": plan.workspace.to_string_lossy(),
                "at": time::format_timestamp(at),
            });
            if let Some(definition) = plan.server_call().and_then(|call| call.approved_definition.as_ref()) {
                about["definition"] = definition.as_str().into();
            }
            known.insert(compute_binding(plan), about);
        })
    }

    /// Removes every approval of a skill and returns how many there were.
    pub fn remove_for_skill(file: &Path, skill: &str) -> Result<usize, StorageError> {
        let mut count = 0;
        update_file(file, |known| {
            let before = known.len();
            known.retain(|_, about| about["skill"] != skill);
            count = before - known.len();
        })?;
        Ok(count)
    }
}

/// Updates the file under a lock.
fn update_file(file: &Path, edit: impl FnOnce(&mut BTreeMap<String, Value>)) -> Result<(), StorageError> {
    let _lock = files::lock_file(file)?;
    let mut approvals = Approvals::load(file)?;
    edit(&mut approvals.entries_by_digest);
    let value = json!({ "version": VERSION, "approvals": approvals.entries_by_digest });
    files::replace_private(file, format!("{value:#}\n").as_bytes())
}

/// Computes the digest that an approval is bound to: everything that determines what would run and what it
/// may do. The arguments are excluded, because an approval covers a tool and not a single call.
pub fn compute_binding(plan: &Plan) -> String {
    let mut bound = json!({
        "version": VERSION,
        "skill": plan.skill,
        "digest": plan.digest,
        "work": plan.work.binding_json(),
        // As bytes, because two paths that are not UTF-8 may look alike when rendered.
        "workspace": hex::encode(plan.workspace.as_os_str().as_encoded_bytes()),
        "policy": plan.policy_json(),
    });
    // A program is approved for a skill, regardless of which command starts it.
    if matches!(plan.work, PlannedWork::Tool(_) | PlannedWork::Script(_) | PlannedWork::Server(_)) {
        bound["tool"] = plan.tool.clone().into();
    }
    // Consent to a confined run does not cover an unconfined one.
    if !plan.confinement.is_sandboxed() {
        bound["sandbox"] = false.into();
    }
    hex::encode(Sha256::digest(bound.to_string().as_bytes()))
}
