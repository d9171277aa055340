//! Permissions and limits as JSON and as sentences.

use serde_json::{Value, json};

use crate::{Glob, HostRule, Limits, Permissions};

impl Permissions {
    /// The permissions in the shape of the specification.
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

impl Permissions {
    /// The permissions, a line each. `own` is what it may read in any case.
    pub fn in_words(&self, own: &str, workspace: &str) -> Vec<String> {
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
        lines.push(self.outbound_in_words());
        let spawns = if self.allow_subprocess { "starts other programs" } else { "starts no other program" };
        lines.push(spawns.to_owned());
        lines
    }

    /// The hosts, in a line.
    pub fn outbound_in_words(&self) -> String {
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

impl Limits {
    /// The limits in a line.
    pub fn in_words(self) -> String {
        let (seconds, memory_mb) = (self.timeout_ms.div_ceil(1000), self.memory_bytes >> 20);
        format!("runs for {seconds} s at most, with {memory_mb} MiB and {} processes", self.processes)
    }
}
