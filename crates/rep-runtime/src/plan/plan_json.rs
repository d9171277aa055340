//! Renders a plan as JSON, for `--dry-run`, the audit log and the binding of approvals. A plan never contains
//! the value of a secret.

use std::collections::BTreeMap;

use rep_audit::RunSubject;
use rep_model::provenance::DeclaredProvenance;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::{Plan, PlannedWork};

impl Plan {
    /// Returns the subject of this plan for the audit log.
    pub fn audit_subject(&self) -> RunSubject {
        RunSubject {
            skill: self.skill.clone(),
            digest: self.digest.clone(),
            tool: self.tool.clone(),
            workspace: self.workspace.to_string_lossy().into_owned(),
            input_digest: hex::encode(Sha256::digest(self.input.to_string().as_bytes())),
            is_confined: self.confinement.is_sandboxed(),
            policy: self.policy_json(),
            provenance: self.provenance.as_ref().map(DeclaredProvenance::to_json),
        }
    }

    /// Renders the plan as JSON.
    pub fn to_json(&self) -> Value {
        let mut plan = json!({
            "skill": self.skill,
            "digest": self.digest,
            "folder": self.folder.to_string_lossy(),
            "tool": self.tool,
            "workspace": self.workspace.to_string_lossy(),
            "input": self.input,
            "sandbox": self.confinement.is_sandboxed(),
            "policy": self.policy_json(),
            "ignored": self.ignored.iter().map(|ignored| json!({
                "field": ignored.field,
                "value": ignored.value,
                "reason": ignored.reason,
            })).collect::<Vec<Value>>(),
        });
        if !self.callees.is_empty() {
            plan["callees"] = json!(self.callees);
        }
        let fields = plan.as_object_mut().expect("it was made as one");
        fields.extend(self.work.to_json());
        plan
    }

    /// Renders what a run of this plan may do, use and see.
    pub fn policy_json(&self) -> Value {
        let needs = self.secrets.iter().map(|need| json!({ "name": need.name, "optional": need.is_optional }));
        json!({
            "permissions": self.permissions.to_json(),
            "confirm": self.confirm.iter().map(|risk| risk.name()).collect::<Vec<_>>(),
            "prompt": self.prompt,
            "redact": { "secrets": self.redaction.secrets, "pii": self.redaction.pii },
            "secrets": needs.collect::<Vec<Value>>(),
            "limits": self.limits.to_json(),
        })
    }
}

impl PlannedWork {
    /// Renders the work as fields of a plan.
    fn to_json(&self) -> Map<String, Value> {
        let fields = match self {
            PlannedWork::Tool(tool) => json!({
                "runtime": tool.runtime.name(),
                "entrypoint": tool.entrypoint,
                "handler": tool.handler,
                "typescript_runner": tool.typescript_runner,
                "dependencies": tool.dependencies,
            }),
            PlannedWork::Command(command) | PlannedWork::Script(command) => json!({
                "argv": command.argv(),
                "program": command.program.name(),
                "variables": command.variables.iter().cloned().collect::<BTreeMap<String, String>>(),
                "files": command.files,
            }),
            PlannedWork::Request(request) => json!({ "request": request.to_masked_json() }),
            PlannedWork::Server(call) => call.to_json(),
        };
        match fields {
            Value::Object(fields) => fields,
            _ => Map::new(),
        }
    }

    /// Renders what an approval is bound to: the work, without the arguments of a single call.
    pub(crate) fn binding_json(&self) -> Value {
        match self {
            PlannedWork::Tool(tool) => json!({
                "runtime": tool.runtime.name(),
                "entrypoint": tool.entrypoint,
                "handler": tool.handler,
                "typescript_runner": tool.typescript_runner,
                "dependencies": tool.dependencies,
                "input_schema": tool.input_schema,
                "output_schema": tool.output_schema,
            }),
            PlannedWork::Command(command) => {
                json!({ "program": command.program.name(), "inline": command.program.inline_text() })
            }
            PlannedWork::Script(command) => json!({ "script": command.program.name() }),
            PlannedWork::Request(request) => json!({ "server": request.origin.to_string() }),
            PlannedWork::Server(call) => call.to_json(),
        }
    }
}
