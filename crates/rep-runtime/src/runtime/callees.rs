//! Finds the tools that a tool calls by name, so that the question before the call shows the rights of the whole chain.
//!
//! The names are read from the tool's file. A name that the tool computes is not found; the called tool is still
//! planned, decided and confined by its own declaration.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use rep_library::Catalog;
use rep_permissions::RunPermissions;

use super::Runtime;
use super::call::ToolCall;
use super::nested::is_callable_status;
use crate::executable_skill::ExecutableSkill;
use crate::plan::server::SERVER_PREFIX;
use crate::plan::{Plan, PlannedWork, ToolRuntime};

/// How much of a tool's file is searched.
const SOURCE_BYTES_MAX: u64 = 1 << 20;
/// The maximum number of called tools that are described.
const CALLEES_MAX: usize = 20;
/// The maximum length of a tool's name.
const NAME_BYTES_MAX: usize = 200;

impl Runtime {
    /// Adds to a plan what the tools that it calls may do, as far as it may not do this itself.
    pub(super) fn describe_callees(&self, catalog: &Catalog, skill: &ExecutableSkill, plan: &mut Plan) {
        let mut seen = BTreeSet::from([format!("{}:{}", plan.skill, plan.tool)]);
        let mut waiting: Vec<(String, Vec<String>)> =
            list_called_names(plan).into_iter().map(|name| (qualify_name(&skill.name, name), Vec::new())).collect();
        let mut lines = Vec::new();
        while let Some((name, above)) = waiting.pop() {
            if seen.len() > CALLEES_MAX || !seen.insert(name.clone()) {
                continue;
            }
            let Some((owner, tool)) = name.rsplit_once(':') else { continue };
            // A tool that cannot be planned cannot be called either.
            let Some(callee) = self.plan_named_tool(catalog, owner, tool) else { continue };
            let chain = [&above[..], std::slice::from_ref(&name)].concat();
            if let Some(rights) = describe_more_rights(plan, &callee) {
                lines.push(format!("calls `{}`, which {rights}", chain.join("` → `")));
            }
            let names = list_called_names(&callee).into_iter();
            waiting.extend(names.map(|name| (qualify_name(owner, name), chain.clone())));
        }
        lines.sort();
        plan.callees = lines;
    }

    fn plan_named_tool(&self, catalog: &Catalog, skill: &str, tool: &str) -> Option<Plan> {
        let entry = catalog.get(skill).filter(|entry| is_callable_status(entry.status))?;
        let loaded = Arc::new(ExecutableSkill::inspect(entry).ok()?);
        let call = ToolCall::for_tool(skill, tool, serde_json::json!({}));
        self.plan_loaded(&loaded, &call).ok().map(|prepared| prepared.plan)
    }
}

fn qualify_name(skill: &str, name: String) -> String {
    if name.contains(':') { name } else { format!("{skill}:{name}") }
}

/// Describes what a called tool may do and its caller may not.
fn describe_more_rights(caller: &Plan, callee: &Plan) -> Option<String> {
    let (has, gets) = (&caller.permissions, &callee.permissions);
    let more = RunPermissions {
        read: gets.read.iter().filter(|glob| !has.read.contains(glob)).cloned().collect(),
        write: gets.write.iter().filter(|glob| !has.write.contains(glob)).cloned().collect(),
        outbound: gets.outbound.iter().filter(|rule| !has.outbound.contains(rule)).cloned().collect(),
        allow_subprocess: gets.allow_subprocess && !has.allow_subprocess,
    };
    let globs = |globs: &[rep_permissions::glob::Glob]| {
        globs.iter().map(|glob| format!("`{}`", glob.as_str())).collect::<Vec<_>>().join(", ")
    };
    let mut rights = Vec::new();
    if !more.read.is_empty() {
        rights.push(format!("reads {}", globs(&more.read)));
    }
    if !more.write.is_empty() {
        rights.push(format!("makes, changes and removes {}", globs(&more.write)));
    }
    if !more.outbound.is_empty() {
        rights.push(more.describe_outbound());
    }
    if more.allow_subprocess {
        rights.push("starts other programs".to_owned());
    }
    let secrets = callee.secrets.iter().filter(|need| caller.secrets.iter().all(|own| own.name != need.name));
    let secrets: Vec<&str> = secrets.map(|need| need.name.as_str()).collect();
    if !secrets.is_empty() {
        rights.push(format!("uses the secrets {}", secrets.join(", ")));
    }
    (!rights.is_empty()).then(|| rights.join("; "))
}

/// Returns the names of tools that the tool's file contains in calls of other tools.
fn list_called_names(plan: &Plan) -> Vec<String> {
    let PlannedWork::Tool(tool) = &plan.work else { return Vec::new() };
    let markers: &[&str] = match tool.runtime {
        ToolRuntime::Python => &["call_tool("],
        ToolRuntime::Node => &["call_tool(", "callTool("],
        // A line of JSON for the channel, with or without escaped quotes.
        ToolRuntime::Bash => &["\"tool\":", "\\\"tool\\\":", "'tool':"],
    };
    let Some(source) = read_source(&plan.folder.join(&tool.entrypoint)) else { return Vec::new() };
    if tool.runtime == ToolRuntime::Bash && !source.contains("REP_CHANNEL") {
        return Vec::new();
    }
    let mut names = BTreeSet::new();
    for marker in markers {
        for (at, _) in source.match_indices(marker) {
            names.extend(read_literal(&source[at + marker.len()..]));
        }
    }
    names.into_iter().filter(|name| !name.starts_with(SERVER_PREFIX)).collect()
}

/// Reads a quoted name at the start of a text.
fn read_literal(text: &str) -> Option<String> {
    let text = text.trim_start().trim_start_matches('\\');
    let quote = text.chars().next().filter(|letter| matches!(letter, '"' | '\'' | '`'))?;
    let name = &text[1..];
    let name = &name[..name.find(['\\', '\n', quote])?];
    (!name.is_empty() && name.len() <= NAME_BYTES_MAX && !name.contains(['{', '$'])).then(|| name.to_owned())
}

fn read_source(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(SOURCE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_from_calls_with_a_literal_only() {
        let name = |text: &str| read_literal(text);
        assert_eq!(name("\"b:read\", {})").as_deref(), Some("b:read"));
        assert_eq!(name("\n    'read', args").as_deref(), Some("read"));
        assert_eq!(name(" \\\"b:read\\\", ").as_deref(), Some("b:read"));
        for other in ["name)", "f\"{skill}:read\")", "`${skill}:read`)", "\"\")", "\"never closed", ""] {
            assert_eq!(name(other), None, "{other}");
        }
    }
}
