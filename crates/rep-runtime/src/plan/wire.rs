//! A plan as JSON: for `--dry-run`, the audit, and for binding approvals. No secret's value is ever in a plan.

use std::collections::BTreeMap;

use rep_audit::RunSubject;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::{Plan, Work};

impl Plan {
    /// What the audit log says of a run of this plan.
    pub fn audit_subject(&self) -> RunSubject {
        RunSubject {
            skill: self.skill.clone(),
            digest: self.digest.clone(),
            tool: self.tool.clone(),
            workspace: self.workspace.to_string_lossy().into_owned(),
            input_digest: hex::encode(Sha256::digest(self.input.to_string().as_bytes())),
            is_confined: self.confinement.is_sandboxed(),
            policy: self.policy_json(),
        }
    }

    /// The plan as JSON.
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
        let fields = plan.as_object_mut().expect("it was made as one");
        fields.extend(self.work.to_json());
        plan
    }

    /// What a run of this plan may do, use and see, as JSON.
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

impl Work {
    /// What is done, as fields of a plan.
    fn to_json(&self) -> Map<String, Value> {
        let fields = match self {
            Work::Tool(tool) => json!({
                "runtime": tool.runtime.name(),
                "entrypoint": tool.entrypoint,
                "handler": tool.handler,
                "typescript_runner": tool.typescript_runner,
                "dependencies": tool.dependencies,
            }),
            Work::Command(command) => json!({
                "argv": command.argv(),
                "program": command.program.name(),
                "variables": command.variables.iter().cloned().collect::<BTreeMap<String, String>>(),
                "files": command.files,
            }),
            Work::Request(request) => json!({ "request": request.shown() }),
        };
        match fields {
            Value::Object(fields) => fields,
            _ => Map::new(),
        }
    }

    /// What an approval is bound to: what is done, without the arguments of one call.
    pub(crate) fn bound(&self) -> Value {
        match self {
            Work::Tool(tool) => json!({
                "runtime": tool.runtime.name(),
                "entrypoint": tool.entrypoint,
                "handler": tool.handler,
                "typescript_runner": tool.typescript_runner,
                "dependencies": tool.dependencies,
                "input_schema": tool.input_schema,
                "output_schema": tool.output_schema,
            }),
            Work::Command(command) => json!({ "program": command.program.name(), "inline": command.program.inline() }),
            Work::Request(request) => json!({ "server": request.origin.to_string() }),
        }
    }
}
