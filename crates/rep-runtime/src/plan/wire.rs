//! A plan as JSON: for `--dry-run`, the audit, and for binding approvals. No secret's value is ever in a plan.

use serde_json::{Value, json};

use super::{Limits, Permissions, Plan};

impl Plan {
    /// The plan as JSON.
    pub fn to_json(&self) -> Value {
        json!({
            "skill": self.skill,
            "digest": self.digest,
            "folder": self.folder.to_string_lossy(),
            "tool": self.tool,
            "runtime": self.runtime.name(),
            "entrypoint": self.entrypoint,
            "handler": self.handler,
            "typescript_runner": self.typescript_runner,
            "dependencies": self.dependencies,
            "workspace": self.workspace.to_string_lossy(),
            "input": self.input,
            "sandbox": self.is_confined,
            "policy": self.policy_json(),
            "ignored": self.ignored.iter().map(|ignored| json!({
                "field": ignored.field,
                "value": ignored.value,
                "reason": ignored.reason,
            })).collect::<Vec<Value>>(),
        })
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

impl Permissions {
    /// The permissions in the shape of the specification.
    pub fn to_json(&self) -> Value {
        json!({
            "filesystem": {
                "read": self.read.iter().map(crate::glob::Glob::as_str).collect::<Vec<_>>(),
                "write": self.write.iter().map(crate::glob::Glob::as_str).collect::<Vec<_>>(),
            },
            "network": { "outbound": self.outbound.iter().map(ToString::to_string).collect::<Vec<_>>() },
            "processes": { "allow_subprocess": self.allow_subprocess },
        })
    }
}

impl Limits {
    /// The limits as JSON.
    pub fn to_json(self) -> Value {
        let Limits { timeout_ms, grace_ms, cpu_s, memory_bytes, processes, .. } = self;
        let Limits { open_files, file_bytes, temporary_bytes, output_bytes, .. } = self;
        json!({
            "timeout_ms": timeout_ms,
            "grace_ms": grace_ms,
            "cpu_s": cpu_s,
            "memory_bytes": memory_bytes,
            "processes": processes,
            "open_files": open_files,
            "file_bytes": file_bytes,
            "temporary_bytes": temporary_bytes,
            "output_bytes": output_bytes,
        })
    }
}
