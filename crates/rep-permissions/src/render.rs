//! Renders permissions and limits as JSON and as text.

use serde_json::{Value, json};

use crate::{Glob, HostRule, RunLimits, RunPermissions};

impl RunPermissions {
    /// Returns the permissions in the format of the specification.
    pub fn to_json(&self) -> Value {
        json!({
            "filesystem": {
                "read": self.read.iter().map(Glob::as_str).collect::<Vec<_>>(),
                "write": self.write.iter().map(Glob::as_str).collect::<Vec<_>>(),
            },
            "network": { "outbound": self.outbound.iter().map(ToString::to_string).collect::<Vec<_>>() },
            "processes": { "allow_subprocess": self.allow_subprocess },
        })
    }
}

impl RunPermissions {
    /// Describes the permissions, one per line. `own` names the files that it may always read.
    pub fn describe_lines(&self, own: &str, workspace: &str) -> Vec<String> {
        let globs =
            |globs: &[Glob]| globs.iter().map(|glob| format!("`{}`", glob.as_str())).collect::<Vec<_>>().join(", ");
        let mut lines = Vec::new();
        lines.push(if self.read.is_empty() {
            format!("reads nothing but {own}")
        } else {
            format!("reads {own}, and {} in {workspace}", globs(&self.read))
        });
        lines.push(if self.write.is_empty() {
            "writes nothing".to_owned()
        } else {
            format!("makes, changes and removes {} in {workspace}", globs(&self.write))
        });
        lines.push(self.describe_outbound());
        let spawns = if self.allow_subprocess { "starts other programs" } else { "starts no other program" };
        lines.push(spawns.to_owned());
        lines
    }

    /// Describes the hosts in one line.
    pub fn describe_outbound(&self) -> String {
        let host = |rule: &HostRule| match rule.port {
            Some(_) => format!("`{rule}`"),
            None => format!("`{rule}` on 443 and 80"),
        };
        if self.outbound.is_empty() {
            return "connects to nothing".to_owned();
        }
        format!("connects to {}", self.outbound.iter().map(host).collect::<Vec<_>>().join(", "))
    }
}

impl RunLimits {
    /// Returns the limits as JSON.
    pub fn to_json(self) -> Value {
        let RunLimits { timeout_ms, grace_ms, cpu_s, memory_bytes, processes, .. } = self;
        let RunLimits { open_files, file_bytes, temporary_bytes, output_bytes, .. } = self;
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

impl RunLimits {
    /// Describes the limits in one line.
    pub fn describe_line(self) -> String {
        let (seconds, memory_mb) = (self.timeout_ms.div_ceil(1000), self.memory_bytes >> 20);
        format!("runs for {seconds} s at most, with {memory_mb} MiB and {} processes", self.processes)
    }
}
