//! Stores lasting approvals: a tool of a skill, unchanged, with its permissions, in one workspace.
//!
//! An approval is bound to a digest of all of that. Any change (a byte of the skill, a pattern, a limit, the
//! workspace) changes the digest, and confirmation is needed again. An approval of a tool of an MCP server also names
//! the digest of the tool's `definition`, which is known only when the server lists it. The file, `approvals.json`, is version 1:
//! `{"version": 1, "approvals": {"<digest>": {"skill", "tool", "workspace", "at", "definition"}}}`. The other
//! fields next to a digest are informational.

use std::path::Path;
use std::time::SystemTime;

use serde_json::json;
use sha2::{Digest, Sha256};

use crate::digest_records::DigestRecords;
use crate::plan::{Plan, PlannedWork};
use rep_storage::files::StorageError;
use rep_storage::time;

/// The list of the file.
const LIST: &str = "approvals";

/// The version of what a digest covers.
const BINDING_VERSION: u64 = 1;

/// Stored approvals.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Approvals {
    records: DigestRecords,
}

impl Approvals {
    /// Loads the approvals; a missing file means there are none.
    pub fn load(file: &Path) -> Result<Self, StorageError> {
        Ok(Self { records: DigestRecords::load(file, LIST)? })
    }

    /// Returns whether exactly this plan was approved. A tool of a server is approved only with its definition.
    pub fn is_approved(&self, plan: &Plan) -> bool {
        let is_known = self.records.find(&compute_binding(plan)).is_some();
        is_known && (!plan.is_server_tool_call() || self.find_definition(plan).is_some())
    }

    /// Returns the digest of the definition with which a tool of a server was approved.
    pub(crate) fn find_definition(&self, plan: &Plan) -> Option<&str> {
        self.records.find(&compute_binding(plan))?.get("definition")?.as_str()
    }

    /// Returns how many of a skill's tools are approved.
    pub fn count_for_skill(&self, skill: &str) -> usize {
        self.records.count_for_skill(skill)
    }

    /// Stores an approval in the file.
    pub fn store_for_plan(file: &Path, plan: &Plan, at: SystemTime) -> Result<(), StorageError> {
        let mut record = json!({
            "skill": plan.skill,
            "tool": plan.tool,
            "workspace": plan.workspace.to_string_lossy(),
            "at": time::format_timestamp(at),
        });
        if let Some(definition) = plan.server_call().and_then(|call| call.approved_definition.as_ref()) {
            record["definition"] = definition.as_str().into();
        }
        DigestRecords::store(file, LIST, compute_binding(plan), record)
    }

    /// Removes every approval of a skill and returns how many there were.
    pub fn remove_for_skill(file: &Path, skill: &str) -> Result<usize, StorageError> {
        DigestRecords::remove_for_skill(file, LIST, &[skill])
    }
}

/// Computes the digest that an approval is bound to: everything that determines what would run and what it
/// may do. The arguments are excluded, because an approval covers a tool and not a single call.
pub fn compute_binding(plan: &Plan) -> String {
    let mut bound = json!({
        "version": BINDING_VERSION,
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
